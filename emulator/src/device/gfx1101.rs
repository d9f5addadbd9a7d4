//! AMD Radeon RX 7800 XT: figures of its data sheet. What that does not say, such as versions of firmware, is as on gfx1100.

use super::Card;
use crate::isa::Target;

pub(super) const RX_7800_XT: Card = Card {
    target: Target::Gfx1101,
    name: "gfx1101",
    product: "AMD Radeon RX 7800 XT (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1101",
    chip_id: 0x747e,
    pci_class: 0x03_0000,
    asic_revision: 0,
    family_id: 145,
    is_apu: false,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 3,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 2,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 64,
    caches: [32 << 10, 4 << 20, 64 << 20, 0],
    engine_clock: 2430,
    memory_clock: 1218,
    memory_width: 256,
    local_memory: 16 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 202,
    copy_firmware: 20,
};
