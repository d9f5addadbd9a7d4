"""tinygrad 0.8, the last release whose HIP device makes graphs: a jit's kernels become kernel nodes, whose parameters it sets."""

import ctypes
import os
from pathlib import Path

import numpy
from agreement import check, finish

# Its cache does not tell the code of one architecture from that of another.
os.environ.update(HIP="1", CACHELEVEL="0")
# It opens libraries of /opt/rocm by their paths.
load = ctypes.CDLL
ctypes.CDLL = lambda name, *arguments, **options: load(name and Path(name).name, *arguments, **options)
from tinygrad import Device, Tensor, TinyJit  # noqa: E402

assert Device.DEFAULT == "HIP"
random = numpy.random.default_rng(9)
x, y = random.standard_normal((2, 32, 48), dtype=numpy.float32)
weights = random.standard_normal((48, 16), dtype=numpy.float32)


def layers(x):
    hidden = (x @ Tensor(weights)).relu()
    return (hidden - hidden.mean(axis=1, keepdim=True)).exp().sum(axis=1)


def on_host(x):
    hidden = numpy.maximum(x @ weights, 0)
    return numpy.exp(hidden - hidden.mean(axis=1, keepdims=True)).sum(axis=1)


@check("product, mean and exponentials", 1e-5)
def _():
    return layers(Tensor(x)).numpy(), on_host(x)


@check("sum and largest", 1e-6)
def _():
    return numpy.append(Tensor(x).sum().numpy(), Tensor(y).max(axis=1).numpy()), numpy.append(x.sum(), y.max(axis=1))


@check("the same in a graph, of other inputs from call to call", 1e-5)
def _():
    jitted = TinyJit(lambda x: layers(x).realize())
    inputs = [x, y, x + y, x - y, y]
    # The first call runs, the second is captured, the others launch the graph.
    results = [jitted(Tensor(given).realize()).numpy().copy() for given in inputs]
    return results, [on_host(given) for given in inputs]


finish()
