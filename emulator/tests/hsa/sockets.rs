//! A host with two sockets: what is said about it, and the reads of its memory that are counted.

use emulator::{Config, Counters, Target};
use hsa_sys::*;

use super::session::{Kernel, Session, dispatch, ok};
use crate::harness::{Level, code_object};

const SOURCE: &str = r#"
KERNEL early(const volatile u32 *in, volatile u32 *out) { if (tid == 0) *out = *in; }
KERNEL late(const volatile u32 *in, volatile u32 *out) {
    if (tid == 0) {
        out[1] = 7;
        __builtin_amdgcn_s_waitcnt(0);
        out[0] = in[0];
    }
}
"#;

fn session(devices: usize, traits: &str) -> Session {
    let hardware = traits.parse().expect("traits that there are");
    Session::with(Config { devices: vec![Target::Gfx90a; devices], hardware, ..Config::default() })
}

/// How long the way from an agent to a pool is.
fn distance(session: &Session, agent: hsa_agent_t, pool: hsa_amd_memory_pool_t) -> u32 {
    // SAFETY: zeros are a valid value of the structure.
    let mut link: hsa_amd_memory_pool_link_info_t = unsafe { std::mem::zeroed() };
    let attribute = HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO;
    let ask = session.hsa.hsa_amd_agent_memory_pool_get_info;
    // SAFETY: room for the one hop.
    ok(unsafe { ask(agent, pool, attribute, (&raw mut link).cast()) });
    link.numa_distance
}

#[test]
fn each_device_is_near_one_of_two_cpu_agents() {
    let session = session(3, "two-sockets");
    let cpus = &session.agents[..2];
    assert_eq!(session.agents.len(), 5);
    for device in 0..3 {
        let mut nearest = hsa_agent_t { handle: 0 };
        let attribute = hsa_agent_info_t(HSA_AMD_AGENT_INFO_NEAREST_CPU.0);
        // SAFETY: room for the answer.
        ok(unsafe {
            (session.hsa.hsa_agent_get_info)(session.gpu(device), attribute, (&raw mut nearest).cast())
        });
        assert_eq!(nearest, cpus[device % 2]);
        let [near, far] = [device % 2, 1 - device % 2].map(|socket| session.pools(cpus[socket])[0]);
        assert!(distance(&session, session.gpu(device), near) < distance(&session, session.gpu(device), far));
    }
    for (node, agent) in (0u32..).zip(&session.agents) {
        let mut said = u32::MAX;
        // SAFETY: room for the answer.
        ok(unsafe { (session.hsa.hsa_agent_get_info)(*agent, HSA_AGENT_INFO_NODE, (&raw mut said).cast()) });
        assert_eq!(said, node);
    }
}

/// Memory of a CPU agent's pool that every GPU reaches.
fn words(session: &Session, cpu: usize, kind: usize) -> &'static mut [u64] {
    let pool = session.pools(session.agents[cpu])[kind];
    let pointer = session.try_allocate(pool, 64).expect("small");
    session.allow(pointer);
    // SAFETY: fresh memory of that size, zeroed, which is never freed.
    unsafe { std::slice::from_raw_parts_mut(pointer.cast(), 8) }
}

/// What a device counted while a kernel read from a socket's memory, with its arguments in that of `arguments`, and
/// stored to the device's own.
fn counted(session: &Session, gpu: usize, kernel: Kernel, from: usize, arguments: usize) -> [u64; 3] {
    let local = session.try_allocate(session.pools(session.gpu(gpu))[0], 4096).expect("small");
    let kernarg = words(session, arguments, 1);
    kernarg[..2].copy_from_slice(&[words(session, from, 0).as_ptr() as u64, local as u64]);
    let before = reads(gpu);
    let (queue, done) = (session.queue(gpu, 64), session.signal(1));
    queue.submit(&[dispatch(0, kernel, 1, kernarg, done)]);
    assert!(session.finished(done));
    queue.destroy();
    let after = reads(gpu);
    std::array::from_fn(|at| after[at] - before[at])
}

fn reads(gpu: usize) -> [u64; 3] {
    let Counters { near_host_reads, far_host_reads, early_host_reads, .. } =
        emulator::counters(gpu).expect("a device");
    [near_host_reads, far_host_reads, early_host_reads]
}

#[test]
fn reads_of_host_memory_are_counted_by_socket_and_before_the_first_store() {
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let session = session(2, "two-sockets");
    for gpu in 0..2 {
        let (near, far) = (gpu, 1 - gpu);
        let [early, late] = ["early", "late"].map(|name| session.kernel(gpu, &object, name));
        let [by_arguments, none, all] = counted(&session, gpu, late, near, near);
        // The word that is read after the store is not early.
        assert_eq!((none, all), (0, by_arguments - 1));
        assert!(all > 0, "arguments are read first");
        assert_eq!(counted(&session, gpu, early, near, near), [all + 1, 0, all + 1]);
        assert_eq!(counted(&session, gpu, early, far, near), [all, 1, all + 1]);
        assert_eq!(counted(&session, gpu, late, near, far), [1, all, all]);
    }
}

#[test]
fn a_host_with_one_socket_counts_no_reads() {
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let session = session(1, "");
    let early = session.kernel(0, &object, "early");
    assert_eq!(counted(&session, 0, early, 0, 0), [0; 3]);
}
