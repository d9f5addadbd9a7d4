//! What packets, barriers and signals cost: data, one file for each device family, with its sources.
//!
//! The files stand in `graph/src/schedule/costs/`; `aqlipse calibrate` measures a device and writes another one, which
//! `AQLIPSE_COSTS` names.

mod file;

use std::sync::LazyLock;

pub use file::{CostFile, FileError, Reason};

use super::Class;

/// Times by which plans are compared and simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostTable {
    /// Compute units of the device.
    pub compute_units: u32,
    /// Nanoseconds between two packets that the packet processors launch, over all queues of a device together.
    pub packet_ns: u32,
    /// Nanoseconds from a packet's completion to the start of a packet behind its barrier bit, in the same queue, that
    /// acquires nothing.
    pub dependent_ns: u32,
    /// Nanoseconds from a packet's completion to the start of a packet that waits for its signal in another queue, the
    /// barrier-AND packet and the acquire with it.
    pub cross_queue_ns: u32,
    /// Nanoseconds from a packet's completion to the start of a host call that waits for its signal.
    pub host_wake_ns: u32,
    /// A kernel of unknown duration, in nanoseconds.
    pub kernel_ns: u32,
    /// A host call of unknown duration, in nanoseconds.
    pub host_call_ns: u32,
    /// Nanoseconds by which a packet starts later because it acquires, at agent or at system scope.
    pub acquire_ns: u32,
    /// Nanoseconds by which a kernel takes longer because its arguments lie in the host's memory, not in the device's.
    pub first_load_ns: u32,
    /// Nanoseconds by which packets behind a barrier bit start later because the completion before raises an interrupt.
    pub interrupt_ns: u32,
}

/// CDNA 2.
pub static CDNA2: LazyLock<CostFile> = LazyLock::new(|| shipped(include_str!("../costs/gfx90a.tsv")));

/// CDNA 3 and, until someone measures them, all families without a file.
pub static CDNA3: LazyLock<CostFile> = LazyLock::new(|| shipped(include_str!("../costs/gfx942.tsv")));

/// Parses a file of this source tree.
fn shipped(text: &str) -> CostFile {
    // PANIC: a test parses each of them.
    CostFile::parse(text).expect("a cost file of the source tree")
}

impl Default for CostTable {
    fn default() -> Self {
        CDNA3.table
    }
}

impl CostTable {
    /// The table of the source tree for a target such as `gfx90a:sramecc+:xnack-`.
    pub fn of_target(target: &str) -> Self {
        [&CDNA2, &CDNA3].iter().find(|file| file.serves(target)).unwrap_or(&&CDNA3).table
    }

    /// From a packet's completion to the start of one behind its barrier bit that acquires what it has released.
    #[inline]
    pub(super) fn behind_ns(&self) -> u32 {
        self.dependent_ns.saturating_add(self.acquire_ns)
    }

    /// What a signal takes on its way to another queue: a crossing less the launch of the barrier packet there.
    #[inline]
    pub fn way_ns(&self) -> u32 {
        self.cross_queue_ns.saturating_sub(self.packet_ns)
    }

    /// From a packet's completion to the start of one that waits for its signal in another queue. The packet acquires
    /// while the dispatcher is busy with the barrier packet before it.
    #[inline]
    pub(super) fn across_ns(&self) -> u32 {
        self.cross_queue_ns.max(self.way_ns().saturating_add(self.acquire_ns))
    }

    /// The table for kernels whose arguments lie in the host's memory: those of unknown duration take longer.
    pub fn with_host_arguments(self) -> Self {
        Self { kernel_ns: self.kernel_ns.saturating_add(self.first_load_ns), ..self }
    }

    /// The duration of a node of which nothing is known, in nanoseconds.
    #[inline]
    pub fn guess(&self, class: Class) -> u32 {
        match class {
            Class::Packet => self.kernel_ns,
            Class::Host => self.host_call_ns,
            Class::Join => 0,
        }
    }

    /// Whether a plan that takes so much longer than it must leaves enough for more queues to pay: a fork and a join.
    pub(super) fn worth_more_lanes(&self, above_floor_ns: u64) -> bool {
        above_floor_ns > 2 * u64::from(self.across_ns())
    }
}
