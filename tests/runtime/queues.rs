//! How many hardware queues the runtime takes, whatever a program makes of streams.

use aqlipse::{
    Backend, Function, Options,
    graph::{ConditionalKind, Kernel, KernelAttributes},
    typed::Graph,
};

use super::{
    allocations::fork_join,
    resident::{Way, chain},
    updates::kernel_node,
    *,
};

/// As many queues at a time as a card runs.
const FEW_QUEUES: (&str, &str) = ("AQLIPSE_EMULATE_HARDWARE", "few-queues");

fn assert_few(device: &Device) {
    let queues = device.queues().unwrap();
    assert!(queues.count() <= queues.limit && queues.limit <= 24, "{queues:?}");
}

/// A stream of a kind that `n` selects: of each priority, and on each of two sets of units.
fn stream_of_a_kind(n: usize) -> Stream {
    match n % 5 {
        n @ 0..3 => Stream::new(&device(), StreamKind::NonBlocking, n as i32 - 1),
        n => Stream::on_units(&device(), &[1 << (n - 3)]),
    }
}

/// Runs a loop that the host drives, whose bodies have queues of their own.
fn count_on_host(stream: &Stream) {
    let (counter, data) = (buffer(&[3]), buffer(&[0]));
    let (mut graph, mut body) = (Graph::new(&device()), Graph::new(&device()));
    let condition = graph.condition(1).unwrap();
    body.kernel(&affine(&data, 1, 2), &[]).unwrap();
    body.kernel(&single(&kernels().count_down, &[&counter, &condition]), &[]).unwrap();
    graph.conditional(&condition, ConditionalKind::While, vec![body], &[]).unwrap();
    let exec = graph.instantiate_with(Options { conditionals_on_host: true, ..Options::default() }).unwrap();
    exec.launch(stream).unwrap();
    assert_eq!(data.read(stream).unwrap(), [6]);
}

#[test]
fn a_hundred_streams_of_all_kinds_share_the_queues_of_the_device() {
    let test = "runtime::queues::a_hundred_streams_of_all_kinds_share_the_queues_of_the_device";
    in_child(test, &[FEW_QUEUES], || {
        let device = device();
        let streams: Vec<Stream> = (0..100).map(stream_of_a_kind).collect();
        let data: Vec<_> = streams.iter().map(|_| [(); 4].map(|()| buffer(&[1]))).collect();
        let log = Log::new(100);
        let graphs: Vec<_> = data.iter().map(|data| fork_join(4, 2, data)).collect();
        for (stream, data) in streams.iter().zip(&data) {
            stream.run(&affine(&data[0], 3, 0)).unwrap();
            assert_few(&device);
        }
        let attributes = KernelAttributes { cooperative: 1, ..KernelAttributes::DEFAULT };
        let cooperative: Kernel<Function> = Kernel { attributes: attributes.into(), ..kernel_node(&log, 7) };
        for stream in &streams {
            stream.launch(cooperative.clone()).unwrap();
        }
        let resident = Log::new(8);
        let exec = Way::Launcher.instantiate(&chain(&resident, 0..4));
        exec.launch(&streams[0]).unwrap();
        streams.iter().take(4).for_each(count_on_host);
        for round in 0..3 {
            for (exec, stream) in graphs.iter().zip(&streams) {
                exec.launch(stream).unwrap();
            }
            assert_few(&device);
            if round == 1 {
                streams.iter().for_each(|stream| stream.synchronize().unwrap());
            }
        }
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
        for (stream, data) in streams.iter().zip(&data) {
            let words: Vec<u32> = data.iter().flat_map(|data| data.read(stream).unwrap()).collect();
            // Each launch adds 4 to the first word and 2 to each other.
            assert_eq!(words, [3 + 3 * 4, 1 + 3 * 2, 1 + 3 * 2, 1 + 3 * 2]);
        }
        assert_eq!(log.entries(), [7; 100]);
        assert_eq!(resident.entries(), [0, 1, 2, 3]);
        assert_few(&device);
        if device.backend() == Backend::Emulated {
            assert_eq!(emulator::counters(0).expect("a device").quanta, 0, "no queue waits for its turn");
        }
    });
}

/// What cannot share: each set of units has one queue at least.
#[test]
fn more_sets_of_units_than_there_are_queues_have_one_each() {
    let test = "runtime::queues::more_sets_of_units_than_there_are_queues_have_one_each";
    in_child(test, &[FEW_QUEUES, ("AQLIPSE_EMULATE_CUS", "16")], || {
        let streams = streams_on_units();
        let data: Vec<_> = streams.iter().map(|_| [(); 4].map(|()| buffer(&[1]))).collect();
        for (stream, data) in streams.iter().zip(&data) {
            let exec = fork_join(4, 2, data);
            exec.launch(stream).unwrap();
            exec.launch(stream).unwrap();
        }
        for (stream, data) in streams.iter().zip(&data) {
            let words: Vec<u32> = data.iter().flat_map(|data| data.read(stream).unwrap()).collect();
            assert_eq!(words, [1 + 2 * 4, 1 + 2 * 2, 1 + 2 * 2, 1 + 2 * 2]);
        }
        let queues = device().queues().unwrap();
        let masked = queues.made.iter().find(|(kind, _)| *kind == "streams on some compute units").unwrap();
        assert!((30..40).contains(&masked.1), "{queues:?}");
    });
}
