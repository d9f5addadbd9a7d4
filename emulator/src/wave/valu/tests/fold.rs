//! LLVM's constant folder as an oracle: what `opt-22` makes of an intrinsic with constant arguments, the instruction
//! to which the intrinsic lowers gives, too.

use std::{
    fmt::Write as _,
    io::Write as _,
    process::{Command, Stdio},
};

use fastrand::Rng;

use super::{DST, Fields, Lab, bit_pattern};

/// A type of LLVM's IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ir {
    I1,
    I16,
    I32,
    Half,
    Float,
    Double,
    Halves,
}

use Ir::{Double, Float, Half, Halves, I1, I16, I32};

impl Ir {
    fn name(self) -> &'static str {
        match self {
            I1 => "i1",
            I16 => "i16",
            I32 => "i32",
            Half => "half",
            Float => "float",
            Double => "double",
            Halves => "<2 x half>",
        }
    }

    fn bits(self) -> u32 {
        match self {
            I1 => 1,
            I16 | Half => 16,
            I32 | Float | Halves => 32,
            Double => 64,
        }
    }

    fn constant(self, bits: u64) -> String {
        match self {
            I1 => format!("{}", bits & 1),
            I16 => format!("{}", bits as i16),
            I32 => format!("{}", bits as i32),
            Half => format!("0xH{:04X}", bits as u16),
            Float => format!("0x{:016X}", widened(bits as u32)),
            Double => format!("0x{bits:016X}"),
            Halves => format!("<half 0xH{:04X}, half 0xH{:04X}>", bits as u16, (bits >> 16) as u16),
        }
    }

    /// The bits of a constant as LLVM prints it.
    fn parse(self, text: &str) -> Option<u64> {
        let float = |text: &str| match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => text.parse::<f64>().ok().map(f64::to_bits),
        };
        match self {
            I1 => [("true", 1), ("false", 0)].into_iter().find(|(name, _)| *name == text).map(|(_, bit)| bit),
            I16 | I32 => text.parse::<i64>().ok().map(|x| x as u64),
            Half => u64::from_str_radix(text.strip_prefix("0xH")?, 16).ok(),
            Float => float(text).map(|bits| u64::from(narrowed(bits))),
            Double => float(text),
            Halves => {
                if text == "zeroinitializer" {
                    return Some(0);
                }
                if let Some(both) = text.strip_prefix("splat (half ") {
                    let half = Half.parse(both.strip_suffix(')')?)?;
                    return Some(half | half << 16);
                }
                let (low, high) = text.strip_prefix("<half ")?.strip_suffix('>')?.split_once(", half ")?;
                Some(Half.parse(low)? | Half.parse(high)? << 16)
            }
        }
    }

    fn is_nan(self, bits: u64) -> bool {
        match self {
            Half => bits & 0x7fff > 0x7c00,
            Float => f32::from_bits(bits as u32).is_nan(),
            Double => f64::from_bits(bits).is_nan(),
            _ => false,
        }
    }
}

/// A single as LLVM writes it, in the bits of a double; a NaN keeps its payload and its signal.
fn widened(x: u32) -> u64 {
    if f32::from_bits(x).is_nan() {
        u64::from(x >> 31) << 63 | 0x7ff << 52 | u64::from(x & 0x7f_ffff) << 29
    } else {
        f64::from(f32::from_bits(x)).to_bits()
    }
}

fn narrowed(x: u64) -> u32 {
    if f64::from_bits(x).is_nan() {
        ((x >> 32) as u32 & 0x8000_0000) | 0x7f80_0000 | ((x >> 29) as u32 & 0x7f_ffff)
    } else {
        (f64::from_bits(x) as f32).to_bits()
    }
}

struct Fold {
    intrinsic: &'static str,
    ret: Ir,
    args: &'static [Ir],
    instruction: &'static str,
    clamp: bool,
    /// Units in the last place by which an approximate instruction may differ.
    units: u64,
}

const fn fold(intrinsic: &'static str, ret: Ir, args: &'static [Ir], instruction: &'static str) -> Fold {
    Fold { intrinsic, ret, args, instruction, clamp: false, units: 0 }
}

const fn clamped(intrinsic: &'static str, ret: Ir, args: &'static [Ir], instruction: &'static str) -> Fold {
    Fold { clamp: true, ..fold(intrinsic, ret, args, instruction) }
}

const fn near(intrinsic: &'static str, ret: Ir, args: &'static [Ir], instruction: &'static str) -> Fold {
    Fold { units: 1, ..fold(intrinsic, ret, args, instruction) }
}

const FOLDS: [Fold; 66] = [
    fold("amdgcn.fmed3.f32", Float, &[Float, Float, Float], "v_med3_f32"),
    fold("amdgcn.fmed3.f16", Half, &[Half, Half, Half], "v_med3_f16"),
    fold("amdgcn.fract.f32", Float, &[Float], "v_fract_f32"),
    fold("amdgcn.fract.f64", Double, &[Double], "v_fract_f64"),
    fold("amdgcn.fract.f16", Half, &[Half], "v_fract_f16"),
    fold("amdgcn.cubeid", Float, &[Float, Float, Float], "v_cubeid_f32"),
    fold("amdgcn.cubesc", Float, &[Float, Float, Float], "v_cubesc_f32"),
    fold("amdgcn.cubetc", Float, &[Float, Float, Float], "v_cubetc_f32"),
    fold("amdgcn.cubema", Float, &[Float, Float, Float], "v_cubema_f32"),
    near("amdgcn.rcp.f32", Float, &[Float], "v_rcp_f32"),
    near("amdgcn.rcp.f64", Double, &[Double], "v_rcp_f64"),
    near("amdgcn.rcp.f16", Half, &[Half], "v_rcp_f16"),
    near("amdgcn.sin.f32", Float, &[Float], "v_sin_f32"),
    near("amdgcn.sin.f16", Half, &[Half], "v_sin_f16"),
    near("amdgcn.cos.f32", Float, &[Float], "v_cos_f32"),
    near("amdgcn.cos.f16", Half, &[Half], "v_cos_f16"),
    fold("amdgcn.fmul.legacy", Float, &[Float, Float], "v_mul_legacy_f32"),
    fold("ldexp.f32.i32", Float, &[Float, I32], "v_ldexp_f32"),
    fold("ldexp.f64.i32", Double, &[Double, I32], "v_ldexp_f64"),
    fold("ldexp.f16.i16", Half, &[Half, I16], "v_ldexp_f16"),
    fold("amdgcn.frexp.mant.f32", Float, &[Float], "v_frexp_mant_f32"),
    fold("amdgcn.frexp.mant.f64", Double, &[Double], "v_frexp_mant_f64"),
    fold("amdgcn.frexp.mant.f16", Half, &[Half], "v_frexp_mant_f16"),
    fold("amdgcn.frexp.exp.i32.f32", I32, &[Float], "v_frexp_exp_i32_f32"),
    fold("amdgcn.frexp.exp.i32.f64", I32, &[Double], "v_frexp_exp_i32_f64"),
    fold("amdgcn.frexp.exp.i16.f16", I16, &[Half], "v_frexp_exp_i16_f16"),
    fold("amdgcn.trig.preop.f64", Double, &[Double, I32], "v_trig_preop_f64"),
    fold("amdgcn.class.f32", I1, &[Float, I32], "v_cmp_class_f32"),
    fold("amdgcn.class.f64", I1, &[Double, I32], "v_cmp_class_f64"),
    fold("amdgcn.class.f16", I1, &[Half, I32], "v_cmp_class_f16"),
    fold("amdgcn.perm", I32, &[I32, I32, I32], "v_perm_b32"),
    fold("amdgcn.ubfe.i32", I32, &[I32, I32, I32], "v_bfe_u32"),
    fold("amdgcn.sbfe.i32", I32, &[I32, I32, I32], "v_bfe_i32"),
    fold("amdgcn.cvt.pkrtz", Halves, &[Float, Float], "v_cvt_pkrtz_f16_f32"),
    fold("amdgcn.cvt.off.f32.i4", Float, &[I32], "v_cvt_off_f32_i4"),
    fold("fma.f32", Float, &[Float, Float, Float], "v_fma_f32"),
    fold("fma.f64", Double, &[Double, Double, Double], "v_fma_f64"),
    fold("fma.f16", Half, &[Half, Half, Half], "v_fma_f16"),
    fold("rint.f32", Float, &[Float], "v_rndne_f32"),
    fold("rint.f64", Double, &[Double], "v_rndne_f64"),
    fold("rint.f16", Half, &[Half], "v_rndne_f16"),
    fold("ceil.f32", Float, &[Float], "v_ceil_f32"),
    fold("ceil.f64", Double, &[Double], "v_ceil_f64"),
    fold("floor.f32", Float, &[Float], "v_floor_f32"),
    fold("floor.f16", Half, &[Half], "v_floor_f16"),
    fold("trunc.f64", Double, &[Double], "v_trunc_f64"),
    fold("fptosi.sat.i32.f32", I32, &[Float], "v_cvt_i32_f32"),
    fold("fptoui.sat.i32.f32", I32, &[Float], "v_cvt_u32_f32"),
    fold("fptosi.sat.i32.f64", I32, &[Double], "v_cvt_i32_f64"),
    fold("fptoui.sat.i32.f64", I32, &[Double], "v_cvt_u32_f64"),
    fold("fptosi.sat.i16.f16", I16, &[Half], "v_cvt_i16_f16"),
    fold("fptoui.sat.i16.f16", I16, &[Half], "v_cvt_u16_f16"),
    fold("fshr.i32", I32, &[I32, I32, I32], "v_alignbit_b32"),
    fold("bitreverse.i32", I32, &[I32], "v_bfrev_b32"),
    fold("smin.i32", I32, &[I32, I32], "v_min_i32"),
    fold("umax.i16", I16, &[I16, I16], "v_max_u16"),
    clamped("uadd.sat.i32", I32, &[I32, I32], "v_add_u32"),
    clamped("usub.sat.i32", I32, &[I32, I32], "v_sub_u32"),
    clamped("sadd.sat.i32", I32, &[I32, I32], "v_add_i32"),
    clamped("ssub.sat.i32", I32, &[I32, I32], "v_sub_i32"),
    clamped("uadd.sat.i32", I32, &[I32, I32], "v_add_co_u32"),
    clamped("usub.sat.i32", I32, &[I32, I32], "v_sub_co_u32"),
    clamped("uadd.sat.i16", I16, &[I16, I16], "v_add_u16"),
    clamped("usub.sat.i16", I16, &[I16, I16], "v_sub_u16"),
    clamped("sadd.sat.i16", I16, &[I16, I16], "v_add_i16"),
    clamped("ssub.sat.i16", I16, &[I16, I16], "v_sub_i16"),
];

const CALLS: usize = 192;

/// Runs `opt-22` on a module and returns what its functions return, as text.
fn folded(module: &str) -> Option<Vec<String>> {
    let mut child = Command::new("opt-22")
        .args(["-S", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-passes=instcombine,instsimplify"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    let module = module.to_owned();
    // A thread of its own: the output's pipe may fill before the input is written.
    let writer = std::thread::spawn(move || input.write_all(module.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "opt-22 rejects the module");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().filter_map(|line| line.trim().strip_prefix("ret ").map(str::to_owned)).collect())
}

#[test]
fn constants_fold_to_what_the_instructions_give() {
    let mut random = Rng::with_seed(97);
    let mut module = String::new();
    let mut calls = Vec::new();
    for fold in &FOLDS {
        let signature: Vec<_> = fold.args.iter().map(|ty| ty.name()).collect();
        let (ret, name) = (fold.ret.name(), fold.intrinsic);
        if !module.contains(&format!("@llvm.{name}(")) {
            writeln!(module, "declare {ret} @llvm.{name}({})", signature.join(", ")).unwrap();
        }
        for _ in 0..CALLS {
            let mut values: Vec<u64> =
                fold.args.iter().map(|ty| bit_pattern(&mut random, ty.bits())).collect();
            if name.contains("trig") {
                // LLVM keeps NaNs and stops at 1184 bits of 2/pi, the manual at 1201; no angle needs more.
                let finite = f64::from_bits(values[0]).is_finite();
                values = vec![if finite { values[0] } else { values[0] ^ 1 << 62 }, values[1] % 3];
            }
            let args: Vec<_> = fold
                .args
                .iter()
                .zip(&values)
                .map(|(ty, x)| format!("{} {}", ty.name(), ty.constant(*x)))
                .collect();
            let n = calls.len();
            writeln!(module, "define {ret} @f{n}() {{\n  %r = call {ret} @llvm.{name}({})", args.join(", "))
                .unwrap();
            writeln!(module, "  ret {ret} %r\n}}").unwrap();
            calls.push((fold, values));
        }
    }
    let Some(results) = folded(&module) else {
        let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|v| v == "1");
        assert!(!required, "opt-22 (Debian package llvm-22) is missing");
        eprintln!("skipped: opt-22 (Debian package llvm-22) is missing");
        return;
    };
    assert_eq!(results.len(), calls.len());
    let mut lab = Lab::new();
    let mut wrong = Vec::new();
    for (chunk, results) in calls.chunks(CALLS).zip(results.chunks(CALLS)) {
        let fold = chunk[0].0;
        let mut compared = 0;
        for (calls, results) in chunk.chunks(64).zip(results.chunks(64)) {
            for (lane, (_, values)) in calls.iter().enumerate() {
                for (n, value) in values.iter().enumerate() {
                    lab.set(2 * n, lane, *value);
                }
            }
            lab.run_with(fold.instruction, Fields { clamp: fold.clamp, ..Fields::default() });
            for (lane, ((_, values), text)) in calls.iter().zip(results).enumerate() {
                let constant = text.strip_prefix(fold.ret.name()).unwrap().trim();
                // What LLVM leaves to the hardware, and what it calls undefined, is no oracle.
                if constant.contains('%') || constant == "poison" || constant == "undef" {
                    continue;
                }
                let want = fold.ret.parse(constant).unwrap_or_else(|| panic!("{text}"));
                compared += 1;
                let bits = u64::MAX >> (64 - fold.ret.bits());
                let got = if fold.ret == I1 {
                    lab.mask(super::SDST) >> lane & 1
                } else {
                    lab.get(DST, lane) & bits
                };
                if !agree(fold, values, got, want & bits) {
                    wrong.push(format!("{} of {values:x?}: {got:x}, LLVM has {want:x}", fold.instruction));
                }
            }
        }
        assert!(compared > CALLS / 8, "LLVM folds only {compared} calls of {}", fold.intrinsic);
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

/// The same bits, any NaN for any NaN. The approximate instructions of singles flush denormals, which LLVM's double
/// arithmetic does not; the sine of -0 is -0 in hardware.
fn agree(fold: &Fold, values: &[u64], got: u64, want: u64) -> bool {
    if fold.ret.is_nan(want) {
        return fold.ret.is_nan(got);
    }
    let denormal = |x: u64| fold.ret == Float && x & 0x7f80_0000 == 0;
    if fold.units > 0 && (denormal(values[0]) || denormal(want) || want == 0 && values[0] == got) {
        return true;
    }
    got == want || got.abs_diff(want) <= fold.units
}
