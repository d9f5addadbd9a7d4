//! Random machine words: every opcode of a family, fields that are mostly plausible.

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
use Field::{Any, Ones, Rare, Register, Source};

/// An encoding family: the constant bits of the first word, where the opcode stands, the other fields as
/// (high bit, low bit, kind) over both words.
pub struct Encoding {
    pub name: &'static str,
    base: u32,
    opcode: (u32, u32),
    fields: &'static [(u32, u32, Field)],
}

const SDWA_OR_DPP: &[(u32, u32, Field)] = &[
    (39, 32, Register),
    (40, 40, Any),
    (41, 41, Any),
    (42, 42, Any),
    (44, 43, Any),
    (45, 45, Rare),
    (47, 46, Rare),
    (48, 48, Any),
    (49, 49, Any),
    (50, 50, Any),
    (51, 51, Rare),
    (52, 52, Rare),
    (53, 53, Rare),
    (54, 54, Rare),
    (55, 55, Rare),
    (58, 56, Any),
    (59, 59, Rare),
    (60, 60, Rare),
    (61, 61, Rare),
    (62, 62, Rare),
    (63, 63, Rare),
];

const VOP3: &[(u32, u32, Field)] = &[
    (7, 0, Register),
    (8, 8, Rare),
    (9, 9, Rare),
    (10, 10, Rare),
    (11, 11, Rare),
    (12, 12, Rare),
    (13, 13, Rare),
    (14, 14, Rare),
    (15, 15, Rare),
    (40, 32, Source),
    (49, 41, Source),
    (58, 50, Source),
    (60, 59, Rare),
    (61, 61, Rare),
    (62, 62, Rare),
    (63, 63, Rare),
];

const FLAT: &[(u32, u32, Field)] = &[
    (12, 0, Any),
    (13, 13, Rare),
    (15, 14, Any),
    (16, 16, Any),
    (17, 17, Rare),
    (25, 25, Rare),
    (39, 32, Register),
    (47, 40, Register),
    (54, 48, Ones),
    (55, 55, Rare),
    (63, 56, Register),
];

/// Every encoding family; short vector forms three times, without and with an SDWA or DPP word.
pub const ENCODINGS: &[Encoding] = &[
    Encoding {
        name: "SOP2",
        base: 0x8000_0000,
        opcode: (29, 23),
        fields: &[(7, 0, Source), (15, 8, Source), (22, 16, Register), (63, 32, Any)],
    },
    Encoding {
        name: "SOPK",
        base: 0xb000_0000,
        opcode: (27, 23),
        fields: &[(15, 0, Any), (22, 16, Register), (63, 32, Any)],
    },
    Encoding {
        name: "SOP1",
        base: 0xbe80_0000,
        opcode: (15, 8),
        fields: &[(7, 0, Source), (22, 16, Register), (63, 32, Any)],
    },
    Encoding {
        name: "SOPC",
        base: 0xbf00_0000,
        opcode: (22, 16),
        fields: &[(7, 0, Source), (15, 8, Source), (63, 32, Any)],
    },
    Encoding { name: "SOPP", base: 0xbf80_0000, opcode: (22, 16), fields: &[(7, 0, Rare), (15, 8, Rare)] },
    Encoding {
        name: "SMEM",
        base: 0xc000_0000,
        opcode: (25, 18),
        fields: &[
            (5, 0, Register),
            (12, 6, Register),
            (13, 13, Rare),
            (14, 14, Rare),
            (15, 15, Rare),
            (16, 16, Rare),
            (17, 17, Any),
            (52, 32, Any),
            (56, 53, Rare),
            (63, 57, Rare),
        ],
    },
    Encoding {
        name: "VOP1",
        base: 0x7e00_0000,
        opcode: (16, 9),
        fields: &[(8, 0, Source), (24, 17, Register), (63, 32, Any)],
    },
    Encoding {
        name: "VOP2",
        base: 0,
        opcode: (30, 25),
        fields: &[(8, 0, Source), (16, 9, Register), (24, 17, Register), (63, 32, Any)],
    },
    Encoding {
        name: "VOPC",
        base: 0x7c00_0000,
        opcode: (24, 17),
        fields: &[(8, 0, Source), (16, 9, Register), (63, 32, Any)],
    },
    Encoding { name: "VOP1 SDWA", base: 0x7e00_00f9, opcode: (16, 9), fields: SDWA_OR_DPP },
    Encoding { name: "VOP2 SDWA", base: 0x0404_02f9, opcode: (30, 25), fields: SDWA_OR_DPP },
    Encoding { name: "VOPC SDWA", base: 0x7c00_02f9, opcode: (24, 17), fields: SDWA_OR_DPP },
    Encoding { name: "VOP1 DPP", base: 0x7e04_00fa, opcode: (16, 9), fields: SDWA_OR_DPP },
    Encoding { name: "VOP2 DPP", base: 0x0404_02fa, opcode: (30, 25), fields: SDWA_OR_DPP },
    Encoding { name: "VOPC DPP", base: 0x7c00_02fa, opcode: (24, 17), fields: SDWA_OR_DPP },
    Encoding { name: "VOP3", base: 0xd000_0000, opcode: (25, 16), fields: VOP3 },
    Encoding { name: "VOP3P", base: 0xd380_0000, opcode: (22, 16), fields: VOP3 },
    Encoding {
        name: "DS",
        base: 0xd800_0000,
        opcode: (24, 17),
        fields: &[
            (7, 0, Any),
            (15, 8, Any),
            (16, 16, Rare),
            (25, 25, Rare),
            (39, 32, Register),
            (47, 40, Register),
            (55, 48, Register),
            (63, 56, Register),
        ],
    },
    Encoding { name: "FLAT", base: 0xdc00_0000, opcode: (24, 18), fields: FLAT },
    Encoding {
        name: "MUBUF",
        base: 0xe000_0000,
        opcode: (24, 18),
        fields: &[
            (11, 0, Any),
            (12, 12, Any),
            (13, 13, Any),
            (14, 14, Any),
            (15, 15, Rare),
            (16, 16, Rare),
            (17, 17, Rare),
            (25, 25, Rare),
            (39, 32, Register),
            (47, 40, Register),
            (52, 48, Register),
            (53, 53, Rare),
            (54, 54, Rare),
            (55, 55, Rare),
            (63, 56, Source),
        ],
    },
    Encoding {
        name: "MTBUF",
        base: 0xe800_0000,
        opcode: (18, 15),
        fields: &[
            (11, 0, Any),
            (12, 12, Any),
            (13, 13, Any),
            (14, 14, Any),
            (22, 19, Any),
            (25, 23, Any),
            (39, 32, Register),
            (47, 40, Register),
            (52, 48, Register),
            (53, 53, Rare),
            (54, 54, Rare),
            (55, 55, Rare),
            (63, 56, Source),
        ],
    },
];

impl Encoding {
    pub fn opcodes(&self) -> u32 {
        1 << (self.opcode.0 - self.opcode.1 + 1)
    }

    /// Two words with `opcode` and random fields.
    pub fn sample(&self, opcode: u32, random: &mut Rng) -> [u32; 2] {
        let mut word = u64::from(self.base) | u64::from(opcode) << self.opcode.1;
        // Some instructions reserve all fields that they do not use: keep many fields 0 in many samples.
        let keep = random.choice([2, 4, 8, 8]).unwrap();
        for &(high, low, field) in self.fields {
            let width = high - low + 1;
            if width < 32 && random.u32(..8) >= keep {
                if matches!(field, Ones) {
                    word |= u64::from(u32::MAX >> (32 - width)) << low;
                }
                continue;
            }
            word |= u64::from(field.value(width, random)) << low;
        }
        [word as u32, (word >> 32) as u32]
    }

    /// `base` with one field after another replaced by each of its values; of a field that is wider than a source
    /// code, by each single bit and some random values.
    pub fn sweep(&self, base: [u32; 2], random: &mut Rng) -> Vec<[u32; 2]> {
        let base = u64::from(base[0]) | u64::from(base[1]) << 32;
        let mut samples = Vec::new();
        for &(high, low, _) in self.fields {
            let width = high - low + 1;
            let mask = u64::from(u32::MAX >> (32 - width));
            let values: Vec<u64> = if width <= 9 {
                (0..=mask).collect()
            } else {
                let bits = (0..width).map(|bit| 1 << bit);
                let random = (0..64).map(|_| u64::from(random.u32(..)) & mask);
                [0, mask].into_iter().chain(bits).chain(random).collect()
            };
            samples.extend(values.iter().map(|value| {
                let word = base & !(mask << low) | value << low;
                [word as u32, (word >> 32) as u32]
            }));
        }
        samples
    }
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
pub fn crashes_llvm([word0, word1]: [u32; 2]) -> bool {
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
