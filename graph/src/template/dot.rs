//! A graph as Graphviz sees it: nodes with what they do, edges, and graphs as boxes around their nodes. Kinds of nodes
//! and directions of copies are written as CUDA's and AMD's libraries write them, so that what reads their files reads
//! these.
//!
//! What a kind of node looks like and says stands in one place, `Page::describe`. Nested graphs are written with a
//! stack of their own, not by recursion: nesting may be deeper than the thread's stack.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io,
    ops::BitOr,
};

use super::{CopyKind, Graph, GraphId, Kernel, Memcpy, Node, NodeId, RunCopy, Surface, WordAction, WordStep};

/// Which parameters are written; topology, kinds, kernel names and directions always are. The bits are HIP's
/// (`hipGraphDebugDotFlags`); others ask for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detail(u32);

impl Detail {
    /// Nothing more.
    pub const NONE: Self = Self(0);
    /// Everything.
    pub const VERBOSE: Self = Self(1);
    /// Grid, block, dynamic LDS and argument bytes of kernel nodes.
    pub const KERNELS: Self = Self(1 << 2);
    /// Operands of copies.
    pub const COPIES: Self = Self(1 << 3);
    /// Operands of fills.
    pub const FILLS: Self = Self(1 << 4);
    /// Functions and arguments of host nodes.
    pub const HOSTS: Self = Self(1 << 5);
    /// Events of record and wait nodes.
    pub const EVENTS: Self = Self(1 << 6);
    /// Parameters of nodes that signal external semaphores.
    pub const SIGNALS: Self = Self(1 << 7);
    /// Parameters of nodes that wait for external semaphores.
    pub const WAITS: Self = Self(1 << 8);
    /// Attributes of kernel nodes.
    pub const ATTRIBUTES: Self = Self(1 << 9);
    /// Handles of nodes and kernels.
    pub const HANDLES: Self = Self(1 << 10);

    /// The detail that HIP's flags ask for.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether all of `part` is wanted.
    pub const fn wants(self, part: Self) -> bool {
        self.0 & Self::VERBOSE.0 != 0 || self.0 & part.0 == part.0
    }
}

impl BitOr for Detail {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What kernels and events are called.
pub trait Labels<K, E, S> {
    /// The symbol of a kernel; a mangled one is written with what it stands for.
    fn kernel<'k>(&self, kernel: &'k K) -> Cow<'k, str>;

    /// The word by which callers know a kernel.
    fn kernel_handle(&self, kernel: &K) -> u64;

    /// The word by which callers know an event.
    fn event_handle(&self, event: &E) -> u64;
}

impl<K, E, S> Graph<K, E, S> {
    /// Writes the graph in the DOT language.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_dot(
        &self,
        out: &mut impl io::Write,
        detail: Detail,
        labels: &impl Labels<K, E, S>,
    ) -> io::Result<()> {
        let mut page = Page { out, detail, labels, label: String::new() };
        page.graph(self)
    }
}

/// Levels of nesting that are indented; more would be more blanks than text.
const MAX_INDENT: usize = 12;

/// What is being written.
enum Open<'g, K, E, S> {
    /// A graph, and the slot to go on at.
    Graph { graph: &'g Graph<K, E, S>, slot: u32 },
    /// The bodies of a conditional node, and the one to go on with.
    Bodies { bodies: &'g [Graph<K, E, S>], next: usize },
}

/// The box around a graph that a node owns, or around all of them.
enum Cluster {
    Graph(GraphId),
    Bodies(NodeId),
}

impl Cluster {
    fn of<K, E, S>(id: NodeId, node: &Node<K, E, S>) -> Option<Self> {
        match node {
            Node::Child(child) => Some(Self::Graph(child.id())),
            Node::Conditional(_) => Some(Self::Bodies(id)),
            _ => None,
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graph(graph) => write!(f, "cluster {graph}"),
            Self::Bodies(node) => write!(f, "cluster node {node}"),
        }
    }
}

struct Page<'p, W, L> {
    out: &'p mut W,
    detail: Detail,
    labels: &'p L,
    /// The label of the node at hand, quoted.
    label: String,
}

impl<W: io::Write, L> Page<'_, W, L> {
    fn graph<K, E, S>(&mut self, graph: &Graph<K, E, S>) -> io::Result<()>
    where
        L: Labels<K, E, S>,
    {
        writeln!(self.out, "digraph \"graph {}\" {{", graph.id())?;
        writeln!(self.out, "  graph [compound=true, fontname=\"monospace\", fontsize=10];")?;
        writeln!(self.out, "  node [shape=box, fontname=\"monospace\", fontsize=10];")?;
        self.begin_cluster(2, 4, &Cluster::Graph(graph.id()))?;
        writeln!(self.out, "    label=\"graph {}\";", graph.id())?;
        let mut open = vec![Open::Graph { graph, slot: 0 }];
        while let Some(depth) = open.len().checked_sub(1) {
            let [indent, inside] = [2, 3].map(|levels| 2 * (depth + levels).min(MAX_INDENT));
            let (graph, slot) = match &mut open[depth] {
                Open::Graph { graph, slot } => (*graph, slot),
                Open::Bodies { bodies, next } => {
                    let Some(body) = bodies.get(*next) else {
                        open.pop();
                        writeln!(self.out, "{:1$}}}", "", indent - 2)?;
                        continue;
                    };
                    self.begin_cluster(indent, inside, &Cluster::Graph(body.id()))?;
                    writeln!(self.out, "{:inside$}label=\"body {next}\";", "")?;
                    *next += 1;
                    open.push(Open::Graph { graph: body, slot: 0 });
                    continue;
                }
            };
            let at = *slot;
            *slot += 1;
            match graph.nodes.get(at as usize) {
                None => {
                    self.edges(graph, indent)?;
                    open.pop();
                    writeln!(self.out, "{:1$}}}", "", indent - 2)?;
                }
                Some(None) => {}
                Some(Some(node)) => {
                    let id = graph.topology.id_of(at);
                    let shape = self.describe(id, node);
                    let Some(cluster) = Cluster::of(id, node) else {
                        self.node(indent, id, shape)?;
                        continue;
                    };
                    self.begin_cluster(indent, inside, &cluster)?;
                    self.node(inside, id, shape)?;
                    open.push(match node {
                        Node::Child(child) => Open::Graph { graph: child, slot: 0 },
                        _ => Open::Bodies { bodies: node.nested(), next: 0 },
                    });
                }
            }
        }
        writeln!(self.out, "}}")
    }

    /// Begins a box.
    fn begin_cluster(&mut self, indent: usize, inside: usize, cluster: &Cluster) -> io::Result<()> {
        writeln!(self.out, "{:indent$}subgraph \"{cluster}\" {{", "")?;
        writeln!(self.out, "{:inside$}style=rounded;", "")
    }

    /// Writes the node whose label is at hand.
    fn node(&mut self, indent: usize, id: NodeId, shape: &str) -> io::Result<()> {
        writeln!(self.out, "{:indent$}\"{id}\" [shape={shape}, label=\"{}\"];", "", self.label)
    }

    /// Writes the edges of one graph; one at a node that owns graphs ends at its box.
    fn edges<K, E, S>(&mut self, graph: &Graph<K, E, S>, indent: usize) -> io::Result<()> {
        let cluster = |slot: u32| Cluster::of(graph.topology.id_of(slot), graph.in_slot(slot)?);
        for (from, to) in graph.topology.slot_edges() {
            let (tail, head) = (cluster(from), cluster(to));
            let [from, to] = [from, to].map(|slot| graph.topology.id_of(slot));
            write!(self.out, "{:indent$}\"{from}\" -> \"{to}\"", "")?;
            match (tail, head) {
                (None, None) => {}
                (Some(tail), None) => write!(self.out, " [ltail=\"{tail}\"]")?,
                (None, Some(head)) => write!(self.out, " [lhead=\"{head}\"]")?,
                (Some(tail), Some(head)) => {
                    write!(self.out, " [ltail=\"{tail}\", lhead=\"{head}\"]")?;
                }
            }
            writeln!(self.out, ";")?;
        }
        Ok(())
    }

    /// Puts what a node is and does into the label, and says which shape it has.
    fn describe<K, E, S>(&mut self, id: NodeId, node: &Node<K, E, S>) -> &'static str
    where
        L: Labels<K, E, S>,
    {
        self.label.clear();
        let (kind, shape) = match node {
            Node::Empty => ("EMPTY", "ellipse"),
            Node::Kernel(_) => ("KERNEL", "box"),
            Node::Memcpy(_) => ("MEMCPY", "cds"),
            Node::Memset(_) => ("MEMSET", "cds"),
            Node::Host(_) => ("HOST", "hexagon"),
            Node::Child(_) => ("CHILD_GRAPH", "plaintext"),
            Node::EventRecord(_) => ("EVENT_RECORD", "octagon"),
            Node::EventWait(_) => ("EVENT_WAIT", "octagon"),
            Node::MemAlloc(_) => ("MEM_ALLOC", "cylinder"),
            Node::MemFree(_) => ("MEM_FREE", "cylinder"),
            Node::BatchMemOp(_) => ("BATCH_MEM_OP", "cds"),
            Node::MemcpyBatch(_) => ("MEMCPY_BATCH", "cds"),
            Node::SemaphoreSignal(_) => ("EXT_SEMAPHORE_SIGNAL", "octagon"),
            Node::SemaphoreWait(_) => ("EXT_SEMAPHORE_WAIT", "octagon"),
            Node::Conditional(_) => ("CONDITIONAL", "diamond"),
        };
        self.say(format_args!("{}: {kind}", id.index()));
        match node {
            Node::Empty => {}
            Node::Kernel(kernel) => self.kernel(kernel),
            Node::Memcpy(copy) => self.copy(copy),
            Node::Memset(set) => {
                if self.detail.wants(Detail::FILLS) {
                    self.line(format_args!("dst {:#x}, pitch {}", set.dst, set.pitch));
                    self.line(format_args!("value {:#x}, element size {}", set.value, set.element_size));
                    self.line(format_args!("width {}, height {}", set.width, set.height));
                }
            }
            Node::Host(call) => {
                if self.detail.wants(Detail::HOSTS) {
                    self.line(format_args!("fn {:#x}, userData {:#x}", call.function(), call.user_data()));
                }
            }
            Node::Child(child) => {
                let topology = child.topology();
                self.line(format_args!("{} nodes, {} edges", topology.node_count(), topology.edge_count()));
            }
            Node::EventRecord(event) | Node::EventWait(event) => {
                if self.detail.wants(Detail::EVENTS) {
                    self.line(format_args!("event {:#x}", self.labels.event_handle(event)));
                }
            }
            Node::MemAlloc(alloc) => self.line(format_args!("{} bytes at {:#x}", alloc.bytes, alloc.address)),
            Node::MemFree(free) => self.line(format_args!("at {:#x}", free.address)),
            Node::BatchMemOp(steps) => self.steps(steps),
            Node::MemcpyBatch(copies) => self.runs(copies),
            Node::SemaphoreSignal(each) => self.semaphores(each, Detail::SIGNALS),
            Node::SemaphoreWait(each) => self.semaphores(each, Detail::WAITS),
            Node::Conditional(conditional) => {
                self.line(format_args!("{:?}, bodies: {}", conditional.kind(), conditional.bodies().len()));
                // HIP has no flag for it.
                if self.detail.wants(Detail::VERBOSE) {
                    let condition = conditional.condition();
                    let (address, default) = (condition.address(), condition.default_value());
                    self.line(format_args!("condition {address:#x}, default {default}"));
                }
            }
        }
        if self.detail.wants(Detail::HANDLES) {
            self.line(format_args!("node {:#x}", id.to_bits()));
        }
        shape
    }

    fn kernel<K, E, S>(&mut self, kernel: &Kernel<K>)
    where
        L: Labels<K, E, S>,
    {
        let symbol = self.labels.kernel(&kernel.function);
        self.line(format_args!("{symbol}"));
        if let Some(declared) = demangled(&symbol) {
            self.line(format_args!("{declared}"));
        }
        if self.detail.wants(Detail::KERNELS) {
            let ([x, y, z], [i, j, k]) = (kernel.grid, kernel.block);
            self.line(format_args!("grid {x} x {y} x {z}, block {i} x {j} x {k}"));
            let (shared, arguments) = (kernel.shared_bytes, kernel.kernargs.len());
            self.line(format_args!("dynamic shared memory {shared} bytes, arguments {arguments} bytes"));
        }
        if self.detail.wants(Detail::ATTRIBUTES) {
            let attributes = &kernel.attributes;
            let cooperative = if attributes.is_cooperative() { "yes" } else { "no" };
            self.line(format_args!("cooperative {cooperative}, priority {}", attributes.priority));
            let window = attributes.access_policy;
            self.line(format_args!(
                "access window {} bytes at {:#x}, hit ratio {}, hits {}, misses {}",
                window.bytes, window.base, window.hit_ratio, window.on_hit, window.on_miss
            ));
            let [default, remote] = attributes.sync_domain_map;
            let domain = attributes.sync_domain;
            self.line(format_args!("memory sync domain {domain}, default is {default}, remote is {remote}"));
        }
        if self.detail.wants(Detail::HANDLES) {
            self.line(format_args!("function {:#x}", self.labels.kernel_handle(&kernel.function)));
        }
    }

    fn copy(&mut self, copy: &Memcpy) {
        self.line(format_args!("{}", direction(copy.kind())));
        if !self.detail.wants(Detail::COPIES) {
            return;
        }
        match copy {
            Memcpy::Linear { dst, src, bytes, .. } => {
                self.line(format_args!("dst {dst:#x}"));
                self.line(format_args!("src {src:#x}"));
                self.line(format_args!("{bytes} bytes"));
            }
            Memcpy::Box(copy) => {
                self.surface("dst", &copy.dst);
                self.surface("src", &copy.src);
                let [width, height, depth] = copy.extent;
                self.line(format_args!("width {width} bytes, height {height}, depth {depth}"));
            }
        }
    }

    /// HIP has no flag for what these do: they are written with everything.
    fn steps(&mut self, steps: &[WordStep]) {
        self.line(format_args!("operations: {}", steps.len()));
        if !self.detail.wants(Detail::VERBOSE) {
            return;
        }
        for step in steps {
            let (width, value) = (8 * step.value.bytes(), step.value.bits());
            match step.action {
                WordAction::Write => {
                    self.line(format_args!("write {value:#x} to {width} bits at {:#x}", step.address));
                }
                WordAction::Wait { condition, mask } => self.line(format_args!(
                    "wait for {width} bits at {:#x} under {mask:#x}: {condition:?} {value:#x}",
                    step.address
                )),
            }
        }
    }

    fn runs(&mut self, copies: &[RunCopy]) {
        self.line(format_args!("copies: {}", copies.len()));
        if self.detail.wants(Detail::COPIES) {
            for RunCopy { dst, src, bytes } in copies {
                self.line(format_args!("dst {dst:#x}, src {src:#x}, {bytes} bytes"));
            }
        }
    }

    fn semaphores<S>(&mut self, each: &[(S, u64)], detail: Detail) {
        self.line(format_args!("semaphores: {}", each.len()));
        if self.detail.wants(detail) {
            for (_, value) in each {
                self.line(format_args!("value {value}"));
            }
        }
    }

    fn surface(&mut self, name: &str, surface: &Surface) {
        let [x, y, z] = surface.corner;
        let Surface { address, pitch, rows, .. } = surface;
        self.line(format_args!("{name} {address:#x} at ({x}, {y}, {z}), pitch {pitch}, {rows} rows"));
    }

    /// Appends a line to the label.
    fn line(&mut self, text: fmt::Arguments<'_>) {
        self.label.push_str("\\n");
        self.say(text);
    }

    fn say(&mut self, text: fmt::Arguments<'_>) {
        let written = Quoted(&mut self.label).write_fmt(text);
        debug_assert!(written.is_ok(), "a string takes everything");
    }
}

/// Text inside double quotes: what would end them, or mean something to Graphviz, is escaped.
struct Quoted<'s>(&'s mut String);

impl fmt::Write for Quoted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                '"' | '\\' => self.0.extend(['\\', c]),
                c if c.is_control() => self.0.push(' '),
                c => self.0.push(c),
            }
        }
        Ok(())
    }
}

fn direction(kind: CopyKind) -> &'static str {
    match kind {
        CopyKind::HostToHost => "HtoH",
        CopyKind::HostToDevice => "HtoD",
        CopyKind::DeviceToHost => "DtoH",
        CopyKind::DeviceToDevice => "DtoD",
        CopyKind::Inferred => "Default",
    }
}

/// The longest demangled name; substitutions let a short symbol stand for one of any length.
const MAX_NAME: usize = 4096;

/// The name of a kernel as its source has it, without what it returns; the symbol itself where it is none of C++.
pub fn readable(symbol: &str) -> String {
    demangled(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// A C++ symbol as it was declared, if it is one, and not too long.
fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let parsed = cpp_demangle::Symbol::new(symbol).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    let mut name = Bounded(String::new());
    parsed.structured_demangle(&mut name, &options).ok()?;
    Some(name.0)
}

struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
