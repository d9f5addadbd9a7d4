//! Atomics by scalar and buffer instructions, with the models of the module `rmw`; floats at their edges.

use emulator::{
    isa::{Family, Generation, Target},
    wave::Apertures,
};
use fastrand::Rng;

use super::{
    super::rmw::{self, Case},
    bench::{BUFFER_GLC, Bench, GLC, OFF, OFFEN, SMEM_IMM, ZERO, raw, row},
    is_gfx90a, on_each_target,
};

on_each_target! {
    flat_atomics_reach_lds_and_private_stacks: windows;
    scalar_and_buffer_atomics_agree_with_the_model: every_memory_atomic;
    global_and_lds_atomics_agree_with_the_model: every_vector_atomic;
    floats_are_added_and_compared_as_the_manual_says: every_float_atomic;
}

const BASE: usize = 4;
const DATA: usize = 16;

/// Rows of memory, data, comparand.
fn inputs(wide: bool) -> Vec<[u64; 3]> {
    let mut random = Rng::with_seed(11);
    let mask = if wide { u64::MAX } else { 0xffff_ffff };
    let edges = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX, 1 << 63].map(|v| v & mask);
    let mut rows: Vec<_> = edges.iter().flat_map(|a| edges.map(|b| [*a, b, *a])).collect();
    rows.extend((0..15).map(|_| [0; 3].map(|_: u64| random.u64(..) & mask)));
    rows
}

fn split(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Sets a qword of memory.
fn set(b: &mut Bench, at: usize, value: u64) {
    b.memory.bytes_mut()[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn get(b: &Bench, at: usize) -> u64 {
    u64::from(b.memory.dword(at)) | u64::from(b.memory.dword(at + 4)) << 32
}

fn cases() -> impl Iterator<Item = &'static Case> {
    let of_gfx9 = rmw::CASES.iter().chain(rmw::FLOAT_CASES);
    of_gfx9.chain(rmw::RDNA_CASES).chain(rmw::RDNA_FLOAT_CASES)
}

fn is_float(case: &Case) -> bool {
    case.memory.or(case.ds).is_some_and(|name| name.contains("_f") || name.starts_with('f'))
}

/// A row per lane, in memory and in LDS.
pub fn every_vector_atomic(target: Target) {
    for case in cases() {
        let mask = if case.wide { u64::MAX } else { 0xffff_ffff };
        let rows = if is_float(case) { numbers(case.wide) } else { inputs(case.wide) };
        let of = |family: &str| case.memory.map(|name| format!("{family}_atomic_{name}"));
        let named = |name: Option<&str>| name.map(str::to_owned);
        let forms = [
            (Family::Global, of("global"), false),
            (Family::Global, of("global"), true),
            (Family::Flat, of("flat"), false),
            (Family::Flat, of("flat"), true),
            (Family::Ds, named(case.ds), false),
            (Family::Ds, named(case.ds_rtn), true),
        ];
        for (family, name, returns) in forms {
            let Some(name) = name.filter(|name| row(target, family, name).is_some()) else { continue };
            let mut b = Bench::new(target);
            let base = b.memory.address();
            let in_lds = family == Family::Ds;
            for (lane, row) in rows.iter().enumerate() {
                let area = if in_lds { &mut b.lds } else { &mut b.memory };
                area.bytes_mut()[8 * lane..8 * lane + 8].copy_from_slice(&row[0].to_le_bytes());
            }
            b.set_wide(2, |lane| if in_lds { 0 } else { base } + 8 * lane as u64);
            let of_row = |n: usize| {
                let rows = &rows;
                move |lane: usize| rows.get(lane).map_or(0, |row| row[n])
            };
            b.set_wide(DATA, of_row(1));
            // Behind the data in memory instructions, in registers of its own in those of LDS.
            let second = if in_lds { 20 } else { DATA + if case.wide { 2 } else { 1 } };
            b.set_wide(second, of_row(2));
            b.fill(24..26);
            let before = b.quad(24, 0);
            b.wave.exec = u64::MAX >> (64 - rows.len());
            let words = if in_lds {
                let two = ["mskor", "wrap", "cmpst"].iter().any(|part| name.contains(part));
                let mut registers = [DATA as u32, if two { 20 } else { 0 }];
                // From RDNA 3 on the comparand stands last here, too.
                if name.contains("cmpst") && target.generation() > Generation::Gfx10 {
                    registers.reverse();
                }
                b.ds(&name, [if returns { 24 } else { 0 }, registers[1], registers[0], 2], 0).to_vec()
            } else {
                b.flat(
                    &name,
                    if returns { GLC } else { 0 },
                    [if returns { 24 } else { 0 }, OFF, DATA as u32, 2],
                    0,
                )
            };
            b.end(&words);
            for (lane, row) in rows.iter().enumerate() {
                let area = if in_lds { &b.lds } else { &b.memory };
                let word = |i: usize| u64::from(area.dword(8 * lane + 4 * i));
                let got = word(0) | word(1) << 32;
                let what = format!("{target:?} {name} {returns} {row:x?}");
                assert_eq!(got & mask, (case.model)(row[0], row[1], row[2]) & mask, "{what}");
                let old = u64::from(b.v(24)[lane]) | u64::from(b.v(25)[lane]) << 32;
                if returns {
                    assert_eq!(old & mask, row[0] & mask, "{what}");
                } else if lane == 0 {
                    assert_eq!(b.quad(24, 0), before, "{what}");
                }
            }
        }
    }
}

pub fn every_memory_atomic(target: Target) {
    for case in cases() {
        let Some(name) = case.memory else { continue };
        let mask = if case.wide { u64::MAX } else { 0xffff_ffff };
        // The data registers: the value, and for a comparison what memory is compared with.
        let registers = |[_, data, comparand]: [u64; 3]| match case.wide {
            true => [split(data), split(comparand)].concat(),
            false => vec![data as u32, comparand as u32],
        };
        let float = is_float(case);
        let rows = if float { numbers(case.wide) } else { inputs(case.wide) };
        for family in ["s", "s_buffer"].into_iter().filter(|_| !float) {
            if row(target, Family::Smem, &format!("{family}_atomic_{name}")).is_none() {
                continue;
            }
            let mut b = Bench::new(target);
            let base = b.memory.address();
            b.set_pair(BASE, base);
            b.wave.sgpr[BASE + 2] = 0x1000;
            for (row, glc) in rows.iter().flat_map(|row| [0, GLC].map(|glc| (*row, glc))) {
                set(&mut b, 64, row[0]);
                let data = registers(row);
                b.wave.sgpr[DATA..DATA + data.len()].copy_from_slice(&data);
                let name = format!("{family}_atomic_{name}");
                b.end(&b.smem(&name, DATA as u32, BASE as u32, SMEM_IMM | glc, 64));
                let want = if glc == 0 { row[1] } else { row[0] } & mask;
                assert_eq!(get(&b, 64), (case.model)(row[0], row[1], row[2]) & mask, "{name} {row:x?}");
                assert_eq!(b.pair(DATA) & mask, want, "{name} {row:x?}");
            }
        }
        if row(target, Family::Mubuf, &format!("buffer_atomic_{name}")).is_none() {
            continue;
        }
        // A row per lane.
        for glc in [0, BUFFER_GLC] {
            let mut b = Bench::new(target);
            let base = b.memory.address();
            b.set_pair(BASE, base);
            (b.wave.sgpr[BASE + 2], b.wave.sgpr[BASE + 3]) = (0x8000, raw(target));
            for (lane, row) in rows.iter().enumerate() {
                set(&mut b, 256 + 8 * lane, row[0]);
                b.v(2)[lane] = 8 * lane as u32;
                for (i, word) in registers(*row).into_iter().enumerate() {
                    b.v(DATA + i)[lane] = word;
                }
            }
            b.wave.exec = u64::MAX >> (64 - rows.len());
            let name = format!("buffer_atomic_{name}");
            b.end(&b.mubuf(&name, OFFEN | glc, [ZERO, BASE as u32, DATA as u32, 2], 256));
            for (lane, row) in rows.iter().enumerate() {
                let want = if glc == 0 { row[1] } else { row[0] } & mask;
                let model = (case.model)(row[0], row[1], row[2]) & mask;
                assert_eq!(get(&b, 256 + 8 * lane) & mask, model, "{name} {row:x?}");
                let got = u64::from(b.v(DATA)[lane]) | u64::from(b.v(DATA + 1)[lane]) << 32;
                assert_eq!(got & mask, want, "{name} {row:x?}");
            }
        }
    }
}

/// A row per lane, in LDS and in the lane's stack, whose dwords lie apart.
fn windows(target: Target) {
    for case in rmw::CASES {
        let Some(name) = case.memory else { continue };
        let (bytes, mask) = if case.wide { (8, u64::MAX) } else { (4, 0xffff_ffff) };
        let rows = inputs(case.wide);
        for private in [false, true] {
            let mut b = Bench::new(target);
            let apertures = Apertures::default();
            let place = |lane: usize| if private { 40 } else { 64 + 8 * lane };
            // Where a dword of a lane's qword stands in its memory.
            let at = |lane: usize, i: usize| match private {
                true => (place(lane) / 4 + i) * 256 + 4 * lane,
                false => place(lane) + 4 * i,
            };
            let start = if private { apertures.private } else { apertures.shared };
            b.set_wide(2, |lane| start + place(lane) as u64);
            for (lane, row) in rows.iter().enumerate() {
                let area = if private { &mut b.scratch } else { &mut b.lds };
                for (i, word) in split(row[0]).into_iter().enumerate().take(bytes / 4) {
                    area.bytes_mut()[at(lane, i)..at(lane, i) + 4].copy_from_slice(&word.to_le_bytes());
                }
            }
            let row = |lane: usize| rows[lane];
            b.set_wide(DATA, |lane| row(lane)[1]);
            // The comparand stands behind the data.
            b.set_wide(DATA + bytes / 4, |lane| row(lane)[2]);
            let name = format!("flat_atomic_{name}");
            b.end(&b.flat(&name, GLC, [24, 0, DATA as u32, 2], 0));
            for (lane, row) in rows.iter().enumerate() {
                let area = if private { &b.scratch } else { &b.lds };
                let word = |i: usize| u64::from(area.dword(at(lane, i)));
                let got = word(0) | if case.wide { word(1) << 32 } else { 0 };
                assert_eq!(got, (case.model)(row[0], row[1], row[2]) & mask, "{name} {private} {row:x?}");
                let old = u64::from(b.v(24)[lane]) | u64::from(b.v(25)[lane]) << 32;
                assert_eq!(old & mask, row[0], "{name} {private} {row:x?}");
            }
        }
    }
}

/// Numbers that no rule of the tables below concerns.
fn numbers(wide: bool) -> Vec<[u64; 3]> {
    let numbers = [0.0f32, 1.5, -1.5, 3e30, -7e-20, 0.1, 65504.0];
    let bits = |f: f32| if wide { f64::from(f).to_bits() } else { f.to_bits().into() };
    numbers.iter().flat_map(|a| numbers.map(|b| [bits(*a), bits(b), 0])).collect()
}

/// Memory, data, result; for compare-and-store the comparand is the second.
type Edges = &'static [[u64; 3]];

const ADD_F32: Edges = &[
    [0x7f80_0000, 0xff80_0000, 0x7fc0_0000], // inf - inf
    [0x7f80_0000, 0x3f80_0000, 0x7f80_0000],
    [0x7f80_0001, 0x3f80_0000, 0x7fc0_0001], // a signalling NaN becomes quiet
    [0x3f80_0000, 0xff80_1234, 0xffc0_1234],
    [0x7fc0_0005, 0x7fc0_0006, 0x7fc0_0005], // the first NaN
    [0x8000_0000, 0x0000_0000, 0x0000_0000],
    [0x8000_0000, 0x8000_0000, 0x8000_0000],
    [0x3f80_0000, 0x3380_0000, 0x3f80_0000], // a tie goes to even
    [0x3f80_0001, 0x3380_0000, 0x3f80_0002],
];
/// With denormals kept, and flushed in inputs and results.
const ADD_F32_DENORMAL: [Edges; 2] = [
    &[[0x0000_0001, 0x0000_0002, 0x0000_0003], [0x0080_0000, 0x8000_0001, 0x007f_ffff]],
    &[
        [0x0000_0001, 0x0000_0002, 0],
        [0x0080_0000, 0x8000_0001, 0x0080_0000],
        [0x8000_0001, 0x8000_0001, 1 << 31],
    ],
];
const MIN_F32: Edges = &[
    [0x8000_0000, 0x0000_0000, 0x8000_0000],
    [0x0000_0000, 0x8000_0000, 0x8000_0000],
    [0x7fc0_0001, 0x3f80_0000, 0x3f80_0000], // a quiet NaN loses
    [0x3f80_0000, 0x7fc0_0001, 0x3f80_0000],
    [0x7f80_0001, 0x3f80_0000, 0x7fc0_0001], // a signalling one wins
    [0x3f80_0000, 0x7f80_0001, 0x7fc0_0001],
    [0xff80_0000, 0x3f80_0000, 0xff80_0000],
];
const MAX_F32: Edges = &[
    [0x8000_0000, 0x0000_0000, 0x0000_0000],
    [0x0000_0000, 0x8000_0000, 0x0000_0000],
    [0x7fc0_0001, 0xff80_0000, 0xff80_0000],
    [0xff80_0000, 0x7fc0_0001, 0xff80_0000],
    [0x7f80_0001, 0x3f80_0000, 0x7fc0_0001],
    [0x3f80_0000, 0x7f80_0001, 0x7fc0_0001],
    [0x3f80_0000, 0x7f80_0000, 0x7f80_0000],
];
/// The denormal is the smaller; where both count as 0 memory stays.
const MIN_F32_DENORMAL: [Edges; 2] =
    [&[[0x0000_0005, 0x0000_0003, 0x0000_0003]], &[[0x0000_0005, 0x0000_0003, 0x0000_0005]]];
const ADD_F64: Edges = &[
    [0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48],
    [0x7ff0_0000_0000_0001, 0x3ff0 << 48, 0x7ff8_0000_0000_0001],
    [1, 2, 3], // denormals are always kept
    [0x3ff0 << 48, 0x3ca0 << 48, 0x3ff0 << 48],
];
const MIN_F64: Edges = &[
    [1 << 63, 0, 1 << 63],
    [0, 1 << 63, 1 << 63],
    [0x7ff8_0000_0000_0001, 0x3ff0 << 48, 0x3ff0 << 48],
    [0x3ff0 << 48, 0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_0001],
];
const MAX_F64: Edges = &[
    [1 << 63, 0, 0],
    [0, 1 << 63, 0],
    [0xfff0 << 48, 0x7ff8_0000_0000_0001, 0xfff0 << 48],
    [0x7ff0_0000_0000_0001, 0x3ff0 << 48, 0x7ff8_0000_0000_0001],
];
/// Pairs of halves: 1 + 2^-11 ties to 1; inf - inf | a signalling NaN; denormals; overflow.
const PK_ADD_F16: Edges = &[
    [0x3c01_3c00, 0x1000_1000, 0x3c02_3c00],
    [0x7c00_7c01, 0xfc00_3c00, 0x7e00_7e01],
    [0x0001_7bff, 0x0002_7bff, 0x0003_7c00],
    [0x8000_8000, 0x0000_8000, 0x0000_8000],
];
/// Pairs of bfloat16: 1 + 2^-8 ties to 1; inf - inf | a signalling NaN; denormals; overflow.
const PK_ADD_BF16: Edges = &[
    [0x3f81_3f80, 0x3b80_3b80, 0x3f82_3f80],
    [0x7f80_7f81, 0xff80_3f80, 0x7fc0_7fc1],
    [0x0001_7f7f, 0x0002_7f7f, 0x0003_7f80],
];

fn is_signalling(bits: u64, wide: bool) -> bool {
    let (infinity, quiet) = if wide { (0x7ff0 << 48, 1 << 51) } else { (0x7f80_0000, 1 << 22) };
    let magnitude = bits & if wide { u64::MAX >> 1 } else { 0x7fff_ffff };
    magnitude > infinity && magnitude & quiet == 0
}

/// Runs a DS, flat, global or buffer atomic on a row per lane; `name` with its data first.
fn check(target: Target, name: &str, wide: bool, mode: u32, edges: Edges) {
    let family = match name.split('_').next() {
        Some("ds") => Family::Ds,
        Some("flat") => Family::Flat,
        Some("global") => Family::Global,
        _ => Family::Mubuf,
    };
    if row(target, family, name).is_none() {
        return;
    }
    // On RDNA 4 a number wins over a NaN that signals.
    let edges: Vec<_> = edges
        .iter()
        .map(|[memory, data, result]| match is_signalling(*memory, wide) || is_signalling(*data, wide) {
            true if target.generation() == Generation::Gfx12
                && (name.contains("min") || name.contains("max")) =>
            {
                [*memory, *data, if is_signalling(*memory, wide) { *data } else { *memory }]
            }
            _ => [*memory, *data, *result],
        })
        .collect();
    let compare = name.contains("cmpst");
    for returns in [false, true] {
        let mut b = Bench::new(target);
        b.wave.mode = emulator::wave::Mode::of(target, mode);
        b.wave.exec = u64::MAX >> (64 - edges.len());
        let base = b.memory.address();
        let lds = name.starts_with("ds_");
        let mask = if wide { u64::MAX } else { 0xffff_ffff };
        for (lane, row) in edges.iter().enumerate() {
            let place = if lds { &mut b.lds } else { &mut b.memory };
            place.bytes_mut()[8 * lane..8 * lane + 8].copy_from_slice(&row[0].to_le_bytes());
        }
        if lds || name.starts_with("buffer_") {
            (0..64).for_each(|lane| b.v(2)[lane] = 8 * lane as u32);
        } else {
            b.set_wide(2, |lane| base + 8 * lane as u64);
        }
        let row_of = |lane: usize| edges.get(lane).copied().unwrap_or_default();
        b.set_wide(8, |lane| row_of(lane)[1]);
        // What a comparison stores: a value that no edge has, or a denormal.
        b.set_wide(12, |_| STORED);
        b.fill(16..18);
        let words = if lds {
            let size_at = name.rfind('_').unwrap();
            let name = if returns {
                format!("{}_rtn{}", &name[..size_at], &name[size_at..])
            } else {
                name.to_owned()
            };
            let [first, second] = match compare {
                // From RDNA 3 on the comparand stands last.
                true if target.generation() > Generation::Gfx10 => [12, 8],
                true => [8, 12],
                false => [8, 0],
            };
            b.ds(&name, [if returns { 16 } else { 0 }, second, first, 2], 0).to_vec()
        } else if name.starts_with("buffer_") {
            b.set_pair(BASE, base);
            (b.wave.sgpr[BASE + 2], b.wave.sgpr[BASE + 3]) = (0x1000, raw(target));
            b.mubuf(name, OFFEN | if returns { BUFFER_GLC } else { 0 }, [ZERO, BASE as u32, 8, 2], 0)
        } else {
            let saddr = if name.starts_with("flat_") { 0 } else { OFF };
            let (dst, glc) = if returns { (16, GLC) } else { (0, 0) };
            b.flat(name, glc, [dst, saddr, 8, 2], 0)
        };
        b.end(&words);
        for (lane, [memory, data, result]) in edges.iter().enumerate() {
            let area = if lds { &b.lds } else { &b.memory };
            let got = u64::from(area.dword(8 * lane)) | u64::from(area.dword(8 * lane + 4)) << 32;
            let what = format!("{target:?} {name} {mode:#x} {memory:#x} {data:#x}");
            assert_eq!(got & mask, *result, "{what}: {:#x}", got & mask);
            if returns {
                let register = if name.starts_with("buffer_") { 8 } else { 16 };
                let old = u64::from(b.v(register)[lane]) | u64::from(b.v(register + 1)[lane]) << 32;
                assert_eq!(old & mask, *memory, "{what}");
            }
        }
    }
}

/// What compare-and-store stores: as a single or a double a number.
const STORED: u64 = 0x4000_0000_4100_0000;

/// Memory, comparand, new memory.
const CMPST_F32: Edges = &[
    [0x3f80_0000, 0x3f80_0000, 0x4100_0000],
    [0x0000_0000, 0x8000_0000, 0x4100_0000], // zeros are equal
    [0x7fc0_0000, 0x7fc0_0000, 0x7fc0_0000], // NaNs are not
    [0x3f80_0000, 0x3f80_0001, 0x3f80_0000],
];
const CMPST_F32_DENORMAL: [Edges; 2] =
    [&[[0x0000_0001, 0x0000_0002, 0x0000_0001]], &[[0x0000_0001, 0x0000_0002, 0x4100_0000]]];
const CMPST_F64: Edges = &[
    [0x3ff0 << 48, 0x3ff0 << 48, STORED],
    [0, 1 << 63, STORED],
    [0x7ff8 << 48, 0x7ff8 << 48, 0x7ff8 << 48],
    [1, 2, 1],
];

pub fn every_float_atomic(target: Target) {
    const KEEP: u32 = 0x3f0;
    const FLUSH: u32 = 0x300;
    for mode in [KEEP, FLUSH] {
        let flush = usize::from(mode == FLUSH);
        for (name, edges, denormal) in [
            ("ds_add_f32", ADD_F32, ADD_F32_DENORMAL[flush]),
            ("ds_min_f32", MIN_F32, MIN_F32_DENORMAL[flush]),
            ("ds_max_f32", MAX_F32, &[]),
            ("ds_cmpst_f32", CMPST_F32, CMPST_F32_DENORMAL[flush]),
        ] {
            check(target, name, false, mode, edges);
            if !denormal.is_empty() {
                check(target, name, false, mode, denormal);
            }
        }
        // Additions of doubles keep denormals whatever MODE says.
        check(target, "ds_add_f64", true, mode, ADD_F64);
        for (name, edges) in [("min", MIN_F64), ("max", MAX_F64)] {
            check(target, &format!("ds_{name}_f64"), true, mode, edges);
        }
        let memory = |name: &str, wide, edges| {
            for family in ["flat", "global", "buffer"] {
                check(target, &format!("{family}_atomic_{name}"), wide, mode, edges);
            }
        };
        // Those of the L2 cache do not look at MODE: gfx90a flushes singles.
        memory("add_f32", false, ADD_F32);
        memory("add_f32", false, ADD_F32_DENORMAL[usize::from(is_gfx90a(target))]);
        memory("fmin", false, MIN_F32);
        memory("fmax", false, MAX_F32);
        memory("fmin_x2", true, MIN_F64);
        memory("fmax_x2", true, MAX_F64);
        memory("add_f64", true, ADD_F64);
        memory("min_f64", true, MIN_F64);
        memory("max_f64", true, MAX_F64);
        memory("pk_add_f16", false, PK_ADD_F16);
        memory("pk_add_bf16", false, PK_ADD_BF16);
    }
    check(target, "ds_cmpst_f64", true, KEEP, CMPST_F64);
    if !is_gfx90a(target) {
        check(target, "ds_pk_add_f16", false, KEEP, PK_ADD_F16);
        check(target, "ds_pk_add_bf16", false, KEEP, PK_ADD_BF16);
        check(target, "ds_pk_add_f16", false, FLUSH, &[[0x0001_0400, 0x0002_8001, 0x0000_0400]]);
    }
}
