//! `cargo xtask COMMAND`.

use std::{env, process::ExitCode};

use xtask::{
    Error, Result, compare, compat, conformance, dist, kernels, link, pseudocode, sanitize, suite, triton,
};

const USAGE: &str = "\
usage: cargo xtask COMMAND
  kernels [--check]                      rebuild the committed device code, or compare with it
  kernels --triton [--check]             the same for Triton's kernels; downloads the compiler
  dist [--debug]                         build libamdhip64.so and the command into target/dist
  test [--device DEVICE] [NEXTEST ARGS]  install what is missing, build everything, run every test
  conformance [FILTER...] [--check] [--accept] [--newer] [--strict SEEDS] [--jobs N] [--only ours|rocr|amd[,...]] [--debug]
                                         run the same programs on our library and on AMD's, write docs/conformance*.md;
                                         --accept takes what differs as expected, --newer shows what is not as 6.3,
                                         --strict runs them with strict caches in so many orders, too
  sanitize thread|address|leak [CARGO TEST ARGS]
                                         run tests under a sanitizer of the compiler
  isa-oracle [SAMPLES]                   compare the disassembler with LLVM's on millions of words
  valu-oracle [SAMPLES]                  compare vector arithmetic with AMD's pseudocode and with our models
  compat [--check]                       write COMPAT.md, or compare with it
  compare [--check]                      write docs/compare.md, or compare with it";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["kernels"] => kernels::rebuild(),
        ["kernels", "--check"] => kernels::check(),
        ["kernels", "--triton"] => triton::rebuild(),
        ["kernels", "--triton", "--check"] => triton::check(),
        ["dist"] => dist::build(link::Profile::Release).map(drop),
        ["dist", "--debug"] => dist::build(link::Profile::Debug).map(drop),
        ["test", "--device", device, ref rest @ ..] => suite::run_all(Some(device), rest),
        ["test", ref rest @ ..] => suite::run_all(None, rest),
        ["conformance", ref rest @ ..] => conformance::command(&conformance::Options::parse(rest)?),
        ["sanitize", name, ref rest @ ..] if let Some(sanitizer) = sanitize::Sanitizer::named(name) => {
            sanitize::sanitize(sanitizer, rest)
        }
        ["isa-oracle"] => suite::isa_oracle("2000"),
        ["isa-oracle", samples] if samples.parse::<u32>().is_ok() => suite::isa_oracle(samples),
        ["valu-oracle"] => pseudocode::valu_oracle("100"),
        ["valu-oracle", samples] if samples.parse::<u32>().is_ok() => pseudocode::valu_oracle(samples),
        ["compat"] => compat::write(),
        ["compat", "--check"] => compat::check(),
        ["compare"] => compare::write(),
        ["compare", "--check"] => compare::check(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Error::Usage(USAGE.into())),
    }
}
