//! Physical memory of graphs: planned, had in turns by graphs that are launched in order, given back by a trim.

use std::collections::HashMap;

use aqlipse::{
    Backend, Error, Exec, MappingCalls, Meter, Options, Stream, Template,
    graph::{ConditionalKind, Memcpy, Memset, Node, NodeId},
    memory::{self, Origin},
    schedule::memory::Goal,
};
use fastrand::Rng;

use super::*;

const MIB: u64 = 1 << 20;

/// A graph that allocates, fills and frees; its fill comes to the first bytes.
struct Filler {
    template: Template,
    address: u64,
    out: Out,
}

/// Host memory that devices write, zeros at first.
struct Out {
    address: u64,
    bytes: usize,
}

impl Out {
    fn new(bytes: usize) -> Self {
        let region = memory::allocate_host(&device(), bytes, Origin::Host, 0).unwrap();
        let out = Self { address: region.address, bytes };
        // SAFETY: it was allocated for us.
        unsafe { (out.address as *mut u8).write_bytes(0, bytes) };
        out
    }

    fn address(&self) -> u64 {
        self.address
    }

    /// What was written; the launches that write are over.
    fn to_vec(&self) -> Vec<u8> {
        // SAFETY: it is ours, and no device writes it at the moment.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.bytes) }.to_vec()
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        memory::free_host(self.address).unwrap();
    }
}

/// Bytes of each end of a buffer that are looked at.
const SEEN: u64 = 16;

fn fill(dst: u64, byte: u8, bytes: u64) -> Node {
    Node::Memset(Memset { dst, pitch: bytes, value: byte.into(), element_size: 1, width: bytes, height: 1 })
}

impl Filler {
    /// Of `bytes` bytes, of which a page is touched.
    fn new(bytes: u64, byte: u8) -> Self {
        let (mut template, out) = (Template::new(&device()), Out::new(16));
        let (alloc, address) = template.add_allocation(&device(), bytes, &[]).unwrap();
        let set = template.add(fill(address, byte, bytes.min(4096)), &[alloc]).unwrap();
        let copy = Memcpy::linear(out.address(), address, SEEN);
        let copied = template.add(Node::Memcpy(copy), &[set]).unwrap();
        template.add_free(address, &[copied]).unwrap();
        Self { template, address, out }
    }

    fn exec(&self) -> Exec {
        Exec::new(&self.template, Options::default()).unwrap()
    }

    fn check(&self, byte: u8) {
        assert_eq!(self.out.to_vec(), [byte; SEEN as usize]);
    }
}

fn used() -> Meter {
    let (used, reserved) = (device().graph_memory_used(), device().graph_memory_reserved());
    assert_eq!(used, reserved);
    used
}

fn meter(current: u64, high: u64) -> Meter {
    Meter { current, high }
}

fn taken(before: u64) -> u64 {
    before - device().memory_info().0
}

fn free() -> u64 {
    device().memory_info().0
}

/// Whether graphs share memory; where they do not, the tests of `graph_memory` say what they do.
fn shares() -> bool {
    device().shares_graph_memory()
}

fn is_out_of_memory<T>(outcome: Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::OutOfMemory { .. }))
}

#[test]
fn graphs_that_are_launched_in_order_have_the_same_memory() {
    const N: u64 = 1 << 30;
    let stream = stream();
    // What the device makes for itself is there.
    let warm = Filler::new(4096, 1);
    let exec = warm.exec();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    drop((exec, warm));
    device().reset_graph_memory_used_high();
    device().reset_graph_memory_reserved_high();
    if !shares() {
        return;
    }
    let before = free();
    let graphs: Vec<Filler> = (1..=3).map(|byte| Filler::new(N, byte)).collect();
    assert!(taken(before) < N, "nodes have addresses only");
    let execs: Vec<Exec> = graphs.iter().map(Filler::exec).collect();
    assert!((N..N + N / 8).contains(&taken(before)), "what launches need is there, once: {}", taken(before));
    assert_eq!(used(), Meter::default(), "before the first launch");
    for _ in 0..2 {
        for (graph, exec) in graphs.iter().zip(&execs) {
            exec.launch(&stream).unwrap();
            assert_eq!((used(), exec.report().memory_bytes), (meter(N, N), N));
            assert_ne!(graph.address, 0);
        }
    }
    stream.synchronize().unwrap();
    (1..).zip(&graphs).for_each(|(byte, graph)| graph.check(byte));
    assert!((N..N + N / 8).contains(&taken(before)));
    device().trim_graph_memory();
    assert_eq!(used(), meter(0, N));
    assert!(taken(before) < N / 8, "a trim gives memory back: {}", taken(before));
    for (byte, (graph, exec)) in [1u8, 2, 3].into_iter().zip(graphs.iter().zip(&execs)).rev() {
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        graph.check(byte);
    }
    assert_eq!(used(), meter(N, N));
    drop(execs);
    assert_eq!(used(), meter(0, N));
    assert!(taken(before) < N / 8);
}

#[test]
fn graphs_of_different_sizes_take_as_much_as_the_largest() {
    let stream = stream();
    if !shares() {
        return;
    }
    let sizes = [64 * MIB, 33 * MIB + (64 << 10), 12288];
    let graphs: Vec<Filler> = (1..).zip(sizes).map(|(byte, bytes)| Filler::new(bytes, byte)).collect();
    let mut execs: Vec<Exec> = graphs.iter().map(Filler::exec).collect();
    // The sizes that are launched later are there from the beginning.
    for (exec, bytes) in execs.iter().zip(sizes).rev() {
        exec.launch(&stream).unwrap();
        assert!(device().graph_memory_used().current >= bytes);
    }
    assert_eq!(used().current, 64 * MIB);
    stream.synchronize().unwrap();
    let before = free();
    execs.remove(0);
    assert_eq!(used().current, sizes[1]);
    assert!(free() - before >= 30 * MIB, "what nobody else needs is given back: {}", free() - before);
}

/// What is made and mapped of physical memory while `work` goes on. The emulated device counts what the kernel driver would
/// be asked for.
fn calls<T>(work: impl FnOnce() -> T) -> (T, MappingCalls) {
    let driver = || emulator::counters(0).map_or(0, |counters| counters.handle_calls);
    let (before, asked) = (device().graph_memory_calls(), driver());
    let done = work();
    let (after, asked) = (device().graph_memory_calls(), driver() - asked);
    let calls = MappingCalls { made: after.made - before.made, mapped: after.mapped - before.mapped };
    if device().backend() == Backend::Emulated {
        assert_eq!(asked, calls.made + 3 * calls.mapped);
    }
    (done, calls)
}

#[test]
fn a_gibibyte_of_graph_memory_takes_few_mapping_calls() {
    if !shares() {
        return;
    }
    const N: u64 = 1 << 30;
    let stream = stream();
    let (graph, half) = (Filler::new(N, 1), Filler::new(600 * MIB, 2));
    let (exec, first) = calls(|| graph.exec());
    // Four calls of the kernel driver, where 512 handles of 2 MiB take 2048.
    assert_eq!(first, MappingCalls { made: 1, mapped: 1 });
    // It has the chunk that is there.
    let before = free();
    let (other, second) = calls(|| half.exec());
    assert_eq!((second, taken(before)), (MappingCalls { made: 0, mapped: 1 }, 0));
    let ((), launches) = calls(|| {
        for exec in [&exec, &other, &exec, &other] {
            exec.launch(&stream).unwrap();
        }
    });
    assert_eq!(launches, MappingCalls::default());
    stream.synchronize().unwrap();
    graph.check(1);
    half.check(2);
    drop((exec, other));
    // What a launch leaves allocated is made of as few chunks.
    let mut template = Template::new(&device());
    template.add_allocation(&device(), N, &[]).unwrap();
    let (_exec, left) = calls(|| Exec::new(&template, Options::default()).unwrap());
    assert_eq!(left, MappingCalls { made: 1, mapped: 1 });
}

/// A graph of `count` allocations of `bytes` bytes that are live at once; each has a byte of its own at both ends.
fn crowd(count: u8, bytes: u64, first: u8) -> (Template, Out) {
    let (mut template, out) = (Template::new(&device()), Out::new(2 * usize::from(count)));
    let all: Vec<(NodeId, u64)> =
        (0..count).map(|_| template.add_allocation(&device(), bytes, &[]).unwrap()).collect();
    let after: Vec<NodeId> = all.iter().map(|&(alloc, _)| alloc).collect();
    let mut sets = Vec::new();
    for (n, &(_, address)) in (0..).zip(&all) {
        for at in [address, address + bytes - 4096] {
            sets.push(template.add(fill(at, first + n, 4096), &after).unwrap());
        }
    }
    for (n, &(_, address)) in (0u64..).zip(&all) {
        let ends = [(0, address), (1, address + bytes - 1)];
        let copies = ends.map(|(end, from)| {
            let copy = Memcpy::linear(out.address() + 2 * n + end, from, 1);
            template.add(Node::Memcpy(copy), &sets).unwrap()
        });
        template.add_free(address, &copies).unwrap();
    }
    (template, out)
}

#[test]
fn a_large_chunk_is_cut_for_many_buffers_unless_a_launch_uses_it() {
    if !shares() {
        return;
    }
    const N: u64 = 64 * MIB;
    let stream = stream();
    let large = Filler::new(N, 1);
    let (many, out) = crowd(6, 10 * MIB + 4096, 7);
    let launch = |exec: &Exec, byte: u8| {
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        match byte {
            1 => large.check(1),
            _ => assert_eq!(out.to_vec(), (7u8..13).flat_map(|byte| [byte; 2]).collect::<Vec<u8>>()),
        }
    };
    let one = large.exec();
    launch(&one, 1);
    let before = free();
    let other = Exec::new(&many, Options::default()).unwrap();
    assert!(taken(before) <= 2 * MIB, "{} more for 60 MiB", taken(before));
    for _ in 0..2 {
        launch(&one, 1);
        launch(&other, 7);
    }
    assert!(taken(before) <= 2 * MIB, "{} more", taken(before));
    drop((one, other));
    // Beside a launch in flight there is more memory, until a trim.
    let one = large.exec();
    let before = free();
    let gate = Gate::on(&stream);
    one.launch(&stream).unwrap();
    let other = Exec::new(&many, Options::default()).unwrap();
    gate.open();
    stream.synchronize().unwrap();
    large.check(1);
    launch(&other, 7);
    assert!((48 * MIB..=52 * MIB).contains(&taken(before)), "{} more", taken(before));
    device().trim_graph_memory();
    launch(&one, 1);
    launch(&other, 7);
    assert!(taken(before) <= 2 * MIB, "{} more", taken(before));
}

#[test]
fn launches_on_streams_side_by_side_have_memory_of_their_own() {
    const N: u64 = 8 * MIB;
    let streams = [stream(), stream()];
    if !shares() {
        return;
    }
    let graphs = [Filler::new(N, 1), Filler::new(N, 2)];
    let execs = [graphs[0].exec(), graphs[1].exec()];
    let gates = streams.each_ref().map(Gate::on);
    for (exec, stream) in execs.iter().zip(&streams) {
        exec.launch(stream).unwrap();
    }
    assert_eq!(used(), meter(2 * N, 2 * N));
    gates[1].open();
    streams[1].synchronize().unwrap();
    graphs[1].check(2);
    // Nobody uses its memory: it stays there.
    execs[1].launch(&streams[0]).unwrap();
    assert_eq!(used(), meter(2 * N, 2 * N));
    gates[0].open();
    streams[0].synchronize().unwrap();
    let gate = Gate::on(&streams[1]);
    execs[1].launch(&streams[1]).unwrap();
    execs[0].launch(&streams[1]).unwrap();
    execs[1].launch(&streams[0]).unwrap();
    assert_eq!(used(), meter(2 * N, 2 * N), "in flight on the other stream, it stays where it is");
    gate.open();
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    graphs.iter().zip(1..).for_each(|(graph, byte)| graph.check(byte));
}

#[test]
fn a_launch_in_flight_orders_the_next_on_another_stream() {
    let streams = [stream(), stream(), stream()];
    let graphs = [Filler::new(MIB, 1), Filler::new(MIB, 2)];
    let execs = [graphs[0].exec(), graphs[1].exec()];
    let gate = Gate::on(&streams[0]);
    execs.iter().for_each(|exec| exec.launch(&streams[0]).unwrap());
    // Each is in flight itself: it cannot go elsewhere, and nobody waits here.
    execs[0].launch(&streams[1]).unwrap();
    execs[1].launch(&streams[2]).unwrap();
    assert_eq!((streams[1].is_idle(), streams[2].is_idle()), (Ok(false), Ok(false)));
    if shares() {
        assert_eq!(used().current, MIB);
    }
    gate.open();
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    graphs.iter().zip(1..).for_each(|(graph, byte)| graph.check(byte));
}

#[test]
fn without_memory_for_both_launches_follow_each_other() {
    if !shares() {
        return;
    }
    let streams = [stream(), stream()];
    let most = free() / (8 * MIB) * 5 * MIB;
    let graphs = [Filler::new(most, 1), Filler::new(most, 2)];
    let execs = [graphs[0].exec(), graphs[1].exec()];
    let gate = Gate::on(&streams[0]);
    execs[0].launch(&streams[0]).unwrap();
    execs[1].launch(&streams[1]).unwrap();
    assert_eq!((streams[1].is_idle(), used().current), (Ok(false), most));
    gate.open();
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    graphs.iter().zip(1..).for_each(|(graph, byte)| graph.check(byte));
}

#[test]
fn memory_that_launches_need_is_there_after_instantiation_or_instantiation_fails() {
    if !shares() {
        return;
    }
    let stream = stream();
    // The device's first slab of kernel arguments stays.
    drop(Filler::new(4096, 1).exec());
    let most = free() / (8 * MIB) * 5 * MIB;
    let mut template = Template::new(&device());
    let both = [(); 2].map(|()| template.add_allocation(&device(), most, &[]).unwrap());
    let before = free();
    assert!(is_out_of_memory(Exec::new(&template, Options::default())));
    let _ = template.add_free(both[0].1, &[both[0].0]).unwrap();
    assert!(is_out_of_memory(Exec::new(&template, Options::default())));
    assert_eq!((free(), used()), (before, Meter::default()), "nothing is left of it");
    drop(template);
    let graph = Filler::new(most, 3);
    let exec = graph.exec();
    assert!(memory::allocate(&device(), most as usize).is_err());
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    graph.check(3);
    // Behind a trim somebody else may have it.
    device().trim_graph_memory();
    let other = memory::allocate(&device(), most as usize).unwrap().address;
    assert!(is_out_of_memory(exec.launch(&stream)));
    assert_eq!(stream.is_idle(), Ok(true), "the stream is as it was");
    memory::free(other).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    graph.check(3);
}

#[test]
fn memory_that_a_launch_leaves_is_given_back_when_it_is_free_and_trimmed() {
    const N: u64 = 256 * MIB;
    if !shares() {
        return;
    }
    let (stream, mut template) = (stream(), Template::new(&device()));
    let (alloc, address) = template.add_allocation(&device(), N, &[]).unwrap();
    template.add(fill(address, 5, 4096), &[alloc]).unwrap();
    let before = free();
    let exec = Exec::new(&template, Options::default()).unwrap();
    assert!(taken(before) >= N);
    for _ in 0..2 {
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        device().trim_graph_memory();
        assert!(taken(before) >= N && used().current == N, "it is allocated");
        memory::free(address).unwrap();
        device().trim_graph_memory();
        assert_eq!((used().current, taken(before) < N), (0, true), "{} are taken", taken(before));
    }
    // Freed in stream order, and trimmed, while a launch is in flight.
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    stream.free_async(address).unwrap();
    device().trim_graph_memory();
    assert!(taken(before) >= N && used().current == N);
    gate.open();
    stream.synchronize().unwrap();
    drop(exec);
    assert_eq!(used().current, 0);
}

#[test]
fn an_executable_that_goes_in_flight_leaves_its_memory_to_the_launch_and_the_next() {
    let (stream, away) = (stream(), stream());
    let mut graph = Filler::new(4 * MIB, 1);
    let gate = Gate::on(&stream);
    graph.exec().launch(&stream).unwrap();
    // The same nodes, then more of them, at addresses that are in use.
    graph.exec().launch(&stream).unwrap();
    let before: Vec<NodeId> = graph.template.graph().topology().nodes().collect();
    let (alloc, more) = graph.template.add_allocation(&device(), 4 * MIB, &[]).unwrap();
    let set = graph.template.add(fill(more, 9, 4096), &[alloc]).unwrap();
    let copy = Memcpy::linear(graph.out.address() + 8, more, 8);
    let copied = graph.template.add(Node::Memcpy(copy), &[vec![set], before].concat()).unwrap();
    graph.template.add_free(more, &[copied]).unwrap();
    let exec = graph.exec();
    exec.launch(&away).unwrap();
    assert_eq!(away.is_idle(), Ok(false), "behind the launches that have the addresses");
    gate.open();
    stream.synchronize().unwrap();
    away.synchronize().unwrap();
    assert_eq!(graph.out.to_vec(), [[1; 8], [9; 8]].concat());
    drop((exec, graph));
    assert_eq!(used().current, 0);
}

#[test]
fn an_allocation_that_is_live_keeps_its_contents_when_its_graph_learns_to_free_it() {
    let (stream, mut template) = (stream(), Template::new(&device()));
    let (alloc, address) = template.add_allocation(&device(), MIB, &[]).unwrap();
    let set = template.add(fill(address, 5, 4096), &[alloc]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.launch(&stream).unwrap();
    drop(exec);
    template.add_free(address, &[set]).unwrap();
    let other = Filler::new(MIB, 7);
    let execs = [Exec::new(&template, Options::default()).unwrap(), other.exec()];
    execs[1].launch(&stream).unwrap();
    let mut bytes = [0u8; 16];
    // SAFETY: the target is ours until the copy is over, the source a live allocation.
    unsafe { stream.memcpy_and_wait(Memcpy::linear(bytes.as_mut_ptr() as u64, address, 16)) }.unwrap();
    assert_eq!(bytes, [5; 16]);
    execs[0].launch(&stream).unwrap();
    stream.synchronize().unwrap();
    other.check(7);
}

#[test]
fn bodies_take_turns_with_their_own_allocations() {
    let stream = stream();
    let mut graph = Template::new(&device());
    let condition = graph.create_condition(1).unwrap();
    let mut body = Template::new(&device());
    let mut after: Vec<NodeId> = Vec::new();
    for _ in 0..3 {
        let (alloc, address) = body.add_allocation(&device(), MIB, &after).unwrap();
        let set = body.add(fill(address, 3, 4096), &[alloc]).unwrap();
        after = vec![body.add_free(address, &[set]).unwrap()];
    }
    graph.add_conditional(&condition, ConditionalKind::If, vec![body], &[]).unwrap();
    let exec = Exec::new(&graph, Options::default()).unwrap();
    assert_eq!(exec.report().memory_bytes, MIB);
    for _ in 0..2 {
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        device().trim_graph_memory();
    }
    assert_eq!(used(), meter(0, MIB));
}

#[test]
fn each_device_has_arenas_of_its_own() {
    let variables = [("AQLIPSE_EMULATE", "2xgfx90a"), ("AQLIPSE_DEVICE", "emulated")];
    in_child("runtime::shared_memory::each_device_has_arenas_of_its_own", &variables, || {
        let devices = [device(), Device::get(1).unwrap()];
        let streams = [stream(), Stream::new(&devices[1], StreamKind::NonBlocking, 0)];
        let out = Out::new(32);
        let graph = || {
            let mut template = Template::new(&devices[0]);
            for (n, device) in devices.iter().enumerate() {
                let (alloc, address) = template.add_allocation(device, MIB, &[]).unwrap();
                let set = template.add_on(device, fill(address, 1 + n as u8, 4096), &[alloc]).unwrap();
                let copy = Node::Memcpy(Memcpy::linear(out.address() + 16 * n as u64, address, 16));
                let copied = template.add_on(device, copy, &[set]).unwrap();
                template.add_free(address, &[copied]).unwrap();
            }
            template
        };
        let graphs = [graph(), graph()];
        let execs = graphs.each_ref().map(|graph| Exec::new(graph, Options::default()).unwrap());
        execs.iter().for_each(|exec| exec.launch(&streams[0]).unwrap());
        let used = || devices.each_ref().map(|device| device.graph_memory_used().current);
        assert_eq!(used(), [MIB; 2], "launched in order");
        streams[0].synchronize().unwrap();
        assert_eq!(out.to_vec(), [[1; 16], [2; 16]].concat());
        devices[0].trim_graph_memory();
        assert_eq!(used(), [0, MIB]);
        let gate = Gate::on(&streams[1]);
        execs[0].launch(&streams[1]).unwrap();
        execs[1].launch(&streams[0]).unwrap();
        assert_eq!(used(), [2 * MIB; 2], "side by side");
        gate.open();
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
    });
}

/// A graph of allocations in a random order. Every buffer is filled with a byte of its own, and both ends come back
/// before it is freed.
struct Tangle {
    template: Template,
    out: Out,
    bytes: Vec<u8>,
}

impl Tangle {
    fn new(random: &mut Rng, first: u8) -> Self {
        const SIZES: [u64; 8] = [1, 4096, 5000, 65536, 70_000, 2 * MIB, 2 * MIB + 70_000, 5 * MIB];
        let buffers = 3 + random.usize(..6);
        let out = Out::new(buffers * 2);
        let mut template = Template::new(&device());
        let mut nodes: Vec<NodeId> = Vec::new();
        for n in 0..buffers {
            let bytes = SIZES[random.usize(..SIZES.len())];
            let after: Vec<NodeId> = match nodes.is_empty() {
                true => Vec::new(),
                false => (0..random.usize(..3)).map(|_| nodes[random.usize(..nodes.len())]).collect(),
            };
            let after: Vec<NodeId> =
                after.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let (alloc, address) = template.add_allocation(&device(), bytes, &after).unwrap();
            let set = template.add(fill(address, first + n as u8, bytes), &[alloc]).unwrap();
            // Something in between, so that others have time to spoil it.
            let mut last = set;
            for _ in 0..random.usize(..3) {
                last = template.add(Node::Empty, &[last]).unwrap();
            }
            let ends = [address, address + bytes - 1];
            let copies: Vec<NodeId> = (0u64..)
                .zip(ends)
                .map(|(end, from)| {
                    let copy = Memcpy::linear(out.address() + 2 * n as u64 + end, from, 1);
                    template.add(Node::Memcpy(copy), &[last]).unwrap()
                })
                .collect();
            nodes.push(template.add_free(address, &copies).unwrap());
        }
        Self { template, out, bytes: (first..).take(buffers).flat_map(|byte| [byte; 2]).collect() }
    }
}

fn tangles_keep_apart() {
    for seed in 0..4 {
        let mut random = Rng::with_seed(seed);
        let streams = [stream(), stream(), stream()];
        let graphs: Vec<Tangle> = (0..5).map(|n| Tangle::new(&mut random, 1 + n * 16)).collect();
        let mut execs: HashMap<usize, Exec> = HashMap::new();
        for _ in 0..5 {
            let gate = Gate::on(&streams[0]);
            for _ in 0..8 {
                let n = random.usize(..graphs.len());
                let exec = execs
                    .entry(n)
                    .or_insert_with(|| Exec::new(&graphs[n].template, Options::default()).unwrap());
                exec.launch(&streams[random.usize(..streams.len())]).unwrap();
                match random.usize(..8) {
                    0 => device().trim_graph_memory(),
                    1 => drop(execs.remove(&n)),
                    _ => {}
                }
            }
            gate.open();
            streams.iter().for_each(|stream| stream.synchronize().unwrap());
            for (n, graph) in graphs.iter().enumerate() {
                let seen = graph.out.to_vec();
                let fresh = seen.iter().all(|&byte| byte == 0);
                assert!(fresh || seen == graph.bytes, "seed {seed}, graph {n}: {seen:?}");
            }
        }
        drop(execs);
        // A stream lets go of what it has passed when it is used next, so a part may be there yet.
        device().trim_graph_memory();
        assert_eq!(device().graph_memory_used().current, 0);
    }
}

#[test]
fn no_allocation_is_overwritten_while_it_is_in_use() {
    tangles_keep_apart();
}

#[test]
fn no_allocation_is_overwritten_in_any_order_of_the_waves() {
    for seed in ["1", "2"] {
        in_child(
            "runtime::shared_memory::no_allocation_is_overwritten_in_any_order_of_the_waves",
            &[("AQLIPSE_EMULATE_SEED", seed), ("AQLIPSE_DEVICE", "emulated")],
            tangles_keep_apart,
        );
    }
}

#[test]
fn threads_that_launch_and_trim_find_their_memory() {
    std::thread::scope(|scope| {
        for n in 0..4u8 {
            scope.spawn(move || {
                let stream = stream();
                let graph = Filler::new(MIB << (n % 2), 1 + n);
                for round in 0..8 {
                    let exec = graph.exec();
                    for _ in 0..3 {
                        exec.launch(&stream).unwrap();
                        if round % 2 == 0 {
                            device().trim_graph_memory();
                        }
                    }
                    stream.synchronize().unwrap();
                    graph.check(1 + n);
                }
            });
        }
    });
    device().synchronize().unwrap();
    let (used, reserved) = (device().graph_memory_used(), device().graph_memory_reserved());
    assert_eq!((used.current, reserved.current), (0, 0));
    // A thread maps memory before it uses it, and another may be done with its own in between.
    assert!(reserved.high >= used.high, "{reserved:?}, {used:?}");
}

#[test]
fn buffers_share_memory_in_the_order_of_a_plan_for_few_bytes() {
    if !shares() {
        return;
    }
    const BRANCHES: u8 = 4;
    let (mut template, outs) = (Template::new(&device()), [(); BRANCHES as usize].map(|()| Out::new(16)));
    for (out, byte) in outs.iter().zip(1..) {
        let (alloc, address) = template.add_allocation(&device(), MIB, &[]).unwrap();
        let set = template.add(fill(address, byte, 4096), &[alloc]).unwrap();
        let copy = Memcpy::linear(out.address(), address, SEEN);
        let copied = template.add(Node::Memcpy(copy), &[set]).unwrap();
        template.add_free(address, &[copied]).unwrap();
    }
    let bytes = |goal| {
        let exec = Exec::new(&template, Options { memory: goal, ..Options::default() }).unwrap();
        let stream = stream();
        for _ in 0..3 {
            exec.launch(&stream).unwrap();
        }
        stream.synchronize().unwrap();
        for (out, byte) in outs.iter().zip(1u8..) {
            assert_eq!(out.to_vec(), [byte; SEEN as usize], "{goal:?}");
        }
        (used().current, exec.report().tradeoff.map(|tradeoff| tradeoff.needs.bytes))
    };
    // The edges order no branch behind another.
    assert_eq!(bytes(None), (4 * MIB, None));
    assert_eq!(bytes(Some(Goal::Smallest)), (MIB, Some(MIB)));
    let (held, planned) = bytes(Some(Goal::Limit(2 * MIB)));
    assert!(held <= 2 * MIB && planned == Some(held), "{held} {planned:?}");
}
