//! Perfetto's viewer opens traces as they are, and its trace processor finds in them what programs did.

use serde_json::{Value, json};
use xtask::{browser::CHROMIUM, packages, perfetto::Viewer};

use crate::{
    toolchain::{has, is_emulated},
    trace::{TRACE, Traced},
};

/// A trace in the viewer, and what its trace processor calls the arguments of slices.
struct Viewed {
    viewer: Viewer,
    arguments: &'static str,
}

impl Viewed {
    /// A program of `tests/programs`, in a file of this name; `None`, after a message, if something is missing.
    fn program(name: &str, file: &str, arguments: &[&str]) -> Option<Self> {
        if !has(CHROMIUM, "chromium") {
            return None;
        }
        let traced = Traced::program(name, &["--output", file], arguments)?;
        traced.passed();
        match Viewer::open(&format!("{name}-{file}"), &traced.folder.join(file)) {
            Ok(viewer) => {
                let arguments = if file.ends_with(".json") { "args" } else { "debug" };
                Some(Self { viewer: viewer.unwrap(), arguments })
            }
            Err(error) => {
                assert!(!packages::required(), "{error}");
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    /// The rows of a query, in which `given(SLICE, NAME)` is an argument of a slice.
    fn query(&mut self, sql: &str) -> Vec<Value> {
        let mut parts = sql.split("given(");
        let mut whole = parts.next().unwrap().to_owned();
        for part in parts {
            let (argument, rest) = part.split_once(')').unwrap();
            let (slice, name) = argument.split_once(", ").unwrap();
            whole += &format!("extract_arg({slice}.arg_set_id, '{}.{name}'){rest}", self.arguments);
        }
        self.viewer.query(&whole).unwrap()
    }

    /// The only value of a query.
    fn one(&mut self, sql: &str) -> Value {
        let rows = self.query(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows[0].as_object().unwrap().values().next().unwrap().clone()
    }
}

/// What the forks and joins of three launches are, whatever the format of the file.
fn finds_launches_and_nodes(trace: &mut Viewed) {
    let nodes = trace.query(
        "select given(slice, node) as node, count(*) as runs, count(distinct name) as names from slice
         where category in ('kernel', 'copy', 'fill') and given(slice, executable) = 1 group by node",
    );
    assert!(
        nodes.len() == 10 && nodes.iter().all(|node| node["runs"] == 3 && node["names"] == 1),
        "{nodes:?}"
    );
    // Each launch is in its call, and an arrow leads from it to a node of the same launch, which begins later.
    let launches = trace.query(
        "select call.name as call, node.ts >= launch.ts as later, given(launch, launch) = given(node, launch) as same
         from slice launch join slice call on launch.parent_id = call.id
         join flow on flow.slice_out = launch.id join slice node on flow.slice_in = node.id
         where launch.name = 'launch executable 1'",
    );
    assert_eq!(launches, vec![json!({ "call": "hipGraphLaunch", "later": 1, "same": 1 }); 3]);
    // What calls return when it is no success, and no call that has not returned.
    assert_eq!(trace.one("select count(*) from slice where dur < 0"), 0);
    assert_eq!(trace.one("select count(*) from slice where name = 'hipGraphLaunch' and depth = 0"), 3);
    // Arguments of calls.
    let copies = "select count(*) from slice where name = 'hipMemcpyAsync'
                  and given(slice, kind) = 'hipMemcpyHostToDevice' and given(slice, sizeBytes) = 65536";
    assert_eq!(trace.one(copies), 2);
    // Workgroups of the emulated device.
    let workgroups =
        "select sum(ifnull(given(slice, workgroups), 1)) from slice where category = 'workgroups'";
    let workgroups = trace.one(&format!("{workgroups} and name = 'scale(int*, int)'"));
    assert_eq!(workgroups.as_f64().map(|count| count as u32 % 64), is_emulated().then_some(0));
}

#[test]
fn perfetto_shows_forks_and_joins_on_the_tracks_of_a_device() {
    let Some(mut trace) = Viewed::program("graph_forkjoin", TRACE, &["16384"]) else { return };
    finds_launches_and_nodes(&mut trace);
    // Queues lie in the device, and it in the process, beside the thread.
    let kernels = trace.query(
        "select distinct substr(track.name, 1, 6) as track, around.name as around, process.name as process
         from slice join process_track track on slice.track_id = track.id
         join track around on track.parent_id = around.id
         join process using (upid) where category = 'kernel'",
    );
    let name = kernels[0]["process"].as_str().unwrap();
    assert!(name.starts_with("graph_forkjoin"), "{name}");
    assert_eq!(kernels, [json!({ "track": "queue ", "around": "device 0", "process": name })]);
    let calls = trace.query(
        "select distinct process.name as process, thread.is_main_thread as main
         from slice join thread_track on slice.track_id = thread_track.id
         join thread using (utid) join process using (upid) where category = 'api'",
    );
    assert_eq!(calls, [json!({ "process": name, "main": 1 })]);
    // As viewers shall show them: queues first.
    let ranks = trace.query(
        "select substr(track.name, 1, 5) as track, min(extract_arg(track.source_arg_set_id, 'sibling_order_rank')) as rank
         from track join track around on track.parent_id = around.id where around.name = 'device 0'
         group by substr(track.name, 1, 5) order by rank",
    );
    assert_eq!(ranks[0]["track"], "queue", "{ranks:?}");
    let memory = trace.query(
        "select track.name, track.unit, max(value) > 4096 as grows
         from counter join counter_track track on counter.track_id = track.id group by track.id",
    );
    assert_eq!(memory, [json!({ "name": "memory in use", "unit": "bytes", "grows": 1 })]);
    let waits =
        "select count(*) from slice where category = 'wait' and given(slice, ended by) = 'executable 1'";
    assert_ne!(trace.one(waits), 0);
}

#[test]
fn perfetto_shows_chromes_form_of_a_trace_too() {
    let Some(mut trace) = Viewed::program("graph_forkjoin", "trace.json", &["16384"]) else { return };
    finds_launches_and_nodes(&mut trace);
    let tracks = trace.query(
        "select distinct thread.name from slice join thread_track on slice.track_id = thread_track.id
         join thread using (utid) where category = 'kernel' and thread.name glob 'device 0, queue *'",
    );
    assert!(!tracks.is_empty());
    let memory = "select max(value) > 4096 from counter join counter_track on track_id = counter_track.id
                  where name glob 'device 0, memory in use*'";
    assert_eq!(trace.one(memory), 1);
}

#[test]
fn perfetto_shows_each_run_of_the_body_of_a_conditional_node() {
    let Some(mut trace) = Viewed::program("graph_conditional", TRACE, &[]) else { return };
    let halvings = trace.query(
        "select given(slice, executable) as executable, count(distinct given(slice, node)) as nodes,
         count(distinct given(slice, launch)) as launches, count(*) as runs
         from slice where category = 'kernel' and name glob 'halve*' group by executable",
    );
    assert_eq!(halvings, [json!({ "executable": 4, "nodes": 1, "launches": 3, "runs": 30 })]);
    // Each is within what the host does for its launch.
    let driven = "select count(distinct turn.id) from slice turn join slice step
                  on step.category = 'host' and given(step, launch) = given(turn, launch)
                  and step.ts <= turn.ts and turn.ts + turn.dur <= step.ts + step.dur
                  where turn.name glob 'halve*' and turn.category = 'kernel'";
    assert_eq!(trace.one(driven), 30);
}
