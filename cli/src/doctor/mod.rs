//! `aqlipse doctor`: what is wrong with a graph and what would help, and what devices have.

mod graph;
mod memory;
mod packets;
mod picture;
mod queues;
mod report;

use std::error::Error;

use clap::Subcommand;

/// What is looked at.
#[derive(Subcommand)]
pub enum Examination {
    /// Say what a graph that was made executable is made of, which edges it does not need, and how it differs from another.
    Graph(graph::Request),
    /// Say how many bytes a graph's memory takes, what is alive at the peak, and which missing edge or free blocks reuse.
    Memory(memory::Request),
    /// Say what each packet of a graph waits for, acquires and releases, as an executable publishes them.
    Packets(packets::Request),
    /// Say how many hardware queues the runtime takes of each device.
    Queues,
}

/// Looks at it.
pub fn run(examination: &Examination) -> Result<(), Box<dyn Error>> {
    match examination {
        Examination::Graph(request) => graph::run(request),
        Examination::Memory(request) => memory::run(request),
        Examination::Packets(request) => packets::run(request),
        Examination::Queues => Ok(queues::run()?),
    }
}
