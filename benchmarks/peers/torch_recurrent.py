# SPDX-License-Identifier: Apache-2.0
"""What BM_Recurrent measures, in PyTorch: microseconds a call, least of several rounds.

pip install torch;  python torch_recurrent.py THREADS NAME [NAME ...]
NAME as in the benchmark: LSTM/fwd/B:30/T:29/I:12/H:16, GRU/train/B:32/T:128/I:64/H:64
"""
import sys
import time

import torch


def parse(name):
    cell, mode, *sizes = name.split("/")
    return cell, mode, {key: int(value) for key, value in (size.split(":") for size in sizes)}


def least(function, seconds=0.5):
    function()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best


def prepare(cell, mode, size):
    layer = getattr(torch.nn, cell)(size["I"], size["H"], batch_first=True)
    x = torch.randn(size["B"], size["T"], size["I"], requires_grad=mode == "train")
    dy = torch.randn(size["B"], size["T"], size["H"])

    def forward():
        with torch.inference_mode():
            layer(x)

    def train():
        layer.zero_grad()
        x.grad = None
        layer(x)[0].backward(dy)

    return train if mode == "train" else forward


torch.set_num_threads(int(sys.argv[1]))
for name in sys.argv[2:]:
    print(f"BM_Recurrent/{name}/threads:{sys.argv[1]}  {1e6 * least(prepare(*parse(name))):.1f} us", flush=True)
