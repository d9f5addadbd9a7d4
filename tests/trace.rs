//! `aqlipse trace`: what programs did is in the file, as Perfetto's own description of the format reads it.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use xtask::packages;

use crate::toolchain::{
    MATRIX, Output, Program, Toolchain, build::compile_host, has, is_emulated, process::Finished,
};

/// The file of a trace, unless a test wants another.
pub const TRACE: &str = "trace.pftrace";

/// A program that was traced, and files of it that go with this.
pub struct Traced {
    pub folder: PathBuf,
    finished: Finished,
}

impl Drop for Traced {
    fn drop(&mut self) {
        // What stays behind stays in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Traced {
    /// A program of `tests/programs` below the command.
    pub fn program(name: &str, options: &[&str], arguments: &[&str]) -> Option<Self> {
        let toolchain = Toolchain::find()?;
        let program = MATRIX[3].compile(&toolchain, &format!("{name}.hip"), Output::Program);
        Some(Self::run(&toolchain, name, &program, options, arguments))
    }

    fn run(toolchain: &Toolchain, name: &str, program: &Path, options: &[&str], arguments: &[&str]) -> Self {
        let folder = env::temp_dir().join(format!("aqlipse-trace-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let command = toolchain.command();
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let outer = [command.to_str().unwrap(), "trace"].map(str::to_owned);
        // Options name files in the folder.
        let output: &[&str] = if options.contains(&"--output") { &[] } else { &["--output", TRACE] };
        let options = [output, options].concat();
        let options = options.iter().map(|option| match option.starts_with("--") {
            true => (*option).to_owned(),
            false => path(option),
        });
        let outer: Vec<String> = outer.into_iter().chain(options).chain(["--".to_owned()]).collect();
        let outer: Vec<&str> = outer.iter().map(String::as_str).collect();
        let finished = Program::below(toolchain, &outer, program, "gfx90a").args(arguments).run();
        Self { folder, finished }
    }

    pub fn passed(&self) {
        let Finished { status, stdout, stderr } = &self.finished;
        assert!(status.success() && stdout.contains("Validation passed."), "{status}\n{stdout}{stderr}");
    }

    /// What Perfetto's description says that is in the file; `None`, after a message, if it is not here.
    fn read(&self) -> Option<Trace> {
        match packages::read_trace(&self.folder.join(TRACE)) {
            Ok(read) => Some(Trace(serde_json::from_slice(&read.unwrap()).unwrap())),
            Err(error) => {
                assert!(!packages::required(), "{error}");
                eprintln!("skipped: {error}");
                None
            }
        }
    }
}

struct Trace(Value);

impl Trace {
    fn slices(&self, category: &str) -> Vec<&Value> {
        let all = self.0["slices"].as_array().unwrap();
        all.iter().filter(|slice| slice["category"] == category).collect()
    }

    fn at(&self, index: &Value) -> &Value {
        &self.0["slices"][usize::try_from(index.as_u64().unwrap()).unwrap()]
    }

    /// What devices did, by node: how often, and what it is called.
    fn nodes(&self) -> BTreeMap<(u64, &str), Vec<&str>> {
        let mut nodes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for slice in ["kernel", "copy", "fill"].iter().flat_map(|category| self.slices(category)) {
            let arguments = &slice["arguments"];
            if let (Some(executable), Some(node)) =
                (arguments["executable"].as_u64(), arguments["node"].as_str())
            {
                nodes.entry((executable, node)).or_default().push(slice["name"].as_str().unwrap());
            }
        }
        nodes
    }
}

fn time(slice: &Value, what: &str) -> u64 {
    slice[what].as_u64().unwrap()
}

#[test]
fn each_launch_of_a_node_has_its_name_and_its_time() {
    let Some(traced) = Traced::program("graph_forkjoin", &[], &["16384"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let nodes = trace.nodes();
    let names: Vec<&str> = nodes.values().map(|names| names[0]).collect();
    assert_eq!(names.len(), 10, "{nodes:?}");
    assert!(
        nodes.values().all(|names| names.len() == 3 && names.iter().all(|name| *name == names[0])),
        "{nodes:?}"
    );
    for name in ["scale(int*, int)", "memcpy", "memset"] {
        assert!(names.iter().filter(|found| **found == name).count() >= 2, "{names:?}");
    }

    let launches = trace.slices("launch");
    let of_graph: Vec<_> = launches.iter().filter(|slice| slice["arguments"]["executable"] == 1).collect();
    assert_eq!(of_graph.len(), 3);
    let calls = trace.slices("api");
    for kernel in trace.slices("kernel") {
        assert!(kernel["track"].as_str().unwrap().starts_with("queue "), "{kernel}");
        assert_eq!(kernel["around"], "device 0");
        let launch =
            launches.iter().find(|slice| slice["arguments"]["launch"] == kernel["arguments"]["launch"]);
        let launch = launch.unwrap();
        assert!(time(kernel, "start") >= time(launch, "start"), "{kernel} before {launch}");
        // A call is around its launch.
        let is_around = |call: &&&Value| {
            time(call, "start") <= time(launch, "start") && time(launch, "end") <= time(call, "end")
        };
        assert!(calls.iter().any(|call| is_around(&call)), "{launch}");
    }
    // The first node of each launch says where it was launched from.
    let led_to = trace.0["slices"].as_array().unwrap().iter().filter_map(|slice| slice["from"].get(0));
    let led_to: Vec<_> = led_to.map(|from| &trace.at(from)["arguments"]["launch"]).collect();
    assert!(of_graph.iter().all(|launch| led_to.contains(&&launch["arguments"]["launch"])));
    assert!(trace.0["counters"].as_array().unwrap().iter().any(|count| count["value"].as_u64() > Some(4096)));
    assert_eq!(trace.slices("capture").len(), 1);
    // What the program waited for last before it looked at the results.
    let ends: Vec<_> = trace.slices("wait").iter().map(|wait| &wait["arguments"]["ended by"]).collect();
    assert!(ends.contains(&&"executable 1".into()), "{ends:?}");
}

#[test]
fn calls_have_their_arguments_by_name() {
    let Some(traced) = Traced::program("graph_forkjoin", &[], &["16384"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let of = |name: &str| {
        let calls = trace.slices("api").into_iter().filter(|call| call["name"] == name);
        calls.map(|call| call["arguments"].clone()).collect::<Vec<_>>()
    };
    let bytes = 16384 * size_of::<i32>();
    let copies = of("hipMemcpyAsync");
    assert_eq!(copies.len(), 2);
    for copy in &copies {
        assert!(copy["kind"] == "hipMemcpyHostToDevice" && copy["sizeBytes"] == bytes, "{copy}");
    }
    assert!(copies[0]["dst"] != copies[1]["dst"] && copies[0]["stream"] != copies[1]["stream"], "{copies:?}");
    assert!(of("hipMalloc").iter().all(|call| call["size"] == bytes && call["ptr"].as_u64() > Some(0)));
    assert_eq!(of("hipStreamBeginCapture")[0]["mode"], "hipStreamCaptureModeGlobal");
    let kernels = of("hipLaunchKernel");
    assert_eq!(kernels.len(), 5);
    for kernel in kernels {
        assert!(
            kernel["numBlocks"] == "64, 1, 1"
                && kernel["dimBlocks"] == "256, 1, 1"
                && kernel["sharedMemBytes"] == 0,
            "{kernel}"
        );
    }
    let launches = of("hipGraphLaunch");
    assert!(launches.len() == 3 && launches.iter().all(|launch| *launch == launches[0]), "{launches:?}");
}

#[test]
fn workgroups_are_on_the_compute_units_of_the_emulated_device() {
    let Some(traced) = Traced::program("graph_forkjoin", &[], &["16384"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let parts = trace.slices("workgroups");
    assert!(is_emulated() != parts.is_empty());
    let same = |part: &Value, run: &Value| {
        let given = ["launch", "node", "executable", "stream"];
        given.iter().all(|name| part["arguments"][name] == run["arguments"][name])
            && part["name"] == run["name"]
    };
    let runs: Vec<_> =
        ["kernel", "copy", "fill"].iter().flat_map(|category| trace.slices(category)).collect();
    for part in &parts {
        let track = part["track"].as_str().unwrap();
        assert!(track.starts_with("SE 0 CU ") && part["around"] == "device 0", "{part}");
        // The clock of a device counts tens of nanoseconds.
        let is_within = |run: &Value| {
            time(run, "start") <= time(part, "start") && time(part, "end") <= time(run, "end") + 10
        };
        assert!(runs.iter().any(|run| same(part, run) && is_within(run)), "{part}");
    }
    for run in trace.slices("kernel").iter().filter(|_| is_emulated()) {
        let of_run = parts.iter().filter(|part| same(part, run));
        let workgroups: u64 = of_run.map(|part| part["arguments"]["workgroups"].as_u64().unwrap_or(1)).sum();
        assert_eq!(workgroups, 16384 / 256, "{run}");
    }
}

#[test]
fn resident_graphs_that_kernels_or_the_host_launch_are_on_compute_units_alone() {
    let Some(traced) = Traced::program("graph_device_launch", &[], &[]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    assert!(trace.slices("kernel").iter().all(|slice| slice["name"] != "add(int*, int)"));
    let mut parts = trace.slices("workgroups");
    parts.retain(|slice| slice["name"] == "add(int*, int)");
    // 64 graphs of five kernels three times, half of them once more, and one by a kernel and by the host.
    let launches = if is_emulated() { 64 * 3 + 32 + 2 } else { 0 };
    assert_eq!(parts.len(), launches * 5);
    let known = |part: &&&Value| part["arguments"]["queue"].is_u64() && part["arguments"]["launch"].is_null();
    assert_eq!(parts.iter().filter(known).count(), parts.len());
}

#[test]
fn bodies_of_conditional_nodes_are_there_as_often_as_they_run() {
    let Some(traced) = Traced::program("graph_conditional", &[], &[]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let halvings: Vec<_> = trace
        .nodes()
        .into_iter()
        .filter(|(_, names)| names[0].starts_with("halve"))
        .map(|((executable, _), names)| (executable, names.len()))
        .collect();
    assert_eq!(halvings, [(4, 30)], "three launches of ten turns");
    // What the host does for it is around them.
    let driven = trace.slices("host");
    let turns = trace.slices("kernel");
    let turns = turns.iter().filter(|slice| slice["name"].as_str().unwrap().starts_with("halve"));
    for turn in turns {
        let is_around = |step: &&&Value| {
            step["arguments"]["launch"] == turn["arguments"]["launch"]
                && time(step, "start") <= time(turn, "start")
                && time(turn, "end") <= time(step, "end")
        };
        assert!(driven.iter().any(|step| is_around(&step)), "{turn}");
    }
}

#[test]
fn copies_by_engines_are_on_tracks_of_their_own() {
    let track = |copy: &Value| copy["track"].as_str().unwrap().to_owned();
    let by_engine = |copy: &&Value| track(copy).starts_with("copy engine ");
    // Of the nodes that copy 4 MiB of pinned memory beside kernels.
    let Some(traced) = Traced::program("graph_forkjoin", &[], &["1048576"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    assert!(trace.nodes().len() == 10 && trace.nodes().values().all(|names| names.len() == 3));
    let mut copies = trace.slices("copy");
    copies.retain(by_engine);
    assert_eq!(copies.len(), 2 * 3);
    assert!(copies.iter().all(|copy| copy["arguments"]["node"].is_string() && copy["around"] == "device 0"));
    // Of a stream, there and back.
    let toolchain = Toolchain::find().unwrap();
    let program = compile_host(&toolchain, "pinned_copies.cpp", &[], &[]);
    let traced = Traced::run(&toolchain, "copies", &program, &[], &[]);
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let copies = trace.slices("copy");
    assert_eq!(copies.iter().map(|copy| track(copy)).collect::<Vec<_>>(), ["copy engine 0", "copy engine 1"]);
    for copy in &copies {
        let launches = trace.slices("launch");
        let mut launches = launches.iter();
        let launch =
            launches.find(|slice| slice["arguments"]["launch"] == copy["arguments"]["launch"]).unwrap();
        assert!(time(launch, "start") <= time(copy, "start") && copy["from"].as_array().unwrap().len() == 1);
    }
    assert!(time(copies[0], "end") <= time(copies[1], "start"), "in the order of the stream");
}

#[test]
fn cooperative_kernels_are_there_with_their_launches_and_nodes() {
    // A kernel and two that are cooperative, in a graph that is launched three times; one on a stream, five times.
    let tests = ["graphs_launch_them", "blocks_wait_for_each_other"];
    let Some(traced) = Traced::program("device_cooperative", &[], &tests) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let kernels = trace.slices("kernel");
    let of = |name: &str| {
        kernels.iter().filter(|slice| slice["name"].as_str().unwrap().starts_with(name)).collect::<Vec<_>>()
    };
    let of_graph =
        |slice: &&&&Value| slice["arguments"]["executable"] == 1 && slice["arguments"]["node"].is_string();
    let count = |name: &str| (of(name).iter().filter(of_graph).count(), of(name).len());
    assert_eq!([count("set("), count("sum_all("), count("ring(")], [(3, 3), (3, 3), (3, 8)]);
    let nodes: BTreeMap<_, Vec<_>> = trace.nodes();
    assert!(nodes.len() == 3 && nodes.values().all(|names| names.len() == 3), "{nodes:?}");
    for kernel in of("ring(") {
        let launches = trace.slices("launch");
        let launch = launches
            .iter()
            .find(|slice| slice["arguments"]["launch"] == kernel["arguments"]["launch"])
            .unwrap();
        assert!(time(launch, "start") <= time(kernel, "start"), "{kernel} before {launch}");
        let parts = trace.slices("workgroups");
        let parts: Vec<_> = parts
            .iter()
            .filter(|part| {
                part["arguments"]["launch"] == kernel["arguments"]["launch"] && part["name"] == kernel["name"]
            })
            .collect();
        assert!(is_emulated() != parts.is_empty(), "{kernel}");
    }
}

#[test]
fn functions_of_the_host_are_on_the_thread_that_calls_them() {
    let Some(traced) = Traced::program("graph_capture", &[], &["16384", "3"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let mut functions = trace.slices("host");
    // Pageable memory is pinned there, too.
    functions.retain(|slice| slice["name"] == "host function");
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    functions
        .iter()
        .for_each(|slice| *nodes.entry(slice["arguments"]["node"].as_str().unwrap()).or_default() += 1);
    assert!(nodes.len() == 1 && nodes.values().all(|&count| count >= 3), "{nodes:?}");
    let main = &trace.slices("api")[0]["track"];
    assert!(functions.iter().all(|slice| slice["track"] != *main));
}

#[test]
fn a_trace_is_written_for_other_viewers_and_as_a_page() {
    let Some(traced) = Traced::program("graph_forkjoin", &["--html", "trace.html"], &["16384"]) else {
        return;
    };
    traced.passed();
    let page = fs::read_to_string(traced.folder.join("trace.html")).unwrap();
    let json = page.split("<script type=\"application/json\" id=\"trace\">").nth(1).unwrap();
    let shown: Value = serde_json::from_str(json.split("</script>").next().unwrap()).unwrap();
    let graph = &shown["graphs"][0];
    let ids: Vec<_> = graph["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    let slices = shown["slices"].as_array().unwrap();
    let runs: Vec<_> = slices
        .iter()
        .filter(|slice| {
            slice["category"] != "workgroups" && slice["arguments"]["executable"] == graph["executable"]
        })
        .collect();
    assert!(
        ids.iter().all(|id| runs.iter().filter(|run| run["arguments"]["node"] == **id).count() == 3),
        "{graph}"
    );
    assert_eq!(graph["edges"].as_array().unwrap().len(), 11);
    let malloc = slices.iter().find(|slice| slice["name"] == "hipMalloc").unwrap();
    let (address, size) = (&malloc["arguments"]["ptr"], &malloc["arguments"]["size"]);
    assert!(address.as_str().unwrap().starts_with("0x") && *size == 65536, "{malloc}");

    let Some(json) = Traced::program("graph_forkjoin", &["--output", "trace.json"], &["16384"]) else {
        return;
    };
    json.passed();
    let events: Value = serde_json::from_slice(&fs::read(json.folder.join("trace.json")).unwrap()).unwrap();
    let events = events["traceEvents"].as_array().unwrap();
    assert_eq!(events.iter().filter(|event| event["ph"] == "X" && event["cat"] == "kernel").count(), 3 * 6);
}

#[test]
fn the_doctor_says_what_graphs_are_made_of() {
    let Some(toolchain) = Toolchain::find() else { return };
    let program = MATRIX[3].compile(&toolchain, "graph_forkjoin.hip", Output::Program);
    let command = toolchain.command();
    let outer = [command.to_str().unwrap(), "doctor", "graph", "--"];
    let finished = Program::below(&toolchain, &outer, &program, "gfx90a").args(&["16384"]).run();
    let said = &finished.stdout;
    assert!(finished.status.success(), "{said}{}", finished.stderr);
    assert!(said.contains(": 10 nodes (6 Kernel, 2 Memcpy, 2 Memset), 11 edges\n"), "{said}");
    assert!(said.contains("  the longest chain has 6 nodes: "), "{said}");
    // Why this plan: what others would take, what keeps each edge, and what a launch is then.
    assert!(said.contains("\n  plan: ") && said.contains("by the scheduler's costs\n"), "{said}");
    let kept = said.split("\n  edges are kept: ").nth(1).unwrap().lines().next().unwrap();
    let kept = kept.split(", ").map(|part| part.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(kept.sum::<usize>(), 11, "{said}");
    assert!(said.contains("\n  a launch is packets that the host fills in and publishes\n"), "{said}");
    // Four of 64 KiB.
    assert!(said.contains("\n  copies and fills of 262144 bytes\n"), "{said}");
}

#[test]
fn stages_that_repeat_are_told_and_drawn_once() {
    let Some(toolchain) = Toolchain::find() else { return };
    let folder = env::temp_dir().join(format!("aqlipse-dump-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let command = toolchain.command();
    let library = toolchain.lib().join("libamdhip64.so");
    let finished = Program::new(&toolchain, &command, "gfx90a")
        .args(&["bench-worker", "--library", library.to_str().unwrap()])
        .args(&["--case", "forkjoin8/145", "--launches", "1"])
        .env("AQLIPSE_EMULATE_NULL", "1")
        .env("AQLIPSE_DUMP", folder.to_str().unwrap())
        .run();
    assert!(finished.status.success(), "{}{}", finished.stdout, finished.stderr);
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let graph = |path: &PathBuf| -> Option<Value> {
        let text = fs::read(path).unwrap();
        let graph: Value = serde_json::from_slice(&text).ok()?;
        (graph["nodes"].as_array()?.len() == 145).then_some(graph)
    };
    let (path, graph) = files.filter_map(|path| Some((path.clone(), graph(&path)?))).next().unwrap();
    // 16 forks of 8 behind a node, and what joins the last.
    assert_eq!(graph["blocks"], serde_json::json!([{ "first": 0, "nodes": 9, "times": 16 }]));
    let picture = path.with_extension("dot");
    let drawn = fs::read_to_string(&picture).unwrap();
    assert!(drawn.contains("label=\"16 times\"") && drawn.matches("[label=").count() == 10, "{drawn}");
    if has("/usr/bin/dot", "graphviz") {
        let dot = Command::new("/usr/bin/dot").arg("-Tsvg").arg(&picture).output().unwrap();
        assert!(dot.status.success() && dot.stderr.is_empty(), "{}", String::from_utf8_lossy(&dot.stderr));
    }
    let doctor = Command::new(&command).args(["doctor", "graph"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("\n  16 times: 9 nodes, "), "{said}{}", String::from_utf8_lossy(&doctor.stderr));
    fs::remove_dir_all(folder).unwrap();
}

// proves: hipProfilerStart, hipProfilerStop
#[test]
fn ranges_of_the_program_are_on_the_timeline() {
    let Some(toolchain) = Toolchain::find() else { return };
    let program = compile_host(&toolchain, "ranges.cpp", &[], &["roctx64"]);
    let traced = Traced::run(&toolchain, "ranges", &program, &[], &[]);
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let ranges = trace.slices("range");
    let named =
        |name: &str| ranges.iter().find(|slice| slice["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let (outer, inner, apart) = (named("outer"), named("inner"), named("apart"));
    assert_eq!((&outer["depth"], &inner["depth"], &apart["track"]), (&0.into(), &1.into(), &"ranges".into()));
    assert!(time(apart, "start") < time(outer, "end") && time(outer, "end") < time(apart, "end"));
    assert_eq!(time(named("mark"), "start"), time(named("mark"), "end"));
    // Calls are paused meanwhile; ranges are the program's own.
    assert!(time(named("paused"), "start") > time(apart, "end"));
    assert!(trace.slices("api").iter().all(|call| call["name"] != "hipFree"));
    let is_inside =
        |call: &Value| time(inner, "start") <= time(call, "start") && time(call, "end") <= time(inner, "end");
    assert!(trace.slices("api").iter().any(|call| call["name"] == "hipMalloc" && is_inside(call)));
}

/// The rows of a summary: how often, and what.
fn rows(text: &str) -> Vec<(u64, String)> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "ns" | "us" | "ms" | "s", count, _, _, ref name @ ..] = words[..] else { return None };
        Some((count.parse().ok()?, name.join(" "))).filter(|(_, name)| !name.is_empty())
    };
    text.lines().filter_map(row).collect()
}

#[test]
fn the_pages_show_what_the_command_says() {
    let Some(traced) = Traced::program("graph_forkjoin", &["--html", "trace.html"], &[]) else { return };
    traced.passed();
    let said = &traced.finished.stderr;
    let is_there = |(count, name): &(u64, String)| match name.contains('(') || name.starts_with("mem") {
        true => rows(said).contains(&(*count, name.clone())),
        false => name.starts_with("hip"),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, least) in [("README.md", 5), ("docs/trace.md", 10)] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let block = text.split("```text\n").find(|block| block.starts_with("      time    count")).unwrap();
        let shown = rows(block.split("```").next().unwrap());
        assert!(shown.len() >= least && shown.iter().all(is_there), "{page}: {shown:?}\n{said}");
        assert!(
            block.contains("executable 1: 3 launches, median ")
                && said.contains("executable 1: 3 launches, median ")
        );
        assert!(block.contains(" events of 1 process in ") && said.contains(" events of 1 process in "));
    }
}

#[test]
fn a_trace_that_ends_in_the_middle_is_read_as_far_as_it_goes() {
    let Some(toolchain) = Toolchain::find() else { return };
    let program = MATRIX[3].compile(&toolchain, "graph_forkjoin.hip", Output::Program);
    let shell = "set -e; \"$0\" 16384; truncate -s -1 \"$AQLIPSE_TRACE\"";
    let inner = ["-c", shell, program.to_str().unwrap()];
    let traced = Traced::run(&toolchain, "cut", Path::new("/bin/sh"), &["--html", "trace.html"], &inner);
    traced.passed();
    let said = &traced.finished.stderr;
    let warning =
        said.lines().find(|line| line.starts_with("aqlipse: warning: ")).unwrap_or_else(|| panic!("{said}"));
    let left_out: usize =
        warning.split_once("the last ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert!((1..1000).contains(&left_out) && warning.contains(TRACE), "{warning}");
    assert!(
        said.contains("executable 1: 3 launches, ") && said.contains(" events of 1 process in "),
        "{said}"
    );
    // Of three launches with ten nodes that a device does, the end of the last may be missing.
    let page = fs::read_to_string(traced.folder.join("trace.html")).unwrap();
    assert!(page.matches("\"node\":\"").count() >= 30);
}

#[test]
fn what_cannot_be_traced_is_said_and_exit_codes_are_passed_on() {
    let Some(toolchain) = Toolchain::find() else { return };
    let run = |arguments: &[&str]| {
        let mut command = Command::new(toolchain.command());
        command
            .arg("trace")
            .args(arguments)
            .env("LD_LIBRARY_PATH", toolchain.library_path())
            .output()
            .unwrap()
    };
    let file = env::temp_dir().join(format!("aqlipse-trace-codes-{}", std::process::id()));
    let file = file.to_str().unwrap();
    assert_eq!(run(&["-o", file, "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(run(&["-o", file, "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(128 + 9));
    assert_eq!(run(&["-o", file, "--", "/no/such/program"]).status.code(), Some(127));
    fs::remove_file(file).unwrap();
    let refused = run(&["-o", "/no/such/folder/trace", "--", "true"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("/no/such/folder/trace"), "{said}");
}

/// Whatever the back end is, the times are those that the packet processor notes.
#[test]
fn a_kernel_that_takes_longer_is_longer() {
    let Some(traced) = Traced::program("graph_forkjoin", &[], &["1048576"]) else { return };
    traced.passed();
    let Some(trace) = traced.read() else { return };
    let Some(short) = Traced::program("graph_forkjoin", &[], &["1024"]) else { return };
    let Some(short) = short.read() else { return };
    let total = |trace: &Trace| {
        trace.slices("kernel").iter().map(|slice| time(slice, "end") - time(slice, "start")).sum::<u64>()
    };
    let (long, short) = (total(&trace), total(&short));
    assert!(!is_emulated() || long > 4 * short, "{long} ns of 1024 times as much as {short} ns");
}
