//! The small steps of a launch, one at a time, by criterion: packet encoding, publication in a ring, instantiation, a launch
//! call, and decoding of code objects and instructions.
//!
//! `cargo bench --bench micro -- launch` runs the rows whose names contain the word. Kernels complete without executing, on
//! the emulated device.

use std::{hint::black_box, time::Instant};

use aqlipse::{
    Device, Module, Stream, StreamKind,
    typed::{ExecGraph, Graph, Kernel},
};
use criterion::{Criterion, Throughput};
use hsa::packet::{BarrierAnd, KernelDispatch, Packet};

const OBJECT: &[u8] = include_bytes!("../kernels/demo.gfx90a.co");
/// Nodes of the graphs, all in one chain.
const SIZES: [usize; 3] = [1, 16, 128];
/// Packets that are published at once.
const BATCH: usize = 64;

fn encode(criterion: &mut Criterion) {
    let dispatch =
        KernelDispatch { grid: [4096, 1, 1], workgroup: [256, 1, 1], ..KernelDispatch::new(0x1000) };
    let barrier = BarrierAnd::default();
    let mut group = criterion.benchmark_group("packet encode");
    group.bench_function("kernel dispatch", |bencher| bencher.iter(|| black_box(&dispatch).packet()));
    group.bench_function("barrier-AND", |bencher| bencher.iter(|| black_box(&barrier).packet()));
}

fn publish(criterion: &mut Criterion) {
    let runtime = hsa::Runtime::new(emulator::api()).expect("the emulated runtime");
    let agents = runtime.agents().expect("its agents");
    let gpu = agents.iter().find(|agent| agent.kind() == hsa::AgentKind::Gpu).expect("a GPU");
    let queue = hsa::Queue::create(gpu, 16 * 1024, hsa::QueueOptions::default(), Box::new(|_| {}))
        .expect("a queue of the emulated device");
    let packets = [BarrierAnd::default().packet(); BATCH];
    let mut group = criterion.benchmark_group("ring publish");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function(format!("{BATCH} packets"), |bencher| {
        bencher.iter_custom(|rounds| {
            let mut taken = std::time::Duration::ZERO;
            for _ in 0..rounds {
                let claim = queue.claim_wait(BATCH as u32).expect("room in the ring");
                let start = Instant::now();
                // SAFETY: barrier packets refer to no memory.
                unsafe { claim.publish(&packets, |_, _: &mut Packet| {}) }.expect("valid packets");
                taken += start.elapsed();
            }
            taken
        });
    });
}

/// A chain of kernels that do nothing.
fn chain(device: &Device, nodes: usize) -> Graph {
    let module = Module::first_that_fits(device, &[OBJECT]).expect("a code object of gfx90a");
    // SAFETY: the kernel touches no memory.
    let empty = unsafe { Kernel::trusted(module.kernel("empty").expect("the kernel")) };
    let launch = empty.launch(device, [1; 3], [64, 1, 1], 0, &[]).expect("a launch");
    let mut graph = Graph::new(device);
    let mut last = Vec::new();
    for _ in 0..nodes {
        last = vec![graph.kernel(&launch, &last).expect("a node")];
    }
    graph
}

fn graphs(criterion: &mut Criterion) {
    let device = Device::get(0).expect("the emulated device");
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let mut group = criterion.benchmark_group("instantiate");
    for nodes in SIZES {
        let graph = chain(&device, nodes);
        group.throughput(Throughput::Elements(nodes as u64));
        group.bench_function(format!("chain of {nodes}"), |bencher| {
            bencher.iter_with_large_drop(|| graph.instantiate().expect("an executable"));
        });
    }
    drop(group);
    let mut group = criterion.benchmark_group("launch call");
    for nodes in SIZES {
        let exec: ExecGraph = chain(&device, nodes).instantiate().expect("an executable");
        group.throughput(Throughput::Elements(nodes as u64));
        group.bench_function(format!("chain of {nodes}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let mut taken = std::time::Duration::ZERO;
                for _ in 0..rounds {
                    let start = Instant::now();
                    exec.launch(&stream).expect("a launch");
                    taken += start.elapsed();
                    stream.synchronize().expect("its end");
                }
                taken
            });
        });
    }
}

fn decode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    group.bench_function("code object", |bencher| {
        bencher.iter(|| loader::CodeObject::parse(black_box(OBJECT)).expect("a code object"));
    });
    let object = loader::CodeObject::parse(OBJECT).expect("a code object");
    let code = object.segments().iter().find(|segment| segment.protection.execute).expect("code");
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let words: Vec<u32> = OBJECT[code.file.clone()].chunks_exact(4).map(word).collect();
    group.throughput(Throughput::Elements(words.len() as u64));
    group.bench_function("instructions, in words", |bencher| {
        bencher.iter(|| {
            let decoded = emulator::isa::decode_all(emulator::Target::Gfx90a, black_box(&words));
            decoded.filter(|(_, instruction)| instruction.is_ok()).count()
        });
    });
}

fn main() {
    // The emulator reads its variables when it starts.
    let config = emulator::Config::from_env().expect("variables of the emulator");
    emulator::configure(emulator::Config { null_kernels: true, ..config }).expect("a first configuration");
    let mut criterion = Criterion::default().configure_from_args();
    encode(&mut criterion);
    publish(&mut criterion);
    graphs(&mut criterion);
    decode(&mut criterion);
    criterion.final_summary();
}
