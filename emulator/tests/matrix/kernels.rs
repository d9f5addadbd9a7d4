//! Kernels that clang compiles: C = A * B of 64 x 64 matrices with each builtin, one wave doing all tiles.

use std::fmt::Write;

use emulator::isa::Target;
use fastrand::Rng;

use super::{Case, Element};
use crate::harness::{Level, TARGETS, input, kernel, output};

/// The builtin, the types of its A (and B) and of C, elements of A in a lane; by instruction.
struct Builtin {
    name: String,
    case: Case,
    per_lane: usize,
}

impl Builtin {
    /// The instructions with one block.
    fn all(target: Target) -> Vec<Self> {
        Case::all()
            .into_iter()
            .filter(|case| {
                case.target == target && case.blocks == 1 && !case.sparse && case.formats.is_none()
            })
            .map(|case| {
                // The builtins that both targets have keep the names that gfx908 gave them.
                let name = case.row.name.trim_start_matches("v_").to_owned();
                let name = match case.a {
                    _ if case.is_doubled() => name,
                    Element::Bf16 if target != Target::Gfx90a => name.replace("_bf16", "bf16_1k"),
                    Element::F32 | Element::F16 | Element::F64 => {
                        ["_f32", "_f16", "_f64"].iter().fold(name, |name, suffix| {
                            name.strip_suffix(suffix)
                                .map_or(name.clone(), |stem| format!("{stem}{}", &suffix[1..]))
                        })
                    }
                    _ => name,
                };
                Self { name, case, per_lane: case.k * case.n / 64 }
            })
            .collect()
    }

    fn symbol(&self) -> String {
        format!("gemm_{}", self.name)
    }

    /// Storage type of an element of A or B in memory, the builtin's operand, and how to make it.
    fn types(&self) -> (&'static str, &'static str) {
        match (self.case.a, self.per_lane) {
            (Element::F64, _) => ("double", "double"),
            (Element::F32, _) => ("float", "float"),
            (Element::Xf32, _) => ("float", "__attribute__((ext_vector_type(2))) float"),
            (Element::F16, 8) => ("_Float16", "__attribute__((ext_vector_type(8))) _Float16"),
            (Element::F16, _) => ("_Float16", "__attribute__((ext_vector_type(4))) _Float16"),
            (Element::Bf16, 8) => ("__bf16", "__attribute__((ext_vector_type(8))) __bf16"),
            (Element::Bf16, 2) => ("short", "__attribute__((ext_vector_type(2))) short"),
            (Element::Bf16, _) => ("short", "__attribute__((ext_vector_type(4))) short"),
            (_, 4) => ("signed char", "int"),
            (_, 16) => ("signed char", "__attribute__((ext_vector_type(4))) int"),
            _ => ("signed char", "long"),
        }
    }

    fn source(&self) -> String {
        let (element, operand) = self.types();
        let result = match self.case.a {
            Element::F64 => "double",
            Element::I8 => "int",
            _ => "float",
        };
        let (n, k, per_lane, symbol, name) =
            (self.case.n, self.case.k, self.per_lane, self.symbol(), &self.name);
        let count = n * n / 64;
        // The layouts of the calculator.
        let row = match (self.case.a, n) {
            (Element::F64, _) => "4 * r + lane / 16",
            (_, 32) => "r / 4 * 8 + lane / 32 * 4 + r % 4",
            _ => "lane / 16 * 4 + r",
        };
        format!(
            "
            typedef __attribute__((ext_vector_type({count}))) {result} {symbol}_c;
            typedef {operand} {symbol}_v;
            KERNEL {symbol}(const {element} *a, const {element} *b, {result} *c) {{
                u32 lane = tid;
                for (u32 ti = 0; ti < 64; ti += {n}) for (u32 tj = 0; tj < 64; tj += {n}) {{
                    {symbol}_c acc = {{}};
                    for (u32 k = 0; k < 64; k += {k}) {{
                        union {{ {element} e[{per_lane}]; {symbol}_v v; }} x, y;
                        for (u32 t = 0; t < {per_lane}; t++) {{
                            u32 at = k + lane / {n} * {per_lane} + t;
                            x.e[t] = a[(ti + lane % {n}) * 64 + at];
                            y.e[t] = b[at * 64 + tj + lane % {n}];
                        }}
                        acc = __builtin_amdgcn_{name}(x.v, y.v, acc, 0, 0, 0);
                    }}
                    for (u32 r = 0; r < {count}; r++)
                        c[(ti + {row}) * 64 + tj + lane % {n}] = acc[r];
                }}
            }}"
        )
    }
}

/// The elements of a matrix in memory.
fn bytes(element: Element, numbers: &[i32]) -> Vec<u8> {
    let width = element.bits() / 8;
    numbers.iter().flat_map(|x| element.encode(*x).to_le_bytes().into_iter().take(width)).collect()
}

fn check(target: Target, level: Level) {
    let builtins = Builtin::all(target);
    let source = builtins.iter().fold(String::new(), |mut all, builtin| {
        write!(all, "{}", builtin.source()).unwrap();
        all
    });
    let mut random = Rng::with_seed(41);
    let mut small = || (0..64 * 64).map(|_| random.i32(0..7) - 3).collect::<Vec<_>>();
    for builtin in &builtins {
        let Some(kernel) = kernel(&source, &builtin.symbol(), target, level) else { return };
        let (a, b) = (small(), small());
        let double = builtin.case.is_double();
        let mut c = vec![0u8; 64 * 64 * if double { 8 } else { 4 }];
        let (memory_a, memory_b) = (bytes(builtin.case.a, &a), bytes(builtin.case.b, &b));
        let mut arguments = [input(&memory_a), input(&memory_b), output(&mut c)];
        kernel.run([1, 1, 1], [64, 1, 1], &mut arguments, 0).unwrap();
        for (at, got) in c.chunks(if double { 8 } else { 4 }).enumerate() {
            let (i, j) = (at / 64, at % 64);
            let sum: i32 = (0..64).map(|k| a[i * 64 + k] * b[k * 64 + j]).sum();
            let want = match builtin.case.a {
                Element::F64 => f64::from(sum).to_le_bytes().to_vec(),
                Element::I8 => sum.to_le_bytes().to_vec(),
                _ => (sum as f32).to_le_bytes().to_vec(),
            };
            assert_eq!(got, want, "{} {level:?} [{i}][{j}]", builtin.name);
        }
    }
}

#[test]
fn compiled_products_of_all_types_match_the_host() {
    for target in TARGETS {
        check(target, Level::O3);
    }
}

#[test]
fn unoptimised_products_match_the_host_too() {
    for target in Target::GFX9 {
        check(target, Level::O0);
    }
}
