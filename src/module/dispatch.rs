//! One kernel dispatch, ready to become a packet: what kernel launches, copies and fills all come down to.

use hsa::packet::{Fences, KernelDispatch, Packet};

use super::KernelCode;
use crate::{error::Result, hostcall::fifo::Fifo};
use aqlipse_graph::Kernargs;

/// A kernel dispatch whose kernel arguments are packed but not placed in device-visible memory yet.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    /// The kernel.
    pub(crate) code: KernelCode,
    /// The word by which its owner knows the kernel; 0 for one of ours.
    pub(crate) token: usize,
    /// Work-items in x, y, z.
    pub(crate) grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub(crate) workgroup: [u16; 3],
    /// Bytes of LDS for a workgroup.
    pub(crate) group_bytes: u32,
    /// The kernarg segment.
    pub(crate) kernargs: Kernargs,
}

impl Dispatch {
    /// Fills a hidden argument in, if the kernel has it.
    pub(crate) fn set_hidden(&mut self, kind: &loader::ValueKind, value: u64) {
        self.code.put_hidden(&mut self.kernargs, kind, value);
    }

    /// Lets the kernel, which prints without calling the host, print to `fifo`.
    pub(crate) fn print_to(&mut self, fifo: &Fifo) {
        fifo.know(self.code.formats());
        self.set_hidden(&loader::ValueKind::HiddenPrintfBuffer, fifo.address());
    }

    /// Blocks of the grid, if all of them are resident at once.
    pub(crate) fn resident_blocks(&self) -> u32 {
        let blocks =
            self.grid.iter().zip(self.workgroup).map(|(&items, size)| items.div_ceil(u32::from(size)));
        blocks.fold(1, u32::saturating_mul)
    }

    /// Threads of those.
    pub(crate) fn resident_threads(&self) -> u64 {
        self.grid.iter().map(|&items| u64::from(items)).fold(1, u64::saturating_mul)
    }

    /// The packet, with its kernel arguments at `kernarg` and nothing to signal.
    ///
    /// # Errors
    /// [`Error::Hsa`](crate::Error::Hsa) for a grid without work-items.
    #[inline]
    pub(crate) fn packet(&self, fences: Fences, kernarg: u64) -> Result<Packet> {
        let packet = KernelDispatch {
            fences,
            grid: self.grid,
            workgroup: self.workgroup,
            group_segment: self.group_bytes,
            private_segment: self.code.private_bytes(),
            kernarg_address: kernarg,
            ..KernelDispatch::new(self.code.object())
        };
        Ok(packet.packet().map_err(hsa::Error::from)?)
    }
}
