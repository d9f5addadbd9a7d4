//! Buffer loads and stores with formats, against conversions in double precision and LLVM's soft halves.

use emulator::{
    isa::{Target, format},
    wave::FaultKind,
};
use fastrand::Rng;
use rustc_apfloat::{Float, FloatConvert, ieee};

use super::{
    bench::{BUFFER_LDS, Bench, OFFEN, ZERO, raw},
    on_each_target, on_gfx9,
};

on_each_target! {
    formats_convert_between_memory_and_registers: every_instruction;
}

on_gfx9! {
    selectors_arrange_components: selectors;
    reserved_formats_are_named: reserved;
    an_element_is_in_range_or_not_as_a_whole: ranges;
}

/// Bits of the components by data format, the lowest bits first.
const LAYOUTS: [&[u32]; 15] = [
    &[],
    &[8],
    &[16],
    &[8, 8],
    &[32],
    &[16, 16],
    &[11, 11, 10],
    &[10, 11, 11],
    &[2, 10, 10, 10],
    &[10, 10, 10, 2],
    &[8; 4],
    &[32; 2],
    &[16; 4],
    &[32; 3],
    &[32; 4],
];
const UNORM: u32 = 0;
const SNORM: u32 = 1;
const USCALED: u32 = 2;
const SSCALED: u32 = 3;
const UINT: u32 = 4;
const SINT: u32 = 5;
const FLOAT: u32 = 7;

/// The bits of word 3 of a resource that give a format: two fields on GFX9, a number on RDNA, whose offsets are not of
/// structures here (OOB_SELECT). `None` if there is no such format.
fn format_bits(target: Target, data: u32, number: u32) -> Option<u32> {
    if !target.is_rdna() {
        return is_defined(data, number).then_some(data << 15 | number << 12);
    }
    unified(target, data, number).map(|format| format << 12 | raw(target))
}

/// A format's number on RDNA.
fn unified(target: Target, data: u32, number: u32) -> Option<u32> {
    (1..128).find(|n| format::parts(*n, target).is_some_and(|(d, n)| (d.into(), n.into()) == (data, number)))
}

fn is_defined(data: u32, number: u32) -> bool {
    match data {
        1 | 3 | 8 | 9 | 10 => number <= SINT,
        4 | 11 | 13 | 14 => matches!(number, UINT | SINT | FLOAT),
        2 | 5 | 6 | 7 | 12 => number != 6,
        _ => false,
    }
}

fn half(bits: u32) -> f32 {
    let value = ieee::Half::from_bits(bits.into());
    let single: ieee::Single = value.convert(&mut false).value;
    f32::from_bits(single.to_bits() as u32)
}

fn to_half(value: f32) -> u32 {
    let single = ieee::Single::from_bits(value.to_bits().into());
    let half: ieee::Half = single.convert(&mut false).value;
    half.to_bits() as u32
}

/// A component of memory as a register has it: 32 bits wide, or 16.
fn from_memory(field: u32, bits: u32, number: u32, wide: bool) -> u32 {
    let signed = i64::from((field << (32 - bits)) as i32 >> (32 - bits));
    let (all, half_range) = (2f64.powi(bits as i32) - 1.0, 2f64.powi(bits as i32 - 1) - 1.0);
    let float = match number {
        UINT if wide => return field,
        UINT => return field & 0xffff,
        SINT if wide => return signed as u32,
        SINT => return signed as u32 & 0xffff,
        UNORM => (f64::from(field) / all) as f32,
        SNORM => (signed as f64 / half_range).max(-1.0) as f32,
        USCALED => field as f32,
        SSCALED => signed as f32,
        _ if bits == 32 => f32::from_bits(field),
        // Floats without a sign are halves that lack it and the lower bits of the fraction.
        _ => half(if bits == 16 { field } else { field << (15 - bits) }),
    };
    if wide { float.to_bits() } else { to_half(float) }
}

/// The bit pattern nearest to a value among unsigned floats of 5 bits of exponent, found by trying all.
fn nearest_small(value: f32, bits: u32) -> u32 {
    let fraction = bits - 5;
    if value.is_nan() {
        return 31 << fraction | 1 << (fraction - 1);
    }
    let infinity = 31 << fraction;
    // Between the largest number and 2^16, where the next would be, the middle rounds up.
    let of =
        |pattern: u32| if pattern == infinity { 65536.0 } else { f64::from(half(pattern << (15 - bits))) };
    let value = f64::from(value).clamp(0.0, 65536.0);
    (0..=infinity)
        .min_by(|a, b| {
            let distance = |p: u32| (of(p) - value).abs();
            distance(*a).total_cmp(&distance(*b)).then((a & 1).cmp(&(b & 1)))
        })
        .unwrap()
}

/// A register as a component of memory.
fn to_memory(register: u32, bits: u32, number: u32, wide: bool) -> u32 {
    let all = u32::MAX >> (32 - bits);
    let (low, high) = (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1);
    let integer = match (wide, number) {
        (true, SINT) => i64::from(register as i32),
        (true, _) => register.into(),
        (false, SINT) => i64::from(register as u16 as i16),
        (false, _) => i64::from(register as u16),
    };
    let float = if wide { f32::from_bits(register) } else { half(register & 0xffff) };
    let number_value = if float.is_nan() { 0.0 } else { f64::from(float) };
    // Halves round to even: with a tie the even neighbour is taken.
    let round = |v: f64| {
        let below = v.floor();
        match v - below {
            d if d < 0.5 => below,
            d if d > 0.5 => below + 1.0,
            _ if below % 2.0 == 0.0 => below,
            _ => below + 1.0,
        }
    };
    let value = match number {
        UINT => integer.min(all.into()),
        SINT => integer.clamp(low, high),
        UNORM => round(number_value.clamp(0.0, 1.0) * f64::from(all)) as i64,
        SNORM => round(number_value.clamp(-1.0, 1.0) * high as f64) as i64,
        USCALED => number_value.clamp(0.0, all.into()).trunc() as i64,
        SSCALED => number_value.clamp(low as f64, high as f64).trunc() as i64,
        _ if bits == 32 => return float.to_bits(),
        _ if bits == 16 => return to_half(float),
        _ => return nearest_small(float, bits),
    };
    value as u32 & all
}

const ADDR: usize = 4;
const DATA: usize = 8;
const RESOURCE: usize = 8;
const IDENTITY: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;
/// Bytes between the lanes' elements; no multiple of four.
const STEP: usize = 17;
const START: usize = 256;

/// An element's fields.
fn fields(bytes: &[u8], layout: &[u32]) -> Vec<u32> {
    let mut element = [0; 16];
    element[..bytes.len()].copy_from_slice(bytes);
    let mut rest = u128::from_le_bytes(element);
    layout
        .iter()
        .map(|bits| {
            let field = rest as u32 & u32::MAX >> (32 - bits);
            rest >>= bits;
            field
        })
        .collect()
}

fn bench(target: Target, data: u32, number: u32, selectors: u32) -> Bench {
    let mut b = Bench::new(target);
    b.fill(DATA..DATA + 4);
    let base = b.memory.address();
    let format = format_bits(target, data, number).expect("the target has the format");
    let words = [base as u32, (base >> 32) as u32, 0x8000, format | selectors];
    b.wave.sgpr[RESOURCE..RESOURCE + 4].copy_from_slice(&words);
    (0..64).for_each(|lane| b.v(ADDR)[lane] = (START + STEP * lane) as u32);
    b
}

/// The instruction `buffer_…` by the resource's format or `tbuffer_…` by its own; 32 is what the other one
/// says.
fn words(b: &mut Bench, name: &str, typed: bool, format: [u32; 2]) -> Vec<u32> {
    let registers = [ZERO, RESOURCE as u32, DATA as u32, ADDR as u32];
    if typed {
        // What the resource says does not count.
        let target = b.wave.target;
        let format =
            if target.is_rdna() { [unified(target, format[0], format[1]).unwrap(), 0] } else { format };
        b.wave.sgpr[RESOURCE + 3] = format_bits(target, 4, UINT).unwrap();
        b.mtbuf(&format!("tbuffer_{name}"), format, OFFEN, registers)
    } else {
        b.mubuf(&format!("buffer_{name}"), OFFEN, registers, 0)
    }
}

/// Values that are interesting to stores: around what components can hold, and random ones.
fn interesting(random: &mut Rng, number: u32, wide: bool) -> u32 {
    let floats =
        [0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 0.25, 127.0, 127.5, 255.9, 300.0, -128.7, 65504.0, 1e-5, 1e9];
    let pick = random.usize(..24);
    match (number, floats.get(pick)) {
        (UINT | SINT, _) if pick < 12 => (random.u32(..)) >> (random.u64(..32)),
        (UINT | SINT, _) => (random.i32(..) >> (random.u64(..32))) as u32,
        (_, Some(float)) if wide => (*float as f32).to_bits(),
        (_, Some(float)) => to_half(*float as f32),
        _ if pick == 20 => {
            if wide {
                f32::NAN.to_bits()
            } else {
                0x7e00
            }
        }
        _ if pick == 21 => {
            if wide {
                f32::NEG_INFINITY.to_bits()
            } else {
                0xfc00
            }
        }
        // Within the range of normalised and small numbers.
        _ => {
            let float = (random.i32(..)) as f32 / 2f32.powi(16 + random.i32(0..20));
            if wide { float.to_bits() } else { to_half(float) }
        }
    }
}

pub fn every_instruction(target: Target) {
    for (data, number) in (1..15).flat_map(|data| (0..8).map(move |number| (data, number))) {
        if format_bits(target, data, number).is_none() {
            continue;
        }
        let layout = LAYOUTS[data as usize];
        let bytes = layout.iter().sum::<u32>() as usize / 8;
        for (typed, wide, components) in (0..16).map(|i| (i & 1 == 1, i & 2 == 2, 1 + i / 4)) {
            let d16 = if wide { "" } else { "d16_" };
            let suffix = format!("{d16}{}", &"xyzw"[..components]);
            // A load: missing components are 0, halves without a component stay.
            let mut b = bench(target, data, number, IDENTITY);
            let want: Vec<_> = (0..64)
                .map(|lane| {
                    let at = START + STEP * lane;
                    let fields = fields(&b.memory.bytes()[at..at + bytes], layout);
                    let mut registers = b.quad(DATA, lane);
                    for i in 0..components {
                        let value =
                            fields.get(i).map_or(0, |field| from_memory(*field, layout[i], number, wide));
                        if wide {
                            registers[i] = value;
                        } else {
                            let shift = i % 2 * 16;
                            registers[i / 2] = registers[i / 2] & !(0xffff << shift) | value << shift;
                        }
                    }
                    registers
                })
                .collect();
            let program = words(&mut b, &format!("load_format_{suffix}"), typed, [data, number]);
            b.end(&program);
            for (lane, want) in want.into_iter().enumerate() {
                let same = |a: &u32, b: &u32| a == b || wide && both_nan(*a, *b) && number == FLOAT;
                let got = b.quad(DATA, lane);
                let ok = got.iter().zip(&want).all(|(a, b)| same(a, b) || !wide && halves_match(*a, *b));
                assert!(
                    ok,
                    "{target:?} load_format_{suffix} {data}/{number} lane {lane}: {got:x?}, not {want:x?}"
                );
            }

            // A store: components that the instruction does not have are 0.
            let mut b = bench(target, data, number, IDENTITY);
            let mut random = Rng::with_seed(u64::from(data * 8 + number));
            let mut want = b.memory.bytes().to_vec();
            for lane in 0..64 {
                let values: [u32; 4] = std::array::from_fn(|_| interesting(&mut random, number, wide));
                for i in 0..4 {
                    b.v(DATA + i)[lane] = match wide {
                        true => values[i],
                        false => values[2 * i % 4] & 0xffff | values[(2 * i + 1) % 4] << 16,
                    };
                }
                let mut element = 0u128;
                let mut shift = 0;
                for (i, bits) in layout.iter().enumerate() {
                    if i < components {
                        element |= u128::from(to_memory(values[i], *bits, number, wide)) << shift;
                    }
                    shift += bits;
                }
                let at = START + STEP * lane;
                want[at..at + bytes].copy_from_slice(&element.to_le_bytes()[..bytes]);
            }
            let program = words(&mut b, &format!("store_format_{suffix}"), typed, [data, number]);
            b.end(&program);
            let differs = b.memory.bytes().iter().zip(&want).position(|(a, b)| a != b);
            if let Some(at) = differs {
                let lane = (at - START) / STEP;
                panic!(
                    "{target:?} store_format_{suffix} {data}/{number} lane {lane}: {:x?} gives {:x?}, not {:x?}",
                    b.quad(DATA, lane),
                    &b.memory.bytes()[START + STEP * lane..][..bytes],
                    &want[START + STEP * lane..][..bytes]
                );
            }
        }
    }
    // The high halves, and LDS.
    let mut b = bench(target, 2, SINT, IDENTITY);
    let old = *b.v(DATA);
    let program = words(&mut b, "load_format_d16_hi_x", false, [2, SINT]);
    b.end(&program);
    for (lane, old) in old.into_iter().enumerate() {
        let at = START + STEP * lane;
        let value = u16::from_le_bytes(b.memory.bytes()[at..at + 2].try_into().unwrap());
        assert_eq!(b.v(DATA)[lane], old & 0xffff | u32::from(value) << 16);
    }
    let mut want = b.memory.bytes().to_vec();
    b.fill(DATA..DATA + 1);
    for lane in 0..64 {
        let at = START + STEP * lane;
        want[at..at + 2].copy_from_slice(&b.v(DATA)[lane].to_le_bytes()[2..]);
    }
    let program = words(&mut b, "store_format_d16_hi_x", false, [2, SINT]);
    b.end(&program);
    assert!(b.memory.bytes() == want);
    if target.is_rdna() {
        return;
    }
    let mut b = bench(target, 1, UNORM, IDENTITY);
    b.m0(64);
    b.end(&b.mubuf("buffer_load_format_x", OFFEN | BUFFER_LDS, [ZERO, 8, 0, ADDR as u32], 0));
    for lane in 0..64 {
        let value = f64::from(b.memory.bytes()[START + STEP * lane]) / 255.0;
        assert_eq!(b.lds.dword(64 + 4 * lane), (value as f32).to_bits());
    }
}

fn both_nan(a: u32, b: u32) -> bool {
    f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan()
}

/// Whether the halves of two registers are the same, or NaNs.
fn halves_match(a: u32, b: u32) -> bool {
    let nan = |h: u32| h & 0x7fff > 0x7c00;
    [0, 16].into_iter().all(|shift| {
        let (a, b) = (a >> shift & 0xffff, b >> shift & 0xffff);
        a == b || nan(a) && nan(b)
    })
}

fn selectors(target: Target) {
    // X takes B, Y the constant 1, Z the constant 0, W takes R.
    let swizzle = 6 | 1 << 3 | 4 << 9;
    for (number, one) in [(UINT, 1), (UNORM, 1f32.to_bits())] {
        let mut b = bench(target, 10, number, swizzle);
        let program = words(&mut b, "load_format_xyzw", false, [0; 2]);
        b.end(&program);
        for lane in 0..64 {
            let at = START + STEP * lane;
            let bytes: Vec<u32> = b.memory.bytes()[at..at + 4].iter().map(|v| u32::from(*v)).collect();
            let component = |i: usize| from_memory(bytes[i], 8, number, true);
            assert_eq!(b.quad(DATA, lane), [component(2), one, 0, component(0)]);
        }
        // Typed instructions take the components as they come.
        let program = words(&mut b, "load_format_xyzw", true, [10, number]);
        b.wave.sgpr[RESOURCE + 3] |= swizzle;
        b.end(&program);
        let expected: [u32; 4] =
            std::array::from_fn(|i| from_memory(b.memory.bytes()[START + i].into(), 8, number, true));
        assert_eq!(b.quad(DATA, 0), expected);
    }
    // Stores go where loads come from: here blue and red change places.
    let mut b = bench(target, 10, UINT, 6 | 5 << 3 | 4 << 6 | 7 << 9);
    for i in 0..4 {
        b.v(DATA + i).fill(10 + i as u32);
    }
    let program = words(&mut b, "store_format_xyzw", false, [0; 2]);
    b.end(&program);
    assert_eq!(b.memory.bytes()[START..START + 4], [12, 11, 10, 13]);
}

fn reserved(target: Target) {
    for (data, number) in (0..16).flat_map(|data| (0..8).map(move |number| (data, number))) {
        let mut b = bench(target, 4, UINT, IDENTITY);
        let program = words(&mut b, "load_format_x", true, [data, number]);
        match data {
            // Unbound.
            0 => {
                b.end(&program);
                assert_eq!(*b.v(DATA), [0; 64]);
            }
            _ if is_defined(data, number) => b.end(&program),
            _ => {
                let expected = FaultKind::BufferFormat { data: data as u8, number: number as u8 };
                assert_eq!(b.fault(&program), expected, "{target:?}");
            }
        }
    }
}

fn ranges(target: Target) {
    // Elements of 8 bytes at the end of a buffer of 1000.
    let mut b = bench(target, 11, UINT, IDENTITY & !0o70 | 1 << 3);
    b.wave.sgpr[RESOURCE + 2] = 1000;
    b.wave.exec = 0b111;
    b.v(ADDR)[..3].copy_from_slice(&[992, 993, u32::MAX - 3]);
    let program = words(&mut b, "load_format_xy", false, [0; 2]);
    b.end(&program);
    // A component that the selector makes 1 is 1 out of range too.
    assert_eq!(b.wave.vgpr[DATA].0[..3], [b.memory.dword(992), 0, 0]);
    assert_eq!(b.v(DATA + 1)[..3], [1, 1, 1]);
    let memory = b.memory.bytes().to_vec();
    b.v(ADDR)[..3].copy_from_slice(&[996, 993, u32::MAX - 3]);
    let program = words(&mut b, "store_format_xy", false, [0; 2]);
    b.end(&program);
    assert!(b.memory.bytes() == memory);
}
