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
    /// Nanoseconds that a copy by a copy engine takes besides those for its bytes.
    pub engine_copy_ns: u32,
    /// Bytes that a copy engine copies across the bus in a microsecond.
    pub engine_bytes_per_us: u32,
    /// Bytes that a kernel copies across the bus in a microsecond.
    pub blit_bytes_per_us: u32,
    /// Copies of fewer bytes are faster by kernel.
    pub engine_min_bytes: u32,
    /// Copies of pageable memory of up to so many bytes go through staging memory; what is larger is pinned.
    pub staged_bytes: u32,
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

/// Nanoseconds for so many bytes at a rate.
fn at_rate(bytes: u64, bytes_per_us: u32) -> u64 {
    bytes.saturating_mul(1000) / u64::from(bytes_per_us.max(1))
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
            Class::Engine(_) => self.engine_copy_ns,
            Class::Join => 0,
        }
    }

    /// How long a copy engine copies so many bytes across the bus, in nanoseconds.
    pub fn engine_ns(&self, bytes: u64) -> u64 {
        u64::from(self.engine_copy_ns).saturating_add(at_rate(bytes, self.engine_bytes_per_us))
    }

    /// How long a kernel copies so many bytes across the bus, in nanoseconds.
    pub fn blit_ns(&self, bytes: u64) -> u64 {
        at_rate(bytes, self.blit_bytes_per_us)
    }

    /// Whether a copy across the bus is better done by an engine than by a kernel, if kernels may run `beside` it or not.
    ///
    /// Beside kernels it is, from some size on: the kernels keep their compute units. An engine that needs more than twice
    /// a kernel's time would hold up what waits for the copy.
    pub fn prefers_engine(&self, bytes: u64, beside: bool) -> bool {
        let kernel = u64::from(self.engine_copy_ns).saturating_add(self.blit_ns(bytes));
        beside
            && bytes >= u64::from(self.engine_min_bytes)
            && self.engine_ns(bytes) <= kernel.saturating_mul(2)
    }

    /// As [`CostTable::prefers_engine`] for a copy on a stream, beside which kernels of other streams may run or not: it is
    /// better done by an engine if the start of one, and the signals to it and back, cost but a sixteenth of the copy.
    pub fn prefers_engine_on_stream(&self, bytes: u64) -> bool {
        let fixed = u64::from(self.engine_copy_ns) + 2 * u64::from(self.cross_queue_ns);
        self.prefers_engine(bytes, true) && 16 * fixed <= at_rate(bytes, self.engine_bytes_per_us)
    }

    /// Whether a plan that takes so much longer than it must leaves enough for more queues to pay: a fork and a join.
    pub(super) fn worth_more_lanes(&self, above_floor_ns: u64) -> bool {
        above_floor_ns > 2 * u64::from(self.across_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_copies_from_a_size_on_and_beside_kernels_only() {
        let table = CostTable { engine_min_bytes: 1000, ..CostTable::default() };
        assert!(!table.prefers_engine(999, true) && table.prefers_engine(1000, true));
        assert!(table.prefers_engine(u64::MAX, true) && !table.prefers_engine(u64::MAX, false));
    }

    #[test]
    fn an_engine_of_less_than_half_the_speed_is_not_used() {
        let at = |engine_bytes_per_us| CostTable {
            engine_copy_ns: 0,
            engine_bytes_per_us,
            blit_bytes_per_us: 20_000,
            engine_min_bytes: 1,
            ..CostTable::default()
        };
        assert!(at(10_000).prefers_engine(1_000_000, true) && !at(9_999).prefers_engine(1 << 30, true));
    }

    #[test]
    fn a_stream_uses_an_engine_where_signals_are_cheap_beside_the_copy() {
        let table = CostTable {
            engine_copy_ns: 6_000,
            cross_queue_ns: 5_000,
            engine_bytes_per_us: 1_000,
            blit_bytes_per_us: 1_000,
            ..CostTable::default()
        };
        // 16 us of signals and start: 256 us of copying.
        let enough = 256_000;
        assert!(table.prefers_engine_on_stream(enough) && !table.prefers_engine_on_stream(enough - 1));
        let never = CostTable { engine_min_bytes: u32::MAX, ..table };
        assert!(!never.prefers_engine_on_stream(enough));
    }

    #[test]
    fn times_of_copies_grow_with_their_bytes_and_do_not_wrap() {
        let table = CostTable::default();
        let fixed = u64::from(table.engine_copy_ns);
        assert_eq!((table.engine_ns(0), table.blit_ns(0)), (fixed, 0));
        assert_eq!(table.engine_ns(u64::from(table.engine_bytes_per_us)), fixed + 1000);
        assert!(table.blit_ns(u64::MAX) >= table.blit_ns(1 << 40));
    }
}
