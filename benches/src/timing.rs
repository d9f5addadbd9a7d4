//! Medians of repeated measurements.

use std::time::{Duration, Instant};

/// Median and quartiles of a number of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The middle one.
    pub median: Duration,
    /// The lower and the upper quartile.
    pub quartiles: [Duration; 2],
}

/// Times `work` as often as `times` says, at least once.
///
/// # Errors
/// The first error of `work`.
pub fn measure<E>(times: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<Spread, E> {
    let mut taken = Vec::with_capacity(times.max(1));
    for _ in 0..times.max(1) {
        let start = Instant::now();
        work()?;
        taken.push(start.elapsed());
    }
    taken.sort_unstable();
    let [low, median, high] = quartiles(&taken);
    Ok(Spread { median, quartiles: [low, high] })
}

/// Lower quartile, median and upper quartile of measurements in ascending order.
///
/// # Panics
/// If there are none.
pub fn quartiles<T: Copy>(sorted: &[T]) -> [T; 3] {
    [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
}
