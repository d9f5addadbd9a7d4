//! Chromium without a window, driven by the Chrome DevTools Protocol.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{self, Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The program.
pub const CHROMIUM: &str = "/usr/bin/chromium";
/// Its window, in pixels.
const WINDOW: (u32, u32) = (1600, 900);
/// For each single answer of the browser. A busy machine starts it in a few seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// `--remote-debugging-pipe` reads from file 3 and writes to file 4.
const PASS_PIPES: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

/// What a call returns, or what the browser or the page says against it.
pub type Answer<T> = Result<T, String>;

/// A browser with one tab.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    /// The last command's number.
    last: u64,
    /// Of the tab; empty before it exists.
    session: String,
    errors: Vec<String>,
    folder: PathBuf,
}

impl Browser {
    /// Starts Chromium, with a folder for temporary files that has `name` in its name.
    ///
    /// # Errors
    /// What is missing, or why it does not answer.
    pub fn start(name: &str) -> Answer<Self> {
        let folder = env::temp_dir().join(format!("aqlipse-page-{name}-{}", process::id()));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut process =
            command(&folder).spawn().map_err(|error| format!("Chromium does not start: {error}"))?;
        let (commands, answers) = process.stdin.take().zip(process.stdout.take()).ok_or("no pipes")?;
        let (last, session, errors) = (0, String::new(), Vec::new());
        let mut browser =
            Self { process, commands, answers: receive(answers), last, session, errors, folder };
        browser.open_tab()?;
        Ok(browser)
    }

    fn open_tab(&mut self) -> Answer<()> {
        let target = self.command("Target.createTarget", json!({ "url": "about:blank" }))?["targetId"].take();
        let attached =
            self.command("Target.attachToTarget", json!({ "targetId": target, "flatten": true }))?;
        attached["sessionId"].as_str().ok_or("no session")?.clone_into(&mut self.session);
        self.command("Page.enable", json!({}))?;
        self.command("Runtime.enable", json!({}))?;
        Ok(())
    }

    /// Where files of the browser's lie until it ends, with room for others.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What pages have reported: exceptions, and calls of `console.error`.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    /// Sends a command and returns its result.
    ///
    /// # Errors
    /// Why there is none.
    pub fn command(&mut self, method: &str, parameters: Value) -> Answer<Value> {
        self.last += 1;
        let number = self.last;
        let mut command = json!({ "id": number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let sent = self.commands.write_all(format!("{command}\0").as_bytes());
        sent.map_err(|error| format!("Chromium does not take {method}: {error}"))?;
        let mut answer = self.wait(method, |message| message["id"] == number)?;
        match &answer["error"] {
            Value::Null => Ok(answer["result"].take()),
            error => Err(format!("Chromium refuses {method}: {error}")),
        }
    }

    /// Returns the next message that is wanted, and notes the errors of the page on the way.
    fn wait(&mut self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Answer<Value> {
        let end = Instant::now() + LIMIT;
        loop {
            let message = self.answers.recv_timeout(end.saturating_duration_since(Instant::now()));
            let message = message.map_err(|error| format!("no answer from Chromium to {what}: {error}"))?;
            let details = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.errors.push(details["exceptionDetails"].to_string()),
                Some("Runtime.consoleAPICalled") if details["type"] == "error" => {
                    self.errors.push(details["args"].to_string());
                }
                _ => {}
            }
            if is_wanted(&message) {
                return Ok(message);
            }
        }
    }

    /// Opens an address, and waits until it is loaded.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(&mut self, address: &str) -> Answer<()> {
        // From the same page Chromium would only change the fragment.
        for address in ["about:blank", address] {
            let opened = self.command("Page.navigate", json!({ "url": address }))?;
            if let Some(error) = opened["errorText"].as_str() {
                return Err(format!("{address}: {error}"));
            }
        }
        self.evaluate(
            "document.readyState === 'complete' || new Promise((done) => addEventListener('load', () => done(true)))",
        )?;
        Ok(())
    }

    /// Evaluates a script in the page, and returns its value; that of a promise when it has one.
    ///
    /// # Errors
    /// What it throws.
    pub fn evaluate(&mut self, script: &str) -> Answer<Value> {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.command("Runtime.evaluate", parameters)?;
        match &answer["exceptionDetails"] {
            Value::Null => Ok(answer["result"]["value"].take()),
            thrown => Err(format!("{script}: {thrown}")),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Neither matters for what was looked at: Chromium may have ended, and the next run has a folder of its own.
        let _ = self.process.kill();
        let _ = self.process.wait();
        // Chromium's other processes end a little later, and write until then.
        for _ in 0..50 {
            if fs::remove_dir_all(&self.folder).is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", PASS_PIPES, CHROMIUM]);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"]);
    // Nothing is fetched from elsewhere.
    command.arg("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
    command.arg(format!("--window-size={},{}", WINDOW.0, WINDOW.1));
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Reads messages, each of which ends with a NUL byte, on a thread of its own: a read of a pipe has no time limit.
fn receive(answers: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for message in BufReader::new(answers).split(0) {
            let message = message.ok().and_then(|message| serde_json::from_slice(&message).ok());
            if message.is_none_or(|message| sender.send(message).is_err()) {
                return;
            }
        }
    });
    receiver
}
