# SPDX-License-Identifier: Apache-2.0
"""Writes torch.safetensors: LSTM with projections, stacks, and cells with layer norm, by PyTorch 2.15 in float64.

Weights are stored as Strata keeps them: kernels [in, out], both biases summed where that is the same.
"""
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)
T, B, IN, H, P = 5, 3, 4, 6, 3
LENGTHS = torch.tensor([5, 2, 4])
out = {}


def put(name, value):
    out[name] = value.detach().contiguous().clone()


def put_lstm(case, module, suffix, path):
    put(f"{case}/{path}/dense_i/kernel", getattr(module, f"weight_ih_{suffix}").T)
    put(f"{case}/{path}/dense_h/kernel", getattr(module, f"weight_hh_{suffix}").T)
    put(f"{case}/{path}/dense_h/bias", getattr(module, f"bias_ih_{suffix}") + getattr(module, f"bias_hh_{suffix}"))
    if module.proj_size:
        put(f"{case}/{path}/projection/kernel", getattr(module, f"weight_hr_{suffix}").T)


def put_gru(case, module, suffix, path):
    put(f"{case}/{path}/dense_i/kernel", getattr(module, f"weight_ih_{suffix}").T)
    put(f"{case}/{path}/dense_i/bias", getattr(module, f"bias_ih_{suffix}"))
    put(f"{case}/{path}/dense_h/kernel", getattr(module, f"weight_hh_{suffix}").T)
    put(f"{case}/{path}/dense_h/bias", getattr(module, f"bias_hh_{suffix}"))


def run_packed(case, module, initial):
    x = torch.randn(B, T, IN)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    y, final = module(packed, initial)
    put(f"{case}/x", x)
    put(f"{case}/y", torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=T)[0])
    for when, state in (("initial", initial), ("final", final)):
        for part, value in zip("hc", state if isinstance(state, tuple) else (state,)):
            put(f"{case}/{when}/{part}", value)


def stack(case, kind, layers, bidirectional, proj_size=0):
    options = {"proj_size": proj_size} if proj_size else {}
    module = kind(IN, H, num_layers=layers, bidirectional=bidirectional, batch_first=True, **options)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    directions = 2 if bidirectional else 1
    for layer in range(layers):
        for direction in range(directions):
            suffix = f"l{layer}" + ("_reverse" if direction else "")
            path = f"layers/{layer}/" + ("backward_rnn/" if direction else "forward_rnn/" if bidirectional else "") + "cell"
            (put_gru if kind is torch.nn.GRU else put_lstm)(case, module, suffix, path)
    h = torch.randn(layers * directions, B, proj_size or H)
    run_packed(case, module, h if kind is torch.nn.GRU else (h, torch.randn(layers * directions, B, H)))


def layer_norm_cells():
    x, h, c = torch.randn(B, IN), torch.randn(B, H), torch.randn(B, H)

    def ln(name, value, bias=True):
        scale, shift = torch.randn(value.shape[-1]), torch.randn(value.shape[-1]) if bias else None
        put(f"{name}/scale", scale)
        if bias:
            put(f"{name}/bias", shift)
        return F.layer_norm(value, value.shape[-1:], scale, shift, eps=1e-5)

    def product(name, value, columns):
        kernel = torch.randn(value.shape[-1], columns)
        put(f"{name}/kernel", kernel)
        return value @ kernel

    for case, count in (("layer_norm_lstm", 4), ("layer_norm_gru", 3)):
        put(f"{case}/x", x)
        put(f"{case}/initial/h", h)
        from_x = product(f"{case}/dense_i", x, count * H)
        from_h = product(f"{case}/dense_h", h, count * H)
        if count == 4:
            put(f"{case}/initial/c", c)
            i, f, g, o = (ln(f"{case}/norm_i", from_x, False) + ln(f"{case}/norm_h", from_h)).chunk(4, -1)
            new_c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            put(f"{case}/final/c", new_c)
            put(f"{case}/final/h", o.sigmoid() * ln(f"{case}/norm_c", new_c).tanh())
        else:
            gates = ln(f"{case}/norm_gates_i", from_x[:, : 2 * H], False) + ln(f"{case}/norm_gates_h", from_h[:, : 2 * H])
            r, z = gates.sigmoid().chunk(2, -1)
            n = (ln(f"{case}/norm_n_i", from_x[:, 2 * H :]) + r * ln(f"{case}/norm_n_h", from_h[:, 2 * H :])).tanh()
            put(f"{case}/final/h", (1 - z) * n + z * h)


torch.manual_seed(0)
stack("projected", torch.nn.LSTM, 1, False, P)
stack("lstm", torch.nn.LSTM, 3, False)
stack("gru", torch.nn.GRU, 2, False)
stack("bidirectional_lstm", torch.nn.LSTM, 2, True)
stack("bidirectional_projected", torch.nn.LSTM, 2, True, P)
layer_norm_cells()
out["lengths"] = LENGTHS
save_file(out, sys.argv[1] if len(sys.argv) > 1 else "torch.safetensors")
