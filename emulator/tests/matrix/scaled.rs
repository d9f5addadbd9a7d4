//! The f8f6f4 instructions of gfx950 behind their scales.

use std::{fmt::Write, sync::Arc};

use emulator::{
    isa::Target,
    wave::{Exit, FaultKind, Restriction, code::Code},
};
use fastrand::Rng;

use super::{
    Case, Element, Fields, Machine, Matrices,
    arithmetic::{FLAVOURS, Flavour, pattern},
    layout, model,
};
use crate::harness::{Level, input, kernel, output};

const FIELDS: Fields = Fields { a: 2, b: 270, c: 60, d: 60, cbsz: 0, abid: 0, blgp: 0 };
/// The vector registers of the scales of A and B.
const SCALES: [usize; 2] = [120, 122];
/// A scale of 1.
const ONE: u8 = 127;

fn cases() -> impl Iterator<Item = Case> {
    Case::all().into_iter().filter(|case| case.formats.is_some())
}

/// v_mfma_ld_scale_b32 with the codes of its sources and the bytes that they select, and the instruction behind it.
fn words(case: &Case, sources: [u32; 2], bytes: [u32; 2]) -> [u32; 4] {
    let [first, second] = Machine::words(case, FIELDS);
    let bit = |n: u32| bytes[0] >> n & 1 | (bytes[1] >> n & 1) << 1;
    let scales = [0xd3ac_0000 | bit(0) << 11, sources[0] | sources[1] << 9 | bit(1) << 27];
    [scales[0], scales[1], first | 1 << 11, second]
}

/// A machine with the matrices in its registers, and with scales: of A\[i\]\[k\] in the lane of row i that [`lane_of`] says,
/// of B likewise.
fn prepared(
    case: &Case,
    matrices: &Matrices,
    scales: &[[u8; 64]; 2],
    bytes: [u32; 2],
    random: &mut Rng,
) -> Machine {
    let mut machine = Machine::new(case.target, random);
    layout::place(&mut machine, case, FIELDS, matrices);
    for ((register, scales), byte) in SCALES.into_iter().zip(scales).zip(bytes) {
        for (lane, scale) in scales.iter().enumerate() {
            machine.set_item(register, 8, byte as usize, lane, u64::from(*scale));
        }
    }
    machine
}

/// The lane that scales elements `k` of a row: those of the first 32 are scaled in the first 16 or 32 lanes, and so on.
fn lane_of(case: &Case, row: usize, k: usize) -> usize {
    row + case.n * (k / 32)
}

/// Runs the instruction and compares all of D with the model.
fn check(case: &Case, matrices: &Matrices, scales: &[[u8; 64]; 2], bytes: [u32; 2], random: &mut Rng) {
    let mut machine = prepared(case, matrices, scales, bytes, random);
    let sources = SCALES.map(|register| 256 + register as u32);
    machine.execute(words(case, sources, bytes)).unwrap();
    for at @ [block, i, j] in layout::elements(case) {
        let a = &matrices.a[block][i];
        let b: Vec<_> = (0..case.k).map(|k| matrices.b[block][k][j]).collect();
        let pairs: Vec<_> = (0..case.k)
            .step_by(32)
            .map(|k| [scales[0][lane_of(case, i, k)], scales[1][lane_of(case, j, k)]])
            .collect();
        let shifts: Vec<_> = pairs.iter().map(|[a, b]| i32::from(*a) + i32::from(*b) - 254).collect();
        let want = match pairs.iter().flatten().any(|scale| *scale == 255) {
            true => 0x7fc0_0000,
            false => model::scaled(case, a, &b, matrices.c[block][i][j], &shifts),
        };
        let got = layout::result(&machine, case, FIELDS, at);
        assert_eq!(got, want, "{} {:?} {at:?}: {got:#x}, not {want:#x}", case.row.name, case.formats);
    }
}

fn matrices(case: &Case, flavour: Flavour, random: &mut Rng) -> Matrices {
    let elements = [case.a, case.b, Element::F32];
    Matrices::new(case, |which| pattern(elements[which], flavour, random))
}

#[test]
fn scales_multiply_the_sums_of_their_blocks() {
    let mut random = Rng::with_seed(91);
    for (n, case) in cases().enumerate() {
        for (m, flavour) in FLAVOURS.into_iter().enumerate() {
            let matrices = matrices(&case, flavour, &mut random);
            let scales = [(); 2].map(|()| [(); 64].map(|()| ONE - 3 + random.u8(0..7)));
            let bytes = [(n + m) as u32 % 4, m as u32 % 4];
            check(&case, &matrices, &scales, bytes, &mut random);
        }
    }
}

#[test]
fn scales_reach_all_exponents_and_one_that_is_no_number_spoils_its_row_or_column() {
    let mut random = Rng::with_seed(92);
    for case in cases() {
        for flavour in [Flavour::Close, Flavour::Wide, Flavour::Tiny, Flavour::Special] {
            let matrices = matrices(&case, flavour, &mut random);
            let mut scales = [[0; 64]; 2];
            scales.iter_mut().for_each(|lanes| lanes.fill_with(|| random.u8(..255)));
            check(&case, &matrices, &scales, [3, 2], &mut random);
            for _ in 0..3 {
                scales[random.usize(..2)][random.usize(..64)] = 255;
            }
            check(&case, &matrices, &scales, [0, 1], &mut random);
        }
    }
}

/// What the authors of Composable Kernel measured: the lanes whose scale each run of 16 elements has, which are those of lanes
/// 0, 16 and so on (0 and 32), the lower and the upper half of each (test/mx_mfma_op/scale_mapping_*.txt).
#[test]
fn each_byte_is_scaled_as_it_was_measured_on_a_card() {
    let mut random = Rng::with_seed(93);
    for case in cases().filter(|case| case.formats == Some([0, 0])) {
        let measured: &[usize] = if case.n == 16 { &[0, 32, 0, 32, 16, 48, 16, 48] } else { &[0, 32, 0, 32] };
        for (row, item) in (0..case.n).flat_map(|row| (0..case.k).map(move |item| (row, item))) {
            let (zeros, ones) = (0, Element::Fp8.encode(1));
            let elements = Matrices::new(&case, |which| if which == 1 { ones } else { zeros });
            let scales = [std::array::from_fn(|lane| ONE + lane as u8), [ONE; 64]];
            let mut machine = prepared(&case, &elements, &scales, [0, 0], &mut random);
            machine.set_item(FIELDS.a, 8, item % 32, row + item / 32 * case.n, ones);
            machine.execute(words(&case, SCALES.map(|register| 256 + register as u32), [0, 0])).unwrap();
            let got = f32::from_bits(layout::result(&machine, &case, FIELDS, [0, row, 0]) as u32);
            assert_eq!(got, 2f32.powi((measured[item / 16] + row) as i32), "{} {row} {item}", case.row.name);
        }
    }
}

#[test]
fn scalars_and_constants_scale_by_the_exponents_of_singles() {
    let mut random = Rng::with_seed(94);
    for case in cases().filter(|case| case.formats == Some([4, 2])) {
        let matrices = matrices(&case, Flavour::Close, &mut random);
        // s8, 2.0 and the integer 1, whose exponent is that of zero.
        for (source, code, exponent) in [(0x4280_0000, 8, 133), (0, 244, 128), (0, 129, 0)] {
            let scales = [[exponent; 64], [ONE; 64]];
            let mut machine = prepared(&case, &matrices, &scales, [0, 0], &mut random);
            let mut same = prepared(&case, &matrices, &scales, [0, 0], &mut random);
            machine.wave.sgpr[8] = source;
            // op_sel does not matter.
            machine.execute(words(&case, [code, 256 + SCALES[1] as u32], [2, 0])).unwrap();
            same.execute(words(&case, SCALES.map(|register| 256 + register as u32), [0, 0])).unwrap();
            for at in layout::elements(&case) {
                let [got, want] = [&machine, &same].map(|m| layout::result(m, &case, FIELDS, at));
                assert_eq!(got, want, "{} {code} {at:?}", case.row.name);
            }
        }
    }
}

#[test]
fn scales_that_no_instruction_takes_are_a_fault() {
    let mut machine = Machine::new(Target::Gfx950, &mut Rng::with_seed(95));
    let case = cases().next().unwrap();
    let [first, second, third, fourth] = words(&case, [300, 301], [0, 0]);
    let fault = FaultKind::Illegal { name: "v_mfma_ld_scale_b32", why: Restriction::NoMatrix };
    for words in [vec![first, second], vec![first, second, third ^ 1 << 11, fourth]] {
        assert_eq!(machine.execute(words), Err(fault));
    }
}

#[test]
fn an_instruction_may_lie_in_two_pages_of_code() {
    let case = cases().next().unwrap();
    let instruction = words(&case, SCALES.map(|register| 256 + register as u32), [0, 0]);
    for before in 0..300 {
        // s_nop, the instruction, s_endpgm.
        let mut code = vec![0xbf80_0000u32; before];
        code.extend(instruction.iter().chain(&[0xbf81_0000]));
        let [mut machine, mut alone] = [0; 2].map(|_| Machine::new(case.target, &mut Rng::with_seed(96)));
        let start = code.as_ptr() as u64;
        // SAFETY: `code` outlives the range and does not change.
        let range = unsafe { Code::new(start, start + 4 * code.len() as u64, case.target) };
        machine.wave.pc = start;
        assert_eq!(machine.wave.run(&[Arc::new(range)], &mut 1000), Exit::End);
        assert_eq!(machine.wave.pc, start + 4 * code.len() as u64);
        alone.execute(instruction).unwrap();
        let [got, want] = [&machine, &alone].map(|machine| machine.wave.vgpr.iter().map(|row| row.0));
        assert!(got.eq(want), "{before} words before");
    }
}

/// One instruction on registers that come from memory as they are.
fn source(case: &Case, bytes: [u32; 2]) -> String {
    let (n, k, count) = (case.n, case.k, case.n * case.n / 64);
    let [a, b] = case.formats.unwrap();
    let [byte_a, byte_b] = bytes;
    format!(
        "
        typedef __attribute__((ext_vector_type(8))) int v_{n}_{a}_{b};
        typedef __attribute__((ext_vector_type({count}))) float c_{n}_{a}_{b};
        KERNEL scaled_{n}_{a}_{b}(const v_{n}_{a}_{b} *a, const v_{n}_{a}_{b} *b, const int *scale_a,
                                  const int *scale_b, c_{n}_{a}_{b} *c) {{
            c[tid] = __builtin_amdgcn_mfma_scale_f32_{n}x{n}x{k}_f8f6f4(
                a[tid], b[tid], c[tid], {a}, {b}, {byte_a}, scale_a[tid], {byte_b}, scale_b[tid]);
        }}"
    )
}

#[test]
fn compiled_products_of_all_formats_match_the_host() {
    let mut random = Rng::with_seed(97);
    let cases: Vec<_> =
        cases().enumerate().map(|(n, case)| (case, [n as u32 % 4, n as u32 / 4 % 4])).collect();
    let source = cases.iter().fold(String::new(), |mut all, (case, bytes)| {
        write!(all, "{}", source(case, *bytes)).unwrap();
        all
    });
    for (case, bytes) in &cases {
        let [a, b] = case.formats.unwrap();
        let name = format!("scaled_{}_{a}_{b}", case.n);
        let Some(kernel) = kernel(&source, &name, case.target, Level::O3) else { return };
        let numbers = Matrices::new(case, |which| (if which == 2 { 0 } else { random.i32(-4..=4) }) as u64);
        let elements = |matrix: &[Vec<u64>], element: Element| {
            let row = |row: &Vec<u64>| row.iter().map(|x| element.encode(*x as i32)).collect();
            vec![matrix.iter().map(row).collect()]
        };
        let encoded = Matrices {
            a: elements(&numbers.a[0], case.a),
            b: elements(&numbers.b[0], case.b),
            c: numbers.c.clone(),
        };
        let scales = [(); 2].map(|()| [(); 64].map(|()| ONE - 2 + random.u8(0..5)));
        let machine = prepared(case, &encoded, &scales, *bytes, &mut random);
        let registers = |first: usize, count: usize| -> Vec<u8> {
            let lane = |lane: usize| (first..first + count).map(move |row| (row, lane));
            let word = |(row, lane): (usize, usize)| machine.wave.vgpr[row].0[lane].to_le_bytes();
            (0..64).flat_map(lane).flat_map(word).collect()
        };
        let count = case.n * case.n / 64;
        let memory = [registers(FIELDS.a, 8), registers(FIELDS.b, 8)];
        let factors = SCALES.map(|register| registers(register, 1));
        let mut c = vec![0u8; 64 * count * 4];
        let mut arguments =
            [input(&memory[0]), input(&memory[1]), input(&factors[0]), input(&factors[1]), output(&mut c)];
        kernel.run([1, 1, 1], [64, 1, 1], &mut arguments, 0).unwrap();
        for at @ [_, i, j] in layout::elements(case) {
            let (item, lane) = layout::output(case, at[0], i, j);
            let at = (lane * count + item) * 4;
            let got = f32::from_le_bytes(c[at..at + 4].try_into().unwrap());
            let product = |k: usize| {
                let shift =
                    |scales: &[u8; 64], row: usize| i32::from(scales[lane_of(case, row, k)]) - i32::from(ONE);
                let [x, y] = [numbers.a[0][i][k], numbers.b[0][k][j]].map(|x| x as i32);
                f64::from(x * y) * 2f64.powi(shift(&scales[0], i) + shift(&scales[1], j))
            };
            let want = (0..case.k).map(product).sum::<f64>() as f32;
            assert_eq!(got, want, "{name} [{i}][{j}]");
        }
    }
}
