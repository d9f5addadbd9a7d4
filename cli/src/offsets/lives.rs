//! Lives of buffers that nodes of a graph allocate and free, and what is over before what.

use aqlipse_graph::antichain::bits::Bits;

use super::buffer::ProblemError;
use aqlipse_graph::Csr;

/// From where to where in a graph a buffer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Life {
    /// The node that allocates it.
    pub alloc: u32,
    /// The node that frees it; `None` if it outlives the graph.
    pub free: Option<u32>,
}

/// How the lives of buffers in a graph stand to each other.
pub(super) struct Relations {
    /// For each buffer, those that are allocated behind the node that frees it.
    pub follows: Vec<Bits>,
    /// For each buffer, those whose allocation the node that frees it waits for, or is.
    pub begun: Vec<Bits>,
}

/// What lies behind a node, or before it.
#[derive(Clone, Default)]
struct Seen {
    /// Buffers that nodes before it free.
    over: Bits,
    /// Buffers that it or nodes before it allocate.
    begun: Bits,
}

impl Relations {
    /// # Errors
    /// [`ProblemError::NoNode`], [`ProblemError::Cycle`] and [`ProblemError::Free`].
    pub fn new(lives: &[Life], dependencies: &Csr) -> Result<Self, ProblemError> {
        let (n, nodes) = (lives.len(), dependencies.len());
        let exists = |node: u32| match (node as usize) < nodes {
            true => Ok(()),
            false => Err(ProblemError::NoNode { node, nodes }),
        };
        for life in lives {
            exists(life.alloc)?;
            life.free.map_or(Ok(()), exists)?;
        }
        let order = topological(dependencies)?;
        let (mut allocates, mut frees) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (i, life) in lives.iter().enumerate() {
            allocates[life.alloc as usize].push(i);
            if let Some(node) = life.free {
                frees[node as usize].push(i);
            }
        }
        let mut waiting = vec![0u32; nodes];
        for node in 0..nodes as u32 {
            dependencies.row(node).iter().for_each(|&before| waiting[before as usize] += 1);
        }
        let mut relations = Self { follows: vec![Bits::new(n); n], begun: vec![Bits::new(n); n] };
        let mut seen: Vec<Option<Seen>> = vec![None; nodes];
        for node in order {
            let mut here = Seen { over: Bits::new(n), begun: Bits::new(n) };
            for &before in dependencies.row(node) {
                let before = before as usize;
                // PANIC: it came before, and is kept until the last one that waits for it has looked.
                let other = seen[before].as_ref().expect("what nodes before it have seen");
                here.over.unite(&other.over);
                here.begun.unite(&other.begun);
                frees[before].iter().for_each(|&i| here.over.insert(i));
                waiting[before] -= 1;
                if waiting[before] == 0 {
                    seen[before] = None;
                }
            }
            for &i in &allocates[node as usize] {
                here.begun.insert(i);
                here.over.iter().filter(|&a| a != i).for_each(|a| relations.follows[a].insert(i));
            }
            for &i in &frees[node as usize] {
                relations.begun[i] = here.begun.clone();
            }
            if waiting[node as usize] > 0 {
                seen[node as usize] = Some(here);
            }
        }
        let early = |&i: &usize| lives[i].free.is_some() && !relations.begun[i].contains(i);
        match (0..n).find(early) {
            Some(buffer) => Err(ProblemError::Free { buffer }),
            None => Ok(relations),
        }
    }
}

/// The nodes, each behind those that it waits for.
pub fn topological(dependencies: &Csr) -> Result<Vec<u32>, ProblemError> {
    let nodes = dependencies.len();
    let all = 0..nodes as u32;
    if let Some(&node) =
        all.clone().flat_map(|node| dependencies.row(node)).find(|&&node| node as usize >= nodes)
    {
        return Err(ProblemError::NoNode { node, nodes });
    }
    let successors = dependencies.transposed();
    let mut left: Vec<usize> = all.clone().map(|node| dependencies.row(node).len()).collect();
    let mut order: Vec<u32> = all.filter(|&node| left[node as usize] == 0).collect();
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for &next in successors.row(node) {
            left[next as usize] -= 1;
            if left[next as usize] == 0 {
                order.push(next);
            }
        }
    }
    match left.iter().position(|&left| left > 0) {
        // CAST: a node.
        Some(node) => Err(ProblemError::Cycle { node: node as u32 }),
        None => Ok(order),
    }
}
