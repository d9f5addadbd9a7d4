"""Triton's just-in-time compiler and launcher, without torch, on kernels that `kernels/triton` has."""

import sys
from pathlib import Path

import device
import numpy
import triton
import triton.language as tl
from agreement import finish
from device import case
from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils
from triton.runtime import driver

sys.path.append(str(Path(__file__).parents[2] / "kernels/triton"))
import kernels  # noqa: E402


class Driver(HIPDriver):
    """Triton's own driver asks torch for the device and its stream."""

    def __init__(self):
        self.utils = HIPUtils()
        self.launcher_cls = HIPLauncher

    def get_current_device(self):
        return 0

    def get_current_stream(self, _):
        return device.stream.value


driver.set_active(Driver())
random = numpy.random.default_rng(3)


def normal(*shape, dtype=numpy.float32):
    return random.standard_normal(shape).astype(dtype)


def softmax(x):
    e = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@case("vectors are added")
def _():
    x, y = normal(5000), normal(5000)
    on_device = device.Array(x), device.Array(y), device.Array(numpy.zeros_like(x))
    return on_device[2], lambda: kernels.vector_add[(5,)](*on_device, 5000, BLOCK=1024), x + y


@case("softmax of rows", 1e-6)
def _():
    x = normal(7, 700)
    on_device = device.Array(x), device.Array(numpy.zeros_like(x))
    return on_device[1], lambda: kernels.softmax[(7,)](*on_device, 700, BLOCK=1024), softmax(x)


@case("layer norm", 1e-5)
def _():
    x, weight, bias = normal(5, 300), normal(300), normal(300)
    out, mean, deviation = (device.Array(numpy.zeros(shape, numpy.float32)) for shape in ((5, 300), 5, 5))
    given = [device.Array(array) for array in (x, weight, bias)]
    centred = x - x.mean(axis=1, keepdims=True)
    expected = centred / numpy.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
    launch = lambda: kernels.layer_norm[(5,)](*given, out, mean, deviation, 300, 1e-5, BLOCK=512)
    return out, launch, expected


def product(dtype, sum_type, result):
    a, b = normal(70, 90, dtype=dtype), normal(90, 50, dtype=dtype)
    if dtype == numpy.int8:
        a, b = random.integers(-128, 128, (70, 90), dtype), random.integers(-128, 128, (90, 50), dtype)
    given, out = [device.Array(a), device.Array(b)], device.Array(numpy.zeros((70, 50), result))
    blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "SUM": sum_type}
    launch = lambda: kernels.matmul[(3, 2)](*given, out, 70, 50, 90, 90, 50, 50, **blocks)
    return out, launch, a.astype(numpy.float64) @ b.astype(numpy.float64)


@case("product of matrices of single precision", 1e-5)
def _():
    return product(numpy.float32, tl.float32, numpy.float32)


@case("product of matrices of half precision", 1e-5)
def _():
    return product(numpy.float16, tl.float32, numpy.float32)


@case("product of matrices of bytes")
def _():
    return product(numpy.int8, tl.int32, numpy.int32)


@case("attention", 2e-3)
def _():
    q, k, v = normal(3, 2, 100, 64, dtype=numpy.float16)
    given, out = [device.Array(array) for array in (q, k, v)], device.Array(numpy.zeros_like(q))
    blocks = {"BLOCK_M": 64, "BLOCK_N": 32, "WIDTH": 64, "CAUSAL": False}
    launch = lambda: kernels.attention[(2, 2)](*given, out, 0.125, 100, **blocks)
    wide = [array.astype(numpy.float32) for array in (q, k, v)]
    return out, launch, softmax(wide[0] @ wide[1].swapaxes(1, 2) / 8) @ wide[2]


@case("sum of the grid by an atomic", 1e-6)
def _():
    x = normal(5000)
    given, out = device.Array(x), device.Array(numpy.zeros(1, numpy.float32))
    return out, lambda: kernels.sum_all[(5,)](given, out, 5000, BLOCK=1024), x.sum(keepdims=True)


@case("linear recurrences by a scan", 1e-5)
def _():
    a, b = random.random((2, 4, 400), dtype=numpy.float32)
    expected = numpy.zeros_like(a)
    for i in range(400):
        expected[:, i] = a[:, i] * expected[:, i - 1] + b[:, i] if i else b[:, 0]
    on_device = device.Array(a), device.Array(b), device.Array(numpy.zeros_like(a))
    return on_device[2], lambda: kernels.linear_recurrence[(4,)](*on_device, 400, BLOCK=512), expected


@case("histogram in LDS")
def _():
    x = random.integers(0, 128, 3000, numpy.int32)
    given, out = device.Array(x), device.Array(numpy.zeros(128, numpy.int32))
    launch = lambda: kernels.histogram[(3,)](given, out, 3000, BINS=128, BLOCK=1024)
    return out, launch, numpy.bincount(x, minlength=128)


@case("sorted rows")
def _():
    x = random.integers(-(2**31), 2**31, (5, 256), numpy.int32)
    on_device = device.Array(x), device.Array(numpy.zeros_like(x))
    return on_device[1], lambda: kernels.sort_rows[(5,)](*on_device, BLOCK=256), numpy.sort(x, axis=1)


@case("spin locks of programs")
def _():
    lock, state = device.Array(numpy.zeros(1, numpy.int32)), device.Array(numpy.zeros(1, numpy.int32))
    expected = numpy.array([2**12 - 1])
    return state, lambda: kernels.locked_update[(12,)](lock, state, 2), expected


finish()
