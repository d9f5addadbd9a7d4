//! Comparisons: a predicate by name, of any type.

use std::cmp::Ordering;

use rustc_apfloat::ieee::{Double, Half, Single};

use super::{Ctx, Model, Out, Res, ieee::Format, model};

fn holds(predicate: &str, order: Option<Ordering>) -> bool {
    use Ordering::{Equal, Greater, Less};
    match predicate {
        "f" => false,
        "lt" => order == Some(Less),
        "eq" => order == Some(Equal),
        "le" => matches!(order, Some(Less | Equal)),
        "gt" => order == Some(Greater),
        "lg" => matches!(order, Some(Less | Greater)),
        "ge" => matches!(order, Some(Greater | Equal)),
        "o" => order.is_some(),
        "u" => order.is_none(),
        "nge" => !holds("ge", order),
        "nlg" => !holds("lg", order),
        "ngt" => !holds("gt", order),
        "nle" => !holds("le", order),
        "neq" | "ne" => !holds("eq", order),
        "nlt" => !holds("lt", order),
        _ => true,
    }
}

fn floats<F: Format>(c: &Ctx, v: [u64; 3]) -> Option<Ordering> {
    F::source(&c.modes, v[0]).partial_cmp(&F::source(&c.modes, v[1]))
}

/// The bit of the class mask that describes `x`.
fn class<F: Format>(x: F) -> u32 {
    let kind = if x.is_nan() {
        return u32::from(!x.is_signaling());
    } else if x.is_infinite() {
        0
    } else if x.is_zero() {
        3
    } else if x.is_denormal() {
        2
    } else {
        1
    };
    if x.is_negative() { 2 + kind } else { 9 - kind }
}

pub(super) fn models() -> Vec<Model> {
    type Order = fn(&Ctx, [u64; 3]) -> Option<Ordering>;
    let types: [(&str, Order); 9] = [
        ("f16", floats::<Half>),
        ("f32", floats::<Single>),
        ("f64", floats::<Double>),
        ("i16", |_, [a, b, _]| Some((a as i16).cmp(&(b as i16)))),
        ("u16", |_, [a, b, _]| Some((a as u16).cmp(&(b as u16)))),
        ("i32", |_, [a, b, _]| Some((a as i32).cmp(&(b as i32)))),
        ("u32", |_, [a, b, _]| Some((a as u32).cmp(&(b as u32)))),
        ("i64", |_, [a, b, _]| Some((a as i64).cmp(&(b as i64)))),
        ("u64", |_, [a, b, _]| Some(a.cmp(&b))),
    ];
    let of_floats =
        ["f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"];
    let of_integers = ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"];
    let mut list = Vec::new();
    for prefix in ["v_cmp", "v_cmpx"] {
        for (ty, order) in types {
            let predicates: &'static [&'static str] = if ty.starts_with('f') {
                // Leaked once a test: names of predicates live as long as the models.
                Box::leak(Box::new(of_floats))
            } else {
                Box::leak(Box::new(of_integers))
            };
            for predicate in predicates {
                list.push(model(format!("{prefix}_{predicate}_{ty}"), Res::Mask, move |c, v| {
                    Out::bit(holds(predicate, order(c, v)))
                }));
            }
        }
        // Denormals keep their class whatever MODE says.
        let has = |mask: u64, class: u32| Out::bit(mask >> class & 1 != 0);
        list.push(model(format!("{prefix}_class_f16"), Res::Mask, move |_, v| {
            has(v[1], class(Half::of(v[0])))
        }));
        list.push(model(format!("{prefix}_class_f32"), Res::Mask, move |_, v| {
            has(v[1], class(Single::of(v[0])))
        }));
        list.push(model(format!("{prefix}_class_f64"), Res::Mask, move |_, v| {
            has(v[1], class(Double::of(v[0])))
        }));
    }
    list
}
