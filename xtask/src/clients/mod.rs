//! `cargo xtask clients`: programs and libraries of others, from PyPI, Debian and crates.io, on the built library.
//!
//! Each client has a row in [`table`] and a script in `clients/NAME`, which has it compute and compares the results with the
//! host's. A client is installed in `target/clients/NAME`, in the versions that are pinned there. Its script runs on either
//! emulated device, once more in a random legal order on strict caches, and once with kernels that do nothing: then it must
//! fail, or its comparisons show nothing.
//!
//! | module | what it does |
//! |---|---|
//! | [`table`] | the clients |
//! | [`install`] | brings a client into its folder |
//! | [`stand_ins`] | libraries of ROCm that a client is linked with, as functions that fail |
//! | [`page`] | docs/clients.md |

pub mod install;
pub mod page;
pub mod stand_ins;
pub mod table;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use serde_json::Value;
pub use table::{CLIENTS, Client};

use crate::{
    Error, Result, calls, dist, file_error,
    link::Profile,
    packages,
    parallel::{self, in_parallel},
    perfetto::Viewer,
    root,
    skips::Skips,
    start_error, target_dir,
};

/// One run of a script.
struct Run {
    /// What it is on.
    what: &'static str,
    /// Variables of the environment that choose it.
    variables: &'static [(&'static str, &'static str)],
    way: Way,
}

/// What is different in a run, and looked at beside its results.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    /// `aqlipse check` looks for these meanwhile.
    Checked(&'static str),
    /// It is traced.
    Traced,
    /// Kernels do nothing, so that every check must fail.
    Null,
}

const GFX90A: (&str, &str) = ("AQLIPSE_EMULATE", "gfx90a");

const RUNS: [Run; 6] = [
    Run { what: "gfx90a", variables: &[GFX90A], way: Way::Plain },
    Run { what: "gfx942", variables: &[("AQLIPSE_EMULATE", "gfx942")], way: Way::Plain },
    Run {
        what: "gfx90a, random order, strict caches",
        variables: &[GFX90A, ("AQLIPSE_EMULATE_SEED", "5"), ("AQLIPSE_EMULATE_COHERENCE", "strict")],
        way: Way::Plain,
    },
    Run { what: "gfx90a, checked", variables: &[GFX90A], way: Way::Checked("graph,init,memory,race,sync") },
    Run { what: "gfx90a, traced", variables: &[GFX90A], way: Way::Traced },
    Run { what: "gfx90a, null kernels", variables: &[GFX90A, ("AQLIPSE_EMULATE_NULL", "1")], way: Way::Null },
];

/// A script that takes longer, in seconds, hangs.
const LIMIT: &str = "600";

/// Installs and runs the clients of these names, or all.
///
/// # Errors
/// [`Error::Usage`] for a name that no client has, [`Error::Clients`] if a script does not end as it must;
/// [`Error::Skipped`] if a client cannot be had and `AQLIPSE_REQUIRE_PACKAGES` is set.
pub fn command(names: &[String]) -> Result {
    let chosen = choose(names)?;
    packages::install()?;
    let dist = dist::build(Profile::Release)?;
    let mut skips = Skips::default();
    let outcome = run(&chosen, &dist, &mut skips);
    let skipped = skips.say();
    outcome.and(skipped)
}

fn choose(names: &[String]) -> Result<Vec<&'static Client>> {
    if let Some(unknown) = names.iter().find(|name| CLIENTS.iter().all(|client| client.name != **name)) {
        let known = CLIENTS.map(|client| client.name).join(", ");
        return Err(Error::Usage(format!("no client is called {unknown}; there are {known}")));
    }
    Ok(CLIENTS
        .iter()
        .filter(|client| names.is_empty() || names.iter().any(|name| name == client.name))
        .collect())
}

/// Installs and runs clients, whatever fails; one that cannot be installed is skipped.
///
/// # Errors
/// [`Error::Clients`] names the runs that did not end as they must; [`Error::File`], [`Error::Start`].
pub fn run(clients: &[&Client], dist: &Path, skips: &mut Skips) -> Result {
    let reads_traces = packages::perfetto().and_then(|_| packages::viewer());
    if let Err(error) = &reads_traces {
        skips.add("traces of clients", error.to_string());
    }
    let mut scripts = Vec::new();
    for client in clients {
        match install::install(client, dist) {
            Ok(script) => scripts.push((*client, script)),
            Err(error) => {
                skips.add(format!("the client {}", client.name), format!("it cannot be installed: {error}"));
            }
        }
    }
    let failed = in_parallel(&scripts, parallel::processors(), |(client, script)| {
        let can_run =
            |run: &&Run| client.runs_on(run.what) && (reads_traces.is_ok() || run.way != Way::Traced);
        let mut failed = Vec::new();
        for run in RUNS.iter().filter(can_run) {
            let what = format!("{} on {}", client.name, run.what);
            let started = Instant::now();
            let outcome = run_once(client, script, run, dist)?;
            let seconds = started.elapsed().as_secs_f64();
            match outcome {
                Ok(said) => println!("{what}: {said}, {seconds:.1} s"),
                Err(why) => {
                    println!("{what}: {why}, {seconds:.1} s");
                    failed.push(what);
                }
            }
        }
        Ok(failed)
    })?;
    let failed = failed.concat();
    if failed.is_empty() { Ok(()) } else { Err(Error::Clients(failed)) }
}

/// Runs a script, and says how it ended, or why it should not have ended so.
fn run_once(
    client: &Client,
    script: &[OsString],
    run: &Run,
    dist: &Path,
) -> Result<std::result::Result<String, String>> {
    let folder = install::folder(client);
    let calls = folder.join("calls.tsv");
    // It need not exist.
    let _ = fs::remove_file(&calls);
    let home = folder.join("home");
    fs::create_dir_all(&home).map_err(file_error(&home))?;
    let scripts = root().join("clients");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", LIMIT]).args(script).stdin(Stdio::null());
    command.envs(client.environment(dist, &folder, &install::rocm(), &install::path()));
    // What clients keep from one run to the next stays in their folders, and nothing goes to the scripts'.
    command.env("HOME", &home).env_remove("XDG_CACHE_HOME").env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("PYTHONPATH", &scripts).env("AQLIPSE_RTC_CACHE", target_dir().join("clients/rtc"));
    command
        .env("AQLIPSE_DEVICE", "emulated")
        .env(calls::VARIABLE, &calls)
        .envs(run.variables.iter().copied());
    let (report, trace) = (folder.join("findings.tsv"), folder.join("trace.pftrace"));
    let _ = (fs::remove_file(&report), fs::remove_file(&trace));
    match run.way {
        Way::Checked(tools) => drop(command.env("AQLIPSE_CHECK", tools).env("AQLIPSE_CHECK_REPORT", &report)),
        Way::Traced => drop(command.env("AQLIPSE_TRACE", &trace)),
        Way::Plain | Way::Null => {}
    }
    let output = command.output().map_err(|source| start_error(&command, source))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let launched = fs::read_to_string(&calls).unwrap_or_default().contains("hipGraphLaunch");
    let mut outcome = judge(client, run.way == Way::Null, output.status.code(), &said, launched);
    match run.way {
        Way::Checked(_) => {
            let found = fs::read_to_string(&report).unwrap_or_default();
            outcome = outcome.and_then(|said| judge_findings(client, &found).map(|()| said));
        }
        Way::Traced if outcome.is_ok() => {
            let nodes = packages::read_trace(&trace)?
                .and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
                .and_then(|trace| judge_trace(client, &trace));
            outcome = match nodes {
                Ok(nodes) => Viewer::open(client.name, &trace)?
                    .and_then(|viewer| find_nodes(viewer, nodes))
                    .map(|()| format!("{} checks agree, {nodes} nodes in the trace", client.checks)),
                Err(why) => Err(why),
            };
        }
        _ => {}
    }
    if outcome.is_err() {
        print!("{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(outcome)
}

/// Whether a script has ended as it must, from its exit code, what it has printed, and whether it has launched a graph.
fn judge(
    client: &Client,
    null: bool,
    code: Option<i32>,
    said: &str,
    launched: bool,
) -> std::result::Result<String, String> {
    let Some((agreeing, all)) = said.lines().last().and_then(count) else {
        return Err(format!("no count of checks, exit code {code:?}"));
    };
    if all != client.checks {
        return Err(format!("{all} checks, its row says {}", client.checks));
    }
    match (null, code) {
        (false, Some(0)) if agreeing == all && launched == client.graphs.is_empty() => {
            Err(format!("launches graphs: {launched}, its row says {:?}", client.graphs))
        }
        (false, Some(0)) if agreeing == all => Ok(format!("{all} checks agree")),
        (true, Some(1)) if agreeing == 0 => Ok(format!("all {all} checks fail, as they must")),
        (true, _) => Err(format!("{agreeing} of {all} checks agree without kernels, exit code {code:?}")),
        (false, _) => Err(format!("{agreeing} of {all} checks agree, exit code {code:?}")),
    }
}

/// Whether a checked run has found what the client's row says.
fn judge_findings(client: &Client, found: &str) -> std::result::Result<(), String> {
    fn rule(line: &str) -> &str {
        line.split('\t').next().unwrap_or_default()
    }
    let others: Vec<_> = found.lines().filter(|line| !client.findings.contains(&rule(line))).collect();
    let missing = client.findings.iter().find(|known| !found.lines().any(|line| rule(line) == **known));
    match (others.first(), missing) {
        (Some(other), _) => {
            Err(format!("{} findings that its row does not know, such as {other:?}", others.len()))
        }
        (None, Some(missing)) => Err(format!("no finding of {missing:?}, which its row says")),
        (None, None) => Ok(()),
    }
}

/// How many nodes of executables a trace has, of a client that has launched graphs if its row says so; each must have the same
/// name at each launch.
fn judge_trace(client: &Client, trace: &Value) -> std::result::Result<usize, String> {
    let mut nodes: BTreeMap<(u64, &str), &Value> = BTreeMap::new();
    let mut kernels = 0;
    for slice in trace["slices"].as_array().into_iter().flatten() {
        let (arguments, name) = (&slice["arguments"], &slice["name"]);
        kernels += usize::from(slice["category"] == "kernel");
        let does_something =
            ["kernel", "copy", "fill"].into_iter().any(|category| slice["category"] == category);
        let node = arguments["executable"].as_u64().zip(arguments["node"].as_str());
        if let Some(node) = node.filter(|_| does_something) {
            let known = *nodes.entry(node).or_insert(name);
            // An update may have put another kernel there, of which a client's own calls tell.
            if known != name && client.graphs.contains("captures") {
                return Err(format!("node {} of executable {} is {known} and {name}", node.1, node.0));
            }
        }
    }
    match (kernels, nodes.len()) {
        (0, _) => Err("no kernel in its trace".into()),
        (_, count) if (count == 0) != client.graphs.is_empty() => {
            Err(format!("{count} nodes in its trace, its row says {:?}", client.graphs))
        }
        (_, count) => Ok(count),
    }
}

/// Whether Perfetto's trace processor finds as many nodes.
fn find_nodes(mut viewer: Viewer, nodes: usize) -> std::result::Result<(), String> {
    let rows = viewer.query(
        "select count(distinct extract_arg(arg_set_id, 'debug.executable') || ' ' || extract_arg(arg_set_id, 'debug.node'))
         as nodes from slice where category in ('kernel', 'copy', 'fill')",
    )?;
    match &rows[..] {
        [row] if row["nodes"] == nodes => Ok(()),
        _ => Err(format!("Perfetto's trace processor finds {rows:?} of {nodes} nodes")),
    }
}

/// The numbers of a line such as `3 of 4 checks agree`.
fn count(line: &str) -> Option<(usize, usize)> {
    let (agreeing, all) = line.strip_suffix(" checks agree")?.split_once(" of ")?;
    Some((agreeing.parse().ok()?, all.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: Client = Client { checks: 4, graphs: "captures", ..table::CLIENTS[0] };

    #[test]
    fn a_script_passes_when_all_of_its_checks_agree_and_its_graphs_were_launched() {
        let ended = |code, said| judge(&CLIENT, false, Some(code), said, true);
        assert_eq!(ended(0, "agrees  a\n4 of 4 checks agree").unwrap(), "4 checks agree");
        for (code, said) in
            [(1, "4 of 4 checks agree"), (1, "3 of 4 checks agree"), (0, "3 of 3 checks agree"), (0, "")]
        {
            assert!(ended(code, said).is_err(), "{code} {said}");
        }
        assert!(judge(&CLIENT, false, Some(0), "4 of 4 checks agree", false).is_err());
    }

    #[test]
    fn without_kernels_every_check_must_fail_and_the_script_still_count() {
        let ended = |code, said| judge(&CLIENT, true, code, said, false);
        assert!(ended(Some(1), "0 of 4 checks agree").is_ok());
        for (code, said) in [(Some(1), "1 of 4 checks agree"), (Some(1), ""), (None, "0 of 4 checks agree")] {
            assert!(ended(code, said).is_err(), "{code:?} {said}");
        }
    }

    #[test]
    fn names_choose_clients_and_unknown_ones_are_refused() {
        let names =
            |chosen: &[&str]| choose(&chosen.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&[]).unwrap().len(), CLIENTS.len());
        let chosen = names(&["triton"]).unwrap();
        assert_eq!(chosen.iter().map(|client| client.name).collect::<Vec<_>>(), ["triton"]);
        assert!(names(&["triton", "tritium"]).unwrap_err().to_string().contains("tritium"));
    }
}
