//! The page that shows a trace, in Chromium.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, PipeReader, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::toolchain::has;

/// The page without a trace.
const TEMPLATE: &str = include_str!("../cli/src/trace/page.html");
const CHROMIUM: &str = "/usr/bin/chromium";
const WINDOW: (u32, u32) = (1600, 900);
/// For each single answer of the browser. A busy machine starts it in a few seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// The file descriptors that `--remote-debugging-pipe` reads and writes.
const COMMANDS: i32 = 3;
const ANSWERS: i32 = 4;

/// A headless Chromium with one tab, driven by the Chrome DevTools Protocol.
struct Browser {
    process: Child,
    commands: File,
    answers: Receiver<Value>,
    /// The last command's number.
    last: u64,
    /// Of the tab; empty before it exists.
    session: String,
    /// What the page reported: exceptions, and calls of `console.error`.
    errors: Vec<String>,
    folder: PathBuf,
}

impl Browser {
    /// Starts Chromium; `None`, after a message, if it is not installed.
    fn start(name: &str) -> Option<Self> {
        if !has(CHROMIUM, "chromium") {
            return None;
        }
        let folder = std::env::temp_dir().join(format!("aqlipse-page-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder can be created");
        let (read_commands, commands) = io::pipe().expect("a pipe can be created");
        let (answers, write_answers) = io::pipe().expect("a pipe can be created");
        let process = spawn(&folder, read_commands.into(), write_answers.into());
        let mut browser = Self {
            process,
            commands: File::from(OwnedFd::from(commands)),
            answers: receive(answers),
            last: 0,
            session: String::new(),
            errors: Vec::new(),
            folder,
        };
        browser.open_tab();
        Some(browser)
    }

    fn open_tab(&mut self) {
        let target = self.command("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].take();
        let attached = self.command("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        attached["sessionId"].as_str().expect("a session").clone_into(&mut self.session);
        self.command("Page.enable", json!({}));
        self.command("Runtime.enable", json!({}));
    }

    /// Sends a command and returns its result.
    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let number = self.last;
        let mut command = json!({ "id": number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let sent = self.commands.write_all(format!("{command}\0").as_bytes());
        sent.unwrap_or_else(|error| panic!("Chromium does not take {method}: {error}"));
        let mut answer = self.wait(method, |message| message["id"] == number);
        assert!(answer["error"].is_null(), "Chromium refuses {method}: {}", answer["error"]);
        answer["result"].take()
    }

    /// Returns the next message that is wanted, and notes the errors of the page on the way.
    fn wait(&mut self, what: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LIMIT;
        loop {
            let message = self.answers.recv_timeout(end.saturating_duration_since(Instant::now()));
            let message =
                message.unwrap_or_else(|error| panic!("no answer from Chromium to {what}: {error}"));
            let details = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.errors.push(details["exceptionDetails"].to_string()),
                Some("Runtime.consoleAPICalled") if details["type"] == "error" => {
                    self.errors.push(details["args"].to_string());
                }
                _ => {}
            }
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// Writes a page with a trace into a file, and opens it.
    fn open_trace(&mut self, trace: &Value) -> PathBuf {
        let path = self.folder.join("page.html");
        fs::write(&path, fill(trace)).expect("a temporary file can be written");
        self.open(&path, "");
        path
    }

    /// Opens a file with a fragment, and waits until it is loaded.
    fn open(&mut self, path: &Path, fragment: &str) {
        // From the same page Chromium would only change the fragment.
        for address in ["about:blank", &format!("file://{}#{fragment}", path.display())] {
            let opened = self.command("Page.navigate", json!({ "url": address }));
            assert!(opened["errorText"].is_null(), "{address}: {}", opened["errorText"]);
        }
        self.evaluate(
            "document.readyState === 'complete' || new Promise((done) => addEventListener('load', () => done(true)))",
        );
    }

    fn evaluate(&mut self, script: &str) -> Value {
        let parameters = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.command("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{script}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// The text of an element as it is shown.
    fn text(&mut self, id: &str) -> String {
        let text = self.evaluate(&format!("document.getElementById('{id}').innerText"));
        text.as_str().unwrap_or_else(|| panic!("no text in {id}")).to_owned()
    }

    /// The text of an element, with one space for each change of line or cell.
    fn words(&mut self, id: &str) -> String {
        self.text(id).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn mouse(&mut self, kind: &str, (x, y): (f64, f64), more: &Value) {
        let mut event = json!({ "type": kind, "x": x, "y": y });
        for (name, value) in more.as_object().expect("an object") {
            event[name] = value.clone();
        }
        self.command("Input.dispatchMouseEvent", event);
    }

    /// Turns the wheel at a point; a negative number turns it away from the user.
    fn wheel(&mut self, x: f64, y: f64, delta: f64) {
        self.mouse("mouseWheel", (x, y), &json!({ "deltaX": 0, "deltaY": delta }));
    }

    fn point_at(&mut self, x: f64, y: f64) {
        self.mouse("mouseMoved", (x, y), &json!({}));
    }

    fn click(&mut self, x: f64, y: f64) {
        self.drag((x, y), (x, y));
    }

    fn drag(&mut self, from: (f64, f64), to: (f64, f64)) {
        let button = json!({ "button": "left", "buttons": 1, "clickCount": 1 });
        self.mouse("mousePressed", from, &button);
        if from != to {
            self.mouse("mouseMoved", to, &button);
        }
        self.mouse("mouseReleased", to, &json!({ "button": "left", "clickCount": 1 }));
    }

    fn write(&mut self, text: &str) {
        self.command("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key, with Shift if asked.
    fn press(&mut self, key: &str, shift: bool) {
        // Chromium takes Enter for a key press only with its code.
        let code = if key == "Enter" { 13 } else { 0 };
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "modifiers": 8 * i32::from(shift) });
            self.command("Input.dispatchKeyEvent", event);
        }
    }

    /// The window as a PNG image.
    fn screenshot(&mut self) -> Vec<u8> {
        let image = self.command("Page.captureScreenshot", json!({ "format": "png" }));
        decode_base64(image["data"].as_str().expect("an image"))
    }

    /// The middle of a slice, in pixels of the window.
    fn place_of(&mut self, slice: usize) -> (f64, f64) {
        let script = format!(
            "(() => {{ const {{ x, y, width, height }} = timeline.box({slice});
               const outer = document.getElementById('canvas').getBoundingClientRect();
               return [outer.x + x + width / 2, outer.y + y + height / 2]; }})()"
        );
        let place = self.evaluate(&script);
        (place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"))
    }

    /// The colour of the canvas inside a slice, at its left lower corner: no text is there.
    fn colour_of(&mut self, slice: usize) -> Value {
        self.evaluate(&format!(
            "(() => {{ timeline.draw();
               const {{ x, y, height }} = timeline.box({slice});
               const context = document.getElementById('canvas').getContext('2d');
               return [...context.getImageData(x + 3, y + height - 4, 1, 1).data]; }})()"
        ))
    }

    fn range(&mut self) -> (f64, f64) {
        let range = self.evaluate("timeline.range()");
        (range[0].as_f64().expect("a number"), range[1].as_f64().expect("a number"))
    }

    fn is_in_view(&mut self, slice: usize) -> bool {
        let (from, to) = self.range();
        let (x, y) = self.place_of(slice);
        let script = format!("document.elementFromPoint({x}, {y})?.id");
        to > from && self.evaluate(&script) == "canvas"
    }

    fn assert_no_errors(&self) {
        assert!(self.errors.is_empty(), "{}", self.errors.join("\n"));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Neither matters for what was tested: Chromium may have ended, and the next run has a folder of its own.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn spawn(folder: &Path, commands: OwnedFd, answers: OwnedFd) -> Child {
    let mut command = Command::new(CHROMIUM);
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]);
    command.args(["--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage"]);
    command.arg(format!("--window-size={},{}", WINDOW.0, WINDOW.1));
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let pass = move || {
        // Either pipe may have the number that the other one needs: both move out of the way first.
        let aside = [move_aside(&commands)?, move_aside(&answers)?];
        for (from, to) in aside.into_iter().zip([COMMANDS, ANSWERS]) {
            // SAFETY: The call takes numbers only. The child has no other use of the two numbers.
            if unsafe { libc::dup2(from, to) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: Between fork and exec the closure makes system calls only; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(pass) };
    command.spawn().expect("Chromium starts")
}

/// Gives a file descriptor a second number that is above those of the protocol.
fn move_aside(file: &OwnedFd) -> io::Result<i32> {
    // SAFETY: The call takes numbers only.
    let moved = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, ANSWERS + 1) };
    if moved < 0 { Err(io::Error::last_os_error()) } else { Ok(moved) }
}

/// Reads messages, each of which ends with a NUL byte, on a thread of its own: a read of a pipe has no time limit.
fn receive(answers: PipeReader) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for message in BufReader::new(answers).split(0) {
            let Ok(message) = message else { return };
            let message = serde_json::from_slice(&message).expect("Chromium writes JSON");
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}

fn decode_base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            // CAST: 8 bits are left: those above were cleared when they were written.
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

/// The page with a trace in it.
fn fill(trace: &Value) -> String {
    assert_eq!(TEMPLATE.matches("@TRACE@").count(), 1);
    TEMPLATE.replace("@TRACE@", &trace.to_string().replace("</", "<\\/"))
}

/// Nodes of the sample's graph: id, name, kind, lane, start and end in its first launch.
const NODES: [(&str, &str, &str, u32, u32, u32); 5] = [
    ("12.0", "kernel scan", "kernel", 1, 10_000, 30_000),
    ("12.1", "kernel left", "kernel", 1, 30_500, 70_500),
    ("12.2", "kernel right </script>", "kernel", 2, 31_000, 51_000),
    ("12.3", "fill rest", "fill", 2, 52_000, 62_000),
    ("12.4", "copy out", "copy", 1, 80_500, 90_500),
];
/// Three nodes depend on the first, and the last on all three.
const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
/// When launches start, and how much longer `copy out` takes in each than in the first.
const LAUNCHES: [(u32, u32); 3] = [(0, 0), (200_000, 4_000), (400_000, 3_000)];
/// Slices of one launch: the call, a part of the call, and the nodes.
const SLICES: usize = 2 + NODES.len();

/// A program that launches one graph three times.
fn sample() -> Value {
    let track = |id: u32, parent: u32, name: &str, kind: &str| json!({ "id": id, "parent": parent, "name": name, "kind": kind });
    let mut memory = track(6, 3, "memory in use", "counter");
    memory["unit"] = json!("bytes");
    let tracks = json!([
        track(1, 0, "program 4711", "process"),
        track(2, 1, "thread 4711 main", "thread"),
        track(3, 1, "device 0", "device"),
        track(4, 3, "lane 1", "lane"),
        track(5, 3, "lane 2", "lane"),
        memory,
    ]);
    let slices: Vec<_> =
        LAUNCHES.iter().enumerate().flat_map(|(index, &launch)| slices_of(index, launch)).collect();
    // From each call to the first node.
    let flows: Vec<_> = (0..LAUNCHES.len()).map(|launch| [launch * SLICES, launch * SLICES + 2]).collect();
    let nodes: Vec<_> =
        NODES.iter().map(|(id, name, kind, ..)| json!({ "id": id, "name": name, "kind": kind })).collect();
    json!({
        "title": "./program 1 2", "tracks": tracks, "slices": slices, "flows": flows,
        "counters": [{ "track": 6, "points": [[0, 0], [3_000, 65_536], [480_000, 0]] }],
        "graphs": [{ "executable": 1, "process": 1, "name": "graph 12", "nodes": nodes, "edges": EDGES }],
    })
}

fn slices_of(index: usize, (base, longer): (u32, u32)) -> Vec<Value> {
    let number = index + 1;
    let mut slices = vec![
        json!({ "track": 2, "start": base + 2_000, "end": base + 9_000, "name": "hipGraphLaunch", "category": "api",
                "arguments": { "result": "hipSuccess", "launch": number } }),
        json!({ "track": 2, "start": base + 3_000, "end": base + 5_000, "name": "submit", "category": "other",
                "arguments": {} }),
    ];
    for (id, name, kind, lane, start, end) in NODES {
        let end = if name == "copy out" { end + longer } else { end };
        slices.push(json!({
            "track": 3 + lane, "start": base + start, "end": base + end, "name": name, "category": kind,
            "arguments": { "node": id, "executable": 1, "launch": number, "lane": lane },
        }));
    }
    slices
}

/// The number of a node's slice in a launch; both count from 0.
fn slice_of(launch: usize, node: usize) -> usize {
    launch * SLICES + 2 + node
}

#[test]
fn the_page_opens_zooms_and_finds_a_node_by_name() {
    let Some(mut browser) = Browser::start("sample") else { return };
    let path = browser.open_trace(&sample());
    opens(&mut browser);
    zooms_about_the_pointer(&mut browser);
    finds_by_name(&mut browser);
    selects_by_pointer(&mut browser);
    shows_what_a_launch_took(&mut browser);
    folds_tracks(&mut browser);
    follows_links(&mut browser, &path);
    browser.assert_no_errors();
}

fn opens(browser: &mut Browser) {
    let names = json!(["program 4711", "thread 4711 main", "device 0", "lane 1", "lane 2", "memory in use"]);
    assert_eq!(browser.evaluate("timeline.tracks()"), names);
    assert_eq!(browser.text("title"), "./program 1 2");
    assert!(browser.text("names").contains("memory in use\nup to 64 KiB"));
    assert!(browser.text("launches").contains("1 (graph 12)"));
    // The whole trace: its last slice ends at 493.5 us.
    let (from, to) = browser.range();
    assert!(from <= 0.0 && (493_500.0..520_000.0).contains(&to), "{from} to {to}");
    // Categories differ in colour, and nothing is white.
    let slices = [0, 1, slice_of(0, 0), slice_of(0, 3), slice_of(0, 4)];
    browser.evaluate("timeline.show(0, 120000)");
    let colours: Vec<_> = slices.iter().map(|slice| browser.colour_of(*slice)).collect();
    for (index, colour) in colours.iter().enumerate() {
        assert!(!colours[..index].contains(colour) && colour[3] == 255, "{colours:?}");
    }
    let image = browser.screenshot();
    assert!(image.starts_with(b"\x89PNG\r\n\x1a\n") && image.len() > 20_000, "{} bytes", image.len());
}

fn zooms_about_the_pointer(browser: &mut Browser) {
    browser.evaluate("timeline.show(0, 120000)");
    let before = browser.range();
    let (x, y) = browser.place_of(slice_of(0, 1));
    browser.wheel(x, y, -300.0);
    let after = browser.range();
    let share = (after.1 - after.0) / (before.1 - before.0);
    assert!((0.3..0.8).contains(&share), "{before:?} to {after:?}");
    // The slice under the pointer stays there; a pixel is about 100 ns.
    let (moved, _) = browser.place_of(slice_of(0, 1));
    assert!((moved - x).abs() < 2.0, "{x} to {moved}");
    browser.wheel(x, y, 300.0);
    let back = browser.range();
    assert!((back.0 - before.0).abs() < 1.0 && (back.1 - before.1).abs() < 1.0, "{before:?} to {back:?}");
    // A drag to the right moves the range to earlier times.
    browser.drag((x, y + 200.0), (x + 50.0, y + 200.0));
    assert!(browser.range().0 < before.0);
    browser.press("d", false);
    browser.press("w", false);
    let (from, to) = browser.range();
    assert!(to - from < before.1 - before.0);
}

fn finds_by_name(browser: &mut Browser) {
    // Away from all runs of the node.
    browser.evaluate("timeline.show(100000, 150000); document.getElementById('search').focus()");
    browser.write("kernel left");
    assert_eq!(browser.text("count"), "3 found");
    assert!(!browser.is_in_view(slice_of(0, 1)));
    for (shift, launch, count) in [
        (false, 0, "1 of 3"),
        (false, 1, "2 of 3"),
        (true, 0, "1 of 3"),
        (true, 2, "3 of 3"),
        (false, 0, "1 of 3"),
    ] {
        browser.press("Enter", shift);
        assert_eq!(browser.text("count"), count);
        assert_eq!(browser.evaluate("timeline.selected()"), slice_of(launch, 1));
        assert!(browser.is_in_view(slice_of(launch, 1)));
    }
    let details = browser.text("details");
    for part in ["kernel left", "program 4711 / device 0 / lane 1", "40 us", "12.1", "All runs of this node"]
    {
        assert!(details.contains(part), "no {part} in {details}");
    }
    // Node ids, and arguments.
    assert_eq!(browser.evaluate("timeline.find('12.3')"), 3);
    assert_eq!(browser.evaluate("timeline.find('launch=2')"), 6);
    assert_eq!(browser.evaluate("timeline.find('HIPSUCCESS')"), 3);
    assert_eq!(browser.evaluate("timeline.find('nothing of this name')"), 0);
    assert_eq!(browser.text("count"), "0 found");
    browser.evaluate("timeline.find('')");
}

fn selects_by_pointer(browser: &mut Browser) {
    browser.evaluate("timeline.select(null); timeline.show(0, 120000)");
    let (x, y) = browser.place_of(slice_of(0, 4));
    browser.point_at(x, y);
    let tooltip = browser.text("tooltip");
    assert!(tooltip.starts_with("copy out\n10 us\n") && tooltip.contains("node: 12.4"), "{tooltip}");
    browser.click(x, y);
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 4));
    assert_eq!(browser.evaluate("timeline.related()"), json!([0, 1, 2].map(|launch| slice_of(launch, 4))));
    // 10, 14 and 13 us.
    assert_eq!(browser.words("runs"), "Count 3 Least 10 us Median 13 us Greatest 14 us");
    // The call leads to the first node, and back.
    let (x, y) = browser.place_of(0);
    browser.click(x + 10.0, y);
    assert_eq!(browser.evaluate("timeline.selected()"), 0);
    browser.evaluate("document.querySelector('#details .link').click()");
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 0));
    // The right arrow key goes along the lane.
    browser.evaluate("document.getElementById('canvas').focus()");
    browser.press("ArrowRight", false);
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 1));
}

/// The numbers of the first launch, worked out from [`NODES`] by hand.
///
/// It lasts from 10 to 90.5 us. Its nodes take 20 + 40 + 20 + 10 + 10 us. The longest path is 12.0, 12.1, 12.4.
/// Lane 1 is busy for 20 + 40 + 10 us.
fn shows_what_a_launch_took(browser: &mut Browser) {
    browser.evaluate(&format!("timeline.select({})", slice_of(0, 0)));
    let measured = browser.evaluate("timeline.measured()");
    assert_eq!(measured["duration"], 80_500);
    assert_eq!(measured["total"], 100_000);
    assert_eq!(measured["length"], 70_000);
    assert_eq!(measured["path"], json!(["12.0", "12.1", "12.4"]));
    let gaps = json!([
        // Ready at 30 us, when 12.0 ends; 12.2 holds the lane until 51 us.
        ["12.3", 22_000, "lane 2 was busy with kernel right </script>"],
        // Ready at 70.5 us, when 12.1 ends.
        ["12.4", 10_000, "idle"],
        ["12.2", 1_000, "idle"],
        // Less than a hundredth of 80.5 us.
        ["12.1", 500, "the end of kernel scan"],
    ]);
    assert_eq!(measured["gaps"], gaps);
    let numbers = browser.words("numbers");
    for part in [
        "Duration 80.5 us",
        "Sum of durations 100 us",
        "Critical path 70 us",
        "Parallelism used 1.24",             // 100 / 80.5
        "Parallelism possible 1.43",         // 100 / 70
        "Busiest lane lane 1 (13.0 % idle)", // 1 - 70 / 80.5
    ] {
        assert!(numbers.contains(part), "no {part} in {numbers}");
    }
    assert!(browser.words("gaps").starts_with("fill rest 22 us lane 2 was busy with kernel right"));
    assert_eq!(browser.evaluate("document.querySelectorAll('#drawing .node').length"), 5);
    assert_eq!(browser.evaluate("document.querySelectorAll('#drawing .edge').length"), 6);
    assert_eq!(browser.evaluate("document.querySelectorAll('#drawing .node.critical').length"), 3);
    assert_eq!(browser.evaluate("document.querySelectorAll('#drawing .edge.critical').length"), 2);
    // A node selects its slice, and a slice its node.
    let script =
        "document.querySelector('#drawing [data-node=\"12.2\"]').dispatchEvent(new MouseEvent('click'))";
    browser.evaluate(script);
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 2));
    browser.evaluate(&format!("timeline.select({})", slice_of(1, 3)));
    let current = "document.querySelector('#drawing [aria-current=true]').dataset.node";
    assert_eq!(browser.evaluate(current), "12.3");
    assert!(browser.text("launch").starts_with("Launch 2 of graph 12"));
}

fn folds_tracks(browser: &mut Browser) {
    let fold = "document.querySelectorAll('#names button')[1].click()";
    browser.evaluate(fold);
    assert_eq!(
        browser.evaluate("timeline.tracks()"),
        json!(["program 4711", "thread 4711 main", "device 0"])
    );
    // What is selected by search is unfolded.
    browser.evaluate(&format!("timeline.select({})", slice_of(2, 1)));
    assert_eq!(browser.evaluate("timeline.tracks().length"), 6);
    assert!(browser.is_in_view(slice_of(2, 1)));
}

fn follows_links(browser: &mut Browser, path: &Path) {
    browser.open(path, "find=kernel%20scan&from=1000&to=60000");
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 0));
    assert_eq!(browser.range(), (1_000.0, 60_000.0));
    browser.open(path, "launch=3");
    assert!(browser.text("launch").starts_with("Launch 3 of graph 12"));
    let (from, to) = browser.range();
    assert!(from < 410_000.0 && to > 493_500.0 && to - from < 120_000.0, "{from} to {to}");
    // Another fragment of the page that is open.
    browser.evaluate(
        "new Promise((done) => { addEventListener('hashchange', () => done(true)); location.hash = 'find=12.4'; })",
    );
    assert_eq!(browser.evaluate("timeline.selected()"), slice_of(0, 4));
}

#[test]
fn workgroups_of_a_node_are_no_runs_of_it() {
    let Some(mut browser) = Browser::start("workgroups") else { return };
    let mut trace = sample();
    trace["tracks"].as_array_mut().expect("tracks").push(json!({
        "id": 7, "parent": 3, "name": "SE 0 CU 0", "kind": "lane",
    }));
    let slices = trace["slices"].as_array_mut().expect("slices");
    let part = slices.len();
    slices.push(json!({
        "track": 7, "start": 11_000, "end": 60_000, "name": "kernel left", "category": "workgroups",
        "arguments": { "node": "12.1", "executable": 1, "launch": 1, "workgroup": 0, "workgroups": 64, "busy": 40_000 },
    }));
    browser.open_trace(&trace);
    // The launch is measured as without, and found as often.
    shows_what_a_launch_took(&mut browser);
    assert_eq!(browser.evaluate("timeline.find('kernel left')"), 3);
    assert_eq!(browser.evaluate("timeline.find('12.1')"), 3);
    browser.evaluate(&format!("timeline.select({part})"));
    let details = browser.text("details");
    for said in ["program 4711 / device 0 / SE 0 CU 0", "64", "12.1"] {
        assert!(details.contains(said), "no {said} in {details}");
    }
    assert!(browser.text("launch").starts_with("Launch 1 of graph 12"));
    browser.assert_no_errors();
}

/// 200,000 slices on ten lanes.
#[test]
fn slices_narrower_than_a_pixel_are_drawn_once() {
    let Some(mut browser) = Browser::start("many") else { return };
    let tracks: Vec<_> = (1..=10)
        .map(|id| json!({ "id": id, "parent": 0, "name": format!("lane {id}"), "kind": "lane" }))
        .collect();
    let slice = |index: u32| {
        let start = index / 10 * 100;
        json!({ "track": 1 + index % 10, "start": start, "end": start + 90, "name": "kernel scan", "category": "kernel",
                "arguments": { "node": "12.0", "executable": 1, "launch": index } })
    };
    let slices: Vec<_> = (0..200_000).map(slice).collect();
    browser.open_trace(&json!({ "title": "many", "tracks": tracks, "slices": slices }));
    // At most one box a pixel and row.
    let width = browser.evaluate("document.getElementById('canvas').clientWidth").as_u64().expect("a number");
    let boxes = browser.evaluate("timeline.draw()").as_u64().expect("a number");
    assert!((5_000..=10 * (width + 2)).contains(&boxes), "{boxes} boxes, {width} pixels");
    // 1000 ns hold ten slices of each lane, and parts of two others.
    browser.evaluate("timeline.show(1000000, 1001000)");
    let boxes = browser.evaluate("timeline.draw()").as_u64().expect("a number");
    assert!((100..=120).contains(&boxes), "{boxes} boxes");
    browser.assert_no_errors();
}

#[test]
fn a_graph_of_more_than_400_nodes_folds_to_its_critical_path() {
    let Some(mut browser) = Browser::start("fold") else { return };
    // All nodes but two depend on an empty node, which depends on the first.
    let ids: Vec<_> = (0..402).map(|node| format!("5.{node}")).collect();
    let edges: Vec<_> = std::iter::once([0, 1]).chain((2..402).map(|node| [1, node])).collect();
    let slice = |node: usize| {
        let (start, end) = match node {
            0 => (0, 10),
            7 => (20, 60),
            _ => (12, 22),
        };
        json!({ "track": 1, "start": start, "end": end, "name": ids[node], "category": "kernel",
                "arguments": { "node": ids[node], "executable": 1, "launch": 1 } })
    };
    let slices: Vec<_> = (0..402).filter(|node| *node != 1).map(slice).collect();
    let nodes: Vec<_> = ids.iter().map(|id| json!({ "id": id, "name": id, "kind": "kernel" })).collect();
    browser.open_trace(&json!({
        "title": "fold", "slices": slices, "tracks": [{ "id": 1, "parent": 0, "name": "lane 1", "kind": "lane" }],
        "graphs": [{ "executable": 1, "process": 0, "name": "graph 5", "nodes": nodes, "edges": edges }],
    }));
    // The last slice, which overlaps 398 others, has a row of its own.
    assert!(!browser.is_in_view(400));
    browser.evaluate("timeline.select(400)");
    assert!(browser.is_in_view(400));
    assert_eq!(browser.text("folded"), "402 nodes: only the critical path shown");
    assert_eq!(browser.evaluate("document.querySelectorAll('#drawing .node').length"), 3);
    let measured = browser.evaluate("timeline.measured()");
    assert_eq!(measured["path"], json!(["5.0", "5.1", "5.7"]));
    assert_eq!(measured["length"], 50);
    // The empty node passes on the end of the first.
    assert_eq!(measured["gaps"][0], json!(["5.7", 10, "idle"]));
    browser.assert_no_errors();
}

#[test]
fn a_page_without_a_trace_says_so() {
    let Some(mut browser) = Browser::start("empty") else { return };
    let path = browser.folder.join("page.html");
    fs::write(&path, TEMPLATE).expect("a temporary file can be written");
    browser.open(&path, "");
    assert!(browser.text("details").starts_with("The page contains no trace that it can read: "));
    browser.assert_no_errors();
}
