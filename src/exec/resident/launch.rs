//! The packets that launch a graph which lies on the device, and the arguments of their kernels.

#![forbid(unsafe_code)]

use std::mem::offset_of;

use hsa::packet::{Fences, Packet, Scope};
use smallvec::SmallVec;

use crate::{
    device::{Device, fence::PooledSignal, slabs::Block},
    error::Result,
    module::{Dispatch, KernelCode},
};

/// Where device code finds the value of a signal (`amd_hsa_signal.h`).
pub(super) fn value_of(signal: &PooledSignal) -> u64 {
    signal.handle().handle + offset_of!(hsa_sys::amd_signal_t, value) as u64
}

pub(super) const SYSTEM: Fences = Fences { barrier: true, acquire: Scope::System, release: Scope::System };

/// Arguments of the kernels that take part in launches.
pub(super) struct Arguments {
    block: Block,
    used: usize,
}

impl Arguments {
    /// Bytes of those of one kernel.
    const ONE: usize = 64;
    /// Bytes of all.
    pub(super) const BYTES: usize = 2 * Self::ONE;

    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self { block: device.0.kernargs.take(Self::BYTES)?, used: 0 })
    }

    /// A packet that runs so many work-items of a kernel of ours.
    pub(super) fn dispatch(
        &mut self,
        code: &KernelCode,
        items: u16,
        fences: Fences,
        kernargs: Vec<u8>,
    ) -> Result<Packet> {
        self.block.write(self.used, &kernargs);
        let at = self.block.address() + self.used as u64;
        self.used += Self::ONE;
        let dispatch = Dispatch {
            token: 0,
            code: code.clone(),
            grid: [u32::from(items), 1, 1],
            workgroup: [items, 1, 1],
            group_bytes: code.group_bytes(),
            kernargs: kernargs.into(),
        };
        dispatch.packet(fences, at)
    }
}

/// What launches a graph that lies on the device.
pub(super) struct Launch {
    /// For the host, while kernels cannot launch it. The last packet is to have the launch's fence.
    pub(super) alone: SmallVec<[Packet; 2]>,
    /// For the host, when kernels can: such a launch is to be told from theirs.
    pub(super) beside_kernels: SmallVec<[Packet; 2]>,
    /// For a kernel, which has claimed the launch.
    pub(super) by_kernel: Packet,
}
