//! A decoded instruction: operands resolved to one numbering, modifiers in one word.

use std::fmt;

use super::row::{Row, Ty, flag};

/// An operand in one flat numbering, so that a source is fetched without knowing its encoding.
///
/// 0..=255 are the 8-bit scalar source codes of the GFX9 encodings (SGPRs, VCC, M0, EXEC, inline
/// constants, apertures, 255 = literal); 256..=511 are v0..v255; 512..=767 are a0..a255.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand(pub u16);

impl Operand {
    /// No operand in this position.
    pub const NONE: Self = Self(u16::MAX);
    /// Low half of the flat scratch base.
    pub const FLAT_SCRATCH_LO: Self = Self(102);
    /// Low half of the XNACK mask.
    pub const XNACK_MASK_LO: Self = Self(104);
    /// Low half of VCC.
    pub const VCC_LO: Self = Self(106);
    /// High half of VCC.
    pub const VCC_HI: Self = Self(107);
    /// The first trap handler register.
    pub const TTMP0: Self = Self(108);
    /// M0.
    pub const M0: Self = Self(124);
    /// Low half of the execution mask.
    pub const EXEC_LO: Self = Self(126);
    /// High half of the execution mask.
    pub const EXEC_HI: Self = Self(127);
    /// The literal that follows the instruction, [`Inst::literal`].
    pub const LITERAL: Self = Self(255);

    /// v`n`.
    pub const fn vgpr(n: u16) -> Self {
        Self(256 + n)
    }

    /// a`n`.
    pub const fn agpr(n: u16) -> Self {
        Self(512 + n)
    }

    /// Row of the wave's vector register file: v0..v255 are rows 0..255, a0..a255 rows 256..511.
    pub const fn row(self) -> Option<usize> {
        if self.0 >= 256 && self.0 < 768 { Some(self.0 as usize - 256) } else { None }
    }
}

/// Modifiers of VOP3, VOP3P, SDWA and DPP in one word.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Mods {
    /// Bit i: negate source i (VOP3P: negate the low half).
    pub neg: u8,
    /// Bit i: absolute value of source i (VOP3P: neg_hi).
    pub abs: u8,
    /// VOP3: bit i selects the high half of source i, bit 3 of the destination.
    pub op_sel: u8,
    /// VOP3P only.
    pub op_sel_hi: u8,
    /// 0 none, 1 *2, 2 *4, 3 /2.
    pub omod: u8,
    /// Floats to 0..=1, integers saturated.
    pub clamp: bool,
}

impl Mods {
    /// A bit of `op_sel` that no encoding has: a result of 16 bits leaves the other half of its register as it is,
    /// as on RDNA.
    pub const KEEPS_OTHER_HALF: u8 = 1 << 4;
}

/// What a memory instruction says beside its operands, in the same bits for all encodings.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Memory {
    flags: u8,
    policy: u8,
}

impl Memory {
    /// An atomic returns the old value.
    pub const RETURNS: u8 = 1;
    /// A buffer's address register holds an offset.
    pub const OFFEN: u8 = 1 << 1;
    /// A buffer's address register holds an index, before the offset if there are both.
    pub const IDXEN: u8 = 1 << 2;
    /// The data goes to LDS.
    pub const TO_LDS: u8 = 1 << 3;
    /// It is about GDS and not about LDS.
    pub const GDS: u8 = 1 << 4;
    /// A load writes behind its result whether it failed (TFE).
    pub const FAILS: u8 = 1 << 5;
    /// A bit of the policy: GLC, of gfx940 SC0.
    pub const GLC: u8 = 1;
    /// SLC, of gfx940 NT.
    pub const SLC: u8 = 1 << 1;
    /// SCC of gfx90a, SC1 of gfx940.
    pub const SCC: u8 = 1 << 2;
    /// DLC of RDNA 2 and 3.
    pub const DLC: u8 = 1 << 3;

    /// Of these constants, or-ed.
    pub const fn new(flags: u8, policy: u8) -> Self {
        Self { flags, policy }
    }

    /// Scope and temporal hint of RDNA 4, of two and of three bits.
    pub const fn scoped(scope: u8, hint: u8) -> Self {
        let beyond = if scope == 0 { 0 } else { Self::GLC };
        Self { flags: 0, policy: beyond | scope << 1 | hint << 3 }
    }

    /// Sets flags.
    pub const fn add(&mut self, flags: u8) {
        self.flags |= flags;
    }

    /// Whether any of `flags` is set.
    #[inline(always)]
    pub const fn has(self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    /// Whether any of these cache bits is set. RDNA 4 has none of them.
    #[inline(always)]
    pub const fn caches(self, bits: u8) -> bool {
        self.policy & bits != 0
    }

    /// Whether a load asks for more than the nearest cache has: an atomic load must not overtake what came before.
    #[inline(always)]
    pub const fn is_coherent(self) -> bool {
        self.policy & Self::GLC != 0
    }

    /// The scope of RDNA 4: 0 the compute unit, 1 the shader engine, 2 the device, 3 the system.
    pub const fn scope(self) -> u8 {
        self.policy >> 1 & 3
    }

    /// The temporal hint of RDNA 4.
    pub const fn hint(self) -> u8 {
        self.policy >> 3
    }
}

/// What modifies a VOP1/VOP2/VOPC beyond its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// The family's own short form (and every non-VOP family).
    Plain,
    /// A VOP1/VOP2/VOPC opcode promoted to the 64-bit VOP3 encoding.
    E64,
    /// The second dword is an SDWA word, kept raw in [`Inst::word1`]; [`Inst::src`] holds the real source 0.
    Sdwa,
    /// A DPP word follows, kept raw in [`Inst::literal`]; [`Inst::src`] holds the real source 0. On RDNA it can also
    /// follow the 64-bit encodings.
    Dpp,
    /// As [`Variant::Dpp`], with a word that names a lane for each of eight.
    Dpp8,
}

/// What keeps the vector ALU from reading and writing VGPRs as they stand, or what it writes besides; found out once, when an
/// instruction is decoded. Nothing does in most instructions.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Form(u8);

impl Form {
    /// The destination is no VGPR, or a pair that begins at v255.
    pub const DESTINATION: u8 = 1 << 3;
    /// It is a comparison that writes EXEC.
    pub const EXEC: u8 = 1 << 4;
    /// Modifiers, SDWA or DPP change the result, or which part of the destination is written.
    pub const RESULT: u8 = 1 << 6;
    /// Modifiers, SDWA or DPP change a source or the result.
    pub const ALTERED: u8 = 1 << 7;

    /// The same of the first `count` sources as [`Form::DESTINATION`] of the destination.
    pub const fn sources(count: u32) -> u8 {
        (1 << count) - 1
    }

    /// The form of an instruction whose other fields are set.
    pub fn of(inst: &Inst) -> Self {
        let stands = |op: Operand, ty: Ty| match ty.dwords() {
            0 | 1 => (256..=511).contains(&op.0),
            _ => (256..511).contains(&op.0),
        };
        let mods = inst.mods;
        let replaced = matches!(inst.variant, Variant::Sdwa | Variant::Dpp | Variant::Dpp8);
        let mut bits = if replaced || mods != Mods::default() { Self::ALTERED } else { 0 };
        if replaced || mods.clamp || mods.omod != 0 || mods.op_sel & (8 | Mods::KEEPS_OTHER_HALF) != 0 {
            bits |= Self::RESULT;
        }
        for (n, (op, ty)) in inst.src.into_iter().zip(inst.row.shape.src).enumerate() {
            bits |= u8::from(!stands(op, ty)) << n;
        }
        if !stands(inst.dst, inst.row.shape.dst) {
            bits |= Self::DESTINATION;
        }
        if inst.row.compares_into_exec() {
            bits |= Self::EXEC;
        }
        Self(bits)
    }

    /// Whether any of `bits` is set: constants of this type, or-ed.
    #[inline(always)]
    pub const fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }
}

/// A decoded instruction.
///
/// Where the operands stand, by family:
///
/// | family | `dst` | `sdst` | `src[0..]` | `imm` |
/// |---|---|---|---|---|
/// | SOP1, SOP2, SOPC | sdst | | ssrc0, ssrc1 | |
/// | SOPK | sdst (source too where it is one) | | | simm16, sign-extended |
/// | SOPP | | | | simm16, sign-extended |
/// | SMEM | sdst or sdata | | sbase, soffset register | byte offset, sign-extended |
/// | VOP1, VOP2, VOPC, VOP3, VOP3P | vdst (VOPC: NONE) | VOPC: the mask's destination; VOP3B: sdst | src0, src1, src2 (the implicit vcc of e32 carry forms stands as src2) | K of madmk and the like is `literal` |
/// | DS | vdst | | addr, data0, data1 | offset0 or the 16-bit offset; offset1 in `literal` for two-offset forms |
/// | FLAT, GLOBAL, SCRATCH | vdst | | vaddr, vdata, saddr (NONE when off) | signed offset |
/// | MUBUF, MTBUF | vdata | | vaddr, srsrc, soffset | 12-bit offset |
///
/// A matrix instruction that v_mfma_ld_scale_b32 precedes keeps the two dwords of that in `imm` and `literal`.
#[derive(Clone, Copy)]
pub struct Inst {
    /// What the instruction is.
    pub row: &'static Row,
    /// Destination, or [`Operand::NONE`].
    pub dst: Operand,
    /// Scalar destination of a vector instruction, or [`Operand::NONE`].
    pub sdst: Operand,
    /// Sources, or [`Operand::NONE`].
    pub src: [Operand; 3],
    /// Form of a vector instruction.
    pub variant: Variant,
    /// Length in bytes: 4, 8 or 12, or 16 of a matrix instruction that v_mfma_ld_scale_b32 precedes.
    pub size: u8,
    /// Follows from the other fields, [`Form::of`].
    pub form: Form,
    /// Modifiers; those of SDWA and DPP beyond `neg`, `abs`, `clamp` and `omod` stand in [`Inst::word1`].
    pub mods: Mods,
    /// Immediate, see above.
    pub imm: i32,
    /// What a memory instruction says beside its operands.
    pub memory: Memory,
    /// The 32-bit literal that follows the instruction.
    pub literal: u32,
    /// First dword, raw: cache bits and rarely used fields are read from here.
    pub word0: u32,
    /// Second dword, raw (0 for 4-byte instructions).
    pub word1: u32,
}

/// Where the scales of a matrix come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scales {
    /// The register, or a constant.
    pub source: Operand,
    /// op_sel and op_sel_hi: which byte of a vector register.
    pub byte: u8,
}

impl Inst {
    /// The table of v_bitop3: bit `4 * a + 2 * b + c` is the result of these three bits (CDNA4 ISA, V_BITOP3_B32).
    pub const fn bitop3(&self) -> u8 {
        // CAST: two bits and three and three.
        (self.word1 >> 21 & 0xc0 | self.word0 >> 5 & 0x38 | self.word1 >> 29) as u8
    }

    /// The bit of a DPP word that says so.
    pub const FETCHES_INACTIVE: u32 = 1 << 18;

    /// Whether DPP reads lanes that are off (FI).
    pub const fn fetches_inactive(&self) -> bool {
        match self.variant {
            Variant::Dpp => self.literal & Self::FETCHES_INACTIVE != 0,
            // The code of source 0 says so.
            Variant::Dpp8 => (if self.size == 12 { self.word1 } else { self.word0 }) & 0x1ff == 234,
            _ => false,
        }
    }

    /// The scales of A and B, if v_mfma_ld_scale_b32 is part of the instruction.
    pub fn scales(&self) -> Option<[Scales; 2]> {
        (self.size == 16).then(|| {
            // CAST: the bits of the dword.
            let (word0, word1) = (self.imm as u32, self.literal);
            [0, 1].map(|n| Scales {
                // CAST: 9 bits. The codes of sources of one dword are the numbers of operands.
                source: Operand((word1 >> (9 * n) & 0x1ff) as u16),
                byte: (word0 >> (11 + n) & 1 | (word1 >> (27 + n) & 1) << 1) as u8,
            })
        })
    }

    /// The type of source `i`. A row has the widest one where modifiers choose.
    pub fn source_type(&self, i: usize) -> Ty {
        let shape = &self.row.shape;
        if !shape.has(flag::F8F6F4) || i > 1 {
            return shape.src[i];
        }
        match if i == 0 { self.word0 >> 8 & 7 } else { self.word1 >> 29 } {
            2 | 3 => Ty::B192,
            4 => Ty::B128,
            _ => Ty::B256,
        }
    }
}

impl fmt::Debug for Inst {
    /// The mnemonic and the words; [`disassemble`](super::disassemble) needs to know the target for more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:08x} {:08x}", self.row.name, self.word0, self.word1)?;
        if self.literal != 0 {
            write!(f, " literal {:#x}", self.literal)?;
        }
        Ok(())
    }
}
