//! Random programs from a seed.

use super::{
    expression::{Choice, INPUT_BYTES, Scope, Signature, Writer},
    program::{Arm, Program, Statement},
    types::{Scalar, Type},
};

/// Work-items of a workgroup: three waves and a part of a fourth.
pub const WORKGROUP: u32 = 250;
/// Workgroups of a launch.
pub const WORKGROUPS: u32 = 2;
/// 64-bit words of a work-item's slice of memory, which follows its results.
pub const SLICE: usize = 8;
/// 64-bit words that all work-items combine values into; see `combine`.
pub const TOTALS: usize = 16;
/// 32-bit words that are the same for all work-items.
pub const UNIFORM: usize = 8;

/// How work-items combine values into a word of `totals`; no result depends on the order.
pub struct Total {
    /// The operation of `fetch_<name>`.
    name: &'static str,
    scalar: Scalar,
}

impl Total {
    /// The word that leaves every value as it is.
    pub fn initial(&self) -> u64 {
        match (self.name, self.scalar) {
            ("min", Scalar::I64) => i64::MAX as u64,
            ("min", Scalar::I32) => i32::MAX as u64,
            ("min" | "and", _) => u64::MAX,
            ("max", Scalar::I64) => 1 << 63,
            _ => 0,
        }
    }
}

const fn total(name: &'static str, scalar: Scalar) -> Total {
    Total { name, scalar }
}

/// The words of `totals`.
pub const TOTAL_OPERATIONS: [Total; TOTALS] = [
    total("add", Scalar::U64),
    total("sub", Scalar::U64),
    total("and", Scalar::U64),
    total("or", Scalar::U64),
    total("xor", Scalar::U64),
    total("min", Scalar::U64),
    total("max", Scalar::U64),
    total("min", Scalar::I64),
    total("max", Scalar::I64),
    total("add", Scalar::U32),
    total("xor", Scalar::U32),
    total("min", Scalar::I32),
    total("max", Scalar::U32),
    total("or", Scalar::I32),
    total("add", Scalar::F64),
    total("add", Scalar::F32),
];

/// The program of `seed`.
pub fn program(seed: u64) -> Program {
    let mut choice = Choice::new(seed);
    let mut functions = vec![];
    let mut signatures = vec![];
    for n in 0..choice.below(4) {
        let (function, signature) = function(&mut choice, n, &signatures);
        functions.push(function);
        signatures.push(signature);
    }
    if choice.chance(30) {
        let (arms, signature) = dispatcher(&mut choice, &signatures);
        functions.extend(arms);
        signatures.push(signature);
    }
    if choice.chance(30) {
        let (arms, signature) = by_value(&mut choice, &signatures);
        functions.extend(arms);
        signatures.push(signature);
    }
    let (kernel, results) = Kernel::new(&mut choice, signatures).write();
    Program { functions, kernel, results }
}

fn any_type(choice: &mut Choice) -> Type {
    if choice.chance(70) {
        return choice.pick(&Scalar::ALL).into();
    }
    let scalar = choice.pick(&Scalar::ALL[..11]);
    Type { scalar, lanes: choice.pick(&[2, 2, 4]) }
}

/// A function that is not inlined, and may call itself.
fn function(choice: &mut Choice, n: usize, callable: &[Signature]) -> (Arm, Signature) {
    let result = any_type(choice);
    let parameters: Vec<_> = (0..1 + choice.below(4)).map(|_| any_type(choice)).collect();
    let named: Vec<_> = parameters.iter().enumerate().map(|(i, &t)| (t, format!("p{i}"))).collect();
    let name = format!("f{n}");
    let recursive = choice.chance(30);
    let mut scope = Scope { readable: named.clone(), functions: callable.to_vec(), ..Scope::default() };
    let initial = Writer { choice, scope: &scope }.any(result, 2);
    let local = format!("{} r = {initial};", result.name());
    scope.readable.push((result, "r".into()));
    let mut writable = scope.readable.clone();
    writable.retain(|(_, name)| name != "depth");
    let mut maker = Maker { choice, scope, writable, loops: 0, kernel: false, budget: 6 };
    let mut body = vec![Statement::Fixed(local)];
    body.extend(maker.statements(2));
    if recursive {
        let args: Vec<_> = parameters.iter().map(|&p| maker.expression(p, 1)).collect();
        let combined = maker.expression(result, 1);
        body.push(Statement::Simple(format!(
            "if (depth) r = {} ? {name}_(depth - 1, {}) : {combined};",
            maker.condition(1),
            args.join(", ")
        )));
    }
    body.push(Statement::Fixed("return r;".into()));
    let list: Vec<_> = named.iter().map(|(t, name)| format!("{} {name}", t.name())).collect();
    let list = list.join(", ");
    let mut arm = if recursive {
        Arm::new(format!("NOINLINE FN {} {name}_(u32 depth, {list})", result.name()), body)
    } else {
        Arm::new(format!("NOINLINE FN {} {name}({list})", result.name()), body)
    };
    if recursive {
        let names: Vec<_> = named.iter().map(|(_, name)| name.clone()).collect();
        let depth = maker.choice.below(5) + 1;
        arm.tail = format!(
            "}}\nFN {} {name}({list}) {{ return {name}_({depth}, {}); }}",
            result.name(),
            names.join(", ")
        );
    }
    (arm, Signature { name, result, parameters })
}

/// A table of functions, of which a value chooses one.
fn dispatcher(choice: &mut Choice, callable: &[Signature]) -> (Vec<Arm>, Signature) {
    let result: Type = choice.pick(&Scalar::ALL).into();
    let parameters: Vec<Type> = vec![choice.pick(&Scalar::ALL).into(), choice.pick(&Scalar::ALL).into()];
    let [a, b] = [parameters[0].name(), parameters[1].name()];
    let count = 2 + choice.below(3);
    let mut arms: Vec<_> = (0..count)
        .map(|n| {
            let readable = vec![(parameters[0], "a".into()), (parameters[1], "b".into())];
            let scope = Scope { readable, functions: callable.to_vec(), ..Scope::default() };
            let value = Writer { choice, scope: &scope }.any(result, 3);
            let body = vec![Statement::Fixed(format!("return {value};"))];
            Arm::new(format!("NOINLINE FN {} d{n}({a} a, {b} b)", result.name()), body)
        })
        .collect();
    let table: Vec<_> = (0..count).map(|n| format!("d{n}")).collect();
    let body = vec![Statement::Fixed(format!(
        "{} (*const table[])({a}, {b}) = {{{}}}; return table[which % {count}](a, b);",
        result.name(),
        table.join(", ")
    ))];
    arms.push(Arm::new(format!("FN {} dispatch(u32 which, {a} a, {b} b)", result.name()), body));
    let parameters = [Scalar::U32.into()].into_iter().chain(parameters).collect();
    (arms, Signature { name: "dispatch".into(), result, parameters })
}

/// A function whose parameter and result are structures.
fn by_value(choice: &mut Choice, callable: &[Signature]) -> (Vec<Arm>, Signature) {
    let fields: Vec<_> = (0..2 + choice.below(9)).map(|i| (any_type(choice), format!("s.m{i}"))).collect();
    let scope = Scope { readable: fields.clone(), functions: callable.to_vec(), ..Scope::default() };
    let mut maker = Maker { choice, writable: fields.clone(), scope, loops: 0, kernel: false, budget: 5 };
    let mut body = maker.statements(2);
    body.push(Statement::Fixed("return s;".into()));
    let list: String = fields.iter().map(|(t, name)| format!("{} {}; ", t.name(), &name[2..])).collect();
    let record = Arm { head: format!("struct Record {{ {list} }};"), body: vec![], tail: String::new() };
    let function = Arm::new("NOINLINE FN Record record(Record s)", body);
    let result = fields[maker.choice.below(fields.len())].clone();
    let parameters: Vec<_> = fields.iter().map(|(t, _)| *t).collect();
    let (formal, actual): (Vec<_>, Vec<_>) =
        parameters.iter().enumerate().map(|(i, t)| (format!("{} p{i}", t.name()), format!("p{i}"))).unzip();
    let call = format!("Record s = record(Record{{{}}}); return {};", actual.join(", "), result.1);
    let entry = Arm::new(
        format!("FN {} through({})", result.0.name(), formal.join(", ")),
        vec![Statement::Fixed(call)],
    );
    (vec![record, function, entry], Signature { name: "through".into(), result: result.0, parameters })
}

/// Makes statements within one function.
struct Maker<'a> {
    choice: &'a mut Choice,
    scope: Scope,
    writable: Vec<(Type, String)>,
    loops: usize,
    kernel: bool,
    /// Statements that may still be made.
    budget: usize,
}

impl Maker<'_> {
    fn expression(&mut self, wanted: impl Into<Type>, depth: u32) -> String {
        Writer { choice: self.choice, scope: &self.scope }.any(wanted, depth)
    }

    fn condition(&mut self, depth: u32) -> String {
        Writer { choice: self.choice, scope: &self.scope }.condition(depth)
    }

    /// Some statements, nested at most `depth` deep.
    fn statements(&mut self, depth: usize) -> Vec<Statement> {
        let count = 1 + self.choice.below(4);
        (0..count).map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Statement {
        self.budget = self.budget.saturating_sub(1);
        if depth > 0 && self.budget > 0 {
            match self.choice.below(12) {
                0 | 1 => return self.branch(depth - 1),
                2 if self.loops < 3 => return self.counted(depth - 1),
                3 if self.loops < 3 => return self.conditional(depth - 1),
                4 => return self.switch(depth - 1),
                _ => {}
            }
        }
        if self.kernel && self.choice.chance(25) {
            return Statement::Simple(self.memory());
        }
        if !self.scope.arrays.is_empty() && self.choice.chance(15) {
            let array = self.scope.arrays[self.choice.below(self.scope.arrays.len())].clone();
            let place = Writer { choice: self.choice, scope: &self.scope }.element(&array, 1);
            return Statement::Simple(format!("{place} = {};", self.expression(array.0, 2)));
        }
        let (wanted, name) = self.writable[self.choice.below(self.writable.len())].clone();
        if !wanted.is_scalar() && self.choice.chance(30) {
            let element = self.expression(wanted.scalar, 2);
            let place = match self.choice.below(2) {
                0 => self.choice.below(wanted.lanes as usize).to_string(),
                _ => format!("{} % {}", self.expression(Scalar::U32, 1), wanted.lanes),
            };
            return Statement::Simple(format!("{name}[{place}] = {element};"));
        }
        Statement::Simple(format!("{name} = {};", self.expression(wanted, 3)))
    }

    fn branch(&mut self, depth: usize) -> Statement {
        let mut arms = vec![Arm::new(format!("if ({})", self.condition(2)), self.statements(depth))];
        if self.choice.chance(25) {
            arms.push(Arm::new(format!("else if ({})", self.condition(1)), self.statements(depth)));
        }
        if self.choice.chance(50) {
            arms.push(Arm::new("else", self.statements(depth)));
        }
        Statement::Nested { open: String::new(), arms, close: String::new() }
    }

    /// A loop that counts; its body may leave early or go on early.
    fn counted(&mut self, depth: usize) -> Statement {
        let i = format!("turn{}", self.scope.readable.len());
        let limit = match self.choice.below(2) {
            0 => format!("{}", 2 + self.choice.below(6)),
            _ => format!("({} & 7)", self.expression(Scalar::U32, 1)),
        };
        // The limit is taken once: a body that changes it must not run for ever.
        let head = format!("for (u32 {i} = 0, end = {limit}; {i} < end; {i}++)");
        self.scope.readable.push((Scalar::U32.into(), i));
        let arm = Arm::new(head, self.looped(depth));
        self.scope.readable.pop();
        Statement::Nested { open: String::new(), arms: vec![arm], close: String::new() }
    }

    fn conditional(&mut self, depth: usize) -> Statement {
        let i = format!("turn{}", self.scope.readable.len());
        let condition = self.condition(2);
        self.scope.readable.push((Scalar::U32.into(), i.clone()));
        let body = self.looped(depth);
        self.scope.readable.pop();
        let limit = 2 + self.choice.below(6);
        let arm = match self.choice.below(2) {
            0 => Arm::new(format!("for (u32 {i} = 0; {i} < {limit} && {condition}; {i}++)"), body),
            _ => {
                let mut arm = Arm::new(format!("for (u32 {i} = 0;;)"), body);
                // What `continue` skips stands first.
                arm.body.insert(0, Statement::Fixed(format!("if (++{i} > {limit} || {condition}) break;")));
                arm
            }
        };
        Statement::Nested { open: String::new(), arms: vec![arm], close: String::new() }
    }

    fn looped(&mut self, depth: usize) -> Vec<Statement> {
        self.loops += 1;
        let mut body = self.statements(depth);
        if self.choice.chance(50) {
            let way = self.choice.pick(&["break", "break", "continue"]);
            let at = self.choice.below(body.len() + 1);
            body.insert(at, Statement::Simple(format!("if ({}) {way};", self.condition(1))));
        }
        self.loops -= 1;
        body
    }

    fn switch(&mut self, depth: usize) -> Statement {
        let cases = 2 + self.choice.below(6);
        let scalar = self.choice.pick(&[Scalar::U32, Scalar::U8, Scalar::U64]);
        let open = format!("switch ({} % {}) {{", self.expression(scalar, 2), cases + 1);
        let mut arms: Vec<_> = (0..cases)
            .map(|n| {
                let mut arm = Arm::new(format!("case {n}:"), self.statements(depth));
                if self.choice.chance(75) {
                    arm.tail = "} break;".into();
                }
                arm
            })
            .collect();
        if self.choice.chance(60) {
            arms.push(Arm::new("default:", self.statements(depth)));
        }
        Statement::Nested { open, arms, close: "}".into() }
    }

    /// A statement about memory that other work-items see, at places that are this work-item's own, or in a way
    /// whose order does not matter.
    fn memory(&mut self) -> String {
        match self.choice.below(7) {
            0 | 1 => {
                let scalar = self.choice.pick(&Scalar::ALL);
                let value = self.expression(scalar, 2);
                let unsigned = format!("u{}", scalar.bits());
                let (place, bytes) = self.choice.pick(&[("slice", SLICE * 8), ("raw", 16)]);
                let places = bytes - scalar.bits() as usize / 8 + 1;
                let at = self.expression(Scalar::U32, 1);
                format!("put<{unsigned}>({place} + {at} % {places}, ({unsigned})bits({value}));")
            }
            2 => {
                let n = self.choice.below(TOTALS);
                let Total { name: operation, scalar } = TOTAL_OPERATIONS[n];
                let value = match scalar {
                    // Sums of small integers are exact in any order.
                    Scalar::F32 | Scalar::F64 => {
                        format!("({})({} & 15)", scalar.name(), self.expression(Scalar::U32, 1))
                    }
                    _ => self.expression(scalar, 2),
                };
                let to = self.choice.pick(&["totals", "local"]);
                let scope = if to == "local" { "WORKGROUP" } else { "AGENT" };
                format!(
                    "NATIVE_ATOMICS {{ ATOMIC(fetch_{operation}, {scope}, ({} *)({to} + {n}), {value}); }}",
                    scalar.name()
                )
            }
            3 => {
                // The work-item's own cell: what was there before is known, too.
                let scalar = self.choice.pick(&[Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64]);
                let operation = self.choice.pick(&[
                    "fetch_add",
                    "fetch_sub",
                    "fetch_and",
                    "fetch_or",
                    "fetch_xor",
                    "fetch_min",
                    "fetch_max",
                    "exchange",
                ]);
                let (value, result) = (self.expression(scalar, 2), self.target(scalar));
                let (cell, scope) = self.choice.pick(&[("&own[tid]", "WORKGROUP"), ("cell", "AGENT")]);
                format!("{result} = ATOMIC({operation}, {scope}, ({} *){cell}, {value});", scalar.name())
            }
            4 => {
                let scalar = self.choice.pick(&[Scalar::U32, Scalar::U64]);
                let (expected, value) = (self.expression(scalar, 1), self.expression(scalar, 2));
                let result = self.target(scalar);
                let (cell, scope) = self.choice.pick(&[("&own[tid]", "WORKGROUP"), ("cell", "AGENT")]);
                let name = scalar.name();
                let old = self.choice.pick(&["at<N>(C)", "E"]).replace('N', name).replace('C', cell);
                let old = old.replace('E', &expected);
                format!(
                    "{{ {name} old = {old}; {result} = CAS({scope}, ({name} *){cell}, &old, {value}) ? old : ~old; }}"
                )
            }
            5 => {
                let scalar = self.choice.pick(&[Scalar::F32, Scalar::F64]);
                let name = scalar.name();
                let native = self.choice.pick(&["NATIVE_ATOMICS", ""]);
                let value = format!("({name}){}", self.expression(Scalar::I16, 2));
                let result = self.target(scalar);
                let cell = if scalar == Scalar::F32 { "&singles[tid]" } else { "&doubles[tid]" };
                format!("{native} {{ {result} = ATOMIC(fetch_add, WORKGROUP, {cell}, {value}); }}")
            }
            // One pointer, whose memory differs from lane to lane.
            _ => {
                let (a, b) = (self.condition(1), self.condition(1));
                let value = self.expression(Scalar::U32, 2);
                let at = self.expression(Scalar::U32, 1);
                format!(
                    "{{ u32 *p = {a} ? (u32 *)raw + {at} % 4 : {b} ? stack + {at} % 5 : (u32 *)slice + {at} % 16; \
                     put<u32>(p, add(at<u32>(p), {value})); }}"
                )
            }
        }
    }

    /// A variable of the type, or a name for what is not wanted.
    fn target(&mut self, scalar: Scalar) -> String {
        let here: Vec<_> = self.writable.iter().filter(|(t, _)| *t == scalar.into()).collect();
        here[self.choice.below(here.len())].1.clone()
    }
}

/// Makes the kernel.
struct Kernel<'a> {
    choice: &'a mut Choice,
    variables: Vec<(Type, String)>,
    signatures: Vec<Signature>,
}

impl<'a> Kernel<'a> {
    fn new(choice: &'a mut Choice, signatures: Vec<Signature>) -> Self {
        let mut types: Vec<Type> = Scalar::ALL.map(Type::from).to_vec();
        types.extend([Scalar::U32, Scalar::I32, Scalar::F32, Scalar::U64].map(Type::from));
        for _ in 0..1 + choice.below(5) {
            let scalar = choice.pick(&Scalar::ALL[..11]);
            types.push(Type { scalar, lanes: choice.pick(&[2, 2, 4]) });
        }
        let variables = types.into_iter().enumerate().map(|(i, t)| (t, format!("v{i}"))).collect();
        Self { choice, variables, signatures }
    }

    fn write(mut self) -> (Arm, Vec<String>) {
        let uniform: Vec<(Type, String)> = [Scalar::U32, Scalar::I32, Scalar::U64, Scalar::I64, Scalar::U16]
            .into_iter()
            .enumerate()
            .map(|(i, s)| (s.into(), format!("s{i}")))
            .collect();
        let mut results = vec![];
        let mut stores = vec![];
        for (wanted, name) in self.variables.iter().chain(&uniform) {
            for lane in 0..wanted.lanes {
                let value = if wanted.is_scalar() { name.clone() } else { format!("{name}[{lane}]") };
                stores.push(format!("result[{}] = bits({value});", results.len()));
                results.push(value);
            }
        }
        for (array, length) in [("stack", 5), ("bytes", 16), ("reals", 7), ("wides", 3), ("halves", 6)] {
            stores.push(format!(
                "result[{}] = 0; for (u32 i = 0; i < {length}; i++) result[{}] = result[{}] * 31 + bits({array}[i]);",
                results.len(),
                results.len(),
                results.len()
            ));
            results.push(array.into());
        }
        for cell in ["own[tid]", "singles[tid]", "doubles[tid]", "at<u64>(raw)", "at<u64>(raw + 8)"] {
            stores.push(format!("result[{}] = bits({cell});", results.len()));
            results.push(cell.into());
        }
        let words = results.len() + SLICE + 1;
        let mut body: Vec<_> = self.declarations(words, &uniform, results.len());
        body.extend(self.phases(&uniform));
        body.extend(stores.into_iter().map(Statement::Fixed));
        body.push(Statement::Fixed("barrier();".into()));
        let flush: String = TOTAL_OPERATIONS
            .iter()
            .enumerate()
            .map(|(n, Total { name: operation, scalar })| {
                let name = scalar.name();
                // What is left of a sum is the sum that the local one came to.
                let operation = if *operation == "sub" { "add" } else { operation };
                format!(
                    "NATIVE_ATOMICS {{ ATOMIC(fetch_{operation}, AGENT, ({name} *)(totals + {n}), *({name} *)(local + {n})); }} "
                )
            })
            .collect();
        body.push(Statement::Fixed(format!("if (tid == 0) {{ {flush}}}")));
        for n in 0..SLICE + 1 {
            results.push(format!("slice word {n}"));
        }
        let head = "KERNEL program(const u8 *input, u64 *out, u64 *totals, const u32 *uniform, u32 n)";
        (Arm::new(head, body), results)
    }

    fn declarations(&mut self, words: usize, uniform: &[(Type, String)], results: usize) -> Vec<Statement> {
        let mut lines = vec![
            format!("SHARED u32 even[{WORKGROUP}], odd[{WORKGROUP}];"),
            format!("SHARED u64 own[{WORKGROUP}], local[{TOTALS}];"),
            format!("SHARED f32 singles[{WORKGROUP}]; SHARED f64 doubles[{WORKGROUP}];"),
            format!("SHARED __attribute__((aligned(16))) u8 raws[{WORKGROUP} * 16];"),
            "u8 *raw = raws + tid * 16;".into(),
            "u32 lane = block * block_size + tid;".into(),
            format!("u64 *result = out + lane * {words};"),
            format!("u64 *cell = result + {results}; u8 *slice = (u8 *)(cell + 1);"),
            "even[tid] = at<u32>(input + lane * 8); odd[tid] = lane; own[tid] = lane * 77;".into(),
            "singles[tid] = 0; doubles[tid] = 1; put<u64>(raw, lane); put<u64>(raw + 8, 3);".into(),
            format!("if (tid < {TOTALS}) local[tid] = totals[{TOTALS} + tid];"),
            "u32 stack[5]; for (u32 i = 0; i < 5; i++) stack[i] = lane + i;".into(),
            "u8 bytes[16]; for (u32 i = 0; i < 16; i++) bytes[i] = lane * i;".into(),
            "f32 reals[7]; for (u32 i = 0; i < 7; i++) reals[i] = (f32)(lane * i) / 8;".into(),
            "u64 wides[3]; for (u32 i = 0; i < 3; i++) wides[i] = (u64)lane << (i * 16);".into(),
            "f16 halves[6]; for (u32 i = 0; i < 6; i++) halves[i] = (f16)(i16)(lane + i);".into(),
        ];
        for (i, (wanted, name)) in self.variables.iter().enumerate() {
            let place = format!("input + (lane * 28 + {}) % {}", i * 4, INPUT_BYTES - 64);
            let scalar = wanted.scalar.name();
            // Half of the floats begin as small numbers, else most would soon be NaNs.
            let number = !wanted.scalar.is_integer() && self.choice.chance(60);
            let value = |lane: u32| match number {
                true if wanted.scalar == Scalar::Bf16 => format!("to_bf16((f32)at<i16>({place}) / 64)"),
                true => format!("({scalar})at<i16>({place} + {lane} * 2) / ({scalar})64"),
                false => format!("from<{scalar}>(at<u64>({place} + {lane} * 8))"),
            };
            let values: Vec<_> = (0..wanted.lanes).map(value).collect();
            lines.push(match wanted.lanes {
                1 => format!("{scalar} {name} = {};", values[0]),
                _ => format!("{} {name} = {{{}}};", wanted.name(), values.join(", ")),
            });
        }
        for (i, (wanted, name)) in uniform.iter().enumerate() {
            let scalar = wanted.name();
            lines
                .push(format!("{scalar} {name} = ({scalar})((u64)uniform[{i}] << 32 | uniform[{}]);", i + 1));
        }
        lines.push("barrier();".into());
        lines.into_iter().map(Statement::Fixed).collect()
    }

    /// Statements in phases that end at a barrier: what one writes to LDS, the next reads anywhere.
    fn phases(&mut self, uniform: &[(Type, String)]) -> Vec<Statement> {
        let mut body = vec![];
        let (mut reads, mut writes) = ("even", "odd");
        let mut readable = self.variables.clone();
        readable.extend(uniform.iter().cloned());
        readable.extend(["lane", "n", "tid"].map(|name| (Scalar::U32.into(), name.into())));
        let arrays = [
            (Scalar::U32, "stack", 5),
            (Scalar::U8, "bytes", 16),
            (Scalar::F32, "reals", 7),
            (Scalar::U64, "wides", 3),
            (Scalar::F16, "halves", 6),
        ]
        .map(|(scalar, name, length)| (scalar, name.to_string(), length));
        for _ in 0..1 + self.choice.below(3) {
            body.extend(self.scalar_statements(uniform));
            let mut memory = vec![
                ("input".into(), INPUT_BYTES - 8),
                ("slice".into(), SLICE * 8 - 8),
                ("raw".into(), 8),
                ("(u8 *)uniform".into(), UNIFORM * 4 - 8),
            ];
            memory.push((format!("(u8 *){reads}"), WORKGROUP as usize * 4 - 8));
            let scope = Scope {
                readable: readable.clone(),
                functions: self.signatures.clone(),
                arrays: arrays.to_vec(),
                memory,
            };
            let writable = self.variables.clone();
            let mut maker = Maker { choice: self.choice, scope, writable, loops: 0, kernel: true, budget: 8 };
            for _ in 0..1 + maker.choice.below(2) {
                body.extend(maker.statements(2));
            }
            let value = maker.expression(Scalar::U32, 2);
            // 7 and 250 have no divisor in common: no two work-items write the same place.
            let (factor, offset) = (self.choice.pick(&[1, 7, 249]), self.choice.below(250));
            body.push(Statement::Simple(format!(
                "{writes}[(tid * {factor} + {offset}) % {WORKGROUP}] = {value};"
            )));
            body.push(Statement::Fixed("barrier();".into()));
            (reads, writes) = (writes, reads);
        }
        body
    }

    /// Statements that are the same for all work-items: the scalar unit runs them.
    fn scalar_statements(&mut self, uniform: &[(Type, String)]) -> Vec<Statement> {
        if self.choice.chance(40) {
            return vec![];
        }
        let mut readable = uniform.to_vec();
        readable.extend(["n", "block"].map(|name| (Scalar::U32.into(), name.into())));
        let memory = vec![("(u8 *)uniform".into(), UNIFORM * 4 - 8)];
        let scope = Scope { readable, memory, ..Scope::default() };
        let mut maker = Maker {
            choice: self.choice,
            scope,
            writable: uniform.to_vec(),
            loops: 0,
            kernel: false,
            budget: 4,
        };
        maker.statements(2)
    }
}
