//! Units that buffers take turns with, where a buffer's units need not lie side by side.
//!
//! Memory that is mapped in chunks asks for no offsets: a buffer takes any chunks whose users are all over when it
//! begins. Then the lower bound is reached: the flow that proves it ([`bound`]) says from which buffer each gets how
//! many units, and what it does not get is new.

use std::{collections::BTreeSet, ops::Range};

use super::{bits::Bits, bound};

/// Most buffers for which the least number of units is found: it takes some tens of milliseconds there. More get their
/// units in turn.
pub const MOST: usize = 2048;

/// How many free ranges are looked at for one buffer if there are more than [`MOST`].
const LOOK: usize = 8192;

/// Which buffer has which units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Units in all, numbered from 0.
    pub total: u32,
    /// The units of each buffer: ranges in rising order that do not touch.
    pub of: Vec<Vec<Range<u32>>>,
    /// Whether fewer units cannot do.
    pub exact: bool,
}

/// Gives each of some buffers as many units as it asks for; two that are not ordered share none.
///
/// `before(a, b)` says whether `a` is over when `b` begins: a strict order. Up to [`MOST`] buffers the total is that of
/// the heaviest set of which none is before another, which is the least there can be. Of more, it is good if they are
/// numbered so that none is before a buffer with a smaller number, and valid in any case.
///
/// # Panics
/// If all buffers together ask for 2^32 units or more.
pub fn assign(units: &[u32], before: impl Fn(usize, usize) -> bool) -> Assignment {
    assert!(
        units.iter().map(|&units| u64::from(units)).sum::<u64>() <= u64::from(u32::MAX),
        "too many units"
    );
    match units.len() <= MOST {
        true => least(units, before),
        false => in_turn(units, before),
    }
}

fn least(units: &[u32], before: impl Fn(usize, usize) -> bool) -> Assignment {
    let n = units.len();
    let mut follows = vec![Bits::new(n); n];
    // What is before a buffer is before those that follow it as well, and so are fewer.
    let mut predecessors = vec![0u32; n];
    for (a, follows) in follows.iter_mut().enumerate() {
        for b in (0..n).filter(|&b| a != b && before(a, b)) {
            follows.insert(b);
            predecessors[b] += 1;
        }
    }
    let weights: Vec<u64> = units.iter().map(|&units| units.into()).collect();
    let given = bound::gifts(&weights, &follows);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| predecessors[i]);

    let (mut total, mut of) = (0, vec![Vec::new(); n]);
    // What each buffer has yet to give.
    let mut rest: Vec<Vec<Range<u32>>> = vec![Vec::new(); n];
    for i in order {
        let (mut taken, mut missing) = (Vec::new(), units[i]);
        for &(from, amount) in &given[i] {
            // CAST: at most what the buffer asks for.
            missing -= amount as u32;
            take(&mut rest[from as usize], amount as u32, &mut taken);
        }
        if missing > 0 {
            taken.push(total..total + missing);
            total += missing;
        }
        of[i] = joined(taken);
        rest[i] = of[i].clone();
    }
    Assignment { total, of, exact: true }
}

/// Takes units from the end of some ranges. They hold as many.
fn take(ranges: &mut Vec<Range<u32>>, mut amount: u32, taken: &mut Vec<Range<u32>>) {
    while amount > 0 {
        // PANIC: a flow gives no more than a buffer has.
        let last = ranges.last_mut().expect("units that are left");
        let start = last.end - amount.min(last.end - last.start);
        amount -= last.end - start;
        taken.push(start..last.end);
        last.end = start;
        if last.end == last.start {
            ranges.pop();
        }
    }
}

/// The same units in rising order, in as few ranges as can be.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let touch = range.end == next.start;
        if touch {
            range.end = next.end;
        }
        touch
    });
    ranges
}

/// Each buffer takes what buffers before it had, the oldest first, as far as it looks: they are the likeliest to be over.
fn in_turn(units: &[u32], before: impl Fn(usize, usize) -> bool) -> Assignment {
    let (mut total, mut of) = (0, Vec::with_capacity(units.len()));
    // The latest user of each range. A user is before the next one of the same units, so no more need be known.
    let mut used: BTreeSet<(usize, u32, u32)> = BTreeSet::new();
    for (i, &units) in units.iter().enumerate() {
        let (mut taken, mut found, mut missing) = (Vec::new(), Vec::new(), units);
        for &(user, start, end) in used.iter().take(LOOK) {
            if missing == 0 {
                break;
            }
            if before(user, i) {
                let middle = start + missing.min(end - start);
                missing -= middle - start;
                taken.push(start..middle);
                found.push((user, start, middle, end));
            }
        }
        for (user, start, middle, end) in found {
            used.remove(&(user, start, end));
            if middle < end {
                used.insert((user, middle, end));
            }
        }
        if missing > 0 {
            taken.push(total..total + missing);
            total += missing;
        }
        let taken = joined(taken);
        used.extend(taken.iter().map(|range| (i, range.start, range.end)));
        of.push(taken);
    }
    Assignment { total, of, exact: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A buffer with its units, and a point: it is before what lies above and to the right of it.
    type Row = (u32, u8, u8);

    fn before(rows: &[Row]) -> impl Fn(usize, usize) -> bool {
        |a, b| rows[a].1 < rows[b].1 && rows[a].2 < rows[b].2
    }

    fn heaviest_antichain(rows: &[Row]) -> u32 {
        let before = before(rows);
        let inside = |set: u32| (0..rows.len()).filter(move |i| set >> i & 1 == 1);
        let apart = |set: &u32| inside(*set).all(|a| inside(*set).all(|b| !before(a, b)));
        (0..1u32 << rows.len()).filter(apart).map(|set| inside(set).map(|i| rows[i].0).sum()).max().unwrap()
    }

    /// Each buffer has what it asks for, below the total, and shares units only with what it is ordered with.
    fn check(rows: &[Row], assignment: &Assignment) {
        let before = before(rows);
        for (i, ranges) in assignment.of.iter().enumerate() {
            assert_eq!(ranges.iter().map(|range| range.end - range.start).sum::<u32>(), rows[i].0);
            assert!(ranges.iter().all(|range| !range.is_empty() && range.end <= assignment.total));
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            for (j, others) in assignment.of[..i].iter().enumerate() {
                let meet = |a: &Range<u32>| others.iter().any(|b| a.start < b.end && b.start < a.end);
                assert!(before(i, j) || before(j, i) || !ranges.iter().any(meet), "{i} and {j}");
            }
        }
    }

    fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
        prop::collection::vec((0u32..20, 0u8..12, 0u8..12), 0..=most)
    }

    proptest! {
        #[test]
        fn the_total_is_the_heaviest_set_of_unordered_buffers(rows in rows(10)) {
            let units: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let assignment = assign(&units, before(&rows));
            check(&rows, &assignment);
            prop_assert_eq!(assignment.total, heaviest_antichain(&rows));
        }

        #[test]
        fn unordered_buffers_share_no_units(rows in rows(60)) {
            let units: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let (least, turns) = (assign(&units, before(&rows)), in_turn(&units, before(&rows)));
            check(&rows, &least);
            check(&rows, &turns);
            prop_assert!(least.total <= turns.total && least.exact && !turns.exact);
        }
    }

    #[test]
    fn a_chain_takes_turns_with_the_same_units() {
        let ranges = assign(&[3; 100], |a, b| a < b);
        assert_eq!((ranges.total, ranges.of[99].first()), (3, Some(&(0..3))));
    }

    #[test]
    fn many_buffers_get_their_units_in_turn() {
        let n = MOST + 1;
        // Pairs that overlap, one after the other.
        let assignment = assign(&vec![2; n], |a, b| a / 2 < b / 2);
        assert_eq!((assignment.total, assignment.exact), (4, false));
    }
}
