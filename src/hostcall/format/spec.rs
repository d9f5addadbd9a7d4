//! Conversion specifications, taken apart.

/// How a float is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `%f`
    Fixed,
    /// `%e`
    Exponent,
    /// `%g`
    Shorter,
    /// `%a`
    Hex,
}

/// What a specification prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// `%d` and `%i`
    Signed,
    /// `%u`
    Unsigned,
    /// `%o`
    Octal,
    /// `%x` and `%X`
    Hex { upper: bool },
    /// `%p`
    Pointer,
    /// `%c`
    Character,
    /// `%s`
    Text,
    /// `%f`, `%e`, `%g`, `%a` and their capitals
    Float { style: Style, upper: bool },
    /// `%n`
    Written,
    /// `%%`
    Percent,
}

/// The type that a length modifier makes of a whole number; those of 64 bits are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// `hh`
    Char,
    /// `h`
    Short,
    /// None.
    Int,
    /// `l`, `ll`, `j`, `z`, `t`, `L`
    Long,
}

/// A width or a precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Not given.
    None,
    /// A number.
    Fixed(usize),
    /// `*`
    Argument,
}

/// A conversion specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    /// `-`
    pub(super) left: bool,
    /// `+`
    pub(super) plus: bool,
    /// A space.
    pub(super) space: bool,
    /// `#`
    pub(super) alternative: bool,
    /// `0`
    pub(super) zero: bool,
    pub(super) width: Count,
    pub(super) precision: Count,
    pub(super) length: Length,
    pub(super) conversion: Conversion,
}

impl Spec {
    /// The specification that `text` begins with, and how many bytes it has; `None` if it is none.
    pub(super) fn parse(text: &[u8]) -> Option<(Self, usize)> {
        let mut rest = text.strip_prefix(b"%")?;
        let (mut left, mut plus, mut space, mut alternative, mut zero) = (false, false, false, false, false);
        while let Some((&byte, behind)) = rest.split_first() {
            match byte {
                b'-' => left = true,
                b'+' => plus = true,
                b' ' => space = true,
                b'#' => alternative = true,
                b'0' => zero = true,
                // Groups of digits, of which the C locale has none.
                b'\'' => {}
                _ => break,
            }
            rest = behind;
        }
        let width = count(&mut rest).unwrap_or(Count::None);
        let precision = match rest.strip_prefix(b".") {
            Some(behind) => {
                rest = behind;
                count(&mut rest).unwrap_or(Count::Fixed(0))
            }
            None => Count::None,
        };
        let length = length(&mut rest);
        let (&letter, rest) = rest.split_first()?;
        let float = |style, upper| Conversion::Float { style, upper };
        let conversion = match letter {
            b'd' | b'i' => Conversion::Signed,
            b'u' => Conversion::Unsigned,
            b'o' => Conversion::Octal,
            b'x' => Conversion::Hex { upper: false },
            b'X' => Conversion::Hex { upper: true },
            b'p' => Conversion::Pointer,
            b'c' => Conversion::Character,
            b's' => Conversion::Text,
            b'f' => float(Style::Fixed, false),
            b'F' => float(Style::Fixed, true),
            b'e' => float(Style::Exponent, false),
            b'E' => float(Style::Exponent, true),
            b'g' => float(Style::Shorter, false),
            b'G' => float(Style::Shorter, true),
            b'a' => float(Style::Hex, false),
            b'A' => float(Style::Hex, true),
            b'n' => Conversion::Written,
            b'%' => Conversion::Percent,
            _ => return None,
        };
        let spec = Self { left, plus, space, alternative, zero, width, precision, length, conversion };
        Some((spec, text.len() - rest.len()))
    }
}

/// A number or `*`, if one stands here.
fn count(rest: &mut &[u8]) -> Option<Count> {
    if let Some(behind) = rest.strip_prefix(b"*") {
        *rest = behind;
        return Some(Count::Argument);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, behind) = rest.split_at(digits);
    *rest = behind;
    let append = |n: usize, digit: &u8| n.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
    (digits > 0).then(|| Count::Fixed(number.iter().fold(0, append)))
}

fn length(rest: &mut &[u8]) -> Length {
    let modifiers: [(&[u8], Length); 9] = [
        (b"hh", Length::Char),
        (b"h", Length::Short),
        (b"ll", Length::Long),
        (b"l", Length::Long),
        (b"j", Length::Long),
        (b"z", Length::Long),
        (b"t", Length::Long),
        (b"L", Length::Long),
        (b"q", Length::Long),
    ];
    for (text, length) in modifiers {
        if let Some(behind) = rest.strip_prefix(text) {
            *rest = behind;
            return length;
        }
    }
    Length::Int
}
