//! `aqlipse check`: what is wrong with a HIP program, found while it runs on the emulated device.

mod sources;

use std::{
    cmp::Reverse,
    ffi::OsString,
    fmt, fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    str::FromStr,
};

use aqlipse::{
    DUMP_VARIABLE,
    check::{
        Bytes, CHECK_VARIABLE, Finding, Frame, Instruction, Made, Near, Party, Pc, PlanCost, REPORT_VARIABLE,
        RaceByte, Tool, UninitByte,
    },
};
use clap::Args;
use serde_json::{Value, json};

use self::sources::Sources;
use super::run;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Tools(Vec<Tool>);

impl FromStr for Tools {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self(Tool::ALL.to_vec())),
            _ => text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self),
        }
    }
}

impl fmt::Display for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|tool| tool.word()).collect::<Vec<_>>().join(","))
    }
}

/// A program, and what to say of it.
#[derive(Debug, Args)]
pub struct Check {
    /// What to look for, with commas between: graph, init, leak, memory, race, sync; all of these; or what is mostly no
    /// fault: edges that no data needs (edges), writes of the same value that nothing orders (same-value)
    tools: Tools,
    /// The exit code if something was found; without findings it is the program's
    #[arg(long, value_name = "CODE", default_value_t = 1)]
    error_exitcode: u8,
    /// Write the findings to this file as one JSON object
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the findings to this file as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// For each finding about nodes of a graph, write the graph to this folder in the DOT language, with the nodes and the edge
    /// marked
    #[arg(long, value_name = "FOLDER")]
    dot: Option<PathBuf>,
    /// Leave out the findings that this file lists: on each line two patterns with `*`, `with` between them, for what two
    /// commands are, or for an object and the call that made it
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// The program and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the program, and those that it starts, and says what was found.
pub fn run(check: &Check) -> ExitCode {
    let failed = |error: io::Error| {
        eprintln!("aqlipse: {error}");
        ExitCode::FAILURE
    };
    let suppressions = match Suppressions::read(check.suppressions.as_deref()) {
        Ok(suppressions) => suppressions,
        Err(error) => return failed(error),
    };
    // Code objects come to lie beside the report.
    let folder = match tempfile::Builder::new().prefix("aqlipse-check-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed(error),
    };
    let report = folder.path().join("report");
    if let Err(error) = fs::write(&report, []) {
        return failed(error);
    }
    let Some(mut command) = run::on_this_library(&check.program) else { return ExitCode::FAILURE };
    command.env(CHECK_VARIABLE, check.tools.to_string()).env(REPORT_VARIABLE, &report);
    if check.tools.0.iter().any(|tool| tool.watches_devices()) {
        command.env("AQLIPSE_DEVICE", "emulated");
    }
    if check.dot.is_some() {
        command.env(DUMP_VARIABLE, folder.path());
    }
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return run::cannot_run(&command, &error),
    };
    let told = findings(&report).and_then(|all| {
        let (suppressed, findings): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|finding| suppressions.cover(finding));
        draw(check, folder.path(), &findings)?;
        tell(check, &findings, suppressed.len()).map(|()| findings.is_empty())
    });
    match told {
        Ok(true) => run::exit_code(&command, status),
        Ok(false) => ExitCode::from(check.error_exitcode),
        Err(error) => failed(error),
    }
}

/// Brings the graphs of findings to where they are wanted.
fn draw(check: &Check, from: &Path, findings: &[Finding]) -> io::Result<()> {
    let Some(to) = &check.dot else { return Ok(()) };
    fs::create_dir_all(to)?;
    let mut names = findings.iter().flat_map(Finding::drawn);
    names.try_for_each(|name| fs::copy(from.join(name), to.join(name)).map(drop))
}

/// What the processes have appended to a file.
fn findings(report: &Path) -> io::Result<Vec<Finding>> {
    let text = fs::read_to_string(report)?;
    let broken = |line: &str| io::Error::other(format!("the report of the program is broken: {line:?}"));
    let mut sources = Sources::default();
    let read = |line: &str| Finding::from_line(line).ok_or_else(|| broken(line));
    let all = text.lines().map(|line| read(line).map(|finding| sources.name(finding)));
    let mut all = merged(all.collect::<io::Result<_>>()?);
    // The costliest edges first, of whatever executables.
    all.sort_by_key(|finding| match finding {
        Finding::Needless { costs, .. } => {
            Reverse(costs.map(|(with, without)| with.ns.saturating_sub(without.ns)))
        }
        _ => Reverse(Some(u64::MAX)),
    });
    Ok(all)
}

/// Findings with leaks from the same lines as one: a compiler may have made several calls of one.
fn merged(all: Vec<Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    for finding in all {
        let Finding::Leak { what, count, bytes, made } = &finding else {
            merged.push(finding);
            continue;
        };
        let lines = |made: &Made| made.frames.iter().map(Frame::to_string).collect::<Vec<_>>();
        let same = merged.iter_mut().find_map(|other| match other {
            Finding::Leak { what: of, count, bytes, made: by } => {
                (of == what && by.call == made.call && lines(by) == lines(made)).then_some((count, bytes))
            }
            _ => None,
        });
        match same {
            Some((all, sum)) => (*all, *sum) = (*all + count, *sum + bytes),
            None => merged.push(finding),
        }
    }
    merged
}

fn tell(check: &Check, findings: &[Finding], suppressed: usize) -> io::Result<()> {
    for finding in findings {
        eprintln!("aqlipse: {finding}");
    }
    let others = if suppressed > 0 { format!(", {suppressed} suppressed") } else { String::new() };
    eprintln!("aqlipse: check {}: {} found{others}", check.tools, findings.len());
    let write = |path: &Option<PathBuf>, object: &dyn Fn() -> Value| match path {
        Some(path) => fs::write(path, format!("{:#}\n", object())),
        None => Ok(()),
    };
    write(&check.json, &|| {
        let findings: Vec<Value> = findings.iter().map(as_json).collect();
        let tools: Vec<_> = check.tools.0.iter().map(|tool| tool.word()).collect();
        json!({ "tools": tools, "findings": findings })
    })?;
    write(&check.sarif, &|| as_sarif(findings))
}

/// What to leave out.
struct Suppressions(Vec<[String; 2]>);

impl Suppressions {
    /// Reads a file; empty lines, and those that begin with `#`, say nothing.
    fn read(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self(Vec::new())) };
        let named = |error: &dyn std::fmt::Display| io::Error::other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| named(&error))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let pair = |line: &str| {
            let pair =
                line.split_once(" with ").map(|(one, other)| [one, other].map(|what| what.trim().to_owned()));
            pair.ok_or_else(|| named(&format!("{line:?} is not two patterns with `with` between them")))
        };
        lines.map(pair).collect::<io::Result<_>>().map(Self)
    }

    fn cover(&self, finding: &Finding) -> bool {
        let [one, other] = finding.names();
        self.0.iter().any(|[first, second]| {
            fits(first, one) && fits(second, other) || fits(first, other) && fits(second, one)
        })
    }
}

/// Whether a text is what a pattern says, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|behind| {
            let mut places = behind.char_indices().map(|(place, _)| place).chain([behind.len()]);
            places.any(|place| fits(rest, &behind[place..]))
        }),
    }
}

/// The findings in the format that tools of continuous integration read (OASIS SARIF 2.1.0).
fn as_sarif(findings: &[Finding]) -> Value {
    let party =
        |party: &Party| json!({ "name": party.what, "fullyQualifiedName": party.place, "kind": "function" });
    let result = |finding: &Finding| {
        let location = match finding {
            Finding::Unordered { parties, .. } => {
                json!({ "logicalLocations": parties.each_ref().map(party) })
            }
            Finding::Memory { party: command, made, .. } => {
                let mut location = location(made);
                location["logicalLocations"] = json!([party(command)]);
                location
            }
            Finding::Refused { place, what, .. }
            | Finding::Argument { place, what, .. }
            | Finding::Race { place, what, .. }
            | Finding::Sync { place, what, .. }
            | Finding::Deadlock { place, what, .. }
            | Finding::Uninit { place, what, .. } => {
                json!({ "logicalLocations": [
                { "name": what, "fullyQualifiedName": place, "kind": "function" },
            ] })
            }
            Finding::Needless { places, whats, .. } => {
                let node = |n: usize| json!({ "name": whats[n], "fullyQualifiedName": places[n], "kind": "function" });
                json!({ "logicalLocations": [node(0), node(1)] })
            }
            Finding::BadFree { made, .. } | Finding::Leak { made, .. } => location(made),
            Finding::Host { command, frames, .. } => {
                let mut location = location(&Made { call: "the host".into(), frames: frames.clone() });
                if let Some(command) = command {
                    location["logicalLocations"] = json!([party(command)]);
                }
                location
            }
            _ => json!({}),
        };
        json!({
            "ruleId": finding.rule(),
            "level": if Tool::ASKED.contains(&finding.tool()) { "note" } else { "error" },
            "message": { "text": finding.to_string() },
            "locations": [location],
        })
    };
    let mut broken: Vec<_> = findings.iter().map(Finding::rule).collect();
    broken.sort_unstable();
    broken.dedup();
    let rule = |id: &&str| json!({ "id": id, "shortDescription": { "text": short(id) } });
    let rules: Vec<Value> = broken.iter().map(rule).collect();
    let driver = json!({ "name": "aqlipse check", "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver }, "results": results }],
    })
}

/// A rule in a sentence.
fn short(rule: &str) -> &'static str {
    match rule {
        "graph/unordered" => "Two commands touch the same bytes in an order that nothing says.",
        "memory/out-of-bounds" => "A command touches memory beside an allocation that is in none.",
        "memory/before-allocation" => "A command touches memory and does not come behind its allocation.",
        "memory/after-free" => "A command touches memory behind its free.",
        "memory/unordered-free" => "A command touches memory, and nothing orders that with its free.",
        "memory/argument" => "A kernel is given a pointer to no memory, or into memory that is freed.",
        "memory/constant" => "A kernel writes memory that is constant for kernels.",
        "memory/outside" => {
            "A kernel touches LDS beyond what was asked for, or scratch beyond what a lane has."
        }
        "race/waves" => {
            "Two waves touch the same bytes of LDS or memory, one writes, and nothing orders them."
        }
        "race/lanes" => "Lanes of one instruction write different values to the same bytes.",
        "sync/divergent-barrier" => "A wave waits at a barrier with lanes off that go on behind it.",
        "sync/split-lds" => "A kernel has LDS, and waves of a workgroup that share none.",
        "sync/deadlock" => "A kernel waits for what no wave will do.",
        "sync/not-resident" => {
            "A kernel waits for workgroups that the device has no room for before others end."
        }
        "sync/barrier-not-reached" => "A wave goes on behind a barrier that others of its workgroup wait at.",
        "sync/inactive-lane" => "A lane uses what it reads from another that is off.",
        "init/branch" => "Which way a wave goes depends on bytes that nothing has written.",
        "init/address" => "An address depends on bytes that nothing has written.",
        "init/result" => "A result that is stored depends on bytes that nothing has written.",
        "init/copied" => "What nothing has written is copied to the host.",
        "race/same-value" => "Two waves write the same value to the same bytes, and nothing orders them.",
        "edges/needless" => "An edge puts nodes in an order that no data needs.",
        "memory/host" => "The host touches memory of a device.",
        "graph/host" => "The host touches what a command in flight touches, too.",
        "memory/bad-free" => "The program frees what is no allocation.",
        "leak/memory" => "Memory is not freed when the process ends.",
        "leak/object" => "An object is not destroyed when the process ends.",
        _ => "",
    }
}

/// The innermost line of the program's own that is known, in SARIF.
fn location(made: &Made) -> Value {
    let known = made.frames.iter().find_map(|frame| {
        let (file, line) = frame.line.as_ref()?.rsplit_once(':')?;
        Some((file.to_owned(), line.parse::<u64>().ok()?))
    });
    match known {
        Some((file, line)) => json!({ "physicalLocation": {
            "artifactLocation": { "uri": file },
            "region": { "startLine": line },
        } }),
        None => json!({ "logicalLocations": [{ "name": made.call, "kind": "function" }] }),
    }
}

fn as_json(finding: &Finding) -> Value {
    let command = |Party { place, what, how }: &Party| json!({ "place": place, "what": what, "access": format!("{how:?}").to_lowercase() });
    let frame = |Frame { object, offset, symbol, line }: &Frame| json!({ "object": object, "offset": offset, "function": symbol, "line": line });
    let at = |frames: &[Frame]| frames.iter().map(frame).collect::<Vec<_>>();
    let made = |Made { call, frames }: &Made| json!({ "call": call, "frames": at(frames) });
    let with = |mut object: Value, Bytes { first, total, allocation }: &Bytes| {
        object["address"] = first.start.into();
        object["bytes"] = (*total).into();
        object["allocation"] =
            json!({ "address": allocation.start, "bytes": allocation.end - allocation.start });
        object
    };
    let allocation = |Near { allocation, is_freed, made: by }: &Near| {
        let bytes = allocation.end - allocation.start;
        json!({ "address": allocation.start, "bytes": bytes, "freed": is_freed, "allocated": made(by) })
    };
    let place = |pc: &Pc| json!({ "offset": pc.offset.cast_signed(), "line": pc.line });
    let instruction = |access: &Instruction| {
        let how = format!("{:?}", access.how).to_lowercase();
        json!({ "workgroup": access.workgroup, "wave": access.wave, "access": how, "instruction": place(&access.pc) })
    };
    let mut object = match finding {
        Finding::Unordered { parties, of_one_launch, bytes, captured, drawn } => {
            let commands = parties.each_ref().map(command);
            with(
                json!({ "commands": commands, "of_one_launch": of_one_launch,
                "captured": captured, "drawn": drawn }),
                bytes,
            )
        }
        Finding::Memory { party, other, bytes, made: by, access, .. } => {
            let other = Some(other).filter(|other| !other.is_empty());
            let access = access.as_ref().map(instruction);
            let object = json!({ "commands": [command(party)], "other": other, "allocated": made(by), "access": access });
            with(object, bytes)
        }
        Finding::Refused { place: command, what, address, bytes, access, near, .. } => {
            json!({ "place": command, "what": what, "address": address, "bytes": bytes,
                "access": instruction(access), "near": near.as_ref().map(allocation) })
        }
        Finding::Argument { place: command, what, number, address, is_freed, near } => {
            json!({ "place": command, "what": what, "argument": number, "address": address, "freed": is_freed,
                "near": near.as_ref().map(allocation) })
        }
        Finding::Host { command: of, how, address, frames, near } => {
            json!({ "command": of.as_ref().map(command), "access": format!("{how:?}").to_lowercase(),
                "address": address, "frames": at(frames), "near": near.as_ref().map(allocation) })
        }
        Finding::BadFree { address, again, made: by } => {
            json!({ "address": address, "freed_before": again, "freed": made(by) })
        }
        Finding::Race { place: command, what, byte, access: last, other, near, count, .. } => {
            let accesses: Vec<_> = other.iter().chain([last]).map(instruction).collect();
            let byte = match byte {
                RaceByte::Memory(address) => json!({ "address": address }),
                RaceByte::Lds(offset) => json!({ "lds": offset }),
                RaceByte::Scratch(offset) => json!({ "scratch": offset }),
            };
            json!({ "place": command, "what": what, "byte": byte, "count": count, "accesses": accesses,
                "near": near.as_ref().map(allocation) })
        }
        Finding::Sync { place: command, what, workgroup, wave, lane, pc, then, count, .. } => {
            json!({ "place": command, "what": what, "workgroup": workgroup, "wave": wave, "lane": lane,
                "instruction": place(pc), "then": place(then), "count": count })
        }
        Finding::Uninit {
            place: command, what, workgroup, wave, lane, read, byte, pc, count, near, ..
        } => {
            let byte = match byte {
                UninitByte::Memory(address) => json!({ "address": address }),
                UninitByte::Lds(offset) => json!({ "lds": offset }),
                UninitByte::Scratch(offset) => json!({ "scratch": offset }),
            };
            json!({ "place": command, "what": what, "workgroup": workgroup, "wave": wave, "lane": lane,
                "byte": byte, "read": place(read), "instruction": place(pc), "count": count,
                "near": near.as_ref().map(allocation) })
        }
        Finding::Needless { places, whats, pairs, costs, drawn } => {
            let node = |n: usize| json!({ "place": places[n], "what": whats[n] });
            let cost = |cost: &PlanCost| {
                json!({ "ns": cost.ns, "barrier_bits": cost.barrier_bits,
                "barrier_packets": cost.barrier_packets, "signals": cost.signals })
            };
            let costs =
                costs.as_ref().map(|(with, without)| json!({ "with": cost(with), "without": cost(without) }));
            json!({ "edge": [node(0), node(1)], "pairs": pairs, "costs": costs, "drawn": drawn })
        }
        Finding::Leak { what, count, bytes, made: by } => {
            json!({ "what": what, "count": count, "bytes": bytes, "made": made(by) })
        }
        _ => json!({}),
    };
    object["rule"] = finding.rule().into();
    object
}

#[cfg(test)]
mod tests {
    use aqlipse::check::How;

    use super::*;

    fn finding(kinds: [&str; 2]) -> Finding {
        let parties =
            kinds.map(|what| Party { place: "stream 1".into(), what: what.into(), how: How::Write });
        let bytes = Bytes { first: 16..20, total: 4, allocation: 0..64 };
        Finding::Unordered { parties, of_one_launch: false, bytes, captured: Vec::new(), drawn: Vec::new() }
    }

    #[test]
    fn patterns_are_whole_texts_with_gaps() {
        for (pattern, text) in
            [("memset", "memset"), ("*", ""), ("*", "x"), ("kernel put(*)", "kernel put(int*)")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        assert!(fits("kernel a*b*c", "kernel abxbc") && fits("*\u{fc}*", "gr\u{fc}n"));
        for (pattern, text) in [("memset", "memsets"), ("", "x"), ("a*b", "abc"), ("*b", "bc")] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn suppressions_name_pairs_in_either_order() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "# known\n\nmemset with kernel f*\n").unwrap();
        let suppressions = Suppressions::read(Some(file.path())).unwrap();
        assert!(suppressions.cover(&finding(["kernel f(int*)", "memset"])));
        assert!(suppressions.cover(&finding(["memset", "kernel f(int*)"])));
        assert!(!suppressions.cover(&finding(["memset", "memset"])));
        fs::write(file.path(), "memset\n").unwrap();
        assert!(
            Suppressions::read(Some(file.path())).is_err_and(|error| error.to_string().contains("memset"))
        );
    }
}
