"""JAX on AMD's plugin for PJRT (XLA): functions that it compiles, as separate launches and as command buffers, which are graphs."""

import jax
import jax._src.hardware_utils
import jax.numpy as jnp
import numpy
from agreement import check, finish

# It counts the devices of AMD's kernel driver, which an emulated one does not need.
jax._src.hardware_utils.num_available_amd_gpus = lambda stop_at=None: 1
# Else products may be of shorter numbers, by what XLA finds to be fastest.
jax.config.update("jax_default_matmul_precision", "highest")
assert jax.devices()[0].platform == "gpu", jax.devices()

random = numpy.random.default_rng(6)
x, y = random.standard_normal((2, 60, 70), dtype=numpy.float32)
a, b = random.standard_normal((2, 48, 48), dtype=numpy.float32)
images = random.standard_normal((2, 12, 12), dtype=numpy.float32)
whole = random.integers(-100, 100, (30, 40), numpy.int32)


def softmax(xp, x):
    e = xp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer(xp, x, y):
    centred = x - x.mean(axis=1, keepdims=True)
    return xp.tanh(centred / xp.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * y)


def smoothed(xp, image):
    return sum(image[:, i : i + 10, j : j + 10] for i in range(3) for j in range(3)) / 9


CASES = {
    "elementwise": (1e-6, [x, y], lambda xp, x, y: xp.sin(x) * y + xp.exp(-x * x)),
    "sums of rows and of all": (1e-5, [x], lambda xp, x: x.sum(axis=1) / x.sum()),
    "softmax": (1e-6, [x], softmax),
    "layer norm": (1e-5, [x, y], layer),
    "running sums": (1e-5, [x], lambda xp, x: xp.cumsum(x, axis=1)),
    "sort": (0, [x], lambda xp, x: xp.sort(x, axis=1)),
    "transposed and cut": (0, [x], lambda xp, x: x.T[5:50, ::3] * 2),
    "windows": (1e-6, [images], smoothed),
    "gathered": (0, [x], lambda xp, x: x[xp.asarray([3, 1, 4, 1, 5, 9, 2, 6])]),
    "whole numbers": (0, [whole], lambda xp, x: (x * 7919 % 101) ^ (x >> 2)),
    "selection": (0, [x, y], lambda xp, x, y: xp.where(x > y, x, -y).max(axis=0)),
    "product of matrices": (1e-5, [a, b], lambda xp, a, b: a @ b),
}

for name, (tolerance, inputs, function) in CASES.items():
    for in_graph in (False, True):

        @check(name + " in a graph" * in_graph, tolerance)
        def _():
            # Command buffers of fewer steps than this are launched step by step.
            options = {"xla_gpu_graph_min_graph_size": 1 if in_graph else 10**6}
            lowered = jax.jit(lambda *arguments: function(jnp, *arguments)).lower(*inputs)
            compiled = lowered.compile(compiler_options=options)
            for _ in range(3):
                result = compiled(*map(jnp.asarray, inputs))
            return result, function(numpy, *inputs)


@check("a loop of the device", 1e-5)
def _():
    step = lambda i, x: jnp.tanh(x * 1.1 + 0.01 * i)
    expected = x
    for i in range(10):
        expected = numpy.tanh(expected * numpy.float32(1.1) + numpy.float32(0.01 * i))
    return jax.lax.fori_loop(0, 10, step, jnp.asarray(x)), expected


@check("gradient", 1e-5)
def _():
    loss = lambda x: (jnp.tanh(x) ** 2).sum()
    return jax.grad(loss)(jnp.asarray(x)), 2 * numpy.tanh(x) / numpy.cosh(x) ** 2


@check("random bits of Threefry, of which those on the host are the same")
def _():
    key = jax.random.key(7)
    with jax.default_device(jax.devices("cpu")[0]):
        expected = numpy.asarray(jax.random.bits(jax.random.key(7), (1000,)))
    return jax.random.bits(key, (1000,)), expected


finish()
