//! The hardware registers of `s_getreg` and `s_setreg` (MI200 ISA, 5.8; RDNA2 to RDNA4 ISA, S_GETREG_B32).

use super::clock;
use crate::{
    isa::Generation,
    wave::{Mode, Wave},
};

const MODE: u8 = 1;
const STATUS: u8 = 2;
const TRAPSTS: u8 = 3;
const HW_ID: u8 = 4;
const GPR_ALLOC: u8 = 5;
const LDS_ALLOC: u8 = 6;
const SH_MEM_BASES: u8 = 15;
const XCC_ID: u8 = 20;
/// On RDNA: the base of the wave's scratch.
const FLAT_SCRATCH_LO: u8 = 20;
const FLAT_SCRATCH_HI: u8 = 21;
const HW_ID1: u8 = 23;
/// Its bit 11 says that the wave has 64 lanes.
const IB_STS2: u8 = 28;
/// The 20 low bits of a counter, on GFX12 32 of 64.
const SHADER_CYCLES: u8 = 29;
const SHADER_CYCLES_HI: u8 = 30;

/// STATUS.VALID: the wave runs.
const VALID: u32 = 1 << 16;
/// STATUS.USER_PRIO: two bits from here.
const PRIORITY_SHIFT: u32 = 3;

/// A field of a hardware register, as SIMM16 names it.
pub struct Field {
    pub register: u8,
    offset: u8,
    /// In bits, 1 to 32.
    size: u8,
}

impl Field {
    /// Takes SIMM16 apart: register in bits 5..0, offset in 10..6, size - 1 in 15..11.
    pub fn new(simm: u16) -> Self {
        Self { register: (simm & 63) as u8, offset: (simm >> 6 & 31) as u8, size: (simm >> 11) as u8 + 1 }
    }

    fn mask(&self) -> u32 {
        u32::MAX >> (32 - u32::from(self.size))
    }

    /// The field's value within a register's.
    pub fn get(&self, register: u32) -> u32 {
        register >> self.offset & self.mask()
    }

    /// The register's value with the field replaced.
    pub fn set(&self, register: u32, value: u32) -> u32 {
        let mask = self.mask() << self.offset;
        register & !mask | (value << self.offset) & mask
    }
}

/// A register's value.
///
/// IB_STS reads 0 because nothing is outstanding. The trap handler's registers read 0 in user code, as do reserved
/// ones.
pub fn read(w: &Wave, register: u8) -> u32 {
    let generation = w.target.generation();
    match register {
        MODE => w.mode.read(w.target),
        STATUS => {
            let helpers = u32::from(w.scc) | u32::from(w.exec == 0) << 9 | u32::from(w.vcc() == 0) << 10;
            helpers | w.status | VALID
        }
        TRAPSTS if generation < Generation::Gfx12 => w.trap_status,
        HW_ID if generation == Generation::Gfx9 => w.hardware_id,
        XCC_ID if w.target.is_gfx940() => w.die,
        GPR_ALLOC => w.allocation,
        // LDS_SIZE in units of 64 dwords.
        LDS_ALLOC => w.lds_size.div_ceil(256) << 12,
        // The manuals do not list it, but LLVM reads it on all GFX9.
        SH_MEM_BASES => {
            let a = w.surroundings.apertures;
            ((a.shared >> 48) as u32) << 16 | (a.private >> 48) as u32 & 0xffff
        }
        _ if generation == Generation::Gfx9 => 0,
        FLAT_SCRATCH_LO => w.scratch as u32,
        FLAT_SCRATCH_HI => (w.scratch >> 32) as u32,
        HW_ID1 => w.hardware_id,
        IB_STS2 => u32::from(w.lanes() == 64) << 11,
        SHADER_CYCLES if generation == Generation::Gfx12 => clock::nanoseconds() as u32,
        SHADER_CYCLES_HI if generation == Generation::Gfx12 => (clock::nanoseconds() >> 32) as u32,
        SHADER_CYCLES => clock::nanoseconds() as u32 & 0xf_ffff,
        // HW_ID2 says which queue and which workgroup slot it is: the first.
        _ => 0,
    }
}

/// Writes a register; only MODE and TRAPSTS can be written. FLAT_SCRATCH, which a kernel of GFX10 writes, is where the wave's
/// scratch is in any case.
pub fn write(w: &mut Wave, register: u8, value: u32) {
    match register {
        MODE => w.mode = Mode::of(w.target, value),
        TRAPSTS if w.target.generation() < Generation::Gfx12 => w.trap_status = value,
        _ => {}
    }
}

/// Sets STATUS.USER_PRIO.
pub fn set_priority(w: &mut Wave, priority: u32) {
    w.status = w.status & !(3 << PRIORITY_SHIFT) | (priority & 3) << PRIORITY_SHIFT;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        isa::Target,
        wave::{Apertures, Deaf, Surroundings},
    };

    #[test]
    fn generations_have_registers_of_their_own() {
        for target in Target::ALL {
            let surroundings =
                Surroundings { map: Arc::default(), apertures: Apertures::default(), host: Arc::new(Deaf) };
            let mut wave = Wave::new(target, surroundings);
            (wave.hardware_id, wave.die, wave.scratch) = (0x1234, 3, 0x7_0000_0100);
            let is_rdna = target.is_rdna();
            let where_it_runs = [HW_ID, HW_ID1].map(|register| read(&wave, register));
            assert_eq!(where_it_runs, if is_rdna { [0, 0x1234] } else { [0x1234, 0] }, "{target:?}");
            let scratch = [FLAT_SCRATCH_LO, FLAT_SCRATCH_HI].map(|register| read(&wave, register));
            let die = if target.is_gfx940() { 3 } else { 0 };
            assert_eq!(scratch, if is_rdna { [0x100, 7] } else { [die, 0] }, "{target:?}");
            assert_eq!(read(&wave, SHADER_CYCLES) != 0, is_rdna, "{target:?}");
            for lanes in [32, 64] {
                wave.set_lanes(lanes);
                let is_wide = is_rdna && lanes == 64;
                assert_eq!(read(&wave, IB_STS2), u32::from(is_wide) << 11, "{target:?}");
            }
            // Skipping of vector instructions is GFX9's; rounding is all generations'.
            write(&mut wave, MODE, Mode::VSKIP | 5);
            assert_eq!((wave.mode.vskip(), wave.mode.round64()), (!is_rdna, 1), "{target:?}");
            assert_eq!(read(&wave, MODE) & 0xff, 5, "{target:?}");
        }
    }
}
