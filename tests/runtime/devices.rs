//! Graphs over several devices: order, launches on any of them, faults, updates, capture, memory.
//!
//! Each test has a process of its own, with as many emulated devices as it needs.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use aqlipse::{
    AllocationOptions, Backend, Error, Event, Exec, Options, Template, UpdateReason,
    capture::{self, Mode},
    graph::{Memcpy, Memset, Node, RunCopy},
    memory::{self, Right},
    typed::Graph,
};
use fastrand::Rng;

use super::{
    dags::{entangled, on_lanes, random_over},
    *,
};

/// The module, as tests are named.
const HERE: &str = "runtime::devices";

/// Runs a test of a module in a process of its own that has four devices.
pub fn with_devices(module: &str, test: &str, body: impl FnOnce(&[Device])) {
    let variables = [("AQLIPSE_EMULATE", "4xgfx90a")];
    in_child(&format!("{module}::{test}"), &variables, || {
        let devices = Device::all().expect("there are devices");
        // Hardware may have fewer; the emulated devices of the process or of the thunk are as many as asked for.
        if devices.len() >= 4 {
            body(devices);
        } else {
            assert!(Path::new("/dev/kfd").exists(), "{} devices", devices.len());
        }
    });
}

/// As [`with_devices`], for what comes after a fault: ROCr's devices do not go on behind one of memory.
fn recovering(test: &str, body: impl FnOnce(&[Device])) {
    if device().backend() == Backend::Emulated {
        with_devices(HERE, test, body);
    }
}

fn stream_on(device: &Device) -> Stream {
    Stream::new(device, StreamKind::NonBlocking, 0)
}

fn let_all_access(devices: &[Device]) {
    for device in devices {
        for peer in devices.iter().filter(|peer| *peer != device) {
            memory::enable_peer_access(device, peer).unwrap();
        }
    }
}

fn copied(to: &DeviceBuffer<u32>, from: &DeviceBuffer<u32>) -> aqlipse::GraphNode {
    let (to, from) = (to.slice(), from.slice());
    Node::Memcpy(Memcpy::linear(to.address(), from.address(), from.bytes()))
}

fn node_of(launch: &DeviceBuffer<u32>, factor: u32, term: u32) -> aqlipse::GraphNode {
    let len = launch.slice().len() as u32;
    let mut kernargs = launch.slice().address().to_le_bytes().to_vec();
    [len, factor, term].iter().for_each(|word| kernargs.extend(word.to_le_bytes()));
    Node::Kernel(aqlipse::graph::Kernel {
        function: module().kernel("affine").unwrap(),
        grid: [len.div_ceil(256), 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        kernargs: kernargs.into(),
        attributes: Default::default(),
    })
}

/// A template that multiplies and adds on each device and passes the data on to the next, host steps in between; and
/// the memory of each device.
fn pipeline(devices: &[Device]) -> (Template, Vec<DeviceBuffer<u32>>) {
    let memory: Vec<_> = devices.iter().map(|device| buffer_on(device, &[1; 1000])).collect();
    let mut template = Template::new(&devices[0]);
    let mut last = Vec::new();
    for (n, device) in devices.iter().enumerate() {
        if n > 0 {
            last = vec![template.add_on(device, copied(&memory[n], &memory[n - 1]), &last).unwrap()];
        }
        last = vec![template.add_on(device, node_of(&memory[n], 3, n as u32), &last).unwrap()];
    }
    (template, memory)
}

/// What the last stage of a pipeline holds after some launches.
fn piped(devices: usize, launches: u32) -> u32 {
    let mut first = 1u32;
    let mut last = 1;
    for _ in 0..launches {
        first = first.wrapping_mul(3);
        last = (1..devices as u32).fold(first, |value, term| value.wrapping_mul(3).wrapping_add(term));
    }
    last
}

#[test]
fn random_graphs_over_devices_keep_their_order() {
    with_devices(HERE, "random_graphs_over_devices_keep_their_order", |devices| {
        let_all_access(devices);
        let streams: Vec<_> = devices.iter().map(stream_on).collect();
        let mut widest = 0;
        for seed in 0..12 {
            for options in [1, 2, 4].into_iter().flat_map(on_lanes) {
                let some = &devices[..2 + seed as usize % (devices.len() - 1)];
                let graph = random_over(&mut Rng::with_seed(seed), options, seed % 2 == 1, some);
                widest = widest.max(graph.exec.report().lanes);
                // In flight all at once, on streams of all devices, also of those without a node.
                for launch in 0..4 {
                    graph.exec.launch(&streams[(launch + seed as usize) % streams.len()]).unwrap();
                }
                devices.iter().for_each(|device| device.synchronize().unwrap());
                graph.check(4, &format!("seed {seed}, {options:?}"));
            }
        }
        assert!(widest > devices.len(), "some graph must need several queues of a device: {widest}");
    });
}

#[test]
fn a_pipeline_visits_all_devices() {
    with_devices(HERE, "a_pipeline_visits_all_devices", |devices| {
        for access in [false, true] {
            if access {
                let_all_access(devices);
            }
            let (template, memory) = pipeline(devices);
            let exec = Exec::new(&template, Options::default()).unwrap();
            assert_eq!(exec.report().devices, devices.len());
            // A copy between devices without access is the host's; with it, it is a packet.
            let packets = if access { 2 * devices.len() - 1 } else { devices.len() };
            assert_eq!(exec.report().kernel_packets, packets);
            for (launches, device) in (1..).zip(devices.iter().chain(devices)) {
                let stream = stream_on(device);
                exec.launch(&stream).unwrap();
                stream.synchronize().unwrap();
                let found = memory[devices.len() - 1].read(&stream).unwrap();
                assert_eq!(
                    found,
                    [piped(devices.len(), launches); 1000],
                    "launch {launches}, access: {access}"
                );
            }
        }
    });
}

#[test]
fn a_launch_is_ordered_with_the_stream_whatever_its_device() {
    with_devices(HERE, "a_launch_is_ordered_with_the_stream_whatever_its_device", |devices| {
        let [home, guest] = [&devices[0], &devices[1]];
        memory::enable_peer_access(guest, home).unwrap();
        let data = buffer(&[1; 300]);
        let mut graph = Graph::new(home);
        graph.kernel(&affine(&data, 2, 1), &[]).unwrap();
        let exec = graph.instantiate().unwrap();
        let stream = stream_on(guest);
        let gate = Gate::on(&stream);
        stream.run(&affine_on(guest, &data, 5, 0)).unwrap();
        exec.launch(&stream).unwrap();
        stream.run(&affine_on(guest, &data, 1, 100)).unwrap();
        exec.launch(&stream).unwrap();
        assert!(!stream.is_idle().unwrap());
        gate.open();
        stream.synchronize().unwrap();
        assert_eq!(data.read(&stream_on(home)).unwrap(), [((5 * 2 + 1) + 100) * 2 + 1; 300]);
    });
}

#[test]
fn a_device_is_synchronised_with_graphs_on_streams_of_others() {
    with_devices(HERE, "a_device_is_synchronised_with_graphs_on_streams_of_others", |devices| {
        let (stream, data) = (stream_on(&devices[0]), buffer_on(&devices[1], &[1; 64]));
        let mut graph = Graph::new(&devices[0]);
        let held = Gate::default();
        let opened = held.clone();
        let host = graph.host(move || held.wait(), &[]).unwrap();
        graph.kernel(&affine_on(&devices[1], &data, 7, 0), &[host]).unwrap();
        let exec = graph.instantiate().unwrap();
        exec.launch(&stream).unwrap();
        let opener = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            opened.open();
        });
        devices[1].synchronize().unwrap();
        assert_eq!(data.read(&stream_on(&devices[1])).unwrap(), [7; 64]);
        opener.join().unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn executables_are_let_go_while_they_run_on_several_devices() {
    with_devices(HERE, "executables_are_let_go_while_they_run_on_several_devices", |devices| {
        let_all_access(devices);
        let (template, memory) = pipeline(devices);
        let stream = stream_on(&devices[1]);
        let gate = Gate::on(&stream);
        let mut exec = Exec::new(&template, Options::default()).unwrap();
        for _ in 0..20 {
            exec.launch(&stream).unwrap();
            // Ordered by the stream alone.
            exec = Exec::new(&template, Options { lanes: 1, ..Options::default() }).unwrap();
        }
        drop((exec, template));
        gate.open();
        stream.synchronize().unwrap();
        let found = memory[devices.len() - 1].read(&stream).unwrap();
        assert_eq!(found, [piped(devices.len(), 20); 1000]);
    });
}

#[test]
fn memory_decides_which_device_copies_and_fills() {
    with_devices(HERE, "memory_decides_which_device_copies_and_fills", |devices| {
        let [here, there] = [&devices[0], &devices[1]];
        let (a, b) = (buffer_on(there, &[1; 64]), buffer_on(there, &[2; 64]));
        let mut template = Template::new(here);
        let fill =
            Memset { dst: a.slice().address(), pitch: 0, value: 9, element_size: 4, width: 64, height: 1 };
        let fill = template.add(Node::Memset(fill), &[]).unwrap();
        let copy = template.add(copied(&b, &a), &[fill]).unwrap();
        let exec = Exec::new(&template, Options::default()).unwrap();
        // All of it on the one device that owns the memory: no host step, no signal but the launch's own.
        let report = exec.report();
        assert_eq!((report.devices, report.lanes, report.kernel_packets, report.signals), (1, 1, 2, 1));
        assert_eq!(exec.device_of(copy), Ok(there.clone()));
        let stream = stream();
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(b.read(&stream).unwrap(), [9; 64]);
    });
}

/// Memory of `owner` that is mapped for `device` alone; nothing if the HSA runtime maps none.
fn mapped_for(device: &Device, owner: &Device, bytes: u64) -> Option<u64> {
    use aqlipse::memory::{Processor, virtual_memory as vmem};
    if !vmem::is_supported().unwrap() {
        return None;
    }
    let bytes = bytes.next_multiple_of(vmem::granularity(owner, false));
    let (address, physical) =
        (vmem::reserve(bytes, 0, 0).unwrap(), vmem::create(owner, bytes, false).unwrap());
    vmem::map(address, bytes, physical).unwrap();
    vmem::release(physical).unwrap();
    vmem::set_access(address, bytes, &[(Processor::Device(device.ordinal()), vmem::Access::ReadWrite)])
        .unwrap();
    Some(address)
}

#[test]
fn the_host_has_copied_and_filled_what_the_device_may_not_access() {
    with_devices(HERE, "the_host_has_copied_and_filled_what_the_device_may_not_access", |devices| {
        let [owner, reaching, away] = [&devices[0], &devices[1], &devices[2]];
        // More than is under way at once, and not a multiple of it.
        const WORDS: usize = (1 << 18) + 5;
        let bytes = 4 * WORDS as u64;
        let plain = memory::allocate(reaching, 4 * WORDS).unwrap().address;
        let mapped = mapped_for(reaching, owner, bytes);
        let stream = stream_on(away);
        for address in [Some(plain), mapped].into_iter().flatten() {
            let seen = buffer_on(away, &[0; WORDS]);
            let (at, back) = (seen.slice().address(), Memcpy::linear(seen.slice().address(), address, bytes));
            let fill = |value, width, height| {
                let pitch = 4 * (width + 3);
                Memset { dst: address, pitch, value, element_size: 4, width, height }
            };
            let copy = |copy| {
                // SAFETY: host memory lives longer than the call.
                unsafe { stream.memcpy_and_wait(copy) }.unwrap();
            };
            stream.memset(fill(7, WORDS as u64, 1)).unwrap();
            copy(back.clone());
            assert_eq!(seen.read(&stream).unwrap(), [7; WORDS]);
            // Rows of 10 words and gaps of 3.
            stream.memset(fill(8, 10, 4)).unwrap();
            let mut expected = vec![7; WORDS];
            (0..4).for_each(|row| expected[13 * row..][..10].fill(8));
            let read: Vec<u32> = vec![0; WORDS];
            copy(Memcpy::linear(read.as_ptr() as u64, address, bytes));
            assert_eq!(read, expected);
            let given: Vec<u32> = (0..WORDS as u32).collect();
            copy(Memcpy::linear(address, given.as_ptr() as u64, bytes));
            copy(back.clone());
            assert_eq!(seen.read(&stream).unwrap(), given);

            let mut template = Template::new(away);
            let first = template.add_on(away, Node::Memset(fill(9, WORDS as u64, 1)), &[]).unwrap();
            let second =
                template.add_on(away, Node::Memcpy(Memcpy::linear(address, at, 8)), &[first]).unwrap();
            let runs =
                [(at, address), (at + 8, address + 8)].map(|(dst, src)| RunCopy { dst, src, bytes: 8 });
            let batch = Node::MemcpyBatch(runs.into());
            template.add_on(away, batch, &[second]).unwrap();
            let exec = Exec::new(&template, Options::default()).unwrap();
            for _ in 0..2 {
                seen.write(&stream, &given).unwrap();
                exec.launch(&stream).unwrap();
                stream.synchronize().unwrap();
                assert_eq!(seen.read(&stream).unwrap()[..6], [0, 1, 9, 9, 4, 5]);
            }
        }
        memory::free(plain).unwrap();
    });
}

#[test]
fn a_diamond_over_two_devices_waits_twice() {
    with_devices(HERE, "a_diamond_over_two_devices_waits_twice", |devices| {
        let data: Vec<_> = (0..3).map(|n| buffer_on(&devices[n % 2], &[1; 64])).collect();
        let mut graph = Graph::new(&devices[0]);
        let root = graph.kernel(&affine(&data[0], 2, 0), &[]).unwrap();
        let here = graph.kernel(&affine(&data[2], 2, 0), &[root]).unwrap();
        let there = graph.kernel(&affine_on(&devices[1], &data[1], 2, 0), &[root]).unwrap();
        graph.kernel(&affine(&data[0], 3, 0), &[here, there]).unwrap();
        let exec = graph.instantiate_with(Options { lanes: 1, ..Options::default() }).unwrap();
        let report = exec.report();
        assert_eq!((report.lanes, report.kernel_packets, report.barrier_packets), (2, 4, 2));
        assert_eq!((report.counts.waits, report.signals), (2, 3));
        let stream = stream();
        exec.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(data[0].read(&stream).unwrap(), [6; 64]);
        assert_eq!(data[1].read(&stream).unwrap(), [2; 64]);
    });
}

#[test]
fn events_of_a_graph_lie_on_their_devices() {
    with_devices(HERE, "events_of_a_graph_lie_on_their_devices", |devices| {
        let data = buffer_on(&devices[1], &[1; 64]);
        let (before, after) = (Event::new(true), Event::new(true));
        let (first, second) = (stream_on(&devices[0]), stream_on(&devices[1]));
        let mut graph = Graph::new(&devices[0]);
        graph.on(&devices[1]);
        let wait = graph.wait(&before, &[]).unwrap();
        let work = graph.kernel(&affine_on(&devices[1], &data, 2, 0), &[wait]).unwrap();
        graph.record(&after, &[work]).unwrap();
        let exec = graph.instantiate().unwrap();
        let gate = Gate::on(&second);
        second.run(&affine_on(&devices[1], &data, 1, 4)).unwrap();
        second.record_event(&before).unwrap();
        exec.launch(&first).unwrap();
        assert_eq!(after.is_complete(), Ok(false));
        gate.open();
        after.synchronize().unwrap();
        assert_eq!(data.read(&second).unwrap(), [10; 64]);
        assert!(after.elapsed_since(&before).unwrap() >= 0.0);
    });
}

#[test]
fn a_capture_spans_streams_of_several_devices() {
    with_devices(HERE, "a_capture_spans_streams_of_several_devices", |devices| {
        let data: Vec<_> = devices.iter().map(|device| buffer_on(device, &[1; 64])).collect();
        let streams: Vec<_> = devices.iter().map(stream_on).collect();
        let forked = Event::new(false);
        capture::begin(&streams[0], Mode::Global, None).unwrap();
        streams[0].run(&affine(&data[0], 2, 0)).unwrap();
        streams[0].record_event(&forked).unwrap();
        for (n, stream) in streams.iter().enumerate().skip(1) {
            stream.wait(&forked).unwrap();
            stream.run(&affine_on(&devices[n], &data[n], 3, n as u32)).unwrap();
            // A copy from the origin's memory, which another device has no access to.
            let copy = Memcpy::linear(data[n].slice().address(), data[0].slice().address(), 32);
            // SAFETY: both ends are device memory.
            unsafe { stream.memcpy(copy) }.unwrap();
            let joined = Event::new(false);
            stream.record_event(&joined).unwrap();
            streams[0].wait(&joined).unwrap();
        }
        streams[0].run(&affine(&data[0], 1, 1)).unwrap();
        let template = capture::end(&streams[0]).unwrap();
        assert_eq!(data[1].read(&streams[1]).unwrap(), [1; 64], "nothing has run");
        let exec = Exec::new(&template.lock(), Options::default()).unwrap();
        assert_eq!(exec.report().devices, devices.len());
        exec.launch(&streams[1]).unwrap();
        streams[1].synchronize().unwrap();
        assert_eq!(data[0].read(&streams[0]).unwrap(), [3; 64]);
        for (n, data) in data.iter().enumerate().skip(1) {
            let (copied, computed) = (2, 3 + n as u32);
            let found = data.read(&streams[n]).unwrap();
            assert_eq!((&found[..8], &found[8..]), (&[copied; 8][..], &[computed; 56][..]));
        }
    });
}

#[test]
fn updates_keep_every_node_on_its_device() {
    with_devices(HERE, "updates_keep_every_node_on_its_device", |devices| {
        let [here, there] = [&devices[0], &devices[1]];
        let (mine, theirs) = (buffer_on(here, &[1; 64]), buffer_on(there, &[1; 64]));
        let spare = [buffer_on(here, &[5; 64]), buffer_on(there, &[5; 64])];
        let template = |kernel_on: &Device, source: &DeviceBuffer<u32>, factor| {
            let mut template = Template::new(here);
            let first = template.add_on(kernel_on, node_of(&theirs, factor, 0), &[]).unwrap();
            let copy = template.add_on(here, copied(&mine, source), &[first]).unwrap();
            (template, first, copy)
        };
        let (original, first, copy) = template(there, &theirs, 2);
        let exec = Exec::new(&original, Options::default()).unwrap();
        let stream = stream();
        let run = |expected: u32| {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(mine.read(&stream).unwrap(), [expected; 64]);
        };
        run(2);

        // A kernel that moves, and an operand that does, leave the executable as it was.
        let (moved, node, _) = template(here, &theirs, 3);
        let refusal = exec.update(&moved).unwrap_err();
        assert_eq!((refusal.reason, refusal.node), (UpdateReason::Device, Some(node)));
        let (moved, _, node) = template(there, &spare[0], 3);
        let refusal = exec.update(&moved).unwrap_err();
        assert_eq!((refusal.reason, refusal.node), (UpdateReason::Parameters, Some(node)));
        assert!(matches!(exec.set_node(copy, &copied(&mine, &spare[0])), Err(Error::InvalidValue(_))));
        run(4);

        exec.update(&template(there, &spare[1], 3).0).unwrap();
        run(5);
        exec.set_node(copy, &copied(&mine, &theirs)).unwrap();
        exec.set_node(first, &node_of(&theirs, 1, 1)).unwrap();
        run(4 * 3 + 1);
        assert_eq!(exec.device_of(first), Ok(there.clone()));
    });
}

#[test]
fn allocations_are_the_peers_that_were_named() {
    with_devices(HERE, "allocations_are_the_peers_that_were_named", |devices| {
        let [owner, peer] = [&devices[0], &devices[1]];
        let result = buffer_on(owner, &[0; 64]);
        let mut template = Template::new(owner);
        let access = vec![(peer.clone(), Right::ReadWrite)];
        let options = AllocationOptions { access, ..AllocationOptions::default() };
        let (birth, address) = template.add_allocation_with(owner, 256, options.clone(), &[]).unwrap();
        assert_eq!(template.allocation_options(birth).as_deref(), Some(&options));
        let fill = Memset { dst: address, pitch: 0, value: 8, element_size: 4, width: 64, height: 1 };
        let fill = template.add(Node::Memset(fill), &[birth]).unwrap();
        let mut kernargs = address.to_le_bytes().to_vec();
        [64u32, 2, 1].iter().for_each(|word| kernargs.extend(word.to_le_bytes()));
        let Node::Kernel(mut kernel) = node_of(&buffer(&[0; 64]), 2, 1) else { unreachable!() };
        kernel.kernargs = kernargs.into();
        let kernel = template.add_on(peer, Node::Kernel(kernel), &[fill]).unwrap();
        let out = Memcpy::linear(result.slice().address(), address, 256);
        let out = template.add(Node::Memcpy(out), &[kernel]).unwrap();
        let freed = template.add_free(address, &[out]).unwrap();
        // Memory of another device, or for others, is no substitute for what was freed.
        let (_, other) = template.add_allocation(peer, 256, &[freed]).unwrap();
        let (_, closed) = template.add_allocation(owner, 256, &[freed]).unwrap();
        let (_, again) = template.add_allocation_with(owner, 256, options, &[freed]).unwrap();
        assert!(other != address && closed != address);
        assert_eq!(
            again == address,
            !owner.shares_graph_memory(),
            "memory that is mapped has its own addresses"
        );

        let exec = Exec::new(&template, Options { auto_free: true, ..Options::default() }).unwrap();
        let stream = stream();
        for _ in 0..3 {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(result.read(&stream).unwrap(), [17; 64]);
        }
    });
}

/// An address that nothing is at.
const NOWHERE: u64 = 0x10_0000;

fn is_illegal_address(outcome: aqlipse::Result<()>) -> bool {
    matches!(outcome, Err(Error::IllegalAddress(_)))
}

#[test]
fn a_fault_on_one_device_takes_the_whole_launch_and_no_more() {
    recovering("a_fault_on_one_device_takes_the_whole_launch_and_no_more", |devices| {
        let data: Vec<_> = devices.iter().map(|device| buffer_on(device, &[1; 64])).collect();
        let calls = Arc::new(AtomicU32::new(0));
        let bystander = stream_on(&devices[3]);
        for lanes in [1, 3] {
            // On its way to device 0 the launch faults on device 1; device 2 has the stream.
            let mut graph = Graph::new(&devices[0]);
            let root = graph.kernel(&affine(&data[0], 1, 0), &[]).unwrap();
            let bad =
                graph.kernel(&single_on(&devices[1], &kernels().poke, &[&NOWHERE, &1u32]), &[root]).unwrap();
            let counted = calls.clone();
            let count = move || {
                counted.fetch_add(1, Ordering::Relaxed);
            };
            let host = graph.host(count, &[bad]).unwrap();
            let wide: Vec<_> =
                (0..4).map(|n| graph.kernel(&affine(&data[0], 1, n), &[host]).unwrap()).collect();
            graph.kernel(&affine_on(&devices[1], &data[1], 2, 0), &wide).unwrap();
            let exec = graph.instantiate_with(entangled(lanes)).unwrap();
            for guest in [&devices[2], &devices[1], &devices[0]] {
                let (stream, behind) = (stream_on(guest), Event::new(false));
                let gate = Gate::on(&bystander);
                // Whichever call meets the fault reports it.
                let reported = exec.launch(&stream);
                let reported = reported.and_then(|()| stream.record_event(&behind));
                let reported = reported.and_then(|()| stream.synchronize());
                assert!(is_illegal_address(reported), "{lanes} lanes, {guest:?}");
                assert_ne!(behind.is_complete(), Ok(false), "a point that is lost is not yet to be reached");
                // Every device that took part has something to say at most once, and goes on.
                for device in &devices[..3] {
                    let _ = device.synchronize();
                    assert_eq!(device.synchronize(), Ok(()));
                }
                gate.open();
                bystander.synchronize().unwrap();
            }
            assert_eq!(calls.load(Ordering::Relaxed), 0, "a host function behind lost work");
            // The node can be mended.
            exec.set_kernel(bad, &affine_on(&devices[1], &data[1], 3, 0)).unwrap();
            let before = data[1].read(&stream_on(&devices[1])).unwrap()[0];
            let stream = stream_on(&devices[2]);
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(data[1].read(&stream_on(&devices[1])).unwrap(), [before * 6; 64]);
            assert_eq!(calls.swap(0, Ordering::Relaxed), 1);
        }
    });
}

#[test]
fn a_device_without_access_faults_and_the_launch_ends() {
    recovering("a_device_without_access_faults_and_the_launch_ends", |devices| {
        let data = buffer(&[1; 64]);
        let mut graph = Graph::new(&devices[0]);
        let root = graph.kernel(&affine(&data, 2, 0), &[]).unwrap();
        let stranger = graph.kernel(&affine_on(&devices[1], &data, 2, 0), &[root]).unwrap();
        graph.kernel(&affine(&data, 5, 0), &[stranger]).unwrap();
        let exec = graph.instantiate().unwrap();
        let stream = stream();
        // The launch itself may meet the fault of what it has published already.
        let reported = exec.launch(&stream).and_then(|()| stream.synchronize());
        assert!(is_illegal_address(reported));
        let _ = devices[1].synchronize();
        assert_eq!(data.read(&stream).unwrap(), [2; 64]);
        memory::enable_peer_access(&devices[1], &devices[0]).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(data.read(&stream).unwrap(), [2 * 2 * 2 * 5; 64]);
    });
}
