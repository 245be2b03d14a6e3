# SPDX-License-Identifier: Apache-2.0
"""What BM_State measures, in Flax NNX, and in turn by the benchmark itself: microseconds of the processor per variable,
least of several rounds, and the ratio of both.

pip install "flax==0.12.*" "jax[cpu]";  python flax_state.py build/bin/nn_bench [LEAVES ...]
"""
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax.numpy as jnp
from flax import nnx

ONE = jnp.ones((1,))
ROUNDS = 3


class Dense(nnx.Module):
    def __init__(self):
        self.kernel, self.bias = nnx.Param(ONE), nnx.Param(ONE)


class Block(nnx.Module):
    def __init__(self):
        self.dense, self.scale = Dense(), nnx.Param(ONE)
        self.mean, self.var = nnx.BatchStat(ONE), nnx.BatchStat(ONE)


class Model(nnx.Module):
    def __init__(self, leaves):
        blocks = [Block() for _ in range(leaves // 5)]
        self.groups = nnx.List([nnx.List(blocks[i : i + 32]) for i in range(0, len(blocks), 32)])


def seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def strata_seconds(bench, name):
    command = [bench, f"--benchmark_filter=^{name}$", "--benchmark_min_time=0.02", "--benchmark_repetitions=5"]
    report = subprocess.run(command + ["--benchmark_format=json"], check=True, capture_output=True, text=True).stdout
    runs = [run for run in json.loads(report)["benchmarks"] if run["run_type"] == "iteration"]
    return min(run["cpu_time"] for run in runs) * 1e-9


bench = sys.argv[1]
for leaves in [int(a) for a in sys.argv[2:]] or [10, 1000, 10000, 100000]:
    model = Model(leaves)
    graph, state = nnx.split(model)
    rows = {
        "split": lambda: nnx.split(model),
        "split3": lambda: nnx.split(model, nnx.Param, nnx.BatchStat, ...),
        "state": lambda: nnx.state(model),
        "merge": lambda: nnx.merge(graph, state),
        "update": lambda: nnx.update(model, state),
        "clone": lambda: nnx.clone(model),
    }
    for operation, function in rows.items():
        name = f"BM_State/{operation}/leaves:{leaves}"
        seconds(function)
        turns = [(strata_seconds(bench, name), seconds(function), seconds(function)) for _ in range(ROUNDS)]
        ours = min(turn[0] for turn in turns) * 1e6 / leaves
        flax = min(min(turn[1:]) for turn in turns) * 1e6 / leaves
        print(f"{name:32} strata {ours:8.4f}  flax {flax:8.3f}  ratio {flax / ours:6.0f}", flush=True)
