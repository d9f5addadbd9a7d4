//! Formats of typed buffers on RDNA: numbers of the pairs that GFX9 has fields for (LLVM, AMDGPUUsage; `UfmtGFX10`,
//! `UfmtGFX11`).

use super::row::{Generation, Target};

/// For each DATA_FORMAT from 1 on, the NUM_FORMATs that there are, a bit each. Formats are numbered in this order.
const GFX10: [u8; 14] = [0x3f, 0xbf, 0x3f, 0xb0, 0xbf, 0xbf, 0xbf, 0x3f, 0x3f, 0x3f, 0xb0, 0xbf, 0xb0, 0xb0];
/// As [`GFX10`], from RDNA 3 on.
const GFX11: [u8; 14] = [0x3f, 0xbf, 0x3f, 0xb0, 0xbf, 0x80, 0x80, 0x33, 0x3f, 0x3f, 0xb0, 0xbf, 0xb0, 0xb0];

/// DATA_FORMAT and NUM_FORMAT of a format; 0 is the invalid one. `None` if it is reserved.
pub fn parts(format: u32, target: Target) -> Option<(u8, u8)> {
    if format == 0 {
        return Some((0, 0));
    }
    let formats = if target.generation() == Generation::Gfx10 { &GFX10 } else { &GFX11 };
    let all = (1..).zip(formats);
    let mut named = all.flat_map(|(data, numbers)| {
        (0..8).filter(move |number| numbers >> number & 1 != 0).map(move |number| (data, number))
    });
    named.nth(format as usize - 1)
}
