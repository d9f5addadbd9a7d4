//! Buffer loads and stores with a format: that of the resource (MUBUF) or of the instruction (MTBUF).
//!
//! An element is in range as a whole or not at all (CDNA3 ISA, 9.1.5.1).

use super::{
    access::{Access, fence_for},
    format::{Format, Width},
    kind::Kind,
    shape, to_lds,
};
use crate::{
    isa::{Family, Flow, Inst, Memory, format::parts},
    os::hidden,
    wave::{FaultKind, Wave},
};

/// What DST_SEL names: components stand from 4 on.
const SELECT_ONE: u8 = 1;
const SELECT_FIRST: u8 = 4;

/// An access with its format.
struct Formatted {
    access: Access,
    /// `None` if the buffer is unbound.
    format: Option<Format>,
    selectors: [u8; 4],
}

impl Formatted {
    fn new(w: &Wave, inst: &Inst) -> Result<Self, FaultKind> {
        let access = Access::formatted(w, inst);
        let r = &access.resource;
        let is_typed = inst.row.family == Family::Mtbuf;
        let (data, number) = match is_typed {
            _ if w.target.is_rdna() => {
                let format = if is_typed { inst.literal } else { r.format() };
                parts(format, w.target).ok_or(FaultKind::Format { format })?
            }
            // CAST: 4 and 3 bits.
            true => ((inst.word0 >> 19 & 15) as u8, (inst.word0 >> 23 & 7) as u8),
            false => (r.data_format(), r.number_format()),
        };
        let selectors = if is_typed { [4, 5, 6, 7] } else { r.selectors() };
        Ok(Self { format: Format::new(data, number)?, access, selectors })
    }

    /// The components that a lane loads, as the selectors arrange them.
    fn load(&self, w: &mut Wave, lane: usize, width: Width) -> Result<[u32; 4], FaultKind> {
        let Some(format) = self.format else { return Ok([0; 4]) };
        let start = self.access.lane(w, lane);
        let mut components = [0; 4];
        if !self.access.excludes(start, format.bytes()) {
            let mut element = [0; 16];
            for (i, part) in element[..format.bytes() as usize].chunks_mut(4).enumerate() {
                let place = self.access.advance(start, 4 * i as u32);
                let at = self.access.host(w, place, part.len() as u32, lane, false)?;
                if !w.load_cached(at, part) {
                    // SAFETY: `host` checked as many bytes; they are no register of the wave's.
                    unsafe {
                        std::ptr::copy_nonoverlapping(hidden::at(at as u64), part.as_mut_ptr(), part.len())
                    };
                }
            }
            components = format.decode(u128::from_le_bytes(element), width);
        }
        Ok(self.selectors.map(|selector| match selector {
            SELECT_ONE => format.one(width),
            SELECT_FIRST.. => components[usize::from(selector - SELECT_FIRST)],
            _ => 0,
        }))
    }

    /// The components that the live lanes load: all before the first result, which may overwrite an address.
    fn load_all(&self, w: &mut Wave, width: Width) -> Result<[[u32; 4]; 64], FaultKind> {
        let mut loaded = [[0; 4]; 64];
        for lane in shape::lanes(w.exec) {
            loaded[lane] = self.load(w, lane, width)?;
        }
        Ok(loaded)
    }

    /// Stores a lane's components where the selectors take them from; components that get none are 0.
    fn store(&self, w: &mut Wave, lane: usize, data: [u32; 4], width: Width) -> Result<(), FaultKind> {
        let Some(format) = self.format else { return Ok(()) };
        let start = self.access.lane(w, lane);
        if self.access.excludes(start, format.bytes()) {
            return Ok(());
        }
        let mut components = [0; 4];
        for (value, selector) in data.into_iter().zip(self.selectors) {
            if let Some(component) = selector.checked_sub(SELECT_FIRST) {
                components[usize::from(component)] = value;
            }
        }
        let element = format.encode(components, width).to_le_bytes();
        for (i, part) in element[..format.bytes() as usize].chunks(4).enumerate() {
            let place = self.access.advance(start, 4 * i as u32);
            let at = self.access.host(w, place, part.len() as u32, lane, true)?;
            if !w.store_cached(at, part) {
                // SAFETY: `host` checked as many bytes; they are no register of the wave's.
                unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), hidden::at(at as u64), part.len()) };
            }
        }
        Ok(())
    }
}

/// Loads `N` components into a register each.
fn load<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    fence_for(w, inst);
    let result = Formatted::new(w, inst).and_then(|source| {
        if inst.row.family != Family::Mtbuf && inst.memory.has(Memory::TO_LDS) {
            let place = to_lds::Place::of_buffer(w, inst, Kind::B32);
            return place.fill(w, |w, lane| Ok([source.load(w, lane, Width::Full)?[0], 0, 0, 0]));
        }
        let dst = inst.dst.row().unwrap_or(0);
        let loaded = source.load_all(w, Width::Full)?;
        for lane in shape::lanes(w.exec) {
            for (i, value) in loaded[lane].into_iter().enumerate().take(N) {
                w.row_mut(dst + i)[lane] = value;
            }
        }
        Ok(())
    });
    w.finish(inst, result)
}

/// Stores `N` components from a register each.
fn store<const N: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    w.note_reach(inst);
    let result = Formatted::new(w, inst).and_then(|target| {
        let src = inst.dst.row().unwrap_or(0);
        shape::lanes(w.exec).try_for_each(|lane| {
            let mut data = [0; 4];
            for (i, value) in data.iter_mut().enumerate().take(N) {
                *value = w.row(src + i)[lane];
            }
            target.store(w, lane, data, Width::Full)
        })
    });
    w.finish(inst, result)
}

/// Loads `N` components into halves of registers from half `FIRST` on; halves without a component keep their
/// value.
fn load_halves<const N: usize, const FIRST: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    fence_for(w, inst);
    let result = Formatted::new(w, inst).and_then(|source| {
        let dst = inst.dst.row().unwrap_or(0);
        let loaded = source.load_all(w, Width::Half)?;
        for lane in shape::lanes(w.exec) {
            for (i, value) in loaded[lane].into_iter().enumerate().take(N) {
                let (register, shift) = half(i + FIRST);
                let word = &mut w.row_mut(dst + register)[lane];
                *word = *word & !(0xffff << shift) | value << shift;
            }
        }
        Ok(())
    });
    w.finish(inst, result)
}

/// Stores `N` components from halves of registers from half `FIRST` on.
fn store_halves<const N: usize, const FIRST: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    w.note_reach(inst);
    let result = Formatted::new(w, inst).and_then(|target| {
        let src = inst.dst.row().unwrap_or(0);
        shape::lanes(w.exec).try_for_each(|lane| {
            let mut data = [0; 4];
            for (i, value) in data.iter_mut().enumerate().take(N) {
                let (register, shift) = half(i + FIRST);
                *value = w.row(src + register)[lane] >> shift & 0xffff;
            }
            target.store(w, lane, data, Width::Half)
        })
    });
    w.finish(inst, result)
}

/// Register and shift of half `n`.
fn half(n: usize) -> (usize, u32) {
    (n / 2, n as u32 % 2 * 16)
}

macro_rules! formats {
    ($($mubuf:ident, $mtbuf:ident: $generic:ident::<$($n:literal),*>;)*) => {$(
        pub fn $mubuf(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<$($n),*>(w, inst)
        }
        pub fn $mtbuf(w: &mut Wave, inst: &Inst) -> Flow {
            $generic::<$($n),*>(w, inst)
        }
    )*};
}

formats! {
    buffer_load_format_x, tbuffer_load_format_x: load::<1>;
    buffer_load_format_xy, tbuffer_load_format_xy: load::<2>;
    buffer_load_format_xyz, tbuffer_load_format_xyz: load::<3>;
    buffer_load_format_xyzw, tbuffer_load_format_xyzw: load::<4>;
    buffer_store_format_x, tbuffer_store_format_x: store::<1>;
    buffer_store_format_xy, tbuffer_store_format_xy: store::<2>;
    buffer_store_format_xyz, tbuffer_store_format_xyz: store::<3>;
    buffer_store_format_xyzw, tbuffer_store_format_xyzw: store::<4>;
    buffer_load_format_d16_x, tbuffer_load_format_d16_x: load_halves::<1, 0>;
    buffer_load_format_d16_xy, tbuffer_load_format_d16_xy: load_halves::<2, 0>;
    buffer_load_format_d16_xyz, tbuffer_load_format_d16_xyz: load_halves::<3, 0>;
    buffer_load_format_d16_xyzw, tbuffer_load_format_d16_xyzw: load_halves::<4, 0>;
    buffer_store_format_d16_x, tbuffer_store_format_d16_x: store_halves::<1, 0>;
    buffer_store_format_d16_xy, tbuffer_store_format_d16_xy: store_halves::<2, 0>;
    buffer_store_format_d16_xyz, tbuffer_store_format_d16_xyz: store_halves::<3, 0>;
    buffer_store_format_d16_xyzw, tbuffer_store_format_d16_xyzw: store_halves::<4, 0>;
}

/// Loads a component into the high half of a register.
pub fn buffer_load_format_d16_hi_x(w: &mut Wave, inst: &Inst) -> Flow {
    load_halves::<1, 1>(w, inst)
}

/// Stores a component from the high half of a register.
pub fn buffer_store_format_d16_hi_x(w: &mut Wave, inst: &Inst) -> Flow {
    store_halves::<1, 1>(w, inst)
}
