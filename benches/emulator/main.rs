//! What does an instruction cost the emulated device, and what does a kernel?
//!
//! Kernels of known instruction counts (`kernels/bench.cpp`) and whole ones (`kernels/workloads.cpp`) run as any kernel
//! does: from a stream, through a queue. Each gives a result that is checked before it is timed. The instruction set of
//! the host and the cores that may be used are a process's, so that this program runs itself for each of them.
//!
//! `cargo bench --bench emulator -- saxpy v_add` runs the rows whose names contain one of the words.

mod instructions;
mod workloads;

use std::{
    env,
    process::{Command, ExitCode},
};

use aqlipse::{Backend, Device, Error, Module, Result, Stream, StreamKind};
use aqlipse_bench::machine::Machine;

/// How the instruction sets are called that the emulator has loops for, in the order of `AQLIPSE_SIMD`.
const LEVELS: [&str; 3] = ["baseline", "AVX2", "AVX-512"];

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let done = match arguments.split_first() {
        Some((part, rest)) if part == "--instructions" => instructions::run(rest),
        Some((part, rest)) if part == "--workloads" => workloads::run(rest),
        Some((part, rest)) if part == "--cards" => workloads::compare(rest),
        _ => return all(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("emulator: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything, each part in a process of its own; what a part prints goes straight to the terminal.
fn all(words: &[String]) -> ExitCode {
    let machine = Machine::here();
    println!("machine   {}, {} cores", machine.processor, machine.cores);
    let mut sound = true;
    for level in supported() {
        println!("\ninstructions, {}", LEVELS[level]);
        sound &= again("--instructions", words, level, None);
    }
    let best = supported().last().unwrap_or(0);
    for level in supported().filter(|&level| level == 1 || level == best) {
        println!("\nwhole kernels, {}, one core", LEVELS[level]);
        sound &= again("--workloads", words, level, Some(1));
        println!("\nwhole kernels, {}, {} cores", LEVELS[level], machine.cores);
        sound &= again("--workloads", words, level, None);
    }
    println!("\nwhole kernels on cards, {}, one core", LEVELS[best]);
    sound &= again("--cards", words, best, Some(1));
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The levels that this CPU has.
fn supported() -> std::ops::RangeInclusive<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let avx512 = avx2 && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq");
        0..=usize::from(avx2) + usize::from(avx512)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        0..=0
    }
}

/// Runs a part of this program; on the first so many cores, if that is said, for which it takes `taskset`.
fn again(part: &str, words: &[String], level: usize, cores: Option<usize>) -> bool {
    // PANIC: without its own path this program cannot do its work.
    let path = env::current_exe().expect("the path of this program");
    let mut command = match cores {
        None => Command::new(path),
        Some(cores) => {
            let mut command = Command::new("taskset");
            command.args(["-c", &format!("0-{}", cores - 1)]).arg(path);
            command
        }
    };
    if part == "--cards" {
        command.env("AQLIPSE_EMULATE", workloads::CARDS.join(","));
    }
    match command.arg(part).args(words).env("AQLIPSE_SIMD", level.to_string()).status() {
        Ok(status) => status.success(),
        Err(error) => {
            eprintln!("emulator: {error}");
            false
        }
    }
}

/// A stream on an emulated device and its version of a code object.
fn open(device: &Device, objects: &[&'static [u8]]) -> Result<(Stream, Module)> {
    if device.backend() != Backend::Emulated {
        return Err(Error::NotSupported("measuring the emulator on a device that is not emulated"));
    }
    let module = Module::first_that_fits(device, objects)?;
    Ok((Stream::new(device, StreamKind::NonBlocking, 0), module))
}

/// Whether a row is asked for.
fn wanted(name: &str, words: &[String]) -> bool {
    words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))
}

/// The error of a result that is not what it should be.
fn wrong(what: &str) -> Error {
    eprintln!("{what}");
    Error::LaunchFailure("a kernel's result is wrong".to_owned())
}
