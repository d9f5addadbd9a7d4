//! The page that shows a trace, in Chromium.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use xtask::browser::{Browser, CHROMIUM};

use crate::toolchain::has;

/// The page without a trace.
const TEMPLATE: &str = include_str!("../cli/src/trace/page.html");

/// A browser with the page in its tab, for which each answer that does not come is a failure.
struct Page(Browser);

impl Page {
    /// Starts Chromium; `None`, after a message, if it is not installed.
    fn start(name: &str) -> Option<Self> {
        has(CHROMIUM, "chromium").then(|| Self(Browser::start(name).unwrap()))
    }

    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.0.command(method, parameters).unwrap_or_else(|error| panic!("{error}"))
    }

    fn evaluate(&mut self, script: &str) -> Value {
        self.0.evaluate(script).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Writes a page with a trace into a file, and opens it.
    fn open_trace(&mut self, trace: &Value) -> PathBuf {
        let path = self.0.folder().join("page.html");
        fs::write(&path, fill(trace)).expect("a temporary file can be written");
        self.open(&path, "");
        path
    }

    /// Opens a file with a fragment, and waits until it is loaded.
    fn open(&mut self, path: &Path, fragment: &str) {
        self.0.open(&format!("file://{}#{fragment}", path.display())).unwrap();
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
        assert!(self.0.errors().is_empty(), "{}", self.0.errors().join("\n"));
    }
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
    let Some(mut page) = Page::start("sample") else { return };
    let path = page.open_trace(&sample());
    opens(&mut page);
    zooms_about_the_pointer(&mut page);
    finds_by_name(&mut page);
    selects_by_pointer(&mut page);
    shows_what_a_launch_took(&mut page);
    folds_tracks(&mut page);
    follows_links(&mut page, &path);
    page.assert_no_errors();
}

fn opens(page: &mut Page) {
    let names = json!(["program 4711", "thread 4711 main", "device 0", "lane 1", "lane 2", "memory in use"]);
    assert_eq!(page.evaluate("timeline.tracks()"), names);
    assert_eq!(page.text("title"), "./program 1 2");
    assert!(page.text("names").contains("memory in use\nup to 64 KiB"));
    assert!(page.text("launches").contains("1 (graph 12)"));
    // The whole trace: its last slice ends at 493.5 us.
    let (from, to) = page.range();
    assert!(from <= 0.0 && (493_500.0..520_000.0).contains(&to), "{from} to {to}");
    // Categories differ in colour, and nothing is white.
    let slices = [0, 1, slice_of(0, 0), slice_of(0, 3), slice_of(0, 4)];
    page.evaluate("timeline.show(0, 120000)");
    let colours: Vec<_> = slices.iter().map(|slice| page.colour_of(*slice)).collect();
    for (index, colour) in colours.iter().enumerate() {
        assert!(!colours[..index].contains(colour) && colour[3] == 255, "{colours:?}");
    }
    let image = page.screenshot();
    assert!(image.starts_with(b"\x89PNG\r\n\x1a\n") && image.len() > 20_000, "{} bytes", image.len());
}

fn zooms_about_the_pointer(page: &mut Page) {
    page.evaluate("timeline.show(0, 120000)");
    let before = page.range();
    let (x, y) = page.place_of(slice_of(0, 1));
    page.wheel(x, y, -300.0);
    let after = page.range();
    let share = (after.1 - after.0) / (before.1 - before.0);
    assert!((0.3..0.8).contains(&share), "{before:?} to {after:?}");
    // The slice under the pointer stays there; a pixel is about 100 ns.
    let (moved, _) = page.place_of(slice_of(0, 1));
    assert!((moved - x).abs() < 2.0, "{x} to {moved}");
    page.wheel(x, y, 300.0);
    let back = page.range();
    assert!((back.0 - before.0).abs() < 1.0 && (back.1 - before.1).abs() < 1.0, "{before:?} to {back:?}");
    // A drag to the right moves the range to earlier times.
    page.drag((x, y + 200.0), (x + 50.0, y + 200.0));
    assert!(page.range().0 < before.0);
    page.press("d", false);
    page.press("w", false);
    let (from, to) = page.range();
    assert!(to - from < before.1 - before.0);
}

fn finds_by_name(page: &mut Page) {
    // Away from all runs of the node.
    page.evaluate("timeline.show(100000, 150000); document.getElementById('search').focus()");
    page.write("kernel left");
    assert_eq!(page.text("count"), "3 found");
    assert!(!page.is_in_view(slice_of(0, 1)));
    for (shift, launch, count) in [
        (false, 0, "1 of 3"),
        (false, 1, "2 of 3"),
        (true, 0, "1 of 3"),
        (true, 2, "3 of 3"),
        (false, 0, "1 of 3"),
    ] {
        page.press("Enter", shift);
        assert_eq!(page.text("count"), count);
        assert_eq!(page.evaluate("timeline.selected()"), slice_of(launch, 1));
        assert!(page.is_in_view(slice_of(launch, 1)));
    }
    let details = page.text("details");
    for part in ["kernel left", "program 4711 / device 0 / lane 1", "40 us", "12.1", "All runs of this node"]
    {
        assert!(details.contains(part), "no {part} in {details}");
    }
    // Node ids, and arguments.
    assert_eq!(page.evaluate("timeline.find('12.3')"), 3);
    assert_eq!(page.evaluate("timeline.find('launch=2')"), 6);
    assert_eq!(page.evaluate("timeline.find('HIPSUCCESS')"), 3);
    assert_eq!(page.evaluate("timeline.find('nothing of this name')"), 0);
    assert_eq!(page.text("count"), "0 found");
    page.evaluate("timeline.find('')");
}

fn selects_by_pointer(page: &mut Page) {
    page.evaluate("timeline.select(null); timeline.show(0, 120000)");
    let (x, y) = page.place_of(slice_of(0, 4));
    page.point_at(x, y);
    let tooltip = page.text("tooltip");
    assert!(tooltip.starts_with("copy out\n10 us\n") && tooltip.contains("node: 12.4"), "{tooltip}");
    page.click(x, y);
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 4));
    assert_eq!(page.evaluate("timeline.related()"), json!([0, 1, 2].map(|launch| slice_of(launch, 4))));
    // 10, 14 and 13 us.
    assert_eq!(page.words("runs"), "Count 3 Least 10 us Median 13 us Greatest 14 us");
    // The call leads to the first node, and back.
    let (x, y) = page.place_of(0);
    page.click(x + 10.0, y);
    assert_eq!(page.evaluate("timeline.selected()"), 0);
    page.evaluate("document.querySelector('#details .link').click()");
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 0));
    // The right arrow key goes along the lane.
    page.evaluate("document.getElementById('canvas').focus()");
    page.press("ArrowRight", false);
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 1));
}

/// The numbers of the first launch, worked out from [`NODES`] by hand.
///
/// It lasts from 10 to 90.5 us. Its nodes take 20 + 40 + 20 + 10 + 10 us. The longest path is 12.0, 12.1, 12.4.
/// Lane 1 is busy for 20 + 40 + 10 us.
fn shows_what_a_launch_took(page: &mut Page) {
    page.evaluate(&format!("timeline.select({})", slice_of(0, 0)));
    let measured = page.evaluate("timeline.measured()");
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
    let numbers = page.words("numbers");
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
    assert!(page.words("gaps").starts_with("fill rest 22 us lane 2 was busy with kernel right"));
    assert_eq!(page.evaluate("document.querySelectorAll('#drawing .node').length"), 5);
    assert_eq!(page.evaluate("document.querySelectorAll('#drawing .edge').length"), 6);
    assert_eq!(page.evaluate("document.querySelectorAll('#drawing .node.critical').length"), 3);
    assert_eq!(page.evaluate("document.querySelectorAll('#drawing .edge.critical').length"), 2);
    // A node selects its slice, and a slice its node.
    let script =
        "document.querySelector('#drawing [data-node=\"12.2\"]').dispatchEvent(new MouseEvent('click'))";
    page.evaluate(script);
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 2));
    page.evaluate(&format!("timeline.select({})", slice_of(1, 3)));
    let current = "document.querySelector('#drawing [aria-current=true]').dataset.node";
    assert_eq!(page.evaluate(current), "12.3");
    assert!(page.text("launch").starts_with("Launch 2 of graph 12"));
}

fn folds_tracks(page: &mut Page) {
    let fold = "document.querySelectorAll('#names button')[1].click()";
    page.evaluate(fold);
    assert_eq!(page.evaluate("timeline.tracks()"), json!(["program 4711", "thread 4711 main", "device 0"]));
    // What is selected by search is unfolded.
    page.evaluate(&format!("timeline.select({})", slice_of(2, 1)));
    assert_eq!(page.evaluate("timeline.tracks().length"), 6);
    assert!(page.is_in_view(slice_of(2, 1)));
}

fn follows_links(page: &mut Page, path: &Path) {
    page.open(path, "find=kernel%20scan&from=1000&to=60000");
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 0));
    assert_eq!(page.range(), (1_000.0, 60_000.0));
    page.open(path, "launch=3");
    assert!(page.text("launch").starts_with("Launch 3 of graph 12"));
    let (from, to) = page.range();
    assert!(from < 410_000.0 && to > 493_500.0 && to - from < 120_000.0, "{from} to {to}");
    // Another fragment of the page that is open.
    page.evaluate(
        "new Promise((done) => { addEventListener('hashchange', () => done(true)); location.hash = 'find=12.4'; })",
    );
    assert_eq!(page.evaluate("timeline.selected()"), slice_of(0, 4));
}

#[test]
fn workgroups_of_a_node_are_no_runs_of_it() {
    let Some(mut page) = Page::start("workgroups") else { return };
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
    page.open_trace(&trace);
    // The launch is measured as without, and found as often.
    shows_what_a_launch_took(&mut page);
    assert_eq!(page.evaluate("timeline.find('kernel left')"), 3);
    assert_eq!(page.evaluate("timeline.find('12.1')"), 3);
    page.evaluate(&format!("timeline.select({part})"));
    let details = page.text("details");
    for said in ["program 4711 / device 0 / SE 0 CU 0", "64", "12.1"] {
        assert!(details.contains(said), "no {said} in {details}");
    }
    assert!(page.text("launch").starts_with("Launch 1 of graph 12"));
    page.assert_no_errors();
}

/// 200,000 slices on ten lanes.
#[test]
fn slices_narrower_than_a_pixel_are_drawn_once() {
    let Some(mut page) = Page::start("many") else { return };
    let tracks: Vec<_> = (1..=10)
        .map(|id| json!({ "id": id, "parent": 0, "name": format!("lane {id}"), "kind": "lane" }))
        .collect();
    let slice = |index: u32| {
        let start = index / 10 * 100;
        json!({ "track": 1 + index % 10, "start": start, "end": start + 90, "name": "kernel scan", "category": "kernel",
                "arguments": { "node": "12.0", "executable": 1, "launch": index } })
    };
    let slices: Vec<_> = (0..200_000).map(slice).collect();
    page.open_trace(&json!({ "title": "many", "tracks": tracks, "slices": slices }));
    // At most one box a pixel and row.
    let width = page.evaluate("document.getElementById('canvas').clientWidth").as_u64().expect("a number");
    let boxes = page.evaluate("timeline.draw()").as_u64().expect("a number");
    assert!((5_000..=10 * (width + 2)).contains(&boxes), "{boxes} boxes, {width} pixels");
    // 1000 ns hold ten slices of each lane, and parts of two others.
    page.evaluate("timeline.show(1000000, 1001000)");
    let boxes = page.evaluate("timeline.draw()").as_u64().expect("a number");
    assert!((100..=120).contains(&boxes), "{boxes} boxes");
    page.assert_no_errors();
}

#[test]
fn a_graph_of_more_than_400_nodes_folds_to_its_critical_path() {
    let Some(mut page) = Page::start("fold") else { return };
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
    page.open_trace(&json!({
        "title": "fold", "slices": slices, "tracks": [{ "id": 1, "parent": 0, "name": "lane 1", "kind": "lane" }],
        "graphs": [{ "executable": 1, "process": 0, "name": "graph 5", "nodes": nodes, "edges": edges }],
    }));
    // The last slice, which overlaps 398 others, has a row of its own.
    assert!(!page.is_in_view(400));
    page.evaluate("timeline.select(400)");
    assert!(page.is_in_view(400));
    assert_eq!(page.text("folded"), "402 nodes: only the critical path shown");
    assert_eq!(page.evaluate("document.querySelectorAll('#drawing .node').length"), 3);
    let measured = page.evaluate("timeline.measured()");
    assert_eq!(measured["path"], json!(["5.0", "5.1", "5.7"]));
    assert_eq!(measured["length"], 50);
    // The empty node passes on the end of the first.
    assert_eq!(measured["gaps"][0], json!(["5.7", 10, "idle"]));
    page.assert_no_errors();
}

#[test]
fn a_page_without_a_trace_says_so() {
    let Some(mut page) = Page::start("empty") else { return };
    let path = page.0.folder().join("page.html");
    fs::write(&path, TEMPLATE).expect("a temporary file can be written");
    page.open(&path, "");
    assert!(page.text("details").starts_with("The page contains no trace that it can read: "));
    page.assert_no_errors();
}
