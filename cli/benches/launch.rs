//! What do building, compiling, updating and launching a graph cost the host?
//!
//! `cargo bench --bench launch` is `aqlipse bench --goals`: the launch table, through the C ABI of the library that
//! `cargo xtask dist` has built. With arguments it is `aqlipse bench` with those: one program prints all tables.

use std::{
    env,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    // Cargo adds `--bench` to what the user gives.
    let mut arguments: Vec<_> = env::args_os().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.is_empty() {
        arguments.push("--goals".into());
    }
    let status = Command::new(env!("CARGO_BIN_EXE_aqlipse")).arg("bench").args(arguments).status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("launch: {error}");
            ExitCode::FAILURE
        }
    }
}
