//! The safe face: places, recordings, captured work, cached memory.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use aqlipse::{
    CaptureError, Error, UpdateReason,
    typed::{
        AllocationCache, Captured, DeviceSlice, ExecGraph, Graph, HostBuffer, Kernel, Place, ReadOnly,
        Recording, when_all,
    },
};
use proptest::prelude::*;

use super::*;

fn affine_on(data: DeviceSlice<u32>, factor: u32, term: u32) -> Launch {
    let len = data.len() as u32;
    kernels()
        .affine
        .over(&device(), len, &[&data, &len, &factor, &term])
        .expect("the arguments fit the kernel")
}

#[test]
fn templates_executables_and_launches_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<(Graph, ExecGraph, Launch, Kernel, Captured, AllocationCache)>();
    crosses::<(DeviceBuffer<f32>, HostBuffer<f32>, Stream)>();
}

#[test]
fn what_the_host_writes_into_a_host_buffer_is_what_a_graph_uploads() {
    let (stream, data) = (stream(), buffer(&[0u32; 5]));
    let host = HostBuffer::new(&device(), 5, 0u32).expect("memory");
    assert!(matches!(host.write(&[1; 4]), Err(Error::InvalidValue(_))));
    let mut graph = Graph::new(&device());
    graph.upload(data.slice(), &host, &[]).expect("as long");
    let exec = graph.instantiate().expect("a graph");
    for values in [[1, 2, 3, 4, 5], [9; 5]] {
        host.write(&values).expect("as many values");
        exec.launch(&stream).expect("a launch");
        assert_eq!(data.read(&stream).expect("a copy"), values);
    }
}

#[test]
fn places_put_work_behind_what_they_stand_for() {
    let (stream, data) = (stream(), buffer(&[1; 300]));
    let halves = [data.slice().get(0..150).unwrap(), data.slice().get(150..300).unwrap()];
    let graph = Graph::create(&device(), |root| {
        let first = root.then(&affine(&data, 2, 1))?;
        let left = first.then(&affine_on(halves[0], 3, 0))?;
        let right = first.then(&affine_on(halves[1], 5, 0))?;
        when_all([&left, &right, &left]).then(&affine(&data, 1, 7))?;
        Ok(())
    })
    .unwrap();
    assert_eq!(graph.size(), (4, 4));
    graph.instantiate().unwrap().launch(&stream).unwrap();
    let values = data.read(&stream).unwrap();
    assert!(values[..150].iter().all(|v| *v == 16) && values[150..].iter().all(|v| *v == 22), "{values:?}");
}

#[test]
fn every_kind_of_work_has_a_place() {
    let (stream, log) = (stream(), Log::new(4));
    let (input, output) = (
        HostBuffer::new(&device(), 8, 3u32).expect("memory"),
        HostBuffer::new(&device(), 8, 0u32).expect("memory"),
    );
    let data = buffer(&[0; 8]);
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let mut nested = Graph::new(&device());
    nested.kernel(&log.append(1), &[]).unwrap();
    let graph = Graph::create(&device(), |root| {
        root.then_fill(data.slice(), 0xff)?
            .then_upload(data.slice(), &input)?
            .then(&affine(&data, 2, 0))?
            .then_download(&output, data.slice())?
            .then_graph(&nested)?
            .then_host(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            })?;
        Ok(())
    })
    .unwrap();
    graph.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(log.entries(), [1]);
    assert_eq!((output.to_vec(), calls.load(Ordering::Relaxed)), (vec![6; 8], 1));
}

#[test]
fn a_place_of_another_graph_is_refused() {
    let log = Log::new(1);
    let outcome = Graph::create(&device(), |root: &Place<'_>| {
        let foreign = Graph::create(&device(), |other| {
            let node = other.then(&log.append(1))?;
            when_all([root, &node]).then(&log.append(2)).map(drop)
        });
        assert!(matches!(foreign, Err(Error::Graph(_))), "{foreign:?}");
        Ok(())
    });
    assert_eq!(outcome.unwrap().size(), (0, 0));
}

#[test]
fn captured_native_work_keeps_what_it_owns_alive() {
    let (stream, data, handle) = (stream(), buffer(&[1; 8]), Arc::new(()));
    let (library, owned) = (handle.clone(), affine(&data, 3, 0));
    let graph = Graph::create(&device(), |root| {
        root.then_capture(&stream, move |stream| {
            let _uses = &library;
            stream.run(&owned)?;
            stream.run(&owned)
        })
        .map(drop)
    })
    .unwrap();
    let exec = graph.instantiate().unwrap();
    drop(graph);
    exec.launch(&stream).unwrap();
    assert_eq!(Arc::strong_count(&handle), 2, "the executable holds the library");
    assert_eq!(data.read(&stream).unwrap(), [9; 8]);
    drop(exec);
    device().synchronize().unwrap();
    assert_eq!(Arc::strong_count(&handle), 1);
}

#[test]
fn captured_work_runs_once_and_again_whenever_it_is_launched() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let step = affine(&data, 2, 0);
    let exec = stream.captured(|stream| stream.run(&step)).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [2; 8]);
    exec.launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [4; 8]);
    assert!(!stream.is_capturing());
}

#[test]
fn what_no_capture_allows_is_done_when_the_work_warms_up() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let (mut factor, mut runs) = (None, 0);
    let exec = stream.captured(|stream| {
        runs += 1;
        let factor = match factor {
            Some(factor) => factor,
            // Reading is refused in a capture: the first run that is allowed to finds out.
            None => *factor.insert(data.read(stream)?[0] + 2),
        };
        stream.run(&affine(&data, factor, 0))
    });
    let exec = exec.unwrap();
    assert_eq!((runs, data.read(&stream).unwrap()), (3, vec![3; 8]), "its effects are there once");
    exec.launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [9; 8]);
}

#[test]
fn work_that_can_never_be_captured_says_so() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let refused = stream.captured(|stream| {
        stream.run(&affine(&data, 2, 0))?;
        stream.synchronize()
    });
    assert_eq!(refused.unwrap_err(), CaptureError::Unsupported.into());
    assert!(!stream.is_capturing());
    assert_eq!(data.read(&stream).unwrap(), [2; 8], "it ran as it is");
}

#[test]
fn captured_work_inside_a_capture_is_refused_and_records_nothing() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let graph = Graph::capture(&stream, |stream| {
        let inner = stream.captured(|stream| stream.run(&affine(&data, 2, 0)));
        assert!(matches!(inner, Err(Error::IllegalState(_))), "{inner:?}");
        Ok(())
    });
    assert_eq!(graph.unwrap().size(), (0, 0));
}

#[test]
fn captured_anew_work_keeps_its_executable_while_its_shape_stays() {
    let (stream, data) = (stream(), buffer(&[0; 8]));
    let mut captured = Captured::default();
    for term in 1..=10 {
        captured.run(&stream, |stream| stream.run(&affine(&data, 1, term))).unwrap();
    }
    assert_eq!((captured.instantiations(), data.read(&stream).unwrap()), (1, vec![55; 8]));
    let twice = |stream: &Stream| {
        stream.run(&affine(&data, 0, 4))?;
        stream.run(&affine(&data, 2, 1))
    };
    captured.run(&stream, twice).unwrap();
    captured.exec().expect("it ran").launch(&stream).unwrap();
    assert_eq!((captured.instantiations(), data.read(&stream).unwrap()), (2, vec![9; 8]));
}

#[test]
fn a_refused_update_names_the_node_and_leaves_the_executable() {
    let (stream, data) = (stream(), buffer(&[1; 8]));
    let mut graph = Graph::new(&device());
    graph.kernel(&affine(&data, 3, 0), &[]).unwrap();
    let exec = graph.instantiate().unwrap();
    let mut other = Graph::new(&device());
    other.fill(data.slice(), 0, &[]).unwrap();
    let refusal = exec.update(&other).unwrap_err();
    assert!(refusal.reason == UpdateReason::Kind && refusal.node.is_some(), "{refusal}");
    exec.launch(&stream).unwrap();
    assert_eq!(data.read(&stream).unwrap(), [3; 8]);
}

#[test]
fn a_cache_gives_each_run_the_memory_of_the_one_before() {
    let mut cache = AllocationCache::new(&device());
    let mut run = |lens: [usize; 4]| {
        let mut scope = cache.scope();
        lens.map(|len| scope.buffer::<u32>(len).expect("memory").slice().address())
    };
    let first = run([10, 20, 10, 30]);
    assert_eq!(run([10, 20, 10, 30]), first);
    let other = run([20, 10, 40, 10]);
    assert_eq!([other[1], other[0], other[3]], [first[0], first[1], first[2]]);
    assert!(!first.contains(&other[2]));
    assert_eq!(cache.bytes(), 4 * (10 + 20 + 10 + 30 + 40));
    cache.clear();
    assert_eq!(cache.bytes(), 0);
}

#[test]
fn a_graph_captured_with_a_cache_outlives_it() {
    let (stream, result) = (stream(), buffer(&[0; 8]));
    let mut cache = AllocationCache::new(&device());
    let mut work = |stream: &Stream| {
        let temporary = cache.scope().buffer::<u32>(8)?;
        stream.fill(temporary.slice(), 1)?;
        stream.run(&affine(&temporary, 2, 0))?;
        stream.run(&affine(&result, 1, 1))
    };
    work(&stream).unwrap();
    let exec = stream.captured(&mut work).unwrap();
    assert_eq!(cache.bytes(), 32, "the capture allocated nothing");
    drop(cache);
    // Would be given the memory if it were free.
    let innocent: Vec<_> = (0..4).map(|_| buffer(&[7; 8])).collect();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    for buffer in innocent {
        assert_eq!(buffer.read(&stream).unwrap(), [7; 8]);
    }
    assert_eq!(result.read(&stream).unwrap(), [3; 8]);
}

#[test]
fn readers_are_recorded_side_by_side_and_host_calls_behind_their_memory() {
    let (stream, shared) = (stream(), buffer(&[5; 8]));
    let outputs = [(); 3].map(|()| buffer(&[0; 9]));
    let result = HostBuffer::new(&device(), 9, 0u32).expect("memory");
    let mut graph = Graph::new(&device());
    let mut recording = graph.recording();
    recording.submit(&affine(&shared, 3, 0), &[]).unwrap();
    for output in &outputs {
        // Counts its runs in the first word of `output`, and reads what is shared.
        let launch =
            single(&kernels().count_after, &[output, &0u32, &ReadOnly(&shared), &0u32, &0u32, output]);
        recording.submit(&launch, &[]).unwrap();
    }
    recording.download(&result, outputs[2].slice()).unwrap();
    let (seen, total) = (result.clone(), Arc::new(AtomicU32::new(0)));
    let sum = total.clone();
    let call = move || {
        sum.fetch_add(seen.to_vec()[0], Ordering::Relaxed);
    };
    let call = recording.call(&[&result], &[], call).unwrap();
    recording.graph().empty(&[call]).unwrap();
    // Writer, three readers, the copy, the call, the empty node: each behind one.
    assert_eq!(graph.size(), (7, 6));
    let exec = graph.instantiate().unwrap();
    for _ in 0..2 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(total.load(Ordering::Relaxed), 1 + 2);
}

const WORDS: usize = 48;

/// `data[start..end] = data * factor + term`, or a copy to or from the host's buffer.
#[derive(Clone, Copy, Debug)]
enum Step {
    Affine(usize, usize, u32, u32),
    Fill(usize, usize, u8),
    Upload,
    Download,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let range = (0..WORDS, 1..20usize).prop_map(|(start, len)| (start, (start + len).min(WORDS)));
    let step = prop_oneof![
        6 => (range.clone(), 2u32..9, 1u32..9).prop_map(|((s, e), f, t)| Step::Affine(s, e, f, t)),
        2 => (range, any::<u8>()).prop_map(|((s, e), byte)| Step::Fill(s, e, byte)),
        1 => Just(Step::Upload),
        1 => Just(Step::Download),
    ];
    prop::collection::vec(step, 1..24)
}

fn record(recording: &mut Recording<'_>, data: DeviceSlice<u32>, host: &HostBuffer<u32>, step: Step) {
    match step {
        Step::Affine(start, end, factor, term) => {
            recording.submit(&affine_on(data.get(start..end).unwrap(), factor, term), &[])
        }
        Step::Fill(start, end, byte) => recording.fill(data.get(start..end).unwrap(), byte),
        Step::Upload => recording.upload(data, host),
        Step::Download => recording.download(host, data),
    }
    .expect("it can be recorded");
}

fn model(data: &mut [u32], host: &mut [u32], step: Step) {
    match step {
        Step::Affine(start, end, factor, term) => {
            data[start..end].iter_mut().for_each(|v| *v = v.wrapping_mul(factor).wrapping_add(term));
        }
        Step::Fill(start, end, byte) => data[start..end].fill(u32::from_le_bytes([byte; 4])),
        Step::Upload => data.copy_from_slice(host),
        Step::Download => host.copy_from_slice(data),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn recorded_work_has_the_result_of_running_it_in_order(steps in steps()) {
        let (stream, data) = (stream(), buffer(&[1; WORDS]));
        let host = HostBuffer::new(&device(), WORDS, 2u32).expect("memory");
        let mut graph = Graph::new(&device());
        let mut recording = graph.recording();
        let (mut expected, mut expected_host) = (vec![1; WORDS], vec![2; WORDS]);
        for &step in &steps {
            record(&mut recording, data.slice(), &host, step);
        }
        let exec = graph.instantiate().unwrap();
        for _ in 0..3 {
            exec.launch(&stream).unwrap();
            steps.iter().for_each(|&step| model(&mut expected, &mut expected_host, step));
        }
        prop_assert_eq!(data.read(&stream).unwrap(), expected);
        prop_assert_eq!(host.to_vec(), expected_host);
    }
}

#[test]
fn a_slice_of_a_slice_stays_inside() {
    let data = buffer(&[0; 10]);
    let slice = data.slice();
    let part = slice.get(2..7).unwrap();
    assert_eq!((part.address(), part.len()), (slice.address() + 8, 5));
    assert!(slice.get(3..11).is_none() && slice.get(10..10).unwrap().is_empty());
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = slice.get(7..2);
    assert!(reversed.is_none());
}

#[test]
fn the_last_block_of_a_launch_over_items_may_be_smaller() {
    let (stream, data) = (stream(), buffer(&[1; 1000]));
    let part = data.slice().get(0..301).unwrap();
    // More elements than work-items: those behind the last item are left alone.
    let launch = kernels().affine.over(&device(), 301, &[&data, &1000u32, &5u32, &0u32]).unwrap();
    stream.run(&launch).unwrap();
    let values = data.read(&stream).unwrap();
    assert!(values[..part.len()].iter().all(|v| *v == 5) && values[part.len()..].iter().all(|v| *v == 1));
    assert!(kernels().affine.over(&device(), 0, &[&data, &0u32, &1u32, &1u32]).is_err(), "no items");
}
