//! What do building, compiling, updating and launching a graph cost the host?
//!
//! `cargo bench --bench launch -- --quick` is `aqlipse bench --quick`: one table, printed by one program.

use std::{
    env,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    // Cargo adds `--bench` to what the user gives.
    let arguments = env::args_os().skip(1).filter(|argument| argument != "--bench");
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
