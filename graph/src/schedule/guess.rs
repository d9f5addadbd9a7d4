//! Durations for graphs of which none is known.
//!
//! If all kernels are taken to last equally long, a plan that makes each level of a graph wait for the level before
//! looks as good as one that lets its branches run on their own, and is much worse when they do not last equally long.
//! So plans are compared with durations that are spread, evenly in their logarithm, over 1/4 to 4 times the guess.

/// From 1/4 to 4 in equal ratios, in units of 1/256.
const FACTORS: [u32; 16] = [64, 77, 93, 111, 134, 161, 194, 233, 281, 338, 406, 489, 588, 707, 851, 1024];

/// From 1/8 to 8 in equal ratios, in units of 1/256.
const WIDE: [u32; 16] = [32, 42, 56, 74, 97, 128, 169, 223, 294, 388, 512, 676, 891, 1176, 1552, 2048];

/// The duration of a node instead of the one guessed for all: always the same one for a node of this number.
pub(super) fn spread(node: u32, guess: u32) -> u32 {
    scaled(guess, FACTORS[(mixed(node) >> 28) as usize])
}

/// The duration of a node in one of several sets: spread over 1/8 to 8 times the guess, and over 1/2 to 32
/// times in every other set: it is unknown, too, whether kernels are short beside the cost of launching them.
pub(super) fn drawn(node: u32, set: u32, guess: u32) -> u32 {
    let factor = WIDE[(mixed(node ^ mixed(set + 1)) >> 28) as usize];
    scaled(guess, if set.is_multiple_of(2) { factor } else { 4 * factor })
}

fn mixed(number: u32) -> u32 {
    // A multiplicative hash alone is too regular: neighbours would always differ.
    let mixed = number.wrapping_mul(0x9e37_79b1);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77)
}

/// So many times 1/256 of a guess.
fn scaled(guess: u32, factor: u32) -> u32 {
    u32::try_from(u64::from(guess) * u64::from(factor) / 256).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_spread_over_a_quarter_to_four_times_without_a_bias() {
        let durations: Vec<u32> = (0..16_000).map(|node| spread(node, 1_000)).collect();
        assert_eq!((durations.iter().min(), durations.iter().max()), (Some(&250), Some(&4_000)));
        let below = durations.iter().filter(|&&duration| duration < 1_000).count();
        assert!((7_500..8_500).contains(&below), "{below}");
        // Neighbours have nothing to do with each other.
        let falling = durations.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!((7_000..8_000).contains(&falling), "{falling}");
        assert_eq!(spread(3, u32::MAX).max(spread(4, 0)), spread(3, u32::MAX));
    }
}
