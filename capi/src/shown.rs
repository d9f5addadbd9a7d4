//! How arguments of calls are shown on the timeline.

use std::{ffi::c_void, mem::MaybeUninit};

use timeline::Details;

/// An argument of an entry.
pub struct Parameter {
    /// Its name in the entry.
    pub name: &'static str,
    /// How it is shown.
    pub show: Show,
}

/// How the bytes of an argument are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// A number.
    Number,
    /// A number that may be negative.
    Signed,
    /// A floating-point number of 32 bits.
    Float,
    /// An address, or a handle.
    Address,
    /// Three numbers of this many bytes.
    Three(usize),
    /// An enumerator, by its name in the public header.
    Name(&'static [(u32, &'static str)]),
    /// Not at all: a structure.
    Nothing,
}

/// A type of arguments. Its bytes are all initialised, unless it is not shown.
pub trait Shown {
    /// How its values are shown.
    const SHOW: Show;
}

/// Says how types are shown.
macro_rules! shown {
    ($($show:ident$(($of:literal))?: $($ty:ty),+;)+) => { $(
        shown! { @ $crate::shown::Show::$show$(($of))?, $($ty),+ }
    )+ };
    (@ $show:expr, $($ty:ty),+) => { $(
        impl $crate::shown::Shown for $ty {
            const SHOW: $crate::shown::Show = $show;
        }
    )+ };
}
pub(crate) use shown;

shown! {
    Number: bool, u8, u16, u32, u64, usize;
    Signed: i32, i64;
    Float: f32;
}

impl<T: ?Sized> Shown for *const T {
    const SHOW: Show = Show::Address;
}

impl<T: ?Sized> Shown for *mut T {
    const SHOW: Show = Show::Address;
}

/// A function, or null.
impl<F> Shown for Option<F> {
    const SHOW: Show = {
        assert!(size_of::<Option<F>>() == size_of::<*const c_void>());
        Show::Address
    };
}

impl Show {
    /// The details of a call with an argument of this name.
    pub(crate) fn add(self, details: Details, name: &str, argument: &[MaybeUninit<u8>]) -> Details {
        match self {
            Self::Number => details.number(name, number(argument)),
            Self::Signed => {
                // CAST: the sign is that of 32 or 64 bits.
                let number = number(argument);
                let signed = if argument.len() == 4 { i64::from(number as i32) } else { number as i64 };
                match u64::try_from(signed) {
                    Ok(number) => details.number(name, number),
                    Err(_) => details.text(name, signed.to_string()),
                }
            }
            // CAST: it has 32 bits.
            Self::Float => details.text(name, f32::from_bits(number(argument) as u32).to_string()),
            Self::Address => details.address(name, number(argument)),
            Self::Three(size) => {
                let parts: Vec<_> = argument.chunks(size).map(|part| number(part).to_string()).collect();
                details.text(name, parts.join(", "))
            }
            Self::Name(names) => {
                let number = number(argument);
                match names.iter().find(|(known, _)| u64::from(*known) == number) {
                    Some((_, enumerator)) => details.text(name, *enumerator),
                    None => details.number(name, number),
                }
            }
            Self::Nothing => details,
        }
    }
}

/// The number whose bytes these are, of an argument that is shown.
fn number(bytes: &[MaybeUninit<u8>]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| {
        // SAFETY: arguments that are shown have no byte that is not initialised (`Shown`).
        number << 8 | u64::from(unsafe { byte.assume_init() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        callbacks::bytes,
        types::{dim3, hipExtent, hipMemcpyKind, hipStream_t},
    };

    fn shown<T: Shown + Copy>(argument: T) -> Details {
        T::SHOW.add(Details::default(), "a", bytes(&argument))
    }

    #[test]
    fn arguments_are_shown_as_their_types_say() {
        let none = Details::default;
        assert_eq!(shown(u64::MAX), none().number("a", u64::MAX));
        assert_eq!(shown(7_u8), none().number("a", 7));
        assert_eq!(shown(-1_i32), none().text("a", "-1"));
        assert_eq!(shown(0.5_f32), none().text("a", "0.5"));
        assert_eq!(shown(hipStream_t(2)), none().address("a", 2));
        assert_eq!(shown(std::ptr::without_provenance::<u8>(1 << 40)), none().address("a", 1 << 40));
        assert_eq!(shown(None::<extern "C" fn()>), none().address("a", 0));
        assert_eq!(shown(hipMemcpyKind(1)), none().text("a", "hipMemcpyHostToDevice"));
        assert_eq!(shown(hipMemcpyKind(77)), none().number("a", 77));
        assert_eq!(shown(dim3 { x: 64, y: 2, z: 1 }), none().text("a", "64, 2, 1"));
        let extent = hipExtent { width: 1 << 33, height: 2, depth: 3 };
        assert_eq!(shown(extent), none().text("a", "8589934592, 2, 3"));
    }
}
