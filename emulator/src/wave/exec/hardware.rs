//! The hardware registers of `s_getreg` and `s_setreg` (MI200 ISA, 5.8).

use crate::wave::{Mode, Wave};

const MODE: u8 = 1;
const STATUS: u8 = 2;
const TRAPSTS: u8 = 3;
const HW_ID: u8 = 4;
const GPR_ALLOC: u8 = 5;
const LDS_ALLOC: u8 = 6;
const SH_MEM_BASES: u8 = 15;
const XCC_ID: u8 = 20;

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
    match register {
        MODE => w.mode.0,
        STATUS => {
            let helpers = u32::from(w.scc) | u32::from(w.exec == 0) << 9 | u32::from(w.vcc() == 0) << 10;
            helpers | w.status | VALID
        }
        TRAPSTS => w.trap_status,
        HW_ID => w.hardware_id,
        XCC_ID if w.target.is_gfx940() => w.die,
        GPR_ALLOC => w.allocation,
        // LDS_SIZE in units of 64 dwords.
        LDS_ALLOC => w.lds_size.div_ceil(256) << 12,
        // The manuals do not list it, but LLVM reads it on all GFX9.
        SH_MEM_BASES => {
            let a = w.surroundings.apertures;
            ((a.shared >> 48) as u32) << 16 | (a.private >> 48) as u32 & 0xffff
        }
        _ => 0,
    }
}

/// Writes a register; only MODE and TRAPSTS can be written.
pub fn write(w: &mut Wave, register: u8, value: u32) {
    match register {
        MODE => w.mode = Mode(value),
        TRAPSTS => w.trap_status = value,
        _ => {}
    }
}

/// Sets STATUS.USER_PRIO.
pub fn set_priority(w: &mut Wave, priority: u32) {
    w.status = w.status & !(3 << PRIORITY_SHIFT) | (priority & 3) << PRIORITY_SHIFT;
}
