//! The `printf` of kernels: C's conversion specifications (C17, 7.21.6.1), applied to what a message holds.
//!
//! Nothing here trusts the device: a specification is parsed before it is obeyed, text is taken from inside of the
//! message only, and how much a conversion may print is bounded.

mod float;
mod spec;

use spec::{Conversion, Count, Length, Spec};

/// Bytes that one conversion may print: `%2000000000d` is a mistake of the kernel's, not a wish.
const WIDEST: usize = 1 << 20;

/// Why a message cannot be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    /// The format asks for more arguments than the message has.
    #[error("the message ends before argument {argument}")]
    NoArgument {
        /// Its number, from 1.
        argument: usize,
    },
    /// `%n` would have the host write where the device says.
    #[error("%n is refused")]
    WriteBack,
    /// A width or precision beyond what is sensible.
    #[error("a width or precision of {0} is too large")]
    TooWide(usize),
    /// Text without its end.
    #[error("a string does not end inside the message")]
    Unterminated,
}

/// The arguments of a message: words of 8 bytes, and text with a NUL behind it, padded to whole words.
pub(crate) struct Arguments<'m> {
    rest: &'m [u8],
    taken: usize,
}

impl<'m> Arguments<'m> {
    /// Everything in `bytes` is arguments.
    pub(crate) fn new(bytes: &'m [u8]) -> Self {
        Self { rest: bytes, taken: 0 }
    }

    fn word(&mut self) -> Result<u64, FormatError> {
        self.taken += 1;
        let missing = FormatError::NoArgument { argument: self.taken };
        let (word, rest) = self.rest.split_first_chunk().ok_or(missing)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }

    /// The next text, without its NUL. A null pointer arrives as an empty text.
    pub(crate) fn text(&mut self) -> Result<&'m [u8], FormatError> {
        self.taken += 1;
        if self.rest.is_empty() {
            return Err(FormatError::NoArgument { argument: self.taken });
        }
        let end = self.rest.iter().position(|&byte| byte == 0).ok_or(FormatError::Unterminated)?;
        let text = &self.rest[..end];
        self.rest = self.rest.get((end + 1).next_multiple_of(8)..).unwrap_or_default();
        Ok(text)
    }
}

/// What `printf(format, arguments...)` prints.
///
/// A `%` that begins no conversion is printed as it stands.
///
/// # Errors
/// [`FormatError`]; nothing of the message should be printed then.
pub(crate) fn print(format: &[u8], arguments: &mut Arguments<'_>) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::with_capacity(format.len() + 32);
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match Spec::parse(rest) {
            Some((spec, length)) => {
                convert(&mut out, spec, arguments)?;
                rest = &rest[length..];
            }
            None => {
                out.push(b'%');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Width and precision of a conversion, with those that are arguments filled in.
struct Field {
    spec: Spec,
    left: bool,
    width: usize,
    precision: Option<usize>,
}

impl Field {
    fn new(spec: Spec, arguments: &mut Arguments<'_>) -> Result<Self, FormatError> {
        let mut left = spec.left;
        // CAST: the low half of the word is C's int.
        let width = match spec.width {
            Count::None => 0,
            Count::Fixed(n) => n,
            Count::Argument => {
                let n = arguments.word()? as i32;
                left |= n < 0;
                n.unsigned_abs() as usize
            }
        };
        let precision = match spec.precision {
            Count::None => None,
            Count::Fixed(n) => Some(n),
            // A negative precision is none.
            Count::Argument => usize::try_from(arguments.word()? as i32).ok(),
        };
        for size in [Some(width), precision].into_iter().flatten() {
            if size > WIDEST {
                return Err(FormatError::TooWide(size));
            }
        }
        Ok(Self { spec, left, width, precision })
    }

    /// Prints `prefix` (sign or base) and `body`, filled up to the width; `zeros` allows to fill with zeros.
    fn put(&self, out: &mut Vec<u8>, prefix: &str, body: &[u8], zeros: bool) {
        let fill = self.width.saturating_sub(prefix.len() + body.len());
        let zeros = zeros && self.spec.zero && !self.left;
        let (before, between) = match (self.left, zeros) {
            (true, _) => (0, 0),
            (false, true) => (0, fill),
            (false, false) => (fill, 0),
        };
        let end = out.len() + self.width.max(prefix.len() + body.len());
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(prefix.as_bytes());
        out.resize(out.len() + between, b'0');
        out.extend_from_slice(body);
        out.resize(end, b' ');
    }

    /// The sign of a signed conversion.
    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.spec.plus, self.spec.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    /// Prints a whole number whose digits are given.
    fn integer(&self, out: &mut Vec<u8>, prefix: &str, digits: &str) {
        let least = self.precision.unwrap_or(1);
        // Zero with a precision of zero has no digits.
        let digits = if digits == "0" { "" } else { digits };
        let mut body = vec![b'0'; least.saturating_sub(digits.len())];
        body.extend_from_slice(digits.as_bytes());
        self.put(out, prefix, &body, self.precision.is_none());
    }
}

fn convert(out: &mut Vec<u8>, spec: Spec, arguments: &mut Arguments<'_>) -> Result<(), FormatError> {
    if spec.conversion == Conversion::Percent {
        out.push(b'%');
        return Ok(());
    }
    let mut field = Field::new(spec, arguments)?;
    match spec.conversion {
        Conversion::Percent => {}
        Conversion::Written => return Err(FormatError::WriteBack),
        Conversion::Signed => {
            let value = spec.length.signed(arguments.word()?);
            field.integer(out, field.sign(value < 0), &value.unsigned_abs().to_string());
        }
        Conversion::Unsigned => {
            let value = spec.length.unsigned(arguments.word()?);
            field.integer(out, "", &value.to_string());
        }
        Conversion::Octal => {
            let digits = format!("{:o}", spec.length.unsigned(arguments.word()?));
            // The alternative form has a leading zero, by a higher precision where there is none.
            if spec.alternative && field.precision.is_none_or(|n| n <= digits.len()) && digits != "0" {
                field.integer(out, "", &format!("0{digits}"));
            } else if spec.alternative && digits == "0" {
                field.precision = Some(field.precision.unwrap_or(1).max(1));
                field.spec.zero &= spec.precision == Count::None;
                let body = vec![b'0'; field.precision.unwrap_or(1)];
                field.put(out, "", &body, true);
            } else {
                field.integer(out, "", &digits);
            }
        }
        Conversion::Hex { upper } => {
            let value = spec.length.unsigned(arguments.word()?);
            let digits = if upper { format!("{value:X}") } else { format!("{value:x}") };
            let prefix = match (spec.alternative && value != 0, upper) {
                (false, _) => "",
                (true, false) => "0x",
                (true, true) => "0X",
            };
            field.integer(out, prefix, &digits);
        }
        Conversion::Pointer => match arguments.word()? {
            // As the host's C library prints it.
            0 => field.put(out, "", b"(nil)", false),
            address => {
                let prefix = format!("{}0x", field.sign(false));
                field.integer(out, &prefix, &format!("{address:x}"));
            }
        },
        Conversion::Character => {
            // CAST: C converts the argument to unsigned char.
            let byte = arguments.word()? as u8;
            field.put(out, "", &[byte], false);
        }
        Conversion::Text => {
            let text = arguments.text()?;
            let end = field.precision.map_or(text.len(), |n| n.min(text.len()));
            field.put(out, "", &text[..end], false);
        }
        Conversion::Float { style, upper } => {
            let value = f64::from_bits(arguments.word()?);
            let sign = field.sign(value.is_sign_negative());
            let number = float::digits(value.abs(), style, field.precision, spec.alternative);
            let mut body = number.text;
            if upper {
                body.make_ascii_uppercase();
            }
            let prefix = match (number.hex, upper) {
                (false, _) => sign.to_owned(),
                (true, false) => format!("{sign}0x"),
                (true, true) => format!("{sign}0X"),
            };
            field.put(out, &prefix, body.as_bytes(), value.is_finite());
        }
    }
    Ok(())
}

impl Length {
    /// The word as the signed type that the length modifier names.
    // CAST: C takes the low bytes.
    fn signed(self, word: u64) -> i64 {
        match self {
            Self::Char => i64::from(word as i8),
            Self::Short => i64::from(word as i16),
            Self::Int => i64::from(word as i32),
            Self::Long => word as i64,
        }
    }

    /// The word as the unsigned type that the length modifier names.
    // CAST: C takes the low bytes.
    fn unsigned(self, word: u64) -> u64 {
        match self {
            Self::Char => u64::from(word as u8),
            Self::Short => u64::from(word as u16),
            Self::Int => u64::from(word as u32),
            Self::Long => word,
        }
    }
}

#[cfg(test)]
mod tests;
