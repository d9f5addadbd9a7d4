"""HIP through ctypes: memory, one stream and graphs, for clients that leave these to another library."""

import ctypes

import numpy
from agreement import check

library = ctypes.CDLL("libamdhip64.so.7")
library.hipGetErrorName.restype = ctypes.c_char_p


def call(name, *arguments):
    """Calls a function, and raises the name of its error."""
    code = getattr(library, name)(*arguments)
    if code:
        raise RuntimeError(f"{name}: {library.hipGetErrorName(code).decode()}")


def _new(create, *arguments):
    handle = ctypes.c_void_p()
    call(create, ctypes.byref(handle), *arguments)
    return handle


stream = _new("hipStreamCreateWithFlags", 1)


class Array:
    """A copy of an array in device memory."""

    def __init__(self, values):
        self.shape, self.dtype, self.nbytes = values.shape, values.dtype, values.nbytes
        self._memory = _new("hipMalloc", ctypes.c_size_t(self.nbytes))
        values = numpy.ascontiguousarray(values)
        call("hipMemcpy", self._memory, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(self.nbytes), 1)

    def data_ptr(self):
        return self._memory.value

    def host(self):
        """A copy on the host, of the array that all work launched before leaves."""
        values = numpy.full(self.shape, 77, self.dtype)
        call("hipStreamSynchronize", stream)
        call("hipMemcpy", ctypes.c_void_p(values.ctypes.data), self._memory, ctypes.c_size_t(self.nbytes), 2)
        return values


def run(work, in_graph=False):
    """Calls `work`, which launches on the stream; or captures the call, and launches the graph."""
    if not in_graph:
        work()
        return
    graph = ctypes.c_void_p()
    call("hipStreamBeginCapture", stream, 0)
    try:
        work()
    finally:
        call("hipStreamEndCapture", stream, ctypes.byref(graph))
    executable = _new("hipGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    call("hipGraphLaunch", executable, stream)


def case(name, tolerance=0.0):
    """Two checks of what the decorated function returns: an array, a function that launches what fills it, and the values
    that the host computes. The second captures the launches in a graph."""

    def run_both(make):
        for in_graph in (False, True):

            @check(name + " in a graph" * in_graph, tolerance)
            def _():
                out, launch, expected = make()
                run(launch, in_graph)
                return out.host(), expected

    return run_both
