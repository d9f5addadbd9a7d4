//! Words of RDNA to [`Inst`](super::Inst).
//!
//! Operands get the numbers that they have on GFX9: M0 is 124 and NULL is 125 on all generations.

mod memory;
mod operand;
mod vector;

use super::{
    super::row::{Family, Generation},
    DecodeErrorKind, Decoded, Fetch, scalar,
};

pub use vector::halves;

pub fn decode(f: &Fetch) -> Decoded {
    let generation = f.target.generation();
    let word = f.word0;
    let not_compute = |encoding| Err(DecodeErrorKind::NotCompute { encoding });
    match word >> 23 {
        0x17d => return scalar::sop1(f),
        0x17e => return scalar::sopc(f),
        0x17f => return scalar::sopp(f),
        0x160..=0x17c => return scalar::sopk(f),
        0x100..=0x15f => return scalar::sop2(f),
        _ => {}
    }
    match word >> 25 {
        0x3f => return vector::vop1(f),
        0x3e => return vector::vopc(f),
        0x00..=0x3d => return vector::vop2(f),
        _ => {}
    }
    match (word >> 26, generation) {
        (0x31, Generation::Gfx12) => memory::vbuffer(f),
        (0x32, Generation::Gfx11 | Generation::Gfx12) => vector::halves(f).map(|[first, _]| first),
        (0x32, Generation::Gfx10) => not_compute("VINTRP"),
        (0x33, _) => match word >> 24 & 3 {
            0 => vector::vop3p(f),
            1 if generation > Generation::Gfx10 => not_compute("VINTERP"),
            2 if generation > Generation::Gfx10 => vector::lds_direct(f),
            _ => Err(DecodeErrorKind::Encoding { word }),
        },
        (0x34, Generation::Gfx12) => not_compute("VIMAGE"),
        (0x35, _) => vector::vop3(f),
        (0x36, _) => memory::ds(f),
        (0x37, Generation::Gfx10 | Generation::Gfx11) => memory::flat(f),
        (0x38, Generation::Gfx10 | Generation::Gfx11) => memory::mubuf(f),
        (0x39, Generation::Gfx12) => not_compute("VSAMPLE"),
        (0x3a, Generation::Gfx10 | Generation::Gfx11) => memory::mtbuf(f),
        (0x3b, Generation::Gfx12) => match word >> 24 & 3 {
            0 => memory::vflat(f, Family::Flat),
            1 => memory::vflat(f, Family::Scratch),
            2 => memory::vflat(f, Family::Global),
            _ => Err(DecodeErrorKind::Encoding { word }),
        },
        (0x3c, Generation::Gfx10 | Generation::Gfx11) => not_compute("MIMG"),
        (0x3d, _) => memory::smem(f),
        (0x3e, _) => not_compute("EXP"),
        _ => Err(DecodeErrorKind::Encoding { word }),
    }
}
