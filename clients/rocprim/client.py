"""rocPRIM's headers as Debian has them, compiled by its hipcc: a sort, a scan and a sum of the whole device."""

import ctypes
import subprocess
from pathlib import Path

import device
import numpy
from agreement import finish
from device import Array, case

source, built = Path(__file__).with_name("client.hip"), Path.home() / "client.so"
if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
    options = ["--offload-arch=gfx90a", "-O2", "-std=c++17", "-shared", "-fPIC", "-w"]
    subprocess.run(["hipcc", *options, "-o", built, source], check=True)
library = ctypes.CDLL(str(built))
random = numpy.random.default_rng(12)
N = 20000


def launching(function, given, out):
    """A function that launches an algorithm, with the memory that it asks for."""
    bytes = ctypes.c_size_t()
    pointers = [ctypes.c_void_p(array.data_ptr()) for array in (given, out)]
    arguments = ctypes.byref(bytes), *pointers, ctypes.c_size_t(N), device.stream

    def call(memory):
        if code := getattr(library, function)(memory, *arguments):
            raise RuntimeError(f"{function}: error {code}")

    call(None)
    memory = Array(numpy.zeros(bytes.value, numpy.uint8))
    return lambda: call(ctypes.c_void_p(memory.data_ptr()))


@case("sort by digits")
def _():
    x = random.integers(0, 2**32, N, numpy.uint32)
    given, out = Array(x), Array(numpy.zeros_like(x))
    return out, launching("sort", given, out), numpy.sort(x)


@case("running sums with lookback")
def _():
    x = random.integers(0, 1000, N, numpy.uint32)
    given, out = Array(x), Array(numpy.zeros_like(x))
    return out, launching("scan", given, out), numpy.cumsum(x)


@case("sum", 1e-6)
def _():
    x = random.random(N, dtype=numpy.float32)
    given, out = Array(x), Array(numpy.zeros(1, numpy.float32))
    return out, launching("sum", given, out), x.sum(keepdims=True)


finish()
