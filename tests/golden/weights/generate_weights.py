# SPDX-License-Identifier: Apache-2.0
"""Weight files as PyTorch and Flax users make them, and what their models compute.

usage: generate_weights.py OUT_DIR
Needs: torch, flax, jax, numpy, safetensors.
"""
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import flax.linen as linen
import jax
import jax.numpy as jnp
import numpy as np
import safetensors.numpy
import safetensors.torch
import torch
from flax import nnx
from flax.traverse_util import flatten_dict

out = sys.argv[1]
torch.manual_seed(0)
x = torch.randn(2, 5, 3)
lengths = torch.tensor([3, 5])
expected = {"x": x.numpy(), "lengths": lengths.numpy()}


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(8, 2)

    def forward(self, x, lengths):
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = torch.nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        return self.head(y)


tagger = Tagger()
safetensors.torch.save_file(tagger.state_dict(), f"{out}/tagger.safetensors")
expected["tagger"] = tagger(x, lengths).detach().numpy()

gru = torch.nn.GRU(3, 4, batch_first=True)
np.savez(f"{out}/gru.npz", **{name: value.numpy() for name, value in gru.state_dict().items()})
expected["gru"] = gru(x)[0].detach().numpy()

model = linen.Bidirectional(linen.RNN(linen.OptimizedLSTMCell(4)), linen.RNN(linen.OptimizedLSTMCell(4)))
params = model.init(jax.random.key(0), jnp.asarray(x.numpy()))["params"]
params = jax.tree.map(lambda p: p + 0.1 * jax.random.normal(jax.random.key(p.size), p.shape), params)
np.savez(f"{out}/linen.npz", **flatten_dict(params, sep="/"))
expected["linen"] = np.asarray(model.apply({"params": params}, jnp.asarray(x.numpy())))

model = nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(0)), rngs=False)
params = dict(nnx.to_flat_state(nnx.state(model, nnx.Param)))
safetensors.numpy.save_file({".".join(map(str, path)): np.asarray(value[...]) for path, value in params.items()},
                            f"{out}/nnx.safetensors")
expected["nnx"] = np.asarray(model(jnp.asarray(x.numpy()), initial_carry=jnp.zeros((2, 4))))

# save_file writes the memory of strided arrays as it lies.
expected = {name: np.ascontiguousarray(value) for name, value in expected.items()}
safetensors.numpy.save_file(expected, f"{out}/expected.safetensors")
