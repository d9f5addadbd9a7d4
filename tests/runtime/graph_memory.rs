//! Memory of graphs: who may free it and when, what is left of it, what the device says of it.

use std::time::Duration;

use aqlipse::{
    AllocationOptions, Error, Exec, Meter, Options, Stream, Template,
    capture::{self, Mode},
    graph::{Memcpy, Memset, Node, NodeId},
    memory::{self, PoolOptions, Right, StreamPool},
    typed::HostBuffer,
};

use super::*;

const N: u64 = 64 << 20;

fn filled(template: &mut Template, address: u64, byte: u8, after: NodeId) -> NodeId {
    let (pitch, width) = (4096, 4096);
    let set = Memset { dst: address, pitch, value: byte.into(), element_size: 1, width, height: 1 };
    template.add(Node::Memset(set), &[after]).unwrap()
}

/// A graph that allocates, fills and leaves or frees `bytes` bytes.
fn graph(bytes: u64, freed: bool) -> (Template, u64) {
    let mut template = Template::new(&device());
    let (alloc, address) = template.add_allocation(&device(), bytes, &[]).unwrap();
    let fill = filled(&mut template, address, 5, alloc);
    if freed {
        template.add_free(address, &[fill]).unwrap();
    }
    (template, address)
}

/// A graph that frees an allocation of another one.
fn freer(address: u64) -> Template {
    let mut template = Template::new(&device());
    template.add_free(address, &[]).unwrap();
    template
}

fn exec(template: &Template) -> Exec {
    Exec::new(template, Options::default()).unwrap()
}

fn launch(exec: &Exec, stream: &Stream) {
    exec.launch(stream).unwrap();
    stream.synchronize().unwrap();
}

fn used() -> Meter {
    let (used, reserved) = (device().graph_memory_used(), device().graph_memory_reserved());
    assert_eq!(used, reserved, "blocks are shared by nothing but the nodes of one graph");
    used
}

fn meter(current: u64, high: u64) -> Meter {
    Meter { current, high }
}

fn is_refused<T: std::fmt::Debug>(outcome: Result<T, Error>) -> bool {
    matches!(outcome, Err(Error::InvalidValue(_)))
}

fn read(stream: &Stream, address: u64) -> Vec<u8> {
    let mut bytes = vec![0u8; 16];
    // SAFETY: the target is ours until the copy is over, the source a live allocation.
    unsafe { stream.memcpy_and_wait(Memcpy::linear(bytes.as_mut_ptr() as u64, address, 16)) }.unwrap();
    bytes
}

#[test]
fn what_launches_leave_counts_until_it_is_freed_and_trimmed() {
    let stream = stream();
    let graphs = [graph(N, false), graph(N, false)];
    let execs = [&graphs[0], &graphs[1]].map(|(template, _)| exec(template));
    assert_eq!(used(), Meter::default(), "before the first launch");
    launch(&execs[0], &stream);
    assert_eq!(used(), meter(N, N));
    launch(&execs[1], &stream);
    assert_eq!(used(), meter(2 * N, 2 * N));
    device().trim_graph_memory();
    assert_eq!(used(), meter(2 * N, 2 * N), "nothing is free");
    memory::free(graphs[0].1).unwrap();
    stream.free_async(graphs[1].1).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(used(), meter(2 * N, 2 * N), "the next launches have it again");
    drop(execs);
    assert_eq!(used(), meter(0, 2 * N));
    device().reset_graph_memory_used_high();
    device().reset_graph_memory_reserved_high();
    assert_eq!(used(), Meter::default());
}

#[test]
fn memory_that_a_graph_frees_itself_is_retained_until_the_trim() {
    let stream = stream();
    let (template, _) = graph(N, true);
    let exec = exec(&template);
    for _ in 0..10 {
        launch(&exec, &stream);
        assert_eq!(used(), meter(N, N));
    }
    device().trim_graph_memory();
    assert_eq!(used(), meter(0, N));
    let gate = Gate::on(&stream);
    exec.launch(&stream).unwrap();
    device().trim_graph_memory();
    assert_eq!(used(), meter(N, N), "the launch is in flight");
    gate.open();
    stream.synchronize().unwrap();
    drop((exec, template));
    assert_eq!(used(), meter(0, N));
}

#[test]
fn lifetimes_that_do_not_overlap_share_their_bytes() {
    let (stream, mut template) = (stream(), Template::new(&device()));
    let mut after: Vec<NodeId> = Vec::new();
    for bytes in [N, N / 2, N] {
        let (alloc, address) = template.add_allocation(&device(), bytes, &after).unwrap();
        let fill = filled(&mut template, address, 1, alloc);
        after = vec![template.add_free(address, &[fill]).unwrap()];
    }
    launch(&exec(&template), &stream);
    assert_eq!(used().high, N);
}

#[test]
fn an_allocation_outlives_graph_and_executable_until_it_is_freed() {
    let stream = stream();
    let before = device().memory_info().0;
    for free_in_order in [false, true] {
        let (template, address) = graph(N, false);
        launch(&exec(&template), &stream);
        drop(template);
        assert_eq!(read(&stream, address), [5; 16]);
        assert_eq!(used().current, N);
        match free_in_order {
            true => stream.free_async(address).unwrap(),
            false => memory::free(address).unwrap(),
        }
        assert_eq!(used().current, 0);
        assert!(is_refused(memory::free(address)) && is_refused(stream.free_async(address)));
        stream.synchronize().unwrap();
        assert!(before - device().memory_info().0 < N, "its bytes are the device's again");
    }
}

#[test]
fn a_free_in_stream_order_does_not_wait_for_the_stream() {
    let stream = stream();
    let (template, address) = graph(N, false);
    launch(&exec(&template), &stream);
    drop(template);
    let gate = Gate::on(&stream);
    stream.memset(Memset { dst: address, pitch: N, value: 7, element_size: 1, width: N, height: 1 }).unwrap();
    stream.free_async(address).unwrap();
    // The fill is still to come, and finds its memory.
    assert_eq!(stream.is_idle(), Ok(false));
    gate.open();
    stream.synchronize().unwrap();
}

#[test]
fn an_executable_that_goes_gives_its_memory_back_at_once() {
    let stream = stream();
    let before = device().memory_info().0;
    let (template, _) = graph(N, true);
    let exec = exec(&template);
    launch(&exec, &stream);
    assert!(before - device().memory_info().0 >= N);
    drop((template, exec));
    assert!(before - device().memory_info().0 < N, "without anybody's synchronisation");
}

#[test]
fn a_free_node_of_another_graph_frees_what_a_launch_has_left() {
    let stream = stream();
    let (template, address) = graph(4096, false);
    let owner = exec(&template);
    let frees = freer(address);
    assert!(frees.has_memory_nodes());
    let freeing = exec(&frees);
    assert!(matches!(Exec::new(&frees, Options::default()), Err(Error::NotSupported(_))));
    assert!(matches!(frees.try_clone(), Err(Error::NotSupported(_))));
    assert!(is_refused(freeing.launch(&stream)), "no launch has made it");
    for _ in 0..3 {
        owner.launch(&stream).unwrap();
        assert!(is_refused(owner.launch(&stream)), "it is not freed");
        freeing.launch(&stream).unwrap();
        assert!(is_refused(freeing.launch(&stream)), "it is freed");
        assert!(is_refused(memory::free(address)));
    }
    owner.launch(&stream).unwrap();
    drop((template, owner));
    // The allocation is all that is left of its graph.
    stream.synchronize().unwrap();
    assert_eq!(read(&stream, address), [5; 16]);
    freeing.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(memory::find(address).unwrap().is_none());
    assert!(is_refused(freeing.launch(&stream)), "there is nothing to free any more");
}

#[test]
fn an_allocation_is_freed_in_its_graph_or_elsewhere_but_not_both() {
    let (mut own, address) = graph(4096, true);
    let mut other = Template::new(&device());
    assert!(is_refused(own.add_free(address, &[])), "twice in one graph");
    assert!(is_refused(other.add_free(address, &[])), "the owner frees it");

    let (mut own, address) = graph(4096, false);
    let empty = other.add(Node::Empty, &[]).unwrap();
    assert!(matches!(other.add_free(address, &[empty, empty]), Err(Error::Graph(_))));
    let free = own.add_free(address, &[]).unwrap();
    assert!(own.graph().topology().contains(free), "a node that was not made frees nothing");

    let (mut own, address) = graph(4096, false);
    let first = other.add_free(address, &[]).unwrap();
    assert!(is_refused(other.add_free(address, &[first])), "twice in one graph");
    assert!(is_refused(own.add_free(address, &[])), "another graph frees it");
    let mut third = Template::new(&device());
    third.add_free(address, &[]).unwrap();
}

#[test]
fn only_allocations_of_graphs_are_freed_by_nodes() {
    let (stream, mut template) = (stream(), Template::new(&device()));
    let data = buffer(&[0; 16]);
    let pooled = stream.allocate_async(4096).unwrap();
    let host = [0u8; 16];
    for address in [0, 1, data.slice().address(), pooled, host.as_ptr() as u64, u64::MAX] {
        assert!(is_refused(template.add_free(address, &[])), "{address:#x}");
    }
    let (_, address) = template.add_allocation(&device(), 4096, &[]).unwrap();
    assert!(is_refused(template.add_free(address + 256, &[])));
    stream.free_async(pooled).unwrap();
}

#[test]
fn a_launch_that_frees_first_forgets_what_the_last_one_left() {
    let stream = stream();
    let (template, address) = graph(N, false);
    let exec = Exec::new(&template, Options { auto_free: true, ..Options::default() }).unwrap();
    for _ in 0..5 {
        exec.launch(&stream).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!((used(), read(&stream, address)), (meter(N, N), vec![5; 16]));
    // Freed by the caller in between: the launch has nothing to free.
    stream.free_async(address).unwrap();
    launch(&exec, &stream);
    drop((exec, template));
    assert_eq!(read(&stream, address), [5; 16], "the last launch's is the caller's");
    memory::free(address).unwrap();
}

#[test]
fn a_refused_launch_leaves_memory_as_it_was() {
    let stream = stream();
    let (template, first) = graph(4096, false);
    let owner = exec(&template);
    // Allocates as well, before it is found that there is nothing to free.
    let mut both = freer(first);
    let (_, second) = both.add_allocation(&device(), 4096, &[]).unwrap();
    let both = exec(&both);
    assert!(is_refused(both.launch(&stream)));
    assert!(is_refused(memory::free(second)), "the refused launch has left nothing");
    owner.launch(&stream).unwrap();
    both.launch(&stream).unwrap();
    owner.launch(&stream).unwrap();
    assert!(is_refused(both.launch(&stream)), "its own allocation is not freed");
    stream.free_async(first).unwrap();
    stream.free_async(second).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn captured_allocations_have_the_properties_of_the_pool() {
    // A memory fault takes the device on ROCr, which opens all small allocations of 2 MiB together.
    let emulated = [("AQLIPSE_EMULATE", "2xgfx90a"), ("AQLIPSE_DEVICE", "emulated")];
    in_child(
        "runtime::graph_memory::captured_allocations_have_the_properties_of_the_pool",
        &emulated,
        || {
            let (stream, far) = (stream(), Device::get(1).unwrap());
            let options = PoolOptions { max_bytes: 1 << 30, ..PoolOptions::default() };
            let pool = StreamPool::new(&device(), options).unwrap();
            pool.set_rights(&[(far.clone(), Right::ReadWrite)]).unwrap();
            capture::begin(&stream, Mode::Global, None).unwrap();
            let open = stream.allocate_from_pool(&pool, 4096).unwrap();
            stream.free_async(open).unwrap();
            // The same bytes would do, but not everybody may access them.
            let closed = stream.allocate_async(4096).unwrap();
            let shared = capture::end(&stream).unwrap();
            assert_ne!(open, closed);
            assert_eq!(pool.used(), Meter::default(), "the graph has the memory, not the pool");
            let template = shared.lock();
            let nodes: Vec<NodeId> = template.graph().nodes().map(|(id, _)| id).collect();
            let access = vec![(far.clone(), Right::ReadWrite)];
            let expected = AllocationOptions { access, max_bytes: 1 << 30, ..AllocationOptions::default() };
            assert_eq!(template.allocation_options(nodes[0]).as_deref(), Some(&expected));
            assert_eq!(template.allocation_options(nodes[2]).as_deref(), Some(&AllocationOptions::default()));
            let exec = Exec::new(&template, Options::default()).unwrap();
            launch(&exec, &stream);
            let away = Stream::new(&far, aqlipse::StreamKind::NonBlocking, 0);
            let poke = |address: u64| {
                let launch =
                    kernels().affine.launch(&far, [1; 3], [1; 3], 0, &[&address, &1u32, &1u32, &5u32]);
                away.run(&launch.unwrap()).unwrap();
                away.synchronize()
            };
            poke(open).unwrap();
            assert!(matches!(poke(closed), Err(Error::IllegalAddress(_))));
            memory::free(closed).unwrap();
        },
    );
}

#[test]
fn a_capture_frees_allocations_of_graphs_only() {
    let stream = stream();
    let before = stream.allocate_async(4096).unwrap();
    capture::begin(&stream, Mode::Global, None).unwrap();
    assert!(is_refused(stream.free_async(before)));
    assert!(capture::end(&stream).is_err(), "the capture is spoilt");
    stream.free_async(before).unwrap();

    let (template, left) = graph(4096, false);
    let owner = exec(&template);
    owner.launch(&stream).unwrap();
    capture::begin(&stream, Mode::Global, None).unwrap();
    stream.free_async(left).unwrap();
    let frees = capture::end(&stream).unwrap();
    assert!(is_refused(owner.launch(&stream)), "nothing is freed before the launch");
    exec(&frees.lock()).launch(&stream).unwrap();
    owner.launch(&stream).unwrap();
    memory::free(left).unwrap();
}

#[test]
fn captured_allocations_are_used_again_by_every_launch() {
    let stream = stream();
    let out = HostBuffer::new(&device(), 256, 0u32).unwrap();
    capture::begin(&stream, Mode::Global, None).unwrap();
    for byte in [1, 2] {
        let memory = stream.allocate::<u32>(256).unwrap();
        stream.fill(memory, byte).unwrap();
        stream.download(&out, memory).unwrap();
        stream.free(memory).unwrap();
    }
    let captured = capture::end(&stream).unwrap();
    let exec = exec(&captured.lock());
    for _ in 0..4 {
        launch(&exec, &stream);
        assert_eq!(out.to_vec(), [0x0202_0202; 256]);
    }
    assert_eq!(used().high, 4096, "the second has the first one's bytes");
}

#[test]
fn memory_that_is_not_there_is_an_error_and_leaves_the_graph_as_it_was() {
    let mut template = Template::new(&device());
    let most = device().properties().total_memory / 8 * 5;
    for bytes in [u64::MAX, u64::MAX - 5000, device().properties().total_memory * 2] {
        assert!(matches!(template.add_allocation(&device(), bytes, &[]), Err(Error::OutOfMemory { .. })));
    }
    template.add_allocation(&device(), most, &[]).unwrap();
    let second = template.add_allocation(&device(), most, &[]).map(drop);
    // Memory that is mapped comes with the executable.
    let nodes = match device().shares_graph_memory() {
        true => second.map(|()| 2),
        false => second.map_or_else(|_| Ok(1), |()| Ok(2)),
    };
    assert_eq!(Ok(template.graph().topology().node_count()), nodes);
    let exec = Exec::new(&template, Options::default());
    assert_eq!(matches!(exec, Err(Error::OutOfMemory { .. })), device().shares_graph_memory());
    drop((exec, template));
    // What a pool retains is given up.
    let (stream, pool) = (stream(), StreamPool::new(&device(), PoolOptions::default()).unwrap());
    let pooled = stream.allocate_from_pool(&pool, most as usize).unwrap();
    let mut template = Template::new(&device());
    let mut wanted = || {
        template.add_allocation(&device(), most, &[])?;
        Exec::new(&template, Options::default())
    };
    assert!(wanted().is_err());
    memory::free(pooled).unwrap();
    let mut template = Template::new(&device());
    template.add_allocation(&device(), most, &[]).unwrap();
    Exec::new(&template, Options::default()).unwrap();
}

#[test]
fn threads_launch_and_free_without_losing_count() {
    std::thread::scope(|scope| {
        for n in 0..4u64 {
            scope.spawn(move || {
                let stream = stream();
                for round in 0..12 {
                    let (template, address) = graph((n + 1) << 16, round % 3 == 0);
                    let exec = exec(&template);
                    for _ in 0..3 {
                        exec.launch(&stream).unwrap();
                        if round % 3 != 0 {
                            stream.free_async(address).unwrap();
                        }
                        device().trim_graph_memory();
                    }
                    stream.synchronize().unwrap();
                    std::thread::sleep(Duration::from_micros(50));
                }
            });
        }
    });
    device().synchronize().unwrap();
    assert_eq!(used().current, 0);
}
