//! Byte arithmetic and cube maps.

use std::mem::MaybeUninit;

use super::{
    lane::Kind,
    map::lanes,
    modal::floats,
    mode::Operand,
    result::{clamps, merge},
    soft,
    source::raw,
};
use crate::{
    isa::{Flow, Inst},
    wave::{Vector, Wave},
};

/// Sum of absolute differences of four bytes; `masked` leaves out bytes that are 0 in `b`.
#[inline(always)]
fn sad(a: u32, b: u32, masked: bool) -> u32 {
    let mut sum = 0;
    for n in 0..4 {
        let (x, y) = (a >> (8 * n) & 0xff, b >> (8 * n) & 0xff);
        let difference = x.abs_diff(y);
        sum += if masked && y == 0 { 0 } else { difference };
    }
    sum
}

/// Four sums over a window that slides along the eight bytes of `a`, each `add`ed to 16 bits of `c`.
#[inline(always)]
fn quad(a: u64, b: u32, c: u64, masked: bool, add: impl Fn(u16, u16) -> u16) -> u64 {
    let mut value = 0;
    for n in 0..4 {
        let sum = sad((a >> (8 * n)) as u32, b, masked);
        let lane = (c >> (16 * n)) as u16;
        // CAST: four differences of bytes are below 2^10.
        value |= u64::from(add(lane, sum as u16)) << (16 * n);
    }
    value
}

/// Average of bytes, rounded up where the lowest bit of the third source's byte is set.
#[inline(always)]
fn lerp(a: u32, b: u32, c: u32) -> u32 {
    let mut value = 0;
    for n in 0..4 {
        let byte = |word: u32| word >> (8 * n) & 0xff;
        value |= (byte(a) + byte(b) + (byte(c) & 1)) >> 1 << (8 * n);
    }
    value
}

/// Which of four shader engines a rectangle of the screen touches, a bit each, by its corners in tiles of 32 pixels
/// modulo 4: the columns x_min and x_max in bits 7..6 and 3..2, the rows y_min and y_max in bits 5..4 and 1..0. The
/// engine of tile (x, y) is {x\[0\] ^ y\[1\], y\[0\] ^ x\[1\]} (Vega ISA, V_SCREEN_PARTITION_4SE_B32).
const ENGINES: [u8; 256] = {
    let mut table = [0; 256];
    let mut corners = 0;
    while corners < 256 {
        let mut x = corners >> 6;
        loop {
            let mut y = corners >> 4 & 3;
            loop {
                table[corners] |= 1 << (((x ^ y >> 1) & 1) << 1 | (y ^ x >> 1) & 1);
                if y == corners & 3 {
                    break;
                }
                y = (y + 1) & 3;
            }
            if x == corners >> 2 & 3 {
                break;
            }
            x = (x + 1) & 3;
        }
        corners += 1;
    }
    table
};

lanes! {
    once;
    v_screen_partition_4se_b32(a: u32) -> u32 { ENGINES[(a & 0xff) as usize].into() };
    v_lerp_u8(a: u32, b: u32, c: u32) -> u32 { lerp(a, b, c) };
    v_sad_u8(a: u32, b: u32, c: u32) -> u32 { sad(a, b, false).wrapping_add(c) },
        clamp { sad(a, b, false).saturating_add(c) };
    v_msad_u8(a: u32, b: u32, c: u32) -> u32 { sad(a, b, true).wrapping_add(c) },
        clamp { sad(a, b, true).saturating_add(c) };
    v_sad_hi_u8(a: u32, b: u32, c: u32) -> u32 { (sad(a, b, false) << 16).wrapping_add(c) },
        clamp { (sad(a, b, false) << 16).saturating_add(c) };
    v_sad_u16(a: u32, b: u32, c: u32) -> u32 { sad16(a, b).wrapping_add(c) },
        clamp { sad16(a, b).saturating_add(c) };
    v_sad_u32(a: u32, b: u32, c: u32) -> u32 { a.abs_diff(b).wrapping_add(c) },
        clamp { a.abs_diff(b).saturating_add(c) };
    v_qsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 { quad(a, b, c, false, u16::wrapping_add) },
        clamp { quad(a, b, c, false, u16::saturating_add) };
    v_mqsad_pk_u16_u8(a: u64, b: u32, c: u64) -> u64 { quad(a, b, c, true, u16::wrapping_add) },
        clamp { quad(a, b, c, true, u16::saturating_add) };
}

#[inline(always)]
fn sad16(a: u32, b: u32) -> u32 {
    (a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)
}

/// Four masked sums, each added to a 32-bit word of a 128-bit source.
pub(crate) fn v_mqsad_u32_u8(wave: &mut Wave, inst: &Inst) -> Flow {
    let (Some(dst), Some(addend)) = (inst.dst.row(), inst.src[2].row()) else { return Flow::Next };
    if dst % 256 + 4 > 256 || addend % 256 + 4 > 256 {
        return Flow::Next;
    }
    let mut rooms = [const { MaybeUninit::uninit() }; 2];
    let [room0, room1] = &mut rooms;
    let a = raw(wave, inst, inst.src[0], Kind::B64, room0);
    let b = raw(wave, inst, inst.src[1], Kind::B32, room1);
    let clamp = clamps(inst);
    let mut value = [Vector([0; 64]); 4];
    for (n, row) in value.iter_mut().enumerate() {
        for lane in 0..64 {
            let window = u64::from(a[0].0[lane]) | u64::from(a[1].0[lane]) << 32;
            let sum = sad((window >> (8 * n)) as u32, b[0].0[lane], true);
            let addend = wave.vgpr[addend + n].0[lane];
            row.0[lane] = if clamp { addend.saturating_add(sum) } else { addend.wrapping_add(sum) };
        }
    }
    let exec = wave.exec;
    merge(&mut wave.vgpr[dst..dst + 4], &value, exec);
    Flow::Next
}

/// The face of a cube that a direction meets: 0, 2, 4 for the positive x, y, z axes, one more for the negative.
#[inline(always)]
fn face(x: f32, y: f32, z: f32) -> u32 {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        4 + u32::from(z < 0.0)
    } else if y.abs() >= x.abs() {
        2 + u32::from(y < 0.0)
    } else {
        u32::from(x < 0.0)
    }
}

/// The coordinate along the axis of the face.
#[inline(always)]
fn major(x: f32, y: f32, z: f32) -> f32 {
    match face(x, y, z) {
        0 | 1 => x,
        2 | 3 => y,
        _ => z,
    }
}

floats! {
    once;
    f32: v_cubeid_f32(x: f32, y: f32, z: f32) -> f32 { face(x, y, z) as f32 };
    f32: v_cubesc_f32(x: f32, y: f32, z: f32) -> f32 {
        match face(x, y, z) {
            0 => -z,
            1 => z,
            2..=4 => x,
            _ => -x,
        }
    };
    f32: v_cubetc_f32(x: f32, y: f32, z: f32) -> f32 {
        match face(x, y, z) {
            2 => z,
            3 => -z,
            _ => -y,
        }
    };
    f32: v_cubema_f32(x: f32, y: f32, z: f32) -> f32 { 2.0 * major(x, y, z) },
        exact |e| { soft::mul(e, 2.0, major(x.flush_if(e.flush_in), y.flush_if(e.flush_in), z.flush_if(e.flush_in))) };
}
