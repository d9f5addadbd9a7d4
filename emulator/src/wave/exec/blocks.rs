//! Blocks of up to 32 registers, of which M0 says which are there (RDNA4 ISA, GLOBAL_LOAD_BLOCK).
//!
//! Register n of a lane is dword n of the lane's memory; neither is touched where bit n of M0 is 0.

use super::{access::fence_for, flat, kind::Kind, scratch, shape, transfer};
use crate::{
    isa::{Flow, Inst},
    wave::{FaultKind, Wave},
};

const B32: u8 = Kind::B32 as u8;

/// Calls `each` with every register of the block, from `first` on, and the bytes between its dword and the block's begin.
fn registers(
    w: &mut Wave,
    first: usize,
    mut each: impl FnMut(&mut Wave, usize, u32, usize) -> Result<(), FaultKind>,
) -> Result<(), FaultKind> {
    let there = w.m0();
    // Registers past the last one do not exist.
    for n in (0..32).filter(|n| there >> n & 1 != 0 && first + n < 256) {
        for lane in shape::lanes(w.exec) {
            // CAST: at most 124.
            each(w, first + n, 4 * n as u32, lane)?;
        }
    }
    Ok(())
}

pub fn global_load_block(w: &mut Wave, inst: &Inst) -> Flow {
    fence_for(w, inst);
    // The block may overwrite them.
    let addresses = flat::global_addresses(w, inst);
    let result = registers(w, inst.dst.row().unwrap_or(0), |w, row, bytes, lane| {
        transfer::load_lane::<B32>(w, row, addresses[lane].wrapping_add(bytes.into()), lane)
    });
    w.finish(inst, result)
}

pub fn global_store_block(w: &mut Wave, inst: &Inst) -> Flow {
    w.note_reach(inst);
    let addresses = flat::global_addresses(w, inst);
    let result = registers(w, inst.src[1].row().unwrap_or(0), |w, row, bytes, lane| {
        transfer::store_lane::<B32>(w, row, addresses[lane].wrapping_add(bytes.into()), lane)
    });
    w.finish(inst, result)
}

/// All lanes' offsets in their stacks.
fn offsets(w: &Wave, inst: &Inst) -> [u32; 64] {
    let (base, row) = scratch::offsets(w, inst);
    row.map_or([base; 64], |row| w.row(row).map(|offset| offset.wrapping_add(base)))
}

pub fn scratch_load_block(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = offsets(w, inst);
    let result = registers(w, inst.dst.row().unwrap_or(0), |w, row, bytes, lane| {
        scratch::load_lane::<B32>(w, row, offsets[lane].wrapping_add(bytes), lane)
    });
    w.finish(inst, result)
}

pub fn scratch_store_block(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = offsets(w, inst);
    let result = registers(w, inst.src[1].row().unwrap_or(0), |w, row, bytes, lane| {
        scratch::store_lane::<B32>(w, row, offsets[lane].wrapping_add(bytes), lane)
    });
    w.finish(inst, result)
}
