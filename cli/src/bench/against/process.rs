//! Runs a worker and collects what it tells.

use std::{
    env,
    io::{self, BufRead, BufReader, Read},
    process::{Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use super::{
    contestant::{Contestant, Environment},
    protocol::{Case, Record},
    worker,
};

/// A worker that takes longer hangs, or is not worth to be waited for.
const LIMIT: Duration = Duration::from_secs(600);

/// What a worker has told, and why it stopped before its end.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Its records, without the last.
    pub records: Vec<Record>,
    /// How it ended, if it did not say that it has done everything.
    pub broken: Option<String>,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Checks that the graphs run as they should.
    Verify,
    /// Measures launches.
    Measure,
    /// Measures all that graphs cost.
    Goals,
}

/// Runs a worker for `contestant`.
///
/// # Errors
/// If it cannot be started.
pub fn run(
    contestant: &Contestant,
    environment: &Environment,
    cases: &[Case],
    budget: Duration,
    work: Work,
) -> io::Result<Told> {
    let mut command = Command::new(env::current_exe()?);
    command.args([worker::COMMAND, "--library"]).arg(&contestant.library);
    command.args(["--budget", &budget.as_millis().to_string()]);
    command.args(cases.iter().flat_map(|case| ["--case".into(), case.to_string()]));
    match work {
        Work::Verify => _ = command.arg("--verify"),
        Work::Measure => {}
        Work::Goals => _ = command.arg("--goals"),
    }
    environment.apply(contestant, &mut command);
    collect(command, LIMIT)
}

fn collect(mut command: Command, limit: Duration) -> io::Result<Told> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (send, finished) = mpsc::channel();
    let records = thread::spawn(move || {
        let records = stdout.map_or_else(Vec::new, records);
        // Nothing receives any more when the limit has passed.
        let _ = send.send(());
        records
    });
    let words = thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stderr) = stderr {
            // A reader that fails leaves what was read.
            let _ = stderr.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let late = finished.recv_timeout(limit).is_err();
    if late {
        // It may have ended by itself just now.
        let _ = child.kill();
    }
    let status = child.wait()?;
    // PANIC: the readers do not panic.
    let mut records = records.join().expect("the reader of records does not panic");
    let words = words.join().expect("the reader of words does not panic");
    let ended = records.last() == Some(&Record::End);
    if ended {
        records.pop();
    }
    let broken = if late {
        Some(format!("no end after {} s", limit.as_secs()))
    } else {
        (!ended).then(|| ending(status, &words))
    };
    Ok(Told { records, broken })
}

/// The records up to the end that a worker announces, or to the end of what it prints.
fn records(stdout: impl Read) -> Vec<Record> {
    let mut records = Vec::new();
    for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
        records.extend(Record::parse(&String::from_utf8_lossy(&line)));
    }
    records
}

/// How a process ended, with its last words.
fn ending(status: ExitStatus, words: &str) -> String {
    match words.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(last) => format!("ended by {status}: {}", last.trim()),
        None => format!("ended by {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> io::Result<Told> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        collect(command, limit)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn records_are_picked_out_of_what_a_library_prints() -> io::Result<()> {
        let told = shell(
            "echo hello; echo '{\"record\":\"verified\",\"case\":\"straight/2\"}'; printf '\\377\\n'; \
             echo '{\"record\":\"end\"}'",
            LONG,
        )?;
        let case = "straight/2".parse().expect("a case");
        assert_eq!(told.records, [Record::Verified { case }]);
        assert_eq!(told.broken, None);
        Ok(())
    }

    #[test]
    fn a_worker_that_dies_keeps_its_records_and_its_last_words() -> io::Result<()> {
        let record = Record::Verified { case: "straight/2".parse().expect("a case") }.line();
        let script = format!("echo '{record}'; echo first >&2; echo last >&2; kill -ABRT $$");
        let told = shell(&script, LONG)?;
        assert_eq!(told.records.len(), 1);
        let broken = told.broken.unwrap_or_default();
        assert!(broken.contains("signal: 6") && broken.ends_with(": last"), "{broken}");
        Ok(())
    }

    #[test]
    fn a_worker_that_hangs_is_killed() -> io::Result<()> {
        let told = shell("exec sleep 600", Duration::from_millis(50))?;
        assert_eq!(told.broken.as_deref(), Some("no end after 0 s"));
        Ok(())
    }
}
