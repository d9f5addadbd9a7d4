//! Which buffers searches try first: what has a long life, or is large, or both.
//!
//! Which of them leads to the end differs from problem to problem by more than ten times, and a try with the same order
//! does the same again. So each try mixes them anew, or changes the mixture that got the furthest a little.

use super::random::Random;

/// How breadth (the part of the cliques that a buffer is in, by their weights) and bytes (the part of the height that it
/// takes) make one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rank {
    /// Whether they are added, or multiplied.
    added: bool,
    /// From 0 to 1: what bytes weigh beside breadth.
    bytes: f64,
    /// From 0 to 1: what the trouble of cliques weighs.
    trouble: f64,
    /// How far keys are blurred.
    pub noise: f64,
}

/// How far keys are blurred at most.
const NOISE: f64 = 0.3;
/// How far a mixture moves when it is changed.
const STEP: f64 = 0.2;

impl Rank {
    /// Long lives first.
    pub const LONG: Self = Self { added: false, bytes: 0.0, trouble: 0.0, noise: 0.03 };

    /// Any.
    pub fn any(random: &mut Random) -> Self {
        Self {
            added: random.part() < 0.5,
            bytes: random.part(),
            trouble: (2.0 * random.part() - 1.0).max(0.0),
            noise: NOISE * random.part().powi(3),
        }
    }

    /// One for which long lives and many bytes count about alike: what a buffer takes of the lives and of the height is
    /// added.
    pub fn even(random: &mut Random) -> Self {
        let bytes = 0.5 + STEP * (random.part() - 0.5);
        Self { added: true, bytes, trouble: 0.0, noise: NOISE * random.part().powi(3) }
    }

    /// One that is near.
    pub fn near(self, random: &mut Random) -> Self {
        let mut step = |part: f64| (part + STEP * (random.part() - 0.5)).clamp(0.0, 1.0);
        let (bytes, trouble) = (step(self.bytes), step(self.trouble));
        Self { bytes, trouble, noise: NOISE * random.part().powi(3), ..self }
    }

    /// What a clique counts that made this trouble (1 is none).
    pub fn weight(self, trouble: f64) -> f64 {
        trouble.powf(self.trouble)
    }

    /// The key of a buffer: those with higher ones are tried first.
    pub fn key(self, breadth: f64, bytes: f64) -> f64 {
        match self.added {
            true => breadth + bytes * 10.0f64.powf(2.0 * self.bytes - 1.0),
            false => breadth * bytes.powf(self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixtures_stay_between_long_lives_and_many_bytes() {
        let mut random = Random::new(1);
        let mut rank = Rank::LONG;
        for _ in 0..200 {
            rank = if random.part() < 0.1 { Rank::any(&mut random) } else { rank.near(&mut random) };
            assert!((0.0..=1.0).contains(&rank.bytes) && (0.0..=1.0).contains(&rank.trouble));
            assert!(rank.key(0.5, 0.5) > rank.key(0.4, 0.4), "{rank:?}");
            assert!(rank.weight(2.0) >= rank.weight(1.0), "{rank:?}");
        }
        assert!(Rank::LONG.key(0.5, 0.01) > Rank::LONG.key(0.4, 0.9));
    }
}
