//! Resident graphs whose packets the packet processor takes from where they lie: a launch is one packet that enters an
//! indirect buffer (`docs/conditional-nodes.md` has the format).
//!
//! | packet of the buffer | what it does |
//! |---|---|
//! | 0 | waits until no launch is in flight, and says that one is (`claim_graph`) |
//! | 1 | enters the graph; its completion says that none is in flight any more |
//! | 2 .. | the graph, as an ordinary launch copies it into a ring |
//!
//! Launches by the host follow each other on streams. While kernels cannot launch the graph, a launch by the host enters
//! the graph itself; otherwise it enters the two packets before the graph. Kernels publish packet 1, when they have done
//! what packet 0 does.

#![forbid(unsafe_code)]

use hsa::packet::{Branch, Fences, Packet, Run, Scope};
use smallvec::smallvec;

use aqlipse_graph::image::Image;

use super::launch::{Arguments, Launch, value_of};
use crate::{device::fence::PooledSignal, error::Result, resident_queues::Kernels};

/// Runs within each other at most: the graph, in what claims the launch.
pub(super) const DEPTH: u32 = 2;

/// Packets before those of the graph.
const BEFORE: u32 = 2;

/// Behind all that was launched before. What is visible when is a matter of the graph's own packets: the first acquires and
/// the last releases at system scope, as in a ring.
const BARRIER: Fences = Fences { barrier: true, acquire: Scope::None, release: Scope::None };

/// Bytes of the buffer of an image of one lane.
pub(super) fn bytes(image: &Image) -> usize {
    let packets: usize = image.lanes.iter().map(|lane| size_of_val(&lane.packets[..])).sum();
    packets + BEFORE as usize * size_of::<Packet>()
}

/// The packets that launch the graph in the buffer at `base`, and the buffer's bytes. Launches of which kernels know end
/// with `end`.
pub(super) fn launch(
    image: &Image,
    kernels: &Kernels,
    arguments: &mut Arguments,
    base: u64,
    end: &PooledSignal,
) -> Result<(Launch, Vec<u8>)> {
    let graph = image.lanes.iter().flat_map(|lane| &lane.packets);
    // CAST: places of packets have 32 bits.
    let len = graph.clone().count() as u32;
    let enter = |start, packets| Branch {
        fences: BARRIER,
        if_true: Run { start, len: packets },
        ..Branch::new(base, BEFORE + len)
    };
    let enter_graph = enter(BEFORE, len);
    // The host has just written the kernel's argument.
    let fences = Fences { barrier: true, acquire: Scope::System, release: Scope::None };
    let value = value_of(end).to_le_bytes().to_vec();
    let claim = arguments.dispatch(&kernels.claim, 1, fences, value)?;
    let by_kernel = Branch { completion: end.handle(), ..enter_graph }.packet();
    let launch = Launch {
        alone: smallvec![enter_graph.packet()],
        beside_kernels: smallvec![enter(0, BEFORE).packet()],
        by_kernel,
    };
    let words = [claim, by_kernel];
    let words =
        words.iter().chain(graph).flat_map(|packet| packet.words()).flat_map(|word| word.to_le_bytes());
    Ok((launch, words.collect()))
}
