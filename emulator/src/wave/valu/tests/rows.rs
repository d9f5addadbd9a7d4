//! Instructions whose operands are not one value a lane, and encodings that no manual defines.

use fastrand::Rng;

use super::{DST, Fields, Lab};
use crate::{
    isa::{Flow, Target, decode},
    wave::{Fault, FaultKind, Vector},
};

#[test]
fn swapping_exchanges_live_lanes_only() {
    let mut random = Rng::with_seed(101);
    let mut lab = Lab::new();
    let (a, b) = (Vector(std::array::from_fn(|lane| lane as u32)), Vector([7; 64]));
    (lab.wave.vgpr[DST], lab.wave.vgpr[0]) = (a, b);
    let exec = random.u64(..);
    lab.wave.exec = exec;
    lab.execute(&[0x7e20_a300]); // v_swap_b32 v16, v0
    for lane in 0..64 {
        let live = exec >> lane & 1 != 0;
        let want = if live { (7, lane as u32) } else { (lane as u32, 7) };
        assert_eq!((lab.wave.vgpr[DST].0[lane], lab.wave.vgpr[0].0[lane]), want, "lane {lane}");
    }
}

#[test]
fn accumulation_registers_are_the_upper_half_of_the_file() {
    let mut lab = Lab::new();
    let lanes = |n: u32| Vector(std::array::from_fn(|lane| n + lane as u32));
    (lab.wave.vgpr[256], lab.wave.vgpr[0], lab.wave.vgpr[258]) = (lanes(100), lanes(200), lanes(300));
    lab.wave.exec = !1;
    let one = 1f32.to_bits();
    // v_accvgpr_read_b32 v16, a0; v_accvgpr_write_b32 a3, v0; v_accvgpr_write_b32 a4, 1.0; v_accvgpr_mov_b32 a1, a2
    lab.execute(&[0xd3d8_4010, 0x1800_0100]);
    lab.execute(&[0xd3d9_4003, 0x1800_0100]);
    lab.execute(&[0xd3d9_4004, 0x1800_00f2]);
    lab.execute(&[0x7e02_a502]);
    for (register, want) in [(DST, 131), (256 + 3, 231), (256 + 4, one), (256 + 1, 331)] {
        assert_eq!(lab.wave.vgpr[register].0[31], want, "row {register}");
        assert_eq!(lab.wave.vgpr[register].0[0], 0, "row {register}");
    }
}

#[test]
fn instructions_of_no_effect_change_nothing() {
    let mut lab = Lab::new();
    let sources = lab.randomise(&mut Rng::with_seed(103), [32; 3]);
    let scalars = lab.wave.sgpr;
    // v_nop, v_clrexcp, v_nop_e64
    for words in [&[0x7e00_0000][..], &[0x7e00_6a00], &[0xd140_0000, 0]] {
        lab.execute(words);
    }
    assert_eq!((lab.wave.sgpr, lab.wave.exec, lab.wave.mode.0), (scalars, u64::MAX, super::DEFAULT_MODE));
    for (lane, v) in sources.into_iter().enumerate() {
        assert_eq!([0, 2, 4].map(|n| u64::from(lab.wave.vgpr[n].0[lane])), v);
    }
}

/// Runs words that no document gives a meaning and says how the wave stopped.
fn stopped(words: &[u32]) -> Option<Fault> {
    let mut lab = Lab::new();
    let inst = decode(Target::Gfx90a, words).unwrap();
    let flow = lab.step(&inst);
    (flow == Flow::Stop).then_some(lab.wave.stop).flatten()
}

#[test]
fn undefined_modifiers_stop_the_wave_and_name_the_instruction() {
    let e64 = |opcode: u32, fields: Fields| {
        let Fields { neg, abs, omod, op_sel, .. } = fields;
        let word0 = 0xd000_0000 | opcode << 16 | op_sel << 11 | abs << 8 | DST as u32;
        [word0, 256 | 258 << 9 | 260 << 18 | omod << 27 | neg << 29]
    };
    let plain = Fields::default();
    let two = |words: [u32; 2]| [words[0], words[1] & !(0x1ff << 18)];
    let cases = [
        // Signs of the halves of short dot products and packed accumulation.
        ("v_dot2c_f32_f16", two(e64(0x137, Fields { neg: 1, ..plain }))),
        ("v_dot2c_f32_f16", two(e64(0x137, Fields { abs: 2, ..plain }))),
        ("v_pk_fmac_f16", two(e64(0x13c, Fields { neg: 2, ..plain }))),
        ("v_pk_fmac_f16", two(e64(0x13c, Fields { omod: 1, ..plain }))),
        // A part of a pair of halves: v_pk_fmac_f16 v16, v0, v4 with src0_sel:WORD_1.
        ("v_pk_fmac_f16", [0x7820_08f9, 0x0605_0600]),
        // Halves of 32-bit sources.
        ("v_alignbit_b32", e64(0x1ce, Fields { op_sel: 4, ..plain })),
        ("v_alignbyte_b32", e64(0x1cf, Fields { op_sel: 1, ..plain })),
        // Of a 32-bit addend, and of a destination that both halves fill.
        ("v_mad_u32_u16", e64(0x1f1, Fields { op_sel: 4, ..plain })),
        ("v_mad_i32_i16", e64(0x1f2, Fields { op_sel: 8, ..plain })),
        ("v_pack_b32_f16", two(e64(0x2a0, Fields { op_sel: 8, ..plain }))),
        ("v_cvt_pknorm_i16_f16", two(e64(0x299, Fields { op_sel: 8, ..plain }))),
        ("v_cvt_pknorm_u16_f16", two(e64(0x29a, Fields { op_sel: 8, ..plain }))),
        // neg_hi of the single that a dot product adds to.
        ("v_dot2_f32_f16", [0xd3a3_4410, 256 | 258 << 9 | 260 << 18 | 3 << 27]),
    ];
    for (name, words) in cases {
        let kind = stopped(&words).map(|fault| fault.kind);
        assert_eq!(kind, Some(FaultKind::Unimplemented { name }), "{words:08x?}");
    }
}
