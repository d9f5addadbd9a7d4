//! Loads and stores of a whole wave, one instruction at a time: in one allocation, beyond it, across two, unaligned.

mod rdna;

use std::sync::Arc;

use crate::{
    isa::{Flow, Target, decode},
    memory::{Allocation, Grain, Map},
    wave::{Apertures, Deaf, FaultKind, Surroundings, Wave},
};

/// Memory in words of which some are allocations.
struct Memory {
    words: Vec<u32>,
    map: Arc<Map>,
}

impl Memory {
    /// `words` words with their indices in them; the ranges of words, from first to one past the last, are allocations.
    fn new(words: usize, ranges: &[(usize, usize)]) -> Self {
        let memory = Self { words: (0..words as u32).collect(), map: Arc::default() };
        for range in ranges {
            let (start, end) = (memory.address(range.0), memory.address(range.1));
            memory.map.insert(Allocation {
                start,
                end,
                writable: true,
                grain: Grain::Fine,
                socket: None,
                backing: None,
            });
        }
        memory
    }

    fn address(&self, word: usize) -> u64 {
        self.words.as_ptr() as u64 + 4 * word as u64
    }

    fn byte(&self, at: usize) -> u8 {
        self.words[at / 4].to_le_bytes()[at % 4]
    }

    fn wave(&self) -> Wave {
        let surroundings = Surroundings {
            map: Arc::clone(&self.map),
            apertures: Apertures::default(),
            host: Arc::new(Deaf),
        };
        let mut wave = Wave::new(Target::Gfx90a, surroundings);
        wave.exec = u64::MAX;
        for (register, row) in wave.vgpr.iter_mut().enumerate() {
            for (lane, word) in row.0.iter_mut().enumerate() {
                *word = (register << 16 | lane << 8 | 0xee) as u32;
            }
        }
        wave
    }
}

fn execute(wave: &mut Wave, words: [u32; 2]) -> Flow {
    let inst = decode(Target::Gfx90a, &words).expect("an instruction");
    wave.pc = 0x1008;
    (crate::wave::semantics(inst.row).expect("semantics"))(wave, &inst)
}

/// Puts 64-bit addresses into v[0:1].
fn point(wave: &mut Wave, address: impl Fn(usize) -> u64) {
    for lane in 0..64 {
        wave.vgpr[0].0[lane] = address(lane) as u32;
        wave.vgpr[1].0[lane] = (address(lane) >> 32) as u32;
    }
}

const OFF: u32 = 0x7f << 16;

/// global_load_dword and its wider siblings: v[dst:..], v[0:1], off.
fn load(dwords: u32, dst: u32) -> [u32; 2] {
    [0xdc50_8000 + ((dwords - 1) << 18), OFF | dst << 24]
}

/// global_store_dword and its wider siblings: v[0:1], v[src:..], off.
fn store(dwords: u32, src: u32) -> [u32; 2] {
    [0xdc70_8000 + ((dwords - 1) << 18), OFF | src << 8]
}

/// The widths in dwords in the order of the opcodes: dword, dwordx2, dwordx3, dwordx4.
const WIDTHS: [u32; 4] = [1, 2, 3, 4];

/// Lanes of a wave, and masks of them.
const MASKS: [(u32, u64); 9] = [
    (64, u64::MAX),
    (64, u64::MAX >> 32),
    (64, 1),
    (64, 1 << 63),
    (64, 0xff00_ffff_0000_0f0f),
    (64, 0x5555_5555_5555_5555),
    (32, u64::MAX >> 32),
    (32, 1 << 31),
    (32, 0xff00_0f0f),
];

#[test]
fn a_line_of_lanes_is_loaded_at_any_alignment_and_with_any_mask() {
    let memory = Memory::new(400, &[(0, 400)]);
    for width in WIDTHS {
        for misaligned in [0, 1, 2, 3] {
            for (lanes, exec) in MASKS {
                for dst in [4, 0, 1] {
                    let mut wave = memory.wave();
                    point(&mut wave, |lane| {
                        memory.address(8) + misaligned + (4 * width as usize * lane) as u64
                    });
                    let before = wave.vgpr.clone();
                    wave.set_lanes(lanes);
                    wave.exec = exec;
                    assert_eq!(execute(&mut wave, load(width, dst)), Flow::Next);
                    for lane in 0..64 {
                        for n in 0..width as usize {
                            let at = 32 + misaligned as usize + 4 * (width as usize * lane + n);
                            let word = u32::from_le_bytes(std::array::from_fn(|byte| memory.byte(at + byte)));
                            let old = before[dst as usize + n].0[lane];
                            let want = if exec >> lane & 1 != 0 { word } else { old };
                            let got = wave.vgpr[dst as usize + n].0[lane];
                            assert_eq!(
                                got, want,
                                "{width} dwords + {misaligned}, lane {lane}, exec {exec:#x}, v{dst}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_line_of_lanes_is_stored_and_nothing_beside_it() {
    for width in WIDTHS {
        for (lanes, exec) in MASKS {
            let memory = Memory::new(400, &[(8, 8 + 64 * width as usize)]);
            let mut wave = memory.wave();
            point(&mut wave, |lane| memory.address(8) + (4 * width as usize * lane) as u64);
            wave.set_lanes(lanes);
            wave.exec = exec;
            assert_eq!(execute(&mut wave, store(width, 4)), Flow::Next);
            for (index, got) in memory.words.iter().enumerate() {
                // SAFETY: a word of the vector, which the wave has written behind the compiler's back.
                let got = unsafe { std::ptr::from_ref(got).read_volatile() };
                let (lane, n) =
                    (index.wrapping_sub(8) / width as usize, index.wrapping_sub(8) % width as usize);
                let live = index >= 8 && lane < 64 && exec >> lane & 1 != 0;
                let want = if live { ((4 + n) << 16 | lane << 8 | 0xee) as u32 } else { index as u32 };
                assert_eq!(got, want, "{width} dwords, word {index}, exec {exec:#x}");
            }
        }
    }
}

#[test]
fn the_first_lane_beyond_an_allocation_faults() {
    for width in WIDTHS {
        // All but the last two lanes' data, and a byte too few for the one before.
        let size = 62 * width as usize;
        let memory = Memory::new(400, &[(0, size)]);
        for (write, instruction) in [(false, load(width, 8)), (true, store(width, 8))] {
            let mut wave = memory.wave();
            point(&mut wave, |lane| memory.address(0) + (4 * width as usize * lane) as u64);
            assert_eq!(execute(&mut wave, instruction), Flow::Stop);
            let fault = wave.stop.expect("a fault");
            assert_eq!(fault.pc, 0x1000);
            let (address, bytes) = (memory.address(size), 4 * width as u8);
            assert_eq!(fault.kind, FaultKind::Memory { address, lane: 62, bytes, write });
            // The same with that lane and the next dead.
            let mut wave = memory.wave();
            point(&mut wave, |lane| memory.address(0) + (4 * width as usize * lane) as u64);
            wave.exec = u64::MAX >> 2;
            assert_eq!(execute(&mut wave, instruction), Flow::Next);
        }
    }
}

#[test]
fn lanes_may_lie_in_allocations_that_adjoin() {
    let memory = Memory::new(400, &[(0, 100), (100, 400)]);
    // With the border between two lanes' data, and inside of one lane's.
    for (width, shift) in
        WIDTHS.into_iter().flat_map(|width| (0..width as usize).map(move |shift| (width, shift)))
    {
        let mut wave = memory.wave();
        let first = 100 - 10 * width as usize + shift;
        point(&mut wave, |lane| memory.address(first + width as usize * lane));
        assert_eq!(execute(&mut wave, load(width, 8)), Flow::Next, "{width} dwords, {shift}");
        for lane in 0..64 {
            for n in 0..width as usize {
                assert_eq!(wave.vgpr[8 + n].0[lane] as usize, first + width as usize * lane + n);
            }
        }
    }
}

#[test]
fn scattered_lanes_load_into_their_own_address_registers() {
    let memory = Memory::new(400, &[(0, 400)]);
    let place = |lane: usize| lane * 37 % 300;
    for (lanes, exec) in MASKS {
        for dst in [0, 1] {
            let mut wave = memory.wave();
            point(&mut wave, |lane| memory.address(place(lane)));
            let before = wave.vgpr.clone();
            wave.set_lanes(lanes);
            wave.exec = exec;
            assert_eq!(execute(&mut wave, load(1, dst)), Flow::Next);
            for lane in 0..64 {
                let live = exec >> lane & 1 != 0;
                let want = if live { place(lane) as u32 } else { before[dst as usize].0[lane] };
                assert_eq!(wave.vgpr[dst as usize].0[lane], want, "v{dst} lane {lane} exec {exec:#x}");
            }
        }
    }
}

#[test]
fn lds_reads_0_beyond_its_end_and_drops_what_is_stored_there() {
    let memory = Memory::new(1, &[]);
    let mut lds = vec![0u32; 160];
    // Of 160 words, 100 are the workgroup's.
    for (start, step) in [(0, 4), (160, 4), (164, 4), (396, 4), (400, 4), (0, 8), (1024, 4)] {
        for (offset, lanes) in [(0, 64), (36, 64), (0, 32), (36, 32)] {
            let mut wave = memory.wave();
            wave.set_lanes(lanes);
            wave.exec = u64::MAX >> (64 - lanes);
            lds.iter_mut().enumerate().for_each(|(index, word)| *word = 0x1000 + index as u32);
            (wave.lds, wave.lds_size) = (lds.as_mut_ptr().cast(), 400);
            let address = |lane: usize| start + step * lane as u32;
            for lane in 0..64 {
                wave.vgpr[0].0[lane] = address(lane);
            }
            // ds_read_b32 v2, v0 offset; ds_write_b32 v0, v3 offset.
            assert_eq!(execute(&mut wave, [0xd86c_0000 | offset, 2 << 24]), Flow::Next);
            for lane in 0..lanes as usize {
                let at = address(lane) + offset;
                let want = if at + 4 <= 400 { 0x1000 + at / 4 } else { 0 };
                assert_eq!(wave.vgpr[2].0[lane], want, "lane {lane} at {at}");
            }
            assert_eq!(execute(&mut wave, [0xd81a_0000 | offset, 3 << 8]), Flow::Next);
            for index in 0..160u32 {
                let lane = (4 * index).wrapping_sub(start + offset) / step;
                let hit = 4 * index >= start + offset && (4 * index - start - offset) % step == 0;
                let stored = hit && lane < lanes && index < 100;
                let want = if stored { 3 << 16 | lane << 8 | 0xee } else { 0x1000 + index };
                // SAFETY: a word of the vector, which the wave has written behind the compiler's back.
                let got = unsafe { lds.as_ptr().add(index as usize).read_volatile() };
                assert_eq!(got, want, "word {index}, from {start} by {step} + {offset}");
            }
        }
    }
}

#[test]
fn lds_moves_lines_tiles_points_and_scattered_lanes_alike() {
    let memory = Memory::new(1, &[]);
    let shapes: [fn(u32) -> u32; 5] = [
        |lane| lane,
        |lane| 20 * (lane / 16) + lane % 16,
        |lane| 20 * (lane / 16),
        |lane| lane * 29 % 64,
        // A line but for the last.
        |lane| if lane % 32 == 31 { 100 } else { lane },
    ];
    for (n, shape) in shapes.into_iter().enumerate() {
        for lanes in [64, 32] {
            let mut lds: Vec<u32> = (0..128).collect();
            let mut wave = memory.wave();
            wave.set_lanes(lanes);
            wave.exec = u64::MAX >> (64 - lanes);
            (wave.lds, wave.lds_size) = (lds.as_mut_ptr().cast(), 512);
            for lane in 0..64 {
                wave.vgpr[0].0[lane as usize] = 4 * shape(lane);
            }
            let addresses = wave.vgpr[0];
            // ds_read2_b32 v[0:1], v0 offset0:1 offset1:3: the first result overwrites the addresses.
            assert_eq!(execute(&mut wave, [0xd86e_0301, 0]), Flow::Next);
            for lane in 0..lanes {
                let got = [0, 1].map(|register| wave.vgpr[register].0[lane as usize]);
                assert_eq!(got, [shape(lane) + 1, shape(lane) + 3], "shape {n}, lane {lane}");
            }
            wave.vgpr[0] = addresses;
            // ds_write_b32 v0, v3: of lanes with one address the last wins.
            assert_eq!(execute(&mut wave, [0xd81a_0000, 3 << 8]), Flow::Next);
            for index in 0..128 {
                let last = (0..lanes).rev().find(|lane| shape(*lane) == index);
                let want = last.map_or(index, |lane| 3 << 16 | lane << 8 | 0xee);
                // SAFETY: a word of the vector, which the wave has written behind the compiler's back.
                let got = unsafe { lds.as_ptr().add(index as usize).read_volatile() };
                assert_eq!(got, want, "shape {n}, word {index}");
            }
        }
    }
}

#[test]
fn scratch_of_32_lanes_has_rows_of_32_dwords() {
    let memory = Memory::new(1, &[]);
    // Four dwords for each lane, and a row that is not the wave's.
    let mut scratch = vec![0u32; 5 * 32];
    for exec in [u64::MAX >> 32, 0x8000_0f01] {
        for is_uniform in [true, false] {
            let mut wave = memory.wave();
            wave.set_lanes(32);
            wave.exec = exec;
            scratch.iter_mut().enumerate().for_each(|(index, word)| *word = index as u32);
            (wave.scratch, wave.scratch_stride) = (scratch.as_mut_ptr() as u64, 4 * 4 * 32);
            let first = |lane: usize| if is_uniform { 2 } else { lane % 3 };
            for lane in 0..64 {
                wave.vgpr[0].0[lane] = 4 * first(lane) as u32;
            }
            // scratch_store_dwordx2 v0, v[4:5], off; scratch_load_dwordx2 v[8:9], v0, off.
            assert_eq!(execute(&mut wave, [0xdc74_4000, OFF | 4 << 8]), Flow::Next);
            assert_eq!(execute(&mut wave, [0xdc54_4000, OFF | 8 << 24]), Flow::Next);
            for index in 0..scratch.len() {
                let (row, lane) = (index / 32, index % 32);
                let live = exec >> lane & 1 != 0 && (first(lane)..first(lane) + 2).contains(&row);
                let want = if live { (4 + row - first(lane)) << 16 | lane << 8 | 0xee } else { index };
                // SAFETY: a word of the vector, which the wave has written behind the compiler's back.
                let got = unsafe { scratch.as_ptr().add(index).read_volatile() };
                assert_eq!(got as usize, want, "row {row} lane {lane}, exec {exec:#x}");
            }
            for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
                assert_eq!([8, 9].map(|n| wave.vgpr[n].0[lane]), [4, 5].map(|n| wave.vgpr[n].0[lane]));
            }
            // One dword beyond the last lane's stack.
            wave.vgpr[0].0.fill(12);
            assert_eq!(execute(&mut wave, [0xdc74_4000, OFF | 4 << 8]), Flow::Stop);
        }
    }
}

#[test]
fn lanes_of_32_exchange_among_themselves() {
    let memory = Memory::new(1, &[]);
    for lanes in [64, 32] {
        let mut wave = memory.wave();
        wave.set_lanes(lanes);
        wave.exec = u64::MAX >> (64 - lanes);
        for lane in 0..64 {
            // The lane behind the next one, of which there are several.
            (wave.vgpr[0].0[lane], wave.vgpr[1].0[lane]) = (4 * (lane as u32 + 65), 100 + lane as u32);
        }
        // ds_bpermute_b32 v2, v0, v1; ds_permute_b32 v3, v0, v1.
        assert_eq!(execute(&mut wave, [0xd87e_0000, 0x0200_0100]), Flow::Next);
        assert_eq!(execute(&mut wave, [0xd87c_0000, 0x0300_0100]), Flow::Next);
        for lane in 0..lanes {
            assert_eq!(wave.vgpr[2].0[lane as usize], 100 + (lane + 1) % lanes);
            assert_eq!(wave.vgpr[3].0[lane as usize], 100 + (lane + lanes - 1) % lanes);
        }
    }
}

#[test]
fn a_wave_of_32_lanes_has_half_of_exec_and_vcc() {
    let memory = Memory::new(1, &[]);
    let mut wave = memory.wave();
    wave.set_lanes(32);
    wave.exec = 1;
    // s_mov_b32 exec_hi, -1; s_mov_b64 exec, -1; s_mov_b32 exec_lo, 3; s_not_b64 exec, exec.
    for (instruction, want) in
        [(0xbeff_00c1, 1), (0xbefe_01c1, 0xffff_ffff), (0xbefe_0083, 3), (0xbefe_057e, !3 & 0xffff_ffff)]
    {
        assert_eq!(execute(&mut wave, [instruction, 0]), Flow::Next);
        assert_eq!(wave.exec, want, "{instruction:#x}");
    }
    // s_orn2_saveexec_b64 s[0:1], 0.
    wave.exec = 5;
    assert_eq!(execute(&mut wave, [0xbe80_2480, 0]), Flow::Next);
    assert_eq!((wave.exec, wave.sgpr[0], wave.sgpr[1]), (!5 & 0xffff_ffff, 5, 0));
    // s_cbranch_vccz and s_mov_b32 s2, vccz look at VCC_LO.
    (wave.sgpr[106], wave.sgpr[107]) = (0, 1);
    assert_eq!(execute(&mut wave, [0xbf86_0000, 0]), Flow::Jump);
    assert_eq!(execute(&mut wave, [0xbe82_00fb, 0]), Flow::Next);
    assert_eq!(wave.sgpr[2], 1);
}
