//! What one row of the instruction table says.

/// An encoding family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Scalar, one source.
    Sop1,
    /// Scalar, two sources.
    Sop2,
    /// Scalar with a 16-bit constant.
    Sopk,
    /// Scalar compare.
    Sopc,
    /// Program control.
    Sopp,
    /// Scalar memory.
    Smem,
    /// Vector, one source.
    Vop1,
    /// Vector, two sources.
    Vop2,
    /// Vector compare.
    Vopc,
    /// Vector, 64-bit encoding only.
    Vop3,
    /// Packed, dot-product and matrix.
    Vop3p,
    /// Local and global data share.
    Ds,
    /// Memory through the flat address space.
    Flat,
    /// Global memory.
    Global,
    /// Scratch memory.
    Scratch,
    /// Untyped buffers.
    Mubuf,
    /// Typed buffers.
    Mtbuf,
    /// A half of a dual-issue instruction of RDNA.
    Vopd,
    /// Loads from LDS that are the vector ALU's, on RDNA.
    LdsDirect,
}

/// A generation of instruction sets: encodings, opcodes and names are those of one document.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Generation {
    /// Vega, and what is for data centres since: waves of 64 lanes.
    Gfx9,
    /// RDNA 2.
    Gfx10,
    /// RDNA 3 and 3.5.
    Gfx11,
    /// RDNA 4.
    Gfx12,
}

/// A processor whose instruction set the emulator knows, as LLVM names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Target {
    /// MI200.
    Gfx90a,
    /// MI300.
    Gfx942,
    /// MI350.
    Gfx950,
    /// Navi 21.
    Gfx1030,
    /// Navi 31.
    Gfx1100,
    /// Navi 32.
    Gfx1101,
    /// Navi 33.
    Gfx1102,
    /// Phoenix.
    Gfx1103,
    /// Strix Point.
    Gfx1150,
    /// Strix Halo.
    Gfx1151,
    /// Navi 44.
    Gfx1200,
    /// Navi 48.
    Gfx1201,
}

impl Target {
    /// All that there are.
    pub const ALL: [Self; 12] = [
        Self::Gfx90a,
        Self::Gfx942,
        Self::Gfx950,
        Self::Gfx1030,
        Self::Gfx1100,
        Self::Gfx1101,
        Self::Gfx1102,
        Self::Gfx1103,
        Self::Gfx1150,
        Self::Gfx1151,
        Self::Gfx1200,
        Self::Gfx1201,
    ];

    /// Those of GFX9.
    pub const GFX9: [Self; 3] = [Self::Gfx90a, Self::Gfx942, Self::Gfx950];

    /// One with each instruction set.
    pub const SETS: [Self; 7] = [
        Self::Gfx90a,
        Self::Gfx942,
        Self::Gfx950,
        Self::Gfx1030,
        Self::Gfx1100,
        Self::Gfx1150,
        Self::Gfx1200,
    ];

    /// Its name for compilers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gfx90a => "gfx90a",
            Self::Gfx942 => "gfx942",
            Self::Gfx950 => "gfx950",
            Self::Gfx1030 => "gfx1030",
            Self::Gfx1100 => "gfx1100",
            Self::Gfx1101 => "gfx1101",
            Self::Gfx1102 => "gfx1102",
            Self::Gfx1103 => "gfx1103",
            Self::Gfx1150 => "gfx1150",
            Self::Gfx1151 => "gfx1151",
            Self::Gfx1200 => "gfx1200",
            Self::Gfx1201 => "gfx1201",
        }
    }

    /// The target of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// The generation that it is of.
    pub const fn generation(self) -> Generation {
        match self {
            Self::Gfx90a | Self::Gfx942 | Self::Gfx950 => Generation::Gfx9,
            Self::Gfx1030 => Generation::Gfx10,
            Self::Gfx1100 | Self::Gfx1101 | Self::Gfx1102 | Self::Gfx1103 | Self::Gfx1150 | Self::Gfx1151 => {
                Generation::Gfx11
            }
            Self::Gfx1200 | Self::Gfx1201 => Generation::Gfx12,
        }
    }

    /// Which of [`Row::rdna`] it has the opcodes of.
    pub const fn rdna_column(self) -> Option<usize> {
        match self.generation() {
            Generation::Gfx9 => None,
            Generation::Gfx10 => Some(0),
            Generation::Gfx11 if Targets::GFX115.has(self) => Some(2),
            Generation::Gfx11 => Some(1),
            Generation::Gfx12 => Some(3),
        }
    }

    /// Whether it has what came with gfx940, as LLVM calls it: other cache bits, matrix instructions and loads to LDS.
    pub const fn is_gfx940(self) -> bool {
        matches!(self, Self::Gfx942 | Self::Gfx950)
    }

    /// Whether it is of RDNA: waves of 32 or of 64 lanes, as a kernel says.
    pub const fn is_rdna(self) -> bool {
        !matches!(self.generation(), Generation::Gfx9)
    }
}

/// The targets that have an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Targets(pub u16);

impl Targets {
    /// gfx90a only.
    pub const GFX90A: Self = Self(1);
    /// gfx942 only.
    pub const GFX942: Self = Self(2);
    /// gfx950 only.
    pub const GFX950: Self = Self(4);
    /// gfx942 and gfx950.
    pub const GFX940: Self = Self(6);
    /// All of GFX9.
    pub const ALL: Self = Self(7);
    /// RDNA 2.
    pub const GFX10: Self = Self(1 << 3);
    /// RDNA 3 and 3.5.
    pub const GFX11: Self = Self(0x3f << 4);
    /// RDNA 3.5.
    pub const GFX115: Self = Self(3 << 8);
    /// RDNA 4.
    pub const GFX12: Self = Self(3 << 10);
    /// RDNA 2, 3 and 3.5.
    pub const GFX10_11: Self = Self(0x7f << 3);
    /// RDNA 3, 3.5 and 4.
    pub const GFX11_12: Self = Self(0xff << 4);
    /// RDNA 3.5 and 4.
    pub const GFX115_12: Self = Self(0xf << 8);
    /// All of RDNA.
    pub const RDNA: Self = Self(0x1ff << 3);

    /// Whether `target` has the instruction.
    pub const fn has(self, target: Target) -> bool {
        self.0 >> target as u16 & 1 != 0
    }
}

/// What the interpreter does after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Go on behind the instruction.
    Next,
    /// Go on at [`Wave::pc`](crate::wave::Wave::pc), which the instruction has changed.
    Jump,
    /// The wave waits at `s_barrier`.
    Barrier,
    /// The wave gives way to others (`s_sleep`, a failed spin).
    Yield,
    /// `s_endpgm`.
    End,
    /// The wave stopped; [`Wave::stop`](crate::wave::Wave::stop) says why.
    Stop,
}

/// One instruction of the table.
pub struct Row {
    /// Encoding family.
    pub family: Family,
    /// Opcode within the family, that of the short form where there is one, on GFX9 or on the last of [`Row::rdna`].
    pub opcode: u16,
    /// Opcodes on RDNA 2, 3, 3.5 and 4, or [`ABSENT`].
    pub rdna: [u16; 4],
    /// Mnemonic without encoding suffix, as LLVM spells it.
    pub name: &'static str,
    /// The targets that have it.
    pub targets: Targets,
    /// Operands and properties.
    pub shape: Shape,
}

/// No opcode.
pub const ABSENT: u16 = u16::MAX;

impl Row {
    /// The opcode on a target that has it.
    pub const fn opcode_on(&self, target: Target) -> u16 {
        match target.rdna_column() {
            Some(column) => self.rdna[column],
            None => self.opcode,
        }
    }

    /// Whether it is of RDNA's tables.
    pub const fn is_rdna(&self) -> bool {
        self.targets.0 & Targets::ALL.0 == 0
    }

    /// Whether it is a comparison that writes EXEC.
    pub fn compares_into_exec(&self) -> bool {
        self.family == Family::Vopc && self.name.as_bytes().get(5) == Some(&b'x')
    }

    /// Whether it is a vector instruction that writes its source, too.
    pub fn swaps(&self) -> bool {
        self.family == Family::Vop1 && self.name.contains("_swap")
    }
}

/// Kind and width of one operand.
///
/// The element type decides how an inline constant reads (1.0 is 0x3c00 for `F16`, 0x3f800000 for `F32`) and
/// whether the operand takes `neg`/`abs`; the width is in registers of 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// No operand.
    No,
    /// 32 bits without float modifiers.
    B32,
    /// 64 bits without float modifiers.
    B64,
    /// 96 bits.
    B96,
    /// 128 bits.
    B128,
    /// 192 bits.
    B192,
    /// 256 bits.
    B256,
    /// 512 bits.
    B512,
    /// 1024 bits.
    B1024,
    /// 16-bit integer in the low half of a register.
    I16,
    /// Half.
    F16,
    /// The upper half of a single, in the low half of a register.
    Bf16,
    /// Single.
    F32,
    /// Double.
    F64,
    /// Four doubles (C and D of v_mfma_f64_16x16x4_f64).
    F64x4,
    /// Two 16-bit integers in one register.
    V2I16,
    /// Two halves in one register.
    V2F16,
    /// Two upper halves of singles in one register.
    V2Bf16,
    /// Two singles in two registers.
    V2F32,
    /// Two 32-bit values in two registers.
    V2B32,
    /// F32, or F16 out of either half, as op_sel_hi and op_sel say (v_fma_mix*).
    Mix,
    /// A lane mask: an SGPR pair, VCC in the short encodings.
    Mask,
    /// A scalar register where the field could name something else.
    S32,
    /// A pair of scalar registers where the field could name something else.
    S64,
    /// A VGPR, no scalar (a scalar code is taken as LLVM takes it, but means nothing).
    V32,
    /// An AGPR.
    A32,
    /// A number of what to ask for (s_sendmsg_rtn_b32).
    Msg,
    /// M0 or the number of a barrier.
    Barrier,
}

impl Ty {
    /// Width in registers of 32 bits; 0 for [`Ty::No`].
    pub const fn dwords(self) -> u16 {
        match self {
            Self::No => 0,
            Self::B64 | Self::F64 | Self::V2F32 | Self::V2B32 | Self::Mask | Self::S64 => 2,
            Self::B96 => 3,
            Self::B128 => 4,
            Self::B192 => 6,
            Self::B256 | Self::F64x4 => 8,
            Self::B512 => 16,
            Self::B1024 => 32,
            _ => 1,
        }
    }

    /// Width of the scalar register group that LLVM sees at `code`: there are none of six or of 32.
    pub const fn scalar_dwords(self, code: u32) -> u16 {
        match self {
            Self::B96 if code >= 108 => 8,
            Self::B192 if code < 108 => 5,
            Self::B192 => 8,
            Self::B1024 => 16,
            _ => self.dwords(),
        }
    }

    /// Whether `neg` and `abs` of the VOP3 encoding modify the operand.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 | Self::V2F16 | Self::V2Bf16 | Self::V2F32
        )
    }
}

/// Operands of an instruction: what the decoder extracts and the disassembler prints.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Destination, or the data that a buffer or scalar store reads.
    pub dst: Ty,
    /// Second, scalar destination.
    pub sdst: Ty,
    /// Sources, in the order of [`Inst::src`](super::Inst::src).
    pub src: [Ty; 3],
    /// Constants of [`flag`], or-ed.
    pub flags: u64,
}

impl Shape {
    /// Whether `flag` (a constant of [`flag`]) is set.
    pub const fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    /// Number of sources.
    pub fn sources(&self) -> usize {
        self.src.iter().filter(|ty| **ty != Ty::No).count()
    }
}

/// What [`Shape::flags`] can hold.
pub mod flag {
    /// VOP3: the clamp bit is defined.
    pub const CLAMP: u64 = 1;
    /// VOP3 and SDWA: the output modifier is defined.
    pub const OMOD: u64 = 1 << 1;
    /// VOP3: op_sel is defined.
    pub const OP_SEL: u64 = 1 << 2;
    /// VOP3: neg and abs of integer sources are ignored instead of reserved. SDWA: those of packed halves.
    pub const MODS_IGNORED: u64 = 1 << 3;
    /// No VOP3 form.
    pub const NO_E64: u64 = 1 << 4;
    /// No SDWA form.
    pub const NO_SDWA: u64 = 1 << 5;
    /// No DPP form.
    pub const NO_DPP: u64 = 1 << 6;
    /// VOP2: a literal multiplies (`d = s0 * K + s1`).
    pub const MADMK: u64 = 1 << 7;
    /// VOP2: a literal is added (`d = s0 * s1 + K`).
    pub const MADAK: u64 = 1 << 8;
    /// SOPP, SOPK: the immediate is a branch offset in dwords.
    pub const BRANCH: u64 = 1 << 9;
    /// SOPK: the immediate names a hardware register.
    pub const HWREG: u64 = 1 << 10;
    /// SOPK: the hardware register is written.
    pub const WRITE: u64 = 1 << 11;
    /// SOPK: a literal follows and is the source.
    pub const LITERAL: u64 = 1 << 12;
    /// SOPP, DS: the immediate is reserved.
    pub const NO_IMM: u64 = 1 << 13;
    /// SOPP: the immediate is printed unless 0.
    pub const OPTIONAL_IMM: u64 = 1 << 14;
    /// SOPP: the immediate holds wait counts.
    pub const WAITCNT: u64 = 1 << 15;
    /// SOPP: the immediate is a message.
    pub const SENDMSG: u64 = 1 << 16;
    /// SOPC, SOPP: the immediate (or second source field) is a set of GPR-index modes.
    pub const GPR_IDX: u64 = 1 << 17;
    /// Memory is written from `dst` (SMEM, MUBUF) or vdata, and nothing returns.
    pub const STORE: u64 = 1 << 18;
    /// An atomic: `dst` receives the old value if the glc bit is set.
    pub const ATOMIC: u64 = 1 << 19;
    /// SMEM: no address operands.
    pub const NO_ADDR: u64 = 1 << 20;
    /// SMEM: the sdata field is a number.
    pub const PROBE: u64 = 1 << 21;
    /// Memory to LDS or back.
    pub const LDS: u64 = 1 << 22;
    /// MUBUF: cache maintenance, no operands.
    pub const CACHE: u64 = 1 << 23;
    /// DS: two 8-bit offsets.
    pub const OFFSET2: u64 = 1 << 24;
    /// DS: exists for GDS only.
    pub const GDS: u64 = 1 << 25;
    /// SDWA: no destination selection (its field holds DWORD).
    pub const NO_DST_SEL: u64 = 1 << 32;
    /// VOP3: op_sel bits 2 and 3 select the byte of the destination.
    pub const BYTE_SEL: u64 = 1 << 33;
    /// VOP3: op_sel is neither printed nor used, but a bit of a source that is missing is reserved.
    pub const OP_SEL_IGNORED: u64 = 1 << 34;
    /// VOP3: neg, abs and omod together are a table of eight bits.
    pub const BITOP3: u64 = 1 << 35;
    /// VOP3: the bits of op_sel mean fi and bound_ctrl.
    pub const PERMLANE: u64 = 1 << 36;
    /// DS: does not exist for GDS.
    pub const NO_GDS: u64 = 1 << 31;
    /// An atomic on floats, which came with gfx90a: some of its cache bits are reserved there.
    pub const FLOAT: u64 = 1 << 30;
    /// DS: the offset is a swizzle pattern.
    pub const SWIZZLE: u64 = 1 << 26;
    /// VOP3P: matrix instruction (cbsz, abid, blgp; AGPR bits).
    pub const MFMA: u64 = 1 << 27;
    /// VOP3P: sparse matrix instruction (accumulates into `dst`, source 2 is the index).
    pub const SPARSE: u64 = 1 << 28;
    /// VOP3P: v_accvgpr_read and v_accvgpr_write.
    pub const ACCVGPR: u64 = 1 << 29;
    /// GLOBAL: the address is SADDR and the lane's number.
    pub const ADDTID: u64 = 1 << 42;
    /// SMEM: nothing is read but caches.
    pub const PREFETCH: u64 = 1 << 43;
    /// SOPK: waits, for what the register and the immediate count.
    pub const WAIT: u64 = 1 << 44;
    /// SOPP: the immediate says what the next instructions wait for.
    pub const DELAY: u64 = 1 << 45;
    /// SOPP: the immediate holds counts of the vector units.
    pub const DEPCTR: u64 = 1 << 46;
    /// SOPP: the immediate is written in hexadecimal digits.
    pub const HEX: u64 = 1 << 49;
    /// SOPK: the immediate says what the program is for.
    pub const VERSION: u64 = 1 << 50;
    /// Constants of 16 bits are written as those of the type of the result.
    pub const OTHER_CONSTANTS: u64 = 1 << 51;
    /// VOP3P: neg says which sources are signed.
    pub const NEG_SIGN: u64 = 1 << 47;
    /// VOP3P: matrix instruction of RDNA.
    pub const WMMA: u64 = 1 << 48;
    /// VOP3P: matrix instruction whose cbsz and blgp are the formats of A and B, and that [`LD_SCALE`] can precede.
    pub const F8F6F4: u64 = 1 << 40;
    /// VOP3P: the scales of the matrix instruction that follows.
    pub const LD_SCALE: u64 = 1 << 41;
}
