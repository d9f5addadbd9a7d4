//! Buffers that fill a rectangle of time and addresses: a plan without a gap is known, and hard to find.

use std::ops::Range;

use aqlipse_cli::offsets::{Buffer, Problem};

use super::random::Random;

/// Both sides of the rectangle; and the bytes of its height.
const SIDE: u64 = 1024;
const UNIT: u64 = 1024;
pub const HEIGHT: u64 = SIDE * UNIT;

type Family = (&'static str, fn(u64, usize) -> Filled);

/// A rectangle in parts: time, and addresses.
pub struct Filled {
    parts: Vec<(Range<u64>, Range<u64>)>,
    random: Random,
}

impl Filled {
    pub const FAMILIES: [Family; 2] = [("guillotine", Self::guillotine), ("pinwheels", Self::pinwheels)];

    fn new(seed: u64) -> Self {
        Self { parts: vec![(0..SIDE, 0..SIDE)], random: Random::new(seed) }
    }

    /// Cut from side to side.
    fn guillotine(seed: u64, buffers: usize) -> Self {
        let mut filled = Self::new(seed);
        while filled.parts.len() < buffers {
            filled.cut();
        }
        filled
    }

    /// Every second cut makes five parts of one, around its middle: no plan from side to side is left.
    fn pinwheels(seed: u64, buffers: usize) -> Self {
        let mut filled = Self::new(seed);
        while filled.parts.len() < buffers {
            match filled.random.below(2) {
                0 => filled.turn(),
                _ => filled.cut(),
            }
        }
        filled
    }

    /// The largest of three.
    fn any(&mut self) -> usize {
        let area = |&i: &usize| {
            let (time, place) = &self.parts[i];
            (time.end - time.start) * (place.end - place.start)
        };
        let drawn: Vec<usize> = (0..3).map(|_| self.random.below(self.parts.len() as u64) as usize).collect();
        drawn.into_iter().max_by_key(area).expect("three")
    }

    /// Somewhere in a range, an eighth of it from both ends.
    fn inside(&mut self, range: &Range<u64>) -> Option<u64> {
        let length = range.end - range.start;
        let margin = length / 8;
        (length >= 8).then(|| range.start + margin + 1 + self.random.below(length - 2 * margin - 1))
    }

    fn cut(&mut self) {
        let i = self.any();
        let (time, place) = self.parts[i].clone();
        let in_time = self.random.below(5) < 3;
        let Some(at) = self.inside(if in_time { &time } else { &place }) else { return };
        let (first, second) = match in_time {
            true => ((time.start..at, place.clone()), (at..time.end, place)),
            false => ((time.clone(), place.start..at), (time, at..place.end)),
        };
        self.parts[i] = first;
        self.parts.push(second);
    }

    fn turn(&mut self) {
        let i = self.any();
        let (time, place) = self.parts[i].clone();
        let mut thirds = |range: &Range<u64>| {
            let third = (range.end - range.start) / 3;
            let draw = self.random.below(third.max(1));
            (range.start + third / 2 + draw, range.end - third / 2 - draw.min(third / 2))
        };
        let ((left, right), (low, high)) = (thirds(&time), thirds(&place));
        if left >= right || low >= high || left == time.start || low == place.start {
            return;
        }
        self.parts[i] = (time.start..right, place.start..low);
        self.parts.extend([
            (right..time.end, place.start..high),
            (left..time.end, high..place.end),
            (time.start..left, low..place.end),
            (left..right, low..high),
        ]);
    }

    pub fn problem(&self) -> Problem {
        let buffer = |place: &Range<u64>| Buffer { bytes: (place.end - place.start) * UNIT, align: 1 };
        let (lives, buffers): (Vec<_>, Vec<_>) =
            self.parts.iter().map(|(time, place)| (time.clone(), buffer(place))).unzip();
        let problem = Problem::of_intervals(&buffers, &lives).expect("a problem");
        assert_eq!(problem.lower_bound().bytes(), HEIGHT, "it is not filled");
        problem
    }
}
