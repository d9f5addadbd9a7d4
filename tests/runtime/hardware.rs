//! What cards do that the emulated device spares programs unless it is asked.

use std::path::Path;

use aqlipse::{
    ARGUMENTS_VARIABLE, Backend, Error, Event, Exec, GraphNode, Options, Template,
    graph::{ConditionalKind, Memcpy, Memset, RunCopy},
    memory::{self, Origin},
    typed::{ExecGraph, Graph},
};

use super::{
    resident::{Way, chain},
    updates::kernel_node,
    *,
};

const HARDWARE: &str = "AQLIPSE_EMULATE_HARDWARE";

#[test]
fn arguments_that_change_between_launches_reach_cards_behind_pcie() {
    for (traits, place) in [("discrete", "device"), ("no-bar", "device"), ("discrete", "host")] {
        let test = "runtime::hardware::arguments_that_change_between_launches_reach_cards_behind_pcie";
        in_child(test, &[(HARDWARE, traits), (ARGUMENTS_VARIABLE, place)], || {
            let (stream, log) = (stream(), Log::new(60));
            let mut graph = Graph::new(&device());
            let first = graph.kernel(&log.append(0), &[]).unwrap();
            let second = graph.kernel(&log.append(1), &[first]).unwrap();
            let exec = graph.instantiate().unwrap();
            for launch in 0..30 {
                exec.launch(&stream).unwrap();
                if launch % 2 == 0 {
                    stream.synchronize().unwrap();
                }
                exec.set_kernel(second, &log.append(2 * launch + 3)).unwrap();
                exec.set_kernel(first, &log.append(2 * launch + 2)).unwrap();
            }
            stream.synchronize().unwrap();
            assert_eq!(log.entries(), (0..60).collect::<Vec<_>>());
        });
        if std::env::var(CHILD).is_ok() {
            return; // The child has one of them.
        }
    }
}

#[test]
fn nothing_waits_for_atomics_that_the_link_does_not_carry() {
    let test = "runtime::hardware::nothing_waits_for_atomics_that_the_link_does_not_carry";
    in_child(test, &[(HARDWARE, "no-atomics")], || {
        if Path::new("/dev/kfd").exists() && device().backend() != Backend::Emulated {
            return; // The links of a card are what they are.
        }
        assert!(!device().properties().host_atomics);
        let log = Log::new(2);
        let refused = |error| matches!(error, Some(Error::NotSupported(why)) if why.contains("atomic"));
        let exec = if device().backend() == Backend::Emulated {
            // What the packet processor takes needs none. Kernels that launch it do.
            let exec = Way::Buffer.instantiate(&chain(&log, [1, 2]));
            assert!(refused(exec.device_graph().err()));
            exec
        } else {
            chain(&log, [1, 2]).instantiate().unwrap()
        };
        exec.launch(&stream()).unwrap();
        device().synchronize().unwrap();
        assert_eq!(log.entries(), [1, 2]);
        let by_kernel = Way::Launcher.options(Options::default());
        assert!(refused(chain(&log, [1, 2]).instantiate_with(by_kernel).err()));
    });
}

/// Reads of host memory by kernels of a device so far: from the socket that is near, from the other one, and of both those
/// before the wave's first store. `None` where no emulator counts.
fn host_reads(device: &Device) -> Option<[u64; 3]> {
    if device.backend() == Backend::Emulated {
        let counted = emulator::counters(device.ordinal())?;
        return Some([counted.near_host_reads, counted.far_host_reads, counted.early_host_reads]);
    }
    let counted = thunk_counters(device)?;
    Some([counted[13], counted[14], counted[15]])
}

/// What `work` adds to a device's [`host_reads`].
fn reads_during(device: &Device, work: impl FnOnce()) -> Option<[u64; 3]> {
    let before = host_reads(device);
    work();
    let (before, after) = (before?, host_reads(device)?);
    Some(std::array::from_fn(|at| after[at] - before[at]))
}

#[test]
fn devices_read_memory_of_the_socket_that_they_are_near() {
    let test = "runtime::hardware::devices_read_memory_of_the_socket_that_they_are_near";
    for place in ["device", "host"] {
        let variables =
            [(HARDWARE, "two-sockets"), ("AQLIPSE_EMULATE", "2xgfx90a"), (ARGUMENTS_VARIABLE, place)];
        in_child(test, &variables, || {
            for device in Device::all().unwrap() {
                let stream = Stream::new(device, StreamKind::NonBlocking, 0);
                let work = || {
                    // Arguments of a launch, staged and pinned copies, and pinned data.
                    let data = buffer_on(device, &[1; 50_000]);
                    stream.run(&affine_on(device, &data, 3, 1)).unwrap();
                    let pinned = memory::allocate_host(device, 400, Origin::Host, 0).unwrap();
                    let words = std::ptr::with_exposed_provenance_mut::<u32>(pinned.address as usize);
                    // SAFETY: 100 words that the host reaches and no device uses yet.
                    unsafe { std::slice::from_raw_parts_mut(words, 100) }.fill(1);
                    let arguments: [&dyn Argument; 4] = [&pinned.address, &100u32, &3u32, &1u32];
                    let on_pinned =
                        kernels().affine.launch(device, [1; 3], [256, 1, 1], 0, &arguments).unwrap();
                    stream.run(&on_pinned).unwrap();
                    assert_eq!(data.read(&stream).unwrap(), [4; 50_000]);
                    // Arguments of an executable.
                    let mut graph = Graph::new(device);
                    let first = graph.kernel(&affine_on(device, &data, 1, 1), &[]).unwrap();
                    graph.kernel(&on_pinned, &[first]).unwrap();
                    graph.instantiate().unwrap().launch(&stream).unwrap();
                    stream.synchronize().unwrap();
                    // SAFETY: the device is done with them.
                    assert_eq!(unsafe { std::slice::from_raw_parts(words, 100) }, [13; 100]);
                };
                if device.backend() == Backend::Rocr {
                    work(); // The kernels that ROCr loads code with have arguments on the first socket.
                }
                if let Some([near, far, _]) = reads_during(device, work) {
                    assert!(near > 0);
                    assert_eq!(far, 0, "device {}", device.ordinal());
                }
            }
        });
        if std::env::var(CHILD).is_ok() {
            return;
        }
    }
}

/// A way to launch a graph again, by its name.
type Relaunch = (&'static str, Box<dyn FnMut(&Stream)>);

/// Graphs on device memory, of several shapes, and what is done with them between launches; and that memory.
fn relaunches() -> (Vec<Relaunch>, (Vec<DeviceBuffer<u32>>, Log)) {
    let launched = |exec: ExecGraph| Box::new(move |stream: &Stream| exec.launch(stream).unwrap());
    let mut all: Vec<Relaunch> = Vec::new();
    let data: Vec<_> = (0..4).map(|_| buffer(&[1; 1000])).collect();

    let mut graph = Graph::new(&device());
    (0..8).fold(Vec::new(), |after, _| vec![graph.kernel(&affine(&data[0], 3, 1), &after).unwrap()]);
    all.push(("a chain", launched(graph.instantiate().unwrap())));
    all.push(("four queues", launched(allocations::fork_join(4, 3, &data))));

    let (mut template, words) = (Template::new(&device()), data[1].slice());
    let copied = Memcpy::linear(data[2].slice().address(), words.address(), words.bytes());
    let filled = Memset { dst: words.address(), pitch: 4, value: 7, element_size: 4, width: 1000, height: 1 };
    let (fill, copy) = (GraphNode::Memset(filled), GraphNode::Memcpy(copied.clone()));
    let first = template.add(fill, &[]).unwrap();
    let second = template.add(copy, &[first]).unwrap();
    let (part, address) = template.add_allocation(&device(), 4000, &[second]).unwrap();
    let third =
        template.add(GraphNode::Memcpy(Memcpy::linear(address, words.address(), 4000)), &[part]).unwrap();
    template.add_free(address, &[third]).unwrap();
    let runs = [RunCopy { dst: data[3].slice().address(), src: words.address(), bytes: 400 }; 3];
    template.add(GraphNode::MemcpyBatch(runs.into()), &[first]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    all.push(("copies and fills", Box::new(move |stream| exec.launch(stream).unwrap())));

    let (mut outer, mut inner) = (Graph::new(&device()), Graph::new(&device()));
    inner.kernel(&affine(&data[3], 2, 0), &[]).unwrap();
    let before = outer.kernel(&affine(&data[3], 1, 1), &[]).unwrap();
    outer.child(&inner, &[before]).unwrap();
    all.push(("a graph in a graph", launched(outer.instantiate().unwrap())));

    let (mut outer, mut body) = (Graph::new(&device()), Graph::new(&device()));
    let (counter, condition) = (buffer(&[0]), outer.condition(1).unwrap());
    let reset = outer.kernel(&affine(&counter, 0, 3), &[]).unwrap();
    body.kernel(&affine(&data[0], 1, 2), &[]).unwrap();
    body.kernel(&single(&kernels().count_down, &[&counter, &condition]), &[]).unwrap();
    outer.conditional(&condition, ConditionalKind::While, vec![body], &[reset]).unwrap();
    all.push(("a loop", launched(outer.instantiate().unwrap())));

    let log = Log::new(1000);
    let resident = Way::Buffer.instantiate(&chain(&log, [1, 2, 3]));
    all.push(("packets on the device", launched(resident)));

    let mut graph = Graph::new(&device());
    let first = graph.kernel(&log.append(1), &[]).unwrap();
    let second = graph.kernel(&log.append(2), &[first]).unwrap();
    let exec = graph.instantiate().unwrap();
    let updated = log.append(9);
    all.push((
        "updates of a node, in flight and not",
        Box::new(move |stream| {
            for node in [first, second, first] {
                exec.set_kernel(node, &updated).unwrap();
                exec.launch(stream).unwrap();
            }
            stream.synchronize().unwrap();
            exec.set_kernel(second, &updated).unwrap();
            exec.launch(stream).unwrap();
        }),
    ));

    let [one, other] = [1, 2].map(|value| {
        let mut template = Template::new(&device());
        let first = template.add(GraphNode::Kernel(kernel_node(&log, value)), &[]).unwrap();
        template.add(GraphNode::Memset(filled), &[first]).unwrap();
        template
    });
    let exec = Exec::new(&one, Options::default()).unwrap();
    all.push((
        "updates of everything, in flight and not",
        Box::new(move |stream| {
            for template in [&other, &one, &other] {
                exec.update(template).unwrap();
                exec.launch(stream).unwrap();
            }
            stream.synchronize().unwrap();
            exec.update(&one).unwrap();
            exec.launch(stream).unwrap();
        }),
    ));
    (all, (data, log))
}

#[test]
fn kernels_of_a_graph_that_is_launched_again_read_nothing_of_the_hosts() {
    let test = "runtime::hardware::kernels_of_a_graph_that_is_launched_again_read_nothing_of_the_hosts";
    if std::env::var(CHILD).is_err() && device().backend() != Backend::Emulated {
        return; // ROCr 5.2.3 has no fine-grained memory of devices.
    }
    for target in ["gfx90a", "gfx942"] {
        let variables =
            [(HARDWARE, "two-sockets"), (ARGUMENTS_VARIABLE, "device"), ("AQLIPSE_EMULATE", target)];
        in_child(test, &variables, || {
            let stream = stream();
            let (all, _memory) = relaunches();
            for (what, mut relaunch) in all {
                relaunch(&stream);
                stream.synchronize().unwrap();
                let again = || {
                    for _ in 0..3 {
                        relaunch(&stream);
                        stream.synchronize().unwrap();
                    }
                    relaunch(&stream);
                    relaunch(&stream);
                    stream.synchronize().unwrap();
                };
                assert_eq!(reads_during(&device(), again), Some([0; 3]), "{what} on {target}");
            }
            // The counters count: an eager launch has its arguments in memory of the host.
            let data = buffer(&[1]);
            let eager = reads_during(&device(), || {
                stream.run(&affine(&data, 1, 1)).unwrap();
                stream.synchronize().unwrap();
            });
            assert!(eager.is_some_and(|[near, _, early]| near > 0 && early > 0));
        });
        if std::env::var(CHILD).is_ok() {
            return;
        }
    }
}

/// Graphs whose kernels run on two devices, relaunched and updated.
#[test]
fn each_device_of_a_graph_has_the_arguments_of_its_kernels() {
    let test = "runtime::hardware::each_device_of_a_graph_has_the_arguments_of_its_kernels";
    for traits in ["two-sockets", "two-sockets,discrete", "two-sockets,no-bar"] {
        in_child(test, &[(HARDWARE, traits), ("AQLIPSE_EMULATE", "2xgfx90a")], || {
            let devices = Device::all().unwrap();
            let ([here, there], true) = ([&devices[0], &devices[1]], devices.len() == 2) else { return };
            let (stream, logs) = (stream(), [here, there].map(|device| buffer_on(device, &[0; 64])));
            let append =
                |at: usize, value: u32| single_on(&devices[at], &kernels().append, &[&logs[at], &value]);
            let mut graph = Graph::new(here);
            let first = graph.kernel(&append(0, 1), &[]).unwrap();
            let second = graph.kernel(&append(1, 2), &[first]).unwrap();
            let third = graph.kernel(&append(0, 3), &[second]).unwrap();
            let fourth = graph.kernel(&append(1, 4), &[second]).unwrap();
            let exec = graph.instantiate().unwrap();
            let launch = || exec.launch(&stream).unwrap();
            launch();
            stream.synchronize().unwrap();
            let work = || {
                launch();
                // While it is in flight, and when it is over.
                exec.set_kernel(second, &append(1, 12)).unwrap();
                exec.set_kernel(third, &append(0, 13)).unwrap();
                launch();
                stream.synchronize().unwrap();
                exec.set_kernel(fourth, &append(1, 14)).unwrap();
                exec.set_kernel(second, &append(1, 22)).unwrap();
                launch();
                stream.synchronize().unwrap();
            };
            let mut far = None;
            let near = reads_during(here, || far = reads_during(there, work));
            let words = |log: &DeviceBuffer<u32>| log.read(&stream).unwrap();
            assert_eq!(words(&logs[0])[..9], [8, 1, 3, 1, 3, 1, 13, 1, 13]);
            assert_eq!(words(&logs[1])[..9], [8, 2, 4, 2, 4, 12, 4, 22, 14]);
            if here.backend() == Backend::Emulated {
                assert_eq!([near, far], [Some([0; 3]); 2], "{traits}");
            }
        });
        if std::env::var(CHILD).is_ok() {
            return;
        }
    }
}

#[test]
fn host_memory_that_cannot_be_locked_is_out_of_memory() {
    let test = "runtime::hardware::host_memory_that_cannot_be_locked_is_out_of_memory";
    in_child(test, &[(HARDWARE, "scarce")], || {
        const LIMIT: usize = 1 << 30;
        let pinned = |bytes| memory::allocate_host(&device(), bytes, Origin::Host, 0);
        let is_short = |error| matches!(error, Some(Error::OutOfMemory { .. }));
        assert!(is_short(pinned(LIMIT + 4096).err()));
        let data = buffer(&[7; 1000]);
        let most = pinned(LIMIT - (64 << 20)).unwrap().address;
        let pages = vec![5u32; 32 << 20];
        let bytes = size_of_val(pages.as_slice()) as u64;
        // SAFETY: the pages live to the end of the test.
        let registered = unsafe { memory::register(&device(), pages.as_ptr() as u64, bytes, 0) };
        let error = registered.expect_err("more than is left");
        // ROCr 5.2.3 does not say why it locks nothing.
        assert!(device().backend() == Backend::Rocr || is_short(Some(error)));
        // Copies of pages that cannot be pinned are staged.
        let copy = buffer(&pages);
        assert_eq!(copy.read(&stream()).unwrap(), pages);
        stream().run(&affine(&data, 2, 0)).unwrap();
        device().synchronize().unwrap();
        assert_eq!(data.read(&stream()).unwrap(), [14; 1000]);
        memory::free_host(most).unwrap();
        // SAFETY: as above.
        unsafe { memory::register(&device(), pages.as_ptr() as u64, bytes, 0) }.unwrap();
        memory::unregister(pages.as_ptr() as u64).unwrap();
    });
}

#[test]
fn streams_with_more_queues_than_the_device_serves_at_a_time_wait_for_each_other() {
    let test =
        "runtime::hardware::streams_with_more_queues_than_the_device_serves_at_a_time_wait_for_each_other";
    in_child(test, &[(HARDWARE, "scarce"), ("AQLIPSE_EMULATE_CUS", "16")], || {
        let log = Log::new(300);
        // Each set of units has a queue of its own.
        let streams = streams_on_units();
        for round in 0..10 {
            let mut before: Option<Event> = None;
            for (at, stream) in streams.iter().enumerate().rev() {
                if let Some(before) = &before {
                    stream.wait(before).unwrap();
                }
                stream.run(&log.append(30 * round + at as u32)).unwrap();
                let event = Event::new(false);
                stream.record_event(&event).unwrap();
                before = Some(event);
            }
            streams[0].synchronize().unwrap();
        }
        let expected: Vec<u32> =
            (0..10).flat_map(|round| (0..30).rev().map(move |at| 30 * round + at)).collect();
        assert_eq!(log.entries(), expected);
        if device().backend() == Backend::Emulated {
            assert!(emulator::counters(0).unwrap().quanta > 0);
        }
    });
}

#[test]
fn events_beyond_those_of_the_process_end_waits_all_the_same() {
    let test = "runtime::hardware::events_beyond_those_of_the_process_end_waits_all_the_same";
    in_child(test, &[(HARDWARE, "few-events")], || {
        let (stream, log) = (stream(), Log::new(5000));
        // Each holds the signal of its record.
        let events: Vec<Event> = (0..5000)
            .map(|entry| {
                stream.run(&log.append(entry)).unwrap();
                let event = Event::new(true);
                stream.record_event(&event).unwrap();
                event
            })
            .collect();
        events.iter().rev().for_each(|event| event.synchronize().unwrap());
        assert_eq!(log.entries().len(), 5000);
    });
}
