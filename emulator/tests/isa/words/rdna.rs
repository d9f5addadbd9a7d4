//! The encoding families of RDNA.

use emulator::isa::{Generation, Target};

use super::{
    Encoding,
    Field::{Any, Ones, Rare, Register, Source},
    Fields,
};

const VOP3: Fields = &[
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
    (95, 64, Any),
];

/// Without source 0, and with the DPP word that its code says there is.
const VOP3_DPP: Fields = &[
    (7, 0, Register),
    (8, 8, Rare),
    (9, 9, Rare),
    (10, 10, Rare),
    (11, 11, Rare),
    (12, 12, Rare),
    (13, 13, Rare),
    (14, 14, Rare),
    (15, 15, Rare),
    (49, 41, Source),
    (58, 50, Source),
    (60, 59, Rare),
    (61, 61, Rare),
    (62, 62, Rare),
    (63, 63, Rare),
    (71, 64, Register),
    (80, 72, Any),
    (81, 81, Rare),
    (82, 82, Any),
    (83, 83, Any),
    (84, 84, Rare),
    (85, 85, Rare),
    (86, 86, Rare),
    (87, 87, Rare),
    (91, 88, Any),
    (95, 92, Any),
];

const VOP3SD: Fields = &[
    (7, 0, Register),
    (14, 8, Register),
    (15, 15, Rare),
    (40, 32, Source),
    (49, 41, Source),
    (58, 50, Source),
    (60, 59, Rare),
    (61, 61, Rare),
    (62, 62, Rare),
    (63, 63, Rare),
    (95, 64, Any),
];

/// The word of SDWA, DPP or DPP8.
const SECOND: Fields = &[
    (39, 32, Register),
    (40, 40, Any),
    (41, 41, Any),
    (42, 42, Any),
    (44, 43, Any),
    (45, 45, Rare),
    (47, 46, Rare),
    (48, 48, Any),
    (49, 49, Rare),
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

const FLAT10: Fields = &[
    (11, 0, Any),
    (12, 12, Rare),
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

const FLAT11: Fields = &[
    (12, 0, Any),
    (13, 13, Rare),
    (14, 14, Any),
    (15, 15, Rare),
    (17, 16, Any),
    (25, 25, Rare),
    (39, 32, Register),
    (47, 40, Register),
    (54, 48, Register),
    (55, 55, Rare),
    (63, 56, Register),
];

/// As [`FLAT11`], without an address of the scalar unit.
const FLAT11_OFF: Fields = &[
    (12, 0, Any),
    (13, 13, Rare),
    (14, 14, Any),
    (15, 15, Rare),
    (17, 16, Any),
    (39, 32, Register),
    (47, 40, Register),
    (55, 55, Rare),
    (63, 56, Register),
];

const FLAT12: Fields = &[
    (6, 0, Register),
    (13, 7, Rare),
    (23, 22, Rare),
    (25, 24, Any),
    (39, 32, Register),
    (48, 40, Rare),
    (49, 49, Rare),
    (51, 50, Any),
    (54, 52, Any),
    (62, 55, Register),
    (63, 63, Rare),
    (71, 64, Register),
    (95, 72, Any),
];

const FLAT12_OFF: Fields = &[
    (25, 24, Any),
    (39, 32, Register),
    (49, 49, Rare),
    (51, 50, Any),
    (54, 52, Any),
    (62, 55, Register),
    (71, 64, Register),
    (95, 72, Any),
];

const DS: Fields = &[
    (7, 0, Any),
    (15, 8, Any),
    (16, 16, Rare),
    (17, 17, Rare),
    (39, 32, Register),
    (47, 40, Register),
    (55, 48, Register),
    (63, 56, Register),
];

const VOPD: Fields = &[
    (8, 0, Source),
    (16, 9, Register),
    (40, 32, Source),
    (48, 41, Register),
    (55, 49, Register),
    (63, 56, Register),
    (95, 64, Any),
];

const SOP1: Encoding = Encoding {
    name: "SOP1",
    base: 0xbe80_0000,
    opcode: (15, 8),
    fields: &[(7, 0, Source), (22, 16, Register), (63, 32, Any)],
};
const SOP2: Encoding = Encoding {
    name: "SOP2",
    base: 0x8000_0000,
    opcode: (29, 23),
    fields: &[(7, 0, Source), (15, 8, Source), (22, 16, Register), (63, 32, Any)],
};
const SOPK: Encoding = Encoding {
    name: "SOPK",
    base: 0xb000_0000,
    opcode: (27, 23),
    fields: &[(15, 0, Any), (22, 16, Register), (63, 32, Any)],
};
/// SOPK with small numbers of hardware registers.
const HWREG: Encoding = Encoding {
    name: "SOPK of hardware registers",
    base: 0xb000_f800,
    opcode: (27, 23),
    fields: &[(5, 0, Any), (10, 6, Rare), (22, 16, Register), (63, 32, Any)],
};
const SOPC: Encoding = Encoding {
    name: "SOPC",
    base: 0xbf00_0000,
    opcode: (22, 16),
    fields: &[(7, 0, Source), (15, 8, Source), (63, 32, Any)],
};
const SOPP: Encoding =
    Encoding { name: "SOPP", base: 0xbf80_0000, opcode: (22, 16), fields: &[(7, 0, Any), (15, 8, Any)] };
const VOP1: Encoding = Encoding {
    name: "VOP1",
    base: 0x7e00_0000,
    opcode: (16, 9),
    fields: &[(8, 0, Source), (24, 17, Register), (63, 32, Any)],
};
const VOP2: Encoding = Encoding {
    name: "VOP2",
    base: 0,
    opcode: (30, 25),
    fields: &[(8, 0, Source), (16, 9, Register), (24, 17, Register), (63, 32, Any)],
};
const VOPC: Encoding = Encoding {
    name: "VOPC",
    base: 0x7c00_0000,
    opcode: (24, 17),
    fields: &[(8, 0, Source), (16, 9, Register), (63, 32, Any)],
};

const fn vop1(name: &'static str, code: u64) -> Encoding {
    Encoding { name, base: 0x7e04_0000 | code, opcode: (16, 9), fields: SECOND }
}

const fn vop2(name: &'static str, code: u64) -> Encoding {
    Encoding { name, base: 0x0404_0200 | code, opcode: (30, 25), fields: SECOND }
}

const fn vopc(name: &'static str, code: u64) -> Encoding {
    Encoding { name, base: 0x7c00_0200 | code, opcode: (24, 17), fields: SECOND }
}

const fn vop3(name: &'static str, code: u64) -> Encoding {
    let fields = if code == 0 { VOP3 } else { VOP3_DPP };
    Encoding { name, base: 0xd400_0000 | code << 32, opcode: (25, 16), fields }
}

const fn vop3p(name: &'static str, code: u64) -> Encoding {
    let fields = if code == 0 { VOP3 } else { VOP3_DPP };
    Encoding { name, base: 0xcc00_0000 | code << 32, opcode: (22, 16), fields }
}

/// VOP3 with a literal as source `n`.
const fn with_literal(name: &'static str, base: u64, n: u32, opcode: (u32, u32)) -> Encoding {
    Encoding { name, base: base | 0xff << (32 + 9 * n), opcode, fields: LITERALS[n as usize] }
}

const LITERALS: [Fields; 2] = [
    &[(7, 0, Register), (15, 8, Rare), (49, 41, Source), (58, 50, Source), (63, 59, Rare), (95, 64, Any)],
    &[(7, 0, Register), (15, 8, Rare), (40, 32, Source), (58, 50, Source), (63, 59, Rare), (95, 64, Any)],
];

/// RDNA 2.
pub const GFX10: &[Encoding] = &[
    SOP2,
    SOPK,
    HWREG,
    SOP1,
    SOPC,
    SOPP,
    VOP1,
    VOP2,
    VOPC,
    vop1("VOP1 SDWA", 249),
    vop2("VOP2 SDWA", 249),
    vopc("VOPC SDWA", 249),
    vop1("VOP1 DPP", 250),
    vop2("VOP2 DPP", 250),
    vopc("VOPC DPP", 250),
    vop1("VOP1 DPP8", 233),
    vop2("VOP2 DPP8", 233),
    vop2("VOP2 DPP8 FI", 234),
    vop3("VOP3", 0),
    Encoding { name: "VOP3SD", base: 0xd400_0000, opcode: (25, 16), fields: VOP3SD },
    with_literal("VOP3 with a literal first", 0xd400_0000, 0, (25, 16)),
    with_literal("VOP3 with a literal second", 0xd400_0000, 1, (25, 16)),
    vop3p("VOP3P", 0),
    with_literal("VOP3P with a literal", 0xcc00_0000, 0, (22, 16)),
    Encoding {
        name: "SMEM",
        base: 0xf400_0000,
        opcode: (25, 18),
        fields: &[
            (5, 0, Register),
            (12, 6, Register),
            (13, 13, Rare),
            (14, 14, Rare),
            (15, 15, Rare),
            (16, 16, Rare),
            (17, 17, Rare),
            (52, 32, Any),
            (56, 53, Rare),
            (63, 57, Ones),
        ],
    },
    Encoding { name: "DS", base: 0xd800_0000, opcode: (25, 18), fields: DS },
    Encoding { name: "FLAT", base: 0xdc00_0000, opcode: (24, 18), fields: FLAT10 },
    Encoding {
        name: "MUBUF",
        base: 0xe000_0000,
        opcode: (25, 18),
        fields: &[
            (11, 0, Any),
            (12, 12, Any),
            (13, 13, Any),
            (14, 14, Any),
            (15, 15, Rare),
            (16, 16, Rare),
            (17, 17, Rare),
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
        opcode: (18, 16),
        fields: &[
            (11, 0, Any),
            (12, 12, Any),
            (13, 13, Any),
            (14, 14, Any),
            (15, 15, Rare),
            (25, 19, Any),
            (39, 32, Register),
            (47, 40, Register),
            (52, 48, Register),
            (53, 53, Any),
            (54, 54, Rare),
            (55, 55, Rare),
            (63, 56, Source),
        ],
    },
];

/// RDNA 3 and 3.5.
pub const GFX11: &[Encoding] = &[
    SOP2,
    SOPK,
    HWREG,
    SOP1,
    SOPC,
    SOPP,
    VOP1,
    VOP2,
    VOPC,
    vop1("VOP1 DPP", 250),
    vop2("VOP2 DPP", 250),
    vopc("VOPC DPP", 250),
    vop1("VOP1 DPP8", 233),
    vop2("VOP2 DPP8", 233),
    vopc("VOPC DPP8 FI", 234),
    vop3("VOP3", 0),
    Encoding { name: "VOP3SD", base: 0xd400_0000, opcode: (25, 16), fields: VOP3SD },
    with_literal("VOP3 with a literal first", 0xd400_0000, 0, (25, 16)),
    with_literal("VOP3 with a literal second", 0xd400_0000, 1, (25, 16)),
    vop3("VOP3 DPP", 250),
    vop3("VOP3 DPP8", 233),
    vop3("VOP3 DPP8 FI", 234),
    vop3p("VOP3P", 0),
    with_literal("VOP3P with a literal", 0xcc00_0000, 0, (22, 16)),
    vop3p("VOP3P DPP", 250),
    vop3p("VOP3P DPP8", 233),
    Encoding { name: "VOPD", base: 0xc800_0000, opcode: (25, 17), fields: VOPD },
    Encoding {
        name: "LDSDIR",
        base: 0xce00_0000,
        opcode: (21, 20),
        fields: &[(7, 0, Register), (15, 8, Rare), (19, 16, Any), (23, 22, Rare)],
    },
    Encoding {
        name: "SMEM",
        base: 0xf400_0000,
        opcode: (25, 18),
        fields: &[
            (5, 0, Register),
            (12, 6, Register),
            (13, 13, Rare),
            (14, 14, Rare),
            (15, 15, Rare),
            (16, 16, Rare),
            (17, 17, Rare),
            (52, 32, Any),
            (56, 53, Rare),
            (63, 57, Register),
        ],
    },
    Encoding {
        name: "SMEM without an offset in a register",
        base: 0xf800_0000_f400_0000,
        opcode: (25, 18),
        fields: &[(5, 0, Register), (12, 6, Register), (13, 13, Rare), (14, 14, Rare), (52, 32, Any)],
    },
    Encoding { name: "DS", base: 0xd800_0000, opcode: (25, 18), fields: DS },
    Encoding { name: "FLAT", base: 0xdc00_0000, opcode: (24, 18), fields: FLAT11 },
    Encoding { name: "FLAT off", base: 0x007c_0000_dc00_0000, opcode: (24, 18), fields: FLAT11_OFF },
    Encoding {
        name: "MUBUF",
        base: 0xe000_0000,
        opcode: (25, 18),
        fields: &[
            (11, 0, Any),
            (12, 12, Rare),
            (13, 13, Rare),
            (14, 14, Any),
            (15, 15, Rare),
            (17, 16, Rare),
            (39, 32, Register),
            (47, 40, Register),
            (52, 48, Register),
            (53, 53, Rare),
            (54, 54, Any),
            (55, 55, Any),
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
            (25, 19, Any),
            (39, 32, Register),
            (47, 40, Register),
            (52, 48, Register),
            (53, 53, Rare),
            (54, 54, Any),
            (55, 55, Any),
            (63, 56, Source),
        ],
    },
];

/// RDNA 4.
pub const GFX12: &[Encoding] = &[
    SOP2,
    SOPK,
    HWREG,
    SOP1,
    SOPC,
    SOPP,
    VOP1,
    VOP2,
    VOPC,
    vop1("VOP1 DPP", 250),
    vop2("VOP2 DPP", 250),
    vopc("VOPC DPP", 250),
    vop1("VOP1 DPP8", 233),
    vop2("VOP2 DPP8", 233),
    vopc("VOPC DPP8 FI", 234),
    vop3("VOP3", 0),
    Encoding { name: "VOP3SD", base: 0xd400_0000, opcode: (25, 16), fields: VOP3SD },
    with_literal("VOP3 with a literal first", 0xd400_0000, 0, (25, 16)),
    with_literal("VOP3 with a literal second", 0xd400_0000, 1, (25, 16)),
    vop3("VOP3 DPP", 250),
    vop3("VOP3 DPP8", 233),
    vop3("VOP3 DPP8 FI", 234),
    vop3p("VOP3P", 0),
    // Matrix instructions reserve the other values of op_sel_hi.
    Encoding {
        name: "VOP3P of high halves",
        base: 0x1800_0000_cc00_4000,
        opcode: (22, 16),
        fields: &[
            (7, 0, Register),
            (10, 8, Rare),
            (13, 11, Rare),
            (15, 15, Rare),
            (40, 32, Source),
            (49, 41, Source),
            (58, 50, Source),
            (63, 61, Rare),
            (95, 64, Any),
        ],
    },
    with_literal("VOP3P with a literal", 0xcc00_0000, 0, (22, 16)),
    vop3p("VOP3P DPP", 250),
    vop3p("VOP3P DPP8", 233),
    Encoding { name: "VOPD", base: 0xc800_0000, opcode: (25, 17), fields: VOPD },
    Encoding {
        name: "LDSDIR",
        base: 0xce00_0000,
        opcode: (21, 20),
        fields: &[(7, 0, Register), (15, 8, Rare), (19, 16, Any), (23, 22, Any)],
    },
    Encoding {
        name: "SMEM",
        base: 0xf400_0000,
        opcode: (18, 13),
        fields: &[
            (5, 0, Register),
            (12, 6, Register),
            (20, 19, Rare),
            (22, 21, Any),
            (24, 23, Any),
            (25, 25, Rare),
            (55, 32, Any),
            (56, 56, Rare),
            (63, 57, Register),
        ],
    },
    Encoding {
        name: "SMEM without an offset in a register",
        base: 0xf800_0000_f400_0000,
        opcode: (18, 13),
        fields: &[(5, 0, Register), (12, 6, Register), (22, 21, Any), (24, 23, Any), (55, 32, Any)],
    },
    Encoding { name: "DS", base: 0xd800_0000, opcode: (25, 18), fields: DS },
    Encoding { name: "VFLAT", base: 0xec00_0000, opcode: (21, 14), fields: FLAT12 },
    Encoding { name: "VFLAT off", base: 0xec00_007c, opcode: (21, 14), fields: FLAT12_OFF },
    Encoding {
        name: "VBUFFER",
        base: 0xc400_0000,
        opcode: (21, 14),
        fields: &[
            (6, 0, Register),
            (13, 7, Rare),
            (22, 22, Rare),
            (25, 23, Rare),
            (39, 32, Register),
            (40, 40, Rare),
            (49, 41, Register),
            (51, 50, Any),
            (54, 52, Any),
            (61, 55, Any),
            (62, 62, Any),
            (63, 63, Any),
            (71, 64, Register),
            (95, 72, Any),
        ],
    },
];

/// As [`super::crashes_llvm`].
pub fn crashes_llvm<const N: usize>(target: Target, words: [u32; N]) -> bool {
    let (word0, word1) = (words[0], words[1]);
    let bits = |high: u32, low: u32| word1 >> low & (u32::MAX >> (31 - high + low));
    let sdwa = target.generation() == Generation::Gfx10 && word0 >> 31 == 0 && word0 & 0x1ff == 0xf9;
    let vopc = word0 >> 25 == 0x3e;
    let long = matches!(word0 >> 24, 0xcc | 0xd4..=0xd7);
    let literal = bits(8, 0) == 255 || bits(17, 9) == 255 || bits(26, 18) == 255;
    // A literal beside a DPP word, which LLVM takes for a fourth word, and one as the destination.
    let moves = matches!(bits(8, 0), 233 | 234 | 250);
    let opcode = word0 >> 16 & 0x3ff;
    let scalar = word0 >> 26 == 0x35 && (opcode < 256 || matches!(opcode, 640..=649 | 864));
    // LLVM mixes the control of DPP up with other fields of v_fma_mixlo and v_fma_mixhi, and of conversions to bytes.
    let mixed = word0 >> 17 == 0x6610 && word0 >> 16 & 3 != 0
        || word0 >> 16 & 0xff7f == 0xcc22
        || matches!(word0 >> 16, 0xd769 | 0xd76a);
    // It takes eight lanes for the constant of that code, too.
    let short = word0 >> 31 == 0 && matches!(word0 & 0x1ff, 233 | 234);
    let lanes =
        if short { Some(word1 >> 8) } else { words.get(2).filter(|_| long && moves).map(|word| word >> 8) };
    let buffer = matches!(word0 >> 26, 0x38 | 0x3a) && word1 >> 24 == 255;
    // v_readfirstlane_b32 writes no literal.
    let first = word0 >> 17 == 0x3fff && word0 >> 9 & 0xff == 2;
    long && literal && moves || first
        || lanes.is_some_and(|lanes| (128..256).contains(&lanes))
        || buffer && target.generation() != Generation::Gfx12
        || scalar && word0 & 0xff == 255
        || mixed && bits(8, 0) == 250
        // A word of no bits is "v_illegal".
        || word0 == 0
        // It prints less of op_sel where a comparison that writes EXEC does not name it.
        || scalar && (128..256).contains(&opcode) && word0 & 0xff != 126 && word0 >> 11 & 15 != 0
        || sdwa && (bits(18, 16) == 7 || bits(26, 24) == 7 || !vopc && (bits(10, 8) == 7 || bits(12, 11) == 3))
}
