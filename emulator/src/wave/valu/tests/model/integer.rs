//! Integer arithmetic, logic, shifts, bytes.

use super::{Ctx, Model, Out, Res, model};

/// Two's complement of `bits` bits.
fn signed(x: u64, bits: u32) -> i128 {
    let x = i128::from(x) & ((1 << bits) - 1);
    if x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
}

fn unsigned(x: u64, bits: u32) -> i128 {
    i128::from(x) & ((1 << bits) - 1)
}

/// An exact integer, cut off to `bits` bits or saturated.
fn fit(c: &Ctx, x: i128, bits: u32, is_signed: bool) -> Out {
    let (low, high) =
        if is_signed { (-(1i128 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let x = if c.clamp { x.clamp(low, high) } else { x };
    Out::bits((x & ((1 << bits) - 1)) as u128)
}

/// Bits that a table of eight gives for three bits.
fn bitop3(c: &Ctx, [x, y, z]: [u64; 3], bits: u32) -> Out {
    let table = u64::from(c.omod * 64 + c.abs * 8 + c.neg);
    let entry = |n: u64| bit_of(table, 4 * bit_of(x, n) + 2 * bit_of(y, n) + bit_of(z, n));
    Out::bits((0..u64::from(bits)).map(|n| entry(n) << n).sum::<u64>())
}

/// Two shifted and saturated bytes.
fn shifted(name: &str, low: i128, high: i128) -> Model {
    model(name, Res::B16, move |_, [a, b, n]| {
        let byte = |x: u64| (signed(x, 32).div_euclid(1 << (n % 32)).clamp(low, high) & 0xff) as u64;
        Out::bits(byte(a) | byte(b) << 8)
    })
}

type Exact = fn([i128; 3]) -> i128;

/// An instruction that is an integer formula of operands of the given widths; 0 stands for no operand.
pub(super) fn formula(name: &str, is_signed: bool, widths: [u32; 3], bits: u32, f: Exact) -> Model {
    let res = match bits {
        16 => Res::B16,
        32 => Res::B32,
        _ => Res::B64,
    };
    model(name, res, move |c, v| {
        let operand = |n: usize| match widths[n] {
            0 => 0,
            width if is_signed => signed(v[n], width),
            width => unsigned(v[n], width),
        };
        fit(c, f([operand(0), operand(1), operand(2)]), bits, is_signed)
    })
}

fn sum_of_differences(a: u64, b: u64, bits: u32, masked: bool) -> i128 {
    (0..32 / bits)
        .map(|n| {
            let (x, y) = (unsigned(a >> (bits * n), bits), unsigned(b >> (bits * n), bits));
            if masked && y == 0 { 0 } else { (x - y).abs() }
        })
        .sum()
}

/// Sums over four windows of eight bytes, each added to a field of `bits` bits.
fn windows(c: &Ctx, a: u64, b: u64, addends: u128, bits: u32, masked: bool) -> Out {
    let mut value = 0u128;
    for n in 0..4 {
        let addend = (addends >> (bits * n)) as u64 & ((1 << bits) - 1);
        let sum = sum_of_differences(a >> (8 * n) & 0xffff_ffff, b, 8, masked) + i128::from(addend);
        let all = (1i128 << bits) - 1;
        let field = if c.clamp { sum.min(all) } else { sum & all };
        value |= (field as u128) << (bits * n);
    }
    Out::bits(value)
}

/// A carry operation: the exact result, whether it leaves the range, and what it saturates to.
fn carrying(name: &str, f: fn(i128, i128, i128) -> i128, takes_carry: bool) -> Model {
    model(name, Res::B32, move |c, [a, b, _]| {
        let exact = f(unsigned(a, 32), unsigned(b, 32), i128::from(takes_carry && c.carry));
        fit(c, exact, 32, false).with(!(0..1 << 32).contains(&exact))
    })
}

fn word(f: impl Fn([u32; 3]) -> u32 + 'static) -> impl Fn(&Ctx, [u64; 3]) -> Out {
    move |_, v| Out::bits(f(v.map(|x| x as u32)))
}

/// The manual's table of shader engines, a hexadecimal digit an entry.
const ENGINES: &str = "\
    137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff\
    ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7\
    bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5\
    9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1";

fn middle(mut v: [i128; 3]) -> i128 {
    v.sort_unstable();
    v[1]
}

fn bit_of(x: u64, n: u64) -> u64 {
    x >> n & 1
}

pub(super) fn models() -> Vec<Model> {
    let mut list = vec![
        formula("v_add_u32", false, [32, 32, 0], 32, |[a, b, _]| a + b),
        formula("v_sub_u32", false, [32, 32, 0], 32, |[a, b, _]| a - b),
        formula("v_subrev_u32", false, [32, 32, 0], 32, |[a, b, _]| b - a),
        formula("v_add_i32", true, [32, 32, 0], 32, |[a, b, _]| a + b),
        formula("v_sub_i32", true, [32, 32, 0], 32, |[a, b, _]| a - b),
        formula("v_add_u16", false, [16, 16, 0], 16, |[a, b, _]| a + b),
        formula("v_sub_u16", false, [16, 16, 0], 16, |[a, b, _]| a - b),
        formula("v_subrev_u16", false, [16, 16, 0], 16, |[a, b, _]| b - a),
        formula("v_add_i16", true, [16, 16, 0], 16, |[a, b, _]| a + b),
        formula("v_sub_i16", true, [16, 16, 0], 16, |[a, b, _]| a - b),
        formula("v_mul_lo_u16", false, [16, 16, 0], 16, |[a, b, _]| a * b),
        formula("v_mul_i32_i24", true, [24, 24, 0], 32, |[a, b, _]| a * b),
        formula("v_mul_u32_u24", false, [24, 24, 0], 32, |[a, b, _]| a * b),
        formula("v_mul_hi_i32_i24", true, [24, 24, 0], 32, |[a, b, _]| (a * b) >> 32),
        formula("v_mul_hi_u32_u24", false, [24, 24, 0], 32, |[a, b, _]| (a * b) >> 32),
        formula("v_mul_lo_u32", false, [32, 32, 0], 32, |[a, b, _]| a * b),
        formula("v_mul_hi_u32", false, [32, 32, 0], 32, |[a, b, _]| (a * b) >> 32),
        formula("v_mul_hi_i32", true, [32, 32, 0], 32, |[a, b, _]| (a * b) >> 32),
        formula("v_mad_i32_i24", true, [24, 24, 32], 32, |[a, b, c]| a * b + c),
        formula("v_mad_u32_u24", false, [24, 24, 32], 32, |[a, b, c]| a * b + c),
        formula("v_mad_u16", false, [16, 16, 16], 16, |[a, b, c]| a * b + c),
        formula("v_mad_i16", true, [16, 16, 16], 16, |[a, b, c]| a * b + c),
        formula("v_mad_legacy_u16", false, [16, 16, 16], 16, |[a, b, c]| a * b + c),
        formula("v_mad_legacy_i16", true, [16, 16, 16], 16, |[a, b, c]| a * b + c),
        formula("v_mad_u32_u16", false, [16, 16, 32], 32, |[a, b, c]| a * b + c),
        formula("v_mad_i32_i16", true, [16, 16, 32], 32, |[a, b, c]| a * b + c),
        formula("v_add3_u32", false, [32, 32, 32], 32, |[a, b, c]| a + b + c),
        formula("v_xad_u32", false, [32, 32, 32], 32, |[a, b, c]| (a ^ b) + c),
        formula("v_lshl_add_u32", false, [32, 5, 32], 32, |[a, b, c]| (a << b) + c),
        formula("v_add_lshl_u32", false, [32, 32, 5], 32, |[a, b, c]| (a + b) << c),
        formula("v_lshl_add_u64", false, [64, 3, 64], 64, |[a, b, c]| (a << b) + c),
        formula("v_lshlrev_b32", false, [5, 32, 0], 32, |[a, b, _]| b << a),
        formula("v_lshrrev_b32", false, [5, 32, 0], 32, |[a, b, _]| b >> a),
        formula("v_lshlrev_b16", false, [4, 16, 0], 16, |[a, b, _]| b << a),
        formula("v_lshrrev_b16", false, [4, 16, 0], 16, |[a, b, _]| b >> a),
        formula("v_lshlrev_b64", false, [6, 64, 0], 64, |[a, b, _]| ((b as u128) << a) as i128),
        formula("v_lshrrev_b64", false, [6, 64, 0], 64, |[a, b, _]| b >> a),
        model("v_ashrrev_i32", Res::B32, |_, [a, b, _]| Out::bits((signed(b, 32) >> (a % 32)) as u32)),
        model("v_ashrrev_i16", Res::B16, |_, [a, b, _]| Out::bits((signed(b, 16) >> (a % 16)) as u16)),
        model("v_ashrrev_i64", Res::B64, |_, [a, b, _]| Out::bits((signed(b, 64) >> (a % 64)) as u64)),
        formula("v_bfe_u32", false, [32, 5, 5], 32, |[a, b, c]| (a >> b) & ((1 << c) - 1)),
        model("v_bfe_i32", Res::B32, |_, [a, b, c]| {
            let width = (c % 32) as u32;
            let shifted = (signed(a, 32) >> (b % 32)) as u64;
            Out::bits(if width == 0 { 0 } else { signed(shifted, width) as u32 })
        }),
        formula("v_bfm_b32", false, [5, 5, 0], 32, |[a, b, _]| ((1 << a) - 1) << b),
        model("v_alignbit_b32", Res::B32, |_, [a, b, c]| Out::bits((a << 32 | b) >> (c % 32) & 0xffff_ffff)),
        model("v_alignbyte_b32", Res::B32, |_, [a, b, c]| {
            Out::bits((a << 32 | b) >> (c % 4 * 8) & 0xffff_ffff)
        }),
        model("v_screen_partition_4se_b32", Res::B32, |_, [a, ..]| {
            let digit = ENGINES.as_bytes()[(a & 0xff) as usize];
            Out::bits(char::from(digit).to_digit(16).unwrap_or_default())
        }),
        model("v_mov_b32", Res::B32, word(|[a, ..]| a)),
        model("v_mov_b64", Res::B64, |_, [a, ..]| Out::bits(a)),
        model("v_not_b32", Res::B32, word(|[a, ..]| !a)),
        model("v_and_b32", Res::B32, word(|[a, b, _]| a & b)),
        model("v_or_b32", Res::B32, word(|[a, b, _]| a | b)),
        model("v_xor_b32", Res::B32, word(|[a, b, _]| a ^ b)),
        model("v_xnor_b32", Res::B32, word(|[a, b, _]| !(a ^ b))),
        model("v_or3_b32", Res::B32, word(|[a, b, c]| a | b | c)),
        model("v_and_or_b32", Res::B32, word(|[a, b, c]| (a & b) | c)),
        model("v_lshl_or_b32", Res::B32, word(|[a, b, c]| (a << (b % 32)) | c)),
        model("v_prng_b32", Res::B32, |_, [a, ..]| {
            // A shift register with feedback of x^32 + x^7 + x^6 + x^2 + 1.
            let taps = [0, 2, 6, 7].map(|n| bit_of(a, 31) << n);
            Out::bits((a << 1 & 0xffff_ffff) ^ taps.iter().sum::<u64>())
        }),
        model("v_bitop3_b32", Res::B32, |c, v| bitop3(c, v, 32)),
        model("v_bitop3_b16", Res::B16, |c, v| bitop3(c, v, 16)),
        shifted("v_ashr_pk_i8_i32", -128, 127),
        shifted("v_ashr_pk_u8_i32", 0, 255),
        model("v_bfi_b32", Res::B32, |_, [a, b, c]| {
            Out::bits((0..32).map(|n| bit_of(if bit_of(a, n) != 0 { b } else { c }, n) << n).sum::<u64>())
        }),
        model("v_bfrev_b32", Res::B32, |_, [a, ..]| {
            Out::bits((0..32).map(|n| bit_of(a, n) << (31 - n)).sum::<u64>())
        }),
        model("v_bcnt_u32_b32", Res::B32, |_, [a, b, _]| {
            Out::bits(((0..32).map(|n| bit_of(a, n)).sum::<u64>() + b) as u32)
        }),
        model("v_ffbh_u32", Res::B32, |_, [a, ..]| {
            Out::bits((0..32).find(|n| bit_of(a, 31 - n) != 0).map_or(u32::MAX, |n| n as u32))
        }),
        model("v_ffbl_b32", Res::B32, |_, [a, ..]| {
            Out::bits((0..32).find(|n| bit_of(a, *n) != 0).map_or(u32::MAX, |n| n as u32))
        }),
        model("v_ffbh_i32", Res::B32, |_, [a, ..]| {
            let differs = |n: &u64| bit_of(a, 31 - n) != bit_of(a, 31);
            Out::bits((1..32).find(differs).map_or(u32::MAX, |n| n as u32))
        }),
        model("v_perm_b32", Res::B32, |_, [a, b, c]| {
            let bytes = a << 32 | b & 0xffff_ffff;
            let byte = |select: u64| match select {
                0..8 => bytes >> (8 * select) & 0xff,
                8..12 => 0xff * bit_of(bytes, 16 * (select - 8) + 15),
                12 => 0,
                _ => 0xff,
            };
            Out::bits((0..4).map(|n| byte(c >> (8 * n) & 0xff) << (8 * n)).sum::<u64>())
        }),
        model("v_cndmask_b32", Res::B32, |c, [a, b, _]| Out::bits((if c.carry { b } else { a }) as u32)),
        model("v_mbcnt_lo_u32_b32", Res::B32, |c, [a, b, _]| {
            let below = (0..u64::from(c.lane.min(32))).map(|n| bit_of(a, n)).sum::<u64>();
            Out::bits((below + b) as u32)
        }),
        model("v_mbcnt_hi_u32_b32", Res::B32, |c, [a, b, _]| {
            let below = (0..u64::from(c.lane.saturating_sub(32))).map(|n| bit_of(a, n)).sum::<u64>();
            Out::bits((below + b) as u32)
        }),
        carrying("v_add_co_u32", |a, b, _| a + b, false),
        carrying("v_sub_co_u32", |a, b, _| a - b, false),
        carrying("v_subrev_co_u32", |a, b, _| b - a, false),
        carrying("v_addc_co_u32", |a, b, c| a + b + c, true),
        carrying("v_subb_co_u32", |a, b, c| a - b - c, true),
        carrying("v_subbrev_co_u32", |a, b, c| b - a - c, true),
        model("v_mad_u64_u32", Res::B64, |c, [x, y, z]| {
            let exact = unsigned(x, 32) * unsigned(y, 32) + unsigned(z, 64);
            fit(c, exact, 64, false).with(exact >> 64 & 1 != 0)
        }),
        model("v_mad_i64_i32", Res::B64, |c, [x, y, z]| {
            let exact = signed(x, 32) * signed(y, 32) + signed(z, 64);
            fit(c, exact, 64, true).with(exact >> 64 & 1 != 0)
        }),
        model("v_sad_u8", Res::B32, |c, [x, y, z]| {
            fit(c, sum_of_differences(x, y, 8, false) + unsigned(z, 32), 32, false)
        }),
        model("v_msad_u8", Res::B32, |c, [x, y, z]| {
            fit(c, sum_of_differences(x, y, 8, true) + unsigned(z, 32), 32, false)
        }),
        model("v_sad_hi_u8", Res::B32, |c, [x, y, z]| {
            fit(c, (sum_of_differences(x, y, 8, false) << 16) + unsigned(z, 32), 32, false)
        }),
        model("v_sad_u16", Res::B32, |c, [x, y, z]| {
            fit(c, sum_of_differences(x, y, 16, false) + unsigned(z, 32), 32, false)
        }),
        model("v_sad_u32", Res::B32, |c, [x, y, z]| {
            fit(c, sum_of_differences(x, y, 32, false) + unsigned(z, 32), 32, false)
        }),
        model("v_qsad_pk_u16_u8", Res::B64, |c, [a, b, d]| windows(c, a, b, d.into(), 16, false)),
        model("v_mqsad_pk_u16_u8", Res::B64, |c, [a, b, d]| windows(c, a, b, d.into(), 16, true)),
        // The harness passes the 128-bit source as the old destination.
        model("v_mqsad_u32_u8", Res::B128, |c, [a, b, _]| windows(c, a, b, c.old, 32, true)),
        model("v_lerp_u8", Res::B32, |_, [a, b, c]| {
            let byte = |x: u64, n: u32| x >> (8 * n) & 0xff;
            let average = |n: u32| (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) / 2;
            Out::bits((0..4).map(|n| average(n) << (8 * n)).sum::<u64>())
        }),
    ];
    for (ty, is_signed, bits) in
        [("i32", true, 32), ("u32", false, 32), ("i16", true, 16), ("u16", false, 16)]
    {
        let widths = [bits; 3];
        let two = [bits, bits, 0];
        list.extend([
            formula(&format!("v_min_{ty}"), is_signed, two, bits, |[a, b, _]| a.min(b)),
            formula(&format!("v_max_{ty}"), is_signed, two, bits, |[a, b, _]| a.max(b)),
            formula(&format!("v_min3_{ty}"), is_signed, widths, bits, |[a, b, c]| a.min(b).min(c)),
            formula(&format!("v_max3_{ty}"), is_signed, widths, bits, |[a, b, c]| a.max(b).max(c)),
            formula(&format!("v_med3_{ty}"), is_signed, widths, bits, middle),
        ]);
    }
    for model in &mut list {
        // Encodable on RDNA 2, of which no manual says that they saturate.
        model.without.clamp = ["v_mul_lo_u16", "v_lshlrev_b16"].contains(&model.name.as_str());
    }
    list
}
