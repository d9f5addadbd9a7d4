//! Structures that changed after 5.2.3, as ROCr has them since it loads `libdtif.so` (August 2025, runtime 1.18).
//!
//! Later releases append fields to the node's properties; those stay as the caller left them, which is zero in ROCr.
#![allow(non_snake_case, reason = "the names are those of the C header")]
#![allow(missing_docs, reason = "fields keep the header's names; the header describes them")]

use std::{
    ffi::c_void,
    sync::atomic::{AtomicBool, Ordering},
};

use hsa_sys::layout::layout;

use super::{HSA_POINTER_TYPE, HSA_PUBLIC_NAME_SIZE, HSA_QUEUE_TYPE, HsaIoLinkProperties, HsaNodeProperties};

/// A queue of the copy engine that the caller names.
pub const HSA_QUEUE_SDMA_BY_ENG_ID: HSA_QUEUE_TYPE = HSA_QUEUE_TYPE(6);

/// `HsaMemFlags`: memory that gets a name instead of an address.
pub const MEM_NO_ADDRESS: u32 = 1 << 18;
/// `HsaMemFlags`: addresses that get their memory later.
pub const MEM_ONLY_ADDRESS: u32 = 1 << 19;
/// `HSA_REGISTER_MEM_FLAGS`: what is imported gets an address.
pub const REGISTER_REQUIRES_ADDRESS: u32 = 1 << 0;
/// The address belongs to a reservation.
pub const HSA_POINTER_RESERVED_ADDR: HSA_POINTER_TYPE = HSA_POINTER_TYPE(5);

/// `amdgpu_bo_handle_type`: a name within the process.
pub const BUFFER_HANDLE_KMS: u32 = 1;
/// `amdgpu_bo_handle_type`: a file descriptor.
pub const BUFFER_HANDLE_DMA_BUF: u32 = 2;
/// `AMDGPU_VA_OP_*` (`drm/amdgpu_drm.h`).
pub const VA_OP_MAP: u32 = 1;
pub const VA_OP_UNMAP: u32 = 2;
/// `AMDGPU_VM_PAGE_*` (`drm/amdgpu_drm.h`).
pub const PAGE_READABLE: u64 = 1 << 1;
pub const PAGE_WRITEABLE: u64 = 1 << 2;
/// `DRM_AMDGPU_GEM_MMAP` (`drm/amdgpu_drm.h`): where in the device's file the host finds a buffer.
pub const COMMAND_GEM_MMAP: u64 = 1;

/// Whether the client has introduced itself as a ROCr that takes the functions from `libdtif.so`.
static SPOKEN: AtomicBool = AtomicBool::new(false);

/// From now on the client speaks the newer interface.
pub fn speak() {
    SPOKEN.store(true, Ordering::Relaxed);
}

/// Whether the client speaks the newer interface.
pub fn is_spoken() -> bool {
    SPOKEN.load(Ordering::Relaxed)
}

layout! {
    /// What a node is.
    [size = 368, align = 4]
    #[repr(packed(4))]
    pub struct NodeProperties {
        0 => NumCPUCores: u32,
        4 => NumFComputeCores: u32,
        8 => NumNeuralCores: u32,
        12 => NumMemoryBanks: u32,
        16 => NumCaches: u32,
        20 => NumIOLinks: u32,
        24 => CComputeIdLo: u32,
        28 => FComputeIdLo: u32,
        32 => Capability: u32,
        36 => Capability2: u32,
        40 => MaxWavesPerSIMD: u32,
        44 => LDSSizeInKB: u32,
        48 => GDSSizeInKB: u32,
        52 => WaveFrontSize: u32,
        56 => NumShaderBanks: u32,
        60 => NumArrays: u32,
        64 => NumCUPerArray: u32,
        68 => NumSIMDPerCU: u32,
        72 => MaxSlotsScratchCU: u32,
        76 => EngineId: u32,
        80 => OverrideEngineId: u32,
        84 => VendorId: u16,
        86 => DeviceId: u16,
        88 => LocationId: u32,
        92 => LocalMemSize: u64,
        100 => MaxEngineClockMhzFCompute: u32,
        104 => MaxEngineClockMhzCCompute: u32,
        108 => DrmRenderMinor: i32,
        112 => MarketingName: [u16; HSA_PUBLIC_NAME_SIZE],
        240 => AMDName: [u8; HSA_PUBLIC_NAME_SIZE],
        304 => uCodeEngineVersions: u32,
        308 => DebugProperties: u64,
        316 => HiveID: u64,
        324 => NumSdmaEngines: u32,
        328 => NumSdmaXgmiEngines: u32,
        332 => NumSdmaQueuesPerEngine: u8,
        333 => NumCpQueues: u8,
        334 => NumGws: u8,
        335 => Integrated: u8,
        336 => Domain: u32,
        340 => UniqueID: u64,
        348 => VGPRSizePerCU: u32,
        352 => SGPRSizePerCU: u32,
        356 => NumXcc: u32,
        360 => KFDGpuID: u32,
        364 => FamilyID: u32,
    }

    /// A link from one node to another, MB/s.
    [size = 52, align = 4]
    #[repr(packed(4))]
    pub struct IoLinkProperties {
        0 => IoLinkType: u32,
        4 => VersionMajor: u32,
        8 => VersionMinor: u32,
        12 => NodeFrom: u32,
        16 => NodeTo: u32,
        20 => Weight: u32,
        24 => MinimumLatency: u32,
        28 => MaximumLatency: u32,
        32 => MinimumBandwidth: u32,
        36 => MaximumBandwidth: u32,
        40 => RecTransferSize: u32,
        44 => RecSdmaEngIdMask: u32,
        48 => Flags: u32,
    }

    /// An imported buffer.
    [size = 32, align = 4]
    #[repr(packed(4))]
    pub struct HsaGraphicsResourceInfo {
        0 => MemoryAddress: u64,
        8 => SizeInBytes: u64,
        16 => Metadata: u64,
        24 => MetadataSizeInBytes: u32,
        28 => NodeId: u32,
    }

    /// libdrm's view of an imported buffer.
    [size = 16, align = 8]
    pub struct amdgpu_bo_import_result {
        0 => buf_handle: BufferHandle,
        8 => alloc_size: u64,
    }

    /// What libdrm tells of a device: the fields that are known here, the rest zero.
    [size = 416, align = 8]
    pub struct amdgpu_gpu_info {
        0 => asic_id: u32,
        4 => chip_rev: u32,
        8 => chip_external_rev: u32,
        12 => family_id: u32,
        16 => ids_flags: u64,
        24 => max_engine_clk: u64,
        32 => max_memory_clk: u64,
        40 => num_shader_engines: u32,
        44 => num_shader_arrays_per_engine: u32,
        48 => unknown: [u32; 6],
        72 => gpu_counter_freq: u32,
        76 => unknown_too: [u32; 62],
        324 => cu_active_number: u32,
        328 => unknown_as_well: [u32; 18],
        400 => vram_bit_width: u32,
        404 => unknown_still: [u32; 3],
    }
}

/// A device of libdrm's: opaque to clients.
pub type DeviceHandle = *mut c_void;

/// A buffer of libdrm's: opaque to clients.
pub type BufferHandle = *mut c_void;

/// Runtime 1.18 divides by the number of copy engines of a gfx942. Where a queue for one is refused, it copies with
/// kernels, whatever the number.
const FEWEST_COPY_ENGINES: u32 = 1;

/// What the newer structure has beyond the older one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Additions {
    /// Accelerator dies.
    pub dies: u32,
    /// The kernel driver's number of the device.
    pub id: u32,
    /// Family of the chip.
    pub family: u32,
}

impl NodeProperties {
    /// The newer structure for the older one.
    pub fn new(old: &HsaNodeProperties, additions: Additions) -> Self {
        let is_device = old.NumFComputeCores > 0;
        Self {
            NumNeuralCores: 0,
            Capability2: 0,
            OverrideEngineId: 0,
            Integrated: 0,
            NumXcc: additions.dies,
            KFDGpuID: additions.id,
            FamilyID: additions.family,
            NumCPUCores: old.NumCPUCores,
            NumFComputeCores: old.NumFComputeCores,
            NumMemoryBanks: old.NumMemoryBanks,
            NumCaches: old.NumCaches,
            NumIOLinks: old.NumIOLinks,
            CComputeIdLo: old.CComputeIdLo,
            FComputeIdLo: old.FComputeIdLo,
            Capability: old.Capability,
            MaxWavesPerSIMD: old.MaxWavesPerSIMD,
            LDSSizeInKB: old.LDSSizeInKB,
            GDSSizeInKB: old.GDSSizeInKB,
            WaveFrontSize: old.WaveFrontSize,
            NumShaderBanks: old.NumShaderBanks,
            NumArrays: old.NumArrays,
            NumCUPerArray: old.NumCUPerArray,
            NumSIMDPerCU: old.NumSIMDPerCU,
            MaxSlotsScratchCU: old.MaxSlotsScratchCU,
            EngineId: old.EngineId,
            VendorId: old.VendorId,
            DeviceId: old.DeviceId,
            LocationId: old.LocationId,
            LocalMemSize: old.LocalMemSize,
            MaxEngineClockMhzFCompute: old.MaxEngineClockMhzFCompute,
            MaxEngineClockMhzCCompute: old.MaxEngineClockMhzCCompute,
            DrmRenderMinor: old.DrmRenderMinor,
            MarketingName: old.MarketingName,
            AMDName: old.AMDName,
            uCodeEngineVersions: old.uCodeEngineVersions,
            DebugProperties: old.DebugProperties,
            HiveID: old.HiveID,
            NumSdmaEngines: if is_device { old.NumSdmaEngines.max(FEWEST_COPY_ENGINES) } else { 0 },
            NumSdmaXgmiEngines: old.NumSdmaXgmiEngines,
            NumSdmaQueuesPerEngine: old.NumSdmaQueuesPerEngine,
            NumCpQueues: old.NumCpQueues,
            NumGws: old.NumGws,
            Domain: old.Domain,
            UniqueID: old.UniqueID,
            VGPRSizePerCU: old.VGPRSizePerCU,
            SGPRSizePerCU: old.SGPRSizePerCU,
        }
    }
}

impl IoLinkProperties {
    /// The newer structure for the older one.
    pub fn new(old: &HsaIoLinkProperties) -> Self {
        Self {
            RecSdmaEngIdMask: 0,
            IoLinkType: old.IoLinkType,
            VersionMajor: old.VersionMajor,
            VersionMinor: old.VersionMinor,
            NodeFrom: old.NodeFrom,
            NodeTo: old.NodeTo,
            Weight: old.Weight,
            MinimumLatency: old.MinimumLatency,
            MaximumLatency: old.MaximumLatency,
            MinimumBandwidth: old.MinimumBandwidth,
            MaximumBandwidth: old.MaximumBandwidth,
            RecTransferSize: old.RecTransferSize,
            Flags: old.Flags,
        }
    }
}
