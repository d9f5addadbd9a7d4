//! Integration tests of the emulator: one binary, a module per topic.

mod harness;
mod hsa;
mod isa;
mod matrix;
mod objects;
mod programs;
mod random;
mod valu;
mod wave;
