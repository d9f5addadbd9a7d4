//! AMD Radeon 890M: figures of published outputs of `rocminfo`, and of the data sheet of its processors with
//! LPDDR5X-7500, of which the driver sets 4 GiB aside. Versions of firmware are as on gfx1100.

use super::Card;
use crate::isa::Target;

pub(super) const RADEON_890M: Card = Card {
    target: Target::Gfx1150,
    name: "gfx1150",
    product: "AMD Radeon 890M (emulated)",
    isa: "amdgcn-amd-amdhsa--gfx1150",
    chip_id: 0x150e,
    pci_class: 0x03_8000,
    asic_revision: 4,
    family_id: 150,
    is_apu: true,
    wavefront: 32,
    compute_units: 4,
    simds_per_unit: 2,
    waves_per_unit: 32,
    shader_engines: 1,
    arrays_per_engine: 2,
    dies: 1,
    copy_engines: 1,
    link_copy_engines: 0,
    copy_count_bits: 30,
    first_engine_for_uploads: false,
    cacheline: 128,
    caches: [32 << 10, 2 << 20, 0, 0],
    engine_clock: 2900,
    memory_clock: 3750,
    memory_width: 128,
    local_memory: 4 << 30,
    group_memory: 64 << 10,
    timestamp_frequency: 100_000_000,
    firmware: 202,
    copy_firmware: 20,
};
