//! `cargo xtask COMMAND`.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand};
use xtask::{
    Result, archive, clients, compare, compat, conformance, dist, kernels, kit,
    link::Profile,
    pseudocode, sanitize,
    suite::{self, On},
    triton,
};

/// The project's own commands.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Rebuild the committed device code
    Kernels {
        /// Triton's kernels; downloads the compiler
        #[arg(long)]
        triton: bool,
        #[command(flatten)]
        check: Check,
    },
    /// Build libamdhip64.so and the command into target/dist
    Dist {
        /// Without optimisation, with symbols
        #[arg(long)]
        debug: bool,
        /// Pack a tarball and a Debian package as well, into target/archive
        #[arg(long)]
        archive: bool,
        /// Install the package in a new Debian in a folder, and build and test a project there; needs root
        #[arg(long, requires = "archive")]
        chroot: bool,
    },
    /// Install what is missing, build everything, run every test
    Test {
        /// The device to test on, as in AQLIPSE_DEVICE
        #[arg(long)]
        device: Option<String>,
        /// Test on the ROCr library in this folder: on the machine's AMD GPU if it has one, else on the thunk
        #[arg(long, value_name = "FOLDER", conflicts_with = "device")]
        rocr: Option<PathBuf>,
        /// Run all that runs on a device, conformance programs too, on emulated devices with these traits of hardware (as
        /// in AQLIPSE_EMULATE_HARDWARE), or with each in turn: in order, in a random legal order, and with strict caches
        #[arg(long, value_name = "TRAITS", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with_all = ["device", "rocr"])]
        hardware: Option<String>,
        /// Run all clients (docs/clients.md), not only the fast ones
        #[arg(long, conflicts_with_all = ["device", "rocr", "hardware", "arguments"])]
        clients: bool,
        /// Arguments of nextest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "NEXTEST ARGS")]
        arguments: Vec<String>,
    },
    /// Run the same programs on our library and on AMD's; write docs/conformance*.md
    Conformance(conformance::Options),
    /// Pack the conformance programs and the benchmark for a machine with a card and any ROCm
    Kit(kit::Options),
    /// Install programs of others from PyPI, Debian and crates.io, and run them on the library
    Clients {
        /// Some of them; all without a name
        names: Vec<String>,
        /// Write docs/clients.md instead
        #[arg(long, conflicts_with = "names")]
        page: bool,
    },
    /// Run tests under a sanitizer of the compiler
    Sanitize {
        sanitizer: sanitize::Sanitizer,
        /// Arguments of `cargo test`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CARGO TEST ARGS")]
        arguments: Vec<String>,
    },
    /// Compare the disassembler with LLVM's on millions of words
    IsaOracle {
        /// Encodings of each opcode
        #[arg(default_value_t = 2000)]
        samples: u32,
    },
    /// Compare vector arithmetic with AMD's pseudocode and with our models
    ValuOracle {
        /// Inputs of each instruction
        #[arg(default_value_t = 100)]
        samples: u32,
    },
    /// Write COMPAT.md
    Compat(Check),
    /// Write docs/compare.md
    Compare(Check),
}

#[derive(Args)]
struct Check {
    /// Compare with what is committed instead of writing it
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result {
    match command {
        Command::Kernels { triton: false, check: Check { check: false } } => kernels::rebuild(),
        Command::Kernels { triton: false, check: Check { check: true } } => kernels::check(),
        Command::Kernels { triton: true, check: Check { check: false } } => triton::rebuild(),
        Command::Kernels { triton: true, check: Check { check: true } } => triton::check(),
        Command::Dist { debug, archive: false, .. } => dist::build(Profile::of(debug)).map(drop),
        Command::Dist { debug, archive: true, chroot } => {
            let archives = archive::make(&dist::build(Profile::of(debug))?, &archive::folder())?;
            if chroot { archive::chroot::try_out(&archives) } else { Ok(()) }
        }
        Command::Test { device, rocr, hardware, clients, arguments } => {
            let on = match (&device, &rocr, &hardware) {
                (_, Some(folder), _) => On::Rocr(folder),
                (Some(device), None, _) => On::Device(device),
                (None, None, Some(traits)) => On::Hardware(traits),
                (None, None, None) => On::All,
            };
            suite::run_all(on, clients, &words(&arguments))
        }
        Command::Conformance(options) => conformance::command(&options),
        Command::Kit(options) if !options.emulate.is_empty() => kit::emulated::compare(&options),
        Command::Kit(options) => kit::command(&options).map(drop),
        Command::Clients { names, page: false } => clients::command(&names),
        Command::Clients { page: true, .. } => clients::page::write(),
        Command::Sanitize { sanitizer, arguments } => sanitize::sanitize(sanitizer, &words(&arguments)),
        Command::IsaOracle { samples } => suite::isa_oracle(&samples.to_string()),
        Command::ValuOracle { samples } => pseudocode::valu_oracle(&samples.to_string()),
        Command::Compat(Check { check: false }) => compat::write(),
        Command::Compat(Check { check: true }) => compat::check(),
        Command::Compare(Check { check: false }) => compare::write(),
        Command::Compare(Check { check: true }) => compare::check(),
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_is_not_ours_is_nextests() {
        let words = ["xtask", "test", "--device", "gfx942", "-E", "test(a)", "--device", "--check"];
        let Command::Test { device, rocr: None, hardware: None, clients: false, arguments } =
            Cli::try_parse_from(words).unwrap().command
        else {
            panic!("another command");
        };
        assert_eq!(device.as_deref(), Some("gfx942"));
        assert_eq!(arguments, ["-E", "test(a)", "--device", "--check"]);
    }

    #[test]
    fn a_users_rocr_is_a_folder_and_a_device_of_its_own() {
        let words = ["xtask", "test", "--rocr", "/opt/rocm/lib", "back_end::"];
        let Command::Test { device: None, rocr, hardware: None, clients: false, arguments } =
            Cli::try_parse_from(words).unwrap().command
        else {
            panic!("another command");
        };
        assert_eq!((rocr, arguments), (Some("/opt/rocm/lib".into()), vec!["back_end::".to_owned()]));
        for wrong in [&["--rocr"][..], &["--rocr", "lib", "--device", "rocr"]] {
            assert!(Cli::try_parse_from(["xtask", "test"].iter().chain(wrong)).is_err(), "{wrong:?}");
        }
    }

    /// The commands of the page for a first card, up to where their output goes.
    #[test]
    fn the_page_of_the_first_card_has_commands_that_there_are() {
        let page = include_str!("../../docs/first-card.md");
        let (commands, tests): (Vec<_>, Vec<_>) = page
            .split("cargo xtask ")
            .skip(1)
            .filter_map(|rest| rest.split(['\n', '`']).next()?.split(" 2>&1").next())
            .partition(|command| !command.starts_with("test"));
        assert_eq!(commands, ["dist", "kit"]);
        assert!(tests.len() >= 3, "{tests:?}");
        for words in tests.iter().filter(|command| **command != "test").map(|command| command.split(' ')) {
            let parsed = Cli::try_parse_from(["xtask"].into_iter().chain(words)).unwrap().command;
            let on_others = |parsed| match parsed {
                Command::Test { rocr, hardware, .. } => rocr.is_some() || hardware.is_some(),
                _ => false,
            };
            assert!(on_others(parsed), "{tests:?}");
        }
    }
}
