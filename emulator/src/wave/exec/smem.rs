//! SMEM: scalar memory (MI200 ISA, chapter 8).

use super::{
    buffer::Resource,
    clock,
    kind::{self, Kind, kind_of},
};
use crate::{
    isa::{Flow, Inst, Operand},
    os::hidden,
    wave::{FaultKind, Wave},
};

/// The scalar code that is no register.
const NOWHERE: Operand = Operand(125);
/// Bytes that one unit of the offset register counts.
const BYTE: u64 = 1;
/// For `s_scratch_*` it counts these instead.
const SCRATCH_UNIT: u64 = 64;

/// The address of a scalar memory access, a multiple of 4.
#[inline(always)]
pub fn address<const UNIT: u64>(w: &Wave, inst: &Inst) -> u64 {
    w.scalar64(inst.src[0], inst).wrapping_add(offset::<UNIT>(w, inst)) & !3
}

#[inline(always)]
fn offset<const UNIT: u64>(w: &Wave, inst: &Inst) -> u64 {
    let register = if inst.src[1] == Operand::NONE { 0 } else { w.scalar(inst.src[1], inst) };
    (u64::from(register) * UNIT).wrapping_add_signed(i64::from(inst.imm))
}

/// The address of an access of less than a dword.
#[inline(always)]
pub fn narrow_address(w: &Wave, inst: &Inst) -> u64 {
    w.scalar64(inst.src[0], inst).wrapping_add(offset::<BYTE>(w, inst))
}

/// What an instruction reaches through a buffer resource, of which the base, the stride and the number of
/// records count and nothing else.
pub struct Buffer {
    base: u64,
    bytes: u64,
    /// The instruction's offset.
    offset: u64,
}

impl Buffer {
    /// The buffer and the place in it that an instruction names; both are multiples of 4, unless it reads less than a dword.
    #[inline(always)]
    pub fn new(w: &Wave, inst: &Inst, is_narrow: bool) -> Self {
        let resource = Resource::scalar(w, inst, inst.src[0]).formatted();
        let mask = if is_narrow { u64::MAX } else { !3 };
        let offset = offset::<BYTE>(w, inst);
        Self { base: resource.base & mask, bytes: resource.bytes(), offset: offset & mask }
    }

    /// The address of `bytes` bytes, `on` bytes behind the instruction's place, if the buffer has them.
    #[inline(always)]
    pub fn address(&self, on: u64, bytes: u64) -> Option<u64> {
        let at = self.offset.checked_add(on)?;
        (at.checked_add(bytes)? <= self.bytes).then(|| self.base.wrapping_add(at))
    }
}

/// Reads dwords as the wave's workgroup sees them.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn read<const N: usize>(w: &mut Wave, inst: &Inst, from: *const [u32; N]) -> [u32; N] {
    if w.view.is_some() {
        w.note_reach(inst);
        let mut bytes = [[0; 4]; N];
        if w.load_cached(from.cast(), bytes.as_flattened_mut()) {
            return bytes.map(u32::from_le_bytes);
        }
    }
    // SAFETY: the caller's. Device memory may be written meanwhile; volatile keeps the compiler from assuming
    // otherwise.
    unsafe { hidden::at(from as u64).cast::<[u32; N]>().read_volatile() }
}

/// Writes a dword where the wave's workgroup sees it.
///
/// # Safety
/// It is writable.
#[inline(always)]
unsafe fn write(w: &mut Wave, inst: &Inst, to: *mut u32, word: u32) {
    w.note_reach(inst);
    if !w.store_cached(to.cast(), &word.to_le_bytes()) {
        // SAFETY: the caller's; see `read`.
        unsafe { hidden::at(to as u64).cast::<u32>().write_volatile(word) };
    }
}

/// Copies `N` dwords of checked memory to consecutive scalar registers.
#[inline(always)]
fn load<const N: usize, const UNIT: u64>(w: &mut Wave, inst: &Inst) -> Flow {
    let address = address::<UNIT>(w, inst);
    if let Err(kind) = w.check(address, 4 * N as u32, 0, false) {
        return w.fault(inst, kind);
    }
    let from = address as *const [u32; N];
    // SAFETY: the allocation map says that the range is readable for as long as this wave holds its snapshot.
    let words = unsafe { read(w, inst, from) };
    let first = usize::from(inst.dst.0);
    if first + N <= 108 {
        w.sgpr[first..first + N].copy_from_slice(&words);
    } else {
        for (i, word) in words.into_iter().enumerate() {
            set(w, inst, i, word);
        }
    }
    Flow::Next
}

/// Loads through a buffer resource: dwords past its end read 0.
#[inline(always)]
fn buffer_load<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    // Taken before the first result, which may overwrite it.
    let buffer = Buffer::new(w, inst, false);
    for i in 0..N {
        let mut word = 0;
        if let Some(address) = buffer.address(4 * i as u64, 4) {
            if let Err(kind) = w.check(address, 4, 0, false) {
                return w.fault(inst, kind);
            }
            // SAFETY: checked just now; see `load`.
            [word] = unsafe { read(w, inst, address as *const [u32; 1]) };
        }
        set(w, inst, i, word);
    }
    Flow::Next
}

/// Writes dword `i` of a destination; code 125 stands for none, however wide.
fn set(w: &mut Wave, inst: &Inst, i: usize, word: u32) {
    if inst.dst != NOWHERE {
        // CAST: below 16.
        w.set_scalar(Operand(inst.dst.0 + i as u16), word);
    }
}

/// The bytes of a datum that is narrower than a dword, as the wave's workgroup sees them.
fn narrow<const K: u8>(w: &mut Wave, inst: &Inst, address: u64) -> Result<u32, FaultKind> {
    let kind = const { kind_of(K) };
    w.check(address, kind.bytes(), 0, false)?;
    let mut bytes = [0; 4];
    w.note_reach(inst);
    if !w.load_cached(address as *const u8, &mut bytes[..kind.bytes() as usize]) {
        // SAFETY: checked just now; see `load`.
        bytes = unsafe { kind::read(kind, hidden::at(address)) }[0].to_le_bytes();
    }
    Ok(kind.extend(u32::from_le_bytes(bytes), 0))
}

/// Loads a byte or two.
fn load_narrow<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let result = narrow::<K>(w, inst, narrow_address(w, inst)).map(|word| w.set_scalar(inst.dst, word));
    w.finish(inst, result)
}

/// [`load_narrow`] through a buffer resource.
fn buffer_load_narrow<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let address = Buffer::new(w, inst, true).address(0, const { kind_of(K) }.bytes().into());
    let word = address.map_or(Ok(0), |address| narrow::<K>(w, inst, address));
    let result = word.map(|word| w.set_scalar(inst.dst, word));
    w.finish(inst, result)
}

/// Writes consecutive scalar registers to memory.
fn store<const N: usize, const UNIT: u64>(w: &mut Wave, inst: &Inst) -> Flow {
    let address = address::<UNIT>(w, inst);
    if let Err(kind) = w.check(address, 4 * N as u32, 0, true) {
        return w.fault(inst, kind);
    }
    for i in 0..N {
        let word = w.scalar(Operand(inst.dst.0 + i as u16), inst);
        // SAFETY: the allocation map says that the range is writable; see `load`.
        unsafe { write(w, inst, (address as *mut u32).add(i), word) };
    }
    Flow::Next
}

/// [`store`] through a buffer resource: dwords past its end are dropped.
fn buffer_store<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let buffer = Buffer::new(w, inst, false);
    for i in 0..N {
        if let Some(address) = buffer.address(4 * i as u64, 4) {
            if let Err(kind) = w.check(address, 4, 0, true) {
                return w.fault(inst, kind);
            }
            let word = w.scalar(Operand(inst.dst.0 + i as u16), inst);
            // SAFETY: checked just now; see `load`.
            unsafe { write(w, inst, address as *mut u32, word) };
        }
    }
    Flow::Next
}

macro_rules! sized {
    ($($name:ident = $generic:ident::<$($n:tt),*>;)*) => {$(
        pub fn $name(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<$($n),*>(w, inst)
        }
    )*};
}

sized! {
    s_load_dword = load::<1, BYTE>;
    s_load_dwordx2 = load::<2, BYTE>;
    s_load_b96 = load::<3, BYTE>;
    s_load_i8 = load_narrow::<{ Kind::I8 as u8 }>;
    s_load_u8 = load_narrow::<{ Kind::U8 as u8 }>;
    s_load_i16 = load_narrow::<{ Kind::I16 as u8 }>;
    s_load_u16 = load_narrow::<{ Kind::U16 as u8 }>;
    s_buffer_load_b96 = buffer_load::<3>;
    s_buffer_load_i8 = buffer_load_narrow::<{ Kind::I8 as u8 }>;
    s_buffer_load_u8 = buffer_load_narrow::<{ Kind::U8 as u8 }>;
    s_buffer_load_i16 = buffer_load_narrow::<{ Kind::I16 as u8 }>;
    s_buffer_load_u16 = buffer_load_narrow::<{ Kind::U16 as u8 }>;
    s_load_dwordx4 = load::<4, BYTE>;
    s_load_dwordx8 = load::<8, BYTE>;
    s_load_dwordx16 = load::<16, BYTE>;
    s_buffer_load_dword = buffer_load::<1>;
    s_buffer_load_dwordx2 = buffer_load::<2>;
    s_buffer_load_dwordx4 = buffer_load::<4>;
    s_buffer_load_dwordx8 = buffer_load::<8>;
    s_buffer_load_dwordx16 = buffer_load::<16>;
    s_store_dword = store::<1, BYTE>;
    s_store_dwordx2 = store::<2, BYTE>;
    s_store_dwordx4 = store::<4, BYTE>;
    s_scratch_load_dword = load::<1, SCRATCH_UNIT>;
    s_scratch_load_dwordx2 = load::<2, SCRATCH_UNIT>;
    s_scratch_load_dwordx4 = load::<4, SCRATCH_UNIT>;
    s_scratch_store_dword = store::<1, SCRATCH_UNIT>;
    s_scratch_store_dwordx2 = store::<2, SCRATCH_UNIT>;
    s_scratch_store_dwordx4 = store::<4, SCRATCH_UNIT>;
    s_buffer_store_dword = buffer_store::<1>;
    s_buffer_store_dwordx2 = buffer_store::<2>;
    s_buffer_store_dwordx4 = buffer_store::<4>;
}

/// D = the shader clock; here nanoseconds of the host's monotonic clock.
pub fn s_memtime(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, clock::nanoseconds());
    Flow::Next
}

/// D = the constant 100 MHz clock.
pub fn s_memrealtime(w: &mut Wave, inst: &Inst) -> Flow {
    w.set_scalar64(inst.dst, clock::realtime());
    Flow::Next
}
