//! How much of buffers there is at once.

use super::{bits::Bits, bound};

/// Bytes of the heaviest set of buffers of which none is `before` another: of so much there is no plan with less.
pub fn peak(bytes: &[u64], before: impl Fn(usize, usize) -> bool) -> u64 {
    let n = bytes.len();
    let mut follows = vec![Bits::new(n); n];
    for (a, follows) in follows.iter_mut().enumerate() {
        (0..n).filter(|&b| a != b && before(a, b)).for_each(|b| follows.insert(b));
    }
    bound::antichain(bytes, &follows).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_that_of_buffers_that_are_not_ordered() {
        assert_eq!(peak(&[], |_, _| false), 0);
        assert_eq!(peak(&[3, 5, 4], |a, b| a < b), 5, "a chain");
        assert_eq!(peak(&[3, 5, 4], |a, b| (a, b) == (0, 1)), 9, "two and a third");
    }
}
