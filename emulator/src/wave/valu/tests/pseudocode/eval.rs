//! Runs pseudocode for one lane, to nearest even and with denormals.

use std::collections::{HashMap, HashSet};

use rustc_apfloat::{
    Round,
    ieee::{Double, Half, Single},
};

use super::{
    number::{
        Result, arithmetic, boolean, conversion, convert, exponent, float, fraction, from_integer, fused,
        in_width, integer, is_nan, is_signalling, layout, low, mantissa, rounded, scaled, type_of, typed,
    },
    syntax::{Expr, Statement, Value},
};

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
            // Exceptions that nothing raises.
            Expr::Typed(inner, _) if matches!(&**inner, Expr::Name(name) if name == "TRAPSTS") => {}
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
                "MAX_FLOAT_F32" => float(f32::MAX.into(), 32),
                name => *self.names.get(name).ok_or_else(|| format!("unknown {name}"))?,
            },
            Expr::Typed(inner, ty) => {
                let width = || type_of(ty).map(|(_, width)| width);
                match &**inner {
                    Expr::Name(name) if name == "NAN" => float(f64::NAN, width()?),
                    Expr::Name(name) if name == "INF" => float(f64::INFINITY, width()?),
                    Expr::Name(name) if name == "WAVE_MODE" || name == "INST" => {
                        *self.names.get(ty).unwrap_or(&integer(0))
                    }
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
            Expr::Part(inner, lower, width) => {
                let (x, lower) = (self.eval(inner)?.bits, self.eval(lower)?.bits);
                let width = self.eval(width)?.bits as u32;
                Value { bits: low(x >> lower, width), width, float: false }
            }
            Expr::Index(inner, n) => {
                let n = self.eval(n)?.bits;
                match &**inner {
                    Expr::Name(name) if self.arrays.contains(name.as_str()) => {
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
            "+" => wide(x.wrapping_add(y)),
            "-" => wide(x.wrapping_sub(y)),
            "*" => wide(x.wrapping_mul(y)),
            "&" => wide(x & y),
            "|" => wide(x | y),
            "^" => wide(x ^ y),
            "<<" => wide(x.checked_shl(y as u32).unwrap_or(0)),
            ">>" => wide(x >> y.clamp(0, 127)),
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
            // A value with a sign has it already.
            "signext" => x,
            "isNAN" => boolean(is_nan(x)),
            "isSignalNAN" => boolean(is_signalling(x)),
            "isQuietNAN" => boolean(is_nan(x) && !is_signalling(x)),
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
            "v_cvt_i16_f32" => conversion("f32_to_i16", x).ok_or("a conversion")?,
            "v_cvt_u16_f32" => conversion("f32_to_u16", x).ok_or("a conversion")?,
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
                // Of IEEE 754-2019.
                _ if which.contains("imum") && is_nan(a) => quiet(a),
                _ if which.contains("imum") && is_nan(b) => quiet(b),
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

/// The variable that an assignment to a part changes.
fn root(expr: &Expr) -> Result<&str> {
    match expr {
        Expr::Name(name) => Ok(name),
        Expr::Typed(inner, _) => root(inner),
        _ => Err(format!("{expr:?} has no name")),
    }
}
