//! Repeated measurements of one quantity, as long as a budget lasts.

use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time for each quantity of each graph.
    pub budget: Duration,
    /// Samples of each quantity even if they take more than that.
    pub least: usize,
    /// Samples of each quantity at most.
    pub most: usize,
    /// Time after which fewer than the least are enough.
    pub longest: Duration,
}

/// Repeats `once` as `effort` says, after a time that does not count unless it takes the longest by itself; the
/// samples are in the order of their making.
///
/// # Errors
/// The first error of `once`.
pub fn samples<const N: usize, E>(
    effort: Effort,
    mut once: impl FnMut() -> Result<[f64; N], E>,
) -> Result<[Vec<f64>; N], E> {
    let start = Instant::now();
    let first = once()?;
    if start.elapsed() > effort.longest {
        return Ok(first.map(|sample| vec![sample]));
    }
    let mut samples = [const { Vec::new() }; N];
    let start = Instant::now();
    loop {
        for (samples, sample) in samples.iter_mut().zip(once()?) {
            samples.push(sample);
        }
        let (made, taken) = (samples[0].len(), start.elapsed());
        let few = made < effort.least && taken < effort.longest;
        let more = made < effort.most && taken < effort.budget;
        if !few && !more {
            return Ok(samples);
        }
    }
}

/// Time since `start` in nanoseconds.
pub fn nanoseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORT: Effort = Effort { budget: Duration::ZERO, least: 3, most: 10, longest: Duration::MAX };

    fn numbers(effort: Effort) -> Vec<f64> {
        let mut made = 0.0;
        let counted = samples(effort, || {
            made += 1.0;
            Ok::<_, ()>([made])
        });
        counted.map(|[samples]| samples).unwrap_or_default()
    }

    #[test]
    fn the_first_time_does_not_count_and_the_least_is_made_without_a_budget() {
        assert_eq!(numbers(EFFORT), [2.0, 3.0, 4.0]);
    }

    #[test]
    fn no_budget_makes_more_than_the_most() {
        assert_eq!(numbers(Effort { budget: Duration::MAX, ..EFFORT }).len(), 10);
    }

    #[test]
    fn what_takes_longest_by_itself_is_done_once() {
        assert_eq!(numbers(Effort { longest: Duration::ZERO, ..EFFORT }), [1.0]);
    }

    #[test]
    fn an_error_ends_it() {
        assert_eq!(samples(EFFORT, || Err::<[f64; 1], _>("no")), Err("no"));
    }
}
