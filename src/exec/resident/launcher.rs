//! Resident graphs that a kernel publishes: `launch_graph` (`kernels/launcher.cpp`) copies their packets into the device's
//! queues for them.

#![forbid(unsafe_code)]

use std::sync::Arc;

use hsa::packet::{BarrierAnd, NO_SIGNAL, Packet, SignalPlace as Field};

use aqlipse_graph::image::{Image, Source};

use super::launch::{Arguments, Launch, SYSTEM, value_of};
use crate::{
    device::fence::PooledSignal,
    error::Result,
    resident_queues::{Kernels, Queues},
};

/// Work-items of the kernel: one wave, or two of which the second ends at once.
const WAVE: u16 = 64;

/// The packets that launch the graph at `base`, whose launches end with `end`: the kernel, and a wait for what it has
/// published. A kernel publishes the former alone, and has claimed the launch.
pub(super) fn launch(
    kernels: &Kernels,
    arguments: &mut Arguments,
    base: u64,
    end: &PooledSignal,
) -> Result<Launch> {
    let mut packet = |claimed: bool| {
        let mut kernargs = base.to_le_bytes().to_vec();
        kernargs.extend(u32::from(claimed).to_le_bytes());
        arguments.dispatch(&kernels.launch, WAVE, SYSTEM, kernargs)
    };
    let by_host = packet(false)?;
    let mut deps = [NO_SIGNAL; 5];
    deps[0] = end.handle();
    // With the barrier bit: before the graph is published the signal says that no launch is in flight.
    let behind = BarrierAnd { fences: SYSTEM, deps, completion: NO_SIGNAL }.packet();
    let by_host = [by_host, behind];
    Ok(Launch { alone: by_host.into(), beside_kernels: by_host.into(), by_kernel: packet(true)? })
}

/// Where things lie in a resident graph, in bytes from its start: `Graph`, the addresses of signals, `Run`s, packets
/// (`kernels/launcher.cpp`).
pub(super) struct Layout {
    signals: usize,
    runs: usize,
    /// By lane.
    packets: Vec<usize>,
    pub(super) bytes: usize,
}

impl Layout {
    const GRAPH: usize = 40;
    const RUN: usize = 48;

    pub(super) fn of(image: &Image) -> Self {
        let signals = Self::GRAPH;
        let runs = signals + image.signals as usize * 8;
        let mut bytes = (runs + image.runs.len() * Self::RUN).next_multiple_of(size_of::<Packet>());
        let mut packets = Vec::with_capacity(image.lanes.len());
        for lane in &image.lanes {
            packets.push(bytes);
            bytes += size_of_val(&lane.packets[..]);
        }
        Self { signals, runs, packets, bytes }
    }

    /// The bytes of a graph that will lie at `base`.
    pub(super) fn write(
        &self,
        image: &Image,
        queues: &Queues,
        signals: &[Arc<PooledSignal>],
        end: &PooledSignal,
        base: u64,
    ) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes);
        let header = [value_of(end), queues.lock(), base + self.signals as u64, base + self.runs as u64];
        bytes.extend(header.into_iter().flat_map(u64::to_le_bytes));
        bytes.extend(image.signals.to_le_bytes());
        // CAST: there are no more runs than packets, whose places have 32 bits.
        bytes.extend((image.runs.len() as u32).to_le_bytes());
        bytes.extend(signals.iter().flat_map(|signal| value_of(signal).to_le_bytes()));
        for run in &image.runs {
            let queue = queues.lane(run.lane as usize);
            let packets = self.packets[run.lane as usize] + run.start as usize * size_of::<Packet>();
            let words =
                [queue.ring, queue.write_index, queue.read_index, queue.doorbell, base + packets as u64];
            bytes.extend(words.into_iter().flat_map(u64::to_le_bytes));
            bytes.extend(queue.slots.to_le_bytes());
            bytes.extend((run.end - run.start).to_le_bytes());
        }
        for (number, lane) in image.lanes.iter().enumerate() {
            bytes.resize(self.packets[number], 0);
            let mut packets = lane.packets.clone();
            for patch in &lane.patches {
                // Event nodes are refused: all that is filled in is the launch's own.
                let Source::Launch(signal) = patch.source else { continue };
                set_signal(&mut packets[patch.packet as usize], patch.field, &signals[signal as usize]);
            }
            if let (0, Some(last)) = (number, packets.last_mut()) {
                last.set_completion_signal(end.handle());
            }
            bytes
                .extend(packets.iter().flat_map(|packet| packet.words()).flat_map(|word| word.to_le_bytes()));
        }
        bytes
    }
}

fn set_signal(packet: &mut Packet, field: Field, signal: &PooledSignal) {
    let mut words = *packet.words();
    let (double, handle) = (2 * field.double(), signal.handle().handle);
    // CAST: the two halves of the handle.
    (words[double], words[double + 1]) = (handle as u32, (handle >> 32) as u32);
    *packet = Packet::from_words(words);
}
