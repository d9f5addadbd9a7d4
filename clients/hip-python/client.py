"""hip-python: HIP's own functions from Python, with kernels that hiprtc compiles."""

import ctypes

import numpy
from agreement import check, finish
from hip import hip, hiprtc

SOURCE = rb"""
extern "C" __global__ void axpy(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

// The sum of each block's 256 elements.
extern "C" __global__ void block_sums(float *sums, const float *x, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// c = a b, of n x n matrices in blocks of 16 x 16; dynamic LDS holds a block of each.
extern "C" __global__ void product(double *c, const double *a, const double *b, int n) {
    extern __shared__ double block[];
    double *left = block, *right = block + 256, sum = 0;
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, at = threadIdx.y * 16 + threadIdx.x;
    for (int k = 0; k < n; k += 16) {
        left[at] = a[row * n + k + threadIdx.x];
        right[at] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += left[threadIdx.y * 16 + j] * right[j * 16 + threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void histogram(unsigned *bins, const unsigned char *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
}
"""


def call(result):
    code, *values = result
    if code.value != 0:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def compile_source():
    program = call(hiprtc.hiprtcCreateProgram(SOURCE, b"client", 0, None, None))
    code, *_ = hiprtc.hiprtcCompileProgram(program, 0, None)
    if code.value != 0:
        log = bytearray(call(hiprtc.hiprtcGetProgramLogSize(program)))
        call(hiprtc.hiprtcGetProgramLog(program, log))
        raise RuntimeError(log.decode())
    code = bytearray(call(hiprtc.hiprtcGetCodeSize(program)))
    call(hiprtc.hiprtcGetCode(program, code))
    call(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return call(hip.hipModuleLoadData(code))


module = compile_source()
kernels = {
    name: call(hip.hipModuleGetFunction(module, name.encode()))
    for name in ("axpy", "block_sums", "product", "histogram")
}
stream = call(hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking))


def device(array):
    """A copy on the device."""
    pointer = call(hip.hipMalloc(array.nbytes))
    call(hip.hipMemcpy(pointer, array, array.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    return pointer


def host(pointer, shape, dtype):
    array = numpy.full(shape, 77, dtype)
    call(hip.hipMemcpy(array, pointer, array.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    return array


def launch(name, grid, block, *arguments, shared=0):
    call(
        hip.hipModuleLaunchKernel(
            kernels[name], *grid, *block, sharedMemBytes=shared, stream=stream, kernelParams=None, extra=arguments
        )
    )


def captured(work):
    """An executable graph of what `work` launches on the stream."""
    call(hip.hipStreamBeginCapture(stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal))
    work()
    graph = call(hip.hipStreamEndCapture(stream))
    executable = call(hip.hipGraphInstantiate(graph, 0))
    return executable[0] if isinstance(executable, list) else executable


def run(work, times=1, in_graph=False):
    """Runs `work` on the stream, as it is or in a graph that is launched so many times."""
    if in_graph:
        executable = captured(work)
        work = lambda: call(hip.hipGraphLaunch(executable, stream))
    for _ in range(times):
        work()
    call(hip.hipStreamSynchronize(stream))


random = numpy.random.default_rng(1)
N = 5000
x, y = random.random((2, N), dtype=numpy.float32)
a, b = random.random((2, 48, 48))
letters = random.integers(0, 256, N, dtype=numpy.uint8)
device_x, device_a, device_b, device_letters = device(x), device(a), device(b), device(letters)
n = ctypes.c_int(N)

for in_graph in (False, True):
    form = " in a graph" if in_graph else ""

    @check("axpy, three times" + form, 1e-6)
    def _():
        result = device(y)
        run(lambda: launch("axpy", (20, 1, 1), (256, 1, 1), result, device_x, ctypes.c_float(0.5), n), 3, in_graph)
        return host(result, N, numpy.float32), y + 1.5 * x

    @check("sums of blocks" + form, 1e-6)
    def _():
        sums = device(numpy.zeros(20, numpy.float32))
        run(lambda: launch("block_sums", (20, 1, 1), (256, 1, 1), sums, device_x, n), 1, in_graph)
        return host(sums, 20, numpy.float32), numpy.add.reduceat(x, range(0, N, 256))

    @check("product of matrices in dynamic LDS" + form, 1e-14)
    def _():
        product = device(numpy.zeros((48, 48)))
        arguments = product, device_a, device_b, ctypes.c_int(48)
        run(lambda: launch("product", (3, 3, 1), (16, 16, 1), *arguments, shared=4096), 1, in_graph)
        return host(product, (48, 48), numpy.float64), a @ b

    @check("histogram by atomics, behind a memset" + form)
    def _():
        bins = device(numpy.ones(256, numpy.uint32))

        def work():
            call(hip.hipMemsetAsync(bins, 0, 1024, stream))
            launch("histogram", (4, 1, 1), (256, 1, 1), bins, device_letters, n)

        run(work, 2, in_graph)
        return host(bins, 256, numpy.uint32), numpy.bincount(letters, minlength=256)

    @check("memory allocated, used and freed in stream order" + form, 1e-6)
    def _():
        result = device(numpy.zeros(N, numpy.float32))

        def work():
            memory = call(hip.hipMallocAsync(x.nbytes, stream))
            call(hip.hipMemcpyAsync(memory, device_x, x.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToDevice, stream))
            launch("axpy", (20, 1, 1), (256, 1, 1), memory, device_x, ctypes.c_float(2), n)
            launch("axpy", (20, 1, 1), (256, 1, 1), result, memory, ctypes.c_float(1), n)
            call(hip.hipFreeAsync(memory, stream))

        run(work, 2, in_graph)
        return host(result, N, numpy.float32), 6 * x


@check("a fork and a join of two streams in a graph", 1e-6)
def _():
    global stream
    result, sums = device(y), device(numpy.zeros(20, numpy.float32))
    first, second = stream, call(hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking))
    fork, join = (call(hip.hipEventCreate()) for _ in range(2))

    def work():
        global stream
        launch("axpy", (20, 1, 1), (256, 1, 1), result, device_x, ctypes.c_float(1), n)
        call(hip.hipEventRecord(fork, first))
        call(hip.hipStreamWaitEvent(second, fork, 0))
        stream = second
        launch("block_sums", (20, 1, 1), (256, 1, 1), sums, result, n)
        call(hip.hipEventRecord(join, second))
        stream = first
        call(hip.hipStreamWaitEvent(first, join, 0))
        launch("axpy", (1, 1, 1), (32, 1, 1), sums, sums, ctypes.c_float(1), ctypes.c_int(20))

    run(work, 1, True)
    return host(sums, 20, numpy.float32), 2 * numpy.add.reduceat(x + y, range(0, N, 256))


@check("kernel nodes, and one set anew in the executable graph", 1e-6)
def _():
    result = device(y)
    graph = call(hip.hipGraphCreate(0))

    pointers = [ctypes.c_void_p(int(memory)) for memory in (result, device_x)]

    def parameters(factor):
        values = [*pointers, ctypes.c_float(factor), n]
        addresses = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
        node = hip.hipKernelNodeParams(func=kernels["axpy"], kernelParams=addresses)
        node.gridDim.x, node.blockDim.x = 20, 256
        node.gridDim.y = node.gridDim.z = node.blockDim.y = node.blockDim.z = 1
        return node, values, addresses

    first, second = parameters(1), parameters(10)
    node = call(hip.hipGraphAddKernelNode(graph, None, 0, first[0]))
    executable = call(hip.hipGraphInstantiateWithFlags(graph, 0))
    call(hip.hipGraphLaunch(executable, stream))
    call(hip.hipGraphExecKernelNodeSetParams(executable, node, second[0]))
    call(hip.hipGraphLaunch(executable, stream))
    call(hip.hipStreamSynchronize(stream))
    return host(result, N, numpy.float32), y + 11 * x


finish()
