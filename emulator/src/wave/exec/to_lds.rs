//! Loads that put their data into LDS instead of registers (CDNA3 ISA, 9.1.9 and 10.3).
//!
//! Lane n's dword goes to M0 + instruction offset + 4n; narrow data are extended to a dword. On gfx950 a datum may have 3
//! or 4 dwords, which lie as closely. A lane whose datum would be outside of LDS does not read.

use super::{
    kind::{Kind, Words, kind_of},
    lds, scratch, shape,
};
use crate::{
    isa::{Flow, Inst, Operand, Target},
    wave::{FaultKind, Wave},
};

/// Where the data of a load's lanes go.
#[derive(Clone, Copy)]
pub struct Place {
    start: u32,
    /// Dwords of a lane.
    dwords: u32,
}

impl Place {
    /// The place of a buffer instruction: 16 bits of M0 count, on gfx950, whose LDS is larger, 18.
    pub fn of_buffer(w: &Wave, inst: &Inst, kind: Kind) -> Self {
        let mask = if w.target == Target::Gfx950 { 0x3_fffc } else { 0xffff };
        Self::new((w.m0() & mask).wrapping_add_signed(inst.imm), kind)
    }

    fn new(start: u32, kind: Kind) -> Self {
        // CAST: at most 4.
        Self { start, dwords: kind.registers() as u32 }
    }

    /// The place of a global or scratch instruction: M0[17:2] counts dwords on gfx942, M0[15:0] bytes on
    /// gfx90a.
    pub fn of_flat(w: &Wave, inst: &Inst, kind: Kind) -> Self {
        let mask = if w.target.is_gfx940() { 0x3_fffc } else { 0xffff };
        Self::new((w.m0() & mask).wrapping_add_signed(inst.imm), kind)
    }

    /// Bytes of a lane's datum.
    pub fn bytes(self) -> u32 {
        4 * self.dwords
    }

    /// LDS offset of a lane's datum, if it is inside.
    pub fn lane(self, w: &Wave, lane: usize) -> Option<u32> {
        let offset = self.start.wrapping_add(self.bytes() * lane as u32);
        lds::fits(w, offset, self.bytes()).then_some(offset)
    }

    /// Gives each live lane that has a place what `read` reads for it.
    pub fn fill(
        self,
        w: &mut Wave,
        mut read: impl FnMut(&mut Wave, usize) -> Result<Words, FaultKind>,
    ) -> Result<(), FaultKind> {
        shape::lanes(w.exec).try_for_each(|lane| {
            if let Some(offset) = self.lane(w, lane) {
                let words = read(w, lane)?;
                for (n, word) in words[..self.dwords as usize].iter().enumerate() {
                    // SAFETY: `lane` found the datum to be inside of LDS.
                    unsafe { lds::at(w, offset).cast::<u32>().add(n).write_unaligned(*word) };
                }
            }
            Ok(())
        })
    }
}

/// Loads from global memory.
pub fn global_load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    w.note_reach(inst);
    let kind = const { kind_of(K) };
    let (row, offset) = (inst.src[0].row().unwrap_or(0), i64::from(inst.imm));
    let scalar =
        (inst.src[2] != Operand::NONE).then(|| w.scalar64(inst.src[2], inst).wrapping_add_signed(offset));
    let result = Place::of_flat(w, inst, kind).fill(w, |w, lane| {
        let address = match scalar {
            Some(base) => base.wrapping_add(u64::from(w.row(row)[lane])),
            None => shape::lane_address(w, row, offset, lane),
        };
        w.check(address, kind.bytes(), lane, false)?;
        // SAFETY: checked to be readable just now.
        let words = unsafe { w.load_datum(kind, address as *const u8) };
        Ok([kind.extend(words[0], 0), words[1], words[2], words[3]])
    });
    w.finish(inst, result)
}

/// Loads from scratch.
pub fn scratch_load<const K: u8>(w: &mut Wave, inst: &Inst) -> Flow {
    let (base, row) = scratch::offsets(w, inst);
    let kind = const { kind_of(K) };
    let result = Place::of_flat(w, inst, kind).fill(w, |w, lane| {
        let offset = base.wrapping_add(row.map_or(0, |row| w.row(row)[lane]));
        let words = scratch::read_lane::<K>(w, offset, lane)?;
        Ok([kind.extend(words[0], 0), 0, 0, 0])
    });
    w.finish(inst, result)
}

macro_rules! loads {
    ($($global:ident, $scratch:ident: $kind:ident;)*) => {$(
        pub fn $global(w: &mut Wave, inst: &Inst) -> Flow {
            global_load::<{ Kind::$kind as u8 }>(w, inst)
        }
        pub fn $scratch(w: &mut Wave, inst: &Inst) -> Flow {
            scratch_load::<{ Kind::$kind as u8 }>(w, inst)
        }
    )*};
}

loads! {
    global_load_lds_ubyte, scratch_load_lds_ubyte: U8;
    global_load_lds_sbyte, scratch_load_lds_sbyte: I8;
    global_load_lds_ushort, scratch_load_lds_ushort: U16;
    global_load_lds_sshort, scratch_load_lds_sshort: I16;
    global_load_lds_dword, scratch_load_lds_dword: B32;
}

pub fn global_load_lds_dwordx3(w: &mut Wave, inst: &Inst) -> Flow {
    global_load::<{ Kind::B96 as u8 }>(w, inst)
}

pub fn global_load_lds_dwordx4(w: &mut Wave, inst: &Inst) -> Flow {
    global_load::<{ Kind::B128 as u8 }>(w, inst)
}
