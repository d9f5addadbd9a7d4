//! From where to where, and from when to when, memory may be used: `AQLIPSE_CHECK=memory`.
//!
//! An allocation begins with a command of a stream, a node, or a call that the host waits for, and ends with another. A command
//! belongs to the latest allocation at an address that was there when it was submitted, and has to come behind its beginning
//! and before its end.

#![forbid(unsafe_code)]

use std::{
    collections::{BTreeMap, VecDeque},
    ops::Range,
    sync::Arc,
};

use emulator::{How, Page};

use super::{
    command::{Command, Touch},
    finding::{Bytes, Misuse},
    made::Site,
};
use crate::device::{Tool, checked};

/// Bytes behind each allocation that are nobody's, where that is checked.
const PADDING: u64 = 4096;

/// How many bytes to allocate behind those that were asked for.
#[inline]
pub(crate) fn padding() -> u64 {
    if checked::is_on(Tool::Memory) { PADDING } else { 0 }
}

/// Allocations at one address that are remembered: commands that were submitted while an earlier one was there may be yet to
/// run.
const REMEMBERED: usize = 64;

/// Bytes between an allocation and what is said to be near it, at most.
const NEAR: u64 = 16 << 20;

/// One allocation.
#[derive(Clone)]
pub(super) struct Life {
    bytes: Range<u64>,
    /// The end of what lies behind it and is nobody's.
    padded: u64,
    /// How many commands there were when it began.
    born: u64,
    /// The command that it comes behind, if it is not there for all.
    begun: Option<Arc<Command>>,
    ended: Option<Arc<Command>>,
    site: Arc<Site>,
}

/// What a command has done to an allocation that it must not.
pub(super) struct Offence {
    pub(super) misuse: Misuse,
    life: Life,
    pub(super) bytes: Range<u64>,
    /// How it has touched the first of them.
    pub(super) how: How,
}

impl Offence {
    /// What was touched so of a range, in a page.
    fn all(misuse: Misuse, life: &Life, (start, page): (u64, &Page), range: &Range<u64>) -> Vec<Self> {
        let offence = |bytes: Range<u64>| {
            let how = page.how(start, bytes.start).unwrap_or(How::Read);
            Self { misuse, life: life.clone(), bytes, how }
        };
        page.touched_in(start, range).into_iter().map(offence).collect()
    }

    /// The other command that it is about.
    pub(super) fn other(&self) -> Option<&Arc<Command>> {
        match self.misuse {
            Misuse::OutOfBounds | Misuse::Unwritten => None,
            Misuse::BeforeAllocation => self.life.begun.as_ref(),
            Misuse::AfterFree | Misuse::UnorderedFree => self.life.ended.as_ref(),
        }
    }

    /// Where the allocation is.
    pub(super) fn allocation(&self) -> u64 {
        self.life.bytes.start
    }

    /// Where it was made.
    pub(super) fn site(&self) -> &Arc<Site> {
        &self.life.site
    }

    /// The bytes, as a part of `total`.
    pub(super) fn describe(&self, total: u64) -> Bytes {
        Bytes { first: self.bytes.clone(), total, allocation: self.life.bytes.clone() }
    }
}

/// All allocations, by their first addresses; those of one address in the order in which they began.
#[derive(Default)]
pub(super) struct Lives(BTreeMap<u64, VecDeque<Life>>);

impl Lives {
    /// An allocation begins.
    pub(super) fn begin(&mut self, life: Life) {
        let (start, padded) = (life.bytes.start, life.padded);
        // What was there before and lies otherwise is over.
        let others: Vec<u64> = self.overlapping(start..padded).map(|(&start, _)| start).collect();
        others.iter().filter(|other| **other != start).for_each(|other| drop(self.0.remove(other)));
        let here = self.0.entry(start).or_default();
        if here.len() == REMEMBERED {
            here.pop_front();
        }
        here.push_back(life);
    }

    /// The allocation at an address ends with a command; as it was, if it had not ended before.
    pub(super) fn end(&mut self, address: u64, ended: &Arc<Command>) -> Option<Life> {
        let life = self.0.get_mut(&address)?.back_mut().filter(|life| life.ended.is_none())?;
        life.ended = Some(ended.clone());
        Some(life.clone())
    }

    /// Whether an allocation began at an address and has ended.
    pub(super) fn has_ended(&self, address: u64) -> bool {
        self.0.get(&address).and_then(VecDeque::back).is_some_and(|life| life.ended.is_some())
    }

    /// Forgets what commands that will not run would have begun and ended.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Command) -> bool) {
        let gone = |command: &Option<Arc<Command>>| command.as_ref().is_some_and(|command| is_gone(command));
        for lives in self.0.values_mut() {
            lives.retain(|life| !gone(&life.begun));
            lives.iter_mut().filter(|life| gone(&life.ended)).for_each(|life| life.ended = None);
        }
        self.0.retain(|_, lives| !lives.is_empty());
    }

    /// Forgets the allocations that a range has been: it is no memory any more.
    pub(super) fn release(&mut self, range: Range<u64>) {
        let gone: Vec<u64> = self.overlapping(range).map(|(&start, _)| start).collect();
        gone.iter().for_each(|start| drop(self.0.remove(start)));
    }

    /// The allocations that overlap a range with what lies behind them, the last first.
    fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = (&u64, &VecDeque<Life>)> {
        let lives = self.0.range(..range.end).rev();
        lives.take_while(move |(_, lives)| lives.back().is_some_and(|life| life.padded > range.start))
    }

    /// The allocation that an address lies in or near, be it over or not: its bytes, whether it is over, and where it was made.
    pub(super) fn near(&self, address: u64) -> Option<(&Range<u64>, bool, &Arc<Site>)> {
        let (before, behind) = (self.0.range(..=address).next_back(), self.0.range(address..).next());
        let lives = before.into_iter().chain(behind).filter_map(|(_, lives)| lives.back());
        let distance = |life: &Life| match &life.bytes {
            bytes if address < bytes.start => bytes.start - address,
            bytes => (address + 1).saturating_sub(bytes.end),
        };
        let nearest = lives.min_by_key(|life| distance(life)).filter(|life| distance(life) <= NEAR)?;
        Some((&nearest.bytes, nearest.ended.is_some(), &nearest.site))
    }

    /// What a command does that it must not, in a page that it has touched.
    pub(super) fn judge(&self, command: &Arc<Command>, start: u64, page: &Page, offences: &mut Vec<Offence>) {
        for (_, lives) in self.overlapping(start..start + Page::BYTES) {
            let number = command.number();
            let Some(life) = lives.iter().rev().find(|life| life.born <= number) else { continue };
            let mut add = |misuse, range: &Range<u64>| {
                offences.extend(Offence::all(misuse, life, (start, page), range));
            };
            add(Misuse::OutOfBounds, &(life.bytes.end..life.padded));
            if life.begun.as_ref().is_some_and(|begun| !begun.is_before(command)) {
                add(Misuse::BeforeAllocation, &life.bytes);
            }
            if let Some(ended) = life.ended.as_ref().filter(|ended| !command.is_before(ended)) {
                let misuse = if ended.is_before(command) { Misuse::AfterFree } else { Misuse::UnorderedFree };
                add(misuse, &life.bytes);
            }
        }
    }
}

impl Life {
    /// An allocation with so many bytes behind it that are nobody's. It was there when there had been `born` commands.
    pub(super) fn new(
        bytes: Range<u64>,
        padding: u64,
        born: u64,
        begun: Option<Arc<Command>>,
        site: Arc<Site>,
    ) -> Self {
        Self { padded: bytes.end + padding, bytes, born, begun, ended: None, site }
    }

    /// What commands have done, which had ended before the allocation did, to bytes of a page.
    pub(super) fn judge_earlier(&self, start: u64, touches: &[Touch]) -> Vec<(Arc<Command>, Offence)> {
        let Some(ended) = &self.ended else { return Vec::new() };
        let unordered = touches.iter().filter(|touch| {
            // A command that was submitted before belongs to another allocation.
            touch.command.number() >= self.born && !touch.command.is_before(ended)
        });
        let offences = |touch: &Touch| {
            let offences = Offence::all(Misuse::UnorderedFree, self, (start, &touch.page), &self.bytes);
            offences.into_iter().map(|offence| (touch.command.clone(), offence)).collect::<Vec<_>>()
        };
        unordered.flat_map(offences).collect()
    }

    /// The pages that it lies in.
    pub(super) fn pages(&self) -> Range<u64> {
        self.bytes.start & !(Page::BYTES - 1)..self.bytes.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(bytes: Range<u64>) -> Life {
        Life::new(bytes, 16, 0, None, Arc::new(Site::here()))
    }

    fn addresses(lives: &Lives) -> Vec<u64> {
        lives.0.keys().copied().collect()
    }

    #[test]
    fn what_goes_back_to_the_device_is_forgotten_with_all_that_was_there() {
        let mut lives = Lives::default();
        [0..16, 64..128, 64..96, 256..300].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        lives.release(112..256);
        assert_eq!(addresses(&lives), [0, 64, 256], "64..96 ends with its padding");
        lives.release(111..257);
        assert_eq!(addresses(&lives), [0]);
    }

    #[test]
    fn an_address_is_near_the_closer_one_of_two_allocations() {
        let mut lives = Lives::default();
        [0x1000..0x2000, 0x8000..0x9000].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        let near = |address| lives.near(address).map(|(bytes, ..)| bytes.start);
        let found = [0xfff, 0x1800, 0x4000, 0x7000, 0x9000, 0x9000 + NEAR].map(near);
        assert_eq!(
            found,
            [0x1000, 0x1000, 0x1000, 0x8000, 0x8000, 0].map(|start| Some(start).filter(|&start| start > 0))
        );
    }

    #[test]
    fn what_lies_otherwise_takes_the_place_of_what_it_overlaps() {
        let mut lives = Lives::default();
        [0..16, 64..80, 16..64].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        assert_eq!(addresses(&lives), [16]);
    }
}
