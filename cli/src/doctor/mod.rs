//! `aqlipse doctor`: what is wrong with a graph, and what would help.

mod memory;
mod picture;
mod report;

use std::error::Error;

use clap::Subcommand;

/// What is looked at.
#[derive(Subcommand)]
pub enum Examination {
    /// Say how many bytes a graph's memory takes, what is alive at the peak, and which missing edge or free blocks reuse.
    Memory(memory::Request),
}

/// Looks at it.
pub fn run(examination: &Examination) -> Result<(), Box<dyn Error>> {
    match examination {
        Examination::Memory(request) => memory::run(request),
    }
}
