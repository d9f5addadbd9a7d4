//! Runs a program on the thunk, with a limit of time.

use std::{
    io::Read,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::thunk;

/// A program that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// How a program ended, and what it printed.
#[derive(Debug)]
pub struct Finished {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Finished {
    /// Asserts success and returns the lines of standard output.
    pub fn lines(&self) -> Vec<&str> {
        assert!(self.status.success(), "{self:?}");
        self.stdout.lines().collect()
    }

    /// Asserts that a HIP program found all it computed right.
    pub fn expect_passed(&self) {
        assert_eq!(self.lines().last(), Some(&"Validation passed."), "{self:?}");
    }
}

/// A command on the thunk, with one gfx90a and nothing else of ours in the environment.
pub fn on_thunk(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", thunk());
    for variable in ["AQLIPSE_EMULATE_SEED", "AQLIPSE_EMULATE_CUS", "AQLIPSE_LOG", "AQLIPSE_COVERAGE"] {
        command.env_remove(variable);
    }
    command.env("AQLIPSE_EMULATE", "gfx90a");
    command
}

/// Starts a command.
pub fn start(command: &mut Command) -> Running {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (reader(child.stdout.take()), reader(child.stderr.take()));
    Running { child, stdout, stderr, started: Instant::now() }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Finished {
    start(command).finish()
}

/// A started program.
pub struct Running {
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    started: Instant,
}

impl Running {
    /// Waits for its end; a program that takes too long is killed, and the test fails with what it printed.
    pub fn finish(mut self) -> Finished {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.started.elapsed() > LIMIT {
                self.child.kill().unwrap();
                let _ = self.child.wait();
                panic!("hangs\n{}{}", self.stdout.join().unwrap(), self.stderr.join().unwrap());
            }
            thread::sleep(Duration::from_millis(5));
        };
        Finished { status, stdout: self.stdout.join().unwrap(), stderr: self.stderr.join().unwrap() }
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.unwrap().read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
