//! Where the fields of an instruction go in [`Inst`]; that every encoding is read right is `tests/isa`'s matter.

use super::*;
use crate::isa::Variant;

fn one(words: &[u32]) -> Inst {
    decode(Target::Gfx90a, words).expect("the words are an instruction")
}

const fn s(n: u16) -> Operand {
    Operand(n)
}

const fn v(n: u16) -> Operand {
    Operand::vgpr(n)
}

const fn a(n: u16) -> Operand {
    Operand::agpr(n)
}

#[test]
fn scalar_immediates_are_sign_extended() {
    // s_movk_i32 s8, 0xfff2; s_branch 65534
    let inst = one(&[0xb008_fff2]);
    assert_eq!((inst.dst, inst.imm, inst.size), (s(8), -14, 4));
    assert_eq!(one(&[0xbf82_fffe]).imm, -2);
}

#[test]
fn a_literal_makes_the_instruction_eight_bytes_long() {
    // s_add_u32 s0, 0x12345678, s4
    let inst = one(&[0x8000_04ff, 0x1234_5678]);
    assert_eq!(inst.src[..2], [Operand::LITERAL, s(4)]);
    assert_eq!((inst.literal, inst.size), (0x1234_5678, 8));
    // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3
    let inst = one(&[0xba00_0901, 3]);
    assert_eq!((inst.imm, inst.literal, inst.size), (0x0901, 3, 8));
}

#[test]
fn the_short_carry_forms_name_vcc() {
    // v_addc_co_u32_e32 v4, vcc, v2, v4, vcc; v_cmp_lt_f32_e32 vcc, v2, v4; v_cndmask_b32_e32 v4, v2, v4, vcc
    let inst = one(&[0x3808_0902]);
    assert_eq!((inst.dst, inst.sdst, inst.src), (v(4), Operand::VCC_LO, [v(2), v(4), Operand::VCC_LO]));
    let inst = one(&[0x7c82_0902]);
    assert_eq!((inst.dst, inst.sdst), (Operand::NONE, Operand::VCC_LO));
    assert_eq!(one(&[0x0008_0902]).src, [v(2), v(4), Operand::VCC_LO]);
}

#[test]
fn a_promoted_opcode_shares_the_row_of_its_short_form() {
    // v_add_f32_e64 v4, -|v2|, v4 clamp mul:2
    let inst = one(&[0xd101_8104, 0x2802_0902]);
    assert!(std::ptr::eq(inst.row, one(&[0x0208_0902]).row));
    assert_eq!((inst.variant, inst.row.family), (Variant::E64, Family::Vop2));
    assert_eq!((inst.mods.neg, inst.mods.abs, inst.mods.omod, inst.mods.clamp), (1, 1, 1, true));
}

#[test]
fn sdwa_and_dpp_words_stay_raw_beside_the_real_source_0() {
    // v_add_f32_sdwa v4, -s6, v4 dst_sel:BYTE_3 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1
    let inst = one(&[0x0208_08f9, 0x0596_0306]);
    assert_eq!((inst.variant, inst.word1, inst.src[0], inst.mods.neg), (Variant::Sdwa, 0x0596_0306, s(6), 1));
    // v_mov_b32_dpp v4, v2 row_shr:1 row_mask:0xf bank_mask:0xf
    let inst = one(&[0x7e08_02fa, 0xff01_1102]);
    assert_eq!((inst.variant, inst.word1, inst.src[0]), (Variant::Dpp, 0xff01_1102, v(2)));
}

#[test]
fn the_k_of_madmk_is_the_literal_and_no_source() {
    // v_madmk_f32 v4, v1, 0x42280000, v4
    let inst = one(&[0x2e08_0901, 0x4228_0000]);
    assert_eq!((inst.src, inst.literal, inst.size), ([v(1), v(4), Operand::NONE], 0x4228_0000, 8));
}

#[test]
fn matrix_operands_are_in_either_half_of_the_register_file() {
    // v_mfma_f32_32x32x2f32 a[4:19], a2, v4, a[10:25]
    let inst = one(&[0xd3c4_8004, 0x0c2a_0902]);
    assert_eq!((inst.dst, inst.src), (a(4), [a(2), v(4), a(10)]));
    // v_accvgpr_write_b32 a4, v2
    let inst = one(&[0xd3d9_4004, 0x1800_0102]);
    assert_eq!((inst.dst, inst.src[0]), (a(4), v(2)));
}

#[test]
fn packed_modifiers_have_both_halves() {
    // v_pk_fma_f16 v4, v2, v4, v6 op_sel:[0,1,0] op_sel_hi:[0,1,1] neg_lo:[1,0,0] neg_hi:[0,0,1]
    let inst = one(&[0xd38e_5404, 0x341a_0902]);
    let mods = inst.mods;
    assert_eq!((mods.op_sel, mods.op_sel_hi, mods.neg, mods.abs), (0b010, 0b110, 0b001, 0b100));
}

#[test]
fn lds_offsets_are_one_or_two() {
    // ds_write_b32 v2, a4 offset:513; ds_write2_b32 v2, v4, v8 offset0:1 offset1:2
    let inst = one(&[0xda1a_0201, 0x0000_0402]);
    assert_eq!((inst.dst, inst.src, inst.imm), (Operand::NONE, [v(2), a(4), Operand::NONE], 513));
    let inst = one(&[0xd81c_0201, 0x0008_0402]);
    assert_eq!((inst.src, inst.imm, inst.literal), ([v(2), v(4), v(8)], 1, 2));
}

#[test]
fn scalar_loads_have_an_immediate_a_register_or_both() {
    // s_load_dword s16, s[4:5], -0x1; ..., s5; ..., s6 offset:0x5
    let inst = one(&[0xc002_0402, 0x001f_ffff]);
    assert_eq!((inst.dst, inst.src[0], inst.src[1], inst.imm), (s(16), s(4), Operand::NONE, -1));
    assert_eq!((one(&[0xc000_0402, 5]).src[1], one(&[0xc000_0402, 5]).imm), (s(5), 0));
    let inst = one(&[0xc002_4402, 0x0c00_0005]);
    assert_eq!((inst.src[1], inst.imm), (s(6), 5));
}

#[test]
fn an_atomic_has_a_destination_if_it_returns() {
    // global_atomic_add v7, v[2:3], v4, off glc; global_atomic_add v[2:3], v4, off
    assert_eq!(one(&[0xdd09_8000, 0x077f_0402]).dst, v(7));
    let inst = one(&[0xdd08_8000, 0x077f_0402]);
    assert_eq!((inst.dst, inst.src), (Operand::NONE, [v(2), v(4), Operand::NONE]));
}

#[test]
fn scratch_addresses_differ_by_target() {
    // scratch_load_dword v4, v2, off on gfx90a; v4, off, off on gfx942
    let words = [0xdc50_4000, 0x047f_0002];
    assert_eq!(one(&words).src[0], v(2));
    let inst = decode(Target::Gfx942, &words).expect("the words are an instruction");
    assert_eq!((inst.dst, inst.src), (v(4), [Operand::NONE; 3]));
}

#[test]
fn a_buffer_load_to_lds_has_no_destination() {
    // buffer_load_dword v4, off, s[8:11], s1 offset:5; the same with lds
    let inst = one(&[0xe050_0005, 0x0102_0402]);
    assert_eq!((inst.dst, inst.src, inst.imm), (v(4), [Operand::NONE, s(8), s(1)], 5));
    assert_eq!(one(&[0xe051_0005, 0x0102_0402]).dst, Operand::NONE);
}
