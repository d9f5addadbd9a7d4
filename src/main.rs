//! The `aqlipse` command.

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    aqlipse::trace::init_from_env();
    command::run()
}
