//! Why a graph needs as many bytes as it does.

use std::cmp::Reverse;

use super::{
    buffer::ProblemError,
    lives::{Life, Relations},
    problem::Problem,
};
use aqlipse_graph::Csr;

/// Two buffers of the peak that could share bytes if the graph had one more edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEdge {
    /// The buffer that would be over first.
    pub first: usize,
    /// The buffer that could begin in its place.
    pub second: usize,
    /// Where the edge would begin: the node that frees the first one.
    pub from: u32,
    /// Where it would end: the node that allocates the second one.
    pub to: u32,
    /// How many bytes they could share.
    pub bytes: u64,
}

/// What keeps buffers of the peak from sharing bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The buffers whose sum is the lower bound, the largest first.
    pub peak: Vec<usize>,
    /// Those of them that no node frees: nothing in the graph can come behind them.
    pub never_freed: Vec<usize>,
    /// Pairs of them that nothing but a missing edge keeps apart, the most bytes first. Where an edge would do in either
    /// direction, the one that lets the buffer with the smaller number go first.
    pub edges: Vec<MissingEdge>,
}

/// Says what keeps buffers of the peak of a problem from sharing bytes. The problem is that of the same lives and nodes.
///
/// Of two buffers that are alive together, an edge from where one is freed to where the other is allocated lets the
/// second have the bytes of the first, unless it would close a circle: then they are needed at once.
///
/// # Errors
/// As [`Problem::of_graph`].
pub fn explain(problem: &Problem, lives: &[Life], dependencies: &Csr) -> Result<Explanation, ProblemError> {
    if problem.len() != lives.len() {
        return Err(ProblemError::Lives { buffers: problem.len(), lives: lives.len() });
    }
    let begun = Relations::new(lives, dependencies)?.begun;
    let bytes = |i: usize| problem.buffers()[i].bytes;
    let mut peak: Vec<usize> = problem.peak().collect();
    peak.sort_by_key(|&i| (Reverse(bytes(i)), i));
    let edge = |first: usize, second: usize| {
        let from = lives[first].free?;
        let edge = MissingEdge {
            first,
            second,
            from,
            to: lives[second].alloc,
            bytes: bytes(first).min(bytes(second)),
        };
        (!begun[first].contains(second)).then_some(edge)
    };
    let mut edges = Vec::new();
    for (at, &a) in peak.iter().enumerate() {
        for &b in &peak[at + 1..] {
            let (low, high) = (a.min(b), a.max(b));
            edges.extend(edge(low, high).or_else(|| edge(high, low)));
        }
    }
    edges.sort_by_key(|edge| (Reverse(edge.bytes), edge.first, edge.second));
    let never_freed = peak.iter().copied().filter(|&i| lives[i].free.is_none()).collect();
    Ok(Explanation { peak, never_freed, edges })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offsets::Buffer;

    /// Two branches that allocate (0, 3), use (1, 4) and free (2, 5), and a third buffer that node 0 allocates as well.
    fn branches(edges: &[(u32, u32)], free_of_third: Option<u32>) -> Explanation {
        let mut pairs = vec![(1, 0), (2, 1), (4, 3), (5, 4)];
        pairs.extend(edges.iter().map(|&(from, to)| (to, from)));
        let dependencies = Csr::from_pairs(6, pairs.iter().copied());
        let lives = [
            Life { alloc: 0, free: Some(2) },
            Life { alloc: 3, free: Some(5) },
            Life { alloc: 0, free: free_of_third },
        ];
        let buffers = [40, 30, 20].map(|bytes| Buffer { bytes, align: 1 });
        let problem = Problem::of_graph(&buffers, &lives, &dependencies).unwrap();
        explain(&problem, &lives, &dependencies).unwrap()
    }

    #[test]
    fn branches_that_could_follow_each_other_miss_an_edge() {
        let all = branches(&[], Some(2));
        assert_eq!((all.peak, all.never_freed), (vec![0, 1, 2], vec![]));
        let edge = |first, second, from, to, bytes| MissingEdge { first, second, from, to, bytes };
        // The first and the third are allocated by one node: no edge parts them.
        assert_eq!(all.edges, [edge(0, 1, 2, 3, 30), edge(1, 2, 5, 0, 20)]);
    }

    #[test]
    fn an_edge_that_would_close_a_circle_is_not_missing() {
        // The second branch's use needs the first one's memory to be there, so only the other direction is left.
        let crossed = branches(&[(3, 1)], Some(2));
        assert_eq!(crossed.edges.iter().map(|edge| (edge.from, edge.to)).collect::<Vec<_>>(), [(5, 0); 2]);
        assert_eq!(branches(&[(3, 1), (0, 4)], Some(2)).edges, []);
    }

    #[test]
    fn what_nobody_frees_is_said() {
        let kept = branches(&[(2, 3)], None);
        // The first is over when the second begins, but the third stays.
        assert_eq!((kept.peak, kept.never_freed, kept.edges.len()), (vec![0, 2], vec![2], 0));
    }
}
