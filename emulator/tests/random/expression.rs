//! Random expressions: text of a given type over the variables in scope.

use fastrand::Rng;

use super::types::{Scalar, Type};

/// Bytes of the input buffer.
pub const INPUT_BYTES: usize = 16 << 10;

/// Where choices come from.
pub struct Choice(Rng);

impl Choice {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub fn bits(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// Below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A function that expressions may call.
#[derive(Clone, Debug)]
pub struct Signature {
    pub name: String,
    pub result: Type,
    pub parameters: Vec<Type>,
}

/// What an expression may mention.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub readable: Vec<(Type, String)>,
    pub functions: Vec<Signature>,
    /// Arrays: element, name, length.
    pub arrays: Vec<(Scalar, String, usize)>,
    /// Memory that may be read at any alignment: an expression for its address, and how many offsets are inside.
    pub memory: Vec<(String, usize)>,
}

const UNARY: [&str; 8] = ["abs", "neg", "inv", "popcount", "leading", "trailing", "reverse", "swap"];
const BINARY: [&str; 25] = [
    "add", "add", "sub", "sub", "mul", "mul", "mulhi", "mul24", "div", "rem", "shl", "shr", "rotate",
    "addsat", "subsat", "addover", "subover", "mulover", "min", "max", "distance", "average", "bitand_",
    "bitor_", "bitxor",
];
const TERNARY: [&str; 6] = ["funnel", "funnelr", "median", "choose", "majority", "field"];
const FLOAT_UNARY: [&str; 10] =
    ["neg", "abs", "root", "floor", "ceil", "trunc", "rint", "round", "clamp", "mantissa"];
const FLOAT_BINARY: [&str; 11] =
    ["add", "add", "sub", "mul", "mul", "div", "sign", "lesser", "greater", "min", "max"];
const VECTOR_BINARY: [&str; 8] = ["add", "sub", "mul", "min", "max", "shl", "shr", "bitxor"];

/// Makes expressions.
pub struct Writer<'a> {
    pub choice: &'a mut Choice,
    pub scope: &'a Scope,
}

impl Writer<'_> {
    /// An expression of `wanted`, nested at most `depth` deep.
    pub fn any(&mut self, wanted: impl Into<Type>, depth: u32) -> String {
        let wanted = wanted.into();
        if depth == 0 || self.choice.chance(12) {
            return self.leaf(wanted);
        }
        let calls: Vec<_> = self.scope.functions.iter().filter(|f| f.result == wanted).cloned().collect();
        if !calls.is_empty() && self.choice.chance(12) {
            let called = &calls[self.choice.below(calls.len())];
            let args: Vec<_> = called.parameters.iter().map(|&p| self.any(p, depth / 2)).collect();
            return format!("{}({})", called.name, args.join(", "));
        }
        if self.choice.chance(10) {
            let (condition, a, b) =
                (self.condition(depth - 1), self.any(wanted, depth - 1), self.any(wanted, depth - 1));
            return format!("({condition} ? {a} : {b})");
        }
        match (wanted.is_scalar(), wanted.scalar) {
            (false, _) => self.vector(wanted, depth - 1),
            (true, Scalar::Bf16) => self.brain(depth - 1),
            (true, scalar) if scalar.is_integer() => self.integer(scalar, depth - 1),
            (true, scalar) => self.float(scalar, depth - 1),
        }
    }

    /// Something to branch on.
    pub fn condition(&mut self, depth: u32) -> String {
        match self.choice.below(6) {
            0 if depth > 0 => {
                let operator = self.choice.pick(&["&&", "||"]);
                format!("({} {operator} {})", self.condition(depth - 1), self.condition(depth - 1))
            }
            1 => {
                let float = self.choice.pick(&Scalar::FLOATS);
                self.comparison(float, depth)
            }
            2 => format!("({} & {})", self.any(Scalar::U32, depth), 1 << self.choice.below(8)),
            _ => {
                let integer = self.choice.pick(&Scalar::INTEGERS);
                self.comparison(integer, depth)
            }
        }
    }

    fn comparison(&mut self, scalar: Scalar, depth: u32) -> String {
        let operator = self.choice.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let text = format!("({} {operator} {})", self.any(scalar, depth), self.any(scalar, depth));
        if self.choice.chance(15) { format!("!{text}") } else { text }
    }

    /// A place in an array, always inside of it.
    pub fn element(&mut self, (_, name, length): &(Scalar, String, usize), depth: u32) -> String {
        format!("{name}[{} % {length}]", self.any(Scalar::U32, depth))
    }

    fn leaf(&mut self, wanted: Type) -> String {
        let here: Vec<_> = self.scope.readable.iter().filter(|(t, _)| *t == wanted).collect();
        if !here.is_empty() && self.choice.chance(75) {
            return here[self.choice.below(here.len())].1.clone();
        }
        if !wanted.is_scalar() {
            let elements: Vec<_> = (0..wanted.lanes).map(|_| self.leaf(wanted.scalar.into())).collect();
            return format!("({}){{{}}}", wanted.name(), elements.join(", "));
        }
        let scalars: Vec<_> = self.scope.readable.iter().filter(|(t, _)| t.is_scalar()).collect();
        match self.choice.below(8) {
            0 | 1 if !scalars.is_empty() => {
                let other = &scalars[self.choice.below(scalars.len())].1;
                format!("from<{}>(bits({other}))", wanted.name())
            }
            2 | 3 if !self.scope.memory.is_empty() => self.load(wanted.scalar),
            4 if !self.scope.arrays.is_empty() => {
                let array = self.scope.arrays[self.choice.below(self.scope.arrays.len())].clone();
                format!("from<{}>(bits({}))", wanted.name(), self.element(&array, 0))
            }
            _ => self.constant(wanted.scalar),
        }
    }

    /// A load at any alignment.
    fn load(&mut self, scalar: Scalar) -> String {
        let (address, bytes) = self.scope.memory[self.choice.below(self.scope.memory.len())].clone();
        let aligned = self.choice.pick(&[1, 1, scalar.bits() / 8]);
        let offset = match self.choice.below(3) {
            0 => format!("{}", self.choice.below(bytes / aligned as usize) * aligned as usize),
            _ => format!("{} % {} * {aligned}", self.leaf(Scalar::U32.into()), bytes / aligned as usize),
        };
        let unsigned = format!("u{}", scalar.bits());
        match scalar.is_integer() {
            true => format!("at<{}>({address} + {offset})", scalar.name()),
            false => format!("from<{}>(at<{unsigned}>({address} + {offset}))", scalar.name()),
        }
    }

    fn constant(&mut self, scalar: Scalar) -> String {
        let name = scalar.name();
        let random = self.choice.bits();
        if scalar.is_integer() {
            let bits = scalar.bits();
            let value = match self.choice.below(5) {
                0 => self.choice.pick(&[0, 1, 2, 3, 4, 8, 16, 31, 32, 63, 64, 255, 0xffff, 0xff_ffff]),
                1 => u64::MAX << (random % u64::from(bits)),
                2 => u64::MAX >> (64 - 1 - random % u64::from(bits)),
                3 => random % 64,
                _ => random,
            };
            return format!("(({name}){:#x}ull)", value & u64::MAX >> (64 - bits));
        }
        if scalar == Scalar::Bf16 {
            return format!("to_bf16({:?}f)", (random as i16) as f32 / 64.0);
        }
        let edges = [
            "0.0",
            "-0.0",
            "1.0",
            "-1.0",
            "0.5",
            "-0.5",
            "2.0",
            "-2.0",
            "4.0",
            "-4.0",
            "0.15915494309189532",
            "1.0 / 3",
            "65504.0",
            "1e-7",
            "__builtin_inf()",
            "__builtin_nan(\"\")",
            "3e38",
            "1e-40",
            "16777217.0",
        ];
        match self.choice.below(3) {
            0 => format!("(({name})({:?}))", random as i16 as f64 / 256.0),
            _ => format!("(({name})({}))", self.choice.pick(&edges)),
        }
    }

    fn integer(&mut self, scalar: Scalar, depth: u32) -> String {
        let name = scalar.name();
        match self.choice.below(22) {
            0 | 1 => format!("{}({})", self.choice.pick(&UNARY), self.any(scalar, depth)),
            2..=8 => {
                let (a, b) = (self.any(scalar, depth), self.any(scalar, depth));
                format!("{}({a}, {b})", self.choice.pick(&BINARY))
            }
            // Shifts and masks by constants have instructions of their own.
            9 => {
                let count = self.choice.below(scalar.bits() as usize);
                let operator = self.choice.pick(&["shl", "shr", "rotate"]);
                format!("{operator}({}, ({name}){count})", self.any(scalar, depth))
            }
            10 | 11 => {
                let (a, b, c) = (self.any(scalar, depth), self.any(scalar, depth), self.any(scalar, depth));
                format!("{}({a}, {b}, {c})", self.choice.pick(&TERNARY))
            }
            12..=14 => {
                let other = self.choice.pick(&Scalar::INTEGERS);
                format!("({name}){}", self.any(other, depth))
            }
            15 => format!("({name}){}", self.condition(depth)),
            16 => {
                let float = self.choice.pick(&Scalar::FLOATS);
                format!("truncated<{name}>({})", self.any(float, depth))
            }
            17 => {
                let float = self.choice.pick(&[Scalar::F16, Scalar::F32, Scalar::F64, Scalar::Bf16]);
                format!("({name})order({}, {})", self.any(float, depth), self.any(float, depth))
            }
            18 => {
                let float = self.choice.pick(&Scalar::FLOATS);
                let function = self.choice.pick(&["class_", "exponent"]);
                format!("({name}){function}({})", self.any(float, depth))
            }
            19 => {
                let any = self.choice.pick(&Scalar::ALL);
                format!("from<{name}>(bits({}))", self.any(any, depth))
            }
            20 => {
                let from = self.vector_like(|v| v.scalar == scalar);
                let Some((v, name)) = from else { return self.leaf(scalar.into()) };
                match self.choice.below(2) {
                    0 => format!("{name}[{} % {}]", self.any(Scalar::U32, depth), v.lanes),
                    _ => format!("{name}[{}]", self.choice.below(v.lanes as usize)),
                }
            }
            _ => match scalar {
                Scalar::U32 => {
                    let order = self.choice.bits() & 0x7777;
                    format!("permute<{order:#x}>({}, {})", self.any(scalar, depth), self.any(scalar, depth))
                }
                Scalar::U64 if self.choice.chance(30) => {
                    let [a, b, c] = [(); 3].map(|()| self.any(scalar, depth.min(1)));
                    match self.choice.below(12) {
                        0 => format!("wide_division({a}, {b}, {c})"),
                        _ => format!("wide({a}, {b}, {c}, {})", self.any(Scalar::U32, depth)),
                    }
                }
                _ => format!("mask({}, {})", self.any(scalar, depth), self.any(scalar, depth)),
            },
        }
    }

    fn float(&mut self, scalar: Scalar, depth: u32) -> String {
        let name = scalar.name();
        match self.choice.below(16) {
            0 | 1 => format!("{}({})", self.choice.pick(&FLOAT_UNARY), self.any(scalar, depth)),
            2..=7 => {
                let (a, b) = (self.any(scalar, depth), self.any(scalar, depth));
                format!("{}({a}, {b})", self.choice.pick(&FLOAT_BINARY))
            }
            8 | 9 => {
                let (a, b, c) = (self.any(scalar, depth), self.any(scalar, depth), self.any(scalar, depth));
                format!("{}({a}, {b}, {c})", self.choice.pick(&["fused", "fused", "median"]))
            }
            10 => format!("scale({}, {})", self.any(scalar, depth), self.any(Scalar::I32, depth)),
            11 | 12 => {
                // A half holds 16 bits without overflow into what C leaves open.
                let limit = if scalar == Scalar::F16 { 4 } else { 8 };
                let other = self.choice.pick(&Scalar::INTEGERS[..limit]);
                format!("({name}){}", self.any(other, depth))
            }
            13 if scalar == Scalar::F32 => format!("to_f32({})", self.any(Scalar::Bf16, depth)),
            13 | 14 => {
                let other = self.choice.pick(&Scalar::FLOATS);
                let value = self.any(other, depth);
                match (scalar, other) {
                    (Scalar::F16, Scalar::F32) => format!("half({value})"),
                    _ => format!("({name}){value}"),
                }
            }
            _ => {
                let any = self.choice.pick(&Scalar::ALL);
                format!("from<{name}>(bits({}))", self.any(any, depth))
            }
        }
    }

    fn brain(&mut self, depth: u32) -> String {
        match self.choice.below(8) {
            0..=4 => {
                let operator = self.choice.pick(&["add", "sub", "mul", "div"]);
                format!("{operator}({}, {})", self.any(Scalar::Bf16, depth), self.any(Scalar::Bf16, depth))
            }
            5 => format!("neg({})", self.any(Scalar::Bf16, depth)),
            _ => format!("to_bf16({})", self.any(Scalar::F32, depth)),
        }
    }

    fn vector(&mut self, wanted: Type, depth: u32) -> String {
        let name = wanted.name();
        let integer = wanted.scalar.is_integer();
        match self.choice.below(14) {
            0..=4 => {
                let operators = if integer { &VECTOR_BINARY[..] } else { &VECTOR_BINARY[..5] };
                let operator = self.choice.pick(operators);
                format!("{operator}({}, {})", self.any(wanted, depth), self.any(wanted, depth))
            }
            5 if integer => {
                let operator = self.choice.pick(&["addsat", "subsat", "bitand_"]);
                format!("{operator}({}, {})", self.any(wanted, depth), self.any(wanted, depth))
            }
            5 | 6 => {
                let operator = if integer { "mad" } else { "fused" };
                let [a, b, c] = [(); 3].map(|()| self.any(wanted, depth));
                format!("{operator}({a}, {b}, {c})")
            }
            7 => {
                let operator = self.choice.pick(if integer { &["neg", "inv"] } else { &["neg", "abs"] });
                format!("{operator}({})", self.any(wanted, depth))
            }
            8 => {
                let [a, b, c, d] = [(); 4].map(|()| self.any(wanted, depth.min(1)));
                format!("pick({a}, {b}, {c}, {d})")
            }
            9 => format!("({name})({})", self.any(wanted.scalar, depth)),
            10 => {
                let elements: Vec<_> = (0..wanted.lanes).map(|_| self.any(wanted.scalar, depth)).collect();
                format!("({name}){{{}}}", elements.join(", "))
            }
            11 => {
                let found = self.vector_like(|v| v.lanes == wanted.lanes && v.scalar.is_integer());
                match found {
                    Some((_, other)) if integer => format!("__builtin_convertvector({other}, {name})"),
                    _ => self.leaf(wanted),
                }
            }
            _ => {
                let found = self.vector_like(|v| v.scalar == wanted.scalar);
                let Some((v, other)) = found else { return self.leaf(wanted) };
                let places: String = (0..wanted.lanes)
                    .map(|_| ['x', 'y', 'z', 'w'][self.choice.below(v.lanes as usize)])
                    .collect();
                format!("{other}.{places}")
            }
        }
    }

    /// A vector in scope.
    fn vector_like(&mut self, fits: impl Fn(Type) -> bool) -> Option<(Type, String)> {
        let found: Vec<_> = self.scope.readable.iter().filter(|(t, _)| !t.is_scalar() && fits(*t)).collect();
        (!found.is_empty()).then(|| found[self.choice.below(found.len())].clone())
    }
}
