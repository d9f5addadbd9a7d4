//! Read-modify-write operations, the same on LDS, global memory, buffers and scratch.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::float_atomic as float;
pub use float::Edges;

/// What a 32- or 64-bit atomic does; `f32` and the packed ones are 32 bits wide, `f64` 64.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    Swap,
    /// Writes the data where memory equals the comparand.
    CmpSwap,
    Add,
    Sub,
    /// Data - memory.
    Rsub,
    Smin,
    Umin,
    Smax,
    Umax,
    And,
    Or,
    Xor,
    /// 0 where memory is at least the data, else memory + 1.
    Inc,
    /// The data where memory is 0 or above the data, else memory - 1.
    Dec,
    /// Memory - data where that is no negative number, else memory.
    CondSub,
    /// Memory - data, or 0 where that is negative.
    SubClamp,
    /// Memory with the bits of the mask (data) replaced by the second operand's.
    Mskor,
    /// Memory - data where that is no negative number, else memory + second operand (`ds_wrap`).
    Wrap,
    AddF,
    MinF,
    MaxF,
    /// [`Op::CmpSwap`] with floating-point equality.
    CmpSwapF,
    PkAddF16,
    PkAddBf16,
}

/// The functions of one width: what an operation makes of a word, and the operation on memory.
macro_rules! width {
    ($apply:ident, $memory:ident, $float:ident, $word:ty, $signed:ty, $atomic:ty) => {
        /// The new value of a word: `data` and `second` are the instruction's operands; [`Op::CmpSwap`] compares with
        /// `second`.
        #[inline(always)]
        pub fn $apply(op: Op, old: $word, data: $word, second: $word, edges: Edges) -> $word {
            match op {
                Op::Swap => data,
                Op::CmpSwap if old == second => data,
                Op::CmpSwap => old,
                Op::Add => old.wrapping_add(data),
                Op::Sub => old.wrapping_sub(data),
                Op::Rsub => data.wrapping_sub(old),
                Op::Smin => (old as $signed).min(data as $signed) as $word,
                Op::Umin => old.min(data),
                Op::Smax => (old as $signed).max(data as $signed) as $word,
                Op::Umax => old.max(data),
                Op::And => old & data,
                Op::Or => old | data,
                Op::Xor => old ^ data,
                Op::Inc if old >= data => 0,
                Op::Inc => old + 1,
                Op::Dec if old == 0 || old > data => data,
                Op::Dec => old - 1,
                Op::CondSub if old >= data => old - data,
                Op::CondSub => old,
                Op::SubClamp => old.saturating_sub(data),
                Op::Mskor => old & !data | second,
                Op::Wrap if old >= data => old - data,
                Op::Wrap => old.wrapping_add(second),
                Op::AddF | Op::MinF | Op::MaxF | Op::CmpSwapF | Op::PkAddF16 | Op::PkAddBf16 => {
                    $float(op, old, data, second, edges)
                }
            }
        }

        /// Performs `op` on memory that other threads use at the same time; returns the old value.
        ///
        /// # Safety
        /// `at` is valid for reads and writes of a word and aligned to it.
        #[inline(always)]
        pub unsafe fn $memory(at: *mut $word, op: Op, data: $word, second: $word, edges: Edges) -> $word {
            // SAFETY: the caller vouches for the address; device memory is only ever accessed through raw pointers.
            let word = unsafe { <$atomic>::from_ptr(at) };
            // ORDER: SeqCst. The device program's own fences cost nothing here, so the atomics carry the order.
            match op {
                Op::Add => word.fetch_add(data, Ordering::SeqCst),
                Op::Sub => word.fetch_sub(data, Ordering::SeqCst),
                Op::And => word.fetch_and(data, Ordering::SeqCst),
                Op::Or => word.fetch_or(data, Ordering::SeqCst),
                Op::Xor => word.fetch_xor(data, Ordering::SeqCst),
                Op::Swap => word.swap(data, Ordering::SeqCst),
                Op::CmpSwap => {
                    match word.compare_exchange(second, data, Ordering::SeqCst, Ordering::SeqCst) {
                        Ok(old) | Err(old) => old,
                    }
                }
                _ => {
                    let mut old = word.load(Ordering::SeqCst);
                    loop {
                        let new = $apply(op, old, data, second, edges);
                        match word.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                            Ok(_) => return old,
                            Err(now) => old = now,
                        }
                    }
                }
            }
        }
    };
}
width!(apply32, memory32, float32, u32, i32, AtomicU32);
width!(apply64, memory64, float64, u64, i64, AtomicU64);

/// The operations of floating point, which are no operations of words.
#[inline(always)]
fn float32(op: Op, old: u32, data: u32, second: u32, edges: Edges) -> u32 {
    match op {
        Op::AddF => float::add32(old, data, edges),
        Op::MinF | Op::MaxF => float::select32(old, data, op == Op::MaxF, edges),
        Op::CmpSwapF => float::compare_store32(old, data, second, edges),
        Op::PkAddF16 => float::pk_add_f16(old, data, edges),
        Op::PkAddBf16 => float::pk_add_bf16(old, data, edges),
        _ => old,
    }
}

/// [`float32`] for 64 bits; the packed operations do not exist and leave memory alone.
#[inline(always)]
fn float64(op: Op, old: u64, data: u64, second: u64, edges: Edges) -> u64 {
    match op {
        Op::AddF => float::add64(old, data),
        Op::MinF | Op::MaxF => float::select64(old, data, op == Op::MaxF, edges),
        Op::CmpSwapF => float::compare_store64(old, data, second, edges),
        _ => old,
    }
}

/// [`Op`] from a const generic parameter.
macro_rules! op_of {
    ($($variant:ident),*) => {
        pub const fn op_of(code: u8) -> Op {
            $(if code == Op::$variant as u8 { return Op::$variant; })*
            Op::Swap
        }
    };
}
op_of!(
    Swap, CmpSwap, Add, Sub, Rsub, Smin, Umin, Smax, Umax, And, Or, Xor, Inc, Dec, CondSub, SubClamp, Mskor,
    Wrap, AddF, MinF, MaxF, CmpSwapF, PkAddF16, PkAddBf16
);
