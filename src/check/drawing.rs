//! The graph that a finding is about, in the DOT language, with its nodes marked.

#![forbid(unsafe_code)]

use std::{
    fs, io,
    path::PathBuf,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// An executable's graph, where graphs are written to files.
pub(crate) struct Drawing {
    pub folder: PathBuf,
    /// The graph when it was made executable.
    pub dot: String,
}

/// An edge that a finding is about, by the names of its nodes.
#[derive(Clone, Copy)]
pub(super) enum Marked<'a> {
    Missing(&'a str, &'a str),
    Needless(&'a str, &'a str),
}

impl Drawing {
    /// Writes the graph with some nodes marked, and an edge; returns the name of the file. That it cannot is said in the log.
    pub(super) fn write(&self, executable: u64, nodes: &[&str], edge: Option<Marked<'_>>) -> Option<String> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{executable}-check-{number}.dot", process::id());
        let written: io::Result<()> = fs::write(self.folder.join(&name), marked(&self.dot, nodes, edge));
        written
            .inspect_err(|error| tracing::error!("{}: {error}", self.folder.join(&name).display()))
            .ok()
            .map(|()| name)
    }
}

/// A graph with marks: what is said of a node again adds to what was said before.
fn marked(dot: &str, nodes: &[&str], edge: Option<Marked<'_>>) -> String {
    const STYLE: &str = "color=red, fontcolor=red, penwidth=3";
    let mut more: String = nodes.iter().map(|node| format!("  \"{node}\" [{STYLE}];\n")).collect();
    let mut text = String::with_capacity(dot.len() + 256);
    let (from, to, label) = match edge {
        None => ("", "", ""),
        Some(Marked::Missing(from, to)) => (from, to, "missing"),
        Some(Marked::Needless(from, to)) => (from, to, "needless"),
    };
    let arrow = format!("\"{from}\" -> \"{to}\"");
    let style = format!(" [{STYLE}, style=dashed, label=\"{label}\"];\n");
    let mut is_there = edge.is_none();
    for line in dot.trim_end().trim_end_matches('}').lines() {
        match line.strip_suffix(';') {
            // To say an edge again would add one.
            Some(said) if edge.is_some() && said.trim_start().starts_with(&arrow) => {
                is_there = true;
                text.extend([said, &style]);
            }
            _ => text.extend([line, "\n"]),
        }
    }
    if !is_there {
        more.extend(["  ", &arrow, &style]);
    }
    text + &more + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOT: &str = "digraph \"graph 1\" {\n  subgraph \"cluster 1\" {\n    \"1.0\" [shape=box];\n    \"1.1\" [shape=box];\n    \
                       \"1.0\" -> \"1.1\" [lhead=\"cluster 2\"];\n  }\n}\n";

    #[test]
    fn an_edge_that_is_missing_is_added_and_one_that_is_there_is_marked() {
        let text = marked(DOT, &["1.0", "1.1"], Some(Marked::Needless("1.0", "1.1")));
        assert_eq!(text.matches("->").count(), 1, "{text}");
        assert!(
            text.contains("[lhead=\"cluster 2\"] [color=red") && text.contains("label=\"needless\""),
            "{text}"
        );
        assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
        let text = marked(DOT, &["1.0", "1.1"], Some(Marked::Missing("1.1", "1.0")));
        assert!(text.contains("  \"1.1\" -> \"1.0\" [color=red"), "{text}");
        assert!(text.contains("\n  \"1.1\" [color=red") && text.ends_with(";\n}\n"), "{text}");
        assert!(marked(DOT, &["1.1"], None).matches("->").count() == 1);
    }
}
