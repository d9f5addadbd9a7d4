"""CuPy on ROCm: kernels that it generates and compiles, and those of its wheel (CUB, Thrust)."""

import os
from pathlib import Path

# It asks hipcc for directories of headers; those of rocThrust would be among them.
os.environ["CPATH"] = str(Path(__file__).parent / "include")

import cupy  # noqa: E402
import numpy
from agreement import check, finish

random = numpy.random.default_rng(4)
x, y = random.standard_normal((2, 3000), dtype=numpy.float32)
table = random.standard_normal((60, 70), dtype=numpy.float32)
whole = random.integers(-1000, 1000, (48, 40)), random.integers(-1000, 1000, (40, 56))
letters = random.integers(0, 100, 4000)

CASES = {
    "elementwise": (1e-6, lambda xp: xp.sin(xp.asarray(x) * 2 + xp.asarray(y)) / (xp.abs(xp.asarray(y)) + 1)),
    "broadcast": (1e-6, lambda xp: xp.asarray(x)[:60, None] * xp.asarray(y)[None, :70] + xp.asarray(table)),
    "complex": (1e-6, lambda xp: xp.exp(1j * xp.asarray(x)).real),
    "sum of rows": (1e-6, lambda xp: xp.asarray(table).sum(axis=1)),
    "sum of all": (1e-6, lambda xp: xp.asarray(table).sum()),
    "standard deviation of columns": (1e-6, lambda xp: xp.asarray(table).std(axis=0)),
    "place of the largest": (0, lambda xp: xp.asarray(table).argmax(axis=1)),
    "sort": (0, lambda xp: xp.sort(xp.asarray(x))),
    "order of rows": (0, lambda xp: xp.argsort(xp.asarray(table), axis=1)),
    "running sums": (1e-5, lambda xp: xp.cumsum(xp.asarray(x))),
    "counts": (0, lambda xp: xp.bincount(xp.asarray(letters), minlength=100)),
    "selection": (0, lambda xp: xp.asarray(x)[xp.asarray(x) > 0.5]),
    "gather and scatter": (0, lambda xp: scatter(xp)),
    "product of whole numbers": (0, lambda xp: xp.asarray(whole[0]) @ xp.asarray(whole[1])),
    "distinct values": (0, lambda xp: xp.unique(xp.asarray(letters))),
}


def scatter(xp):
    result = xp.zeros(100, numpy.float32)
    result[xp.asarray(letters[:30])] = 1
    return result + xp.asarray(x)[xp.asarray(letters[:100])]


for name, (tolerance, compute) in CASES.items():

    @check(name, tolerance)
    def _():
        return compute(cupy).get(), compute(numpy)


RAW = r"""
template<typename T> __global__ void scaled(T *out, const T *x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
"""
module = cupy.RawModule(code=RAW, name_expressions=["scaled<float>", "scaled<double>"])
squares = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = x * x + y * y", "squares")
norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")


@check("raw kernel from a template", 1e-15)
def _():
    out = cupy.zeros(3000)
    module.get_function("scaled<double>")((12,), (256,), (out, cupy.asarray(x, numpy.float64), 0.5, 3000))
    return out.get(), 0.5 * x.astype(numpy.float64)


@check("elementwise kernel of a user", 1e-6)
def _():
    return squares(cupy.asarray(x), cupy.asarray(y)).get(), x * x + y * y


@check("reduction kernel of a user", 1e-6)
def _():
    return norm(cupy.asarray(table), axis=1).get(), numpy.linalg.norm(table, axis=1)


@cupy.fuse
def bell(a, b):
    return cupy.exp(-a * a) + b


@check("fused function", 1e-6)
def _():
    return bell(cupy.asarray(x), cupy.asarray(y)).get(), numpy.exp(-x * x) + y


def in_graph(work):
    """Captures `work`, launches it, and waits."""
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        work()
        stream.begin_capture()
        work()
        graph = stream.end_capture()
        for _ in range(2):
            graph.launch(stream)
    stream.synchronize()


@check("elementwise in a graph", 1e-6)
def _():
    a, b = cupy.asarray(x), cupy.asarray(y)
    out = cupy.zeros_like(a)
    cupy.cuda.Device().synchronize()

    def work():
        cupy.multiply(a, b, out=out)
        cupy.add(out, a, out=out)
        cupy.sin(out, out=out)

    in_graph(work)
    return out.get(), numpy.sin(x * y + x)


@check("raw kernel and reduction in a graph", 1e-6)
def _():
    a, scaled, out = cupy.asarray(table), cupy.zeros_like(cupy.asarray(table)), cupy.zeros(60, numpy.float32)
    cupy.cuda.Device().synchronize()

    def work():
        module.get_function("scaled<float>")((17,), (256,), (scaled, a, numpy.float32(3), table.size))
        cupy.sum(scaled, axis=1, out=out)

    in_graph(work)
    return out.get(), 3 * table.sum(axis=1)


finish()
