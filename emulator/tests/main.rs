//! Integration tests of the emulator: one binary, a module per topic.

mod harness;
mod hsa;
mod isa;
mod objects;
mod matrix;
mod valu;
mod wave;
