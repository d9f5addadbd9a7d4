"""The kernels of bitsandbytes, called as its Python code calls them, but without torch: their library is linked with HIP."""

import ctypes
import importlib.util
from pathlib import Path

import device
import numpy
from agreement import check, finish
from device import Array, case

package = Path(importlib.util.find_spec("bitsandbytes").origin).parent
# It expects that torch has loaded these.
for name in ("libamdhip64.so.7", "librocblas.so.5", "libhipsparse.so.4"):
    ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(str(package / "libbitsandbytes_rocm71.so"))

NF4 = numpy.array(
    [
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
        -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
        0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ],
    numpy.float32,
)  # fmt: skip
BLOCK, ROWS, COLUMNS = 64, 48, 128
random = numpy.random.default_rng(8)
weights = random.standard_normal((ROWS, COLUMNS), dtype=numpy.float32)
blocks = weights.reshape(-1, BLOCK)
largest = abs(blocks).max(axis=1)
nearest = abs(blocks[..., None] / largest[:, None, None] - NF4).argmin(axis=2).reshape(-1).astype(numpy.uint8)
packed = nearest[::2] << 4 | nearest[1::2]
wide = (NF4[nearest].reshape(blocks.shape) * largest[:, None]).reshape(ROWS, COLUMNS)


def call(function, *arguments):
    """Calls a function of the library with arrays, numbers and the stream, as its types of C want them."""
    given = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, Array) else a for a in arguments]
    getattr(library, function)(*given)


@check("weights quantised to four bits")
def _():
    out, scales = Array(numpy.zeros(packed.size, numpy.uint8)), Array(numpy.zeros(largest.size, numpy.float32))
    call("cquantize_blockwise_fp32_nf4", None, Array(weights), scales, out, BLOCK, weights.size)
    device.call("hipDeviceSynchronize")
    return numpy.append(out.host(), scales.host()), numpy.append(packed, largest)


@case("weights of four bits widened", 1e-7)
def _():
    given, out = (Array(packed), Array(largest)), Array(numpy.zeros_like(weights))
    arguments = None, *given, out, BLOCK, weights.size, device.stream
    return out, lambda: call("cdequantize_blockwise_fp32_nf4", *arguments), wide


@case("product of weights of four bits and a vector", 1e-6)
def _():
    x = random.standard_normal(COLUMNS, dtype=numpy.float32)
    given, out = (Array(x), Array(packed), Array(largest), Array(NF4)), Array(numpy.zeros(ROWS, numpy.float32))
    arguments = ROWS, 1, COLUMNS, *given, out, ROWS, COLUMNS // 2, ROWS, BLOCK, device.stream
    return out, lambda: call("cgemm_4bit_inference_naive_fp32", *arguments), wide @ x


@case("rows quantised to bytes")
def _():
    halves = weights.astype(numpy.float16)
    scales = Array(numpy.zeros(ROWS, numpy.float32))
    given, out = Array(halves), Array(numpy.zeros(halves.shape, numpy.int8))
    arguments = given, out, scales, ctypes.c_float(0), ROWS, COLUMNS, device.stream
    single = halves.astype(numpy.float32)
    expected = numpy.rint(single * (127 / abs(single).max(axis=1, keepdims=True)))
    return out, lambda: call("cint8_vector_quant", *arguments), expected


finish()
