//! Loops over the lanes of rows, compiled for several instruction sets.

use std::mem::MaybeUninit;

use super::{
    chunk::{CHUNK, Word, collect, flag},
    lane::Lane,
};
use crate::{isa::Flow, wave::simd};

/// A loop over lanes: the row that it writes, three that it reads, a bit for each lane, and the function's
/// environment.
///
/// # Safety
/// The rows are as wide as the types that the kernel was made for; the first one is written. The environment is what
/// [`Environment::address`] gives for the function that the kernel was made for. The CPU has what [`simd::level`] says.
pub(super) type Kernel<T> = unsafe fn(*mut u32, *const u32, *const u32, *const u32, u64, *const ()) -> T;

/// A function of a lane: its number, its bit, its sources.
pub(super) trait Lanes<A, B, C, D>: Fn(usize, u32, A, B, C) -> D {}

impl<A, B, C, D, F: Fn(usize, u32, A, B, C) -> D> Lanes<A, B, C, D> for F {}

/// What a kernel gets as its last argument: the function, and the number of lanes that the wave has.
pub(super) struct Environment<F> {
    f: F,
    lanes: usize,
}

impl<F> Environment<F> {
    #[inline(always)]
    pub(super) fn new(f: F, lanes: usize) -> Self {
        Self { f, lanes }
    }

    /// A closure without captures has no place that would have to be kept while the kernel runs: then the address is the
    /// number of lanes.
    #[inline(always)]
    pub(super) fn address(&self) -> *const () {
        if size_of::<F>() == 0 {
            std::ptr::without_provenance(self.lanes)
        } else {
            std::ptr::from_ref(self).cast()
        }
    }

    /// What an address stands for.
    ///
    /// # Safety
    /// It is that of an environment of such a function, which outlives the reference.
    #[inline(always)]
    unsafe fn at<'a>(address: *const ()) -> (&'a F, usize) {
        if size_of::<F>() == 0 {
            // SAFETY: a value without bytes is at every place that is aligned, and the caller vouches for there being one.
            (unsafe { std::ptr::NonNull::<F>::dangling().as_ref() }, lanes_of(address))
        } else {
            // SAFETY: as the caller says.
            let environment = unsafe { &*address.cast::<Self>() };
            (&environment.f, environment.lanes)
        }
    }
}

/// The number of lanes that is the address of an environment without captures, or of none at all.
#[inline(always)]
pub(super) fn lanes_of(address: *const ()) -> usize {
    address.addr()
}

/// The instruction sets that loops are compiled for. The functions are given by reference for their types only.
pub(super) trait Kernels {
    /// Writes values; the result is [`Flow::Next`], for the interpreter.
    fn value<A: Lane, B: Lane, C: Lane, D: Lane, F: Lanes<A, B, C, D>>(f: &F) -> Kernel<Flow>;
    /// Writes values and returns flags.
    fn value_and_flag<A: Lane, B: Lane, C: Lane, D: Lane, F: Lanes<A, B, C, (D, bool)>>(f: &F)
    -> Kernel<u64>;
    /// Returns flags.
    fn flag<A: Lane, B: Lane, C: Lane, F: Lanes<A, B, C, bool>>(f: &F) -> Kernel<u64>;
}

/// The oldest x86-64, or whatever else the host is.
pub(super) struct Baseline;

/// What the CPU has at run time.
pub(super) struct Each;

macro_rules! kernels {
    ($($name:ident $loop:ident<$($result:ident)?>: $value:ty => $ret:ty;)*) => {
        $(pub(super) mod $name {
            use super::*;

            pub(in super::super) unsafe fn baseline<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(
                to: *mut u32,
                a: *const u32,
                b: *const u32,
                c: *const u32,
                bits: u64,
                f: *const (),
            ) -> $ret {
                // SAFETY: as the caller says.
                unsafe { $loop::<0, A, B, C, $($result,)? F>(to, a, b, c, bits, Environment::at(f)) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            pub(super) unsafe fn avx2<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(
                to: *mut u32,
                a: *const u32,
                b: *const u32,
                c: *const u32,
                bits: u64,
                f: *const (),
            ) -> $ret {
                // SAFETY: as the caller says.
                unsafe { $loop::<1, A, B, C, $($result,)? F>(to, a, b, c, bits, Environment::at(f)) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
            pub(super) unsafe fn avx512<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(
                to: *mut u32,
                a: *const u32,
                b: *const u32,
                c: *const u32,
                bits: u64,
                f: *const (),
            ) -> $ret {
                // SAFETY: as the caller says.
                unsafe { $loop::<2, A, B, C, $($result,)? F>(to, a, b, c, bits, Environment::at(f)) }
            }
        })*

        impl Kernels for Baseline {
            $(
                #[inline(always)]
                fn $name<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(_: &F) -> Kernel<$ret> {
                    $name::baseline::<A, B, C, $($result,)? F>
                }
            )*
        }

        #[cfg(target_arch = "x86_64")]
        impl Kernels for Each {
            $(
                #[inline(always)]
                fn $name<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(_: &F) -> Kernel<$ret> {
                    let table: &[Kernel<$ret>; simd::VERSIONS] = const {
                        &[
                            $name::baseline::<A, B, C, $($result,)? F>,
                            $name::avx2::<A, B, C, $($result,)? F>,
                            $name::avx512::<A, B, C, $($result,)? F>,
                            $name::avx512::<A, B, C, $($result,)? F>,
                        ]
                    };
                    table[simd::level()]
                }
            )*
        }

        #[cfg(not(target_arch = "x86_64"))]
        impl Kernels for Each {
            $(
                #[inline(always)]
                fn $name<A: Lane, B: Lane, C: Lane, $($result: Lane,)? F: Lanes<A, B, C, $value>>(f: &F) -> Kernel<$ret> {
                    Baseline::$name::<A, B, C, $($result,)? F>(f)
                }
            )*
        }
    };
}

kernels! {
    value values<D>: D => Flow;
    value_and_flag values_and_flags<D>: (D, bool) => u64;
    flag flags<>: bool => u64;
}

/// Whether a wave of so many lanes ends before chunk `n`. Where the loops over chunks are unrolled, one of them asks.
#[inline(always)]
fn ends(n: usize, lanes: usize) -> bool {
    n == 32 / CHUNK && lanes == 32
}

/// Calls `f` with the sources of the lanes from `first` on.
///
/// # Safety
/// As for [`Kernel`]; `first` is a multiple of [`CHUNK`] below 64.
#[inline(always)]
unsafe fn chunk<const VERSION: usize, A: Lane, B: Lane, C: Lane, D>(
    first: usize,
    [a, b, c]: [*const u32; 3],
    bits: u64,
    f: &impl Lanes<A, B, C, D>,
    mut put: impl FnMut(usize, D),
) {
    // SAFETY: as the caller says.
    let (a, b, c) = unsafe {
        (
            A::Word::load::<VERSION>(a, first),
            B::Word::load::<VERSION>(b, first),
            C::Word::load::<VERSION>(c, first),
        )
    };
    let bits = (bits >> first) as u32;
    for n in 0..CHUNK {
        put(n, f(first + n, bits >> n & 1, A::of(a[n]), B::of(b[n]), C::of(c[n])));
    }
}

/// # Safety
/// As for [`Kernel`].
#[inline(always)]
unsafe fn values<const VERSION: usize, A: Lane, B: Lane, C: Lane, D: Lane, F: Lanes<A, B, C, D>>(
    to: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    bits: u64,
    (f, lanes): (&F, usize),
) -> Flow {
    for n in 0..64 / CHUNK {
        if ends(n, lanes) {
            break;
        }
        let mut words = MaybeUninit::<[D::Word; CHUNK]>::uninit();
        let put = words.as_mut_ptr().cast::<D::Word>();
        // SAFETY: as the caller says; the chunk has CHUNK words, and all of them are written before they are read.
        unsafe {
            chunk::<VERSION, A, B, C, D>(n * CHUNK, [a, b, c], bits, f, |n, value| {
                put.add(n).write(value.word())
            });
            D::Word::store::<VERSION>(to, n * CHUNK, words.assume_init_ref());
        }
    }
    Flow::Next
}

/// # Safety
/// As for [`Kernel`].
#[inline(always)]
unsafe fn values_and_flags<
    const VERSION: usize,
    A: Lane,
    B: Lane,
    C: Lane,
    D: Lane,
    F: Lanes<A, B, C, (D, bool)>,
>(
    to: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    bits: u64,
    (f, lanes): (&F, usize),
) -> u64 {
    let mut mask = 0;
    for n in 0..64 / CHUNK {
        if ends(n, lanes) {
            break;
        }
        let mut words = MaybeUninit::<[D::Word; CHUNK]>::uninit();
        let put = words.as_mut_ptr().cast::<D::Word>();
        let mut flags = [0; CHUNK];
        // SAFETY: as the caller says; the chunk has CHUNK words, and all of them are written before they are read.
        unsafe {
            chunk::<VERSION, A, B, C, _>(n * CHUNK, [a, b, c], bits, f, |n, (value, set)| {
                put.add(n).write(value.word());
                flags[n] = flag(set);
            });
            D::Word::store::<VERSION>(to, n * CHUNK, words.assume_init_ref());
        }
        mask |= u64::from(collect(&flags)) << (n * CHUNK);
    }
    mask
}

/// # Safety
/// As for [`Kernel`].
#[inline(always)]
unsafe fn flags<const VERSION: usize, A: Lane, B: Lane, C: Lane, F: Lanes<A, B, C, bool>>(
    _: *mut u32,
    a: *const u32,
    b: *const u32,
    c: *const u32,
    bits: u64,
    (f, lanes): (&F, usize),
) -> u64 {
    let mut mask = 0;
    for n in 0..64 / CHUNK {
        if ends(n, lanes) {
            break;
        }
        let mut flags = [0; CHUNK];
        // SAFETY: as the caller says.
        unsafe {
            chunk::<VERSION, A, B, C, bool>(n * CHUNK, [a, b, c], bits, f, |n, set| flags[n] = flag(set));
        }
        mask |= u64::from(collect(&flags)) << (n * CHUNK);
    }
    mask
}
