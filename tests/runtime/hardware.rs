//! What cards do that the emulated device spares programs unless it is asked.

use std::path::Path;

use aqlipse::{
    ARGUMENTS_VARIABLE, Backend, Error, Event, Options,
    memory::{self, Origin},
    typed::Graph,
};

use super::{
    resident::{Way, chain},
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

#[test]
fn kernels_of_a_graph_that_is_launched_again_read_nothing_of_the_hosts() {
    let test = "runtime::hardware::kernels_of_a_graph_that_is_launched_again_read_nothing_of_the_hosts";
    in_child(test, &[(HARDWARE, "two-sockets"), (ARGUMENTS_VARIABLE, "device")], || {
        if device().backend() != Backend::Emulated {
            return; // ROCr 5.2.3 has no fine-grained memory of devices.
        }
        let (stream, log) = (stream(), Log::new(12));
        let mut graph = Graph::new(&device());
        let first = graph.kernel(&log.append(1), &[]).unwrap();
        let second = graph.kernel(&log.append(2), &[first]).unwrap();
        let third = graph.kernel(&log.append(3), &[first]).unwrap();
        graph.kernel(&log.append(4), &[second, third]).unwrap();
        let exec = graph.instantiate().unwrap();
        let launch = || {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
        };
        launch();
        assert_eq!(reads_during(&device(), || (0..2).for_each(|_| launch())), Some([0; 3]));
        assert_eq!(log.entries().len(), 12);
    });
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
    in_child(test, &[(HARDWARE, "scarce"), ("AQLIPSE_EMULATE_CUS", "8")], || {
        let log = Log::new(300);
        // Each set of units has a queue of its own.
        let streams: Vec<_> = (1..=30).map(|mask| Stream::on_units(&device(), &[mask])).collect();
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
