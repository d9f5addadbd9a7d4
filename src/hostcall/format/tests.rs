//! The oracle is the C library's `snprintf`, with the same format and arguments.

use std::ffi::CString;

use proptest::prelude::*;

use super::*;

fn ours(format: &str, words: &[u64]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let text = print(format.as_bytes(), &mut Arguments::new(&bytes)).unwrap();
    String::from_utf8(text).unwrap()
}

/// What C prints; `$value` is as C's variable arguments take it.
macro_rules! theirs {
    ($format:expr $(, $value:expr)*) => {{
        let format = CString::new($format).unwrap();
        let mut text = vec![0u8; 1 << 17];
        // SAFETY: the buffer has the length given, and each test passes arguments that fit its format.
        let n = unsafe { libc::snprintf(text.as_mut_ptr().cast(), text.len(), format.as_ptr() $(, $value)*) };
        text.truncate(usize::try_from(n).unwrap());
        String::from_utf8(text).unwrap()
    }};
}

fn flags() -> impl Strategy<Value = String> {
    proptest::string::string_regex("[-+ #0]{0,3}").unwrap()
}

fn width() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), (1u32..40).prop_map(|n| n.to_string())]
}

fn precision() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(".".into()), (0u32..40).prop_map(|n| format!(".{n}"))]
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-1_000_000i32..1_000_000).prop_map(|n| f64::from(n) / 1024.0),
        (-1_000_000i32..1_000_000).prop_map(|n| f64::from(n) / 1000.0),
        prop::sample::select(vec![
            0.0,
            -0.0,
            0.5,
            1.5,
            2.5,
            0.125,
            9.5,
            9.995,
            99999.5,
            999999.5,
            1e-5,
            1e-4,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn floats_are_printed_as_c_prints_them(
        flags in flags(), width in width(), precision in precision(), value in double(),
        letter in prop::sample::select(vec!["f", "F", "e", "E", "g", "G", "a", "A"]),
    ) {
        // glibc 2.36 loses the zeros of %#g where rounding carries into another exponent.
        let flags = if letter.eq_ignore_ascii_case("g") { flags.replace('#', "") } else { flags };
        let format = format!("<%{flags}{width}{precision}{letter}>");
        prop_assert_eq!(ours(&format, &[value.to_bits()]), theirs!(format.as_str(), value), "{} {:?}", format, value);
    }

    #[test]
    fn whole_numbers_are_printed_as_c_prints_them(
        flags in flags(), width in width(), precision in precision(),
        value in prop_oneof![any::<u64>(), 0u64..300, Just(0), (0u64..64).prop_map(|n| 1 << n)],
        letter in prop::sample::select(vec!["d", "i", "u", "o", "x", "X"]),
        length in prop::sample::select(vec!["hh", "h", "", "l", "ll", "j", "z", "t"]),
    ) {
        let format = format!("<%{flags}{width}{precision}{length}{letter}>");
        // C's variable arguments of every whole type stand in a register each, whose upper part is not looked at.
        prop_assert_eq!(ours(&format, &[value]), theirs!(format.as_str(), value), "{} {:#x}", format, value);
    }

    #[test]
    fn pointers_are_printed_as_c_prints_them(
        flags in proptest::string::string_regex("[-]{0,1}").unwrap(), width in width(),
        value in prop_oneof![any::<u64>(), Just(0)],
    ) {
        let format = format!("<%{flags}{width}p>");
        prop_assert_eq!(ours(&format, &[value]), theirs!(format.as_str(), value));
    }

    #[test]
    fn text_is_printed_as_c_prints_it(
        flags in proptest::string::string_regex("[-]{0,1}").unwrap(), width in width(), precision in precision(),
        text in "[ -~]{0,30}", number in any::<i32>(),
    ) {
        let format = format!("<%{flags}{width}{precision}s|%d>");
        let c = CString::new(text.as_str()).unwrap();
        let mut message = c.as_bytes_with_nul().to_vec();
        message.resize(message.len().next_multiple_of(8), 0xee);
        message.extend((number as u32 as u64).to_le_bytes());
        let got = print(format.as_bytes(), &mut Arguments::new(&message)).unwrap();
        prop_assert_eq!(String::from_utf8(got).unwrap(), theirs!(format.as_str(), c.as_ptr(), number));
    }

    #[test]
    fn widths_and_precisions_can_be_arguments(width in -40i32..40, precision in -5i32..20, value in double()) {
        let words = [width as u32 as u64, precision as u32 as u64, value.to_bits()];
        prop_assert_eq!(ours("<%*.*g>", &words), theirs!("<%*.*g>", width, precision, value));
        prop_assert_eq!(ours("<%*.*e>", &words), theirs!("<%*.*e>", width, precision, value));
    }

    #[test]
    fn no_format_and_no_message_panic(format in any::<Vec<u8>>(), message in any::<Vec<u8>>()) {
        let _ = print(&format, &mut Arguments::new(&message));
    }

    #[test]
    fn no_likely_format_panics(format in "(%[-+ #0]{0,2}[0-9*]{0,3}(\\.[0-9*]{0,2})?(hh|ll|[hljztL])?[a-zA-Z%]?){0,4}",
                               message in any::<Vec<u8>>()) {
        let _ = print(format.as_bytes(), &mut Arguments::new(&message));
    }
}

/// The standard library's own precision ends at 65535; 2^-1074 has the most digits of all doubles.
#[test]
fn precisions_beyond_every_digit_give_zeros() {
    for value in [f64::from_bits(1), 1.0 / 3.0, f64::MAX, 0.0, 12.5] {
        for letter in ["f", "e", "g", "#g", "a"] {
            for precision in [766, 767, 1073, 1074, 1075, 65_535, 65_536, 100_000] {
                let (format, letter) = match letter.strip_prefix('#') {
                    Some(letter) => (format!("%#.{precision}{letter}"), letter),
                    None => (format!("%.{precision}{letter}"), letter),
                };
                let same = ours(&format, &[value.to_bits()]) == theirs!(format.as_str(), value);
                assert!(same, "{format} of {value:e} ({letter})");
            }
        }
    }
}

/// C17, 7.21.6.1: with the flag, `g` keeps its zeros and its point.
#[test]
fn the_alternative_form_of_g_keeps_its_zeros() {
    for (value, format, want) in [
        (1.0, "%#g", "1.00000"),
        (999999.5, "%#g", "1.00000e+06"),
        (0.0001, "%#g", "0.000100000"),
        (123456.0, "%#.3g", "1.23e+05"),
        (7.0, "%#.1g", "7."),
        (0.0, "%#G", "0.00000"),
        (5e10, "%#.1G", "5.E+10"),
    ] {
        assert_eq!(ours(format, &[f64::to_bits(value)]), want, "{format} {value}");
    }
}

#[test]
fn characters_and_percent_signs() {
    assert_eq!(ours("%c%c%5c|%-3c|100%%", &[0x41, 0x142, 0x43, 0x44]), "AB    C|D  |100%");
}

#[test]
fn what_is_no_conversion_is_printed_as_it_stands() {
    assert_eq!(ours("50%! of %y %", &[]), "50%! of %y %");
}

#[test]
fn nothing_is_written_back() {
    let error = print(b"a%n", &mut Arguments::new(&[0; 8])).unwrap_err();
    assert_eq!(error, FormatError::WriteBack);
}

#[test]
fn a_message_without_the_arguments_is_refused() {
    let refused =
        |format: &str, message: &[u8]| print(format.as_bytes(), &mut Arguments::new(message)).unwrap_err();
    assert_eq!(refused("%d %d", &[1; 8]), FormatError::NoArgument { argument: 2 });
    assert_eq!(refused("%s", &[b'a'; 8]), FormatError::Unterminated);
    assert_eq!(refused("%s", &[]), FormatError::NoArgument { argument: 1 });
    assert_eq!(refused("%2000000000d", &[1; 8]), FormatError::TooWide(2_000_000_000));
    assert_eq!(refused("%.*f", &[0x7f; 16]), FormatError::TooWide(0x7f7f_7f7f));
}
