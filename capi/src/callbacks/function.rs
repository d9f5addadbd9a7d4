//! The functions that profilers know: their numbers, and where their arguments stand.

use std::{mem::MaybeUninit, ptr, slice};

/// A function that profilers know.
#[derive(Debug)]
pub struct Function {
    /// Its number.
    pub(super) id: u32,
    name: &'static str,
    pub(crate) arguments: &'static [Argument],
}

/// An argument of such a function.
#[derive(Debug)]
pub struct Argument {
    /// Its name in the public header.
    pub(crate) name: &'static str,
    /// Where it stands in `hip_api_data_t`.
    pub(super) offset: u16,
    /// Its bytes.
    pub(super) size: u16,
}

mod generated {
    include!(concat!(env!("OUT_DIR"), "/callbacks.rs"));
}

use generated::FUNCTIONS;

/// The function that a symbol is: by its name, as C++ mangles it, or with the thread's own stream for null.
///
/// # Panics
/// When it is compiled, if an entry takes other arguments than the header says.
pub const fn function(symbol: &str, sizes: &[usize]) -> Option<&'static Function> {
    let name = plain(symbol.as_bytes());
    let (mut from, mut to) = (0, FUNCTIONS.len());
    while from < to {
        let middle = from.midpoint(to);
        match compare(FUNCTIONS[middle].name.as_bytes(), name) {
            0 => {
                let known = FUNCTIONS[middle].arguments;
                // The header has no argument of a few that have some.
                assert!(
                    known.is_empty() || known.len() == sizes.len(),
                    "an entry has another number of arguments than the header"
                );
                let mut at = 0;
                while at < known.len() {
                    assert!(
                        known[at].size as usize == sizes[at],
                        "an argument has another size than in the header"
                    );
                    at += 1;
                }
                return Some(&FUNCTIONS[middle]);
            }
            1.. => to = middle,
            _ => from = middle + 1,
        }
    }
    None
}

/// The name in a symbol.
const fn plain(symbol: &[u8]) -> &[u8] {
    const TWIN: &[u8] = b"_spt";
    if let [b'_', b'Z', tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = symbol {
        let bytes = (*tens - b'0') as usize * 10 + (*ones - b'0') as usize;
        return rest.split_at(if bytes < rest.len() { bytes } else { rest.len() }).0;
    }
    match symbol.split_last_chunk() {
        Some((name, end)) if compare(end as &[u8; TWIN.len()], TWIN) == 0 => name,
        _ => symbol,
    }
}

/// -1, 0 or 1, as the first comes before the other, is the same, or comes behind it.
const fn compare(one: &[u8], other: &[u8]) -> i8 {
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return if one[at] < other[at] { -1 } else { 1 };
        }
        at += 1;
    }
    (one.len() > at) as i8 - (other.len() > at) as i8
}

/// The bytes of an argument.
pub fn bytes<T: Copy>(argument: &T) -> &[MaybeUninit<u8>] {
    // SAFETY: all bytes of a value may be read as bytes that need not be initialised.
    unsafe { slice::from_raw_parts(ptr::from_ref(argument).cast(), size_of::<T>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_a_function_by_name_mangled_or_with_the_threads_own_stream() {
        let id = |symbol, sizes: &[usize]| function(symbol, sizes).map(|function| function.id);
        assert_eq!(id("hipMalloc", &[8, 8]), Some(108));
        assert_eq!(id("hipMemcpy_spt", &[8, 8, 8, 4]), Some(125));
        assert_eq!(id("_Z23hipDestroySurfaceObjectP13__hip_surface", &[8]), Some(207));
        assert_eq!(id("__hipPushCallConfiguration", &[12, 12, 8, 8]), Some(2));
        for other in ["hipMalloc2", "hipMallo", "_spt", "", "_Z99hip", "zzz"] {
            assert_eq!(id(other, &[]), None, "{other}");
        }
    }

    #[test]
    #[should_panic(expected = "another size")]
    fn an_entry_with_other_arguments_is_refused() {
        function("hipMalloc", &[8, 4]);
    }
}
