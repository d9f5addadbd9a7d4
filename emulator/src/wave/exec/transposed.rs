//! Loads that transpose, for operands of matrix instructions: from LDS on gfx950, from memory on RDNA 4.
//!
//! On gfx950 sixteen lanes load a tile of small elements together. As stored it has sixteen columns, so that a row is what one, two or
//! four lanes load, one behind the other; each lane gets a column. Lanes that are off load zeros.

use super::{
    access::fence_for,
    ds, flat,
    kind::{self, Kind, Words, kind_of},
    lds, shape, transfer,
};
use crate::{
    isa::{Flow, Inst},
    wave::{FaultKind, Wave},
};

/// Lanes that exchange elements, and columns of a tile.
const TILE: usize = 16;

/// Loads elements of so many bits, as many in a lane as its datum has.
fn read<const K: u8, const BITS: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    let kind = const { kind_of(K) };
    let per_lane = const { kind_of(K).bytes() as usize * 8 / BITS };
    let offsets = ds::offsets(w, inst, inst.imm as u32);
    let mut loaded = [0u128; 64];
    for lane in shape::lanes(w.exec).filter(|lane| lds::fits(w, offsets[*lane], kind.bytes())) {
        // SAFETY: the datum is inside of LDS.
        let words = unsafe { kind::read(kind, lds::at(w, offsets[lane])) };
        loaded[lane] = words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
    }
    let (dst, lanes_per_row) = (ds::row(inst.dst), TILE / per_lane);
    for lane in shape::lanes(w.exec) {
        let (first, column) = (lane / TILE * TILE, lane % TILE);
        let element = |row: usize| {
            let from = loaded[first + lanes_per_row * row + column / per_lane];
            from >> (BITS * (column % per_lane)) & ((1 << BITS) - 1)
        };
        let all = (0..per_lane).fold(0, |all, row| all | element(row) << (BITS * row));
        // CAST: a dword each.
        let words = [0, 32, 64, 96].map(|shift| (all >> shift) as u32);
        kind::put(w, kind, dst, lane, words);
    }
    Flow::Next
}

pub fn ds_read_b64_tr_b4(w: &mut Wave, inst: &Inst) -> Flow {
    read::<{ Kind::B64 as u8 }, 4>(w, inst)
}

pub fn ds_read_b96_tr_b6(w: &mut Wave, inst: &Inst) -> Flow {
    read::<{ Kind::B96 as u8 }, 6>(w, inst)
}

pub fn ds_read_b64_tr_b8(w: &mut Wave, inst: &Inst) -> Flow {
    read::<{ Kind::B64 as u8 }, 8>(w, inst)
}

pub fn ds_read_b64_tr_b16(w: &mut Wave, inst: &Inst) -> Flow {
    read::<{ Kind::B64 as u8 }, 16>(w, inst)
}

/// Lanes that exchange elements on RDNA 4, and elements of each.
const SQUARE: usize = 8;

/// Loads tiles of eight by eight elements, a row from each lane of eight, of which each lane gets a column. Lanes that are
/// off load zeros. No document says how lanes of a wave of 64 share a tile.
fn load<const K: u8, const BITS: usize>(w: &mut Wave, inst: &Inst) -> Flow {
    if w.lanes() != 32 {
        return w.fault(inst, FaultKind::Unimplemented { name: inst.row.name });
    }
    fence_for(w, inst);
    let dst = inst.dst.row().unwrap_or(0);
    let addresses = flat::global_addresses(w, inst);
    let mut rows = [[0; SQUARE]; 32];
    let result = shape::lanes(w.exec).try_for_each(|lane| {
        let words: Words = transfer::read_lane::<K>(w, addresses[lane], lane)?;
        for (n, element) in rows[lane].iter_mut().enumerate() {
            *element = words[BITS * n / 32] >> (BITS * n % 32) & ((1 << BITS) - 1);
        }
        Ok(())
    });
    if result.is_ok() {
        for lane in shape::lanes(w.exec) {
            let tile = lane / SQUARE * SQUARE;
            let mut words: Words = [0; 4];
            for n in 0..SQUARE {
                words[BITS * n / 32] |= rows[tile + n][lane % SQUARE] << (BITS * n % 32);
            }
            kind::put(w, const { kind_of(K) }, dst, lane, words);
        }
    }
    w.finish(inst, result)
}

pub fn global_load_tr_b128(w: &mut Wave, inst: &Inst) -> Flow {
    load::<{ Kind::B128 as u8 }, 16>(w, inst)
}

pub fn global_load_tr_b64(w: &mut Wave, inst: &Inst) -> Flow {
    load::<{ Kind::B64 as u8 }, 8>(w, inst)
}
