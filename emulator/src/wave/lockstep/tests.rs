//! Two waves in lockstep do what each does alone.

use std::{collections::HashSet, sync::Arc};

use fastrand::Rng;

use super::{Manner, Way, run};
use crate::{
    isa::{Family, Inst, Target, decode, flag, table},
    memory::{Allocation, Grain, Map},
    wave::{Apertures, Deaf, Exit, Fault, Mode, Surroundings, Wave, code::Code, semantics},
};

/// One target of each generation, and what ends a program there.
const TARGETS: [(Target, u32); 4] = [
    (Target::Gfx1030, 0xbf81_0000),
    (Target::Gfx1100, 0xbfb0_0000),
    (Target::Gfx1150, 0xbfb0_0000),
    (Target::Gfx1200, 0xbfb0_0000),
];

/// Words of device memory, and of LDS.
const WORDS: usize = 1 << 12;
/// MODE as kernels of C have it.
const MODE: u32 = 0x3c0;

/// Memory that two waves share.
struct Room {
    memory: Vec<u32>,
    lds: Vec<u32>,
    surroundings: Surroundings,
}

impl Room {
    fn new() -> Self {
        let memory = vec![0; WORDS];
        let map = Arc::new(Map::default());
        let start = memory.as_ptr() as u64;
        let end = start + 4 * WORDS as u64;
        map.insert(Allocation {
            start,
            end,
            writable: true,
            grain: Grain::Fine,
            socket: None,
            backing: None,
        });
        let surroundings = Surroundings { map, apertures: Apertures::default(), host: Arc::new(Deaf) };
        Self { memory, lds: vec![0; WORDS], surroundings }
    }

    /// Puts numbers there that are the same each time.
    fn fill(&mut self) {
        let mut random = Rng::with_seed(7);
        self.memory.iter_mut().chain(&mut self.lds).for_each(|word| *word = random.u32(..));
    }

    /// A wave of 32 lanes.
    fn wave(&mut self, target: Target) -> Wave {
        let mut wave = Wave::new(target, self.surroundings.clone());
        wave.set_lanes(32);
        wave.lds = self.lds.as_mut_ptr().cast();
        wave.lds_size = 4 * WORDS as u32;
        wave
    }

    /// Two waves, the second one in the second half of the first one's registers.
    fn pair(&mut self, target: Target) -> [Wave; 2] {
        let [first, mut second] = [(); 2].map(|()| self.wave(target));
        // SAFETY: only one of them is looked at at a time.
        second.vgpr = unsafe { first.vgpr.second_half() };
        [first, second]
    }
}

/// The lanes of all registers.
fn lanes(wave: &Wave) -> impl Iterator<Item = &[u32]> {
    wave.vgpr.iter().map(|row| &row.0[..32])
}

/// Makes a wave's state that of another, its pc apart.
fn copy(to: &mut Wave, from: &Wave) {
    for (to, from) in to.vgpr.iter_mut().zip(lanes(from)) {
        to.0[..32].copy_from_slice(from);
    }
    (to.sgpr, to.scc, to.exec, to.mode) = (from.sgpr, from.scc, from.exec, from.mode);
}

fn check(got: &Wave, want: &Wave, what: &str) {
    for (register, (got, want)) in lanes(got).zip(lanes(want)).enumerate() {
        assert_eq!(got, want, "v{register} of {what}");
    }
    assert_eq!(got.sgpr, want.sgpr, "scalars of {what}");
    let state = |wave: &Wave| (wave.scc, wave.exec, wave.mode, wave.pc, wave.lanes);
    assert_eq!(state(got), state(want), "{what}");
}

/// A program in memory that the emulator can execute.
fn load(words: &[u32], target: Target) -> [Arc<Code>; 1] {
    let start = words.as_ptr() as u64;
    // SAFETY: the words live, and stay as they are, while the program runs.
    [Arc::new(unsafe { Code::new(start, start + 4 * words.len() as u64, target) })]
}

fn is_memory(inst: &Inst) -> bool {
    use Family::{Ds, Flat, Global, Mtbuf, Mubuf, Scratch, Smem};
    matches!(inst.row.family, Ds | Flat | Global | Mtbuf | Mubuf | Scratch | Smem)
}

/// The fixed bits of encodings and how many others there are: VOP2, VOP1, VOPC, VOP3, VOP3P, VOPD, SOP2, SOPK, SOP1, SOPC, DS, FLAT
/// of RDNA 2 and 3, then of RDNA 4, global memory there, SMEM.
const ENCODINGS: [(u32, u32); 15] = [
    (0, 31),
    (0x7e00_0000, 25),
    (0x7c00_0000, 25),
    VOP3,
    (0xcc00_0000, 24),
    (0xc800_0000, 26),
    (0x8000_0000, 30),
    (0xb000_0000, 28),
    (0xbe80_0000, 23),
    (0xbf00_0000, 23),
    (0xd800_0000, 26),
    (0xdc00_0000, 26),
    (0xec00_0000, 24),
    (0xee00_0000, 24),
    (0xf400_0000, 26),
];

/// The vector ALU's long encoding.
const VOP3: (u32, u32) = (0xd400_0000, 26);

/// What goes elsewhere, or reads what is never the same twice.
const OTHERS: [&str; 11] =
    ["pc_b64", "call", "subvector", "rfe", "getreg", "sendmsg", "time", "barrier", "sleep", "halt", "trap"];

/// Some instruction of a target.
fn instruction(target: Target, random: &mut Rng) -> (Vec<u32>, Inst) {
    loop {
        // Most are VOP3 and VOP3P, which have most.
        let (fixed, free) = match random.u32(..6) {
            0..3 => VOP3,
            3 => ENCODINGS[4],
            _ => ENCODINGS[random.usize(..ENCODINGS.len())],
        };
        let mut words = [fixed | random.u32(..) >> (32 - free), random.u32(..), random.u32(..), 0];
        if (fixed, random.bool()) == (VOP3.0, true) {
            // Most instructions have no modifiers.
            words[0] &= !0xff00;
            words[1] &= !0xf800_0000;
        }
        if fixed >= 0xec00_0000 {
            words[2] &= 0x000f_ff00;
        }
        let Ok(inst) = decode(target, &words) else { continue };
        let is_other = OTHERS.iter().any(|part| inst.row.name.contains(part));
        if is_other || inst.row.family == Family::Sopp || semantics(inst.row).is_none() {
            continue;
        }
        return (words[..usize::from(inst.size) / 4].to_vec(), inst);
    }
}

/// Some instructions, of which one at most is about memory: what another wave has stored would be seen sooner or later.
fn program(target: Target, random: &mut Rng) -> (Vec<u32>, Vec<Inst>) {
    let (mut words, mut insts) = (Vec::new(), Vec::new());
    while insts.len() < 6 {
        let (next, inst) = instruction(target, random);
        if !is_memory(&inst) || !insts.iter().any(is_memory) {
            words.extend(next);
            insts.push(inst);
        }
    }
    (words, insts)
}

/// Puts random numbers into the registers of two waves; some scalars of both are the same, and some are addresses.
fn randomise(waves: &mut [Wave; 2], memory: u64, random: &mut Rng) {
    let is_small = random.bool();
    let differs = [0.0, 0.02, 0.2][random.usize(..3)];
    let scalars: [u32; 128] = std::array::from_fn(|n| match (random.u32(..4), n % 2) {
        (0, _) => random.u32(..),
        (_, 0) => memory as u32,
        _ => (memory >> 32) as u32,
    });
    for wave in waves {
        for row in wave.vgpr.iter_mut() {
            row.0[..32].iter_mut().for_each(|word| {
                *word = if is_small { random.u32(..WORDS as u32) & !3 } else { random.u32(..) };
            });
        }
        // Those from 108 on are no registers of programs, but for M0.
        for n in (0..108).chain([124]) {
            wave.sgpr[n] = if random.f64() < differs { random.u32(..) } else { scalars[n] };
        }
        wave.scc = random.bool();
        wave.set_exec([u64::MAX, random.u64(..), u64::MAX, 0][random.usize(..4)]);
        wave.mode = Mode::of(wave.target, MODE);
    }
}

#[test]
fn two_waves_do_what_each_does_alone() {
    for (target, end) in TARGETS {
        let mut room = Room::new();
        let mut random = Rng::with_seed(target as u64);
        let (mut pair, mut alone) = (room.pair(target), [(); 2].map(|()| room.wave(target)));
        let mut done = HashSet::new();
        for _ in 0..4000 {
            let (mut words, insts) = program(target, &mut random);
            words.push(end);
            let code = load(&words, target);
            let address = room.memory.as_ptr() as u64 + 2 * WORDS as u64;
            randomise(&mut pair, address, &mut random);
            alone.iter_mut().zip(&pair).for_each(|(to, from)| copy(to, from));
            for wave in alone.iter_mut().chain(&mut pair) {
                wave.pc = words.as_ptr() as u64;
                wave.stop = None;
            }
            let what = format!("{insts:?} on {target:?}");

            room.fill();
            let wanted = alone.each_mut().map(|wave| wave.run(&code, &mut 1000));
            let memory = (room.memory.clone(), room.lds.clone());
            room.fill();
            let [first, second] = &mut pair;
            let exits = run([first, second], &code, &mut 1000);

            // Where one faults the other one goes no further.
            let fault = |wave: &Wave| wave.stop.map(|Fault { pc, .. }| pc).unwrap_or(u64::MAX);
            if wanted == [Exit::End; 2] {
                assert_eq!(exits, wanted, "{what}");
                pair.iter().zip(&alone).for_each(|(got, want)| check(got, want, &what));
                assert!((&room.memory, &room.lds) == (&memory.0, &memory.1), "memory of {what}");
                done.extend(insts.iter().map(|inst| inst.row.name));
            } else {
                let at = usize::from(fault(&alone[1]) < fault(&alone[0]));
                assert_eq!((exits[at], pair[at].stop), (Exit::Stop, alone[at].stop), "wave {at} of {what}");
            }
        }
        // All that the vector ALU does has been done, but for matrices, which each wave has for itself.
        let families = [Family::Vop1, Family::Vop2, Family::Vopc, Family::Vop3, Family::Vop3p];
        let rows = table::of(target).iter().filter(|(family, _)| families.contains(family));
        let rows = rows.flat_map(|(_, rows)| *rows);
        let rows = rows.filter(|row| row.targets.has(target) && !row.shape.has(flag::WMMA));
        let left: Vec<_> = rows.map(|row| row.name).filter(|name| !done.contains(name)).collect();
        assert!(left.len() < 10, "{target:?}: {left:?}");
    }
}

#[test]
fn scalars_say_which_instructions_are_for_both() {
    let way = |words: &[u32]| Way::of(&decode(Target::Gfx1100, words).unwrap(), None);
    let (first, mut second) = ([0; 256], [0; 256]);
    second[7] = 1;
    for (words, manner, agrees) in [
        // v_add_nc_u32 v0, v1, v2; v0, s6, v2; v0, s7, v2.
        (vec![0x4a00_0501], Manner::Together, true),
        (vec![0x4a00_0406], Manner::Together, true),
        (vec![0x4a00_0407], Manner::Together, false),
        // v_add_f64 v[0:1], s[6:7], v[2:3].
        (vec![0xd727_0000, 0x0002_0406], Manner::Together, false),
        // v_cndmask_b32 v0, v1, v2, s7: a mask of each wave.
        (vec![0xd501_0000, 0x001e_0501], Manner::Together, true),
        // v_mov_b32 v0, exec_lo.
        (vec![0x7e00_027e], Manner::Apart, true),
        // v_readfirstlane_b32 s0, v0.
        (vec![0x7e00_0500], Manner::Apart, true),
        // s_add_u32 s0, s6, s7; s_mov_b32 exec_lo, s0.
        (vec![0x8000_0706], Manner::Scalar, true),
        (vec![0xbefe_0000], Manner::Apart, true),
    ] {
        let way = way(&words);
        assert_eq!((way.manner, way.agrees(&first, &second)), (manner, agrees), "{words:08x?}");
    }
}

/// A loop that each wave goes round as often as its s0 says, and what comes behind.
const LOOP: [u32; 7] = [
    // s_sub_u32 s0, s0, 1; v_add_nc_u32 v0, s0, v0; s_cmp_lg_u32 s0, 0; s_cbranch_scc1.
    0x8080_8100,
    0x4a00_0000,
    0xbf07_8000,
    0xbfa2_fffc,
    // v_cmp_gt_u32 vcc_lo, v1, v0; v_cndmask_b32 v2, v0, v1, vcc_lo; s_endpgm.
    0x7c98_0101,
    0x0204_0300,
    0xbfb0_0000,
];

#[test]
fn waves_that_part_meet_again() {
    let target = Target::Gfx1100;
    let mut room = Room::new();
    let code = load(&LOOP, target);
    for rounds in [[5, 5], [1, 30], [30, 1], [3, 100_000], [100_000, 3]] {
        let mut random = Rng::with_seed(3);
        let (mut pair, mut alone) = (room.pair(target), [(); 2].map(|()| room.wave(target)));
        randomise(&mut pair, 0, &mut random);
        for (wave, rounds) in pair.iter_mut().zip(rounds) {
            wave.sgpr[0] = rounds;
            wave.pc = LOOP.as_ptr() as u64;
        }
        for (alone, pair) in alone.iter_mut().zip(&pair) {
            copy(alone, pair);
            alone.pc = pair.pc;
            assert_eq!(alone.run(&code, &mut 1_000_000), Exit::End);
        }
        let mut exits = [Exit::Slice; 2];
        let mut turns = 0;
        while exits != [Exit::End; 2] {
            let [first, second] = &mut pair;
            exits = match exits {
                [Exit::End, _] => [Exit::End, second.run(&code, &mut 1000)],
                [_, Exit::End] => [first.run(&code, &mut 1000), Exit::End],
                _ => run([first, second], &code, &mut 1000),
            };
            turns += 1;
            assert!(turns < 5000, "{rounds:?}: {exits:?}");
        }
        pair.iter().zip(&alone).for_each(|(got, want)| check(got, want, &format!("{rounds:?}")));
    }
}
