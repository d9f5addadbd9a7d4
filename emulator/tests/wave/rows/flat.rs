//! FLAT, GLOBAL and SCRATCH loads and stores; their atomics are in the modules `rmw` and `atomic`.

use emulator::{
    isa::{Generation, Target},
    wave::{Apertures, FaultKind},
};

use super::{
    ADDR, DATA, DST, EXEC, LOADS, STORES,
    bench::{BIT_13, Bench, LDS_BYTES, OFF, SCRATCH_BYTES},
    in_lds, is_gfx90a, live, loaded, loads_to_lds, on_each_target, on_gfx9, stored,
};

on_each_target! {
    loads_and_stores_reach_every_segment: every_load_and_store;
    flat_addresses_beyond_their_window_fault: outside_of_the_windows;
}

on_gfx9! {
    loads_to_lds_put_a_dword_for_each_lane: every_load_to_lds;
}

const SADDR: usize = 10;
/// Bytes between the lanes' data.
const STEP: usize = 24;

/// Where an address form leads, and what the instruction looks like.
struct Form {
    family: &'static str,
    /// Bits of word 0, SADDR, offset.
    flags: u32,
    saddr: u32,
    offset: i32,
    segment: Segment,
    /// Where lane n's datum is, behind the segment's start.
    place: fn(usize) -> usize,
    /// Sets the address registers; the segment's start and the offset.
    registers: fn(&mut Bench, u64, i32),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Segment {
    Memory,
    Lds,
    Scratch,
}

fn spread(lane: usize) -> usize {
    256 + STEP * ((lane * 29) % 64)
}

/// A private stack is short.
fn stack(lane: usize) -> usize {
    64 + STEP * ((lane * 5) % 16)
}

fn wide(b: &mut Bench, start: u64, place: fn(usize) -> usize, offset: i32) {
    b.set_wide(ADDR, |lane| (start + place(lane) as u64).wrapping_add_signed(-i64::from(offset)));
}

/// A form without a scalar register.
fn form(
    family: &'static str,
    segment: Segment,
    place: fn(usize) -> usize,
    offset: i32,
    registers: fn(&mut Bench, u64, i32),
) -> Form {
    Form { family, flags: 0, saddr: OFF, offset, segment, place, registers }
}

fn forms(target: Target) -> Vec<Form> {
    // RDNA 2 has twelve bits, of which FLAT ignores the highest; RDNA 4 has 24.
    let (flat, lowest) = match target.generation() {
        Generation::Gfx10 => (0x7bc, -2048),
        Generation::Gfx12 => (0x1abc, -0x3000),
        _ => (0xabc, -4096),
    };
    let of_flat = |segment, place, offset, registers| Form {
        saddr: 0,
        ..form("flat", segment, place, offset, registers)
    };
    let mut forms = vec![
        of_flat(Segment::Memory, spread, flat, |b, s, o| wide(b, s, spread, o)),
        of_flat(Segment::Lds, spread, 0x10, |b, s, o| wide(b, s, spread, o)),
        of_flat(Segment::Scratch, stack, 0x10, |b, s, o| wide(b, s, stack, o)),
        form("global", Segment::Memory, spread, lowest, |b, s, o| wide(b, s, spread, o)),
        Form {
            saddr: SADDR as u32,
            ..form("global", Segment::Memory, spread, 0x123, |b, s, o| {
                b.set_pair(SADDR, s.wrapping_add_signed(-i64::from(o)));
                (0..64).for_each(|lane| b.v(ADDR)[lane] = spread(lane) as u32);
            })
        },
        // Scratch by a scalar register alone: all lanes at one offset, in memory next to each other.
        Form {
            saddr: SADDR as u32,
            ..form("scratch", Segment::Scratch, |_| 100, -28, |b, _, _| b.wave.sgpr[SADDR] = 128)
        },
        Form {
            flags: if is_gfx90a(target) { 0 } else { BIT_13 },
            ..form("scratch", Segment::Scratch, stack, 8, |b, _, _| {
                (0..64).for_each(|lane| b.v(ADDR)[lane] = stack(lane) as u32 - 8)
            })
        },
    ];
    if !is_gfx90a(target) {
        // Neither register.
        forms.push(form("scratch", Segment::Scratch, |_| 36, 36, |_, _, _| {}));
    }
    if !is_gfx90a(target) && target.generation() != Generation::Gfx10 {
        // Both.
        forms.push(Form {
            flags: BIT_13,
            saddr: SADDR as u32,
            ..form("scratch", Segment::Scratch, stack, -8, |b, _, _| {
                b.wave.sgpr[SADDR] = 40;
                (0..64).for_each(|lane| b.v(ADDR)[lane] = stack(lane) as u32 - 32);
            })
        });
    }
    forms
}

impl Form {
    fn bench(&self, target: Target) -> Bench {
        let mut b = Bench::new(target);
        b.wave.exec = EXEC;
        b.fill(DATA..DATA + 4);
        b.fill(DST..DST + 4);
        let start = match self.segment {
            Segment::Memory => b.memory.address(),
            Segment::Lds => Apertures::default().shared,
            Segment::Scratch => Apertures::default().private,
        };
        (self.registers)(&mut b, start, self.offset);
        b
    }

    fn bytes<'a>(&self, b: &'a Bench) -> &'a [u8] {
        match self.segment {
            Segment::Memory => b.memory.bytes(),
            Segment::Lds => b.lds.bytes(),
            Segment::Scratch => b.scratch.bytes(),
        }
    }

    /// Index of byte `i` of a lane's datum in the segment's memory: private stacks lie in dwords side by
    /// side.
    fn byte(&self, lane: usize, i: usize) -> usize {
        let offset = (self.place)(lane) + i;
        if self.segment == Segment::Scratch { offset / 4 * 256 + lane * 4 + offset % 4 } else { offset }
    }

    fn words(&self, b: &Bench, name: &str, [dst, data]: [usize; 2]) -> Vec<u32> {
        let registers = [dst as u32, self.saddr, data as u32, ADDR as u32];
        b.flat(&format!("{}_{name}", self.family), self.flags, registers, self.offset)
    }
}

pub fn every_load_and_store(target: Target) {
    for form in forms(target) {
        for (name, _, bytes, how) in LOADS {
            let mut b = form.bench(target);
            let words = form.words(&b, &format!("load_{name}"), [DST, 0]);
            let want: Vec<_> = (0..64)
                .map(|lane| {
                    let raw: Vec<u8> = (0..*bytes).map(|i| form.bytes(&b)[form.byte(lane, i)]).collect();
                    let old = b.quad(DST, lane);
                    if live(lane) { loaded(*how, &raw, old) } else { old }
                })
                .collect();
            b.end(&words);
            for (lane, want) in want.into_iter().enumerate() {
                let what = format!("{target:?} {}_load_{name} {:#x} lane {lane}", form.family, form.flags);
                assert_eq!(b.quad(DST, lane), want, "{what}");
            }
        }
        for (name, _, bytes, high) in STORES {
            let mut b = form.bench(target);
            let words = form.words(&b, &format!("store_{name}"), [0, DATA]);
            let mut want = form.bytes(&b).to_vec();
            for lane in (0..64).filter(|lane| live(*lane)) {
                for (i, byte) in stored(b.quad(DATA, lane), *bytes, *high).into_iter().enumerate() {
                    want[form.byte(lane, i)] = byte;
                }
            }
            b.end(&words);
            assert!(form.bytes(&b) == want, "{target:?} {}_store_{name} {:#x}", form.family, form.flags);
        }
    }
}

/// Lane n's dword goes to M0 + offset + 4n of LDS. gfx90a has a bit for it, gfx942 instructions, gfx950 wider ones, too.
pub fn every_load_to_lds(target: Target) {
    const OFFSET: i32 = 20;
    for (family, place) in [("global", spread as fn(usize) -> usize), ("scratch", stack)] {
        let is_global = family == "global";
        for (name, _, bytes, how) in loads_to_lds(target).filter(|load| is_global || load.2 <= 4) {
            let segment = if family == "global" { Segment::Memory } else { Segment::Scratch };
            let flags = if is_gfx90a(target) || family == "scratch" { BIT_13 } else { 0 };
            let form = Form { flags, ..form(family, segment, place, OFFSET, |_, _, _| {}) };
            let mut b = form.bench(target);
            let start = b.memory.address();
            match segment {
                Segment::Memory => wide(&mut b, start, place, OFFSET),
                _ => (0..64).for_each(|lane| b.v(ADDR)[lane] = place(lane) as u32 - OFFSET as u32),
            }
            b.m0(0x104);
            let name = if is_gfx90a(target) { format!("load_{name}") } else { format!("load_lds_{name}") };
            let words = form.words(&b, &name, [0, 0]);
            let mut want = b.lds.bytes().to_vec();
            for lane in (0..64).filter(|lane| live(*lane)) {
                let raw: Vec<u8> = (0..*bytes).map(|i| form.bytes(&b)[form.byte(lane, i)]).collect();
                let datum = in_lds(*how, &raw);
                let at = 0x104 + OFFSET as usize + datum.len() * lane;
                want[at..at + datum.len()].copy_from_slice(&datum);
            }
            let registers = b.quad(0, 3);
            b.end(&words);
            assert!(b.lds.bytes() == want, "{target:?} {family}_{name}");
            assert_eq!(b.quad(0, 3), registers, "no register is written");
        }
    }
    // Lanes whose dword would be outside of LDS neither read nor write.
    let mut b = Bench::new(target);
    let start = b.memory.address();
    b.set_wide(ADDR, |lane| if lane < 2 { start + 4 * lane as u64 } else { 16 });
    b.m0(LDS_BYTES as u32 - 8);
    let (name, flags) = if is_gfx90a(target) { ("load_dword", BIT_13) } else { ("load_lds_dword", 0) };
    b.end(&b.flat(&format!("global_{name}"), flags, [0, OFF, 0, ADDR as u32], 0));
    assert_eq!([0, 4].map(|i| b.lds.dword(LDS_BYTES - 8 + i)), [0, 4].map(|i| b.memory.dword(i)));
}

fn outside_of_the_windows(target: Target) {
    let apertures = Apertures::default();
    for (start, size) in [(apertures.shared, LDS_BYTES), (apertures.private, SCRATCH_BYTES)] {
        let mut b = Bench::new(target);
        let address = start + size as u64 - 4;
        b.set_wide(ADDR, |_| address);
        b.end(&b.flat("flat_load_dword", 0, [DST as u32, 0, 0, ADDR as u32], 0));
        let fault = b.fault(&b.flat("flat_load_dwordx2", 0, [DST as u32, 0, 0, ADDR as u32], 0));
        assert_eq!(fault, FaultKind::Aperture { address, lane: 0 });
        // Global instructions know no windows.
        let fault = b.fault(&b.flat("global_load_dword", 0, [DST as u32, OFF, 0, ADDR as u32], 0));
        assert_eq!(fault, FaultKind::Memory { address, lane: 0, bytes: 4, write: false });
    }
}
