//! Want of memory, at every allocation point: the call says `hipErrorOutOfMemory`, the same call succeeds when there is
//! memory again, what was made until then works, and nothing is lost.
//!
//! A scenario makes, uses and destroys objects, and checks what came of it. It runs once for each allocation point that it
//! passes, with that one refused, and once with all behind it refused until a call has failed. A process of its own for
//! some points shows those that are passed once in a process.
//!
//! What takes long, instead of being refused, is in [`held_back`].

mod external;
mod graphs;
mod held_back;
mod memory;
mod printing;
mod streams;

use std::{env, fs, thread, time::Duration};

use aqlipse::fault_injection::{self, Granted, Refusals};
use capi::{
    error::{hipError_t, hipErrorNotSupported, hipErrorOutOfMemory, hipSuccess},
    types::*,
};

use super::{
    process::{LONG, again, ends, role},
    *,
};

/// The environment variable that has allocations fail.
pub const VARIABLE: &str = "AQLIPSE_FAIL_ALLOCATION";

/// What makes, uses and destroys objects: each goes through [`tried`], so that it may run short of memory anywhere.
type Scenario = (&'static str, fn());

const SCENARIOS: &[Scenario] = &[
    ("memory of all kinds", memory::all_kinds),
    ("copies of pageable memory", memory::pageable_copies),
    ("batches of copies", memory::batches),
    ("memory in a stream's order", memory::in_stream_order),
    ("pools", memory::pools),
    ("virtual memory", memory::virtual_memory),
    ("handles for other processes", memory::handles),
    ("events and host functions", streams::events),
    ("streams that wait for each other", streams::waits),
    ("modules", streams::modules),
    ("cooperative kernels", streams::cooperative),
    ("streams that may use some compute units", streams::masks),
    ("kernels that print to buffers", printing::to_buffers),
    ("kernels that call the host to print", printing::by_calls),
    ("kernels that print in graphs", printing::in_graphs),
    ("semaphores of other processes", external::semaphores),
    ("semaphores of other processes in a graph", external::semaphores_in_a_graph),
    ("memory of other processes", external::memory),
    ("a graph on one queue", graphs::one_queue),
    ("a graph on several queues", graphs::several_queues),
    ("updates in flight", graphs::updates),
    ("host memory and host functions in a graph", graphs::host_work),
    ("memory nodes", graphs::memory_nodes),
    ("memory that a graph leaves", graphs::left_memory),
    ("child graphs", graphs::children),
    ("conditional nodes", graphs::conditionals),
    ("conditional nodes with work of the host", graphs::conditionals_on_host),
    ("a resident graph", graphs::resident),
    ("a resident graph on several queues", graphs::resident_on_several_queues),
    ("cooperative kernels in a graph", graphs::cooperative),
    ("user objects", graphs::user_objects),
];

/// Calls an exported function, again if it fails for want of memory, and demands that it succeeds then.
macro_rules! tried {
    ($($call:expr),+ $(,)?) => { $({
        #[allow(unused_unsafe, reason = "some calls are wrapped in closures")]
        // SAFETY: each scenario passes what the function documents.
        $crate::fault_injection::succeeds(stringify!($call), || unsafe { $call })
    });+ };
}
use tried;

/// As [`tried`] for what a back end may lack; whether it has it.
fn is_there(what: &str, mut call: impl FnMut() -> hipError_t) -> bool {
    let mut lacks = false;
    succeeds(what, || match call() {
        hipErrorNotSupported => {
            lacks = true;
            hipSuccess
        }
        code => code,
    });
    !lacks
}

/// Calls `call` until it is not refused for want of memory; `what` names it.
fn succeeds(what: &str, mut call: impl FnMut() -> hipError_t) {
    for _ in 0..3 {
        match call() {
            hipSuccess => return,
            hipErrorOutOfMemory => {
                assert!(fault_injection::refused() > 0, "{what} fails though nothing was refused");
                // There is memory again.
                fault_injection::refuse(Refusals::None);
            }
            code => panic!(
                "{what}: {}, {} refused: {:?}",
                code.name().to_string_lossy(),
                fault_injection::refused(),
                aqlipse::last_error_detail()
            ),
        }
    }
    panic!("{what} fails though there is memory: {:?}", aqlipse::last_error_detail());
}

/// What the process has of the HSA runtime and of its machine.
#[derive(Clone, Copy, Debug)]
struct MemoryReport {
    granted: Granted,
    descriptors: usize,
    threads: usize,
}

impl MemoryReport {
    fn now() -> Self {
        let entries = |directory| fs::read_dir(directory).expect("Linux tells").count();
        Self {
            granted: fault_injection::granted(),
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
        }
    }

    /// Whether nothing is held that was not held before.
    fn is_within(&self, before: &Self) -> bool {
        let (now, then) = (&self.granted, &before.granted);
        now.bytes <= then.bytes
            && now.allocations <= then.allocations
            && now.signals <= then.signals
            && now.queues <= then.queues
            && now.locks <= then.locks
            && now.readers <= then.readers
            && now.executables <= then.executables
            && now.attachments <= then.attachments
            && now.addresses <= then.addresses
            && now.physical <= then.physical
            && now.mappings <= then.mappings
            && self.descriptors <= before.descriptors
            && self.threads <= before.threads
    }
}

/// Runs a scenario until a run leaves nothing that was not there before: what pools retain settles, what is lost does not.
fn settles(scenario: fn(), refusals: Refusals) -> Result<(), String> {
    let mut history = Vec::new();
    for _ in 0..8 {
        let before = MemoryReport::now();
        fault_injection::refuse(refusals);
        scenario();
        fault_injection::refuse(Refusals::None);
        // Threads of streams that are gone end by themselves, and an emulated device lets go of a file of memory once it is
        // behind the kernel that used it.
        let more = || {
            let now = MemoryReport::now();
            now.threads.saturating_sub(before.threads) + now.descriptors.saturating_sub(before.descriptors)
        };
        for _ in 0..LONG.as_millis() / 2 {
            if more() == 0 {
                break;
            }
            thread::sleep(Duration::from_millis(2));
            if history.is_empty() && more() == 1 {
                // Perhaps one that stays for good.
                break;
            }
        }
        let after = MemoryReport::now();
        if after.is_within(&before) {
            return Ok(());
        }
        history.push(before);
    }
    Err(format!("each run leaves more: {history:#?}"))
}

/// Runs a scenario with each allocation point refused that it passes.
fn at_every_point(scenario: fn()) -> u64 {
    scenario();
    settles(scenario, Refusals::None).unwrap_or_else(|held| panic!("without any refusal {held}"));
    fault_injection::refuse(Refusals::None);
    scenario();
    let points = fault_injection::points();
    for n in 1..=points {
        for refusals in [Refusals::One(n), Refusals::From(n)] {
            let outcome = std::panic::catch_unwind(|| settles(scenario, refusals));
            let failed = match outcome {
                Ok(Ok(())) => continue,
                Ok(Err(held)) => held,
                Err(_) => "see above".into(),
            };
            panic!("{refusals} of {points} refused: {failed}");
        }
    }
    points
}

/// How many points of each scenario are tried in processes of their own, unless all are wanted.
const COLD_POINTS: u64 = 4;

/// The environment variable that has all of them tried.
const ALL_VARIABLE: &str = "AQLIPSE_FAIL_ALL_ALLOCATIONS";

#[test]
fn what_a_process_allocates_once_is_allocated_by_whoever_needs_it_next() {
    const TEST: &str = "fault_injection::what_a_process_allocates_once_is_allocated_by_whoever_needs_it_next";
    if let Some(role) = role() {
        let (name, scenario) = SCENARIOS[role.parse::<usize>().expect("the number of a scenario")];
        scenario();
        println!("{name} passes {} points", fault_injection::points());
        settles(scenario, Refusals::None).unwrap_or_else(|held| panic!("{name}: {held}"));
        return;
    }
    let run = |scenario: usize, refusals: Refusals| {
        let mut command = again(TEST, &scenario.to_string());
        command.env(VARIABLE, refusals.to_string()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let mut output = child.stdout.take().expect("it is piped");
        let reader = thread::spawn(move || std::io::read_to_string(&mut output).expect("text"));
        (ends(child).success(), reader.join().expect("a thread that reads"))
    };
    let mut failed = Vec::new();
    for (number, (name, _)) in SCENARIOS.iter().enumerate() {
        let (succeeds, output) = run(number, Refusals::None);
        assert!(succeeds, "{name}");
        let words: Vec<_> = output.split_whitespace().collect();
        let points = words.windows(2).find(|pair| pair[1] == "points").expect("the number of points")[0];
        let points: u64 = points.parse().expect("a number");
        // Others of each scenario, so that together they are spread.
        let (first, step) = match env::var_os(ALL_VARIABLE) {
            Some(_) => (1, 1),
            None => (1 + number as u64 % 7, points.div_ceil(COLD_POINTS).max(1)),
        };
        for n in (first..=points).step_by(step as usize) {
            for refusals in [Refusals::One(n), Refusals::From(n)] {
                if !run(number, refusals).0 {
                    failed.push(format!("{name}: {refusals} of {points}"));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn a_copy_that_fails_is_over() {
    const TEST: &str = "fault_injection::a_copy_that_fails_is_over";
    if role().is_some() {
        return memory::refused_copies();
    }
    let child = again(TEST, "refused").env(VARIABLE, "0").spawn();
    assert!(ends(child.expect("a process")).success());
}

#[test]
fn a_copy_in_a_graph_needs_no_memory_once_it_is_launched() {
    const TEST: &str = "fault_injection::a_copy_in_a_graph_needs_no_memory_once_it_is_launched";
    if role().is_some() {
        return graphs::copies_without_memory();
    }
    let child = again(TEST, "refused").env(VARIABLE, "0").spawn();
    assert!(ends(child.expect("a process")).success());
}

#[test]
fn a_launch_that_fails_leaves_what_earlier_ones_left() {
    const TEST: &str = "fault_injection::a_launch_that_fails_leaves_what_earlier_ones_left";
    if role().is_some() {
        return graphs::refused_launches();
    }
    let child = again(TEST, "refused").env(VARIABLE, "0").spawn();
    assert!(ends(child.expect("a process")).success());
}

#[test]
fn whether_pools_can_be_shared_is_asked_again_until_there_is_an_answer() {
    const TEST: &str = "fault_injection::whether_pools_can_be_shared_is_asked_again_until_there_is_an_answer";
    if role().is_some() {
        return memory::a_question_that_fails();
    }
    let child = again(TEST, "refused").env(VARIABLE, "0").spawn();
    assert!(ends(child.expect("a process")).success());
}

#[test]
fn a_replay_waits_for_no_allocation_of_another_thread() {
    const TEST: &str = "fault_injection::a_replay_waits_for_no_allocation_of_another_thread";
    if role().is_some() {
        return held_back::replays();
    }
    let child = again(TEST, "held").env(VARIABLE, "0").spawn();
    assert!(ends(child.expect("a process")).success());
}

#[test]
fn every_call_says_so_and_succeeds_when_there_is_memory_again() {
    const TEST: &str = "fault_injection::every_call_says_so_and_succeeds_when_there_is_memory_again";
    if let Some(role) = role() {
        let (name, scenario) = SCENARIOS[role.parse::<usize>().expect("the number of a scenario")];
        eprintln!("{name}: {} points", at_every_point(scenario));
        return;
    }
    // A process each: a pool that one has filled would spare another its allocations.
    let failed: Vec<_> = (0..SCENARIOS.len())
        .filter(|n| {
            let child = again(TEST, &n.to_string()).env(VARIABLE, "0").spawn();
            !ends(child.expect("a process")).success()
        })
        .map(|n| SCENARIOS[n].0)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}
