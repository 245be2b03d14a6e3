# SPDX-License-Identifier: Apache-2.0
"""What BM_State measures, in Flax NNX: microseconds per variable, least of several rounds.

pip install "flax==0.12.*" "jax[cpu]";  python flax_state.py [LEAVES ...]
"""
import os
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax.numpy as jnp
from flax import nnx

ONE = jnp.ones((1,))


class Block(nnx.Module):
    def __init__(self):
        self.kernel, self.bias, self.scale = nnx.Param(ONE), nnx.Param(ONE), nnx.Param(ONE)
        self.mean, self.var = nnx.BatchStat(ONE), nnx.BatchStat(ONE)


class Model(nnx.Module):
    def __init__(self, leaves):
        blocks = [Block() for _ in range(leaves // 5)]
        self.groups = nnx.List([nnx.List(blocks[i : i + 32]) for i in range(0, len(blocks), 32)])


def least(function, rounds=5):
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


for leaves in [int(a) for a in sys.argv[1:]] or [10, 1000, 10000]:
    model = Model(leaves)
    graph, state = nnx.split(model)
    rows = {
        "split3": lambda: nnx.split(model, nnx.Param, nnx.BatchStat, ...),
        "state": lambda: nnx.state(model),
        "merge": lambda: nnx.merge(graph, state),
        "update": lambda: nnx.update(model, state),
        "clone": lambda: nnx.clone(model),
    }
    for name, function in rows.items():
        print(f"BM_State/{name}/leaves:{leaves}  {1e6 * least(function) / leaves:.3f} us per variable", flush=True)
