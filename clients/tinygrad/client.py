"""tinygrad on its HIP device. It compiles with ROCm's comgr; here hiprtc takes that place, as it did until tinygrad 0.10."""

import ctypes
import os
import re

import numpy
from agreement import check, finish

# Its tensor cores are those of RDNA 3 unless the device's name is gfx942 and nothing more.
os.environ.update(DEV="HIP", PARALLEL="0", TC="0")
from tinygrad import Device, Tensor, TinyJit, dtypes  # noqa: E402
from tinygrad.device import CompileError, Compiler  # noqa: E402

rtc = ctypes.CDLL("libhiprtc.so.7")


class RunTimeCompiler(Compiler):
    def compile(self, source):
        # hiprtc declares HIP's vectors, comgr does not: tinygrad's own get other names.
        for name in re.findall(r"(\w+) __attribute__\(\(ext_vector_type", source):
            source = re.sub(rf"\b(make_)?{name}\b", rf"\1tiny_{name}", source)
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        rtc.hiprtcCreateProgram(ctypes.byref(program), source.encode(), b"tinygrad", 0, None, None)
        options = (ctypes.c_char_p * 1)(b"-O3")
        failed = rtc.hiprtcCompileProgram(program, 1, options)
        rtc.hiprtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        rtc.hiprtcGetProgramLog(program, log)
        if failed:
            raise CompileError(log.value.decode())
        rtc.hiprtcGetCodeSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        rtc.hiprtcGetCode(program, code)
        rtc.hiprtcDestroyProgram(ctypes.byref(program))
        return code.raw


from tinygrad.runtime.support import compiler_amd  # noqa: E402

compiler_amd.HIPCompiler = lambda arch: RunTimeCompiler()

assert Device.DEFAULT == "HIP"
random = numpy.random.default_rng(2)
x, y = random.standard_normal((2, 40, 50), dtype=numpy.float32)
a = random.standard_normal((64, 64), dtype=numpy.float32)
b = random.standard_normal((64, 64), dtype=numpy.float32)
images = random.standard_normal((2, 3, 12, 12), dtype=numpy.float32)
filters = random.standard_normal((4, 3, 3, 3), dtype=numpy.float32)


def softmax(x):
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@check("elementwise, fused", 1e-6)
def _():
    return ((Tensor(x) * Tensor(y) + 1).sin() * Tensor(x).exp()).numpy(), numpy.sin(x * y + 1) * numpy.exp(x)


@check("sums of rows", 1e-6)
def _():
    return Tensor(x).sum(axis=1).numpy(), x.sum(axis=1)


@check("sum of all", 1e-6)
def _():
    return Tensor(x).sum().numpy(), x.sum()


@check("the largest of each column, and where", 0)
def _():
    found = Tensor(x).max(axis=0).numpy(), Tensor(x).argmax(axis=0).numpy()
    return numpy.stack(found), numpy.stack([x.max(axis=0), x.argmax(axis=0)])


@check("softmax", 1e-6)
def _():
    return Tensor(x).softmax(axis=1).numpy(), softmax(x)


@check("running sums", 1e-5)
def _():
    return Tensor(x).cumsum(axis=1).numpy(), x.cumsum(axis=1)


@check("sorted rows", 0)
def _():
    return Tensor(x).sort(dim=1)[0].numpy(), numpy.sort(x, axis=1)


@check("product of matrices", 1e-5)
def _():
    return (Tensor(a) @ Tensor(b)).numpy(), a @ b


@check("product of matrices of half precision, summed in single", 1e-3)
def _():
    halves = [Tensor(m.astype(numpy.float16)) for m in (a, b)]
    expected = a.astype(numpy.float16).astype(numpy.float32) @ b.astype(numpy.float16).astype(numpy.float32)
    return halves[0].matmul(halves[1], dtype=dtypes.float32).numpy(), expected


@check("convolution", 1e-5)
def _():
    windows = numpy.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(2, 3))
    return Tensor(images).conv2d(Tensor(filters)).numpy(), numpy.einsum("bchwij,ocij->bohw", windows, filters)


@check("gathered rows", 0)
def _():
    rows = random.integers(0, 40, 25)
    return Tensor(x)[Tensor(rows.astype(numpy.int32))].numpy(), x[rows]


@check("five steps of training, by a jit", 1e-4)
def _():
    weights, target = a[:50, :10] / 8, softmax(b[:40, :10])
    trained, inputs, wanted = Tensor(weights), Tensor(x).realize(), Tensor(target).realize()
    trained.requires_grad = True

    @TinyJit
    def step():
        trained.grad = None
        loss = -(wanted * inputs.matmul(trained).log_softmax(axis=1)).sum(axis=1).mean()
        loss.backward()
        trained.assign(trained.detach() - 0.1 * trained.grad).realize()
        return loss.realize()

    for _ in range(5):
        step()
    expected = weights.astype(numpy.float64)
    for _ in range(5):
        expected -= 0.1 * x.T @ (softmax(x @ expected) - target) / 40
    return trained.numpy(), expected


finish()
