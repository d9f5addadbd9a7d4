//! What a graph costs the host through the C ABI, from its first node to the launch, beside the copy of its packets.
//!
//! Launches and copies take turns, a block of each: a packet processor that has just worked looks for more for a while,
//! and two of them beside the host's thread are more than a small machine has cores for.

use std::{fs, thread, time::Duration, time::Instant};

use aqlipse_bench::{
    sampling::{Effort, nanoseconds, samples},
    shape::Shape,
};
use hsa::packet::Packet;

use super::{
    library::Failed,
    protocol::{Case, Quantity, Times},
    session::{Exec, Graph, Session},
};
use crate::bench::{
    floor::{DeviceRing, Ring},
    measure,
};

/// Launches, and copies, of a block; the first of each finds the packet processor asleep and does not count.
const BLOCK: usize = 17;

/// How long a packet processor that finds nothing is awake, and a little more.
const NAP: Duration = Duration::from_micros(100);

/// How long the device is idle before launches that are to find it asleep.
const IDLE: Duration = Duration::from_millis(10);

/// Graphs of at most so many nodes are launched after idling.
const MOST_AFTER_IDLE: usize = 1;

/// Packets that are launched ahead of a change: what the packet processor takes longer for than the change takes.
const IN_FLIGHT: usize = 4096;

/// Single updates ahead of whose end the launches before are not over.
const SETS_IN_FLIGHT: usize = 100;

/// Single updates of a sample.
const SETS: usize = 1000;

/// Packets that a batch of launches publishes at most: fewer than a queue has slots, so that no launch waits.
const BATCH_PACKETS: usize = 8000;

/// Launches of a resident graph in a row: each is one packet, whatever the graph is.
const RESIDENT_BATCH: usize = 32;

/// Executables whose memory is measured together, unless they take too long or too much.
const EXECS: usize = 10_000;

/// Executables whose memory is measured at least.
const FEWEST_EXECS: usize = 16;

/// Bytes by which the process may grow for that: old libraries take megabytes for each.
const MOST_GROWN: u64 = 1 << 30;

/// Graphs of at most so many nodes are compiled so often for that.
const MOST_FOR_MEMORY: usize = 32;

/// Everything about a graph of `nodes` kernels.
///
/// # Errors
/// The first call that fails, but for those that a library may lack.
pub fn of_graph(session: &Session, shape: Shape, nodes: usize, effort: Effort) -> Result<Times, Failed> {
    let share = nodes as f64;
    let mut times = Times::new();
    let graph = session.graph(shape, nodes)?;
    let [build] = samples(effort, || Ok([session.time_of_building(shape, nodes)? / share]))?;
    let [instantiate] = samples(effort, || {
        let start = Instant::now();
        let exec = graph.instantiate()?;
        let time = nanoseconds(start) / share;
        exec.destroy()?;
        Ok([time])
    })?;
    times.extend([(Quantity::BuildNode, build), (Quantity::InstantiateNode, instantiate)]);

    let exec = graph.instantiate()?;
    let others = [session.graph(shape, nodes)?, session.graph(shape, nodes)?];
    let mut turn = 0;
    let update = samples(effort, || {
        turn += 1;
        let start = Instant::now();
        exec.update(&others[turn % 2])?;
        Ok([nanoseconds(start) / share])
    });
    let set = samples(effort, || {
        let start = Instant::now();
        exec.set(&graph, SETS)?;
        Ok([nanoseconds(start) / SETS as f64])
    });
    for (quantity, samples) in [(Quantity::UpdateNode, update), (Quantity::SetNode, set)] {
        match samples {
            Ok([samples]) => times.push((quantity, samples)),
            // An old library may not have it, or refuse it.
            Err(Failed::Missing(_) | Failed::Code { .. }) => {}
            Err(failed) => return Err(failed),
        }
    }
    if (Case::Graph { shape, nodes }).is_launched() {
        times.extend(launches(session, &exec, shape, nodes, effort)?);
        match changes_in_flight(session, &exec, &graph, &others, effort) {
            Ok(changes) => times.extend(changes),
            // As above.
            Err(Failed::Missing(_) | Failed::Code { .. }) => {}
            Err(failed) => return Err(failed),
        }
        match resident_launches(session, &graph, effort) {
            Ok(calls) => times.push((Quantity::ResidentCall, calls)),
            // Only this library has it.
            Err(Failed::Missing(_) | Failed::Code { .. }) => {}
            Err(failed) => return Err(failed),
        }
    }
    if nodes <= MOST_FOR_MEMORY {
        times.push((Quantity::ExecBytes, vec![grown(EXECS, effort, || graph.instantiate())?]));
        let own = || session.graph(shape, nodes)?.instantiate();
        times.push((Quantity::OwnExecBytes, vec![grown(EXECS, effort, own)?]));
    } else if nodes <= EXECS {
        let bytes = grown(EXECS * MOST_FOR_MEMORY / nodes, effort, || graph.instantiate())?;
        times.push((Quantity::ExecNodeBytes, vec![bytes / share]));
    }
    Ok(times)
}

/// Launches of an executable that lies on the device, while that is busy: an idle one that is emulated has to be woken up,
/// which costs more than the launch and depends on how long the one before took.
fn resident_launches(session: &Session, graph: &Graph<'_>, effort: Effort) -> Result<Vec<f64>, Failed> {
    let exec = graph.instantiate_resident()?;
    let [calls] = samples(effort, || {
        exec.launch()?;
        let start = Instant::now();
        for _ in 0..RESIDENT_BATCH {
            exec.launch()?;
        }
        let time = nanoseconds(start) / RESIDENT_BATCH as f64;
        session.synchronize()?;
        Ok([time])
    })?;
    exec.destroy()?;
    Ok(calls)
}

/// Changes of all nodes, and of some, behind launches that keep the device busy for longer than they take.
fn changes_in_flight(
    session: &Session,
    exec: &Exec<'_>,
    graph: &Graph<'_>,
    others: &[Graph<'_>; 2],
    effort: Effort,
) -> Result<Times, Failed> {
    let nodes = graph.nodes();
    let ahead = (IN_FLIGHT / nodes).max(1);
    let launch = || (0..ahead).try_for_each(|_| exec.launch());
    let mut turn = 0;
    let [update, set] = samples(effort, || {
        turn += 1;
        launch()?;
        let start = Instant::now();
        exec.update(&others[turn % 2])?;
        let update = nanoseconds(start) / nodes as f64;
        session.synchronize()?;
        launch()?;
        let start = Instant::now();
        exec.set(graph, SETS_IN_FLIGHT)?;
        let set = nanoseconds(start) / SETS_IN_FLIGHT as f64;
        session.synchronize()?;
        Ok([update, set])
    })?;
    Ok(vec![(Quantity::UpdateInFlight, update), (Quantity::SetInFlight, set)])
}

/// Launches one after the other, and notes what the call took and what it took until all was done. The first is not noted:
/// it wakes the device up, or brings the graph there.
fn launch_block(session: &Session, exec: &Exec<'_>, mut note: impl FnMut(f64, f64)) -> Result<(), Failed> {
    thread::sleep(NAP);
    for n in 0..BLOCK {
        let start = Instant::now();
        exec.launch()?;
        let called = nanoseconds(start);
        session.synchronize()?;
        if n > 0 {
            note(called, nanoseconds(start));
        }
    }
    Ok(())
}

/// Launches in turns with copies of as many packets.
fn launches(
    session: &Session,
    exec: &Exec<'_>,
    shape: Shape,
    nodes: usize,
    effort: Effort,
) -> Result<Times, Failed> {
    let mut device = floor_of(shape, nodes)?;
    let (mut ring, warm_packets) = (Ring::new(), vec![Packet::NO_OPERATION; nodes]);
    let [mut call, mut complete, mut floor, mut floor_complete, mut warm] = [const { Vec::new() }; 5];
    let start = Instant::now();
    while start.elapsed() < 4 * effort.budget || call.len() < effort.least {
        launch_block(session, exec, |called, completed| {
            call.push(called);
            complete.push(completed);
        })?;
        thread::sleep(NAP);
        for n in 0..BLOCK {
            let [called, completed] = device.copy();
            if n > 0 {
                floor.push(called);
                floor_complete.push(completed);
            }
        }
        for _ in 1..BLOCK {
            let start = Instant::now();
            ring.copy(std::hint::black_box(&warm_packets));
            warm.push(nanoseconds(start));
        }
    }
    let batch = (BATCH_PACKETS / nodes).clamp(1, 500);
    let [in_batch] = samples(effort, || {
        let start = Instant::now();
        for _ in 0..batch {
            exec.launch()?;
        }
        let time = nanoseconds(start) / batch as f64;
        session.synchronize()?;
        Ok([time])
    })?;
    let mut idle = Times::new();
    if nodes <= MOST_AFTER_IDLE {
        let [call, floor] = samples(Effort { budget: 4 * effort.budget, ..effort }, || {
            thread::sleep(IDLE);
            let start = Instant::now();
            exec.launch()?;
            let called = nanoseconds(start);
            session.synchronize()?;
            thread::sleep(IDLE);
            let [copied, _] = device.copy();
            Ok([called, copied])
        })?;
        idle = vec![(Quantity::CallAfterIdle, call), (Quantity::FloorAfterIdle, floor)];
    }
    let times = vec![
        (Quantity::Call, call),
        (Quantity::Complete, complete),
        (Quantity::CallInBatch, in_batch),
        (Quantity::Floor, floor),
        (Quantity::FloorComplete, floor_complete),
        (Quantity::WarmFloor, warm),
    ];
    Ok(times.into_iter().chain(idle).collect())
}

/// The copy of the packets that this library has for such a graph.
///
/// # Errors
/// [`Failed::Wrong`] with what the library or the emulator refuses.
pub(super) fn floor_of(shape: Shape, nodes: usize) -> Result<DeviceRing, Failed> {
    let failed = |error: &dyn std::fmt::Display| Failed::Wrong(format!("the floor: {error}"));
    let image = measure::image(shape, nodes).map_err(|error| failed(&error))?;
    DeviceRing::new(image).map_err(|error| failed(&error))
}

/// Bytes by which the process grows for each of so many executables, or of those that fit into time and memory.
fn grown<'s>(
    count: usize,
    effort: Effort,
    make: impl Fn() -> Result<Exec<'s>, Failed>,
) -> Result<f64, Failed> {
    // What is made once.
    let first = make()?;
    // What was used before and is free now would be used again, and the process not grow.
    // SAFETY: gives free memory of the allocator back to the system.
    unsafe { libc::malloc_trim(0) };
    let (before, start) = (resident(), Instant::now());
    let grown = || resident().saturating_sub(before);
    let mut execs = Vec::with_capacity(count);
    while execs.len() < count {
        execs.push(make()?);
        let enough = || start.elapsed() > effort.longest || grown() > MOST_GROWN;
        if execs.len() % FEWEST_EXECS == 0 && enough() {
            break;
        }
    }
    let each = grown() as f64 / execs.len() as f64;
    let start = Instant::now();
    // Those that are left go with the process.
    for exec in execs.into_iter().chain([first]).take_while(|_| start.elapsed() < effort.longest) {
        exec.destroy()?;
    }
    Ok(each)
}

/// Bytes of the process that are in memory; 0 where the system does not tell.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_some_memory_and_grows_with_what_it_uses() {
        let before = resident();
        let block = vec![1u8; 64 << 20];
        assert!(before > 0 && resident() >= before + (32 << 20), "{} bytes", block.len());
    }
}
