"""Quadrants (the compiler that was Taichi) on AMD GPUs: loops that become kernels, one after the other or in a graph."""

import numpy
import quadrants as qd
from agreement import check, finish

qd.init(arch=qd.amdgpu, offline_cache=False, log_level=qd.ERROR)
assert qd.cfg.arch == qd.amdgpu

random = numpy.random.default_rng(5)
N, ORDER = 3000, 40
x, y = random.random((2, N), dtype=numpy.float32)
a, b = random.random((2, ORDER, ORDER), dtype=numpy.float32)
letters = random.integers(0, 64, N, dtype=numpy.int32)

Vector = qd.types.NDArray[qd.f32, 1]
Matrix = qd.types.NDArray[qd.f32, 2]
Counts = qd.types.NDArray[qd.i32, 1]


def elementwise(x: Vector, y: Vector, out: Vector):
    for i in range(x.shape[0]):
        out[i] = qd.sin(x[i]) * qd.sqrt(y[i]) + 1.0
    for i in range(x.shape[0]):
        out[i] = out[i] * out[i]


def product(a: Matrix, b: Matrix, c: Matrix):
    for i, j in qd.ndrange(ORDER, ORDER):
        sum = 0.0
        for k in range(ORDER):
            sum += a[i, k] * b[k, j]
        c[i, j] = sum
    for i, j in qd.ndrange(ORDER, ORDER):
        c[i, j] = c[i, j] / 2


def histogram(x: Counts, bins: Counts):
    for i in range(bins.shape[0]):
        bins[i] = 0
    for i in range(x.shape[0]):
        qd.atomic_add(bins[x[i]], 1)


def total(x: Vector, out: Vector):
    for i in range(1):
        out[i] = 0.0
    for i in range(x.shape[0]):
        out[0] += x[i]


CASES = [
    (elementwise, [x, y], numpy.zeros(N, numpy.float32), (numpy.sin(x) * numpy.sqrt(y) + 1) ** 2, 1e-6),
    (product, [a, b], numpy.zeros((ORDER, ORDER), numpy.float32), a @ b / 2, 1e-6),
    (histogram, [letters], numpy.zeros(64, numpy.int32), numpy.bincount(letters, minlength=64), 0),
    (total, [x], numpy.zeros(1, numpy.float32), x.sum(keepdims=True), 1e-5),
]


def on_device(array):
    result = qd.ndarray({"float32": qd.f32, "int32": qd.i32}[array.dtype.name], array.shape)
    result.from_numpy(array)
    return result


for function, inputs, empty, expected, tolerance in CASES:
    for graph in (False, True):

        @check(function.__name__ + " in a graph" * graph, tolerance)
        def _():
            kernel = qd.kernel(function, graph=graph) if graph else qd.kernel(function)
            out = on_device(empty)
            for _ in range(2):
                kernel(*map(on_device, inputs), out)
            return out.to_numpy(), expected


@qd.kernel
def mandelbrot(out: Counts):
    for i in range(out.shape[0]):
        c = qd.Vector([(i % 64) / 24.0 - 2.0, (i // 64) / 16.0 - 1.0])
        z = qd.Vector([0.0, 0.0])
        steps = 0
        while z.norm_sqr() < 4.0 and steps < 50:
            z = qd.Vector([z[0] ** 2 - z[1] ** 2, 2 * z[0] * z[1]]) + c
            steps += 1
        out[i] = steps


@check("steps of a loop that diverges, but for a few near the edge")
def _():
    out = on_device(numpy.zeros(2048, numpy.int32))
    mandelbrot(out)
    i = numpy.arange(2048)
    c = ((i % 64) / 24 - 2 + 1j * (i // 64 / 16 - 1)).astype(numpy.complex64)
    z, steps = numpy.zeros_like(c), numpy.zeros(2048, int)
    for _ in range(50):
        inside = abs(z) ** 2 < 4
        z = numpy.where(inside, z * z + c, z)
        steps += inside
    return numpy.count_nonzero(out.to_numpy() == steps) > 2030, True


field = qd.field(qd.f32, shape=(32, 32))
smooth = qd.field(qd.f32, shape=(32, 32))


@qd.kernel
def jacobi():
    for i, j in smooth:
        if 0 < i < 31 and 0 < j < 31:
            smooth[i, j] = (field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1]) / 4
    for i, j in smooth:
        field[i, j] = smooth[i, j]


@check("steps of Jacobi's method on fields", 1e-6)
def _():
    start = random.random((32, 32), dtype=numpy.float32)
    # Copies: a kernel reads what is given, and it is copied back behind it.
    field.from_numpy(start.copy())
    smooth.from_numpy(start.copy())
    for _ in range(5):
        jacobi()
    for _ in range(5):
        start[1:-1, 1:-1] = (start[:-2, 1:-1] + start[2:, 1:-1] + start[1:-1, :-2] + start[1:-1, 2:]) / 4
    return field.to_numpy(), start


finish()
