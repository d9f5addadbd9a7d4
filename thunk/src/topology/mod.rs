//! Nodes: the sockets of the host, one unless it is asked for two, then the devices. Figures are the card's.

mod host;
mod nodes;
mod sysfs;

pub use nodes::{HOST_NODE, Nodes};

use emulator::{HARDWARE_QUEUES, Hardware, QUEUES_PER_COPY_ENGINE, driver::Figures, os::PAGE};

use crate::{
    abi::{
        CACHE_TYPE_DATA, CACHE_TYPE_HSACU, CAPABILITY_ASIC_REVISION, CAPABILITY_DOORBELL_TYPE,
        CAPABILITY_MEM_EDC_SUPPORT, CAPABILITY_QUEUE_SIZE_POWER_OF_TWO, CAPABILITY_SRAM_EDC_SUPPORT,
        CAPABILITY_SVM_API_SUPPORTED, ENGINE_ID_MAJOR, ENGINE_ID_MINOR, ENGINE_ID_STEPPING, ENGINE_ID_UCODE,
        ENGINE_VERSION_SDMA, HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
        HSA_HEAPTYPE_GPU_LDS, HSA_HEAPTYPE_GPU_SCRATCH, HSA_HEAPTYPE_MMIO_REMAP, HSA_HEAPTYPE_SYSTEM,
        HSA_IOLINKTYPE_PCIEXPRESS, HSA_PUBLIC_NAME_SIZE, HSAKMT_STATUS_INVALID_NODE_UNIT, HsaCacheProperties,
        HsaIoLinkProperties, HsaMemoryProperties, HsaNodeProperties, LINK_NO_ATOMICS_32, LINK_NO_ATOMICS_64,
        LINK_OVERRIDE, Zero, field, newer::Additions,
    },
    entry::Result,
};

/// Where waves see their workgroup's LDS.
pub const LDS_APERTURE: u64 = 0x1_0000_0000_0000;
/// Where waves see their private memory.
pub const SCRATCH_APERTURE: u64 = 0x2_0000_0000_0000;

/// Private memory that all waves of a device may have together, bytes.
const SCRATCH_SIZE: u64 = 4 << 30;
/// Waves per compute unit that may have private memory.
const SCRATCH_WAVES_PER_UNIT: u32 = 32;
/// Vector registers of a compute unit, bytes: 4 SIMDs of 128 KiB (CDNA 2 and CDNA 3 white papers).
const VGPR_BYTES_PER_UNIT: u32 = 512 << 10;
/// Scalar registers of a compute unit, bytes.
const SGPR_BYTES_PER_UNIT: u32 = 16 << 10;
/// AMD's PCI vendor.
const VENDOR: u16 = 0x1002;
/// Entries of global wave sync of a device, as the kernel driver offers them on GFX9.
pub const WAVE_SYNC_ENTRIES: u8 = 64;
/// Render nodes of the kernel's graphics drivers start here.
const FIRST_RENDER_MINOR: i32 = 128;
/// The kernel driver's numbers of devices are arbitrary, but not 0.
const FIRST_KERNEL_ID: u32 = 1;
/// First processor number of device 0; devices are this far apart.
const PROCESSOR_IDS: u32 = 0x8000_1000;
const PROCESSOR_ID_STRIDE: u32 = 0x1000;

/// The nodes of a process.
pub struct Topology {
    devices: Vec<Figures>,
    hardware: Hardware,
    flush_registers: Vec<Option<u64>>,
}

impl Topology {
    /// The host and these devices; `flush_registers` has for each the address of the page of registers by which the host
    /// flushes its stores, if the process has it.
    pub fn new(devices: Vec<Figures>, hardware: Hardware, flush_registers: Vec<Option<u64>>) -> Self {
        Self { devices, hardware, flush_registers }
    }

    /// Whose the nodes are.
    pub fn nodes(&self) -> Nodes {
        // CAST: at most MAX_DEVICES.
        Nodes::new(self.hardware.sockets(), self.devices.len() as u32)
    }

    /// The devices, in the order of their nodes.
    pub fn devices(&self) -> &[Figures] {
        &self.devices
    }

    /// The device of a node, or `None` for the host's.
    pub fn device(&self, node: u32) -> Result<Option<(u32, &Figures)>> {
        let Some(index) = self.nodes().device(node) else { return Ok(None) };
        let device = self.devices.get(index as usize).ok_or(HSAKMT_STATUS_INVALID_NODE_UNIT)?;
        Ok(Some((index, device)))
    }

    /// What a node is.
    pub fn node(&self, node: u32) -> Result<HsaNodeProperties> {
        let mut properties = match self.device(node)? {
            Some((index, device)) => {
                let mut properties = describe(index, device);
                if !self.hardware.no_svm {
                    properties.Capability |= CAPABILITY_SVM_API_SUPPORTED;
                }
                properties
            }
            None => host::describe(),
        };
        properties.NumMemoryBanks = self.memory(node)?.len() as u32;
        properties.NumCaches = self.caches(node, 0)?.len() as u32;
        properties.NumIOLinks = self.links(node)?.len() as u32;
        Ok(properties)
    }

    /// What newer clients want to know besides.
    pub fn additions(&self, node: u32) -> Result<Additions> {
        Ok(self.device(node)?.map_or(Additions::default(), |(index, device)| Additions {
            dies: device.card.dies,
            id: FIRST_KERNEL_ID + index,
            family: device.card.family_id,
        }))
    }

    /// A node's memory banks.
    pub fn memory(&self, node: u32) -> Result<Vec<HsaMemoryProperties>> {
        let Some((index, device)) = self.device(node)? else {
            return Ok(vec![HsaMemoryProperties {
                HeapType: HSA_HEAPTYPE_SYSTEM.0,
                SizeInBytes: host::memory(),
                ..HsaMemoryProperties::ZERO
            }]);
        };
        let bank = |kind: crate::abi::HSA_HEAPTYPE, size, base| HsaMemoryProperties {
            HeapType: kind.0,
            SizeInBytes: size,
            VirtualBaseAddress: base,
            ..HsaMemoryProperties::ZERO
        };
        // Behind a large PCI window all of it is the host's to touch.
        let local = match device.large_bar {
            true => HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC,
            false => HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE,
        };
        let local = HsaMemoryProperties {
            Width: device.card.memory_width,
            MemoryClockMax: device.card.memory_clock,
            ..bank(local, device.local_memory, 0)
        };
        let mut banks = vec![
            local,
            bank(HSA_HEAPTYPE_GPU_LDS, device.card.group_memory.into(), LDS_APERTURE),
            bank(HSA_HEAPTYPE_GPU_SCRATCH, SCRATCH_SIZE, SCRATCH_APERTURE),
        ];
        let registers = self.flush_registers.get(index as usize).copied().flatten();
        banks.extend(registers.map(|address| bank(HSA_HEAPTYPE_MMIO_REMAP, PAGE as u64, address)));
        Ok(banks)
    }

    /// A node's caches, for the processor that the caller names.
    pub fn caches(&self, node: u32, processor: u32) -> Result<Vec<HsaCacheProperties>> {
        let Some((_, device)) = self.device(node)? else { return Ok(host::caches(processor)) };
        let sizes = device.card.caches.iter().zip(1..).filter(|(size, _)| **size > 0);
        Ok(sizes
            .map(|(size, level)| HsaCacheProperties {
                ProcessorIdLow: processor,
                CacheLevel: level,
                CacheSize: size >> 10,
                CacheLineSize: device.card.cacheline,
                CacheType: CACHE_TYPE_DATA | CACHE_TYPE_HSACU,
                ..HsaCacheProperties::ZERO
            })
            .collect())
    }

    /// A node's links to the others whose memory it reaches. The host reaches no device without a large PCI window.
    pub fn links(&self, node: u32) -> Result<Vec<HsaIoLinkProperties>> {
        self.device(node)?;
        let nodes = self.nodes();
        let flags = match self.hardware.no_atomics {
            true => LINK_OVERRIDE | LINK_NO_ATOMICS_32 | LINK_NO_ATOMICS_64,
            false => LINK_OVERRIDE,
        };
        let is_host = |node| nodes.device(node).is_none();
        let reached = |other| !is_host(node) || is_host(other) || self.hardware.reaches_devices();
        let others = (0..nodes.count()).filter(|&other| other != node && reached(other));
        Ok(others
            .map(|other| HsaIoLinkProperties {
                IoLinkType: HSA_IOLINKTYPE_PCIEXPRESS.0,
                NodeFrom: node,
                NodeTo: other,
                Weight: self.hardware.distance(nodes.agent(node), nodes.agent(other)),
                Flags: flags,
                ..HsaIoLinkProperties::ZERO
            })
            .collect())
    }
}

/// What a device is.
fn describe(index: u32, device: &Figures) -> HsaNodeProperties {
    let card = device.card;
    // A device with few compute units has them spread over few engines.
    let engines = card.shader_engines.min(device.compute_units).max(1);
    let (major, minor, stepping) = version(card.name);
    let mut properties = HsaNodeProperties {
        NumFComputeCores: device.compute_units * card.simds_per_unit,
        FComputeIdLo: PROCESSOR_IDS + index * PROCESSOR_ID_STRIDE,
        Capability: CAPABILITY_QUEUE_SIZE_POWER_OF_TWO
            | CAPABILITY_MEM_EDC_SUPPORT
            | CAPABILITY_SRAM_EDC_SUPPORT
            | field(CAPABILITY_DOORBELL_TYPE, 2)
            | field(CAPABILITY_ASIC_REVISION, card.asic_revision),
        MaxWavesPerSIMD: card.waves_per_unit / card.simds_per_unit,
        LDSSizeInKB: card.group_memory >> 10,
        WaveFrontSize: card.wavefront,
        NumShaderBanks: engines,
        NumArrays: 1,
        NumCUPerArray: device.compute_units.div_ceil(engines),
        NumSIMDPerCU: card.simds_per_unit,
        MaxSlotsScratchCU: SCRATCH_WAVES_PER_UNIT,
        EngineId: field(ENGINE_ID_UCODE, card.firmware)
            | field(ENGINE_ID_MAJOR, major)
            | field(ENGINE_ID_MINOR, minor)
            | field(ENGINE_ID_STEPPING, stepping),
        VendorId: VENDOR,
        // CAST: PCI devices have 16 bits.
        DeviceId: card.chip_id as u16,
        LocationId: (index + 3) << 8,
        LocalMemSize: device.local_memory,
        MaxEngineClockMhzFCompute: card.engine_clock,
        MaxEngineClockMhzCCompute: host::clock(),
        DrmRenderMinor: FIRST_RENDER_MINOR + index as i32,
        uCodeEngineVersions: field(ENGINE_VERSION_SDMA, card.copy_firmware),
        NumSdmaEngines: card.copy_engines,
        NumSdmaXgmiEngines: card.link_copy_engines,
        // CAST: a small constant.
        NumSdmaQueuesPerEngine: QUEUES_PER_COPY_ENGINE as u8,
        // CAST: 24.
        NumCpQueues: HARDWARE_QUEUES as u8,
        NumGws: WAVE_SYNC_ENTRIES,
        UniqueID: u64::from(card.chip_id) << 16 | u64::from(index),
        VGPRSizePerCU: VGPR_BYTES_PER_UNIT,
        SGPRSizePerCU: SGPR_BYTES_PER_UNIT,
        ..HsaNodeProperties::ZERO
    };
    set_names(&mut properties, card.product, card.name);
    properties
}

/// `gfx90a` is 9, 0, 10: the last two digits are hexadecimal.
fn version(name: &str) -> (u32, u32, u32) {
    let digits = name.strip_prefix("gfx").unwrap_or_default();
    let (major, rest) = digits.split_at_checked(digits.len().saturating_sub(2)).unwrap_or_default();
    let digit = |at: usize| rest.chars().nth(at).and_then(|c| c.to_digit(16)).unwrap_or_default();
    (major.parse().unwrap_or_default(), digit(0), digit(1))
}

fn set_names(properties: &mut HsaNodeProperties, marketing: &str, chip: &str) {
    // One short of the end, so that a terminator stays.
    let mut wide = [0; HSA_PUBLIC_NAME_SIZE];
    for (place, unit) in wide[..HSA_PUBLIC_NAME_SIZE - 1].iter_mut().zip(marketing.encode_utf16()) {
        *place = unit;
    }
    let mut narrow = [0; HSA_PUBLIC_NAME_SIZE];
    for (place, byte) in narrow[..HSA_PUBLIC_NAME_SIZE - 1].iter_mut().zip(chip.bytes()) {
        *place = byte;
    }
    properties.MarketingName = wide;
    properties.AMDName = narrow;
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn names_of_instruction_sets_are_versions() {
        assert_eq!(version("gfx90a"), (9, 0, 10));
        assert_eq!(version("gfx942"), (9, 4, 2));
        assert_eq!(version("gfx1100"), (11, 0, 0));
        assert_eq!(version("x"), (0, 0, 0));
    }
}
