use super::*;
use crate::template::{
    Condition, ConditionalKind, HostFn, KernelAttributes, MemAlloc, MemFree, Memset, Word, WordCondition,
};

/// Kernels are their symbols, events numbers.
struct Plain;

impl Labels<&'static str, u32, ()> for Plain {
    fn kernel<'k>(&self, kernel: &'k &'static str) -> Cow<'k, str> {
        (*kernel).into()
    }

    fn kernel_handle(&self, _: &&'static str) -> u64 {
        0xf00
    }

    fn event_handle(&self, event: &u32) -> u64 {
        u64::from(*event)
    }
}

type TestGraph = Graph<&'static str, u32, ()>;

fn kernel(function: &'static str) -> Node<&'static str, u32, ()> {
    let attributes = KernelAttributes { priority: -1, ..KernelAttributes::DEFAULT };
    let kernargs = vec![0; 24].into();
    Node::Kernel(Kernel {
        function,
        grid: [7, 1, 1],
        block: [64, 1, 1],
        shared_bytes: 96,
        kernargs,
        attributes: attributes.into(),
    })
}

fn dot(graph: &TestGraph, detail: Detail) -> String {
    let mut text = Vec::new();
    graph.write_dot(&mut text, detail, &Plain).unwrap();
    String::from_utf8(text).unwrap()
}

/// One node of each kind, each behind the one before, and the flag that asks for what it does.
fn each_kind() -> TestGraph {
    let mut inner = TestGraph::new();
    inner.add(Node::Empty, &[]).unwrap();
    let memset = Memset { dst: 0x3000, pitch: 16, value: 0xab, element_size: 4, width: 4, height: 2 };
    let surface = |address| Surface { address, pitch: 32, row_bytes: 32, rows: 8, corner: [4, 2, 1] };
    let copy = crate::template::BoxCopy {
        dst: surface(0x1000),
        src: surface(0x2000),
        extent: [8, 4, 2],
        kind: CopyKind::DeviceToDevice,
    };
    let step = |action| WordStep { address: 0xb000, value: Word::U64(0xcd), action };
    let wait = WordAction::Wait { condition: WordCondition::AtLeast, mask: 0xff };
    let nodes = [
        Node::Empty,
        kernel("_Z4axpyILi3EEvPfS0_"),
        Node::Memcpy(Memcpy::Linear { dst: 0x100, src: 0x200, bytes: 77, kind: CopyKind::HostToDevice }),
        Node::Memcpy(Memcpy::Box(Box::new(copy))),
        Node::Memset(memset),
        Node::Host(HostFn::with_words(|| (), 0x4000, 0x5000)),
        Node::EventRecord(0x66),
        Node::EventWait(0x77),
        Node::MemAlloc(MemAlloc { address: 0x8000, bytes: 512, device: 0 }),
        Node::MemFree(MemFree { address: 0x8000 }),
        Node::BatchMemOp([step(WordAction::Write), step(wait)].into()),
        Node::MemcpyBatch([RunCopy { dst: 0x9000, src: 0xa000, bytes: 5 }].into()),
        Node::Child(Box::new(inner)),
    ];
    let mut graph = TestGraph::new();
    let mut before = Vec::new();
    for node in nodes {
        before = vec![graph.add(node, &before).unwrap()];
    }
    graph
}

#[test]
fn topology_kinds_names_and_directions_are_always_written() {
    let graph = each_kind();
    let text = dot(&graph, Detail::NONE);
    let ids: Vec<_> = graph.topology().nodes().collect();
    for pair in ids.windows(2) {
        assert!(text.contains(&format!("\"{}\" -> \"{}\"", pair[0], pair[1])), "{text}");
    }
    for (id, kind) in ids.iter().zip([
        "EMPTY",
        "KERNEL",
        "MEMCPY",
        "MEMCPY",
        "MEMSET",
        "HOST",
        "EVENT_RECORD",
        "EVENT_WAIT",
    ]) {
        assert!(text.contains(&format!("label=\"{}: {kind}", id.index())), "{kind} in {text}");
    }
    let name = "KERNEL\\n_Z4axpyILi3EEvPfS0_\\naxpy<3>(float*, float*)\"";
    assert!(text.contains(name), "{text}");
    assert!(text.contains("HtoD") && text.contains("DtoD"));
    assert!(text.contains(&format!("subgraph \"cluster {}\"", graph.id())), "{text}");
    for parameter in ["77 bytes", "pitch", "grid", "0x4000", "0x66", "priority", "0xf00", "node 0x"] {
        assert!(!text.contains(parameter), "{parameter} was not asked for: {text}");
    }
}

#[test]
fn each_flag_adds_what_it_names_and_verbose_adds_all() {
    let graph = each_kind();
    let added = [
        (
            Detail::KERNELS,
            "grid 7 x 1 x 1, block 64 x 1 x 1\\ndynamic shared memory 96 bytes, arguments 24 bytes",
        ),
        (Detail::COPIES, "dst 0x100\\nsrc 0x200\\n77 bytes"),
        (Detail::COPIES, "dst 0x1000 at (4, 2, 1), pitch 32, 8 rows"),
        (Detail::COPIES, "width 8 bytes, height 4, depth 2"),
        (Detail::FILLS, "dst 0x3000, pitch 16\\nvalue 0xab, element size 4\\nwidth 4, height 2"),
        (Detail::HOSTS, "fn 0x4000, userData 0x5000"),
        (Detail::EVENTS, "event 0x66"),
        (Detail::EVENTS, "event 0x77"),
        (Detail::ATTRIBUTES, "cooperative no, priority -1"),
        (Detail::COPIES, "copies: 1\\ndst 0x9000, src 0xa000, 5 bytes"),
        (Detail::HANDLES, "function 0xf00"),
        (Detail::HANDLES, "\\nnode 0x"),
    ];
    let all = dot(&graph, Detail::VERBOSE);
    for (flag, text) in added {
        assert!(dot(&graph, flag).contains(text), "{text}");
        assert!(all.contains(text), "{text}");
        let others = added.iter().map(|(other, _)| *other).filter(|other| *other != flag);
        let others = others.fold(Detail::NONE, |all, other| all | other);
        assert!(!dot(&graph, others).contains(text), "{text} is written without its flag");
    }
    let steps = "operations: 2\\nwrite 0xcd to 64 bits at 0xb000\\n\
                 wait for 64 bits at 0xb000 under 0xff: AtLeast 0xcd";
    assert!(all.contains(steps), "{all}");
    assert_eq!(dot(&graph, Detail::from_bits(1 << 30)), dot(&graph, Detail::NONE));
}

#[test]
fn child_graphs_are_clusters_whose_edges_end_at_the_box() {
    let mut inner = TestGraph::new();
    inner.add(Node::Empty, &[]).unwrap();
    let mut graph = TestGraph::new();
    let first = graph.add_child(&inner, &[]).unwrap();
    let second = graph.add_child(&inner, &[first]).unwrap();
    let last = graph.add(Node::Empty, &[second]).unwrap();
    let [a, b] = [first, second].map(|node| graph.child(node).unwrap().id());
    let text = dot(&graph, Detail::NONE);
    assert!(text.contains(&format!("subgraph \"cluster {a}\"")), "{text}");
    let edge = format!("\"{first}\" -> \"{second}\" [ltail=\"cluster {a}\", lhead=\"cluster {b}\"];");
    assert!(text.contains(&edge), "{text}");
    assert!(text.contains(&format!("\"{second}\" -> \"{last}\" [ltail=\"cluster {b}\"];")), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

#[test]
fn bodies_of_conditional_nodes_are_clusters_in_the_box_of_their_node() {
    let (mut yes, mut no) = (TestGraph::new(), TestGraph::new());
    yes.add(kernel("yes"), &[]).unwrap();
    no.add(kernel("no"), &[]).unwrap();
    let bodies = [yes.id(), no.id()];
    let mut graph = TestGraph::new();
    let first = graph.add(Node::Empty, &[]).unwrap();
    let condition = Condition::new(0x7000, 3, ());
    let choice = graph.add_conditional(condition, ConditionalKind::If, vec![yes, no], &[first]).unwrap();
    let last = graph.add(Node::Empty, &[choice]).unwrap();
    let text = dot(&graph, Detail::NONE);
    let label =
        format!("\"{choice}\" [shape=diamond, label=\"{}: CONDITIONAL\\nIf, bodies: 2\"]", choice.index());
    let boxes = [
        format!("subgraph \"cluster node {choice}\""),
        label,
        format!("subgraph \"cluster {}\"", bodies[0]),
        "label=\"body 0\"".to_owned(),
        "yes".to_owned(),
        format!("subgraph \"cluster {}\"", bodies[1]),
        "label=\"body 1\"".to_owned(),
        "no\"".to_owned(),
    ];
    let places: Vec<_> = boxes.iter().map(|part| text.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    assert!(
        text.contains(&format!("\"{first}\" -> \"{choice}\" [lhead=\"cluster node {choice}\"];")),
        "{text}"
    );
    assert!(
        text.contains(&format!("\"{choice}\" -> \"{last}\" [ltail=\"cluster node {choice}\"];")),
        "{text}"
    );
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert!(!text.contains("0x7000"), "{text}");
    assert!(dot(&graph, Detail::VERBOSE).contains("condition 0x7000, default 3"));
}

#[test]
fn what_graphviz_would_read_is_quoted() {
    let mut graph = TestGraph::new();
    graph.add(kernel("odd\"name\\with\nlines"), &[]).unwrap();
    assert!(dot(&graph, Detail::NONE).contains("odd\\\"name\\\\with lines"));
}

#[test]
fn removed_nodes_are_not_written() {
    let mut graph = TestGraph::new();
    let gone = graph.add(kernel("gone"), &[]).unwrap();
    graph.add(kernel("left"), &[gone]).unwrap();
    graph.remove(gone).unwrap();
    let text = dot(&graph, Detail::NONE);
    assert!(!text.contains("gone") && text.contains("left") && !text.contains("->"), "{text}");
}

#[test]
fn a_symbol_that_stands_for_a_name_without_end_is_left_alone() {
    // Each parameter is a pair of the two before it: the name doubles with every one.
    let mut symbol = String::from("_Z1f1AIiiE");
    for n in 0..60 {
        symbol.push_str(&format!("1AIS{n}_S{n}_E"));
    }
    for symbol in [&symbol, "_Zno symbol", "plain"] {
        assert_eq!(demangled(symbol), None);
    }
}

#[test]
fn deep_nesting_and_long_chains_are_written_without_recursion() {
    let mut graph = TestGraph::new();
    for _ in 0..100_000 {
        let mut outer = TestGraph::new();
        outer.add(Node::Child(Box::new(graph)), &[]).unwrap();
        graph = outer;
    }
    let mut lines = Lines::default();
    graph.write_dot(&mut lines, Detail::VERBOSE, &Plain).unwrap();
    assert_eq!(lines.0, 6 + 100_000 * 4 + 2);

    let mut graph = TestGraph::new();
    for n in 0..50_000 {
        let mut outer = TestGraph::new();
        outer.add_conditional(Condition::new(n, 0, ()), ConditionalKind::If, vec![graph], &[]).unwrap();
        graph = outer;
    }
    let mut lines = Lines::default();
    graph.write_dot(&mut lines, Detail::VERBOSE, &Plain).unwrap();
    assert_eq!(lines.0, 6 + 50_000 * 8 + 2);

    let mut chain = TestGraph::new();
    let mut before = Vec::new();
    for _ in 0..200_000 {
        before = vec![chain.add(Node::Empty, &before).unwrap()];
    }
    let mut lines = Lines::default();
    chain.write_dot(&mut lines, Detail::NONE, &Plain).unwrap();
    assert_eq!(lines.0, 6 + 200_000 + 199_999 + 2);
}

/// Counts lines and keeps nothing: writing needs no memory that grows with the text.
#[derive(Default)]
struct Lines(usize);

impl io::Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0 += text.iter().filter(|&&byte| byte == b'\n').count();
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
