//! The same work under schedules that the device may choose but seldom does.

use aqlipse::{Event, Stream, StreamKind};

use super::{
    dags::{on_lanes, random},
    *,
};
use fastrand::Rng;

/// Streams with events, default-stream order, and graphs of all numbers of lanes.
fn everything() {
    let streams: Vec<_> = (0..6)
        .map(|i| {
            Stream::new(&device(), if i % 2 == 0 { StreamKind::Blocking } else { StreamKind::NonBlocking }, 0)
        })
        .collect();
    let (data, log) = (buffer(&[1; 32]), Log::new(40));
    let mut expected = 1u32;
    for i in 0..60u32 {
        // The data wanders from stream to stream.
        let (from, to) = (&streams[i as usize % 6], &streams[(i as usize + 1) % 6]);
        from.run(&affine(&data, 3, i)).unwrap();
        expected = expected.wrapping_mul(3).wrapping_add(i);
        let event = Event::new(false);
        from.record_event(&event).unwrap();
        to.wait(&event).unwrap();
        if i % 20 == 19 {
            for stream in streams.iter().step_by(2) {
                stream.run(&log.append(i)).unwrap();
            }
            device().default_stream().run(&log.append(i + 1)).unwrap();
        }
    }
    assert_eq!(log.entries(), [19, 19, 19, 20, 39, 39, 39, 40, 59, 59, 59, 60]);
    assert_eq!(data.read(&streams[0]).unwrap(), [expected; 32]);
    for options in (1..=4).flat_map(on_lanes) {
        for seed in 0..6 {
            let graph = random(&mut Rng::with_seed(seed * 10 + options.lanes as u64), options, seed % 2 == 0);
            for stream in &streams[..3] {
                graph.exec.launch(stream).unwrap();
            }
            device().synchronize().unwrap();
            graph.check(3, &format!("graph {seed}, {options:?}"));
        }
    }
}

#[test]
fn every_legal_order_of_packets_gives_the_same_result() {
    for seed in 1..=8 {
        let seed = seed.to_string();
        let variables = [("AQLIPSE_EMULATE_SEED", seed.as_str())];
        in_child(
            "runtime::seeds::every_legal_order_of_packets_gives_the_same_result",
            &variables,
            everything,
        );
        if std::env::var(CHILD).is_ok() {
            return; // The child has one seed.
        }
    }
}
