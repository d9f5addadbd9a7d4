"""Triton kernels that the tests run on the emulated device.

Together they make Triton's AMD back end emit what it has: cross-lane reductions through DPP, LDS layouts, buffer and
global memory, atomics, matrix instructions, packed conversions. `build.py` compiles them.
"""

import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, total, mask=inside)


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """One row per program."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=inside, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row + at, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def layer_norm(x_ptr, weight_ptr, bias_ptr, out_ptr, mean_ptr, rstd_ptr, columns, eps, BLOCK: tl.constexpr):
    """One row per program."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + at, mask=inside)
    bias = tl.load(bias_ptr + at, mask=inside)
    tl.store(out_ptr + row * columns + at, centred * rstd * weight + bias, mask=inside)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SUM: tl.constexpr,
):
    """C = A B for row-major matrices of any size; SUM is the type of the sums and of C."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=SUM)
    for start in range(0, K, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        a_inside = (rows[:, None] < M) & (inner[None, :] < K)
        b_inside = (inner[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * stride_a + inner[None, :], mask=a_inside, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * stride_b + columns[None, :], mask=b_inside, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=SUM)
    c_inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_c + columns[None, :], total, mask=c_inside)


@triton.jit
def matmul_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    A: tl.constexpr, A_PER_BYTE: tl.constexpr, B: tl.constexpr, B_PER_BYTE: tl.constexpr,
):
    """C = A B, row by row but B column by column; each 32 numbers of a row or column have a power of two in common."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a_inner = start // A_PER_BYTE + tl.arange(0, BLOCK_K // A_PER_BYTE)
        b_inner = start // B_PER_BYTE + tl.arange(0, BLOCK_K // B_PER_BYTE)
        block = start // 32 + tl.arange(0, BLOCK_K // 32)
        a = tl.load(a_ptr + rows[:, None] * (K // A_PER_BYTE) + a_inner[None, :])
        b = tl.load(b_ptr + columns[None, :] * (K // B_PER_BYTE) + b_inner[:, None])
        a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 32) + block[None, :])
        b_scale = tl.load(b_scale_ptr + columns[:, None] * (K // 32) + block[None, :])
        total = tl.dot_scaled(a, a_scale, A, b, b_scale, B, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, length,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, WIDTH: tl.constexpr, CAUSAL: tl.constexpr,
):
    """Flash attention, forward: one head per program of the second axis, online softmax over the keys."""
    head = tl.program_id(1) * length * WIDTH
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    width = tl.arange(0, WIDTH)
    q_inside = rows[:, None] < length
    q = tl.load(q_ptr + head + rows[:, None] * WIDTH + width[None, :], mask=q_inside, other=0.0)
    largest = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    weight = tl.zeros((BLOCK_M,), dtype=tl.float32)
    total = tl.zeros((BLOCK_M, WIDTH), dtype=tl.float32)
    for start in range(0, length, BLOCK_N):
        keys = start + tl.arange(0, BLOCK_N)
        inside = keys[:, None] < length
        k = tl.load(k_ptr + head + keys[:, None] * WIDTH + width[None, :], mask=inside, other=0.0)
        v = tl.load(v_ptr + head + keys[:, None] * WIDTH + width[None, :], mask=inside, other=0.0)
        allowed = keys[None, :] < length
        if CAUSAL:
            allowed = allowed & (keys[None, :] <= rows[:, None])
        scores = tl.where(allowed, tl.dot(q, tl.trans(k)) * scale, -1.0e30)
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        p = tl.exp(scores - larger[:, None])
        decay = tl.exp(largest - larger)
        weight = weight * decay + tl.sum(p, axis=1)
        total = tl.dot(p.to(v.dtype), v, total * decay[:, None])
        largest = larger
    total = total / weight[:, None]
    total = total.to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + rows[:, None] * WIDTH + width[None, :], total, mask=q_inside)


@triton.jit
def sum_all(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A sum over the whole grid with a floating-point atomic."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


@triton.jit
def cumsum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """One row per program."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=inside, other=0.0)
    tl.store(out_ptr + row + at, tl.cumsum(x, axis=0), mask=inside)


@triton.jit
def _recurrence(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def linear_recurrence(a_ptr, b_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """y[i] = a[i] y[i-1] + b[i] per row, as an associative scan over pairs."""
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    a = tl.load(a_ptr + row + at, mask=inside, other=1.0)
    b = tl.load(b_ptr + row + at, mask=inside, other=0.0)
    _, y = tl.associative_scan((a, b), 0, _recurrence)
    tl.store(out_ptr + row + at, y, mask=inside)


@triton.jit
def histogram(x_ptr, counts_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Counts in LDS, then an integer atomic per bin; values outside of the bins are left out."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=-1)
    counts = tl.histogram(x, BINS, mask=(x >= 0) & (x < BINS))
    tl.atomic_add(counts_ptr + tl.arange(0, BINS), counts)


@triton.jit
def embedding(table_ptr, index_ptr, out_ptr, width, BLOCK: tl.constexpr):
    """One row of a table per program; an index below zero gives a row of zeros."""
    index = tl.load(index_ptr + tl.program_id(0))
    at = tl.arange(0, BLOCK)
    inside = at < width
    row = tl.load(table_ptr + index * width + at, mask=inside & (index >= 0), other=0.0)
    tl.store(out_ptr + tl.program_id(0) * width + at, row, mask=inside)


@triton.jit
def permute_rows(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """out[i][j] = x[index[i][j]][j], within the registers of one program."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(x_ptr + at), tl.load(index_ptr + at), 0))


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """Philox 4x32-10 with the element's index as counter."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    kept = tl.rand(seed, at) > p
    tl.store(out_ptr + at, tl.where(kept, x / (1.0 - p), 0.0), mask=inside)


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    y = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (y[:, None] < rows) & (x[None, :] < columns)
    tile = tl.load(x_ptr + y[:, None] * columns + x[None, :], mask=inside)
    inside = (x[:, None] < columns) & (y[None, :] < rows)
    tl.store(out_ptr + x[:, None] * rows + y[None, :], tl.trans(tile), mask=inside)


@triton.jit
def argmax(x_ptr, value_ptr, index_ptr, columns, BLOCK: tl.constexpr):
    """Largest value of each row and its first place."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def sort_rows(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """A bitonic sort of each row, ascending."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.sort(tl.load(x_ptr + at)))


@triton.jit
def gelu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """x times the normal distribution's cumulative function, in float32; bfloat16 in and out."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside).to(tl.float32)
    y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(out_ptr + at, y.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def cross_entropy(logits_ptr, label_ptr, loss_ptr, columns, BLOCK: tl.constexpr):
    """log(sum(exp(x))) - x[label] per row, for float16 logits."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    largest = tl.max(x, axis=0)
    total = tl.log(tl.sum(tl.exp(x - largest), axis=0)) + largest
    chosen = tl.load(logits_ptr + row * columns + tl.load(label_ptr + row)).to(tl.float32)
    tl.store(loss_ptr + row, total - chosen)


@triton.jit
def locked_update(lock_ptr, state_ptr, multiplier):
    """A spin lock around an update that does not commute with itself when it is torn."""
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    value = tl.load(state_ptr, volatile=True)
    tl.store(state_ptr, value * multiplier + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")


@triton.jit
def dot_f64(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A dot product in double precision with a double-precision atomic."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    product = tl.load(x_ptr + at, mask=inside, other=0.0) * tl.load(y_ptr + at, mask=inside, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(product, axis=0))


@triton.jit
def quantise(x_ptr, out_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    """Rows of float32 to signed bytes with one scale per row, rounded to the nearest."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1.0e-20) / 127.0
    q = tl.floor(x / scale + 0.5)
    tl.store(out_ptr + row * columns + at, q.to(tl.int8), mask=inside)
    tl.store(scale_ptr + row, scale)


@triton.jit
def fp8_round_trip(x_ptr, bits_ptr, back_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """float32 to an eight-bit float and back."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    narrow = tl.load(x_ptr + at, mask=inside, other=0.0).to(KIND)
    tl.store(bits_ptr + at, narrow.to(tl.uint8, bitcast=True), mask=inside)
    tl.store(back_ptr + at, narrow.to(tl.float32), mask=inside)
