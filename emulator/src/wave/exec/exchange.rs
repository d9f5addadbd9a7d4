//! DS instructions that exchange two values at once (MI200 ISA, 12.12).

use super::{
    ds::{offsets, pair, row, update32, update64, wide},
    kind::{Kind, kind_of},
    shape,
};
use crate::{
    isa::{Flow, Inst},
    wave::Wave,
};

fn exchange2<const K: u8, const UNIT: u32>(w: &mut Wave, inst: &Inst) -> Flow {
    let (first, second) = pair::<K, UNIT>(inst);
    let (first, second) = (offsets(w, inst, first), offsets(w, inst, second));
    let (data0, data1, dst) = (row(inst.src[1]), row(inst.src[2]), row(inst.dst));
    // Two offsets that are one name one exchange, with the first data (MI200 ISA, 11.3.1).
    let same = inst.imm as u32 == inst.literal;
    for lane in shape::lanes(w.exec) {
        if kind_of(K) == Kind::B32 {
            let (a, b) = (w.row(data0)[lane], w.row(data1)[lane]);
            let old = update32(w, first[lane], |_| a);
            let olds = [old, if same { old } else { update32(w, second[lane], |_| b) }];
            for (i, old) in olds.into_iter().enumerate() {
                w.row_mut(dst + i)[lane] = old;
            }
        } else {
            let (a, b) = (wide(w, data0, lane), wide(w, data1, lane));
            let old = update64(w, first[lane], |_| a);
            let olds = [old, if same { old } else { update64(w, second[lane], |_| b) }];
            for (i, old) in olds.into_iter().enumerate() {
                w.row_mut(dst + 2 * i)[lane] = old as u32;
                w.row_mut(dst + 2 * i + 1)[lane] = (old >> 32) as u32;
            }
        }
    }
    Flow::Next
}

/// Exchanges two dwords.
pub fn ds_wrxchg2_rtn_b32(w: &mut Wave, inst: &Inst) -> Flow {
    exchange2::<{ Kind::B32 as u8 }, 1>(w, inst)
}

/// Exchanges two dwords, offsets in units of 64.
pub fn ds_wrxchg2st64_rtn_b32(w: &mut Wave, inst: &Inst) -> Flow {
    exchange2::<{ Kind::B32 as u8 }, 64>(w, inst)
}

/// Exchanges two qwords.
pub fn ds_wrxchg2_rtn_b64(w: &mut Wave, inst: &Inst) -> Flow {
    exchange2::<{ Kind::B64 as u8 }, 1>(w, inst)
}

/// Exchanges two qwords, offsets in units of 64.
pub fn ds_wrxchg2st64_rtn_b64(w: &mut Wave, inst: &Inst) -> Flow {
    exchange2::<{ Kind::B64 as u8 }, 64>(w, inst)
}

/// Returns the two dwords of a qword and replaces each by the data's if the data's highest bit is set,
/// without it.
pub fn ds_condxchg32_rtn_b64(w: &mut Wave, inst: &Inst) -> Flow {
    let offsets = offsets(w, inst, inst.imm as u32);
    let (data, dst) = (row(inst.src[1]), row(inst.dst));
    for lane in shape::lanes(w.exec) {
        let first = offsets[lane] & 0xfff8;
        let data = [w.row(data)[lane], w.row(data + 1)[lane]];
        for (i, data) in data.into_iter().enumerate() {
            let exchange = |old| if data >> 31 == 1 { data & 0x7fff_ffff } else { old };
            let old = update32(w, first + 4 * i as u32, exchange);
            w.row_mut(dst + i)[lane] = old;
        }
    }
    Flow::Next
}
