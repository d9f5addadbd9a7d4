//! Read-modify-write operations, the same on LDS, global memory, buffers and scratch.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::float_atomic as float;
pub use float::Denormals;

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

/// The new value of a 32-bit word: `data` and `second` are the instruction's operands; [`Op::CmpSwap`] compares with
/// `second`.
#[inline(always)]
pub fn apply32(op: Op, old: u32, data: u32, second: u32, denormals: Denormals) -> u32 {
    match op {
        Op::Swap => data,
        Op::CmpSwap => {
            if old == second {
                data
            } else {
                old
            }
        }
        Op::Add => old.wrapping_add(data),
        Op::Sub => old.wrapping_sub(data),
        Op::Rsub => data.wrapping_sub(old),
        Op::Smin => (old as i32).min(data as i32) as u32,
        Op::Umin => old.min(data),
        Op::Smax => (old as i32).max(data as i32) as u32,
        Op::Umax => old.max(data),
        Op::And => old & data,
        Op::Or => old | data,
        Op::Xor => old ^ data,
        Op::Inc => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        Op::Dec => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        Op::Mskor => old & !data | second,
        Op::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(second)
            }
        }
        Op::AddF => float::add32(old, data, denormals),
        Op::MinF => float::select32(old, data, false, denormals),
        Op::MaxF => float::select32(old, data, true, denormals),
        Op::CmpSwapF => float::compare_store32(old, data, second, denormals),
        Op::PkAddF16 => float::pk_add_f16(old, data, denormals),
        Op::PkAddBf16 => float::pk_add_bf16(old, data, denormals),
    }
}

/// [`apply32`] for 64-bit words; the packed operations do not exist and leave memory alone.
#[inline(always)]
pub fn apply64(op: Op, old: u64, data: u64, second: u64, denormals: Denormals) -> u64 {
    match op {
        Op::Swap => data,
        Op::CmpSwap => {
            if old == second {
                data
            } else {
                old
            }
        }
        Op::Add => old.wrapping_add(data),
        Op::Sub => old.wrapping_sub(data),
        Op::Rsub => data.wrapping_sub(old),
        Op::Smin => (old as i64).min(data as i64) as u64,
        Op::Umin => old.min(data),
        Op::Smax => (old as i64).max(data as i64) as u64,
        Op::Umax => old.max(data),
        Op::And => old & data,
        Op::Or => old | data,
        Op::Xor => old ^ data,
        Op::Inc => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        Op::Dec => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        Op::Mskor => old & !data | second,
        Op::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(second)
            }
        }
        Op::AddF => float::add64(old, data),
        Op::MinF => float::select64(old, data, false, denormals),
        Op::MaxF => float::select64(old, data, true, denormals),
        Op::CmpSwapF => float::compare_store64(old, data, second, denormals),
        Op::PkAddF16 | Op::PkAddBf16 => old,
    }
}

/// Performs `op` on memory that other threads use at the same time; returns the old value.
///
/// # Safety
/// `at` is valid for reads and writes of 4 bytes and 4-aligned.
#[inline(always)]
pub unsafe fn memory32(at: *mut u32, op: Op, data: u32, second: u32, denormals: Denormals) -> u32 {
    // SAFETY: the caller vouches for the address; device memory is only ever accessed through raw pointers.
    let word = unsafe { AtomicU32::from_ptr(at) };
    // ORDER: SeqCst. The device program's own fences cost nothing here, so the atomics carry the order.
    match op {
        Op::Add => word.fetch_add(data, Ordering::SeqCst),
        Op::Sub => word.fetch_sub(data, Ordering::SeqCst),
        Op::And => word.fetch_and(data, Ordering::SeqCst),
        Op::Or => word.fetch_or(data, Ordering::SeqCst),
        Op::Xor => word.fetch_xor(data, Ordering::SeqCst),
        Op::Swap => word.swap(data, Ordering::SeqCst),
        Op::CmpSwap => match word.compare_exchange(second, data, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(old) | Err(old) => old,
        },
        _ => {
            let mut old = word.load(Ordering::SeqCst);
            loop {
                let new = apply32(op, old, data, second, denormals);
                match word.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }
    }
}

/// [`memory32`] for 64-bit words.
///
/// # Safety
/// `at` is valid for reads and writes of 8 bytes and 8-aligned.
#[inline(always)]
pub unsafe fn memory64(at: *mut u64, op: Op, data: u64, second: u64, denormals: Denormals) -> u64 {
    // SAFETY: the caller vouches for the address; device memory is only ever accessed through raw pointers.
    let word = unsafe { AtomicU64::from_ptr(at) };
    // ORDER: SeqCst, as in memory32.
    match op {
        Op::Add => word.fetch_add(data, Ordering::SeqCst),
        Op::Sub => word.fetch_sub(data, Ordering::SeqCst),
        Op::And => word.fetch_and(data, Ordering::SeqCst),
        Op::Or => word.fetch_or(data, Ordering::SeqCst),
        Op::Xor => word.fetch_xor(data, Ordering::SeqCst),
        Op::Swap => word.swap(data, Ordering::SeqCst),
        Op::CmpSwap => match word.compare_exchange(second, data, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(old) | Err(old) => old,
        },
        _ => {
            let mut old = word.load(Ordering::SeqCst);
            loop {
                let new = apply64(op, old, data, second, denormals);
                match word.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => return old,
                    Err(now) => old = now,
                }
            }
        }
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
    Swap, CmpSwap, Add, Sub, Rsub, Smin, Umin, Smax, Umax, And, Or, Xor, Inc, Dec, Mskor, Wrap, AddF, MinF,
    MaxF, CmpSwapF, PkAddF16, PkAddBf16
);
