//! Structures of `hsakmttypes.h` 5.2.3, packed to 4 bytes as there.
#![allow(non_snake_case, reason = "the names are those of the C header")]
#![allow(missing_docs, reason = "fields keep the header's names; the header describes them")]

use std::ffi::c_void;

use hsa_sys::layout::layout;

use super::HSA_PUBLIC_NAME_SIZE;

layout! {
    /// Version of the kernel driver.
    [size = 8, align = 4]
    #[repr(packed(4))]
    pub struct HsaVersionInfo {
        0 => KernelInterfaceMajorVersion: u32,
        4 => KernelInterfaceMinorVersion: u32,
    }

    /// How many nodes there are.
    [size = 16, align = 4]
    #[repr(packed(4))]
    pub struct HsaSystemProperties {
        0 => NumNodes: u32,
        4 => PlatformOem: u32,
        8 => PlatformId: u32,
        12 => PlatformRev: u32,
    }

    /// What a node is; all figures of a CPU are in a CPU's node, those of a GPU in a GPU's.
    [size = 356, align = 4]
    #[repr(packed(4))]
    pub struct HsaNodeProperties {
        0 => NumCPUCores: u32,
        4 => NumFComputeCores: u32,
        8 => NumMemoryBanks: u32,
        12 => NumCaches: u32,
        16 => NumIOLinks: u32,
        20 => CComputeIdLo: u32,
        24 => FComputeIdLo: u32,
        28 => Capability: u32,
        32 => MaxWavesPerSIMD: u32,
        36 => LDSSizeInKB: u32,
        40 => GDSSizeInKB: u32,
        44 => WaveFrontSize: u32,
        48 => NumShaderBanks: u32,
        52 => NumArrays: u32,
        56 => NumCUPerArray: u32,
        60 => NumSIMDPerCU: u32,
        64 => MaxSlotsScratchCU: u32,
        68 => EngineId: u32,
        72 => VendorId: u16,
        74 => DeviceId: u16,
        76 => LocationId: u32,
        80 => LocalMemSize: u64,
        88 => MaxEngineClockMhzFCompute: u32,
        92 => MaxEngineClockMhzCCompute: u32,
        96 => DrmRenderMinor: i32,
        100 => MarketingName: [u16; HSA_PUBLIC_NAME_SIZE],
        228 => AMDName: [u8; HSA_PUBLIC_NAME_SIZE],
        292 => uCodeEngineVersions: u32,
        296 => DebugProperties: u64,
        304 => HiveID: u64,
        312 => NumSdmaEngines: u32,
        316 => NumSdmaXgmiEngines: u32,
        320 => NumSdmaQueuesPerEngine: u8,
        321 => NumCpQueues: u8,
        322 => NumGws: u8,
        323 => Reserved2: u8,
        324 => Domain: u32,
        328 => UniqueID: u64,
        336 => VGPRSizePerCU: u32,
        340 => SGPRSizePerCU: u32,
        344 => Reserved: [u8; 12],
    }

    /// A memory bank of a node, bytes and MHz.
    [size = 32, align = 4]
    #[repr(packed(4))]
    pub struct HsaMemoryProperties {
        0 => HeapType: u32,
        4 => SizeInBytes: u64,
        12 => Flags: u32,
        16 => Width: u32,
        20 => MemoryClockMax: u32,
        24 => VirtualBaseAddress: u64,
    }

    /// A cache of a node, KiB.
    [size = 1056, align = 4]
    #[repr(packed(4))]
    pub struct HsaCacheProperties {
        0 => ProcessorIdLow: u32,
        4 => CacheLevel: u32,
        8 => CacheSize: u32,
        12 => CacheLineSize: u32,
        16 => CacheLinesPerTag: u32,
        20 => CacheAssociativity: u32,
        24 => CacheLatency: u32,
        28 => CacheType: u32,
        32 => SiblingMap: [u32; 256],
    }

    /// A link from one node to another, MB/s.
    [size = 48, align = 4]
    #[repr(packed(4))]
    pub struct HsaIoLinkProperties {
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
        44 => Flags: u32,
    }

    /// Where a queue's doorbell and indices are, and the signal value that tells why it stopped.
    [size = 40, align = 4]
    #[repr(packed(4))]
    pub struct HsaQueueResource {
        0 => QueueId: u64,
        8 => QueueDoorBell: u64,
        16 => QueueWptrValue: u64,
        24 => QueueRptrValue: u64,
        32 => ErrorReason: *mut i64,
    }

    /// What the client attaches to an event; the thunk leaves it alone.
    [size = 16, align = 4]
    #[repr(packed(4))]
    pub struct HsaSyncVar {
        0 => SyncVar: u64,
        8 => SyncVarSize: u64,
    }

    /// A memory fault, as an event of type `HSA_EVENTTYPE_MEMORY` carries it.
    [size = 20, align = 4]
    #[repr(packed(4))]
    pub struct HsaMemoryAccessFault {
        0 => NodeId: u32,
        4 => VirtualAddress: u64,
        12 => Failure: u32,
        16 => Flags: u32,
    }

    /// What an event carries; the payload is a union in C, of which memory faults are the largest member.
    [size = 44, align = 4]
    #[repr(packed(4))]
    pub struct HsaEventData {
        0 => EventType: u32,
        4 => EventData: HsaMemoryAccessFault,
        24 => HWData1: u64,
        32 => HWData2: u64,
        40 => HWData3: u32,
    }

    /// What event the client wants.
    [size = 24, align = 4]
    #[repr(packed(4))]
    pub struct HsaEventDescriptor {
        0 => EventType: u32,
        4 => NodeId: u32,
        8 => SyncVar: HsaSyncVar,
    }

    /// An event, in memory of ours.
    [size = 48, align = 4]
    #[repr(packed(4))]
    pub struct HsaEvent {
        0 => EventId: u32,
        4 => EventData: HsaEventData,
    }

    /// The clocks at one moment.
    [size = 32, align = 4]
    #[repr(packed(4))]
    pub struct HsaClockCounters {
        0 => GPUClockCounter: u64,
        8 => CPUClockCounter: u64,
        16 => SystemClockCounter: u64,
        24 => SystemClockFrequencyHz: u64,
    }

    /// How images are tiled.
    [size = 64, align = 4]
    #[repr(packed(4))]
    pub struct HsaGpuTileConfig {
        0 => TileConfig: *mut u32,
        8 => MacroTileConfig: *mut u32,
        16 => NumTileConfigs: u32,
        20 => NumMacroTileConfigs: u32,
        24 => GbAddrConfig: u32,
        28 => NumBanks: u32,
        32 => NumRanks: u32,
        36 => Reserved: [u32; 7],
    }

    /// Something that is said about pages.
    [size = 8, align = 4]
    #[repr(packed(4))]
    pub struct HSA_SVM_ATTRIBUTE {
        0 => r#type: u32,
        4 => value: u32,
    }

    /// What is known of an address.
    [size = 68, align = 4]
    #[repr(packed(4))]
    pub struct HsaPointerInfo {
        0 => Type: u32,
        4 => Node: u32,
        8 => MemFlags: u32,
        12 => CPUAddress: *mut c_void,
        20 => GPUAddress: u64,
        28 => SizeInBytes: u64,
        36 => NRegisteredNodes: u32,
        40 => NMappedNodes: u32,
        44 => RegisteredNodes: *const u32,
        52 => MappedNodes: *const u32,
        60 => UserData: *mut c_void,
    }
}

/// A structure of numbers and pointers, for which all bits clear is a value.
pub trait Zero: Copy {
    /// All bits clear.
    const ZERO: Self;
}

macro_rules! zero {
    ($($name:ident)*) => { $(
        impl Zero for $name {
            // SAFETY: the structure holds integers and raw pointers only.
            const ZERO: Self = unsafe { std::mem::zeroed() };
        }
    )* };
}

zero! {
    HsaSystemProperties HsaNodeProperties HsaMemoryProperties HsaCacheProperties HsaIoLinkProperties
    HsaEventData HsaEvent HsaPointerInfo
}
