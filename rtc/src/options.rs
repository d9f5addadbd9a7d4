//! Options of a compilation: those that this crate acts on, and those that go to clang as they are.

use crate::{
    Error,
    target::{Controls, Target},
};

/// Options whose value may be the next argument.
const SEPARATE: [&str; 11] = [
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "-Xclang",
    "-mllvm",
];
/// Options of [`SEPARATE`] whose value is a path.
const PATHS: [&str; 7] = ["-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot"];
/// Options that name an architecture.
const ARCHITECTURE: [&str; 4] = ["--offload-arch", "--gpu-architecture", "-arch", "--cuda-gpu-arch"];
/// Options of older compilers, and those that leave out what this crate brings itself.
const IGNORED: [&str; 9] = [
    "-nocudainc",
    "-nocudalib",
    "-nogpuinc",
    "-nogpulib",
    "-flegacy-pass-manager",
    "-fno-legacy-pass-manager",
    "-flegacy-pass-manager=1",
    "-fexperimental-new-pass-manager",
    "-fno-experimental-new-pass-manager",
];
/// Options, or what they begin with, that choose what the compiler makes, of what, and where.
const REFUSED: [&str; 20] = [
    "-o",
    "-c",
    "-S",
    "-E",
    "-x",
    "-M",
    "-###",
    "-fsyntax-only",
    "-emit-",
    "-save-temps",
    "--save-temps",
    "-help",
    "--help",
    "-version",
    "--version",
    "-print-",
    "--print-",
    "--target",
    "-target",
    "-cc1",
];
/// Options that flush denormals, without `-f` or `-fno-`: the second is an older name of the first.
const FLUSH: [&str; 2] = ["gpu-flush-denormals-to-zero", "cuda-flush-denormals-to-zero"];
/// Options that begin as one of [`REFUSED`] and are something else.
const FALSE_FRIENDS: [&str; 1] = ["-offload"];

/// Options that were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The architecture, if one is named.
    pub target: Option<Target>,
    /// `-fgpu-rdc`: bitcode, to be linked, instead of a code object.
    pub is_relocatable: bool,
    /// What goes to clang.
    pub arguments: Vec<String>,
    /// Whether an argument is a path, which may be relative to the current folder.
    pub has_paths: bool,
}

impl Options {
    /// Reads options in the caller's order.
    ///
    /// # Errors
    /// [`Error::Option`] for an architecture that is none, an option without its value, and what would make something
    /// else than a code object or bitcode.
    pub fn parse(options: &[impl AsRef<str>]) -> Result<Self, Error> {
        let mut read = Self { target: None, is_relocatable: false, arguments: Vec::new(), has_paths: false };
        let mut words = options.iter().map(|option| option.as_ref().trim()).filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            read.take(word, &mut words)?;
        }
        Ok(read)
    }

    fn take<'o>(&mut self, word: &'o str, rest: &mut impl Iterator<Item = &'o str>) -> Result<(), Error> {
        let refuse = |why| Err(Error::Option { option: word.into(), why });
        let architecture = ARCHITECTURE.iter().find_map(|name| word.strip_prefix(name));
        if let Some(value) = architecture {
            let value = match value.strip_prefix('=') {
                Some(value) => value,
                None if value.is_empty() => rest.next().unwrap_or_default(),
                None => return refuse("unknown"),
            };
            self.target = Some(Target::parse(value)?);
            return Ok(());
        }
        // "-I folder" in one string, as a command line that was cut at its options has it.
        let (name, value) = word.split_once(char::is_whitespace).unwrap_or((word, ""));
        if SEPARATE.contains(&name) {
            let value = match value.trim_start() {
                "" => rest.next(),
                value => Some(value),
            };
            let Some(value) = value else { return refuse("its value is missing") };
            self.arguments.extend([name.into(), value.into()]);
            self.has_paths |= PATHS.contains(&name);
            return Ok(());
        }
        match word {
            "-fgpu-rdc" => self.is_relocatable = true,
            "-fno-gpu-rdc" => self.is_relocatable = false,
            _ if IGNORED.contains(&word) => {}
            _ if !word.starts_with('-') || word == "-" => return refuse("not an option"),
            _ if is_refused(word) => {
                return refuse("the result of a compilation is a code object or bitcode");
            }
            _ => {
                self.has_paths |= PATHS.iter().any(|name| word.starts_with(name));
                self.arguments.push(word.into());
            }
        }
        Ok(())
    }

    /// Whether an option is given that begins so.
    pub fn has(&self, prefix: &str) -> bool {
        self.arguments.iter().any(|argument| argument.starts_with(prefix))
    }

    /// What device libraries must know; `code_object` is the version that the compiler makes unless told otherwise.
    pub fn controls(&self, code_object: u32) -> Controls {
        let given = |names: &[&str]| self.arguments.iter().any(|word| names.contains(&word.as_str()));
        // The last one of a pair counts.
        let last = |on: &str, off: &str| {
            let words = self.arguments.iter().rev();
            words.map(String::as_str).find(|word| [on, off].contains(word)).map(|word| word == on)
        };
        let version =
            self.arguments.iter().rev().find_map(|word| word.strip_prefix("-mcode-object-version="));
        Controls {
            code_object: version.and_then(|version| version.parse().ok()).unwrap_or(code_object),
            flush: FLUSH.iter().any(|name| last(&format!("-f{name}"), &format!("-fno-{name}")) == Some(true)),
            finite_only: given(&["-ffast-math", "-ffinite-math-only", "-Ofast"]),
            unsafe_math: given(&["-ffast-math", "-funsafe-math-optimizations", "-Ofast"]),
            fast_sqrt: given(&["-fno-hip-fp32-correctly-rounded-divide-sqrt"]),
            wave64: last("-mwavefrontsize64", "-mno-wavefrontsize64"),
        }
    }
}

fn is_refused(word: &str) -> bool {
    let begins = |names: &[&str]| names.iter().any(|name| word.starts_with(name));
    let exact = |names: &[&str]| names.contains(&word);
    if exact(&["-c", "-S", "-E", "-o", "-x", "-M"]) {
        return true;
    }
    // One letter with its value attached: `-ofile`, `-xhip`, `-MF`.
    let attached = ["-o", "-x", "-M"].iter().any(|name| word.starts_with(name)) && !begins(&FALSE_FRIENDS);
    attached || begins(&REFUSED[6..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arguments(options: &[&str]) -> Vec<String> {
        Options::parse(options).unwrap().arguments
    }

    #[test]
    fn an_architecture_is_named_in_several_ways() {
        for options in [
            &["--offload-arch=gfx90a"][..],
            &["--gpu-architecture=gfx90a"],
            &["-arch=gfx90a"],
            &["-arch", "gfx90a"],
            &["--offload-arch=gfx942", "--offload-arch=gfx90a"],
        ] {
            let read = Options::parse(options).unwrap();
            assert_eq!(read.target.unwrap().name, "gfx90a", "{options:?}");
            assert!(read.arguments.is_empty());
        }
        for option in ["--offload-arch=sm_70", "-arch=", "-arch", "-archive"] {
            assert!(matches!(Options::parse(&[option]), Err(Error::Option { .. })), "{option}");
        }
    }

    #[test]
    fn values_may_stand_apart() {
        assert_eq!(
            arguments(&["-I", "a b", "-DX=1 2", "-D Y=3", "-I  c"]),
            ["-I", "a b", "-DX=1 2", "-D", "Y=3", "-I", "c"]
        );
        assert!(
            Options::parse(&["-Iabc"]).unwrap().has_paths && !Options::parse(&["-DI"]).unwrap().has_paths
        );
        assert!(Options::parse(&["-I"]).is_err());
    }

    #[test]
    fn options_of_older_compilers_are_ignored() {
        assert!(arguments(&["-nocudainc", "-nocudalib", "-flegacy-pass-manager", ""]).is_empty());
        assert_eq!(
            arguments(&["--std=c++14", "-O2", "-fno-math-errno"]),
            ["--std=c++14", "-O2", "-fno-math-errno"]
        );
    }

    #[test]
    fn what_would_make_something_else_is_refused() {
        for option in [
            "-o",
            "-ofile",
            "-c",
            "-S",
            "-E",
            "-xc",
            "-MF",
            "-emit-llvm",
            "-###",
            "file.c",
            "-",
            "@file",
            "--version",
            "-save-temps=obj",
            "--target=x86_64",
        ] {
            assert!(matches!(Options::parse(&[option]), Err(Error::Option { .. })), "{option}");
        }
        assert_eq!(arguments(&["-offload-compress", "-Xclang", "-disable-O0-optnone"]).len(), 3);
    }

    #[test]
    fn device_libraries_know_of_fast_math() {
        let controls = |options: &[&str]| Options::parse(options).unwrap().controls(5);
        let fast = controls(&["-ffast-math", "-mcode-object-version=4", "-mwavefrontsize64"]);
        assert!(fast.finite_only && fast.unsafe_math && fast.wave64 == Some(true) && fast.code_object == 4);
        let plain = controls(&["-O3"]);
        assert!(controls(&["-fcuda-flush-denormals-to-zero"]).flush);
        assert!(!plain.finite_only && !plain.unsafe_math && !plain.flush && plain.code_object == 5);
    }

    proptest! {
        /// Whatever words come, reading them ends, and no word reaches clang that names an output or an input.
        #[test]
        fn any_words_are_read(words in prop::collection::vec("[ -@]{0,2}[-a-zA-Z=/. é]{0,12}", 0..6)) {
            if let Ok(read) = Options::parse(&words) {
                let mut values = 0;
                for word in &read.arguments {
                    if values > 0 {
                        values -= 1;
                        continue;
                    }
                    prop_assert!(word.starts_with('-') && word != "-" && !is_refused(word), "{word}");
                    values = usize::from(SEPARATE.contains(&word.as_str()));
                }
            }
        }
    }
}
