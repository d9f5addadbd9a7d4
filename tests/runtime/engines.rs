//! Copies that go to copy engines: when they do, and that nothing else changes by it.

use std::{slice, sync::Arc, thread};

use aqlipse::{
    Backend, Condition, Error, Exec, Options, Template, Word,
    graph::{BoxCopy, CopyKind, HostFn, Kernel, Memcpy, Node, NodeId, Surface},
    memory::{self, Origin, Region},
    typed::DeviceBuffer,
};
use fastrand::Rng;

use super::{devices::with_devices, *};

/// Words of the buffers: large enough for an engine.
const WORDS: usize = 32 * 1024;
const BYTES: u64 = 4 * WORDS as u64;

/// Words of pinned memory.
struct Pinned(Arc<Region>);

impl Pinned {
    fn new(words: usize, value: u32) -> Self {
        let this = Self(memory::allocate_host(&device(), 4 * words, Origin::Host, 0).unwrap());
        this.words().fill(value);
        this
    }

    fn address(&self) -> u64 {
        self.0.address
    }

    /// No device uses them meanwhile.
    #[allow(clippy::mut_from_ref, reason = "the memory is shared with devices, which no reference tells")]
    fn words(&self) -> &mut [u32] {
        let words = std::ptr::with_exposed_provenance_mut(self.0.address as usize);
        // SAFETY: so many words of the allocation, which lives as long as this.
        unsafe { slice::from_raw_parts_mut(words, self.0.bytes as usize / 4) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = memory::free_host(self.0.address);
    }
}

/// Copies that engines of a device have done so far.
fn engine_copies_of(device: &Device) -> u64 {
    match device.backend() {
        Backend::Emulated => emulator::counters(device.ordinal()).expect("a device").engine_copies,
        // A card counts nothing: tests of numbers do not run there.
        Backend::Rocr => thunk_counters(device).map_or(0, |counted| counted[9]),
    }
}

fn engine_copies() -> u64 {
    engine_copies_of(&device())
}

/// Whether copies of engines are counted.
fn counts() -> bool {
    device().backend() == Backend::Emulated || thunk_counters(&device()).is_some()
}

/// Copies of engines during `work`, which is over when it returns, are so many.
#[track_caller]
fn expect_engine_copies(expected: u64, work: impl FnOnce()) {
    let before = engine_copies();
    work();
    if counts() {
        assert_eq!(engine_copies() - before, expected, "copies of engines");
    }
}

/// `data[i] = data[i] * factor + term`, as a node.
fn change(data: &DeviceBuffer<u32>, factor: u32, term: u32) -> Node {
    let len = data.slice().len() as u32;
    let mut kernargs = data.slice().address().to_le_bytes().to_vec();
    [len, factor, term].iter().for_each(|word| kernargs.extend(word.to_le_bytes()));
    kernel("affine", [len.div_ceil(256), 1, 1], [256, 1, 1], kernargs)
}

/// A store to an address that nothing lies at.
fn stray() -> Node {
    let mut kernargs = 0x10u64.to_le_bytes().to_vec();
    kernargs.extend(1u32.to_le_bytes());
    kernel("poke", [1; 3], [1; 3], kernargs)
}

fn kernel(name: &str, grid: [u32; 3], block: [u32; 3], kernargs: Vec<u8>) -> Node {
    let function = module().kernel(name).unwrap();
    let (shared_bytes, attributes) = (0, Default::default());
    Node::Kernel(Kernel { function, grid, block, shared_bytes, kernargs: kernargs.into(), attributes })
}

/// A copy from pinned memory to the device beside a kernel, and a kernel behind both.
struct Fork {
    template: Template,
    copy: NodeId,
    source: Pinned,
    copied: DeviceBuffer<u32>,
    beside: DeviceBuffer<u32>,
}

impl Fork {
    fn new(words: usize) -> Self {
        let (source, copied, beside) = (Pinned::new(words, 1), buffer(&vec![0; words]), buffer(&[1; 64]));
        let mut template = Template::new(&device());
        let copy = Memcpy::linear(copied.slice().address(), source.address(), 4 * words as u64);
        let copy = template.add(Node::Memcpy(copy), &[]).unwrap();
        let other = template.add(change(&beside, 3, 1), &[]).unwrap();
        template.add(change(&copied, 2, 5), &[copy, other]).unwrap();
        Self { template, copy, source, copied, beside }
    }

    fn exec(&self) -> Exec {
        Exec::new(&self.template, Options::default()).unwrap()
    }

    /// What the copy and the kernel behind it make of the source.
    fn check(&self, value: u32) {
        let words = self.copied.read(&stream()).unwrap();
        assert_eq!(words, vec![value * 2 + 5; words.len()]);
    }
}

#[test]
fn a_copy_beside_a_kernel_goes_to_an_engine() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    assert_eq!(exec.report().counts.engine_copies, 1);
    assert_eq!(exec.report().kernel_packets, 2, "the kernel that takes the copy's place is not counted");
    for launch in 1..6 {
        fork.source.words().fill(launch);
        expect_engine_copies(1, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
        fork.check(launch);
    }
    assert_eq!(fork.beside.read(&stream).unwrap()[0], (0..5).fold(1, |value, _| value * 3 + 1));
}

#[test]
fn a_copy_alone_in_a_chain_or_small_or_as_the_options_say_is_a_kernel() {
    let stream = stream();
    let (source, data) = (Pinned::new(WORDS, 7), buffer(&[0; WORDS]));
    let mut chain = Template::new(&device());
    let copy = Memcpy::linear(data.slice().address(), source.address(), BYTES);
    let copy = chain.add(Node::Memcpy(copy), &[]).unwrap();
    chain.add(change(&data, 2, 1), &[copy]).unwrap();
    let small = Fork::new(64);
    let fork = Fork::new(WORDS);
    let by_kernels = Options { copies_by_kernels: true, ..Options::default() };
    for (template, options) in
        [(&chain, Options::default()), (&small.template, Options::default()), (&fork.template, by_kernels)]
    {
        let exec = Exec::new(template, options).unwrap();
        assert_eq!(exec.report().counts.engine_copies, 0);
        expect_engine_copies(0, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
    }
    assert_eq!(data.read(&stream).unwrap(), [15; WORDS]);
    fork.check(1);
    small.check(1);
}

#[test]
fn launches_in_flight_and_a_destroyed_executable_copy_what_they_should() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    expect_engine_copies(12, || {
        let gate = Gate::on(&stream);
        (0..12).for_each(|_| exec.launch(&stream).unwrap());
        drop(exec);
        gate.open();
        stream.synchronize().unwrap();
    });
    fork.check(1);
}

#[test]
fn a_copy_keeps_its_engine_when_its_ends_change() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    let launch = |copies| {
        expect_engine_copies(copies, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
    };
    let other = Pinned::new(WORDS, 9);
    let to = fork.copied.slice().address();
    let linear = |from: &Pinned, bytes| Node::Memcpy(Memcpy::linear(to, from.address(), bytes));
    exec.set_node(fork.copy, &linear(&other, BYTES)).unwrap();
    launch(1);
    fork.check(9);
    // Even if it is small by now.
    exec.set_node(fork.copy, &linear(&fork.source, 400)).unwrap();
    launch(1);
    let words = fork.copied.read(&stream).unwrap();
    assert_eq!((words[99], words[100]), (7, 2 * (2 * 9 + 5) + 5));
    // An engine copies no box here: the kernel does, in the same place.
    let surface = |address| Surface { address, pitch: 64, row_bytes: 64, rows: BYTES / 64, corner: [0; 3] };
    let whole = BoxCopy {
        dst: surface(to),
        src: surface(other.address()),
        extent: [64, BYTES / 64, 1],
        kind: CopyKind::Inferred,
    };
    exec.set_node(fork.copy, &Node::Memcpy(Memcpy::Box(Box::new(whole)))).unwrap();
    launch(0);
    fork.check(9);
    // As is a copy within the device.
    let device_source = buffer(&[4; WORDS]);
    let within = Memcpy::linear(to, device_source.slice().address(), BYTES);
    exec.set_node(fork.copy, &Node::Memcpy(within)).unwrap();
    launch(0);
    fork.check(4);
    // The whole graph, with its first source.
    exec.update(&fork.template).unwrap();
    launch(1);
    fork.check(1);
    exec.replan().unwrap();
    launch(1);
    fork.check(1);
}

#[test]
fn an_update_leaves_launches_in_flight_their_ends() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    let (results, other) = (buffer(&[0; WORDS]), Pinned::new(WORDS, 9));
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    let elsewhere = Memcpy::linear(results.slice().address(), other.address(), BYTES);
    exec.set_node(fork.copy, &Node::Memcpy(elsewhere)).unwrap();
    exec.launch(&stream).unwrap();
    gate.open();
    stream.synchronize().unwrap();
    assert_eq!(results.read(&stream).unwrap(), [9; WORDS]);
    assert_eq!(fork.copied.read(&stream).unwrap(), [2 * (2 + 5) + 5; WORDS], "copied once");
}

#[test]
fn a_disabled_copy_is_a_place_in_the_order() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    let launch = |copies| {
        expect_engine_copies(copies, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
    };
    launch(1);
    fork.check(1);
    exec.set_enabled(fork.copy, false).unwrap();
    launch(0);
    assert_eq!(fork.copied.read(&stream).unwrap(), [2 * (2 + 5) + 5; WORDS]);
    exec.set_enabled(fork.copy, true).unwrap();
    launch(1);
    fork.check(1);
}

#[test]
fn a_launch_that_is_measured_copies_by_kernels() {
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    exec.profile(1).unwrap();
    for copies in [0, 1] {
        fork.source.words().fill(3);
        expect_engine_copies(copies, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
        fork.check(3);
    }
}

#[test]
fn a_launch_interrupts_the_host_once_with_copies_by_engines() {
    if device().backend() == Backend::Rocr {
        return; // ROCr's own copies interrupt, too.
    }
    let (fork, stream) = (Fork::new(WORDS), stream());
    let exec = fork.exec();
    for _ in 0..3 {
        let before = emulator::counters(0).expect("a device").interrupts;
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(emulator::counters(0).expect("a device").interrupts - before, 1);
    }
}

/// A pair of buffers, one pinned and one on a device, that nodes work on one after the other.
struct Line {
    host: Pinned,
    data: DeviceBuffer<u32>,
    /// What they hold when all that was added has run.
    expected: [u32; 2],
}

/// A random graph of lines whose nodes are kernels, host functions and copies to and fro, with edges between lines that
/// only order. Returns how many nodes there are.
fn weave(template: &mut Template, lines: &mut [Line], random: &mut Rng) -> usize {
    let mut last: Vec<Option<NodeId>> = vec![None; lines.len()];
    let steps = lines.len() * (2 + random.usize(..4));
    for _ in 0..steps {
        let at = random.usize(..lines.len());
        let mut after: Vec<NodeId> = last[at].into_iter().collect();
        if let Some(other) = last[random.usize(..last.len())]
            && random.usize(..3) == 0
            && !after.contains(&other)
        {
            after.push(other);
        }
        let Line { host, data, expected } = &mut lines[at];
        let (on_host, on_device) = (host.address(), data.slice().address());
        let node = match random.usize(..8) {
            0 | 1 => {
                expected[1] = expected[0];
                Node::Memcpy(Memcpy::linear(on_device, on_host, BYTES))
            }
            2 | 3 => {
                expected[0] = expected[1];
                Node::Memcpy(Memcpy::linear(on_host, on_device, BYTES))
            }
            4 => {
                expected[0] = expected[0].wrapping_add(1);
                Node::Host(HostFn::new(move || {
                    let words = std::ptr::with_exposed_provenance_mut::<u32>(on_host as usize);
                    // SAFETY: the graph orders what works on the line.
                    let words = unsafe { slice::from_raw_parts_mut(words, WORDS) };
                    words.iter_mut().for_each(|word| *word = word.wrapping_add(1));
                }))
            }
            _ => {
                expected[1] = expected[1].wrapping_mul(3).wrapping_add(1);
                change(data, 3, 1)
            }
        };
        last[at] = Some(template.add(node, &after).unwrap());
    }
    steps
}

fn lines(count: usize) -> Vec<Line> {
    let line = |at: usize| {
        let value = at as u32;
        Line {
            host: Pinned::new(WORDS, value),
            data: buffer(&[value + 100; WORDS]),
            expected: [value, value + 100],
        }
    };
    (0..count).map(line).collect()
}

/// Launches random graphs of copies and kernels, and says how many copies engines have done.
fn weave_and_check(seeds: std::ops::Range<u64>) -> usize {
    let stream = stream();
    let mut by_engines = 0;
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let mut lines = lines(1 + random.usize(..4));
        let mut execs = Vec::new();
        for _ in 0..2 {
            let mut template = Template::new(&device());
            weave(&mut template, &mut lines, &mut random);
            let lanes = random.usize(..4);
            let exec = Exec::new(&template, Options { lanes, ..Options::default() }).unwrap();
            exec.launch(&stream).unwrap();
            by_engines += exec.report().counts.engine_copies;
            execs.push(exec);
        }
        stream.synchronize().unwrap();
        for (at, Line { host, data, expected }) in lines.iter().enumerate() {
            assert_eq!(host.words(), [expected[0]; WORDS], "seed {seed}, line {at}");
            assert_eq!(data.read(&stream).unwrap(), [expected[1]; WORDS], "seed {seed}, line {at}");
        }
    }
    by_engines
}

#[test]
fn random_graphs_with_copies_by_engines_keep_their_order() {
    assert!(weave_and_check(0..30) > 20);
}

#[test]
fn random_graphs_with_copies_by_engines_keep_their_order_in_other_orders_and_with_strict_caches() {
    let test = "runtime::engines::random_graphs_with_copies_by_engines_keep_their_order_in_other_orders_and_with_strict_caches";
    for seed in 1..=3 {
        let name = seed.to_string();
        let variables = [("AQLIPSE_EMULATE_SEED", &*name), ("AQLIPSE_EMULATE_COHERENCE", "strict")];
        in_child(test, &variables, || assert!(weave_and_check(100 * seed..100 * seed + 8) > 0));
        if env::var(CHILD).is_ok() {
            return; // The child has one seed.
        }
    }
}

/// Two threads launch graphs whose copies cross in the engines, on streams that share queues: what waits in an engine for
/// one of them must not stand before what the other waits for.
#[test]
fn graphs_of_several_threads_share_engines_and_queues_without_hanging() {
    let expected = engine_copies();
    thread::scope(|scope| {
        for thread in 0..3u64 {
            scope.spawn(move || {
                let mut random = Rng::with_seed(thread);
                let mut lines = lines(3);
                // More streams than there are queues.
                let streams: Vec<Stream> = (0..3).map(|_| stream()).collect();
                let mut template = Template::new(&device());
                let mut steps = 0;
                while steps < 40 {
                    steps += weave(&mut template, &mut lines, &mut random);
                }
                let exec = Exec::new(&template, Options { lanes: 3, ..Options::default() }).unwrap();
                assert!(exec.report().counts.engine_copies > 0);
                for launch in 0..30 {
                    exec.launch(&streams[launch % streams.len()]).unwrap();
                }
                exec.synchronize().unwrap();
            });
        }
    });
    assert!(!counts() || engine_copies() > expected + 90);
}

#[test]
fn copies_between_host_and_several_devices_go_to_their_engines() {
    let test = "copies_between_host_and_several_devices_go_to_their_engines";
    with_devices("runtime::engines", test, |devices| {
        let (here, there) = (&devices[0], &devices[1]);
        memory::enable_peer_access(here, there).unwrap();
        let (source, result) = (Pinned::new(WORDS, 5), Pinned::new(WORDS, 0));
        let (first, second) = (buffer_on(here, &[0; WORDS]), buffer_on(there, &[0; WORDS]));
        let beside = [here, there].map(|device| buffer_on(device, &[1; 64]));
        let mut template = Template::new(here);
        let copy = |to, from| Node::Memcpy(Memcpy::linear(to, from, BYTES));
        let (on_first, on_second) = (first.slice().address(), second.slice().address());
        let upload = template.add(copy(on_first, source.address()), &[]).unwrap();
        let across = template.add(copy(on_second, on_first), &[upload]).unwrap();
        let changed = template.on(there).add(change(&second, 3, 1), &[across]).unwrap();
        template.add(copy(result.address(), on_second), &[changed]).unwrap();
        for (device, data) in [here, there].into_iter().zip(&beside) {
            template.on(device).add(change(data, 3, 1), &[]).unwrap();
        }
        let exec = Exec::new(&template, Options::default()).unwrap();
        let stream = Stream::new(here, StreamKind::NonBlocking, 0);
        for (launch, device) in [here, there, here].into_iter().enumerate() {
            let elsewhere = Stream::new(device, StreamKind::NonBlocking, 0);
            let stream = if device == here { &stream } else { &elsewhere };
            result.words().fill(0);
            let before = [here, there].map(engine_copies_of);
            exec.launch(stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(result.words(), [16; WORDS], "launch {launch}");
            if counts() {
                let after = [here, there].map(engine_copies_of);
                assert_eq!([after[0] - before[0], after[1] - before[1]], [2, 1]);
            }
        }
    });
}

#[test]
fn a_fault_beside_a_copy_ends_the_launch_and_engines_are_left_alone() {
    if device().backend() == Backend::Rocr {
        return; // There a device does not go on.
    }
    let (fork, stream) = (Fork::new(WORDS), stream());
    let (source, data) = (Pinned::new(WORDS, 2), buffer(&[1; WORDS]));
    let exec = fork.exec();
    // The copy waits in its engine for a kernel that faults.
    let mut template = Template::new(&device());
    let poke = template.add(stray(), &[]).unwrap();
    let copy = Memcpy::linear(data.slice().address(), source.address(), BYTES);
    template.add(Node::Memcpy(copy), &[poke]).unwrap();
    template.add(change(&fork.beside, 1, 0), &[]).unwrap();
    let faulting = Exec::new(&template, Options::default()).unwrap();
    assert_eq!(faulting.report().counts.engine_copies, 1);
    let gate = Gate::on(&stream);
    faulting.launch(&stream).unwrap();
    gate.open();
    let fault = stream.synchronize().unwrap_err();
    assert!(matches!(fault, Error::IllegalAddress(_)), "{fault}");
    drop(faulting);
    // What is launched now would stand behind that copy.
    let stream = super::stream();
    for launch in 1..4 {
        fork.source.words().fill(launch);
        expect_engine_copies(0, || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        });
        fork.check(launch);
    }
    assert_eq!(data.read(&stream).unwrap(), [1; WORDS], "nothing was copied there");
}

#[test]
fn no_copy_waits_in_an_engine_while_a_stream_waits_for_a_word() {
    let (fork, waiting, other) = (Fork::new(WORDS), stream(), stream());
    let word = Pinned::new(1, 0);
    let exec = fork.exec();
    waiting.wait_value(word.address(), Condition::Equal, Word::U32(1), u64::MAX).unwrap();
    // Its copy would stand in the engine, before the one that the writer of the word comes behind.
    expect_engine_copies(0, || {
        exec.launch(&other).unwrap();
        other.write_value(word.address(), Word::U32(1)).unwrap();
        waiting.synchronize().unwrap();
        other.synchronize().unwrap();
    });
    fork.check(1);
    expect_engine_copies(1, || {
        exec.launch(&waiting).unwrap();
        waiting.synchronize().unwrap();
    });
}

#[test]
fn a_large_copy_on_a_stream_goes_to_an_engine_in_the_streams_order() {
    const LARGE: usize = 4 << 20;
    let (host, stream) = (Pinned::new(LARGE, 3), stream());
    let data = DeviceBuffer::<u32>::new(&device(), LARGE).unwrap();
    let on_device = data.slice().address();
    let few = affine(&buffer(&[1; 64]), 1, 0);
    let copy = |to, from, words: usize| {
        // SAFETY: the memory outlives the wait below.
        unsafe { stream.memcpy(Memcpy::linear(to, from, 4 * words as u64)) }.unwrap();
    };
    let before = engine_copies();
    stream.run(&few).unwrap();
    copy(on_device, host.address(), LARGE);
    stream.run(&affine(&data, 2, 1)).unwrap();
    copy(host.address(), on_device, LARGE);
    stream.run(&few).unwrap();
    stream.synchronize().unwrap();
    // ROCr cuts them into pieces.
    assert!(!counts() || engine_copies() >= before + 2);
    assert!(host.words().iter().all(|word| *word == 7));
    expect_engine_copies(0, || {
        copy(on_device, host.address(), 64);
        stream.synchronize().unwrap();
    });
}
