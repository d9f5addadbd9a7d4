//! Machine words to [`Inst`].
//!
//! What is accepted is what LLVM's disassembler accepts for the same target (see `emulator/tests/isa`), and no
//! input panics: the decoder is the first defence against a corrupt code object.

mod memory;
mod operand;
mod rdna;
mod scalar;
mod vector;

use std::sync::OnceLock;

use super::{
    inst::{Form, Inst, Memory, Mods, Operand, Variant},
    row::{Family, Row, Target},
    table,
};

/// Words that are no instruction of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {position}: {kind}")]
pub struct DecodeError {
    /// Byte at fault: the instruction, or the missing dword of one that is cut short.
    pub position: usize,
    /// What is wrong with it.
    pub kind: DecodeErrorKind,
}

/// Why words are no instruction of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The words end before the instruction does.
    #[error("the instruction is cut short")]
    Truncated,
    /// No encoding family starts with these bits.
    #[error("{word:#010x} starts no known encoding")]
    Encoding {
        /// The first word.
        word: u32,
    },
    /// A graphics instruction: MIMG, VINTRP or EXP.
    #[error("{encoding} is not a compute instruction")]
    NotCompute {
        /// The encoding's name.
        encoding: &'static str,
    },
    /// The family has no such opcode on this target.
    #[error("{family:?} has no opcode {opcode:#x}")]
    Opcode {
        /// Encoding family.
        family: Family,
        /// Opcode within it.
        opcode: u16,
    },
    /// The instruction exists, but not with these operands or reserved bits.
    #[error("{name} with a reserved operand or bit")]
    Reserved {
        /// Mnemonic.
        name: &'static str,
    },
}

/// Decodes the instruction that starts at `words[0]`; no GFX9 instruction needs more than four words, and words
/// behind it are ignored.
///
/// ```
/// use emulator::isa::{Target, decode, disassemble};
///
/// let inst = decode(Target::Gfx90a, &[0xbe84_00ff, 0x1234_5678]).unwrap();
/// assert_eq!(inst.size, 8);
/// assert_eq!(disassemble(&inst, Target::Gfx90a), "s_mov_b32 s4, 0x12345678");
/// ```
///
/// # Errors
/// [`DecodeError`] where the words are no compute instruction of `target`, or end within one.
pub fn decode(target: Target, words: &[u32]) -> Result<Inst, DecodeError> {
    let Some(&word0) = words.first() else {
        return Err(DecodeError { position: 0, kind: DecodeErrorKind::Truncated });
    };
    let word = |n: usize| words.get(n).copied();
    let fetch = Fetch { target, word0, word1: word(1), word2: word(2), word3: word(3) };
    let decoded = if target.is_rdna() { rdna::decode(&fetch) } else { gfx9(&fetch) };
    decoded.map(|inst| Inst { form: Form::of(&inst), ..inst }).map_err(|kind| {
        let position = if kind == DecodeErrorKind::Truncated { 4 * words.len() } else { 0 };
        DecodeError { position, kind }
    })
}

fn gfx9(fetch: &Fetch) -> Decoded {
    let word0 = fetch.word0;
    match word0 >> 23 {
        0x17d => scalar::sop1(fetch),
        0x17e => scalar::sopc(fetch),
        0x17f => scalar::sopp(fetch),
        0x160..=0x17c => scalar::sopk(fetch),
        0x100..=0x15f => scalar::sop2(fetch),
        0x1a7 => vector::vop3p(fetch),
        _ => match word0 >> 25 {
            0x3f => vector::vop1(fetch),
            0x3e => vector::vopc(fetch),
            0x00..=0x3d => vector::vop2(fetch),
            _ => match word0 >> 26 {
                0x30 => memory::smem(fetch),
                0x31 => Err(DecodeErrorKind::NotCompute { encoding: "EXP" }),
                0x34 => vector::vop3(fetch),
                0x35 => Err(DecodeErrorKind::NotCompute { encoding: "VINTRP" }),
                0x36 => memory::ds(fetch),
                0x37 => memory::flat(fetch),
                0x38 => memory::mubuf(fetch),
                0x3a => memory::mtbuf(fetch),
                0x3c => Err(DecodeErrorKind::NotCompute { encoding: "MIMG" }),
                _ => Err(DecodeErrorKind::Encoding { word: word0 }),
            },
        },
    }
}

/// The halves of a dual-issue instruction of RDNA 3 or 4, decoded as [`decode`] does; `None` if the words are none.
pub fn halves(target: Target, words: &[u32]) -> Option<[Inst; 2]> {
    let &[word0, word1, ref rest @ ..] = words else { return None };
    let fetch = Fetch { target, word0, word1: Some(word1), word2: rest.first().copied(), word3: None };
    let halves = (target.is_rdna() && word0 >> 26 == 0x32).then(|| rdna::halves(&fetch).ok())??;
    Some(halves.map(|inst| Inst { form: Form::of(&inst), ..inst }))
}

/// Decodes `words` from end to end: yields the index of each instruction's first word with the instruction, and
/// goes on one word later where there is none. [`DecodeError::position`] counts from `words[0]`.
pub fn decode_all(
    target: Target,
    words: &[u32],
) -> impl Iterator<Item = (usize, Result<Inst, DecodeError>)> + '_ {
    let mut next = 0;
    std::iter::from_fn(move || {
        let index = next;
        let rest = words.get(index..).filter(|rest| !rest.is_empty())?;
        let decoded = decode(target, rest).map_err(|e| DecodeError { position: e.position + 4 * index, ..e });
        next += decoded.as_ref().map_or(1, |inst| usize::from(inst.size / 4));
        Some((index, decoded))
    })
}

/// Opcodes are at most 10 bits wide.
const OPCODES: usize = 1024;

/// Rows by family and opcode, as one target has them.
struct Index {
    families: [[Option<&'static Row>; OPCODES]; table::rdna::TABLES.len()],
}

impl Index {
    fn of(target: Target) -> &'static Self {
        static INDEXES: [OnceLock<Box<Index>>; Target::ALL.len()] = [const { OnceLock::new() }; _];
        INDEXES[target as usize].get_or_init(|| {
            let mut index = Box::new(Self { families: [[None; OPCODES]; table::rdna::TABLES.len()] });
            for (family, rows) in table::of(target) {
                for row in rows.iter().filter(|row| row.targets.has(target)) {
                    index.families[*family as usize][usize::from(row.opcode_on(target))] = Some(row);
                }
            }
            index
        })
    }
}

/// The words at hand.
struct Fetch {
    target: Target,
    word0: u32,
    word1: Option<u32>,
    word2: Option<u32>,
    word3: Option<u32>,
}

/// What the decoders of the families return; positions are added by [`decode`].
type Decoded<T = Inst> = Result<T, DecodeErrorKind>;

impl Fetch {
    fn row(&self, family: Family, opcode: u32) -> Decoded<&'static Row> {
        // CAST: opcode fields are at most 10 bits wide.
        let opcode = opcode as u16;
        Index::of(self.target).families[family as usize]
            .get(usize::from(opcode))
            .copied()
            .flatten()
            .ok_or(DecodeErrorKind::Opcode { family, opcode })
    }

    /// Bits `high..=low` of the first word.
    fn lo(&self, high: u32, low: u32) -> u32 {
        bits(self.word0, high, low)
    }

    fn second(&self) -> Decoded<u32> {
        self.word1.ok_or(DecodeErrorKind::Truncated)
    }

    fn third(&self) -> Decoded<u32> {
        self.word2.ok_or(DecodeErrorKind::Truncated)
    }

    /// An instruction without operands, to be filled in.
    fn inst(&self, row: &'static Row) -> Inst {
        Inst {
            row,
            dst: Operand::NONE,
            sdst: Operand::NONE,
            src: [Operand::NONE; 3],
            variant: Variant::Plain,
            size: 4,
            form: Form::default(),
            mods: Mods::default(),
            imm: 0,
            memory: Memory::default(),
            literal: 0,
            word0: self.word0,
            word1: 0,
        }
    }

    /// As [`Fetch::inst`], for an instruction of two words.
    fn inst8(&self, row: &'static Row) -> Decoded {
        Ok(Inst { size: 8, word1: self.second()?, ..self.inst(row) })
    }

    /// Appends the literal if one of the sources asks for it.
    fn with_literal(&self, mut inst: Inst) -> Decoded {
        if inst.src.contains(&Operand::LITERAL) || inst.dst == Operand::LITERAL {
            inst.literal = self.second()?;
            inst.size = 8;
        }
        Ok(inst)
    }
}

impl Fetch {
    /// As [`Fetch::with_literal`], of an instruction of two words, which has no literal beside a DPP word.
    fn with_third_literal(&self, mut inst: Inst) -> Decoded {
        if inst.src.contains(&Operand::LITERAL) {
            require(inst.size == 8, inst.row)?;
            inst.literal = self.third()?;
            inst.size = 12;
        }
        Ok(inst)
    }
}

/// Bits `high..=low` of `word`.
fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & (u32::MAX >> (31 - (high - low)))
}

/// `Reserved` unless `ok`.
fn require(ok: bool, row: &'static Row) -> Decoded<()> {
    if ok { Ok(()) } else { Err(DecodeErrorKind::Reserved { name: row.name }) }
}

/// The operand, or `Reserved`.
fn operand(operand: Option<Operand>, row: &'static Row) -> Decoded<Operand> {
    operand.ok_or(DecodeErrorKind::Reserved { name: row.name })
}

#[cfg(test)]
mod tests;
