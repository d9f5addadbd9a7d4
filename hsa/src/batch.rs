//! A run of packets for one queue, and what it consists of.
#![forbid(unsafe_code)]

use crate::packet::{Kind, Packet};

/// How many packets of each kind a batch has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kernel dispatches.
    pub kernel_dispatch: usize,
    /// Barrier-AND packets.
    pub barrier_and: usize,
    /// Barrier-OR packets.
    pub barrier_or: usize,
    /// AMD's barrier-value packets.
    pub barrier_value: usize,
    /// Packets of any other kind.
    pub other: usize,
    /// Packets of whatever kind whose barrier bit is set.
    pub barrier_bits: usize,
}

impl Counts {
    /// Packets of all kinds.
    pub fn packets(&self) -> usize {
        self.kernel_dispatch + self.barrier_and + self.barrier_or + self.barrier_value + self.other
    }

    /// Counts a packet.
    pub fn add(&mut self, packet: &Packet) {
        let header = packet.header().ok();
        *match header.map(|header| header.kind) {
            Some(Kind::KernelDispatch) => &mut self.kernel_dispatch,
            Some(Kind::BarrierAnd) => &mut self.barrier_and,
            Some(Kind::BarrierOr) => &mut self.barrier_or,
            Some(Kind::VendorSpecific) if packet.is_barrier_value() => &mut self.barrier_value,
            _ => &mut self.other,
        } += 1;
        self.barrier_bits += usize::from(header.is_some_and(|header| header.fences.barrier));
    }
}

impl core::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.kernel_dispatch += other.kernel_dispatch;
        self.barrier_and += other.barrier_and;
        self.barrier_or += other.barrier_or;
        self.barrier_value += other.barrier_value;
        self.other += other.other;
        self.barrier_bits += other.barrier_bits;
    }
}

/// Packets in the order in which one queue receives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    packets: Vec<Packet>,
}

impl Batch {
    /// An empty batch.
    pub const fn new() -> Self {
        Self { packets: Vec::new() }
    }

    /// An empty batch with room for `packets`.
    pub fn with_capacity(packets: usize) -> Self {
        Self { packets: Vec::with_capacity(packets) }
    }

    /// Appends a packet and returns its index.
    pub fn push(&mut self, packet: Packet) -> usize {
        self.packets.push(packet);
        self.packets.len() - 1
    }

    /// Number of packets.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Whether there is no packet.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The image, ready for a ring.
    pub fn packets(&self) -> &[Packet] {
        &self.packets
    }

    /// The image, to be patched in place.
    pub fn packets_mut(&mut self) -> &mut [Packet] {
        &mut self.packets
    }

    /// Counts the packets of each kind as they are now.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for packet in &self.packets {
            counts.add(packet);
        }
        counts
    }
}

impl Extend<Packet> for Batch {
    fn extend<T: IntoIterator<Item = Packet>>(&mut self, packets: T) {
        self.packets.extend(packets);
    }
}

impl FromIterator<Packet> for Batch {
    fn from_iter<T: IntoIterator<Item = Packet>>(packets: T) -> Self {
        Self { packets: packets.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Condition;
    use crate::packet::{BarrierAnd, BarrierOr, BarrierValue, Fences, KernelDispatch, NO_SIGNAL};

    #[test]
    fn counts_follow_the_packets() {
        let mut batch = Batch::new();
        let kernel =
            KernelDispatch { fences: Fences::AGENT, ..KernelDispatch::new(0x1000) }.packet().unwrap();
        assert_eq!(batch.push(kernel), 0);
        assert_eq!(batch.push(BarrierAnd::default().packet()), 1);
        batch.extend([kernel, BarrierOr { fences: Fences::SYSTEM, ..BarrierOr::default() }.packet()]);
        batch.push(
            BarrierValue {
                fences: Fences::NONE,
                signal: NO_SIGNAL,
                value: 1,
                mask: -1,
                condition: Condition::Equal,
                completion: NO_SIGNAL,
            }
            .packet(),
        );
        batch.push(Packet::INVALID);
        let counts = Counts {
            kernel_dispatch: 2,
            barrier_and: 1,
            barrier_or: 1,
            barrier_value: 1,
            other: 1,
            barrier_bits: 3,
        };
        assert_eq!(batch.counts(), counts);
        assert_eq!(counts.packets(), batch.len());
        batch.packets_mut()[0].set_fences(Fences::NONE).unwrap();
        assert_eq!(batch.counts().barrier_bits, 2);
    }
}
