//! `cargo xtask COMMAND`.

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use xtask::{
    Result, compare, compat, conformance, dist, kernels, link::Profile, pseudocode, sanitize, suite, triton,
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
    },
    /// Install what is missing, build everything, run every test
    Test {
        /// The device to test on, as in AQLIPSE_DEVICE
        #[arg(long)]
        device: Option<String>,
        /// Arguments of nextest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "NEXTEST ARGS")]
        arguments: Vec<String>,
    },
    /// Run the same programs on our library and on AMD's; write docs/conformance*.md
    Conformance(conformance::Options),
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
        Command::Dist { debug } => dist::build(Profile::of(debug)).map(drop),
        Command::Test { device, arguments } => suite::run_all(device.as_deref(), &words(&arguments)),
        Command::Conformance(options) => conformance::command(&options),
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
        let Command::Test { device, arguments } = Cli::try_parse_from(words).unwrap().command else {
            panic!("another command");
        };
        assert_eq!(device.as_deref(), Some("gfx942"));
        assert_eq!(arguments, ["-E", "test(a)", "--device", "--check"]);
    }
}
