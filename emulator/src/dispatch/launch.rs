//! The fields of a kernel-dispatch packet that concern the kernel.

use hsa_sys::hsa_kernel_dispatch_packet_t;

/// A kernel launch, by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Work-items per workgroup.
    pub workgroup: [u16; 3],
    /// Work-items in all; need not be a multiple of the workgroup.
    pub grid: [u32; 3],
    /// Bytes of scratch per work-item.
    pub private_bytes: u32,
    /// Bytes of LDS per workgroup.
    pub group_bytes: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the arguments.
    pub kernarg: u64,
    /// Address of the dispatch packet, for kernels that ask for it.
    pub packet: u64,
    /// Address of the queue's `amd_queue_t`, for kernels that ask for it.
    pub queue: u64,
    /// The packet's index in its queue, for kernels that ask for it.
    pub dispatch_id: u64,
}

impl Launch {
    /// The launch that a packet describes. Dimensions beyond those that `setup` counts are 1, whatever the packet
    /// says.
    ///
    /// `address` is where kernels can read the packet, `queue` the `amd_queue_t`.
    pub fn from_packet(
        packet: &hsa_kernel_dispatch_packet_t,
        address: u64,
        queue: u64,
        dispatch_id: u64,
    ) -> Self {
        let dimensions = usize::from(packet.setup & 3);
        let mut workgroup = [packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z];
        let mut grid = [packet.grid_size_x, packet.grid_size_y, packet.grid_size_z];
        for i in dimensions.max(1)..3 {
            (workgroup[i], grid[i]) = (1, 1);
        }
        Self {
            workgroup,
            grid,
            private_bytes: packet.private_segment_size,
            group_bytes: packet.group_segment_size,
            kernel_object: packet.kernel_object,
            kernarg: packet.kernarg_address as u64,
            packet: address,
            queue,
            dispatch_id,
        }
    }
}

/// A launch that cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A dimension of grid or workgroup is 0.
    #[error("a dimension of the grid or of the workgroup is 0")]
    Empty,
    /// More work-items than a workgroup may have.
    #[error("a workgroup of {items} work-items (at most 1024)")]
    WorkgroupSize {
        /// How many.
        items: u32,
    },
    /// More than 2^64 workgroups.
    #[error("the grid has too many workgroups")]
    GridSize,
    /// More LDS than a workgroup can have.
    #[error("{bytes} bytes of group memory (at most {most})")]
    GroupSegment {
        /// How much.
        bytes: u32,
        /// What the card has.
        most: u32,
    },
    /// More scratch than a work-item can have.
    #[error("{bytes} bytes of private memory per work-item (at most 131056)")]
    PrivateSegment {
        /// How much.
        bytes: u32,
    },
    /// The kernel object is misaligned or not in memory that the device can read.
    #[error("kernel object {address:#x} is not readable device memory at a multiple of 64")]
    KernelObject {
        /// What the packet says.
        address: u64,
    },
    /// The entry point is in no loaded code of the device's instruction set.
    #[error("kernel entry {address:#x} is in no loaded code object of this device")]
    Entry {
        /// Where the descriptor points.
        address: u64,
    },
}
