//! Shapes of graphs that launches are measured with.

/// How the nodes of a graph depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One chain.
    Straight,
    /// A root, then again and again 8 nodes behind the latest join and a join behind the 8.
    ForkJoin,
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
    pub const ALL: [Self; 7] = [
        Self::Straight,
        Self::ForkJoin,
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
            Self::Independent => "independent".into(),
            Self::Paths(width) => format!("paths{width}"),
            Self::Full(width) => format!("full{width}"),
        }
    }

    /// The nodes that node `node` depends on, all of them before it.
    pub fn dependencies(self, node: usize) -> std::ops::Range<usize> {
        match self {
            Self::Straight => node.saturating_sub(1)..node,
            Self::ForkJoin => {
                let Some(behind_root) = node.checked_sub(1) else { return 0..0 };
                let stage = behind_root / (FORK + 1) * (FORK + 1);
                if behind_root - stage < FORK { stage..stage + 1 } else { node - FORK..node }
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(shape: Shape, nodes: usize) -> usize {
        (0..nodes).map(|node| shape.dependencies(node).len()).sum()
    }

    #[test]
    fn dependencies_come_before_their_node() {
        for shape in Shape::ALL {
            for node in 0..200 {
                assert!(shape.dependencies(node).all(|before| before < node), "{shape:?} {node}");
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
    fn a_fork_starts_at_the_latest_join() {
        assert_eq!(Shape::ForkJoin.dependencies(0), 0..0);
        assert_eq!(Shape::ForkJoin.dependencies(8), 0..1);
        assert_eq!(Shape::ForkJoin.dependencies(9), 1..9);
        assert_eq!(Shape::ForkJoin.dependencies(10), 9..10);
    }
}
