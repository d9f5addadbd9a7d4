//! Runs pseudocode for one lane, to nearest even and with denormals.

use std::collections::{HashMap, HashSet};

use rustc_apfloat::{
    Float, FloatConvert, Round,
    ieee::{Double, Half, Single},
};

use super::syntax::{Expr, Statement, Value};

const NEAREST: Round = Round::NearestTiesToEven;

/// How a block ended.
enum End {
    Normal,
    Break,
    Return(Value),
}

pub(super) struct Machine<'a> {
    pub names: HashMap<String, Value>,
    functions: HashMap<&'a str, (&'a [String], &'a [Statement])>,
    arrays: HashSet<&'a str>,
    /// Bits of the destination that were written.
    pub written: u32,
}

type Result<T> = std::result::Result<T, String>;

fn integer(bits: i128) -> Value {
    Value { bits, width: 32, float: false }
}

fn boolean(x: bool) -> Value {
    Value { bits: x.into(), width: 1, float: false }
}

fn low(bits: i128, width: u32) -> i128 {
    if width >= 127 { bits } else { bits & ((1 << width) - 1) }
}

/// A float of this width.
pub(super) fn float(x: f64, width: u32) -> Value {
    convert(Value { bits: x.to_bits().into(), width: 64, float: true }, width)
}

/// Bits of exponent and fraction.
fn layout(width: u32) -> (u32, u32) {
    match width {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    }
}

fn exponent(x: Value) -> i128 {
    let (exponent, fraction) = layout(x.width);
    x.bits >> fraction & ((1 << exponent) - 1)
}

fn fraction(x: Value) -> i128 {
    low(x.bits, layout(x.width).1)
}

fn is_nan(x: Value) -> bool {
    exponent(x) == (1 << layout(x.width).0) - 1 && fraction(x) != 0
}

fn is_signalling(x: Value) -> bool {
    is_nan(x) && fraction(x) >> (layout(x.width).1 - 1) == 0
}

/// Another width; a NaN keeps the top of its payload and its signal.
fn convert(x: Value, width: u32) -> Value {
    if x.width == width {
        return x;
    }
    let (_, from) = layout(x.width);
    let (_, to) = layout(width);
    if is_nan(x) {
        let payload = if to > from { fraction(x) << (to - from) } else { fraction(x) >> (from - to) };
        let infinity = ((1i128 << layout(width).0) - 1) << to;
        let bits = (x.bits >> (x.width - 1) & 1) << (width - 1) | infinity | payload;
        return Value { bits, width, float: true };
    }
    // Every format fits into the widest.
    let wide: Double = match x.width {
        16 => Half::from_bits(x.bits as u128).convert(&mut false).value,
        32 => Single::from_bits(x.bits as u128).convert(&mut false).value,
        _ => Double::from_bits(x.bits as u128),
    };
    let bits = match width {
        16 => FloatConvert::<Half>::convert_r(wide, NEAREST, &mut false).value.to_bits(),
        32 => FloatConvert::<Single>::convert_r(wide, NEAREST, &mut false).value.to_bits(),
        _ => wide.to_bits(),
    };
    Value { bits: bits as i128, width, float: true }
}

macro_rules! in_width {
    ($width:expr, $f:ident($($x:expr),*)) => {
        match $width {
            16 => $f::<Half>($($x),*),
            32 => $f::<Single>($($x),*),
            _ => $f::<Double>($($x),*),
        }
    };
}

fn of<F: Float>(x: Value) -> F {
    F::from_bits(low(x.bits, x.width) as u128)
}

fn value<F: Float>(x: F, width: u32) -> Value {
    Value { bits: x.to_bits() as i128, width, float: true }
}

fn arithmetic<F: Float>(operator: &str, a: Value, b: Value) -> Result<Value> {
    let (x, y, width) = (of::<F>(a), of::<F>(b), a.width);
    Ok(match operator {
        "+" => value(x.add_r(y, NEAREST).value, width),
        "-" => value(x.sub_r(y, NEAREST).value, width),
        "*" => value(x.mul_r(y, NEAREST).value, width),
        "/" => value(x.div_r(y, NEAREST).value, width),
        "==" => boolean(x == y),
        "!=" => boolean(x != y),
        "<>" => boolean(x < y || x > y),
        "<" => boolean(x < y),
        "<=" => boolean(x <= y),
        ">" => boolean(x > y),
        ">=" => boolean(x >= y),
        _ => return Err(format!("{operator} of floats")),
    })
}

fn fused<F: Float>(a: Value, b: Value, c: Value) -> Value {
    value(of::<F>(a).mul_add_r(of::<F>(b), of::<F>(c), NEAREST).value, a.width)
}

fn scaled<F: Float>(x: Value, n: i128) -> Value {
    value(of::<F>(x).scalbn_r(n.clamp(-10_000, 10_000) as i32, NEAREST), x.width)
}

fn rounded<F: Float>(x: Value, round: Round) -> Value {
    if is_nan(x) { x } else { value(of::<F>(x).round_to_integral(round).value, x.width) }
}

fn to_integer<F: Float>(x: Value, round: Round, low: i128, high: i128) -> Value {
    let x = of::<F>(x);
    let bits = if x.is_nan() {
        0
    } else if x.is_infinite() {
        if x.is_negative() { low } else { high }
    } else {
        x.to_i128_r(100, round, &mut false).value.clamp(low, high)
    };
    integer(bits)
}

fn mantissa<F: Float>(x: Value) -> Value {
    if of::<F>(x).is_zero() { x } else { value(of::<F>(x).frexp(&mut 0), x.width) }
}

fn from_integer<F: Float>(x: i128, width: u32) -> Value {
    value(F::from_i128_r(x, NEAREST).value, width)
}

/// Kind and width of a type name such as `f32`.
fn type_of(name: &str) -> Result<(char, u32)> {
    let bad = || format!("type {name}");
    let mut chars = name.chars();
    let kind = chars.next().filter(|kind| "uifb".contains(*kind)).ok_or_else(bad)?;
    Ok((kind, chars.as_str().parse().map_err(|_| bad())?))
}

/// The low bits as a type; a float of another width is converted.
fn typed(x: Value, name: &str) -> Result<Value> {
    let (kind, width) = type_of(name)?;
    if kind == 'f' && x.float && x.width != width {
        return Ok(convert(x, width));
    }
    let bits = low(x.bits, width);
    let negative = kind == 'i' && bits >> (width - 1) != 0;
    Ok(Value { bits: if negative { bits - (1 << width) } else { bits }, width, float: kind == 'f' })
}

/// 2 to the power of something, perhaps converted.
fn power(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Binary(operator, _, n) if operator == "**" => Some(n),
        Expr::Cast(_, kind, inner) if kind == "F" => power(inner),
        _ => None,
    }
}

impl<'a> Machine<'a> {
    pub fn new(names: HashMap<String, Value>) -> Self {
        Self { names, functions: HashMap::new(), arrays: HashSet::new(), written: 0 }
    }

    pub fn run(&mut self, block: &'a [Statement]) -> Result<()> {
        self.block(block).map(|_| ())
    }

    fn block(&mut self, block: &'a [Statement]) -> Result<End> {
        for statement in block {
            match statement {
                Statement::If(branches, other) => {
                    let mut taken = &other[..];
                    for (condition, body) in branches {
                        if self.eval(condition)?.bits != 0 {
                            taken = body;
                            break;
                        }
                    }
                    match self.block(taken)? {
                        End::Normal => {}
                        end => return Ok(end),
                    }
                }
                Statement::For(name, from, to, body) => {
                    for n in self.eval(from)?.bits..=self.eval(to)?.bits {
                        self.names.insert(name.clone(), integer(n));
                        match self.block(body)? {
                            End::Normal => {}
                            End::Break => break,
                            end => return Ok(end),
                        }
                    }
                }
                Statement::Break => return Ok(End::Break),
                Statement::Return(x) => return Ok(End::Return(self.eval(x)?)),
                Statement::Set(target, x) => {
                    let x = self.eval(x)?;
                    self.set(target, x)?;
                }
                Statement::Lambda(name, parameters, body) => {
                    self.functions.insert(name, (parameters, body));
                }
                Statement::Declare(name, array) => {
                    if *array {
                        self.arrays.insert(name);
                    } else {
                        self.names.entry(name.clone()).or_insert(integer(0));
                    }
                }
            }
        }
        Ok(End::Normal)
    }

    /// Replaces bits of a variable.
    fn insert(&mut self, name: &str, at: u32, width: u32, bits: i128) {
        let old = self.names.get(name).map_or(0, |x| x.bits);
        let mask = ((1i128 << width) - 1) << at;
        let merged = Value { bits: old & !mask | low(bits, width) << at, width: 64, float: false };
        self.names.insert(name.to_owned(), merged);
        if name == "D0" {
            self.written = self.written.max(at + width);
        }
    }

    fn set(&mut self, target: &'a Expr, x: Value) -> Result<()> {
        match target {
            Expr::Name(name) => {
                if name == "D0" {
                    self.written = x.width.clamp(32, 64);
                }
                self.names.insert(name.clone(), x);
            }
            Expr::Concat(parts) => {
                let [Expr::Typed(..), Expr::Typed(_, ty)] = &parts[..] else { return Err("parts".into()) };
                let (_, width) = type_of(ty)?;
                self.set(&parts[1], Value { bits: x.bits, ..x })?;
                self.set(&parts[0], Value { bits: x.bits >> width, ..x })?;
            }
            Expr::Typed(inner, ty) => {
                let (kind, width) = type_of(ty)?;
                let x = if kind == 'f' && x.float { convert(x, width) } else { x };
                match &**inner {
                    Expr::Name(name) if name == "D0" => self.insert(name, 0, width, x.bits),
                    Expr::Name(name) => {
                        let raw = Value { bits: low(x.bits, width), width, float: kind == 'f' };
                        let stored = if kind == 'i' { typed(raw, ty)? } else { raw };
                        self.names.insert(name.clone(), stored);
                    }
                    inner => self.set(inner, Value { bits: low(x.bits, width), ..x })?,
                }
            }
            Expr::Slice(inner, high, lower) => {
                let (high, lower) = (self.eval(high)?.bits as u32, self.eval(lower)?.bits as u32);
                self.insert(root(inner)?, lower, high - lower + 1, x.bits);
            }
            Expr::Index(inner, n) => {
                let (name, n) = (root(inner)?, self.eval(n)?.bits);
                if self.arrays.contains(name) {
                    self.names.insert(format!("{name}[{n}]"), x);
                } else {
                    self.insert(name, n as u32, 1, x.bits);
                }
            }
            _ => return Err(format!("{target:?} is no place")),
        }
        Ok(())
    }

    fn eval(&mut self, expr: &'a Expr) -> Result<Value> {
        Ok(match expr {
            Expr::Number(x) => *x,
            Expr::Name(name) => match name.as_str() {
                "INF" => Value { bits: 0x7ff << 52, width: 64, float: true },
                name => *self.names.get(name).ok_or_else(|| format!("unknown {name}"))?,
            },
            Expr::Typed(inner, ty) => {
                let width = || type_of(ty).map(|(_, width)| width);
                match &**inner {
                    Expr::Name(name) if name == "NAN" => float(f64::NAN, width()?),
                    Expr::Name(name) if name == "INF" => float(f64::INFINITY, width()?),
                    Expr::Name(name) if name == "WAVE_MODE" => *self.names.get(ty).unwrap_or(&integer(0)),
                    inner => typed(self.eval(inner)?, ty)?,
                }
            }
            Expr::Slice(inner, high, lower) => {
                let x = self.eval(inner)?.bits;
                let (high, lower) = (self.eval(high)?.bits, self.eval(lower)?.bits);
                let width = high.abs_diff(lower) as u32 + 1;
                let bits = if high >= lower {
                    low(x >> lower, width)
                } else {
                    (high..=lower).fold(0, |bits, n| bits << 1 | x >> n & 1)
                };
                Value { bits, width, float: false }
            }
            Expr::Index(inner, n) => {
                let n = self.eval(n)?.bits;
                match &**inner {
                    Expr::Name(name) if self.arrays.contains(name.as_str()) || name == "S" => {
                        *self.names.get(&format!("{name}[{n}]")).ok_or("element")?
                    }
                    inner => boolean(self.eval(inner)?.bits >> n & 1 != 0),
                }
            }
            Expr::Call(name, arguments) => self.call(name, arguments)?,
            Expr::Cast(width, kind, inner) => {
                let x = self.eval(inner)?;
                match kind.as_str() {
                    "F" if x.float => convert(x, *width),
                    // The bits of a NaN, written as a number.
                    "F" if matches!(**inner, Expr::Number(_)) => Value { width: *width, float: true, ..x },
                    "F" => in_width!(*width, from_integer(x.bits, *width)),
                    "I" if *width < 65 => typed(x, &format!("i{width}"))?,
                    "I" => x,
                    _ => Value { bits: low(x.bits, *width), width: *width, float: false },
                }
            }
            Expr::Concat(parts) => {
                let mut joined = Value { bits: 0, width: 0, float: false };
                for part in parts {
                    let x = self.eval(part)?;
                    joined.bits = joined.bits << x.width | low(x.bits, x.width);
                    joined.width += x.width;
                }
                joined
            }
            Expr::Unary(operator, inner) => {
                let x = self.eval(inner)?;
                match operator.as_str() {
                    "-" if x.float => Value { bits: x.bits ^ 1 << (x.width - 1), ..x },
                    "-" => Value { bits: -x.bits, ..x },
                    "~" => Value { bits: !x.bits, ..x },
                    "!" => boolean(x.bits == 0),
                    _ => x,
                }
            }
            Expr::Choice(condition, yes, no) => {
                if self.eval(condition)?.bits != 0 {
                    self.eval(yes)?
                } else {
                    self.eval(no)?
                }
            }
            Expr::Binary(operator, left, right) => self.binary(operator, left, right)?,
        })
    }

    fn binary(&mut self, operator: &str, left: &'a Expr, right: &'a Expr) -> Result<Value> {
        // A power of two may lie outside of the format although the product does not.
        for (factor, power) in [(left, power(right)), (right, power(left))] {
            if let ("*", Some(n)) = (operator, power) {
                let (x, n) = (self.eval(factor)?, self.eval(n)?.bits);
                return Ok(in_width!(x.width, scaled(x, n)));
            }
        }
        let a = self.eval(left)?;
        if let Expr::Typed(inner, ty) = right
            && matches!(&**inner, Expr::Name(name) if name == "DENORM")
        {
            let x = convert(a, type_of(ty)?.1);
            return Ok(boolean(exponent(x) == 0 && fraction(x) != 0));
        }
        match (operator, a.bits) {
            ("&&", 0) => return Ok(boolean(false)),
            ("||", 1..) => return Ok(boolean(true)),
            _ => {}
        }
        let b = self.eval(right)?;
        if a.float || b.float {
            let width = a.width.max(b.width);
            let (a, b) = (convert(a, width), convert(b, width));
            // A zero with a sign in front of it means that one.
            let signed = matches!(right, Expr::Unary(..)) && low(b.bits, width - 1) == 0;
            if operator == "==" && signed {
                return Ok(boolean(a.bits == b.bits));
            }
            return in_width!(width, arithmetic(operator, a, b));
        }
        let (x, y) = (a.bits, b.bits);
        let wide = |bits| Value { bits, width: a.width.max(b.width).max(32), float: false };
        Ok(match operator {
            "+" => wide(x + y),
            "-" => wide(x - y),
            "*" => wide(x * y),
            "&" => wide(x & y),
            "|" => wide(x | y),
            "^" => wide(x ^ y),
            "<<" => wide(x << y),
            ">>" => wide(x >> y),
            "&&" | "||" => boolean(y != 0),
            "==" => boolean(x == y),
            "!=" | "<>" => boolean(x != y),
            "<" => boolean(x < y),
            "<=" => boolean(x <= y),
            ">" => boolean(x > y),
            ">=" => boolean(x >= y),
            _ => return Err(format!("{operator} of integers")),
        })
    }

    fn call(&mut self, name: &'a str, arguments: &'a [Expr]) -> Result<Value> {
        let args = arguments.iter().map(|x| self.eval(x)).collect::<Result<Vec<_>>>()?;
        if let Some((parameters, body)) = self.functions.get(name).copied() {
            let names = parameters.iter().cloned().zip(args).collect();
            let mut inner = Machine { functions: self.functions.clone(), ..Machine::new(names) };
            return match inner.block(body)? {
                End::Return(x) => Ok(x),
                _ => Err(format!("{name} returns nothing")),
            };
        }
        let x = args[0];
        Ok(match name {
            "abs" if x.float => Value { bits: low(x.bits, x.width - 1), ..x },
            "isNAN" => boolean(is_nan(x)),
            "isSignalNAN" => boolean(is_signalling(x)),
            "cvtToQuietNAN" => Value { bits: x.bits | 1 << (layout(x.width).1 - 1), ..x },
            "sign" => boolean(x.bits >> (x.width - 1) & 1 != 0),
            "exponent" => integer(exponent(x)),
            "mantissa" => in_width!(x.width, mantissa(x)),
            "trunc" => in_width!(x.width, rounded(x, Round::TowardZero)),
            "floor" => in_width!(x.width, rounded(x, Round::TowardNegative)),
            "fma" => in_width!(x.width, fused(x, args[1], args[2])),
            "ldexp" => in_width!(x.width, scaled(x, args[1].bits)),
            "signext_from_bit" => {
                let width = args[1].bits as u32;
                let bits = if width == 0 { 0 } else { low(x.bits, width) };
                let negative = width > 0 && bits >> (width - 1) != 0;
                integer(if negative { bits - (1 << width) } else { bits })
            }
            "v_sad_u8" | "v_msad_u8" => {
                let differences = (0..4).map(|n| {
                    let [a, b] = [x, args[1]].map(|word| word.bits >> (8 * n) & 0xff);
                    if name == "v_msad_u8" && b == 0 { 0 } else { (a - b).abs() }
                });
                integer(args[2].bits + differences.sum::<i128>())
            }
            _ => conversion(name, x)
                .or_else(|| self.selection(name, &args))
                .ok_or(format!("function {name}"))?,
        })
    }

    /// v_min_f32 and the like.
    fn selection(&self, name: &str, args: &[Value]) -> Option<Value> {
        let (which, _) = name.strip_prefix("v_")?.split_once('_')?;
        let minimum = which.starts_with("min");
        if !minimum && !which.starts_with("max") {
            return None;
        }
        let ieee = self.names.get("IEEE").is_some_and(|x| x.bits != 0);
        let better = |a: Value, b: Value| {
            if !a.float {
                return if (a.bits < b.bits) == minimum { a } else { b };
            }
            let quiet = |x: Value| Value { bits: x.bits | 1 << (layout(x.width).1 - 1), ..x };
            match (is_signalling(a), is_signalling(b)) {
                (true, _) if ieee => quiet(a),
                (_, true) if ieee => quiet(b),
                _ if is_nan(a) => b,
                _ if is_nan(b) => a,
                _ => {
                    // As sign and magnitude, which orders the zeros, too.
                    let order = |x: Value| {
                        let magnitude = low(x.bits, x.width - 1);
                        if x.bits >> (x.width - 1) & 1 != 0 { -magnitude - 1 } else { magnitude }
                    };
                    if (order(a) < order(b)) == minimum { a } else { b }
                }
            }
        };
        args.iter().copied().reduce(better)
    }
}

/// f32_to_i32 and the like.
fn conversion(name: &str, x: Value) -> Option<Value> {
    let (from, to) = name.split_once("_to_")?;
    let (kind, width) = type_of(from).ok()?;
    if let "snorm" | "unorm" = to {
        let parts = if to == "snorm" { 32767 } else { 65535 };
        let wide = convert(x, 64);
        let product = arithmetic::<Double>("*", wide, float(f64::from(parts), 64)).ok()?;
        let least = if to == "snorm" { -32767 } else { 0 };
        return Some(to_integer::<Double>(product, NEAREST, least, parts.into()));
    }
    let (target, size) = type_of(to).ok()?;
    let (least, most) =
        if target == 'i' { (-(1i128 << (size - 1)), (1 << (size - 1)) - 1) } else { (0, (1 << size) - 1) };
    Some(match (kind, target) {
        ('f', 'f') => {
            let y = convert(typed(x, from).ok()?, size);
            if is_nan(y) { Value { bits: y.bits | 1 << (layout(size).1 - 1), ..y } } else { y }
        }
        ('f', _) => {
            let round = if size == 8 { NEAREST } else { Round::TowardZero };
            in_width!(width, to_integer(typed(x, from).ok()?, round, least, most))
        }
        (_, 'f') => in_width!(size, from_integer(typed(x, from).ok()?.bits, size)),
        _ => integer(typed(x, from).ok()?.bits.clamp(least, most)),
    })
}

/// The variable that an assignment to a part changes.
fn root(expr: &Expr) -> Result<&str> {
    match expr {
        Expr::Name(name) => Ok(name),
        Expr::Typed(inner, _) => root(inner),
        _ => Err(format!("{expr:?} has no name")),
    }
}
