//! What a device with caches shows of fences that are there, and of fences that are not.
//!
//! The packets are those of docs/adr/0029: for each row of its table one test runs them as they should be, and once more
//! without the row's fence.

use emulator::{Config, Target};
use hsa_sys::{
    HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER, HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_NONE,
    HSA_FENCE_SCOPE_SYSTEM, HSA_PACKET_TYPE_BARRIER_AND, hsa_fence_scope_t, hsa_signal_t,
};

use super::session::{BARRIER_BIT, Kernel, NONE, Session, barrier, dispatch, ok};
use crate::harness::{Level, code_object, code_object_v4};

const SOURCE: &str = r#"
KERNEL next(const u32 *from, u32 *to) { if (tid == 0) *to = *from + 1; }

#define FENCED(order, scope) __builtin_amdgcn_fence(order, scope)
#define COMPILER __asm__ volatile("" ::: "memory")

#define PASS(name, stored, loaded, then) \
KERNEL name(u32 *data, u32 *flag, u32 *seen) { \
    if (tid != 0) return; \
    if (block == 0) { \
        *data = 42; \
        __hip_atomic_store(flag, 1u, stored, __HIP_MEMORY_SCOPE_AGENT); \
    } else { \
        seen[0] = *data; \
        while (!__hip_atomic_load(flag, loaded, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(1); \
        then; \
        seen[1] = *data; \
    } \
}
PASS(pass, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE, COMPILER)
PASS(pass_unacquired, __ATOMIC_RELEASE, __ATOMIC_RELAXED, COMPILER)
PASS(pass_within, __ATOMIC_RELEASE, __ATOMIC_RELAXED, FENCED(__ATOMIC_ACQUIRE, "workgroup"))

// Two waves of 32 lanes.
#define SHARE(name, released, acquired) \
KERNEL name(u32 *data, u32 *flag, u32 *seen) { \
    if (tid == 32) seen[0] = *data; \
    COMPILER; \
    if (tid == 0) { *data = 42; released; } \
    COMPILER; \
    __builtin_amdgcn_s_barrier(); \
    COMPILER; \
    if (tid == 32) { acquired; seen[1] = *data; } \
}
SHARE(share, FENCED(__ATOMIC_RELEASE, "workgroup"), FENCED(__ATOMIC_ACQUIRE, "workgroup"))
SHARE(share_unreleased, COMPILER, FENCED(__ATOMIC_ACQUIRE, "workgroup"))
SHARE(share_unacquired, FENCED(__ATOMIC_RELEASE, "workgroup"), COMPILER)

// One wave of 32 lanes, a line each: more of them in all than are kept of a workgroup.
KERNEL many(u32 *lines, u32 *wrong) {
    if (tid >= 32) return;
    for (u32 i = 0; i < 96; ++i) lines[16 * (32 * i + tid)] = i + 1;
    FENCED(__ATOMIC_SEQ_CST, "workgroup");
    for (u32 i = 96; i < 160; ++i) lines[16 * (32 * i + tid)] = i + 1;
    FENCED(__ATOMIC_SEQ_CST, "workgroup");
    u32 differ = 0;
    for (u32 i = 0; i < 160; ++i) differ += lines[16 * (32 * i + tid)] != i + 1;
    wrong[tid] = differ + 1;
}

KERNEL count(u32 *sum) {
    __hip_atomic_fetch_add(sum, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL own(u32 *words, u32 *seen) {
    u32 i = block * 64 + tid;
    words[i] = i;
    __hip_atomic_fetch_add(&words[i], 1000u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __asm__ volatile("" ::: "memory");
    seen[i] = words[i];
    u8 *bytes = (u8 *)&seen[i];
    bytes[3] = 7;
}
KERNEL wait_for_host(volatile u32 *ready, volatile u32 *go, u32 *data, u32 *seen) {
    if (tid != 0) return;
    seen[0] = *data;
    *ready = 1;
    while (!__hip_atomic_load((u32 *)go, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM)) __builtin_amdgcn_s_sleep(1);
    seen[1] = *data;
}
"#;

const TARGETS: [Target; 6] =
    [Target::Gfx90a, Target::Gfx942, Target::Gfx950, Target::Gfx1030, Target::Gfx1100, Target::Gfx1201];

/// Devices with caches, a kernel that adds one, and what it works on.
struct Bench {
    session: Session,
    next: Vec<Kernel>,
}

type Fences = (hsa_fence_scope_t, hsa_fence_scope_t);

const ALL: Fences = (HSA_FENCE_SCOPE_SYSTEM, HSA_FENCE_SCOPE_SYSTEM);
/// What a packet inside a graph has.
const INSIDE: Fences = (HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_AGENT);
const FIRST: Fences = (HSA_FENCE_SCOPE_SYSTEM, HSA_FENCE_SCOPE_AGENT);
const LAST: Fences = (HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_SYSTEM);

/// A packet with other fences.
fn fenced(mut packet: [u64; 8], (acquire, release): Fences) -> [u64; 8] {
    packet[0] = packet[0] & !(0xf << 9) | u64::from(acquire.0) << 9 | u64::from(release.0) << 11;
    packet
}

impl Bench {
    fn new(targets: &[Target]) -> Option<Self> {
        let session =
            Session::with(Config { devices: targets.to_vec(), strict_coherence: true, ..Config::default() });
        let load = |(gpu, target): (usize, &Target)| {
            Some(session.kernel(gpu, &code_object(SOURCE, *target, Level::O1)?, "next"))
        };
        let next = targets.iter().enumerate().map(load).collect::<Option<Vec<_>>>()?;
        Some(Self { session, next })
    }

    /// Coarse-grained words of a GPU's, a cache line each, which the host reaches too.
    fn words<const N: usize>(&self, gpu: usize) -> [*mut u32; N] {
        let pool = self.session.pools(self.session.gpu(gpu))[0];
        let block = self.session.try_allocate(pool, 256 * N).expect("small");
        self.session.allow(block);
        std::array::from_fn(|n| block.cast::<u32>().wrapping_add(64 * n))
    }

    /// A dispatch on a GPU that stores one more than `from` holds into `to`.
    fn next(&self, gpu: usize, from: *const u32, to: *mut u32, done: hsa_signal_t) -> [u64; 8] {
        let kernarg = self.session.array::<u64>(2);
        kernarg.copy_from_slice(&[from as u64, to as u64]);
        dispatch(BARRIER_BIT, self.next[gpu], 1, kernarg, done)
    }

    /// Packets, on a queue each, which are done when `done` is 0.
    fn run(&self, queues: &[(usize, &[[u64; 8]])], done: hsa_signal_t) {
        let queues: Vec<_> =
            queues.iter().map(|(gpu, packets)| (self.session.queue(*gpu, 64), *packets)).collect();
        queues.iter().for_each(|(queue, packets)| queue.submit(packets));
        assert!(self.session.finished(done));
        queues.into_iter().for_each(|(queue, _)| queue.destroy());
    }
}

/// What memory holds.
fn get(word: *const u32) -> u32 {
    // SAFETY: words of `Bench::words`, which are never freed.
    unsafe { word.read_volatile() }
}

fn set(word: *mut u32, value: u32) {
    // SAFETY: as above.
    unsafe { word.write_volatile(value) };
}

/// Two packets on one queue, of which the second reads what the first wrote.
fn chain(target: Target, first: Fences, second: Fences) -> Option<u32> {
    let bench = Bench::new(&[target])?;
    let [a, b, c] = bench.words(0);
    set(a, 10);
    let done = bench.session.signal(1);
    let packets = [fenced(bench.next(0, a, b, NONE), first), fenced(bench.next(0, b, c, done), second)];
    bench.run(&[(0, &packets)], done);
    Some(get(c))
}

#[test]
fn a_barrier_bit_without_an_acquire_shows_what_was_before() {
    for target in TARGETS {
        let Some(value) = chain(target, FIRST, LAST) else { return };
        assert_eq!(value, 12, "{target:?}");
        let missing = (HSA_FENCE_SCOPE_NONE, LAST.1);
        assert_eq!(chain(target, FIRST, missing), Some(1), "{target:?}");
    }
}

#[test]
fn a_packet_inside_without_a_release_shows_nothing_to_those_behind() {
    for target in TARGETS {
        let missing = (FIRST.0, HSA_FENCE_SCOPE_NONE);
        let Some(value) = chain(target, missing, LAST) else { return };
        assert_eq!(value, 1, "{target:?}");
    }
}

#[test]
fn a_last_packet_without_a_system_release_shows_the_host_nothing() {
    for target in TARGETS {
        let Some(value) = chain(target, FIRST, INSIDE) else { return };
        assert_eq!(value, 0, "{target:?}");
    }
}

/// Two launches of a packet between which the host writes what it reads; what the second one finds.
fn first(target: Target, grain: Option<usize>, acquire: hsa_fence_scope_t) -> Option<u32> {
    let bench = Bench::new(&[target])?;
    let [coarse, b] = bench.words(0);
    let a = match grain {
        Some(pool) => {
            let pool = bench.session.pools(bench.session.cpu())[pool];
            let block = bench.session.try_allocate(pool, 64).expect("small");
            bench.session.allow(block);
            block.cast::<u32>()
        }
        None => coarse,
    };
    for (value, acquire) in [(10, HSA_FENCE_SCOPE_SYSTEM), (20, acquire)] {
        set(a, value);
        let done = bench.session.signal(1);
        bench.run(&[(0, &[fenced(bench.next(0, a, b, done), (acquire, HSA_FENCE_SCOPE_SYSTEM))])], done);
    }
    Some(get(b))
}

#[test]
fn a_first_packet_without_a_system_acquire_shows_what_the_host_had_written_before() {
    for target in TARGETS {
        // The device's own memory, fine-grained and coarse-grained memory of the host.
        for grain in [None, Some(0), Some(2)] {
            let Some(value) = first(target, grain, HSA_FENCE_SCOPE_SYSTEM) else { return };
            assert_eq!(value, 21, "{target:?} {grain:?}");
            for missing in [HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_NONE] {
                assert_eq!(first(target, grain, missing), Some(11), "{target:?} {grain:?} {missing:?}");
            }
        }
    }
}

/// A packet of an indirect buffer that a kernel redirects with this release, and then the buffer: what the packet has left
/// at the place that it had first, and at the one that it was given.
fn buffer(target: Target, release: hsa_fence_scope_t) -> Option<[u32; 2]> {
    let bench = Bench::new(&[target])?;
    let [a, before, after, arguments, packet] = bench.words(0);
    set(a, 10);
    let kernargs = bench.session.array::<u64>(4);
    kernargs.copy_from_slice(&[a as u64, before as u64, a as u64, after as u64]);
    let (first, second) = (&raw const kernargs[0] as u64, &raw const kernargs[2] as u64);
    assert_eq!(first >> 32, second >> 32, "one word tells them apart");
    set(arguments, second as u32 - 1);
    // SAFETY: 64 bytes of ours, aligned as allocations are.
    unsafe { packet.cast::<[u64; 8]>().write(dispatch(BARRIER_BIT, bench.next[0], 1, &kernargs[..2], NONE)) };

    let done = bench.session.signal(1);
    let redirect = bench.next(0, arguments, packet.wrapping_add(10), NONE);
    let header = u64::from(BARRIER_BIT) | u64::from(HSA_AMD_PACKET_TYPE_AQL_INDIRECT_BUFFER.0) << 16;
    let enter = [header, 0, 0, 1 << 32, 0, packet as u64, 1 << 32, done.handle];
    bench.run(&[(0, &[fenced(redirect, (HSA_FENCE_SCOPE_SYSTEM, release)), enter])], done);
    Some([get(before), get(after)])
}

#[test]
fn packets_in_a_buffer_are_read_from_memory_itself() {
    for target in TARGETS {
        let Some(places) = buffer(target, HSA_FENCE_SCOPE_SYSTEM) else { return };
        assert_eq!(places, [0, 11], "{target:?}");
        assert_eq!(buffer(target, HSA_FENCE_SCOPE_AGENT), Some([11, 0]), "{target:?}");
    }
}

/// A packet on one queue, and on another one a wait for it and a packet that reads what it wrote.
fn lanes(target: Target, first: Fences, wait: Fences) -> Option<u32> {
    let bench = Bench::new(&[target])?;
    let [a, b, c] = bench.words(0);
    set(a, 10);
    let (handed, done) = (bench.session.signal(1), bench.session.signal(1));
    let one = [fenced(bench.next(0, a, b, handed), first)];
    // The work behind the wait is no barrier's: it has no acquire of its own.
    let mut work = fenced(bench.next(0, b, c, done), (HSA_FENCE_SCOPE_NONE, LAST.1));
    work[0] &= !u64::from(BARRIER_BIT);
    let waiting = barrier(HSA_PACKET_TYPE_BARRIER_AND, BARRIER_BIT, &[handed], NONE);
    let other = [fenced(waiting, wait), work];
    bench.run(&[(0, &one), (0, &other)], done);
    Some(get(c))
}

#[test]
fn two_queues_without_agent_fences_do_not_see_each_other() {
    const WAIT: Fences = (HSA_FENCE_SCOPE_AGENT, HSA_FENCE_SCOPE_NONE);
    for target in TARGETS {
        let Some(value) = lanes(target, FIRST, WAIT) else { return };
        assert_eq!(value, 12, "{target:?}");
        let unreleased = (FIRST.0, HSA_FENCE_SCOPE_NONE);
        assert_eq!(lanes(target, unreleased, WAIT), Some(1), "{target:?} without a release");
    }
}

#[test]
fn a_wait_for_another_queue_without_an_acquire_shows_what_was_before() {
    for target in TARGETS {
        let bench = match Bench::new(&[target]) {
            Some(bench) => bench,
            None => return,
        };
        for (acquire, expected) in [(HSA_FENCE_SCOPE_AGENT, 12), (HSA_FENCE_SCOPE_NONE, 1)] {
            let [a, b, c, d] = bench.words(0);
            set(a, 10);
            let (handed, done) = (bench.session.signal(1), bench.session.signal(2));
            let (queue, other) = (bench.session.queue(0, 64), bench.session.queue(0, 64));
            // Something that the other queue did before, so that it has acquired.
            let began = bench.session.signal(1);
            other.submit(&[fenced(bench.next(0, c, d, began), FIRST)]);
            assert!(bench.session.finished(began));
            let mut work = fenced(bench.next(0, b, c, done), (HSA_FENCE_SCOPE_NONE, LAST.1));
            work[0] &= !u64::from(BARRIER_BIT);
            let waiting = barrier(HSA_PACKET_TYPE_BARRIER_AND, BARRIER_BIT, &[handed], done);
            other.submit(&[fenced(waiting, (acquire, HSA_FENCE_SCOPE_NONE)), work]);
            queue.submit(&[fenced(bench.next(0, a, b, handed), FIRST)]);
            assert!(bench.session.finished(done));
            assert_eq!(get(c), expected, "{target:?} {acquire:?}");
            queue.destroy();
            other.destroy();
        }
    }
}

#[test]
fn a_wait_for_the_host_without_a_system_acquire_shows_what_was_before() {
    for target in TARGETS {
        let Some(bench) = Bench::new(&[target]) else { return };
        for (acquire, expected) in [(HSA_FENCE_SCOPE_SYSTEM, 21), (HSA_FENCE_SCOPE_AGENT, 11)] {
            let [a, b, c] = bench.words(0);
            set(a, 10);
            let (read, host, done) =
                (bench.session.signal(1), bench.session.signal(1), bench.session.signal(1));
            let waiting = barrier(HSA_PACKET_TYPE_BARRIER_AND, BARRIER_BIT, &[host], NONE);
            let queue = bench.session.queue(0, 64);
            queue.submit(&[
                fenced(bench.next(0, a, b, read), ALL),
                fenced(waiting, (acquire, HSA_FENCE_SCOPE_NONE)),
                fenced(bench.next(0, a, c, done), LAST),
            ]);
            // A host node: it sees what the device did, and does something itself.
            assert!(bench.session.finished(read));
            assert_eq!(get(b), 11);
            set(a, 20);
            bench.session.store(host, 0);
            assert!(bench.session.finished(done));
            assert_eq!(get(c), expected, "{target:?} {acquire:?}");
            queue.destroy();
        }
    }
}

#[test]
fn a_completion_signal_without_a_system_release_shows_the_host_nothing() {
    for target in TARGETS {
        let Some(bench) = Bench::new(&[target]) else { return };
        for (release, expected) in [(HSA_FENCE_SCOPE_SYSTEM, 11), (HSA_FENCE_SCOPE_AGENT, 0)] {
            let [a, b] = bench.words(0);
            set(a, 10);
            let done = bench.session.signal(1);
            bench.run(&[(0, &[fenced(bench.next(0, a, b, done), (FIRST.0, release))])], done);
            assert_eq!(get(b), expected, "{target:?} {release:?}");
        }
    }
}

/// What a device reads, after an event, of what another one wrote before it recorded that event.
fn event(record: Fences, wait: Fences) -> Option<u32> {
    let bench = Bench::new(&TARGETS)?;
    let [a, b, c] = bench.words(0);
    set(a, 10);
    let (read, recorded, done) = (bench.session.signal(1), bench.session.signal(1), bench.session.signal(1));
    let (one, two) = (bench.session.queue(0, 64), bench.session.queue(1, 64));
    two.submit(&[fenced(bench.next(1, b, c, read), ALL)]);
    assert!(bench.session.finished(read));
    let waiting = barrier(HSA_PACKET_TYPE_BARRIER_AND, BARRIER_BIT, &[recorded], NONE);
    two.submit(&[fenced(waiting, wait), fenced(bench.next(1, b, c, done), LAST)]);
    let recording = barrier(HSA_PACKET_TYPE_BARRIER_AND, BARRIER_BIT, &[], recorded);
    one.submit(&[fenced(bench.next(0, a, b, NONE), FIRST), fenced(recording, record)]);
    assert!(bench.session.finished(done));
    one.destroy();
    two.destroy();
    Some(get(c))
}

#[test]
fn an_event_without_system_fences_shows_another_device_nothing() {
    let Some(value) = event(ALL, ALL) else { return };
    assert_eq!(value, 12);
    assert_eq!(event(INSIDE, ALL), Some(1), "a record without a system release");
    assert_eq!(event(ALL, INSIDE), Some(1), "a wait without a system acquire");
}

/// Runs a kernel of `groups` workgroups over words of a GPU's, all zeros at first; what the words hold then.
fn kernel(target: Target, name: &str, groups: u32) -> Option<Vec<u32>> {
    let bench = Bench::new(&[target])?;
    let kernel = bench.session.kernel(0, &code_object(SOURCE, target, Level::O1)?, name);
    let words = bench.words::<3>(0);
    let kernarg = bench.session.array::<u64>(3);
    kernarg.copy_from_slice(&words.map(|word| word as u64));
    let done = bench.session.signal(1);
    bench.run(&[(0, &[dispatch(0, kernel, groups, kernarg, done)])], done);
    Some(words.iter().flat_map(|word| (0..64).map(|n| get(word.wrapping_add(n)))).collect())
}

#[test]
fn workgroups_see_each_others_stores_as_their_fences_say() {
    for target in TARGETS {
        let Some(words) = kernel(target, "pass", 2) else { return };
        assert_eq!(words[129], 42, "{target:?}");
        for missing in ["pass_unacquired", "pass_within"] {
            let Some(words) = kernel(target, missing, 2) else { return };
            assert_eq!(
                words[128..130],
                [0, 0],
                "{target:?}, {missing}: what it had read stays until it acquires"
            );
        }
    }
}

/// The waves of a workgroup in WGP mode have a cache each here.
#[test]
fn waves_see_each_others_stores_as_their_fences_say() {
    for target in TARGETS.into_iter().filter(|target| target.is_rdna()) {
        let Some(words) = kernel(target, "share", 1) else { return };
        assert_eq!(words[128..130], [0, 42], "{target:?}");
        for missing in ["share_unreleased", "share_unacquired"] {
            let Some(words) = kernel(target, missing, 1) else { return };
            assert_eq!(words[128..130], [0, 0], "{target:?}, {missing}");
        }
    }
}

#[test]
fn a_wave_finds_what_it_has_stored_however_much_that_is() {
    for target in TARGETS {
        let Some(bench) = Bench::new(&[target]) else { return };
        let Some(object) = code_object(SOURCE, target, Level::O1) else { return };
        let kernel = bench.session.kernel(0, &object, "many");
        let [wrong] = bench.words(0);
        let pool = bench.session.pools(bench.session.gpu(0))[0];
        let lines = bench.session.try_allocate(pool, 160 * 32 * 64).expect("small");
        let kernarg = bench.session.array::<u64>(2);
        kernarg.copy_from_slice(&[lines as u64, wrong as u64]);
        let done = bench.session.signal(1);
        bench.run(&[(0, &[dispatch(0, kernel, 1, kernarg, done)])], done);
        let wrong: Vec<u32> = (0..32).map(|n| get(wrong.wrapping_add(n))).collect();
        assert_eq!(wrong, [1; 32], "{target:?}");
    }
}

#[test]
fn a_kernel_finds_its_own_packet_whatever_that_acquires() {
    const SIZES: &str = "KERNEL sizes(u32 *out) { if (!tid && !block) { out[0] = block_size; out[1] = __builtin_amdgcn_grid_size_x(); } }";
    for target in TARGETS {
        let Some(bench) = Bench::new(&[target]) else { return };
        let Some(object) = code_object_v4(SIZES, target, Level::O1) else { return };
        let kernel = bench.session.kernel(0, &object, "sizes");
        let seen = bench.words::<4>(0);
        let done = bench.session.signal(1);
        let packets = std::array::from_fn::<_, 4, _>(|n| {
            let kernarg = bench.session.array::<u64>(1);
            kernarg[0] = seen[n] as u64;
            // CAST: a small number.
            let (groups, last) = (n as u32 + 1, n == 3);
            let mut packet = dispatch(BARRIER_BIT, kernel, groups, kernarg, if last { done } else { NONE });
            // Work-items of a workgroup in x: another number for each.
            packet[0] = packet[0] & !(0xffff << 32) | u64::from(groups * 16) << 32;
            let acquire = if n == 0 { HSA_FENCE_SCOPE_SYSTEM } else { HSA_FENCE_SCOPE_NONE };
            fenced(packet, (acquire, if last { HSA_FENCE_SCOPE_SYSTEM } else { HSA_FENCE_SCOPE_AGENT }))
        });
        bench.run(&[(0, &packets)], done);
        let seen = seen.map(|words| (get(words), get(words.wrapping_add(1))));
        assert_eq!(seen, [(16, 64), (32, 128), (48, 192), (64, 256)], "{target:?}");
    }
}

#[test]
fn atomics_are_where_all_workgroups_see_them() {
    for target in TARGETS {
        let Some(words) = kernel(target, "count", 30) else { return };
        assert_eq!(words[0], 30 * 64, "{target:?}");
        let Some(words) = kernel(target, "own", 1) else { return };
        for n in 0..64 {
            assert_eq!(words[n as usize], n + 1000, "{target:?}");
            // What a wave did itself it sees, fence or none.
            assert_eq!(words[64 + n as usize], (n + 1000) | (7 << 24), "{target:?}");
        }
    }
}

#[test]
fn a_kernel_and_the_host_meet_in_fine_grained_memory() {
    for target in TARGETS {
        let Some(bench) = Bench::new(&[target]) else { return };
        let Some(object) = code_object(SOURCE, target, Level::O1) else { return };
        let kernel = bench.session.kernel(0, &object, "wait_for_host");
        let words = bench.session.array::<u32>(256);
        let words = words.as_mut_ptr();
        let [ready, go, data, seen] = std::array::from_fn(|n| words.wrapping_add(64 * n));
        let kernarg = bench.session.array::<u64>(4);
        kernarg.copy_from_slice(&[ready as u64, go as u64, data as u64, seen as u64]);
        set(data, 5);
        let queue = bench.session.queue(0, 64);
        let done = bench.session.signal(1);
        queue.submit(&[dispatch(0, kernel, 1, kernarg, done)]);
        while get(ready) == 0 {
            std::thread::yield_now();
        }
        set(data, 6);
        set(go, 1);
        assert!(bench.session.finished(done));
        assert_eq!((get(seen), get(seen.wrapping_add(1))), (5, 6), "{target:?}");
        queue.destroy();
    }
}

#[test]
fn memory_that_is_freed_takes_nothing_with_it() {
    let Some(bench) = Bench::new(&[Target::Gfx90a]) else { return };
    let pool = bench.session.pools(bench.session.gpu(0))[0];
    for round in 0..20 {
        let block = bench.session.try_allocate(pool, 4096).expect("small");
        let [a, b] = [0, 64].map(|n| block.cast::<u32>().wrapping_add(n));
        assert_eq!((get(a), get(b)), (0, 0), "fresh memory is zero");
        set(a, round);
        let done = bench.session.signal(1);
        // What the device has stored stays in its cache, and goes with the memory.
        bench.run(&[(0, &[fenced(bench.next(0, a, b, done), FIRST)])], done);
        assert_eq!(get(b), 0);
        // SAFETY: nothing uses it any more.
        ok(unsafe { (bench.session.hsa.hsa_amd_memory_pool_free)(block) });
    }
}
