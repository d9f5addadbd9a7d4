//! What packets, barriers and signals cost: data, with its sources.

/// Times in nanoseconds by which plans are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostTable {
    /// The device family that the table is for.
    pub family: &'static str,
    /// Between two packets that the packet processors launch, over all queues together.
    pub packet_ns: u32,
    /// From a packet's completion to the start of a packet behind its barrier bit, in the same queue.
    pub dependent_ns: u32,
    /// From a packet's completion to the start of a packet that waits for its signal in another queue.
    pub cross_queue_ns: u32,
    /// From a packet's completion to the start of a host call that waits for its signal.
    pub host_wake_ns: u32,
    /// A kernel of unknown duration.
    pub kernel_ns: u32,
    /// A host call of unknown duration.
    pub host_call_ns: u32,
}

/// CDNA 3 and, until someone measures them, all others.
///
/// | value | source |
/// |---|---|
/// | `packet_ns` | GraphBench, synchronous, full2 and full4 with 8192 nodes on MI300X: 0.87 and 0.86 us a node |
/// | `dependent_ns` | rocm-systems#11282, graph of empty kernels on MI300X: 1.381 us a packet |
/// | `cross_queue_ns` | GraphBench, one node 22 us, paths2 38 us, paths4 48 us end to end: 10 to 16 us for one fork and one join, of which the smaller is halved |
/// | the others | assumed |
pub const CDNA3: CostTable = CostTable {
    family: "gfx942",
    packet_ns: 870,
    dependent_ns: 1_400,
    cross_queue_ns: 5_000,
    host_wake_ns: 10_000,
    kernel_ns: 5_000,
    host_call_ns: 5_000,
};

impl Default for CostTable {
    fn default() -> Self {
        CDNA3
    }
}

impl CostTable {
    /// Whether a plan of this duration leaves enough above the floor for more queues to pay: a fork and a join, and
    /// a tenth of the floor, which is what the estimates may be wrong by.
    pub(super) fn worth_more_lanes(&self, estimate_ns: u64, floor_ns: u64) -> bool {
        estimate_ns > floor_ns + floor_ns / 10 + 2 * u64::from(self.cross_queue_ns)
    }
}
