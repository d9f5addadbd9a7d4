//! What each emulated card says about itself; one file per card, and no `if` on its name elsewhere.

mod agent;
mod gfx1030;
mod gfx1100;
mod gfx1101;
mod gfx1102;
mod gfx1103;
mod gfx1150;
mod gfx1151;
mod gfx1200;
mod gfx1201;
mod gfx90a;
mod gfx942;
mod gfx950;
mod tally;

pub use agent::{Device, Image, take};
pub use tally::{Counters, Tally};

use crate::isa::Target;

/// The figures of one card.
///
/// Rates and sizes are the card's, so that programs make the choices that they make on it; the number
/// of compute units offered is small unless configured, because programs size their grids from it.
#[derive(Debug)]
pub struct Card {
    /// The instruction set.
    pub target: Target,
    /// `HSA_AGENT_INFO_NAME`.
    pub name: &'static str,
    /// `HSA_AMD_AGENT_INFO_PRODUCT_NAME`.
    pub product: &'static str,
    /// Full name of its only instruction set, without retries of accesses that fault.
    pub isa: &'static str,
    /// PCI device identifier.
    pub chip_id: u32,
    /// PCI class, with subclass and programming interface.
    pub pci_class: u32,
    /// Revision of the chip.
    pub asic_revision: u32,
    /// Family of the chip, as the driver numbers it.
    pub family_id: u32,
    /// Whether it is a part of the processor, and its memory the host's.
    pub is_apu: bool,
    /// Lanes of a wavefront, of those that kernels can have the fewer.
    pub wavefront: u32,
    /// Compute units offered by default.
    pub compute_units: u32,
    /// SIMD units per compute unit.
    pub simds_per_unit: u32,
    /// Wavefronts per compute unit.
    pub waves_per_unit: u32,
    /// Shader engines.
    pub shader_engines: u32,
    /// Shader arrays of an engine.
    pub arrays_per_engine: u32,
    /// Accelerator dies.
    pub dies: u32,
    /// Copy engines that face the host.
    pub copy_engines: u32,
    /// Copy engines that face other cards.
    pub link_copy_engines: u32,
    /// Bits of the counts in packets of copy engines.
    pub copy_count_bits: u32,
    /// Whether ROCr gives the first copy engine nothing but copies from the host to the device.
    pub first_engine_for_uploads: bool,
    /// Bytes per cache line.
    pub cacheline: u32,
    /// Bytes of cache per level.
    pub caches: [u32; 4],
    /// Highest engine clock, MHz.
    pub engine_clock: u32,
    /// Highest memory clock, MHz.
    pub memory_clock: u32,
    /// Width of the memory interface, bits.
    pub memory_width: u32,
    /// Bytes of memory on the card.
    pub local_memory: u64,
    /// Bytes of LDS per workgroup.
    pub group_memory: u32,
    /// Frequency of the device's time stamps, Hz.
    pub timestamp_frequency: u64,
    /// Firmware version of the command processor.
    pub firmware: u32,
    /// Firmware version of the copy engines.
    pub copy_firmware: u32,
}

impl Card {
    /// Full name of the instruction set, with or without retries of accesses that fault.
    pub fn isa_name(&self, xnack: bool) -> String {
        if xnack { self.isa.replace("xnack-", "xnack+") } else { self.isa.to_owned() }
    }
}

/// The card behind a target.
pub fn card(target: Target) -> &'static Card {
    match target {
        Target::Gfx90a => &gfx90a::MI210,
        Target::Gfx942 => &gfx942::MI300X,
        Target::Gfx950 => &gfx950::MI355X,
        Target::Gfx1030 => &gfx1030::RX_6900_XT,
        Target::Gfx1100 => &gfx1100::RX_7900_XTX,
        Target::Gfx1101 => &gfx1101::RX_7800_XT,
        Target::Gfx1102 => &gfx1102::RX_7600,
        Target::Gfx1103 => &gfx1103::RADEON_780M,
        Target::Gfx1150 => &gfx1150::RADEON_890M,
        Target::Gfx1151 => &gfx1151::RADEON_8060S,
        Target::Gfx1200 => &gfx1200::RX_9060_XT,
        Target::Gfx1201 => &gfx1201::RX_9070_XT,
    }
}

/// Largest ring of a queue, packets.
pub const MAX_QUEUE_SIZE: u32 = 131_072;
/// Smallest ring of a queue, packets.
pub const MIN_QUEUE_SIZE: u32 = 64;
/// Queues that one device may have.
pub const MAX_QUEUES: u32 = 128;
/// Queues of one copy engine, as the kernel driver gives them out (SDMA 4.4).
pub const QUEUES_PER_COPY_ENGINE: u32 = 8;
/// Work-items per workgroup.
pub const MAX_WORKGROUP: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::card;
    use crate::isa::Target;

    #[test]
    fn a_card_describes_the_target_that_it_is_listed_under() {
        for target in Target::ALL {
            let card = card(target);
            assert_eq!(card.target, target);
            assert_eq!(card.name, target.name());
            assert!(card.isa.contains(card.name), "{} / {}", card.isa, card.name);
            // RDNA retries no access, and says nothing of error correction.
            assert_eq!(card.isa.ends_with(card.name), target.is_rdna(), "{}", card.isa);
            assert_eq!(card.wavefront, if target.is_rdna() { 32 } else { 64 });
            assert!(card.product.len() < 64);
            // The times of a copy do not say whose engine it was.
            assert_eq!(card.timestamp_frequency, super::gfx90a::MI210.timestamp_frequency);
        }
    }

    #[test]
    fn the_readme_lists_the_cards() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `gfx")).collect();
        let cards = Target::ALL.map(|target| {
            let card = card(target);
            let product = card.product.trim_end_matches(" (emulated)");
            format!("| `{}` | {product} | {} |", card.name, card.wavefront)
        });
        assert_eq!(rows, cards);
    }
}
