//! What is followed against what is so: instructions are executed with every value of the bits that nothing has written.

use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;

use super::{Step, look};
use crate::{
    isa::{Target, decode},
    uninit::{
        Contents, ScalarShadow, Uninit, UninitByte, UninitFinding, UninitFindings, UninitKind, VectorShadow,
        shadow, uninitialize, written,
    },
    wave::{Apertures, Deaf, Exit, Mode, Surroundings, Wave, code::Code, semantics},
};

const LANE: usize = 5;

/// A wave with one lane on, and its shadow.
struct Watched {
    wave: Wave,
    uninit: Uninit,
    findings: Arc<UninitFindings>,
}

impl Watched {
    fn new() -> Self {
        Self::on(Target::Gfx90a)
    }

    fn on(target: Target) -> Self {
        let (map, apertures, host) = (Arc::default(), Apertures::default(), Arc::new(Deaf));
        let mut wave = Wave::new(target, Surroundings { map, apertures, host });
        wave.set_lanes(if target.is_rdna() { 32 } else { 64 });
        (wave.exec, wave.scratch_stride) = (1 << LANE, 4096);
        let (mut uninit, findings) = (Uninit::default(), Arc::default());
        uninit.begin((0, 0), 4096, &Arc::new(Mutex::new(Contents::of(512))), &findings);
        Self { wave, uninit, findings }
    }

    /// Gives a vector register a value and says which bits of it nothing has written.
    fn set(&mut self, row: usize, value: u32, bits: u32) {
        self.wave.vgpr[row].0[LANE] = value;
        let mut all = [0; 64];
        all[LANE] = bits;
        let origin = self.uninit.origin(4, UninitByte::Lds(0));
        self.uninit.registers.set_row(row, 1 << LANE, &VectorShadow { bits: all, derived: 0, origin });
    }

    fn set_scalar(&mut self, n: usize, value: u32, bits: u32) {
        self.wave.sgpr[n] = value;
        let origin = self.uninit.origin(4, UninitByte::Lds(0));
        self.uninit.registers.set_scalar(n, ScalarShadow { bits, derived: false, origin });
    }

    fn look(&mut self, words: [u32; 2]) {
        let inst = decode(self.wave.target, &words).expect("an instruction");
        self.wave.pc = 0x1000 + u64::from(inst.size);
        let exec = semantics(inst.row).expect("semantics");
        look(&mut self.uninit, &mut self.wave, &Step { inst: &inst, exec, pc: 0x1000 });
    }

    fn execute(&mut self, words: [u32; 2]) {
        let inst = decode(self.wave.target, &words).expect("an instruction");
        (semantics(inst.row).expect("semantics"))(&mut self.wave, &inst);
    }

    fn bits(&self, row: usize) -> u32 {
        self.uninit.registers.row(row).map_or(0, |row| row.bits[LANE])
    }

    fn found(&self) -> Vec<(UninitKind, Option<u32>, u64)> {
        let all = self.findings.take().into_iter();
        all.map(|UninitFinding { kind, lane, count, .. }| (kind, lane, count)).collect()
    }
}

const V_MOV_V3_V1: [u32; 2] = [0x7e06_0301, 0];

/// v3 of v1 and v2 (VOP2).
fn vop2(opcode: u32) -> [u32; 2] {
    [opcode << 25 | 3 << 17 | 2 << 9 | 0x101, 0]
}

/// v3 of v1, v2 and s4 (VOP3).
fn vop3(opcode: u32) -> [u32; 2] {
    [0xd000_0000 | opcode << 16 | 3, 4 << 18 | 0x102 << 9 | 0x101]
}

/// As [`vop3`], on RDNA 3.
fn rdna3(opcode: u32) -> [u32; 2] {
    let [first, second] = vop3(opcode);
    [first | 0x0400_0000, second]
}

/// What instructions do that the tests look at: their words, and whether each bit of the result depends on the operands' as
/// bits do, so that all that depend are found.
fn instruction() -> impl Strategy<Value = (Target, [u32; 2], bool)> {
    let of = |target| move |(words, exact)| (target, words, exact);
    prop_oneof![of_gfx9().prop_map(of(Target::Gfx90a)), of_rdna3().prop_map(of(Target::Gfx1100))]
}

/// See [`instruction`]; the same ones as [`of_gfx9`], and some of halves of registers.
fn of_rdna3() -> impl Strategy<Value = ([u32; 2], bool)> {
    prop_oneof![
        Just((V_MOV_V3_V1, true)),
        (27u32..30).prop_map(|opcode| (vop2(opcode), true)),
        // v_and_b16 v3.l, v1.h, v2.l, v_xor_b16 v3.h, v1.h, v2.l and v_mov_b16 v3.h, v1.l
        Just(([0xd762_0803, 0x0002_0501], true)),
        Just(([0xd764_4803, 0x0002_0501], true)),
        Just(([0x7f06_3901, 0], true)),
        prop_oneof![17u32..21, 24u32..27, 37u32..40, Just(8)].prop_map(|opcode| (vop2(opcode), false)),
        prop_oneof![
            Just((rdna3(0x212), true)),
            Just((rdna3(0x244), true)),
            Just((rdna3(0x216), true)),
            Just((rdna3(0x256), true)),
            Just((rdna3(0x257), true)),
            Just((rdna3(0x101), true)),
            Just((rdna3(0x246), false)),
            Just((rdna3(0x220), false)),
        ],
    ]
}

/// See [`instruction`].
fn of_gfx9() -> impl Strategy<Value = ([u32; 2], bool)> {
    prop_oneof![
        Just((V_MOV_V3_V1, true)),
        prop_oneof![Just(19), Just(20), Just(21), Just(61)].prop_map(|opcode| (vop2(opcode), true)),
        // Minima, maxima, shifts, sums and differences, and products.
        prop_oneof![12u32..19, 52u32..55, Just(8), Just(1), Just(5)].prop_map(|opcode| (vop2(opcode), false)),
        // v_bfi_b32, v_perm_b32, v_alignbit_b32, v_lshl_or_b32, v_and_or_b32, v_cndmask_b32, v_lshl_add_u32, v_med3_i32.
        prop_oneof![
            Just((vop3(0x1ca), true)),
            Just((vop3(0x1ed), true)),
            Just((vop3(0x1ce), true)),
            Just((vop3(0x200), true)),
            Just((vop3(0x201), true)),
            Just((vop3(0x100), true)),
            Just((vop3(0x1fd), false)),
            Just((vop3(0x1d7), false)),
        ],
    ]
}

proptest! {
    /// Nothing is found that does not depend on such a bit, and of instructions that do nothing but select bits all is.
    #[test]
    fn what_differs_depends_on_what_nothing_has_written(
        (target, words, exact) in instruction(),
        values in any::<[u32; 2]>(),
        places in proptest::collection::vec((0..2usize, 0..32u32), 0..6),
        scalar in prop_oneof![Just(0u32), any::<u32>()],
    ) {
        let mut masks = [0; 2];
        places.iter().for_each(|(source, bit)| masks[*source] |= 1u32 << bit);
        let mut watched = Watched::on(target);
        watched.wave.sgpr[4] = scalar;
        for n in 0..2 {
            watched.set(1 + n, values[n], masks[n]);
        }
        watched.look(words);
        let found = watched.bits(3);
        // All that those bits can be.
        let mut results = Vec::new();
        for choice in 0..1u32 << places.len() {
            let mut filled = values;
            for (n, (source, bit)) in places.iter().enumerate() {
                filled[*source] = filled[*source] & !(1 << bit) | (choice >> n & 1) << bit;
            }
            let mut plain = Watched::on(target);
            plain.wave.sgpr[4] = scalar;
            (0..2).for_each(|n| plain.wave.vgpr[1 + n].0[LANE] = filled[n]);
            plain.execute(words);
            results.push(plain.wave.row(3)[LANE]);
        }
        let depends = results.iter().fold(0, |bits, result| bits | result ^ results[0]);
        prop_assert_eq!(found & !depends, 0, "{:#x} of {:#x}", found, depends);
        // A shift by such bits themselves may come out alike for all that is tried.
        let shifts = masks[1] != 0 && [vop3(0x200), rdna3(0x256)].contains(&words);
        if exact && !shifts {
            prop_assert_eq!(found, depends);
        } else if depends != 0 && places.len() == 1 && !shifts {
            prop_assert!(found != 0);
        }
        prop_assert_eq!(watched.wave.row(3)[LANE], 0, "it is not executed");
    }
}

#[test]
fn branches_and_addresses_are_found() {
    const V_CMP_EQ_U32_V1_V2: [u32; 2] = [0x7d94_0501, 0];
    const S_AND_SAVEEXEC: [u32; 2] = [0xbe82_206a, 0];
    const S_CMP_EQ_U32_S4_0: [u32; 2] = [0xbf06_8004, 0];
    const S_CBRANCH_SCC1: [u32; 2] = [0xbf85_0004, 0];
    let mut watched = Watched::new();
    watched.set(1, 7, 1);
    watched.wave.vgpr[2].0[LANE] = 8;
    watched.look(V_CMP_EQ_U32_V1_V2);
    watched.look(S_AND_SAVEEXEC);
    assert_eq!(watched.found(), [], "7 and 6 differ from 8");
    watched.wave.vgpr[2].0[LANE] = 6;
    watched.look(V_CMP_EQ_U32_V1_V2);
    watched.look(S_AND_SAVEEXEC);
    assert_eq!(watched.found(), [(UninitKind::Branch, Some(LANE as u32), 1)]);

    watched.set_scalar(4, 0, 0xff);
    watched.look(S_CMP_EQ_U32_S4_0);
    watched.look(S_CBRANCH_SCC1);
    assert_eq!(watched.found(), [(UninitKind::Branch, None, 1)]);

    // global_load_dword v3, v[1:2], off
    watched.look([0xdc50_8000, 0x037f_0001]);
    assert_eq!(watched.found(), [(UninitKind::Address, Some(LANE as u32), 1)]);
}

/// What is only copied is followed to where it is computed with, through LDS and scratch, too.
#[test]
fn copies_are_followed() {
    // A piece of address space that only this test uses.
    const AT: u64 = 0x5100_0000_0000;
    uninitialize(AT..AT + 8);
    let mut watched = Watched::new();
    watched.wave.vgpr[1].0[LANE] = AT as u32;
    watched.wave.vgpr[2].0[LANE] = (AT >> 32) as u32;
    // global_load_ushort v3, v[1:2], off offset:2
    watched.look([0xdc48_8002, 0x037f_0001]);
    assert_eq!(watched.bits(3), 0xffff);
    // ds_write_b32 v0, v3 offset:8, then ds_read_u8 v4, v0 offset:9
    watched.look([0xd81a_0008, 0x0000_0300]);
    watched.look([0xd874_0009, 0x0400_0000]);
    assert_eq!(watched.bits(4), 0xff);
    // scratch_store_dword off, v4, s0, then scratch_load_dword v5, off, s0
    watched.look([0xdc70_4000, 0x0000_0400]);
    watched.look([0xdc50_4000, 0x0500_0000]);
    assert_eq!(watched.bits(5), 0xff);
    // global_store_dword v[1:2], v5, off: byte 0 is a copy, and the others are written.
    watched.look([0xdc70_8000, 0x007f_0501]);
    assert_eq!(watched.found(), []);
    assert_eq!(shadow().bytes(AT, 8), 0xf1);
    // v_add_u32 v6, v5, v5, and that is stored.
    watched.look([52 << 25 | 6 << 17 | 5 << 9 | 0x105, 0]);
    watched.look([0xdc70_8000, 0x007f_0601]);
    assert_eq!(watched.found(), [(UninitKind::Result, Some(LANE as u32), 1)]);
    assert_eq!(shadow().bytes(AT, 8), 0xf0);
    // global_atomic_add v[1:2], v0, off offset:4
    watched.look([0xdd08_8004, 0x007f_0001]);
    assert_eq!(watched.found(), [(UninitKind::Result, Some(LANE as u32), 1)]);
    assert_eq!(shadow().bytes(AT, 8), 0);
    written(AT..AT + 8);
}

/// An address that is wrong is for the access itself to refuse.
#[test]
fn addresses_at_the_end_of_all_are_looked_at() {
    for at in [u64::MAX, u64::MAX - 3, u64::MAX - 64, 0] {
        // A page that is followed, so that none of it is passed over.
        uninitialize(u64::MAX - 0x1fff..u64::MAX - 0x1000);
        let mut watched = Watched::new();
        watched.wave.exec = u64::MAX;
        // Too far apart to be looked at together.
        for (lane, at) in std::iter::once(0x1000).chain([at; 63]).enumerate() {
            watched.wave.vgpr[1].0[lane] = at as u32;
            watched.wave.vgpr[2].0[lane] = (at >> 32) as u32;
        }
        // global_load_dwordx4 v[4:7], v[1:2], off; global_store_dwordx4 v[1:2], v[4:7], off; global_atomic_add v[1:2], v0, off
        for words in [[0xdc5c_8000, 0x047f_0001], [0xdc7c_8000, 0x007f_0401], [0xdd08_8000, 0x007f_0001]] {
            watched.look(words);
        }
        assert_eq!(watched.found(), []);
    }
    written(u64::MAX - 0x1fff..u64::MAX - 0x1000);
}

/// An atomic that returns nothing leaves its data as they are.
#[test]
fn exchanges_of_buffers_return_only_if_they_are_asked_to() {
    const AT: u64 = 0x5200_0000_0000;
    for (glc, bits) in [(0, 0), (1 << 14, u32::MAX)] {
        uninitialize(AT..AT + 8);
        let mut watched = Watched::new();
        // A raw buffer at s[4:7].
        watched.wave.sgpr[4..8].copy_from_slice(&[AT as u32, (AT >> 32) as u32, 64, 4 << 15]);
        // buffer_atomic_swap v3, off, s[4:7], 0
        watched.look([0xe100_0000 | glc, 0x8001_0300]);
        assert_eq!((watched.bits(3), watched.found()), (bits, vec![]), "glc {glc:#x}");
        assert_eq!(shadow().bytes(AT, 8), 0xf0);
        written(AT..AT + 8);
    }
}

#[test]
fn an_exchange_of_lanes_moves_what_nothing_has_written() {
    let mut watched = Watched::new();
    watched.wave.exec = u64::MAX;
    watched.set(1, 7, u32::MAX);
    // v_permlane16_swap_b32 v3, v1
    let inst = decode(Target::Gfx950, &[0x7e06_b301]).expect("an instruction");
    let exec = semantics(inst.row).expect("semantics");
    look(&mut watched.uninit, &mut watched.wave, &Step { inst: &inst, exec, pc: 0x1000 });
    let bits = |row: usize| watched.uninit.registers.row(row).map_or([0; 64], |row| row.bits);
    assert_eq!(bits(3)[LANE + 16], u32::MAX);
    assert!(bits(3).iter().filter(|bits| **bits != 0).count() == 1 && bits(1) == [0; 64]);
}

/// Each half of a dual-issue instruction reads what was there before the other.
#[test]
fn halves_of_a_dual_issue_instruction_do_not_see_each_others_results() {
    // v_dual_mov_b32 v3, v2 :: v_dual_mov_b32 v2, v3, and s_endpgm
    let words = Box::new([0xca10_0102u32, 0x0302_0103, 0xbfb0_0000]);
    let start = words.as_ptr() as u64;
    // SAFETY: the words live until the end of the test, and nothing changes them.
    let code = unsafe { Code::new(start, start + 12, Target::Gfx1100) };
    let mut watched = Watched::on(Target::Gfx1100);
    watched.set(2, 7, 0xff);
    watched.wave.vgpr[3].0[LANE] = 9;
    watched.wave.pc = start;
    watched.wave.uninit = Some(Box::new(std::mem::take(&mut watched.uninit)));
    assert_eq!(watched.wave.run(&[Arc::new(code)], &mut 100), Exit::End);
    watched.uninit = *watched.wave.uninit.take().expect("it is watched");
    assert_eq!((watched.bits(2), watched.bits(3)), (0, 0xff));
    assert_eq!([2, 3].map(|row| watched.wave.row(row)[LANE]), [9, 7]);
}

#[test]
fn registers_that_m0_names_are_followed() {
    let mut watched = Watched::on(Target::Gfx1100);
    watched.wave.sgpr[124] = 4;
    watched.set(5, 7, 0xff);
    // v_movrels_b32 v3, v1 and v_movreld_b32 v6, v3
    watched.look([0x7e06_8701, 0]);
    watched.look([0x7e0c_8503, 0]);
    assert_eq!([1, 3, 5, 6, 10].map(|row| watched.bits(row)), [0, 0xff, 0xff, 0, 0xff]);
}

/// A mask of 32 lanes is one register: what is in the next one decides nothing.
#[test]
fn masks_of_32_lanes_are_one_register() {
    // v_cndmask_b32 v3, v1, v2, s4, which is then stored
    for (undefined, found) in [(5, vec![]), (4, vec![(UninitKind::Result, Some(LANE as u32), 1)])] {
        let mut watched = Watched::on(Target::Gfx1100);
        (watched.wave.vgpr[1].0[LANE], watched.wave.vgpr[2].0[LANE]) = (1, 2);
        watched.wave.sgpr[4] = 1 << LANE;
        let origin = watched.uninit.origin(4, UninitByte::Lds(0));
        let shadow = ScalarShadow { bits: u32::MAX, derived: true, origin };
        watched.uninit.registers.set_scalar(undefined, shadow);
        watched.look(rdna3(0x101));
        assert_eq!(watched.bits(3), if undefined == 4 { 3 } else { 0 });
        // global_store_b32 v[8:9], v3, off
        watched.look([0xdc6a_0000, 0x007c_0308]);
        assert_eq!(watched.found(), found);
    }
}

#[test]
fn scalar_loads_of_two_bytes_and_scalar_floats_are_followed() {
    const AT: u64 = 0x5300_0000_0000;
    uninitialize(AT + 2..AT + 4);
    let mut watched = Watched::on(Target::Gfx1201);
    (watched.wave.sgpr[2], watched.wave.sgpr[3]) = (AT as u32, (AT >> 32) as u32);
    // What is small is not taken for 0.
    watched.wave.mode = Mode(0xf0);
    // s_load_u16 s5, s[2:3], 0x2, and at 0
    watched.look([0xf401_6141, 0xf800_0002]);
    assert_eq!(watched.uninit.registers.scalar(5).bits, 0xffff);
    // s_ceil_f32 s6, s5
    watched.look([0xbe86_6005, 0]);
    assert_ne!(watched.uninit.registers.scalar(6).bits, 0);
    watched.look([0xf401_6141, 0xf800_0000]);
    assert_eq!(watched.uninit.registers.scalar(5).bits, 0);
    written(AT + 2..AT + 4);
}
