//! Graphs whose nodes each make a buffer, which lives until all nodes that read it are over.

use aqlipse_cli::offsets::{Buffer, Problem};

use super::random::Random;

/// Nodes in an order that respects the edges.
pub struct Dag {
    bytes: Vec<u64>,
    /// Whose buffers each node reads.
    reads: Vec<Vec<usize>>,
    random: Random,
}

type Family = (&'static str, fn(u64) -> Dag);

impl Dag {
    pub const FAMILIES: [Family; 6] = [
        ("fork-join", Self::fork_join),
        ("tree in", Self::tree_in),
        ("tree out", Self::tree_out),
        ("ring", Self::ring),
        ("layered", Self::layered),
        ("transformer", Self::transformer),
    ];

    fn new(seed: u64) -> Self {
        Self { bytes: Vec::new(), reads: Vec::new(), random: Random::new(seed) }
    }

    /// 256 bytes to 1 MiB, small ones as often as large ones.
    fn any_bytes(&mut self) -> u64 {
        let top = 256u64 << self.random.below(12);
        (top + self.random.below(top)).next_multiple_of(256)
    }

    fn add(&mut self, bytes: u64, reads: &[usize]) -> usize {
        let mut reads = reads.to_vec();
        reads.sort_unstable();
        reads.dedup();
        self.bytes.push(bytes);
        self.reads.push(reads);
        self.bytes.len() - 1
    }

    fn any(&mut self, reads: &[usize]) -> usize {
        let bytes = self.any_bytes();
        self.add(bytes, reads)
    }

    /// Six times twelve branches of three nodes.
    fn fork_join(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let mut root = dag.any(&[]);
        for _ in 0..6 {
            let ends: Vec<usize> =
                (0..12).map(|_| (0..3).fold(root, |before, _| dag.any(&[before]))).collect();
            root = dag.any(&ends);
        }
        dag
    }

    fn tree_in(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let mut row: Vec<usize> = (0..128).map(|_| dag.any(&[])).collect();
        while row.len() > 1 {
            row = row.chunks(2).map(|pair| dag.any(pair)).collect();
        }
        dag
    }

    fn tree_out(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let mut row = vec![dag.any(&[])];
        for _ in 0..7 {
            row = row.iter().flat_map(|&parent| [parent; 2]).map(|parent| dag.any(&[parent])).collect();
        }
        dag.any(&row);
        dag
    }

    /// Twelve ranks that pass blocks to their neighbours, twice around.
    fn ring(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let ranks = 12;
        let mut row: Vec<usize> = (0..ranks).map(|_| dag.any(&[])).collect();
        for _ in 0..2 * (ranks - 1) {
            row = (0..ranks).map(|rank| dag.any(&[row[rank], row[(rank + ranks - 1) % ranks]])).collect();
        }
        dag
    }

    /// Twenty layers of twelve, each node behind one to three of the layer before.
    fn layered(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let mut row: Vec<usize> = (0..12).map(|_| dag.any(&[])).collect();
        for _ in 1..20 {
            let layer = row.clone();
            row = (0..12)
                .map(|_| {
                    let count = 1 + dag.random.below(3);
                    let reads: Vec<usize> =
                        (0..count).map(|_| layer[dag.random.below(12) as usize]).collect();
                    dag.any(&reads)
                })
                .collect();
        }
        dag
    }

    /// Four blocks of attention with eight heads, and a feed-forward network; the seed is their length.
    fn transformer(seed: u64) -> Self {
        let mut dag = Self::new(seed);
        let (tokens, width, heads) = (64 * (1 + seed), 768, 8);
        let state = tokens * width * 2;
        let head = state / heads;
        let mut stream = dag.add(state, &[]);
        for _ in 0..4 {
            let norm = dag.add(state, &[stream]);
            let parts: Vec<usize> = (0..heads)
                .map(|_| {
                    let [query, key, value] = [(); 3].map(|()| dag.add(head, &[norm]));
                    let scores = dag.add(tokens * tokens * 2, &[query, key]);
                    let weights = dag.add(tokens * tokens * 2, &[scores]);
                    dag.add(head, &[weights, value])
                })
                .collect();
            let out = dag.add(state, &parts);
            let sum = dag.add(state, &[stream, out]);
            let norm = dag.add(state, &[sum]);
            let wide = dag.add(4 * state, &[norm]);
            let active = dag.add(4 * state, &[wide]);
            let narrow = dag.add(state, &[active]);
            stream = dag.add(state, &[sum, narrow]);
        }
        dag
    }

    /// A buffer is over when all that read it come before what makes another; one that no step reads is a result.
    pub fn problem(&self) -> Problem {
        let n = self.bytes.len();
        let mut readers = vec![Vec::new(); n];
        let mut behind = vec![vec![false; n]; n];
        for (node, reads) in self.reads.iter().enumerate() {
            for &read in reads {
                readers[read].push(node);
                let further = behind[read].clone();
                behind[node].iter_mut().zip(further).for_each(|(here, there)| *here |= there);
                behind[node][read] = true;
            }
        }
        let buffers: Vec<Buffer> = self.bytes.iter().map(|&bytes| Buffer { bytes, align: 256 }).collect();
        let before =
            |a: usize, b: usize| !readers[a].is_empty() && readers[a].iter().all(|&node| behind[b][node]);
        Problem::of_order(&buffers, before).expect("a problem")
    }
}
