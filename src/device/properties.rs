//! What a device is and can do, asked once.

use crate::error::Result;

/// Facts about a device; sizes in bytes, clocks in kHz.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Properties {
    /// Marketing name.
    pub name: String,
    /// Target with features, such as `gfx90a:sramecc+:xnack-`.
    pub arch: String,
    /// Major and minor compute capability: 9.0 for gfx90a, 9.4 for gfx942, 9.5 for gfx950.
    pub capability: (u32, u32),
    /// Device memory.
    pub total_memory: u64,
    /// Compute units, a bit each in masks.
    pub compute_units: u32,
    /// What HIP counts as multiprocessors: compute units, or on RDNA pairs of them (work-group processors).
    pub multiprocessors: u32,
    /// Lanes of a wavefront, unless a kernel was compiled for others.
    pub wavefront: u32,
    /// Work-items of a block.
    pub max_threads_per_block: u32,
    /// Work-items that a multiprocessor holds.
    pub max_threads_per_unit: u32,
    /// Work-items of a block in x, y, z.
    pub max_block: [u32; 3],
    /// Blocks in x, y, z.
    pub max_grid: [u32; 3],
    /// LDS of a block.
    pub lds_per_block: u32,
    /// 32-bit vector registers of a block.
    pub registers_per_block: u32,
    /// 32-bit vector registers of a multiprocessor.
    pub registers_per_unit: u32,
    /// Highest core clock.
    pub clock_khz: u32,
    /// The clock of constant rate that kernels can read.
    pub wall_clock_khz: u32,
    /// Highest memory clock.
    pub memory_clock_khz: u32,
    /// Width of the memory interface in bits.
    pub memory_bus_bits: u32,
    /// Level 2 cache.
    pub l2_bytes: u32,
    /// Revision of the chip.
    pub asic_revision: u32,
    /// The manufacturer's number of the chip.
    pub chip_id: u32,
    /// Dies with compute units.
    pub xccs: u32,
    /// PCI domain, bus, device, function.
    pub pci: (u32, u32, u32, u32),
    /// Whether the host can access all of the device's memory.
    pub large_bar: bool,
    /// Whether atomic operations of the device reach the host's memory: PCIe carries them where everything between card and
    /// processor does.
    pub host_atomics: bool,
    /// Whether there is device memory that is coherent while kernels run.
    pub fine_grained: bool,
    /// How host and device share memory of the process.
    pub managed: Sharing,
    /// Whether kernels can be launched whose blocks wait for each other.
    pub cooperative: bool,
    /// Multiprocessors that such kernels run on.
    pub cooperative_units: u32,
    /// Whether it has engines that copy beside its compute units, and ROCr uses them: `HSA_ENABLE_SDMA=0` says that it
    /// does not.
    pub copy_engines: bool,
    /// Identifier of the device.
    pub uuid: [u8; 16],
}

/// How host and device share memory of the process, by what the HSA runtime says of its driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sharing {
    /// Whether managed memory goes where it is used, and both can use it at a time. Else it is pinned memory of the host.
    pub moves: bool,
    /// Whether kernels reach all memory of the process, with faults that are retried (XNACK).
    pub pageable: bool,
    /// Whether they do so by the host's own page tables.
    pub host_page_tables: bool,
    /// Whether the host reaches managed memory that lies on the device, so that its touch does not move it.
    pub host_reaches_device: bool,
}

/// Blocks in x, y, z that no device takes more of, whatever its packets could say.
// HIP: AMD's runtime of October 2024 (tests/conformance/device_properties.cpp).
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_536, 65_536];

impl Properties {
    /// Asks `agent`; bytes of device memory and of LDS, and the host's access, are its pools' to know.
    ///
    /// # Errors
    /// [`Error::Hsa`](crate::Error::Hsa) if the agent does not answer.
    pub(crate) fn of(agent: &hsa::Agent, total_memory: u64, lds: u64, large_bar: bool) -> Result<Self> {
        let isa = agent.isa_names()?.into_iter().next().unwrap_or_default();
        let arch = isa.rsplit_once("--").map_or(isa.as_str(), |(_, arch)| arch).to_owned();
        let name = agent.product_name().unwrap_or_else(|_| agent.name().to_owned());
        let (grid, block) = (agent.grid_max_dim()?, agent.workgroup_max_dim()?);
        let units = agent.compute_units()?;
        let capability = capability(&arch);
        // HIP: AMD's library on RDNA tells half the compute units of HSA (ROCm/hip#3198).
        let each = if capability.0 >= 10 { 2 } else { 1 };
        let waves = agent.max_waves_per_compute_unit()? * each;
        let wavefront = agent.wavefront_size()?;
        let bdf = agent.bdfid()?;
        Ok(Self {
            name,
            capability,
            total_memory,
            compute_units: units,
            multiprocessors: units.div_ceil(each),
            wavefront,
            max_threads_per_block: agent.workgroup_max_size()?,
            max_threads_per_unit: waves * wavefront,
            max_block: block.map(u32::from),
            max_grid: [grid[0].min(MAX_GRID[0]), grid[1].min(MAX_GRID[1]), grid[2].min(MAX_GRID[2])],
            // CAST: LDS is a matter of kilobytes.
            lds_per_block: lds as u32,
            // HSA does not tell, and a block is one that needs no accumulation registers.
            // HIP: 5.2.3, 65536 (tests/conformance/device_properties.cpp).
            registers_per_block: 4 * 64 * 256,
            // HSA does not tell. A multiprocessor has four SIMDs.
            registers_per_unit: 4 * registers_of_simd(&arch),
            arch,
            clock_khz: agent.max_clock_mhz()? * 1000,
            // HSA does not tell. S_MEMREALTIME counts a constant clock of 100 MHz (MI200 ISA, 12.7).
            wall_clock_khz: 100_000,
            memory_clock_khz: agent.memory_max_clock_mhz()? * 1000,
            memory_bus_bits: agent.memory_width_bits()?,
            l2_bytes: agent.cache_sizes()?[1],
            asic_revision: agent.asic_revision()?,
            chip_id: agent.chip_id()?,
            // Older runtimes do not tell, and know no device that has several.
            xccs: agent.xcc_count().unwrap_or(1).max(1),
            pci: (agent.pci_domain()?, (bdf >> 8) & 0xff, (bdf >> 3) & 0x1f, bdf & 7),
            large_bar,
            // Only the pools tell: the caller sets these.
            host_atomics: true,
            fine_grained: false,
            managed: Sharing::default(),
            cooperative: agent.cooperative_queues()?,
            // Older runtimes do not tell.
            cooperative_units: agent.cooperative_compute_units().map_or(units, |some| some.min(units)) / each,
            // Older runtimes do not tell, and know no device that has none.
            copy_engines: !engines_are_off() && agent.copy_engines().map_or(true, |engines| engines > 0),
            uuid: uuid(&agent.uuid()?),
        })
    }
}

/// Whether ROCr is told to copy by kernels of its own where it would use copy engines.
fn engines_are_off() -> bool {
    std::env::var_os("HSA_ENABLE_SDMA").is_some_and(|value| value == "0")
}

/// Major and minor number that HIP reports for a processor: the digits of its name but for the stepping.
fn capability(arch: &str) -> (u32, u32) {
    let digits = arch.strip_prefix("gfx").unwrap_or_default();
    let digits: Vec<u32> = digits.chars().map_while(|c| c.to_digit(16)).collect();
    match digits[..] {
        [major, minor, _] => (major, minor),
        [tens, ones, minor, _] => (tens * 10 + ones, minor),
        _ => (0, 0),
    }
}

/// 32-bit vector registers of a SIMD: 512 for each of 64 lanes on GFX9 (MI200 ISA, 3.6); 1024 for each of 32 on RDNA, half as
/// many again on the processors that LLVM says so of.
fn registers_of_simd(arch: &str) -> u32 {
    match arch.split(':').next().unwrap_or_default() {
        "gfx1100" | "gfx1101" | "gfx1151" | "gfx1200" | "gfx1201" => 32 * 1536,
        // As many, in another shape.
        _ => 64 * 512,
    }
}

/// The 16 bytes of an agent's identifier: what follows `GPU-`, or as much of it as fits.
fn uuid(text: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    let id = text.strip_prefix("GPU-").unwrap_or(text);
    for (byte, c) in bytes.iter_mut().zip(id.bytes()) {
        *byte = c;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_drops_the_stepping() {
        assert_eq!(capability("gfx90a:sramecc+:xnack-"), (9, 0));
        assert_eq!(capability("gfx942"), (9, 4));
        assert_eq!(capability("gfx1100"), (11, 0));
        assert_eq!(capability("nonsense"), (0, 0));
    }

    /// As LLVM counts them: by the occupancy that clang-22 writes behind kernels for each.
    #[test]
    fn larger_dies_of_rdna_have_half_as_many_registers_again() {
        for arch in ["gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"] {
            assert_eq!(registers_of_simd(arch), 1536 * 32, "{arch}");
        }
        for arch in ["gfx1030", "gfx1102", "gfx1103", "gfx1150"] {
            assert_eq!(registers_of_simd(arch), 1024 * 32, "{arch}");
        }
        assert_eq!(registers_of_simd("gfx90a:sramecc+:xnack-"), 512 * 64);
    }

    #[test]
    fn a_multiprocessor_of_rdna_is_two_compute_units() {
        let device = crate::Device::get(0).unwrap();
        let p = device.properties();
        let each = if p.capability.0 >= 10 { 2 } else { 1 };
        assert_eq!(p.multiprocessors * each, p.compute_units);
        assert_eq!((p.wavefront, p.max_threads_per_unit), (64 / each, 2048));
    }

    #[test]
    fn lds_and_access_of_the_host_come_from_the_pools() {
        let device = crate::Device::get(0).unwrap();
        // GFX9 devices have 64 KiB (MI200 ISA, 11.1), but gfx950 160, and the host reaches device memory of the emulated ones.
        let kib = if device.properties().arch.starts_with("gfx950") { 160 } else { 64 };
        assert_eq!(device.properties().lds_per_block, kib << 10);
        let no_bar = std::env::var("AQLIPSE_EMULATE_HARDWARE").is_ok_and(|traits| traits.contains("no-bar"));
        if device.backend() == crate::Backend::Emulated {
            assert_eq!(device.properties().large_bar, !no_bar);
        }
    }
}
