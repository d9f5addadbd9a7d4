"""rocSPARSE, with the kernels that Debian has compiled, through its C interface."""

import ctypes

import device
import numpy
from agreement import finish
from device import Array, case

library = ctypes.CDLL("librocsparse.so.0")
NONE = 111
random = numpy.random.default_rng(11)
ROWS, COLUMNS = 200, 150


def call(name, *arguments):
    """Calls a function with arrays, numbers and handles, as its types of C want them."""
    given = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, Array) else a for a in arguments]
    status = getattr(library, f"rocsparse_{name}")(*given)
    if status:
        raise RuntimeError(f"rocsparse_{name}: status {status}")


def number(value):
    return ctypes.byref(ctypes.c_float(value))


handle, description = ctypes.c_void_p(), ctypes.c_void_p()
call("create_handle", ctypes.byref(handle))
call("set_stream", handle, device.stream)
call("create_mat_descr", ctypes.byref(description))

matrix = random.standard_normal((ROWS, COLUMNS), dtype=numpy.float32)
matrix[random.random(matrix.shape) > 0.05] = 0
# Compressed rows: values, where each row begins, and the columns of the values.
in_rows = numpy.nonzero(matrix)
values, columns = Array(matrix[in_rows]), Array(in_rows[1].astype(numpy.int32))
begins = Array(numpy.searchsorted(in_rows[0], numpy.arange(ROWS + 1)).astype(numpy.int32))
count = len(in_rows[0])


@case("product of a sparse matrix and a vector", 1e-6)
def _():
    x, y = random.standard_normal(COLUMNS, dtype=numpy.float32), random.standard_normal(ROWS, dtype=numpy.float32)
    given, out = Array(x), Array(y)
    shape = handle, NONE, ROWS, COLUMNS, count, number(2), description
    launch = lambda: call("scsrmv", *shape, values, begins, columns, None, given, number(0.5), out)
    return out, launch, 2 * matrix @ x + y / 2


@case("product of a sparse matrix and a dense one", 1e-6)
def _():
    # Both dense matrices lie in columns.
    dense = random.standard_normal((8, COLUMNS), dtype=numpy.float32)
    given, out = Array(dense), Array(numpy.zeros((8, ROWS), numpy.float32))
    shape = handle, NONE, NONE, ROWS, 8, COLUMNS, count, number(1), description
    launch = lambda: call("scsrmm", *shape, values, begins, columns, given, COLUMNS, number(0), out, ROWS)
    return out, launch, dense @ matrix.T


@case("sum of a sparse vector and a dense one", 1e-6)
def _():
    at = numpy.sort(random.choice(1000, 300, replace=False)).astype(numpy.int32)
    x, y = random.standard_normal(300, dtype=numpy.float32), random.standard_normal(1000, dtype=numpy.float32)
    given, out = (Array(x), Array(at)), Array(y)
    expected = y.copy()
    expected[at] += 3 * x
    return out, lambda: call("saxpyi", handle, 300, number(3), *given, out, 0), expected


finish()
