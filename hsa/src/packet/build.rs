//! Typed builders of packets.
#![forbid(unsafe_code)]

use hsa_sys::{HSA_AMD_PACKET_TYPE_BARRIER_VALUE, hsa_signal_t, hsa_signal_value_t};

use super::{BARRIER_DEPS, Fences, Header, Kind, NO_SIGNAL, Packet, PacketError};
use crate::condition::Condition;

/// Runs a kernel over a grid (HSA Runtime 1.2, 2.9.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDispatch {
    /// When it starts and what it makes visible.
    pub fences: Fences,
    /// Work-items in x, y and z; each at least 1.
    pub grid: [u32; 3],
    /// Work-items of one workgroup in x, y and z; each at least 1.
    pub workgroup: [u16; 3],
    /// Private memory a work-item, in bytes.
    pub private_segment: u32,
    /// Group memory a workgroup, static and dynamic, in bytes.
    pub group_segment: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the kernel arguments.
    pub kernarg_address: u64,
    /// Signal that is decremented at completion, or [`NO_SIGNAL`].
    pub completion: hsa_signal_t,
}

impl KernelDispatch {
    /// A dispatch of one work-item without fences, arguments or completion signal, to start from.
    pub const fn new(kernel_object: u64) -> Self {
        Self {
            fences: Fences::NONE,
            grid: [1; 3],
            workgroup: [1; 3],
            private_segment: 0,
            group_segment: 0,
            kernel_object,
            kernarg_address: 0,
            completion: NO_SIGNAL,
        }
    }

    /// Encodes the packet.
    ///
    /// # Errors
    /// [`PacketError::EmptyDimension`] if the grid or the workgroup has no work-item.
    #[inline]
    pub fn packet(&self) -> Result<Packet, PacketError> {
        if let Some(dimension) = self.grid.iter().position(|size| *size == 0) {
            return Err(PacketError::EmptyDimension { what: "grid", dimension });
        }
        if let Some(dimension) = self.workgroup.iter().position(|size| *size == 0) {
            return Err(PacketError::EmptyDimension { what: "workgroup", dimension });
        }
        let used = |dimension: usize| self.grid[dimension] > 1 || self.workgroup[dimension] > 1;
        let dimensions = if used(2) {
            3
        } else if used(1) {
            2
        } else {
            1
        };
        let mut packet = image(Kind::KernelDispatch, self.fences, dimensions, self.completion);
        let [x, y, z] = self.workgroup.map(u32::from);
        packet.0[1] = x | y << 16;
        packet.0[2] = z;
        packet.0[3..6].copy_from_slice(&self.grid);
        packet.0[6] = self.private_segment;
        packet.0[7] = self.group_segment;
        packet.set_double(8, self.kernel_object);
        packet.set_double(10, self.kernarg_address);
        Ok(packet)
    }
}

/// Waits for all of up to five signals to become 0 (HSA Runtime 1.2, 2.9.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierAnd {
    /// When it starts and what it makes visible.
    pub fences: Fences,
    /// Signals to wait for; [`NO_SIGNAL`] counts as met.
    pub deps: [hsa_signal_t; BARRIER_DEPS],
    /// Signal that is decremented at completion, or [`NO_SIGNAL`].
    pub completion: hsa_signal_t,
}

impl BarrierAnd {
    /// Encodes the packet.
    pub fn packet(&self) -> Packet {
        barrier(Kind::BarrierAnd, self.fences, &self.deps, self.completion)
    }
}

/// Waits for any of up to five signals to become 0 (HSA Runtime 1.2, 2.9.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierOr {
    /// When it starts and what it makes visible.
    pub fences: Fences,
    /// Signals to wait for; [`NO_SIGNAL`] is not waited for.
    pub deps: [hsa_signal_t; BARRIER_DEPS],
    /// Signal that is decremented at completion, or [`NO_SIGNAL`].
    pub completion: hsa_signal_t,
}

impl BarrierOr {
    /// Encodes the packet.
    pub fn packet(&self) -> Packet {
        barrier(Kind::BarrierOr, self.fences, &self.deps, self.completion)
    }
}

/// Waits until `(signal value & mask)` stands in a relation to a value (`hsa_ext_amd.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierValue {
    /// When it starts and what it makes visible.
    pub fences: Fences,
    /// Signal to wait for.
    pub signal: hsa_signal_t,
    /// Value to compare with.
    pub value: hsa_signal_value_t,
    /// Bits of the signal's value that are compared.
    pub mask: hsa_signal_value_t,
    /// Relation that ends the wait.
    pub condition: Condition,
    /// Signal that is decremented at completion, or [`NO_SIGNAL`].
    pub completion: hsa_signal_t,
}

impl BarrierValue {
    /// Encodes the packet.
    pub fn packet(&self) -> Packet {
        // CAST: AMD's packet format is one byte; the byte above it is reserved.
        let format = HSA_AMD_PACKET_TYPE_BARRIER_VALUE.0 as u16;
        let mut packet = image(Kind::VendorSpecific, self.fences, format, self.completion);
        packet.set_double(2, self.signal.handle);
        // CAST: signal values are signed, packets carry their bits.
        packet.set_double(4, self.value as u64);
        packet.set_double(6, self.mask as u64);
        packet.0[8] = self.condition.code().0;
        packet
    }
}

fn barrier(
    kind: Kind,
    fences: Fences,
    deps: &[hsa_signal_t; BARRIER_DEPS],
    completion: hsa_signal_t,
) -> Packet {
    let mut packet = image(kind, fences, 0, completion);
    for (index, signal) in deps.iter().enumerate() {
        packet.set_double(2 + 2 * index, signal.handle);
    }
    packet
}

/// The fields that all packets share; `upper` is the half word behind the header.
pub(super) fn image(kind: Kind, fences: Fences, upper: u16, completion: hsa_signal_t) -> Packet {
    let mut packet = Packet([0; 16]);
    packet.0[0] = u32::from(Header { kind, fences }.encode()) | u32::from(upper) << 16;
    packet.set_completion_signal(completion);
    packet
}
