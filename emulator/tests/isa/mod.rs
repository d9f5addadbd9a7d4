//! Decoder and disassembler against LLVM 22, which is run out of process: it crashes on some words.

mod corpus;
mod golden;
mod llvm;
mod oracle;
mod robust;
pub mod words;
