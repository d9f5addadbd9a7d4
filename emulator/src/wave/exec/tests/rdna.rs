//! What only RDNA has: blocks of registers, loads that transpose, formats and bounds of its buffers, halves of waves.

use super::Memory;
use crate::{
    coverage,
    isa::{Flow, Generation, Target, decode},
    wave::{FaultKind, Wave, semantics},
};

const RDNA: [Target; 3] = [Target::Gfx1030, Target::Gfx1100, Target::Gfx1200];

/// A wave of so many lanes on a target.
fn wave(memory: &Memory, target: Target, lanes: u32) -> Wave {
    let mut wave = memory.wave();
    wave.target = target;
    wave.set_lanes(lanes);
    wave.exec = u64::MAX >> (64 - lanes);
    wave
}

fn execute(wave: &mut Wave, words: &[u32]) -> Flow {
    let inst = decode(wave.target, words).unwrap_or_else(|error| panic!("{words:08x?}: {error}"));
    coverage::executed(wave.target, inst.row);
    semantics(inst.row).expect("semantics")(wave, &inst)
}

/// Puts an address for each lane into v[2:3].
fn point(wave: &mut Wave, address: impl Fn(usize) -> u64) {
    for lane in 0..64 {
        wave.vgpr[2].0[lane] = address(lane) as u32;
        wave.vgpr[3].0[lane] = (address(lane) >> 32) as u32;
    }
}

/// Which registers of a block there are, and which lanes are live.
const BLOCKS: [(u32, u64); 4] =
    [(u32::MAX, u64::MAX), (0x8000_0001, 0xff00_0f0f_5555_0001), (0, u64::MAX), (0x0003_0c30, 1 << 31 | 2)];

#[test]
fn blocks_have_the_registers_that_m0_says() {
    for (there, live) in BLOCKS {
        for lanes in [32, 64] {
            let memory = Memory::new(64 * 33 + 2, &[(0, 64 * 33 + 2)]);
            let mut wave = wave(&memory, Target::Gfx1200, lanes);
            wave.exec &= live;
            wave.sgpr[124] = there;
            // global_load_block v[2:33], v[2:3], off: the addresses are overwritten, too.
            let start = |lane: usize| memory.address(33 * lane + 1);
            point(&mut wave, start);
            let before = wave.vgpr.clone();
            assert_eq!(execute(&mut wave, &[0xee14_c07c, 0x02, 0x02]), Flow::Next);
            for n in 0..32 {
                for lane in 0..64 {
                    let is_there = there >> n & 1 != 0 && wave.exec >> lane & 1 != 0;
                    let word = (33 * lane + 1 + n) as u32;
                    let want = if is_there { word } else { before[2 + n].0[lane] };
                    assert_eq!(wave.vgpr[2 + n].0[lane], want, "{there:#x} {live:#x} {n} {lane}");
                }
            }
            // global_store_block v[2:3], v[8:39], off offset:4.
            point(&mut wave, start);
            assert_eq!(execute(&mut wave, &[0xee15_007c, 8 << 23, 4 << 8 | 2]), Flow::Next);
            for n in 0..32 {
                for lane in 0..lanes as usize {
                    let is_there = there >> n & 1 != 0 && wave.exec >> lane & 1 != 0;
                    let at = 33 * lane + 2 + n;
                    // Another thread's words as far as the compiler knows.
                    let got = u32::from_le_bytes(std::array::from_fn(|byte| memory.byte(4 * at + byte)));
                    if is_there {
                        assert_eq!(got, wave.vgpr[8 + n].0[lane], "{there:#x} {live:#x} {n} {lane}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_beyond_memory_is_a_fault_where_a_register_is_there() {
    let memory = Memory::new(40, &[(0, 40)]);
    for (there, fits) in [(0xff, true), (0x1_0000_0000u64 as u32 | 1 << 31, false)] {
        let mut wave = wave(&memory, Target::Gfx1200, 32);
        wave.sgpr[124] = there;
        point(&mut wave, |_| memory.address(32));
        let flow = execute(&mut wave, &[0xee14_c07c, 0x08, 0x02]);
        assert_eq!(flow == Flow::Next, fits);
        assert_eq!(wave.stop.is_some(), !fits);
    }
}

#[test]
fn blocks_of_stacks_come_back() {
    for lanes in [32, 64u32] {
        let memory = Memory::new(64 * 64, &[]);
        let mut wave = wave(&memory, Target::Gfx1200, lanes);
        (wave.scratch, wave.scratch_stride) = (memory.address(0), 4 * 40 * lanes);
        wave.sgpr[124] = 0xf0f0_1234;
        wave.vgpr[2].0 = std::array::from_fn(|lane| 4 * (lane as u32 % 3));
        let stored = wave.vgpr.clone();
        // scratch_store_block v2, v[8:39], off offset:8, then the load to v[60:91].
        assert_eq!(execute(&mut wave, &[0xed15_007c, 8 << 23 | 1 << 17, 8 << 8 | 2]), Flow::Next);
        assert_eq!(execute(&mut wave, &[0xed14_c07c, 60 | 1 << 17, 8 << 8 | 2]), Flow::Next);
        for n in 0..32 {
            for lane in 0..lanes as usize {
                let want =
                    if 0xf0f0_1234u32 >> n & 1 != 0 { stored[8 + n].0[lane] } else { stored[60 + n].0[lane] };
                assert_eq!(wave.vgpr[60 + n].0[lane], want, "{n} {lane}");
                // Dword 2 of a lane's stack and so on, dwords of all lanes side by side.
                if 0xf0f0_1234u32 >> n & 1 != 0 {
                    let at = (lane % 3 + 2 + n) * lanes as usize + lane;
                    let got = u32::from_le_bytes(std::array::from_fn(|byte| memory.byte(4 * at + byte)));
                    assert_eq!(got, stored[8 + n].0[lane]);
                }
            }
        }
    }
}

/// A lane of eight gets a column of their rows: what was measured of the like on gfx1250.
#[test]
fn eight_lanes_transpose_what_they_load() {
    let memory = Memory::new(256, &[(0, 256)]);
    for (opcode, size) in [(0xee15_c07c, 2), (0xee16_007c, 1)] {
        for lives in [u64::MAX >> 32, 0xfeff_f7fd] {
            let mut wave = wave(&memory, Target::Gfx1201, 32);
            wave.exec = lives;
            // Rows far from one another.
            let row = |lane: usize| 4 * (lane * 7 % 32 * 7) + lane % 2;
            point(&mut wave, |lane| memory.address(0) + row(lane) as u64);
            let before = wave.vgpr.clone();
            assert_eq!(execute(&mut wave, &[opcode, 0x08, 0x02]), Flow::Next);
            for lane in 0..32 {
                let bytes: Vec<u8> =
                    (0..2 * size).flat_map(|n| wave.vgpr[8 + n].0[lane].to_le_bytes()).collect();
                let old: Vec<u8> = (0..2 * size).flat_map(|n| before[8 + n].0[lane].to_le_bytes()).collect();
                let want: Vec<u8> = (0..8)
                    .flat_map(|n| {
                        let from = lane / 8 * 8 + n;
                        let is_live = lives >> from & 1 != 0;
                        let memory = &memory;
                        (0..size).map(move |byte| {
                            if is_live { memory.byte(row(from) + lane % 8 * size + byte) } else { 0 }
                        })
                    })
                    .collect();
                assert_eq!(bytes, if lives >> lane & 1 != 0 { want } else { old }, "{size} {lane}");
            }
        }
        let mut wide = wave(&memory, Target::Gfx1200, 64);
        assert_eq!(execute(&mut wide, &[opcode, 0x08, 0x02]), Flow::Stop);
        let FaultKind::Unimplemented { name } = wide.stop.unwrap().kind else { panic!() };
        assert!(name.starts_with("global_load_tr_b"));
    }
}

/// buffer_load_format_xyzw v[8:11], v1, s[8:11], 0 idxen, the store of v[4:7], and the typed load, as LLVM encodes them.
fn formatted(target: Target) -> [Vec<u32>; 3] {
    match target.generation() {
        Generation::Gfx10 => {
            [vec![0xe00c_2000, 0x8002_0801], vec![0xe01c_2000, 0x8002_0401], vec![0xe803_2000, 0x8002_0801]]
        }
        Generation::Gfx11 => {
            [vec![0xe00c_0000, 0x8082_0801], vec![0xe01c_0000, 0x8082_0401], vec![0xe801_8000, 0x8082_0801]]
        }
        _ => [
            vec![0xc400_c07c, 0x8080_1008, 1],
            vec![0xc401_c07c, 0x8080_1004, 1],
            vec![0xc420_c07c, 0x8000_1008, 1],
        ],
    }
}

/// The typed load with a format.
fn typed(target: Target, format: u32) -> Vec<u32> {
    let mut words = formatted(target)[2].clone();
    let (word, shift) = if target.generation() == Generation::Gfx12 { (1, 23) } else { (0, 19) };
    words[word] |= format << shift;
    words
}

/// A resource of records of so many bytes at s[8:11]; word 3 as given.
fn resource(wave: &mut Wave, base: u64, stride: u32, records: u32, word3: u32) {
    let words = [base as u32, (base >> 32) as u32 | stride << 16, records, word3];
    wave.sgpr[8..12].copy_from_slice(&words);
}

const XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// Formats by their number on RDNA 2 and later, an element, and what it is.
fn formats() -> Vec<([u32; 2], [u32; 4], [u32; 4])> {
    let single = |x: [f32; 4]| x.map(f32::to_bits);
    vec![
        // 8_UNORM.
        ([1, 1], [0x33, 0, 0, 0], single([0.2, 0.0, 0.0, 0.0])),
        // 16_FLOAT.
        ([13, 13], [0xc500, 0, 0, 0], single([-5.0, 0.0, 0.0, 0.0])),
        // 32_UINT.
        ([20, 20], [0xfedc_ba98, 0, 0, 0], [0xfedc_ba98, 0, 0, 0]),
        // 10_11_11_FLOAT: X has the lowest eleven bits.
        ([36, 30], [0x3c0 | 0x400 << 11 | 0x200 << 22, 0, 0, 0], single([1.0, 2.0, 2.0, 0.0])),
        // 11_11_10_FLOAT.
        ([43, 31], [0x1e0 | 0x3c0 << 10 | 0x400 << 21, 0, 0, 0], single([1.0, 1.0, 2.0, 0.0])),
        // 10_10_10_2_UINT: X has two bits.
        ([48, 34], [2 | 5 << 2 | 6 << 12 | 1023 << 22, 0, 0, 0], [2, 5, 6, 1023]),
        // 2_10_10_10_SINT.
        ([55, 41], [1023 | 511 << 10 | 3 << 20 | 2 << 30, 0, 0, 0], [u32::MAX, 511, 3, -2i32 as u32]),
        // 8_8_8_8_SNORM.
        ([57, 43], [0x81_7f_00_40, 0, 0, 0], single([64.0 / 127.0, 0.0, 1.0, -1.0])),
        // 32_32_FLOAT.
        ([64, 50], [0x4048_f5c3, 0xc000_0000, 0, 0], [0x4048_f5c3, 0xc000_0000, 0, 0]),
        // 16_16_16_16_USCALED.
        ([67, 53], [0x0003_0001, 0xffff_0000, 0, 0], single([1.0, 3.0, 0.0, 65535.0])),
        // 32_32_32_32_FLOAT.
        ([77, 63], [1, 2, 3, 4], [1, 2, 3, 4]),
    ]
}

#[test]
fn formats_have_the_numbers_of_their_generation() {
    for target in RDNA {
        for (numbers, element, want) in formats() {
            let format = numbers[usize::from(target.generation() != Generation::Gfx10)];
            for is_typed in [false, true] {
                let mut memory = Memory::new(16, &[(0, 16)]);
                memory.words[4..8].copy_from_slice(&element);
                let mut wave = wave(&memory, target, 32);
                wave.vgpr[1].0 = std::array::from_fn(|lane| lane as u32 % 2);
                // The resource of a typed load says something else.
                let word3 = if is_typed { XYZW | 20 << 12 } else { XYZW | format << 12 };
                resource(&mut wave, memory.address(0), 16, 2, word3 | 1 << 28);
                let words = if is_typed { typed(target, format) } else { formatted(target)[0].clone() };
                assert_eq!(execute(&mut wave, &words), Flow::Next);
                let got: [u32; 4] = std::array::from_fn(|n| wave.vgpr[8 + n].0[1]);
                assert_eq!(got, want, "{target:?} {format} {is_typed}");
                if is_typed {
                    continue;
                }
                // And back.
                memory.words[4..8].fill(0);
                for (n, component) in want.into_iter().enumerate() {
                    wave.vgpr[4 + n].0 = [component; 64];
                }
                assert_eq!(execute(&mut wave, &formatted(target)[1]), Flow::Next);
                assert_eq!(memory.words[4..8], element, "{target:?} {format}");
            }
        }
    }
}

#[test]
fn formats_that_there_are_not_have_names_of_their_own_in_faults() {
    for target in RDNA {
        let memory = Memory::new(16, &[(0, 16)]);
        let first = if target.generation() == Generation::Gfx10 { 78 } else { 64 };
        for format in [first, 127] {
            let mut wave = wave(&memory, target, 32);
            resource(&mut wave, memory.address(0), 16, 2, XYZW | 1 << 28);
            assert_eq!(execute(&mut wave, &typed(target, format)), Flow::Stop);
            assert_eq!(wave.stop.unwrap().kind, FaultKind::Format { format });
        }
        // The first is the invalid one, with which a buffer is unbound.
        let mut wave = wave(&memory, target, 32);
        wave.vgpr[1].0 = [0; 64];
        resource(&mut wave, memory.address(0), 16, 2, XYZW | 1 << 28);
        assert_eq!(execute(&mut wave, &formatted(target)[0]), Flow::Next);
        assert!((8..12).all(|n| wave.vgpr[n].0[..32] == [0; 32]));
    }
}

/// buffer_load_dwordx4 v[8:11], v1, s[8:11], 0 offen, and buffer_store_dword v4.
fn raw(target: Target) -> [Vec<u32>; 2] {
    match target.generation() {
        Generation::Gfx10 => [vec![0xe038_1000, 0x8002_0801], vec![0xe070_1000, 0x8002_0401]],
        Generation::Gfx11 => [vec![0xe05c_0000, 0x8042_0801], vec![0xe068_0000, 0x8042_0401]],
        _ => [vec![0xc405_c07c, 0x4080_1008, 1], vec![0xc406_807c, 0x4080_1004, 1]],
    }
}

#[test]
fn loads_beyond_a_buffer_read_zeros_and_stores_are_dropped() {
    for target in RDNA {
        let is_old = target.generation() == Generation::Gfx10;
        // OOB_SELECT, stride and records, and how many bytes from the base on are in range.
        for (select, stride, records, end) in
            [(0, 40, 1, 40), (3, 0, 40, 40), (3, 8, 40, 40), (1, 8, 1, 400), (2, 8, 1, 400), (2, 8, 0, 0)]
        {
            for first in [0, 24, 28, 36, 37, 40, 44, 60] {
                let memory = Memory::new(64, &[(0, 64)]);
                let mut wave = wave(&memory, target, 32);
                wave.vgpr[1].0 = [first; 64];
                resource(&mut wave, memory.address(0), stride, records, select << 28 | 20 << 12);
                assert_eq!(execute(&mut wave, &raw(target)[0]), Flow::Next);
                for n in 0..4 {
                    let at = first + 4 * n;
                    let is_inside = if is_old { at < end } else { at + 4 <= end };
                    let word =
                        u32::from_le_bytes(std::array::from_fn(|byte| memory.byte(at as usize + byte)));
                    let want = if is_inside { word } else { 0 };
                    let got = wave.vgpr[8 + n as usize].0[7];
                    assert_eq!(got, want, "{target:?} {select} {stride} {records} {first} {n}");
                }
                if first % 4 == 0 {
                    wave.vgpr[4].0 = [0xabcd_1234; 64];
                    assert_eq!(execute(&mut wave, &raw(target)[1]), Flow::Next);
                    let word = memory.byte(first as usize);
                    assert_eq!(word == 0x34, first < end, "{target:?} {select} {stride} {records} {first}");
                }
            }
        }
    }
}

#[test]
fn subvectors_run_for_the_lower_half_and_then_for_the_upper_one() {
    // s_subvector_loop_begin s0, 2; v_add_nc_u32 v0, 1, v0; s_subvector_loop_end s0, -2.
    let targets = [
        (Target::Gfx1030, [0xbd80_0002, 0xbe00_fffe]),
        (Target::Gfx1100, [0xbb00_0002, 0xbb80_fffe]),
        (Target::Gfx1150, [0xbb00_0002, 0xbb80_fffe]),
    ];
    let masks: [(u64, &[u64]); 4] = [
        (0, &[]),
        (0xff, &[0xff]),
        (0xff00_0000_0000_0000, &[0xff00_0000_0000_0000]),
        (0x1234_5678_9abc_def0, &[0x9abc_def0, 0x1234_5678_0000_0000]),
    ];
    for ((target, [begin, end]), (exec, passes)) in
        targets.into_iter().flat_map(|target| masks.into_iter().map(move |mask| (target, mask)))
    {
        let memory = Memory::new(4, &[]);
        let mut wave = wave(&memory, target, 64);
        (wave.exec, wave.pc) = (exec, 0x1004);
        let mut seen = vec![];
        match execute(&mut wave, &[begin]) {
            Flow::Jump => assert_eq!((exec, wave.pc), (0, 0x100c)),
            flow => {
                assert_eq!(flow, Flow::Next);
                loop {
                    seen.push(wave.exec);
                    wave.pc = 0x100c;
                    match execute(&mut wave, &[end]) {
                        Flow::Jump => assert_eq!(wave.pc, 0x1004),
                        flow => break assert_eq!(flow, Flow::Next),
                    }
                }
            }
        }
        assert_eq!((&seen[..], wave.exec), (passes, exec), "{target:?}");
    }
}

#[test]
fn vgprs_are_not_given_out_anew_where_waves_keep_theirs() {
    let memory = Memory::new(4, &[]);
    let mut wave = wave(&memory, Target::Gfx1200, 32);
    for scc in [false, true] {
        wave.scc = scc;
        // s_alloc_vgpr 64.
        assert_eq!(execute(&mut wave, &[0xbe80_53c0]), Flow::Next);
        assert_eq!(wave.scc, scc);
    }
}
