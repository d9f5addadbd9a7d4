//! The nodes in files, as Linux shows them: the kernel driver's topology (`drivers/gpu/drm/amd/amdkfd/kfd_topology.c`),
//! the PCI devices, the graphics driver's minors. Names, units and order are the kernel's.
//!
//! What changes while a device works, such as temperatures or the memory in use, is left out.

use std::{
    fmt::{Display, Write},
    fs, io,
    os::unix::fs::symlink,
    path::Path,
};

use super::Topology;
use crate::{
    abi::{
        ENGINE_ID_MAJOR, ENGINE_ID_MINOR, ENGINE_ID_STEPPING, ENGINE_ID_UCODE, ENGINE_VERSION_SDMA,
        HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_HEAPTYPE_SYSTEM,
        HSAKMT_STATUS, HsaCacheProperties, HsaIoLinkProperties, HsaMemoryProperties, HsaNodeProperties,
        HsaSystemProperties, Zero, newer::Additions, value,
    },
    entry::Result,
};

/// The kernel driver's device.
const KFD: &str = "sys/devices/virtual/kfd/kfd";
/// `DRM_MAJOR`: the device number of graphics drivers.
const GRAPHICS_MAJOR: u32 = 226;
/// A range of addresses that the PCI device does not have on the machine: its begin, its end, its flags.
const NO_RANGE: &str = "0x0000000000000000 0x0000000000000000 0x0000000000000000";
/// Bytes of the standard header of a PCI device's configuration space.
const CONFIGURATION: usize = 64;

/// Why files are not written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}")]
pub struct WriteError {
    path: String,
    error: io::Error,
}

type Written = std::result::Result<(), WriteError>;

/// A node, as clients are told of it.
struct Node {
    number: u32,
    properties: HsaNodeProperties,
    additions: Additions,
    memory: Vec<HsaMemoryProperties>,
    caches: Vec<HsaCacheProperties>,
    /// To the host, and of the host.
    links: Vec<HsaIoLinkProperties>,
    /// From device to device.
    peers: Vec<HsaIoLinkProperties>,
}

impl Node {
    fn read(topology: &Topology, number: u32) -> Result<Self> {
        let properties = topology.node(number)?;
        let is_device = |node: u32| topology.nodes().device(node).is_some();
        let (peers, links) = topology
            .links(number)?
            .into_iter()
            .partition(|link| is_device(link.NodeFrom) && is_device(link.NodeTo));
        // Apertures and registers are not the kernel driver's to show: AMD's thunk adds them.
        let mut memory = topology.memory(number)?;
        let shown =
            [HSA_HEAPTYPE_SYSTEM, HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC, HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE];
        memory.retain(|bank| shown.iter().any(|kind| kind.0 == bank.HeapType));
        // Nor does it show the caches of CPUs.
        let caches =
            if is_device(number) { topology.caches(number, properties.FComputeIdLo)? } else { Vec::new() };
        Ok(Self { number, properties, additions: topology.additions(number)?, memory, caches, links, peers })
    }

    fn is_device(&self) -> bool {
        self.properties.NumFComputeCores > 0
    }

    fn properties(&self) -> String {
        let p = &self.properties;
        let version = |mask| u64::from(value(mask, p.EngineId));
        let mut text = list(&[
            ("cpu_cores_count", p.NumCPUCores.into()),
            ("simd_count", p.NumFComputeCores.into()),
            ("mem_banks_count", self.memory.len() as u64),
            ("caches_count", self.caches.len() as u64),
            ("io_links_count", self.links.len() as u64),
            ("p2p_links_count", self.peers.len() as u64),
            ("cpu_core_id_base", p.CComputeIdLo.into()),
            ("simd_id_base", p.FComputeIdLo.into()),
            ("max_waves_per_simd", p.MaxWavesPerSIMD.into()),
            ("lds_size_in_kb", p.LDSSizeInKB.into()),
            ("gds_size_in_kb", p.GDSSizeInKB.into()),
            ("num_gws", p.NumGws.into()),
            ("wave_front_size", p.WaveFrontSize.into()),
            ("array_count", u64::from(p.NumShaderBanks) * u64::from(p.NumArrays)),
            ("simd_arrays_per_engine", p.NumArrays.into()),
            ("cu_per_simd_array", p.NumCUPerArray.into()),
            ("simd_per_cu", p.NumSIMDPerCU.into()),
            ("max_slots_scratch_cu", p.MaxSlotsScratchCU.into()),
            (
                "gfx_target_version",
                10_000 * version(ENGINE_ID_MAJOR)
                    + 100 * version(ENGINE_ID_MINOR)
                    + version(ENGINE_ID_STEPPING),
            ),
            ("vendor_id", p.VendorId.into()),
            ("device_id", p.DeviceId.into()),
            ("location_id", p.LocationId.into()),
            ("domain", p.Domain.into()),
            // The kernel has 0 for a node without one.
            ("drm_render_minor", u64::try_from(p.DrmRenderMinor).unwrap_or_default()),
            ("hive_id", p.HiveID),
            ("num_sdma_engines", p.NumSdmaEngines.into()),
            ("num_sdma_xgmi_engines", p.NumSdmaXgmiEngines.into()),
            ("num_sdma_queues_per_engine", p.NumSdmaQueuesPerEngine.into()),
            ("num_cp_queues", p.NumCpQueues.into()),
        ]);
        if self.is_device() {
            text += &list(&[
                ("max_engine_clk_fcompute", p.MaxEngineClockMhzFCompute.into()),
                ("local_mem_size", p.LocalMemSize),
                ("fw_version", version(ENGINE_ID_UCODE)),
                ("capability", p.Capability.into()),
                ("debug_prop", p.DebugProperties),
                ("sdma_fw_version", value(ENGINE_VERSION_SDMA, p.uCodeEngineVersions).into()),
                ("unique_id", p.UniqueID),
                ("num_xcc", self.additions.dies.into()),
            ]);
        }
        text + &list(&[("max_engine_clk_ccompute", p.MaxEngineClockMhzCCompute.into())])
    }

    fn write_topology(&self, root: &Path) -> Written {
        let at = root.join(KFD).join(format!("topology/nodes/{}", self.number));
        let name = self.properties.AMDName;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        file(&at.join("gpu_id"), line(self.additions.id))?;
        file(&at.join("name"), line(String::from_utf8_lossy(name)))?;
        file(&at.join("properties"), self.properties())?;
        numbered(&at.join("mem_banks"), self.memory.iter().map(of_memory))?;
        numbered(&at.join("caches"), self.caches.iter().map(of_cache))?;
        numbered(&at.join("io_links"), self.links.iter().map(of_link))?;
        numbered(&at.join("p2p_links"), self.peers.iter().map(of_link))
    }

    /// The PCI device, and its two minors of the graphics driver.
    fn write_device(&self, root: &Path, index: u32, class: u32) -> Written {
        let p = &self.properties;
        let (bus, slot, function) = (p.LocationId >> 8 & 0xff, p.LocationId >> 3 & 0x1f, p.LocationId & 7);
        let (domain, vendor, device) = (p.Domain, p.VendorId, p.DeviceId);
        let address = format!("{domain:04x}:{bus:02x}:{slot:02x}.{function}");
        let place = format!("devices/pci{domain:04x}:00/{address}");
        let sys = root.join("sys");
        let at = sys.join(&place);
        let public = self.memory.iter().any(|bank| bank.HeapType == HSA_HEAPTYPE_FRAME_BUFFER_PUBLIC.0);
        let product: String = String::from_utf16_lossy(&{ p.MarketingName });
        let mut configuration = [0; CONFIGURATION];
        configuration[..2].copy_from_slice(&vendor.to_le_bytes());
        configuration[2..4].copy_from_slice(&device.to_le_bytes());
        configuration[9..12].copy_from_slice(&class.to_le_bytes()[..3]);
        file(&at.join("config"), configuration)?;
        for (name, content) in [
            ("vendor", format!("{vendor:#06x}")),
            ("device", format!("{device:#06x}")),
            ("class", format!("{class:#08x}")),
            ("irq", "0".into()),
            ("resource", [NO_RANGE; 7].join("\n")),
            (
                "uevent",
                format!(
                    "DRIVER=amdgpu\nPCI_CLASS={class:X}\nPCI_ID={vendor:04X}:{device:04X}\nPCI_SLOT_NAME={address}"
                ),
            ),
            ("unique_id", format!("{:016x}", { p.UniqueID })),
            ("product_name", product.trim_end_matches('\0').into()),
            // AMD's management libraries take a device without one for no GPU of AMD's.
            ("vbios_version", "aqlipse-emulated".into()),
            ("mem_info_vram_total", { p.LocalMemSize }.to_string()),
            ("mem_info_vis_vram_total", if public { p.LocalMemSize } else { 0 }.to_string()),
        ] {
            file(&at.join(name), line(content))?;
        }
        link(&sys.join("bus/pci/devices").join(&address), &format!("../../../{place}"))?;
        link(&sys.join("bus/pci/drivers/amdgpu").join(&address), &format!("../../../../{place}"))?;
        link(&at.join("driver"), "../../../bus/pci/drivers/amdgpu")?;
        link(&at.join("subsystem"), "../../../bus/pci")?;
        for (name, minor) in [
            (format!("card{index}"), index),
            // CAST: devices have one.
            (format!("renderD{}", { p.DrmRenderMinor }), p.DrmRenderMinor as u32),
        ] {
            let minor_at = at.join("drm").join(&name);
            file(&minor_at.join("dev"), line(format!("{GRAPHICS_MAJOR}:{minor}")))?;
            let event =
                format!("MAJOR={GRAPHICS_MAJOR}\nMINOR={minor}\nDEVNAME=dri/{name}\nDEVTYPE=drm_minor");
            file(&minor_at.join("uevent"), line(event))?;
            link(&minor_at.join("device"), &format!("../../../{address}"))?;
            link(&minor_at.join("subsystem"), "../../../../../class/drm")?;
            link(&sys.join("class/drm").join(&name), &format!("../../{place}/drm/{name}"))?;
        }
        Ok(())
    }
}

fn of_memory(bank: &HsaMemoryProperties) -> String {
    list(&[
        ("heap_type", bank.HeapType.into()),
        ("size_in_bytes", bank.SizeInBytes),
        ("flags", bank.Flags.into()),
        ("width", bank.Width.into()),
        ("mem_clk_max", bank.MemoryClockMax.into()),
    ])
}

fn of_cache(cache: &HsaCacheProperties) -> String {
    let siblings = { cache.SiblingMap }.map(|sibling| sibling.to_string()).join(",");
    let numbers = list(&[
        ("processor_id_low", cache.ProcessorIdLow.into()),
        ("level", cache.CacheLevel.into()),
        ("size", cache.CacheSize.into()),
        ("cache_line_size", cache.CacheLineSize.into()),
        ("cache_lines_per_tag", cache.CacheLinesPerTag.into()),
        ("association", cache.CacheAssociativity.into()),
        ("latency", cache.CacheLatency.into()),
        ("type", cache.CacheType.into()),
    ]);
    numbers + &line(format!("sibling_map {siblings}"))
}

fn of_link(link: &HsaIoLinkProperties) -> String {
    list(&[
        ("type", link.IoLinkType.into()),
        ("version_major", link.VersionMajor.into()),
        ("version_minor", link.VersionMinor.into()),
        ("node_from", link.NodeFrom.into()),
        ("node_to", link.NodeTo.into()),
        ("weight", link.Weight.into()),
        ("min_latency", link.MinimumLatency.into()),
        ("max_latency", link.MaximumLatency.into()),
        ("min_bandwidth", link.MinimumBandwidth.into()),
        ("max_bandwidth", link.MaximumBandwidth.into()),
        ("recommended_transfer_size", link.RecTransferSize.into()),
        ("flags", link.Flags.into()),
    ])
}

/// A line for each number.
fn list(numbers: &[(&str, u64)]) -> String {
    numbers.iter().fold(String::new(), |mut text, (name, number)| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {number}");
        text
    })
}

fn line(text: impl Display) -> String {
    format!("{text}\n")
}

fn error_at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    let path = path.display().to_string();
    |error| WriteError { path, error }
}

fn folder_of(path: &Path) -> Written {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(error_at(folder))
}

fn file(path: &Path, content: impl AsRef<[u8]>) -> Written {
    folder_of(path)?;
    fs::write(path, content).map_err(error_at(path))
}

fn link(path: &Path, to: &str) -> Written {
    folder_of(path)?;
    symlink(to, path).map_err(error_at(path))
}

/// A folder with `0/properties`, `1/properties`, ...
fn numbered(at: &Path, contents: impl Iterator<Item = String>) -> Written {
    fs::create_dir_all(at).map_err(error_at(at))?;
    contents
        .enumerate()
        .try_for_each(|(index, content)| file(&at.join(format!("{index}/properties")), content))
}

impl Topology {
    /// Writes what Linux shows of the nodes into `root`, which becomes what holds a folder `sys`.
    ///
    /// # Errors
    /// The file that cannot be written, and why.
    pub fn write_sysfs(&self, root: &Path) -> Written {
        let kfd = root.join(KFD);
        let HsaSystemProperties { PlatformOem, PlatformId, PlatformRev, .. } = HsaSystemProperties::ZERO;
        let system = [PlatformOem, PlatformId, PlatformRev].map(u64::from);
        let names = ["platform_oem", "platform_id", "platform_rev"];
        let system: Vec<_> = names.into_iter().zip(system).collect();
        // Nodes never change.
        file(&kfd.join("topology/generation_id"), line(1))?;
        file(&kfd.join("topology/system_properties"), list(&system))?;
        link(&kfd.join("subsystem"), "../../../../class/kfd")?;
        link(&root.join("sys/class/kfd/kfd"), "../../devices/virtual/kfd/kfd")?;
        file(&root.join("sys/module/amdgpu/initstate"), line("live"))?;
        for number in 0..self.nodes().count() {
            let refused = |status: HSAKMT_STATUS| io::Error::other(format!("{status:?}"));
            let at = |status| error_at(&kfd.join(number.to_string()))(refused(status));
            let node = Node::read(self, number).map_err(at)?;
            node.write_topology(root)?;
            if let Some((index, device)) = self.device(number).map_err(at)? {
                node.write_device(root, index, device.card.pci_class)?;
            }
        }
        Ok(())
    }
}
