//! Shapes of graphs that launches are measured with.

use std::{ops::Range, str::FromStr};

/// How the nodes of a graph depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One chain.
    Straight,
    /// A root, then again and again 8 nodes behind the latest join and a join behind the 8.
    ForkJoin,
    /// A root, this many chains behind it, and a join behind the chains.
    Branches(usize),
    /// No dependencies.
    Independent,
    /// This many chains, which share nothing.
    Paths(usize),
    /// Layers of this many nodes, each behind all nodes of the layer before.
    Full(usize),
}

/// Nodes between a fork and its join.
const FORK: usize = 8;

impl Shape {
    /// All shapes in the order in which they are printed.
    pub const ALL: [Self; 8] = [
        Self::Straight,
        Self::ForkJoin,
        Self::Branches(FORK),
        Self::Independent,
        Self::Paths(2),
        Self::Paths(4),
        Self::Full(2),
        Self::Full(4),
    ];

    /// The shape's name in tables and filters.
    pub fn name(self) -> String {
        match self {
            Self::Straight => "straight".into(),
            Self::ForkJoin => format!("forkjoin{FORK}"),
            Self::Branches(width) => format!("branches{width}"),
            Self::Independent => "independent".into(),
            Self::Paths(width) => format!("paths{width}"),
            Self::Full(width) => format!("full{width}"),
        }
    }

    /// What the shape is, in words.
    pub fn title(self) -> String {
        match self {
            Self::Straight => "chain".into(),
            Self::ForkJoin => format!("fork-join after fork-join, {FORK} nodes wide"),
            Self::Branches(width) => format!("one fork-join of {width} chains"),
            Self::Independent => "independent nodes".into(),
            Self::Paths(width) => format!("{width} separate chains"),
            Self::Full(width) => format!("layers of {width}, each behind all of the layer before"),
        }
    }

    /// The nodes that node `node` of a graph of `nodes` depends on, all of them before it.
    pub fn dependencies(self, node: usize, nodes: usize) -> Range<usize> {
        match self {
            Self::Straight => node.saturating_sub(1)..node,
            Self::ForkJoin => {
                let Some(behind_root) = node.checked_sub(1) else { return 0..0 };
                let stage = behind_root / (FORK + 1) * (FORK + 1);
                if behind_root - stage < FORK { stage..stage + 1 } else { node - FORK..node }
            }
            Self::Branches(width) => match node {
                0 => 0..0,
                _ if node + 1 == nodes => node.saturating_sub(width).max(1).min(node - 1)..node,
                _ if node <= width => 0..1,
                _ => node - width..node - width + 1,
            },
            Self::Independent => 0..0,
            Self::Paths(width) => match node.checked_sub(width) {
                Some(before) => before..before + 1,
                None => 0..0,
            },
            Self::Full(width) => {
                let layer = node / width * width;
                layer.saturating_sub(width)..layer
            }
        }
    }
}

impl Shape {
    /// Checks when the nodes of a graph ran: each once, in steps from `first` on, and behind all that it
    /// depends on.
    ///
    /// # Errors
    /// What a node did wrong.
    pub fn check(self, when: &[u32], first: usize) -> Result<(), &'static str> {
        let mut sorted = when.to_vec();
        sorted.sort_unstable();
        if !sorted.iter().map(|&step| step as usize).eq(first..first + when.len()) {
            return Err("a node did not run exactly once");
        }
        let early =
            |&node: &usize| self.dependencies(node, when.len()).any(|before| when[before] > when[node]);
        if (0..when.len()).any(|node| early(&node)) {
            return Err("a node ran before one that it depends on");
        }
        Ok(())
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|shape| shape.name() == name)
            .ok_or_else(|| format!("no shape `{name}`; there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(shape: Shape, nodes: usize) -> usize {
        (0..nodes).map(|node| shape.dependencies(node, nodes).len()).sum()
    }

    #[test]
    fn a_shape_is_found_by_its_name() {
        for shape in Shape::ALL {
            assert_eq!(shape.name().parse(), Ok(shape));
        }
        assert!("round".parse::<Shape>().is_err_and(|error| error.contains("independent")));
    }

    #[test]
    fn a_join_closes_all_branches() {
        let branches = Shape::Branches(8);
        assert_eq!(edges(branches, 130), 8 + 8 * 15 + 8);
        assert_eq!(branches.dependencies(1, 130), 0..1);
        assert_eq!(branches.dependencies(9, 130), 1..2);
        assert_eq!(branches.dependencies(129, 130), 121..129);
        // With fewer nodes than branches the join closes those that there are.
        assert_eq!(branches.dependencies(3, 4), 1..3);
        assert_eq!(branches.dependencies(1, 2), 0..1);
        assert_eq!(branches.dependencies(0, 1), 0..0);
    }

    #[test]
    fn dependencies_come_before_their_node() {
        for shape in Shape::ALL {
            for node in 0..200 {
                assert!(shape.dependencies(node, 200).all(|before| before < node), "{shape:?} {node}");
            }
        }
    }

    #[test]
    fn edges_are_as_many_as_the_shape_has() {
        assert_eq!(edges(Shape::Straight, 64), 63);
        // 16 stages of 8 nodes behind a join, and a join behind the 8.
        assert_eq!(edges(Shape::ForkJoin, 145), 16 * 16);
        assert_eq!(edges(Shape::Independent, 64), 0);
        assert_eq!(edges(Shape::Paths(4), 64), 60);
        assert_eq!(edges(Shape::Full(4), 64), 15 * 16);
    }

    #[test]
    fn a_node_that_ran_early_or_twice_or_not_is_found() {
        let join = Shape::Branches(2);
        assert_eq!(join.check(&[5, 7, 6, 8], 5), Ok(()));
        assert!(join.check(&[5, 7, 8, 6], 5).is_err_and(|what| what.contains("before")));
        assert!(join.check(&[5, 6, 6, 8], 5).is_err_and(|what| what.contains("once")));
        assert!(join.check(&[5, 6, 0, 7], 5).is_err_and(|what| what.contains("once")));
        assert!(join.check(&[6, 7, 8, 9], 5).is_err_and(|what| what.contains("once")));
    }

    #[test]
    fn a_fork_starts_at_the_latest_join() {
        assert_eq!(Shape::ForkJoin.dependencies(0, 100), 0..0);
        assert_eq!(Shape::ForkJoin.dependencies(8, 100), 0..1);
        assert_eq!(Shape::ForkJoin.dependencies(9, 100), 1..9);
        assert_eq!(Shape::ForkJoin.dependencies(10, 100), 9..10);
    }
}
