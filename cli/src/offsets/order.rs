//! By what a search tries buffers first.

use super::{race::Race, random::Random, rank::Rank};

/// How far keys are blurred that are no mixture.
const PURE_NOISE: f64 = 0.03;

/// By what buffers are tried first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    By(Rank),
    /// The longest life; of those that are as short, what is in the fullest cliques.
    Long,
    /// Bytes times trouble.
    Large,
    /// The lowest in the best plan, blurred so far.
    Known(f64),
}

/// The cliques of a problem when a search begins.
pub(super) struct Cliques<'a> {
    /// How much trouble each has made.
    pub trouble: &'a [f64],
    /// The bytes of each.
    pub bytes: &'a [u64],
    /// The height that is searched for.
    pub height: u64,
}

impl Order {
    /// The place of each buffer in this order: the first is 0.
    pub fn ranks(self, race: &Race, cliques: Cliques, random: &mut Random, ranks: &mut [u32]) {
        let (problem, height) = (race.problem, cliques.height.max(1) as f64);
        let mut known = Vec::new();
        let (noise, weights) = match self {
            Self::By(rank) => {
                (rank.noise, cliques.trouble.iter().map(|&trouble| rank.weight(trouble)).collect())
            }
            Self::Large => (PURE_NOISE, cliques.trouble.to_vec()),
            Self::Long => (PURE_NOISE, vec![1.0; cliques.trouble.len()]),
            Self::Known(noise) => {
                race.copy_best(&mut known);
                (noise, vec![1.0; cliques.trouble.len()])
            }
        };
        let mut keys = Vec::with_capacity(problem.len());
        for (i, of) in problem.cliques_of.iter().enumerate() {
            let of = || of.iter().map(|&t| t as usize);
            let breadth = of().map(|t| weights[t]).sum::<f64>() / weights.len().max(1) as f64;
            let bytes = problem.buffers[i].bytes as f64 / height;
            let key = match self {
                Self::By(rank) => rank.key(breadth, bytes),
                Self::Long => {
                    let fullest = of().map(|t| cliques.bytes[t]).max().unwrap_or(0) as f64 / height;
                    breadth * 1e3 + fullest * 10.0 + breadth * bytes
                }
                Self::Large => breadth * bytes,
                Self::Known(_) => 2.0 - known[i] as f64 / height,
            };
            keys.push((key * (1.0 + noise * random.part()), i));
        }
        keys.sort_by(|a, b| b.0.total_cmp(&a.0));
        // CAST: a problem numbers its buffers so.
        keys.iter().enumerate().for_each(|(rank, &(_, i))| ranks[i] = rank as u32);
    }
}
