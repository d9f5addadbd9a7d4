//! From where to where, and from when to when, memory may be used: `AQLIPSE_CHECK=memory`.
//!
//! An allocation begins with a command of a stream, a node, or a call that the host waits for, and ends with another. A command
//! belongs to the latest allocation at an address that was there when it was submitted, and has to come behind its beginning
//! and before its end. What lies between allocations in memory that the runtime hands out is not to be touched.

#![forbid(unsafe_code)]

use std::{
    collections::{BTreeMap, VecDeque},
    ops::{Bound, Range},
    sync::Arc,
};

use emulator::{Asked, How, Page};

use super::{
    command::{Command, Touch},
    finding::{Bytes, Misuse},
    made::Site,
};
use crate::device::{Tool, checked, clocks};

/// Bytes behind each allocation that are in none, where that is checked.
const PADDING: u64 = 4096;

/// How many bytes to allocate behind those that were asked for. The emulated device leaves as many before what it allocates.
#[inline]
pub(crate) fn padding() -> u64 {
    if checked::is_on(Tool::Memory) { PADDING } else { 0 }
}

/// Memory of the device with what it leaves before it.
pub(super) fn with_front(memory: Range<u64>) -> Range<u64> {
    memory.start - emulator::FRONT..memory.end
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
        page.touched_in(start, range, misuse != Misuse::Constant).into_iter().map(offence).collect()
    }

    /// The other command that it is about.
    pub(super) fn other(&self) -> Option<&Arc<Command>> {
        match self.misuse {
            Misuse::OutOfBounds | Misuse::Unwritten | Misuse::Constant => None,
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

/// Memory that the runtime hands out, with what it leaves between allocations.
struct Ground {
    end: u64,
    /// How many commands there were when an allocation in it was forgotten: earlier ones may be of that.
    since: u64,
}

/// What a command must not touch, and how that would be called.
pub(super) struct Forbidden<'a> {
    misuse: Misuse,
    life: &'a Life,
    pub(super) bytes: Range<u64>,
}

/// The bytes of a page that a command must not touch, which a device is asked to name the first accesses of.
pub(super) fn asked(forbidden: &[Forbidden<'_>], page: &Range<u64>) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    for Forbidden { bytes, misuse, .. } in forbidden {
        let bytes = bytes.start.max(page.start)..bytes.end.min(page.end);
        if bytes.start < bytes.end && !asked.iter().any(|other| other.bytes == bytes) {
            asked.push(Asked { bytes, loads: *misuse != Misuse::Constant });
        }
    }
    asked
}

/// All allocations.
#[derive(Default)]
pub(super) struct Lives {
    /// By their first addresses; those of one address in the order in which they began.
    lives: BTreeMap<u64, VecDeque<Life>>,
    /// By first addresses. None overlap.
    grounds: BTreeMap<u64, Ground>,
    /// What kernels must not write of the program's code objects, by first addresses. None overlap.
    constants: BTreeMap<u64, Life>,
}

impl Lives {
    /// What is in no allocation of this memory must not be touched from now on.
    pub(super) fn hand_out(&mut self, memory: Range<u64>) {
        self.take_back(memory.clone());
        self.grounds.insert(memory.start, Ground { end: memory.end, since: clocks::commands() });
    }

    /// Kernels must not write these bytes, which may be part of others of which that is known.
    pub(super) fn keep_constant(&mut self, bytes: Range<u64>) {
        let before = self.constants.range(..=bytes.start).next_back();
        if before.is_some_and(|(_, life)| life.bytes.end >= bytes.end) {
            return;
        }
        let life = Life::new(bytes, 0, None, Arc::new(Site::nowhere()));
        self.constants.insert(life.bytes.start, life);
    }

    /// Memory that overlaps a range is not handed out any more.
    fn take_back(&mut self, range: Range<u64>) {
        let over: Vec<u64> = self.grounds(range).map(|(start, _)| start).collect();
        over.iter().for_each(|start| {
            self.grounds.remove(start);
        });
    }

    /// The memory that overlaps a range, the last first.
    fn grounds(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &Ground)> {
        let grounds = self.grounds.range(..range.end).rev().map(|(start, ground)| (*start, ground));
        grounds.take_while(move |(_, ground)| ground.end > range.start)
    }

    /// An allocation begins.
    pub(super) fn begin(&mut self, life: Life) {
        let start = life.bytes.start;
        // What was there before and lies otherwise is over.
        let others: Vec<u64> = self.overlapping(life.bytes.clone()).map(|(&start, _)| start).collect();
        for other in others.into_iter().filter(|other| *other != start) {
            self.lives.remove(&other);
            let ground = self.grounds.range_mut(..=other).next_back();
            ground.into_iter().for_each(|(_, ground)| ground.since = clocks::commands());
        }
        let here = self.lives.entry(start).or_default();
        if here.len() == REMEMBERED {
            here.pop_front();
        }
        here.push_back(life);
    }

    /// The allocation at an address ends with a command; as it was, if it had not ended before.
    pub(super) fn end(&mut self, address: u64, ended: &Arc<Command>) -> Option<Life> {
        let life = self.lives.get_mut(&address)?.back_mut().filter(|life| life.ended.is_none())?;
        life.ended = Some(ended.clone());
        Some(life.clone())
    }

    /// Whether an allocation began at an address and has ended.
    pub(super) fn has_ended(&self, address: u64) -> bool {
        self.lives.get(&address).and_then(VecDeque::back).is_some_and(|life| life.ended.is_some())
    }

    /// Forgets what commands that will not run would have begun and ended.
    pub(super) fn forget(&mut self, is_gone: impl Fn(&Command) -> bool) {
        let gone = |command: &Option<Arc<Command>>| command.as_ref().is_some_and(|command| is_gone(command));
        for lives in self.lives.values_mut() {
            lives.retain(|life| !gone(&life.begun));
            lives.iter_mut().filter(|life| gone(&life.ended)).for_each(|life| life.ended = None);
        }
        self.lives.retain(|_, lives| !lives.is_empty());
    }

    /// Forgets the allocations that a range has been: it is no memory any more.
    pub(super) fn release(&mut self, range: Range<u64>) {
        let gone: Vec<u64> = self.overlapping(range.clone()).map(|(&start, _)| start).collect();
        gone.iter().for_each(|start| drop(self.lives.remove(start)));
        self.take_back(range.clone());
        self.constants.retain(|start, _| !range.contains(start));
    }

    /// The allocations that overlap a range, the last first.
    fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = (&u64, &VecDeque<Life>)> {
        let lives = self.lives.range(..range.end).rev();
        lives.take_while(move |(_, lives)| lives.back().is_some_and(|life| life.bytes.end > range.start))
    }

    /// The allocation that an address lies in or near, be it over or not: its bytes, whether it is over, and where it was made.
    pub(super) fn near(&self, address: u64) -> Option<(&Range<u64>, bool, &Arc<Site>)> {
        let lives = self.beside(address).into_iter().flatten();
        let distance = |life: &Life| match &life.bytes {
            bytes if address < bytes.start => bytes.start - address,
            bytes => address.saturating_add(1).saturating_sub(bytes.end),
        };
        let nearest = lives.min_by_key(|life| distance(life)).filter(|life| distance(life) <= NEAR)?;
        Some((&nearest.bytes, nearest.ended.is_some(), &nearest.site))
    }

    /// The last allocation that begins at an address or before it, and the first behind.
    fn beside(&self, address: u64) -> [Option<&Life>; 2] {
        let before = self.lives.range(..=address).next_back();
        let behind = self.lives.range((Bound::Excluded(address), Bound::Unbounded)).next();
        [before, behind].map(|lives| lives.and_then(|(_, lives)| lives.back()))
    }

    /// What a command does that it must not, in a page that it has touched.
    pub(super) fn judge(&self, command: &Arc<Command>, start: u64, page: &Page, offences: &mut Vec<Offence>) {
        for Forbidden { misuse, life, bytes } in self.forbidden(command, start..start + Page::BYTES) {
            offences.extend(Offence::all(misuse, life, (start, page), &bytes));
        }
    }

    /// Whether an address is of memory that a command comes behind the free of.
    pub(super) fn is_over(&self, command: &Arc<Command>, address: u64) -> bool {
        let Some(end) = address.checked_add(1) else { return false };
        self.forbidden(command, address..end).iter().any(|one| one.misuse == Misuse::AfterFree)
    }

    /// What a command must not touch of a range.
    pub(super) fn forbidden(&self, command: &Arc<Command>, range: Range<u64>) -> Vec<Forbidden<'_>> {
        let number = command.number();
        let (mut all, mut owned) = (Vec::new(), Vec::new());
        for (_, lives) in self.overlapping(range.clone()) {
            let Some(life) = lives.iter().rev().find(|life| life.born <= number) else {
                owned.extend(lives.iter().map(|life| life.bytes.clone()));
                continue;
            };
            owned.push(life.bytes.clone());
            let mut add = |misuse| all.push(Forbidden { misuse, life, bytes: life.bytes.clone() });
            if life.begun.as_ref().is_some_and(|begun| !begun.is_before(command)) {
                add(Misuse::BeforeAllocation);
            }
            if let Some(ended) = life.ended.as_ref().filter(|ended| !command.is_before(ended)) {
                add(if ended.is_before(command) { Misuse::AfterFree } else { Misuse::UnorderedFree });
            }
        }
        if command.is_of_kernel() {
            let constants = self.constants.range(..range.end).rev().map(|(_, life)| life);
            let here = constants.take_while(|life| life.bytes.end > range.start);
            all.extend(here.map(|life| Forbidden {
                misuse: Misuse::Constant,
                life,
                bytes: life.bytes.clone(),
            }));
        }
        owned.sort_unstable_by_key(|bytes| bytes.start);
        for (start, ground) in self.grounds(range.clone()).filter(|(_, ground)| ground.since < number) {
            let end = ground.end.min(range.end);
            let mut at = start.max(range.start);
            for bytes in owned.iter().chain([&(end..end)]) {
                if at < bytes.start.min(end) {
                    self.divide(at..bytes.start.min(end), &mut all);
                }
                at = at.max(bytes.end);
            }
        }
        all
    }

    /// Gives what is in no allocation to those before and behind it, to each what is nearer to it.
    fn divide<'a>(&'a self, Range { start, end }: Range<u64>, all: &mut Vec<Forbidden<'a>>) {
        let [before, behind] = self.beside(start);
        let middle = match (before, behind) {
            (Some(before), Some(behind)) => before.bytes.end.midpoint(behind.bytes.start).clamp(start, end),
            (Some(_), None) => end,
            (None, _) => start,
        };
        let parts = [(before, start..middle), (behind, middle..end)];
        let parts = parts.into_iter().filter(|(_, bytes)| bytes.start < bytes.end);
        all.extend(
            parts.filter_map(|(life, bytes)| {
                Some(Forbidden { misuse: Misuse::OutOfBounds, life: life?, bytes })
            }),
        );
    }
}

impl Life {
    /// An allocation. It was there when there had been `born` commands.
    pub(super) fn new(bytes: Range<u64>, born: u64, begun: Option<Arc<Command>>, site: Arc<Site>) -> Self {
        Self { bytes, born, begun, ended: None, site }
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
    use super::{super::command::Place, *};
    use crate::device::clocks::Moment;

    fn life(bytes: Range<u64>) -> Life {
        Life::new(bytes, 0, None, Arc::new(Site::here()))
    }

    #[test]
    fn what_lies_between_allocations_is_given_to_the_nearer_one() {
        let mut lives = Lives::default();
        lives.hand_out(0x1000..0x9000);
        [0x2000..0x2100, 0x4100..0x5000].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        let moment = Moment { number: 1, place: (0, 0), clock: Arc::default() };
        let command = Arc::new(Command { moment, place: Place::Host, what: String::new() });
        let found = |lives: &Lives, range| {
            let forbidden = lives.forbidden(&command, range);
            forbidden.iter().map(|one| (one.life.bytes.start, one.bytes.clone())).collect::<Vec<_>>()
        };
        assert_eq!(
            found(&lives, 0x1000..0x5000),
            [(0x2000, 0x1000..0x2000), (0x2000, 0x2100..0x3100), (0x4100, 0x3100..0x4100)]
        );
        assert_eq!(found(&lives, 0x8000..0xa000), [(0x4100, 0x8000..0x9000)]);
        lives.release(0x4000..0x4001);
        assert_eq!(found(&lives, 0..0x20000), [], "it is handed out no more");
    }

    fn addresses(lives: &Lives) -> Vec<u64> {
        lives.lives.keys().copied().collect()
    }

    #[test]
    fn what_goes_back_to_the_device_is_forgotten_with_all_that_was_there() {
        let mut lives = Lives::default();
        [0..16, 64..128, 64..96, 256..300].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        lives.release(96..256);
        assert_eq!(addresses(&lives), [0, 64, 256]);
        lives.release(95..257);
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
        [0..32, 60..80, 16..64].into_iter().for_each(|bytes| lives.begin(life(bytes)));
        assert_eq!(addresses(&lives), [16]);
    }
}
