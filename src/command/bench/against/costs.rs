//! What a graph costs the host through the C ABI, from its first node to the launch, beside the copy of its packets.
//!
//! Launches and copies take turns, a block of each: a packet processor that has just worked looks for more for a while,
//! and two of them beside the host's thread are more than a small machine has cores for.

use std::{fs, thread, time::Duration, time::Instant};

use hsa::packet::Packet;

use super::{
    library::Failed,
    protocol::{Case, Quantity},
    session::{Exec, Graph, Session},
    threads,
    worker::Times,
};
use crate::command::bench::{
    floor::{DeviceRing, Ring},
    sampling::{Effort, nanoseconds, samples},
    shape::Shape,
};

/// Launches, and copies, of a block; the first of each finds the packet processor asleep and does not count.
const BLOCK: usize = 17;

/// How long a packet processor that finds nothing is awake, and a little more.
const NAP: Duration = Duration::from_micros(100);

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
        times.extend(launches(session, &exec, nodes, effort)?);
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
    if nodes == threads::NODES {
        times.extend(threads::of_threads(session, shape)?);
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
fn launches(session: &Session, exec: &Exec<'_>, nodes: usize, effort: Effort) -> Result<Times, Failed> {
    let failed = |error: hsa::Error| Failed::Wrong(format!("the queue of the floor: {error}"));
    let mut device = DeviceRing::new().map_err(failed)?;
    let packets = device.chain(nodes).map_err(failed)?;
    let (mut ring, warm_packets) = (Ring::new(), vec![Packet::NO_OPERATION; nodes]);
    let [mut call, mut complete, mut floor, mut warm] = [const { Vec::new() }; 4];
    let start = Instant::now();
    while start.elapsed() < 4 * effort.budget || call.len() < effort.least {
        launch_block(session, exec, |called, completed| {
            call.push(called);
            complete.push(completed);
        })?;
        thread::sleep(NAP);
        for n in 0..BLOCK {
            let time = device.copy(&packets);
            if n > 0 {
                floor.push(time);
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
    Ok(vec![
        (Quantity::Call, call),
        (Quantity::Complete, complete),
        (Quantity::CallInBatch, in_batch),
        (Quantity::Floor, floor),
        (Quantity::WarmFloor, warm),
    ])
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
