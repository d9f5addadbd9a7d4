//! Instruction sets of GFX9 and RDNA: one table row per instruction drives decoder, disassembler and dispatch.
//!
//! The last column of a row names the semantics, which `wave` defines: the tables of functions are made there, of the
//! same rows.
//!
//! | module | holds |
//! |---|---|
//! | [`table`] | the rows, a file per encoding family: opcode, mnemonic, targets, operands, semantics |
//! | [`row`] | what a row can say: [`Family`], [`Ty`], [`flag`] |
//! | [`decode`](mod@decode) | words to [`Inst`] |
//! | [`inst`] | a decoded instruction: operands in one numbering, modifiers in one word |
//! | [`disasm`] | [`Inst`] to LLVM's text |
//! | [`mod@format`] | formats of typed buffers |
//!
//! # Adding an instruction
//!
//! 1. **A failing test.** Add the opcode to `tests/data/isa/<target>.tsv`: `isa::golden` now fails and names the
//!    missing row. If LLVM knows the instruction, `isa::oracle` fails on it too, with the words and LLVM's text.
//! 2. **The row.** Write it in `table/<family>.rs`, at its place by opcode:
//!    `511, "v_add3_u32", BOTH, B32 = [B32, B32, B32], 0, None;`. The types say how wide each operand is, how its
//!    constants read and whether it takes `neg` and `abs`; the flags say which bits the encoding defines beyond its
//!    operands. Both TSV files and the operand list of the ISA manual have these facts. `isa::golden` passes, and with
//!    `AQLIPSE_ISA_SAMPLES=1000` `isa::oracle` shows the bits that are still wrong, each as a pair of texts.
//! 3. **The semantics.** Until here a kernel with the instruction stops with an error that names it. Write the
//!    function in `wave` ([`Exec`](crate::wave::Exec) says its type), test it there against values that were computed otherwise, and
//!    replace the row's `None` by `Some(path::to::the_function)`. Nothing else refers to the instruction.
//!
//! An instruction of one target only says `GFX90A`, `GFX942` or `GFX950`, one that came with gfx940 `GFX940`; an
//! opcode that means different things on two has two rows. An encoding that no family's decoder reads yet needs an arm in `decode` first.

pub mod decode;
pub mod disasm;
pub mod format;
pub mod inst;
pub mod row;
pub mod table;

pub use decode::{DecodeError, DecodeErrorKind, decode, decode_all};
pub use disasm::disassemble;
pub use inst::{Inst, Memory, Mods, Operand, Scales, Variant};
pub use row::{Family, Flow, Generation, Row, Shape, Target, Targets, Ty, flag};
