//! The order in which packets take effect, and the seeded schedule.

use std::collections::HashSet;

use emulator::{Config, Target};

use super::session::{BARRIER_BIT, Session, dispatch};
use crate::harness::{Level, code_object};

/// Each dispatch writes its number behind those of the dispatches that ran before.
const SOURCE: &str = r#"
KERNEL log(u32 *count, u32 *list, u32 number) {
    if (tid == 0) {
        u32 at = __hip_atomic_fetch_add(count, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
        list[at] = number * 1000 + block;
    }
}
"#;

/// Runs packets (number and whether it has the barrier bit) of `groups` workgroups; returns what was logged.
fn run(session: &Session, packets: &[(u64, bool)], groups: u32) -> Option<Vec<u32>> {
    let log = session.kernel(0, &code_object(SOURCE, Target::Gfx90a, Level::O1)?, "log");
    let total = packets.len() * groups as usize;
    let memory = session.array::<u32>(total + 1);
    let (count, list) = (memory.as_ptr() as u64, memory.as_ptr() as u64 + 4);
    let done = session.signal(packets.len() as i64);
    let packets: Vec<_> = packets
        .iter()
        .map(|(number, barrier)| {
            let kernarg = session.array::<u64>(3);
            kernarg.copy_from_slice(&[count, list, *number]);
            dispatch(if *barrier { BARRIER_BIT } else { 0 }, log, groups, kernarg, done)
        })
        .collect();
    let queue = session.queue(0, 64);
    // The packet processor falls asleep, so that it sees all packets at once when the doorbell rings.
    std::thread::sleep(std::time::Duration::from_millis(2));
    queue.submit(&packets);
    assert!(session.finished(done));
    queue.destroy();
    assert_eq!(memory[0] as usize, total);
    Some(memory[1..].to_vec())
}

fn seeded(seed: u64) -> Session {
    Session::with(Config { seed: Some(seed), ..Config::default() })
}

#[test]
fn the_barrier_bit_orders_a_queue() {
    let session = Session::new();
    let packets: Vec<_> = (0..40).map(|n| (n, true)).collect();
    let Some(log) = run(&session, &packets, 3) else { return };
    let numbers: Vec<u32> = log.iter().map(|entry| entry / 1000).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
}

#[test]
fn a_seed_permutes_independent_packets_and_workgroups() {
    let packets: Vec<_> = (0..6).map(|n| (n, false)).collect();
    let mut orders = HashSet::new();
    let mut groups = HashSet::new();
    for seed in 0..12 {
        let Some(log) = run(&seeded(seed), &packets, 5) else { return };
        let mut packets: Vec<u32> = log.iter().map(|entry| entry / 1000).collect();
        packets.dedup();
        orders.insert(packets);
        groups.insert(log.iter().filter(|e| *e / 1000 == 0).map(|e| e % 1000).collect::<Vec<_>>());
    }
    assert!(orders.len() > 6, "12 seeds gave {} orders of packets", orders.len());
    assert!(groups.len() > 3, "12 seeds gave {} orders of workgroups", groups.len());
}

#[test]
fn no_seed_violates_a_barrier_bit() {
    // Three independent packets, one with the barrier bit, three more, and again.
    let packets: Vec<_> = (0..12).map(|n| (n, n % 4 == 3)).collect();
    for seed in 100..112 {
        let Some(log) = run(&seeded(seed), &packets, 2) else { return };
        let numbers: Vec<u32> = log.iter().map(|entry| entry / 1000).collect();
        for barrier in [3, 7, 11] {
            let first = numbers.iter().position(|n| *n == barrier).expect("it ran");
            // Later packets may overtake it; earlier ones must all be complete.
            assert!(
                (0..barrier).all(|n| numbers[..first].iter().filter(|m| **m == n).count() == 2),
                "{numbers:?}"
            );
        }
    }
}

#[test]
fn a_seed_repeats_the_order_of_packets_that_are_published_together() {
    let packets: Vec<_> = (0..8).map(|n| (n, false)).collect();
    let Some(first) = run(&seeded(5), &packets, 3) else { return };
    let second = run(&seeded(5), &packets, 3);
    assert_eq!(Some(first), second);
}
