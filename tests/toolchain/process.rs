//! Runs compiled programs.

use std::{
    fmt,
    io::Read,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Toolchain, devices::back_end};

/// A program that takes longer hangs: the sizes of the tests are chosen to take seconds.
const LIMIT: Duration = Duration::from_secs(280);

/// The line that every program prints last when all is well.
pub const PASSED: &str = "Validation passed.";

/// A program to run on the library.
#[derive(Debug)]
pub struct Program {
    command: Command,
}

/// How a program ended, and what it printed.
pub struct Finished {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Program {
    /// The program with the library on its search path, on a device of the architecture.
    pub fn new(toolchain: &Toolchain, program: &Path, arch: &str) -> Self {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", toolchain.library_path());
        Self { command }.on(arch)
    }

    /// The program below another, such as `valgrind`.
    pub fn below(toolchain: &Toolchain, outer: &[&str], program: &Path, arch: &str) -> Self {
        let mut command = Command::new(outer[0]);
        command.args(&outer[1..]).arg(program).env("LD_LIBRARY_PATH", toolchain.library_path());
        Self { command }.on(arch)
    }

    /// `aqlipse run -- PROGRAM`, with nothing but the command to find the library.
    pub fn through_command(toolchain: &Toolchain, program: &Path, arch: &str) -> Self {
        let mut command = Command::new(toolchain.command());
        // What is on the path already leads to ROCr's driver, not to our library.
        command.args(["run", "--"]).arg(program);
        Self { command }.on(arch)
    }

    /// On the back end that the suite runs on; where devices are emulated, one of the architecture. A seed that the
    /// suite runs with stays, unless the test chooses its own.
    fn on(mut self, arch: &str) -> Self {
        self.command.env("AQLIPSE_DEVICE", back_end()).env("AQLIPSE_EMULATE", arch);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Lets it record none of its calls, which takes instructions.
    pub fn unrecorded(mut self) -> Self {
        self.command.env_remove("AQLIPSE_CALLS");
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// If it cannot be started or hangs.
    pub fn run(mut self) -> Finished {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let status = wait(&mut child, Instant::now() + LIMIT);
        let text = |thread: thread::JoinHandle<String>| thread.join().expect("the reader does not panic");
        let (stdout, stderr) = (text(stdout), text(stderr));
        let Some(status) = status else {
            panic!("{:?} hangs\n{stdout}{stderr}", self.command);
        };
        Finished { status, stdout, stderr }
    }
}

fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // A reader that fails leaves what was read: the end of the program tells more.
            let _ = stream.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end; kills the program at `deadline` and returns `None`.
fn wait(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // It may have ended by itself just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

impl Finished {
    /// Whether the program validated its results.
    pub fn passed(&self) -> bool {
        self.status.success() && self.stdout.lines().last() == Some(PASSED)
    }

    /// Asserts that the program validated its results.
    ///
    /// # Panics
    /// With its output, if it did not.
    #[track_caller]
    pub fn expect_passed(&self, what: &impl fmt::Display) {
        assert!(self.passed(), "{what}: {}\n{}{}", self.status, self.stdout, self.stderr);
    }
}
