//! What a memory instruction moves per lane.

use crate::wave::Wave;

/// Width and conversion of a lane's datum. `Lo` and `Hi` forms (d16) concern one half of a register and, for loads,
/// leave the other half alone.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    U8,
    I8,
    U16,
    I16,
    U8Lo,
    U8Hi,
    I8Lo,
    I8Hi,
    B16Lo,
    B16Hi,
    B32,
    B64,
    B96,
    B128,
}

/// [`Kind`] from a const generic parameter.
pub const fn kind_of(code: u8) -> Kind {
    const ALL: [Kind; 14] = [
        Kind::U8,
        Kind::I8,
        Kind::U16,
        Kind::I16,
        Kind::U8Lo,
        Kind::U8Hi,
        Kind::I8Lo,
        Kind::I8Hi,
        Kind::B16Lo,
        Kind::B16Hi,
        Kind::B32,
        Kind::B64,
        Kind::B96,
        Kind::B128,
    ];
    ALL[code as usize]
}

impl Kind {
    /// Bytes of memory per lane.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::I8 | Self::U8Lo | Self::U8Hi | Self::I8Lo | Self::I8Hi => 1,
            Self::U16 | Self::I16 | Self::B16Lo | Self::B16Hi => 2,
            Self::B32 => 4,
            Self::B64 => 8,
            Self::B96 => 12,
            Self::B128 => 16,
        }
    }

    /// Registers per lane.
    pub const fn registers(self) -> usize {
        (self.bytes() as usize).div_ceil(4)
    }

    /// Turns the raw bytes of a narrow load into a register's value.
    #[inline(always)]
    pub fn extend(self, raw: u32, old: u32) -> u32 {
        let low = |half: u32| old & 0xffff_0000 | half & 0xffff;
        let high = |half: u32| old & 0xffff | half << 16;
        match self {
            Self::U8 => raw & 0xff,
            Self::I8 => i32::from(raw as i8) as u32,
            Self::U16 => raw & 0xffff,
            Self::I16 => i32::from(raw as i16) as u32,
            Self::U8Lo => low(raw & 0xff),
            Self::U8Hi => high(raw & 0xff),
            Self::I8Lo => low(i32::from(raw as i8) as u32),
            Self::I8Hi => high(i32::from(raw as i8) as u32),
            Self::B16Lo => low(raw),
            Self::B16Hi => high(raw),
            Self::B32 | Self::B64 | Self::B96 | Self::B128 => raw,
        }
    }

    /// The bytes that a store takes from a register.
    #[inline(always)]
    pub fn narrow(self, value: u32) -> u32 {
        match self {
            Self::U8Hi | Self::I8Hi | Self::B16Hi => value >> 16,
            _ => value,
        }
    }
}

/// A lane's datum: as many dwords as [`Kind::registers`] says, zeros behind.
pub type Words = [u32; 4];

/// Reads a lane's datum from memory.
///
/// # Safety
/// `at` is valid for reads of `kind.bytes()` bytes.
#[inline(always)]
pub unsafe fn read(kind: Kind, at: *const u8) -> Words {
    // SAFETY: the caller vouches for every byte of the datum.
    unsafe {
        match kind.bytes() {
            1 => [u32::from(at.read()), 0, 0, 0],
            2 => [u32::from(at.cast::<u16>().read_unaligned()), 0, 0, 0],
            4 => [at.cast::<u32>().read_unaligned(), 0, 0, 0],
            // One access: a pair of dwords is what 64-bit atomic loads use.
            8 => {
                let pair = at.cast::<u64>().read_unaligned();
                [pair as u32, (pair >> 32) as u32, 0, 0]
            }
            12 => {
                let [a, b, c] = at.cast::<[u32; 3]>().read_unaligned();
                [a, b, c, 0]
            }
            _ => at.cast::<[u32; 4]>().read_unaligned(),
        }
    }
}

/// Writes a lane's datum to memory.
///
/// # Safety
/// `at` is valid for writes of `kind.bytes()` bytes.
#[inline(always)]
pub unsafe fn write(kind: Kind, at: *mut u8, words: Words) {
    let [a, b, c, _] = words;
    // SAFETY: the caller vouches for every byte of the datum.
    unsafe {
        match kind.bytes() {
            1 => at.write(a as u8),
            2 => at.cast::<u16>().write_unaligned(a as u16),
            4 => at.cast::<u32>().write_unaligned(a),
            8 => at.cast::<u64>().write_unaligned(u64::from(a) | u64::from(b) << 32),
            12 => at.cast::<[u32; 3]>().write_unaligned([a, b, c]),
            _ => at.cast::<[u32; 4]>().write_unaligned(words),
        }
    }
}

/// Puts a loaded datum into a lane's registers from row `row` on.
#[inline(always)]
pub fn put(w: &mut Wave, kind: Kind, row: usize, lane: usize, words: Words) {
    if kind.bytes() < 4 {
        let register = &mut w.row_mut(row)[lane];
        *register = kind.extend(words[0], *register);
    } else {
        for (i, word) in words.into_iter().enumerate().take(kind.registers()) {
            w.row_mut(row + i)[lane] = word;
        }
    }
}

/// Takes a lane's datum for a store from row `row` on.
#[inline(always)]
pub fn take(w: &Wave, kind: Kind, row: usize, lane: usize) -> Words {
    let mut words = [0; 4];
    for (i, word) in words.iter_mut().enumerate().take(kind.registers()) {
        *word = w.row(row + i)[lane];
    }
    words[0] = kind.narrow(words[0]);
    words
}
