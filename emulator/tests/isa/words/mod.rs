//! Random machine words: every opcode of a family, fields that are mostly plausible.

mod gfx9;
mod rdna;

use emulator::isa::{Generation, Target};
use fastrand::Rng;

/// What a field holds, and so what is worth trying.
#[derive(Clone, Copy)]
enum Field {
    /// A scalar or 9-bit source code.
    Source,
    /// A register number.
    Register,
    /// A bit or small field that is usually 0: modifiers and reserved bits.
    Rare,
    /// Any value.
    Any,
    /// All ones three times in four (saddr "off").
    Ones,
}

/// An encoding family: the constant bits, where the opcode stands in the first word, the other fields over all words.
pub struct Encoding {
    pub name: &'static str,
    base: u64,
    opcode: (u32, u32),
    fields: Fields,
}

/// High bit, low bit, and what a field holds.
type Fields = &'static [(u32, u32, Field)];

pub use gfx9::ENCODINGS;

/// The encoding families of a target.
pub fn encodings(target: Target) -> &'static [Encoding] {
    match target.generation() {
        Generation::Gfx9 => gfx9::ENCODINGS,
        Generation::Gfx10 => rdna::GFX10,
        Generation::Gfx11 => rdna::GFX11,
        Generation::Gfx12 => rdna::GFX12,
    }
}

impl Encoding {
    pub fn opcodes(&self) -> u32 {
        1 << (self.opcode.0 - self.opcode.1 + 1)
    }

    /// Words with `opcode` and random fields; those behind the second are 0 unless a field reaches there.
    pub fn sample<const N: usize>(&self, opcode: u32, random: &mut Rng) -> [u32; N] {
        let mut words = u128::from(self.base) | u128::from(opcode) << self.opcode.1;
        // Some instructions reserve all fields that they do not use: keep many fields 0 in many samples.
        let keep = random.choice([2, 4, 8, 8]).unwrap();
        for &(high, low, field) in self.fields {
            let width = high - low + 1;
            if width < 32 && random.u32(..8) >= keep {
                if matches!(field, Field::Ones) {
                    words |= u128::from(u32::MAX >> (32 - width)) << low;
                }
                continue;
            }
            words |= u128::from(field.value(width, random)) << low;
        }
        split(words)
    }

    /// `base` with one field after another replaced by each of its values; of a field that is wider than a source
    /// code, by each single bit and some random values.
    pub fn sweep<const N: usize>(&self, base: [u32; N], random: &mut Rng) -> Vec<[u32; N]> {
        let base = base.iter().rev().fold(0, |words, word| words << 32 | u128::from(*word));
        let mut samples = Vec::new();
        for &(high, low, _) in self.fields {
            let width = high - low + 1;
            let mask = u128::from(u32::MAX >> (32 - width));
            let values: Vec<u128> = if width <= 9 {
                (0..=mask).collect()
            } else {
                let bits = (0..width).map(|bit| 1 << bit);
                let random = (0..64).map(|_| u128::from(random.u32(..)) & mask);
                [0, mask].into_iter().chain(bits).chain(random).collect()
            };
            samples.extend(values.iter().map(|value| split(base & !(mask << low) | value << low)));
        }
        samples
    }
}

/// The words of what they are together, from the lowest.
fn split<const N: usize>(words: u128) -> [u32; N] {
    // CAST: one word at a time.
    std::array::from_fn(|n| (words >> (32 * n)) as u32)
}

impl Field {
    fn value(self, width: u32, random: &mut Rng) -> u32 {
        let any = random.u32(..);
        let value = match self {
            Self::Source => match random.usize(..4) {
                0 => any % 128,
                1 => 128 + any % 128,
                _ => 256 + (any & !(any >> 16)) % 256,
            },
            Self::Register if any & 1 << 31 != 0 => any & !3,
            Self::Register => any,
            Self::Rare if any & 3 << 30 != 0 => 0,
            Self::Any if width == 32 => match random.usize(..4) {
                0 => any % 80,
                1 => random
                    .choice([0x3800, 0xbc00, 0x3118, 0xffff_fff8, 0x3f80_0000, 0x3e22_f983, 0x3fe0_0000])
                    .unwrap(),
                _ => any,
            },
            Self::Ones if any & 3 << 30 != 0 => u32::MAX,
            _ => any,
        };
        value & (u32::MAX >> (32 - width))
    }
}

/// Words on which LLVM 22's disassembler itself crashes; feeding them would only cost time.
pub fn crashes_llvm<const N: usize>(target: Target, words: [u32; N]) -> bool {
    let (word0, word1) = (words[0], words[1]);
    if target.is_rdna() {
        return rdna::crashes_llvm(target, words);
    }
    let sdwa = word0 >> 31 == 0 && word0 & 0x1ff == 0xf9;
    let bits = |high: u32, low: u32| word1 >> low & (u32::MAX >> (31 - high + low));
    let vopc = word0 >> 25 == 0x3e;
    let buffer = matches!(word0 >> 26, 0x38 | 0x3a);
    // A literal in the VOP3 encodings.
    let vop3 = word0 >> 26 == 0x34;
    let literal = bits(8, 0) == 255 || bits(17, 9) == 255 || bits(26, 18) == 255;
    // A constant K of v_madmk and the like that equals the code of a literal.
    let madk = matches!(word0 >> 25, 23 | 24 | 36 | 37) && word1 == 0xff;
    madk || vop3 && (literal || word0 & 0xff == 0xff)
        || sdwa
            && (bits(18, 16) == 7 || bits(26, 24) == 7 || !vopc && (bits(10, 8) == 7 || bits(12, 11) == 3))
        || buffer && bits(31, 24) == 0xff
}
