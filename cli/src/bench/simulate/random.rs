//! Random graphs, the same for the same seed.

use super::workload::{Builder, Workload};

/// How a graph is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Family {
    /// Layers, each kernel behind one to three of the layer before and sometimes one further back.
    Layers,
    /// Kernels behind up to three of those listed shortly before.
    Dag,
    /// Branches of one to four kernels behind a fork and before a join, again and again.
    ForkJoin,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Layers, Self::Dag, Self::ForkJoin];

    /// What its graphs are.
    pub fn name(self) -> &'static str {
        match self {
            Self::Layers => "random layers",
            Self::Dag => "random DAGs",
            Self::ForkJoin => "random fork-joins",
        }
    }

    /// A graph of kernels of random durations.
    pub fn workload(self, seed: u64) -> Workload {
        let mut random = Random(seed);
        let builder = match self {
            Self::Layers => layers(&mut random, if seed.is_multiple_of(2) { 30 } else { 200 }),
            Self::Dag => dag(&mut random, widest(seed)),
            Self::ForkJoin => fork_join(&mut random, widest(seed)),
        };
        builder.build(format!("{}, seed {seed}", self.name()))
    }
}

/// The most compute units that a kernel takes: so few that none ever waits for them, some, or many.
fn widest(seed: u64) -> u32 {
    [1, 30, 200][(seed % 3) as usize]
}

/// A linear congruential generator. Our own, since the tables of `bench --simulate` are compared between releases.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    /// One of some nodes.
    fn of(&mut self, nodes: &[u32]) -> u32 {
        nodes[self.below(nodes.len() as u32) as usize]
    }
}

/// Adds a kernel of 2 to 128 us, short ones more often.
fn kernel(builder: &mut Builder, random: &mut Random, widest: u32, mut after: Vec<u32>) -> u32 {
    after.sort_unstable();
    after.dedup();
    let us = 1 << (1 + random.below(7));
    builder.kernel(us, 1 + random.below(widest), &after)
}

fn layers(random: &mut Random, widest: u32) -> Builder {
    let mut builder = Builder::default();
    let mut layers: Vec<Vec<u32>> = Vec::new();
    for layer in 0..24 {
        let mut nodes = Vec::new();
        for _ in 0..1 + random.below(8) {
            let mut after = Vec::new();
            if layer > 0 {
                after.extend((0..1 + random.below(3)).map(|_| random.of(&layers[layer - 1])));
                if random.below(4) == 0 {
                    let further = random.below(layer as u32) as usize;
                    after.push(random.of(&layers[further]));
                }
            }
            nodes.push(kernel(&mut builder, random, widest, after));
        }
        layers.push(nodes);
    }
    builder
}

fn dag(random: &mut Random, widest: u32) -> Builder {
    let mut builder = Builder::default();
    let (kernels, reach) = (2 + random.below(200), 1 + random.below(40));
    for node in 0..kernels {
        let edges = if node > 0 { random.below(4) } else { 0 };
        let after = (0..edges).map(|_| node - 1 - random.below(reach.min(node))).collect();
        kernel(&mut builder, random, widest, after);
    }
    builder
}

fn fork_join(random: &mut Random, widest: u32) -> Builder {
    let mut builder = Builder::default();
    let mut ends: Vec<u32> = Vec::new();
    for _ in 0..1 + random.below(10) {
        let fork = kernel(&mut builder, random, widest, std::mem::take(&mut ends));
        for _ in 0..1 + random.below(9) {
            let mut end = fork;
            for _ in 0..1 + random.below(4) {
                end = kernel(&mut builder, random, widest, vec![end]);
            }
            ends.push(end);
        }
    }
    kernel(&mut builder, random, widest, ends);
    builder
}
