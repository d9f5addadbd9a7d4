//! The memory of a graph as a file, and what can be said of it: planned bytes, the lower bound, the peak, what keeps
//! buffers apart.

use std::{fmt, time::Duration};

use aqlipse_cli::offsets::{self, Bound, Buffer, Explanation, Life, Plan, Problem, ProblemError};
use aqlipse_graph::{Csr, memory::graph::MemoryGraph};

/// Why a file is no [`MemoryGraph`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryGraphError {
    /// It is no JSON, or has other fields; the text says line and column.
    #[error("{0}")]
    Syntax(#[from] serde_json::Error),
    /// A value names a node that there is not.
    #[error("{field}: there is no node {node}: there are {nodes}")]
    NoNode {
        /// Where it stands: `edges[2]`, say.
        field: String,
        /// What it names.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// The buffers cannot be placed, or the nodes depend on each other in a circle.
    #[error("{field}: {problem}")]
    Problem {
        /// Where it stands, if it is in one place.
        field: String,
        /// What is wrong.
        problem: ProblemError,
    },
}

/// Reads a file.
///
/// # Errors
/// [`MemoryGraphError`], with the line or the field. What a field is worth is looked at by [`MemoryReport::of`].
pub fn parse(text: &str) -> Result<MemoryGraph, MemoryGraphError> {
    Ok(serde_json::from_str(text)?)
}

/// Where in the file a problem has its cause.
fn field_of(problem: ProblemError) -> String {
    match problem {
        ProblemError::Align { buffer, .. } => format!("buffers[{buffer}].align"),
        ProblemError::TooLarge { buffer } => format!("buffers[{buffer}].bytes"),
        ProblemError::Free { buffer } => format!("buffers[{buffer}].free"),
        ProblemError::Cycle { .. } => "edges".to_owned(),
        _ => "buffers".to_owned(),
    }
}

/// How many nodes at most lie one behind the other before each node.
fn levels(dependencies: &Csr) -> Result<Vec<u32>, ProblemError> {
    let mut levels = vec![0; dependencies.len()];
    for node in offsets::topological(dependencies)? {
        let before = dependencies.row(node).iter().map(|&before| levels[before as usize] + 1);
        levels[node as usize] = before.max().unwrap_or(0);
    }
    Ok(levels)
}

/// What can be said of the memory of a graph. Its text is what `aqlipse doctor memory` prints.
#[derive(Clone, Debug)]
pub struct MemoryReport<'a> {
    /// The graph.
    pub graph: &'a MemoryGraph,
    /// Where the buffers lie.
    pub plan: Plan,
    /// What every plan needs.
    pub bound: Bound,
    /// What is alive at the peak, and why.
    pub explanation: Explanation,
    /// How many nodes at most lie one behind the other before each node.
    pub(super) levels: Vec<u32>,
}

/// How many buffers and edges are listed by name.
const LISTED: usize = 20;

impl<'a> MemoryReport<'a> {
    /// Places the buffers and says why they need what they need.
    ///
    /// # Errors
    /// [`MemoryGraphError`], with the field.
    pub fn of(graph: &'a MemoryGraph, budget: Duration) -> Result<Self, MemoryGraphError> {
        let nodes = graph.nodes.len();
        let exists = |field: &dyn Fn() -> String, node: u32| match (node as usize) < nodes {
            true => Ok(()),
            false => Err(MemoryGraphError::NoNode { field: field(), node, nodes }),
        };
        for (i, &(from, to)) in graph.edges.iter().enumerate() {
            exists(&|| format!("edges[{i}]"), from)?;
            exists(&|| format!("edges[{i}]"), to)?;
        }
        for (i, buffer) in graph.buffers.iter().enumerate() {
            exists(&|| format!("buffers[{i}].alloc"), buffer.alloc)?;
            buffer.free.map_or(Ok(()), |node| exists(&|| format!("buffers[{i}].free"), node))?;
        }
        let buffers: Vec<Buffer> =
            graph.buffers.iter().map(|it| Buffer { bytes: it.bytes, align: it.align }).collect();
        let lives: Vec<Life> =
            graph.buffers.iter().map(|it| Life { alloc: it.alloc, free: it.free }).collect();
        let dependencies = Csr::from_pairs(nodes, graph.edges.iter().map(|&(from, to)| (to, from)));
        let wrong = |problem| MemoryGraphError::Problem { field: field_of(problem), problem };
        let levels = levels(&dependencies).map_err(wrong)?;
        let problem = Problem::of_graph(&buffers, &lives, &dependencies).map_err(wrong)?;
        let explanation = offsets::explain(&problem, &lives, &dependencies).map_err(wrong)?;
        let plan = offsets::plan(&problem, budget);
        Ok(Self { graph, plan, bound: problem.lower_bound(), explanation, levels })
    }

    /// Bytes of all buffers: what the graph would take if nothing were used again.
    pub fn total(&self) -> u64 {
        self.graph.buffers.iter().map(|buffer| buffer.bytes).sum()
    }

    /// The same as JSON.
    pub fn to_json(&self) -> String {
        let (bound, of) = match self.bound {
            Bound::Exact(bytes) => (bytes, "the heaviest set of buffers that are alive together"),
            Bound::AtLeast(bytes) => (bytes, "a heavy set of buffers that are alive together"),
        };
        let edges = self.explanation.edges.iter().map(|edge| {
            serde_json::json!({
                "from": edge.from, "to": edge.to, "first": edge.first, "second": edge.second, "bytes": edge.bytes,
            })
        });
        let value = serde_json::json!({
            "total_bytes": self.total(),
            "planned_bytes": self.plan.height,
            "lower_bound_bytes": bound,
            "lower_bound_is": of,
            "proven_bytes": self.plan.lower_bound,
            "optimal": self.plan.is_optimal(),
            "offsets": self.plan.offsets,
            "peak": self.explanation.peak,
            "never_freed": self.explanation.never_freed,
            "missing_edges": edges.collect::<Vec<_>>(),
        });
        format!("{value:#}")
    }
}

impl fmt::Display for MemoryReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (buffers, nodes) = (&self.graph.buffers, &self.graph.nodes);
        let name = |i: usize| &buffers[i].name;
        writeln!(f, "{} nodes, {} buffers", nodes.len(), buffers.len())?;
        writeln!(f, "  without reuse  {:>16} bytes", self.total())?;
        writeln!(f, "  planned        {:>16} bytes", self.plan.height)?;
        let kind = match self.bound {
            Bound::Exact(_) => "the heaviest set that is alive together",
            Bound::AtLeast(_) => {
                "a heavy set that is alive together: there are too many buffers to find the heaviest"
            }
        };
        writeln!(f, "  lower bound    {:>16} bytes ({kind})", self.bound.bytes())?;
        match self.plan.is_optimal() {
            true => writeln!(f, "No plan needs less.")?,
            false => {
                let more = (self.plan.height as f64 / self.bound.bytes() as f64 - 1.0) * 100.0;
                writeln!(f, "The plan is {more:.1} % above the bound.")?;
            }
        }
        listed(f, "\nAlive at the peak:", &self.explanation.peak, |f, &i| {
            let free = buffers[i]
                .free
                .map_or("never freed".to_owned(), |node| format!("freed by {}", nodes[node as usize]));
            let (bytes, alloc) = (buffers[i].bytes, &nodes[buffers[i].alloc as usize]);
            writeln!(f, "  {:>16} bytes  {} (allocated by {alloc}, {free})", bytes, name(i))
        })?;
        listed(
            f,
            "\nMissing free nodes (nothing can use these again):",
            &self.explanation.never_freed,
            |f, &i| writeln!(f, "  {:>16} bytes  {}", buffers[i].bytes, name(i)),
        )?;
        listed(
            f,
            "\nMissing edges (with one, the second buffer can lie where the first was):",
            &self.explanation.edges,
            |f, edge| {
                let (from, to) = (&nodes[edge.from as usize], &nodes[edge.to as usize]);
                let (first, second) = (name(edge.first), name(edge.second));
                writeln!(f, "  {:>16} bytes  {first}, {second}: {from} -> {to}", edge.bytes)
            },
        )
    }
}

/// The first of some things under a title, if there are any.
fn listed<T>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    things: &[T],
    line: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    if things.is_empty() {
        return Ok(());
    }
    writeln!(f, "{title}")?;
    things.iter().take(LISTED).try_for_each(|thing| line(f, thing))?;
    match things.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{
        "nodes": ["alloc a", "fill a", "free a", "alloc b"],
        "edges": [[0, 1], [1, 2], [2, 3]],
        "buffers": [
            { "name": "a", "bytes": 4096, "align": 512, "alloc": 0, "free": 2 },
            { "name": "b", "bytes": 1024, "alloc": 3 }
        ]
    }"#;

    #[test]
    fn files_are_read_and_written() {
        let graph = parse(FILE).unwrap();
        assert_eq!((graph.buffers[1].align, graph.buffers[1].free), (256, None));
        assert_eq!(parse(&serde_json::to_string(&graph).unwrap()).unwrap(), graph);
    }

    #[test]
    fn faults_name_the_line_or_the_field() {
        let fault = |from: &str, to: &str| {
            let text = FILE.replacen(from, to, 1);
            assert_ne!(text, FILE);
            let graph = parse(&text);
            match graph {
                Err(error) => error.to_string(),
                Ok(graph) => MemoryReport::of(&graph, Duration::ZERO).unwrap_err().to_string(),
            }
        };
        assert!(fault("4096", "-1").contains("line 5"));
        assert!(fault("\"bytes\": 4096, ", "").contains("missing field `bytes`"));
        assert!(fault("align", "alignment").contains("unknown field `alignment`"));
        assert!(fault("\"alloc\": 3", "\"alloc\": 4").starts_with("buffers[1].alloc: there is no node 4"));
        assert!(fault("\"free\": 2", "\"free\": 9").starts_with("buffers[0].free:"));
        assert!(fault("[2, 3]]", "[2, 7]]").starts_with("edges[2]: there is no node 7"));
        assert!(fault("[2, 3]]", "[2, 0]]").starts_with("edges: node 0 is part of"));
        assert!(fault("[0, 1], ", "").starts_with("buffers[0].free: "));
        assert!(fault("512", "500").starts_with("buffers[0].align:"));
        assert!(fault("1024", &u64::MAX.to_string()).starts_with("buffers[1].bytes:"));
        assert!(fault("}", "").contains("line"));
    }

    #[test]
    fn a_report_says_what_is_missing() {
        let graph = parse(FILE).unwrap();
        let report = MemoryReport::of(&graph, Duration::from_secs(20)).unwrap();
        assert_eq!((report.total(), report.plan.height, report.plan.is_optimal()), (5120, 4096, true));
        let text = report.to_string();
        assert!(text.contains("No plan needs less") && text.contains("freed by free a"), "{text}");

        let mut open = graph.clone();
        (open.edges, open.buffers[0].free) = (vec![(0, 1), (1, 2)], Some(2));
        let text = MemoryReport::of(&open, Duration::from_secs(20)).unwrap().to_string();
        assert!(text.contains("a, b: free a -> alloc b"), "{text}");
        assert!(text.contains("Missing free nodes"), "{text}");
    }

    #[test]
    fn reports_are_json_too() {
        let graph = parse(FILE).unwrap();
        let json = MemoryReport::of(&graph, Duration::from_secs(20)).unwrap().to_json();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&value["planned_bytes"], &value["optimal"]), (&4096.into(), &true.into()));
    }

    #[test]
    fn no_graph_is_none() {
        let nothing = parse(r#"{"nodes": [], "edges": [], "buffers": []}"#).unwrap();
        let report = MemoryReport::of(&nothing, Duration::ZERO).unwrap();
        assert_eq!((report.plan.height, report.to_string().contains("Missing")), (0, false));
    }
}
