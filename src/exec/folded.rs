//! A graph whose blocks repeat as Graphviz sees it: each block once, with how many times it is there.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use crate::graph::blocks::Block;

/// Writes the graph in the DOT language. `label` says what a node is; edges are pairs of nodes.
///
/// An edge between a time of a block and the next one is dashed.
pub(super) fn dot(
    title: &str,
    nodes: u32,
    label: impl Fn(u32) -> String,
    edges: &[(u32, u32)],
    blocks: &[Block],
) -> String {
    let block = |node: u32| blocks.iter().find(|block| block.shown(node).is_some());
    let shown = |node: u32| block(node).and_then(|block| block.shown(node)).unwrap_or(node);
    let line = |node: u32| format!("{node} [label={}];\n", quoted(&label(node)));
    let mut text = format!("digraph {} {{\n", quoted(title));
    text += "  node [shape=box, fontname=\"monospace\", fontsize=10];\n";
    for node in (0..nodes).filter(|node| block(*node).is_none()) {
        text += &format!("  {}", line(node));
    }
    for (number, block) in blocks.iter().enumerate() {
        text += &format!("  subgraph \"cluster {number}\" {{\n");
        text += &format!("    label=\"{} times\"; fontname=\"monospace\"; fontsize=10;\n", block.times);
        for node in block.first..block.first + block.nodes {
            text += &format!("    {}", line(node));
        }
        text += "  }\n";
    }
    let leads_on = |from: u32, to: u32| {
        let time = |block: &Block, node: u32| (node - block.first) / block.nodes;
        block(from).is_some_and(|block| block.shown(to).is_some() && time(block, from) != time(block, to))
    };
    let drawn: BTreeSet<_> =
        edges.iter().map(|&(from, to)| (shown(from), shown(to), leads_on(from, to))).collect();
    for (from, to, leads_on) in drawn {
        let style = if leads_on { " [style=dashed, constraint=false]" } else { "" };
        text += &format!("  {from} -> {to}{style};\n");
    }
    text + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_drawn_once() {
        let blocks = [Block { first: 1, nodes: 2, times: 3 }];
        let edges: Vec<_> = (0..7).map(|node| (node, node + 1)).collect();
        let expected = "\
digraph \"graph 1\" {
  node [shape=box, fontname=\"monospace\", fontsize=10];
  0 [label=\"node \\\"0\\\"\"];
  7 [label=\"node \\\"7\\\"\"];
  subgraph \"cluster 0\" {
    label=\"3 times\"; fontname=\"monospace\"; fontsize=10;
    1 [label=\"node \\\"1\\\"\"];
    2 [label=\"node \\\"2\\\"\"];
  }
  0 -> 1;
  1 -> 2;
  2 -> 1 [style=dashed, constraint=false];
  2 -> 7;
}
";
        assert_eq!(dot("graph 1", 8, |node| format!("node \"{node}\""), &edges, &blocks), expected);
    }
}
