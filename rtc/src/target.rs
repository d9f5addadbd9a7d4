//! Architectures, and what device libraries must know of them.

use crate::Error;

/// An architecture as `--offload-arch` names it: `gfx90a`, `gfx942:xnack+`, `gfx11-generic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The whole name.
    pub name: String,
    /// The number that the device libraries know it by: `gfx90a` is 9010.
    isa: u32,
}

impl Target {
    /// Reads a name.
    ///
    /// # Errors
    /// [`Error::Option`] for what names no AMD GPU.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let isa = isa(name.split(':').next().unwrap_or_default()).ok_or_else(|| Error::Option {
            option: name.into(),
            why: "not the name of an AMD architecture, such as gfx90a",
        })?;
        Ok(Self { name: name.into(), isa })
    }

    /// Whether wavefronts have 64 lanes, unless an option says so or otherwise.
    pub fn is_wave64(&self, option: Option<bool>) -> bool {
        option.unwrap_or(self.isa < 10_000)
    }

    /// The constants that device libraries read, as LLVM's text, for a version of the code object and options of the
    /// compilation.
    ///
    /// Device libraries come with a file for each value, and the compiler chooses among them; older device libraries
    /// lack the values of newer architectures and code objects (AMD's device libraries, `doc/OCML.md`, "Controls").
    pub fn controls(&self, options: &Controls) -> String {
        let wave64 = self.is_wave64(options.wave64);
        let words = [("ISA_version", self.isa), ("ABI_version", options.code_object * 100)];
        let switches = [
            ("daz_opt", options.flush),
            ("finite_only_opt", options.finite_only),
            ("unsafe_math_opt", options.unsafe_math),
            ("correctly_rounded_sqrt32", !options.fast_sqrt),
            ("wavefrontsize64", wave64),
        ];
        let mut text = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
        let words = words.map(|(name, value)| (name, "i32", value));
        let switches = switches.map(|(name, value)| (name, "i8", u32::from(value)));
        for (name, kind, value) in words.into_iter().chain(switches) {
            text += &format!(
                "@__oclc_{name} = linkonce_odr protected local_unnamed_addr addrspace(4) constant {kind} {value}\n"
            );
        }
        text
    }
}

/// Options of a compilation that device libraries must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controls {
    /// Version of the code object.
    pub code_object: u32,
    /// Whether denormals are flushed.
    pub flush: bool,
    /// Whether there are neither infinities nor NaNs.
    pub finite_only: bool,
    /// Whether results may be less exact.
    pub unsafe_math: bool,
    /// Whether square roots may be off by more than rounding.
    pub fast_sqrt: bool,
    /// Whether wavefronts have 64 lanes, if an option says.
    pub wave64: Option<bool>,
}

/// The digits behind `gfx`: major version in decimal, minor and stepping in hexadecimal, one digit each; or
/// `MAJOR[-MINOR]-generic`.
fn isa(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("gfx")?;
    let (major, minor, stepping) = match digits.strip_suffix("-generic") {
        Some(parts) => {
            let (major, minor) = parts.split_once('-').unwrap_or((parts, "0"));
            (major, minor, "0")
        }
        None => {
            let at = digits.len().checked_sub(2).filter(|_| digits.is_ascii())?;
            (&digits[..at], &digits[at..=at], &digits[at + 1..])
        }
    };
    let is_number = !major.is_empty() && major.bytes().all(|digit| digit.is_ascii_digit());
    let major = major.parse().ok().filter(|major| is_number && (6..=99).contains(major))?;
    let digit = |text: &str| Some(text).filter(|text| text.len() == 1)?.chars().next()?.to_digit(16);
    Some(major_minor_stepping(major, digit(minor)?, digit(stepping)?))
}

fn major_minor_stepping(major: u32, minor: u32, stepping: u32) -> u32 {
    major * 1000 + minor * 100 + stepping
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_numbers() {
        for (name, number) in [
            ("gfx90a", 9010),
            ("gfx90a:sramecc+:xnack-", 9010),
            ("gfx942", 9402),
            ("gfx906", 9006),
            ("gfx1030", 10300),
            ("gfx1101", 11001),
            ("gfx9-4-generic", 9400),
            ("gfx11-generic", 11000),
        ] {
            assert_eq!(Target::parse(name).unwrap().isa, number, "{name}");
        }
        for name in
            ["", "gfx", "gfx9", "gfx+90", "sm_70", "gfx90", "gfx90g", "gfxgfx", "gfx9-é-generic", "gfxé"]
        {
            assert!(Target::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn wavefronts_of_older_architectures_are_wide() {
        let controls = |name: &str, wave64| {
            let options = Controls {
                code_object: 5,
                flush: false,
                finite_only: false,
                unsafe_math: false,
                fast_sqrt: false,
                wave64,
            };
            Target::parse(name).unwrap().controls(&options)
        };
        let has = |text: &str, value| {
            text.contains(&format!("@__oclc_wavefrontsize64 = linkonce_odr protected local_unnamed_addr addrspace(4) constant i8 {value}"))
        };
        assert!(has(&controls("gfx90a", None), 1) && has(&controls("gfx1100", None), 0));
        assert!(has(&controls("gfx1100", Some(true)), 1));
        assert!(controls("gfx942", None).contains(
            "@__oclc_ABI_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 500\n"
        ));
    }
}
