//! What the `aqlipse` command can do.

mod bench;
mod demo;
mod info;
mod machine;
mod run;
mod timing;

use std::{ffi::OsString, process::ExitCode};

use clap::{Parser, Subcommand};

/// A clean-room HIP graph runtime on HSA queues.
#[derive(Parser)]
#[command(name = "aqlipse", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure building, compiling, updating and launching graphs.
    Bench(bench::Selection),
    /// Run the reference graph, captured and built node by node; compare launches with plain streams.
    Demo {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
        /// Elements; a multiple of 1024.
        #[arg(long, default_value_t = 1 << 20)]
        size: usize,
        /// Timed iterations of each way to launch.
        #[arg(long, default_value_t = 20)]
        iterations: usize,
    },
    /// List the devices.
    Info {
        /// Print one JSON object instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Run a HIP program on this library.
    Run {
        /// The program and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        program: Vec<OsString>,
    },
}

/// Parses the command line and does what it says.
pub fn run() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bench(selection) => bench::run(&selection),
        Command::Demo { json, size, iterations } => demo::run(json, size, iterations),
        Command::Info { json } => info::run(json),
        Command::Run { program } => return run::run(&program),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("aqlipse: {error}");
            ExitCode::FAILURE
        }
    }
}
