//! Which chunks of physical memory each executable of an arena has.
//!
//! Executables of an arena take turns, so that all may have the same chunks; of one executable, no two slots do. A chunk
//! is mapped as a whole, but a slot may have a larger one than it needs. What an arena lacks is new. If that makes the
//! arena larger than its largest executable by more than a large page, chunks that no launch uses are cut: the
//! executables that had them have the parts.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{placement::Slot, sizes::Sizes};

/// The chunks of one arena, by number, and which of them each user's slots have. Users have numbers too.
#[derive(Clone, Debug)]
pub struct Layout {
    sizes: Sizes,
    /// The highest number of a chunk so far.
    last: u64,
    /// Bytes of each, a power of two.
    chunks: BTreeMap<u64, u64>,
    users: BTreeMap<u64, User>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct User {
    slots: Arc<[Slot]>,
    /// By slot.
    chunks: Vec<Vec<u64>>,
}

impl User {
    fn need(&self) -> u64 {
        self.slots.iter().map(|slot| slot.bytes).sum()
    }
}

/// How chunks for slots are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The smallest chunk that suffices first.
    Whole,
    /// The largest chunk that is not too large first.
    Several,
    /// The same; then a chunk that is too large is cut.
    Cut,
}

/// A chunk that is to be cut: the slots that its parts are for, if any, and the bytes of those.
type Parts = Vec<(Option<usize>, u64)>;

impl Layout {
    /// Of an arena that has nothing yet.
    pub fn new(sizes: Sizes) -> Self {
        Self { sizes, last: 0, chunks: BTreeMap::new(), users: BTreeMap::new() }
    }

    /// The layout with another user. What a user has of whom `is_busy` holds stays as it is.
    #[must_use]
    pub fn bind(&self, user: u64, slots: &Arc<[Slot]>, is_busy: impl Fn(u64) -> bool) -> Self {
        self.best(user, slots, &[], &is_busy)
    }

    /// The layout with a user that is to take the place of a busy one, `old`, whose slots come first among the new one's.
    #[must_use]
    pub fn succeed(&self, old: u64, user: u64, slots: &Arc<[Slot]>, is_busy: impl Fn(u64) -> bool) -> Self {
        let kept = self.users.get(&old).map(|old| old.chunks.clone()).unwrap_or_default();
        self.best(user, slots, &kept, &is_busy)
    }

    /// Takes a user out, and all chunks that no other one has.
    pub fn remove(&mut self, user: u64) {
        self.users.remove(&user);
        self.sweep();
    }

    /// A layout of at most two thirds the size, for an arena that is larger than its largest user by half and a large page.
    /// All that is not busy has new chunks there.
    #[must_use]
    pub fn smaller(&self, is_busy: impl Fn(u64) -> bool) -> Option<Self> {
        let bound = |bytes: u64| bytes + bytes / 2 + self.sizes.large();
        if self.bytes() <= bound(self.need()) {
            return None;
        }
        let (mut next, mut idle) = (self.clone(), Vec::new());
        next.users.retain(|&number, user| {
            let busy = is_busy(number);
            if !busy {
                idle.push((Reverse(user.need()), number, user.slots.clone()));
            }
            busy
        });
        next.sweep();
        idle.sort_by_key(|&(need, number, _)| (need, number));
        for (_, number, slots) in idle {
            next = next.bind(number, &slots, &is_busy);
        }
        (self.bytes() > bound(next.bytes())).then_some(next)
    }

    /// Bytes of all chunks.
    pub fn bytes(&self) -> u64 {
        self.chunks.values().sum()
    }

    /// The chunks, with their bytes.
    pub fn chunks(&self) -> &BTreeMap<u64, u64> {
        &self.chunks
    }

    /// Whether it has no user.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// Users that have other chunks in `next`.
    pub fn changed<'a>(&'a self, next: &'a Self) -> impl Iterator<Item = u64> + 'a {
        let changed = |&(number, user): &(&u64, &User)| next.users.get(number).is_some_and(|it| it != user);
        self.users.iter().filter(changed).map(|(&number, _)| number)
    }

    /// The chunks of a user, with their bytes.
    pub fn of(&self, user: u64) -> impl Iterator<Item = (u64, u64)> {
        let chunks = self.users.get(&user).into_iter().flat_map(|user| user.chunks.iter().flatten());
        chunks.map(|chunk| (*chunk, self.chunks[chunk]))
    }

    /// The chunks that a buffer of `bytes` bytes maps which has some slots of a user: the largest first, and no more than
    /// it takes.
    pub fn of_buffer(&self, user: u64, slots: &[u32], bytes: u64) -> Vec<u64> {
        let Some(user) = self.users.get(&user) else { return Vec::new() };
        let mut chunks = slots.iter().flat_map(|&slot| &user.chunks[slot as usize]).copied().collect();
        self.prune(&mut chunks, bytes);
        chunks
    }

    /// What the largest user needs.
    fn need(&self) -> u64 {
        self.users.values().map(User::need).max().unwrap_or(0)
    }

    fn best(
        &self,
        user: u64,
        slots: &Arc<[Slot]>,
        kept: &[Vec<u64>],
        is_busy: &impl Fn(u64) -> bool,
    ) -> Self {
        let busy = self.users.iter().filter(|&(&number, _)| is_busy(number));
        let fixed = busy.flat_map(|(_, user)| user.chunks.iter().flatten()).copied().collect();
        let by = |way| self.attempt(user, slots, kept, &fixed, way);
        let (whole, several) = (by(Way::Whole), by(Way::Several));
        let best = if several.bytes() < whole.bytes() { several } else { whole };
        if best.bytes() <= best.need() + self.sizes.large() {
            return best;
        }
        let cut = by(Way::Cut);
        if cut.bytes() < best.bytes() { cut } else { best }
    }

    /// The layout with another user, of whose slots the first have the chunks `kept`; `fixed` chunks are not cut.
    fn attempt(
        &self,
        user: u64,
        slots: &Arc<[Slot]>,
        kept: &[Vec<u64>],
        fixed: &BTreeSet<u64>,
        way: Way,
    ) -> Self {
        let mut next = self.clone();
        let mut free: BTreeSet<(u64, u64)> =
            next.chunks.iter().map(|(&number, &bytes)| (bytes, number)).collect();
        free.retain(|(_, chunk)| !kept.iter().flatten().any(|kept| kept == chunk));
        let mut chunks = kept.to_vec();
        chunks.resize(slots.len(), Vec::new());
        let mut rest: Vec<u64> = slots.iter().map(|slot| slot.bytes).collect();
        let mut order: Vec<usize> = (kept.len()..slots.len()).collect();
        order.sort_by_key(|&slot| Reverse(slots[slot].bytes));

        if way != Way::Whole {
            let mut cuts: BTreeMap<u64, Parts> = BTreeMap::new();
            for &slot in &order {
                let rest = &mut rest[slot];
                while *rest > 0 {
                    if let Some((bytes, chunk)) = self.largest(&free, *rest, slots[slot].most) {
                        free.remove(&(bytes, chunk));
                        *rest -= bytes;
                        match cuts.get_mut(&chunk) {
                            Some(parts) => parts.push((Some(slot), bytes)),
                            None => chunks[slot].push(chunk),
                        }
                    } else if way == Way::Cut
                        && let Some((bytes, chunk, part)) = self.part(&free, fixed, *rest)
                    {
                        free.remove(&(bytes, chunk));
                        if part < bytes {
                            free.insert((bytes - part, chunk));
                        }
                        *rest -= part;
                        cuts.entry(chunk).or_default().push((Some(slot), part));
                    } else {
                        break;
                    }
                }
            }
            free.retain(|&(bytes, chunk)| match cuts.get_mut(&chunk) {
                Some(parts) => {
                    parts.push((None, bytes));
                    false
                }
                None => true,
            });
            for (chunk, parts) in cuts {
                for (slot, number) in next.cut(chunk, &parts, slots) {
                    match slot {
                        Some(slot) => chunks[slot].push(number),
                        None => {
                            free.insert((next.chunks[&number], number));
                        }
                    }
                }
            }
        }
        for slot in order {
            let (rest, most) = (&mut rest[slot], slots[slot].most);
            while *rest > 0 {
                let enough = free.range((*rest, 0)..).next().filter(|(bytes, _)| *bytes <= most);
                let Some((bytes, chunk)) = enough.copied().or_else(|| self.largest(&free, *rest, most))
                else {
                    chunks[slot].extend(self.sizes.chunks(*rest, most).map(|bytes| next.add(bytes)));
                    break;
                };
                free.remove(&(bytes, chunk));
                *rest = rest.saturating_sub(bytes);
                chunks[slot].push(chunk);
            }
        }
        next.users.insert(user, User { slots: slots.clone(), chunks });
        next.sweep();
        next
    }

    /// The largest of some chunks that a slot may have which lacks `rest` bytes. No small one for what can have large
    /// ones, and no tiny one: each costs a call.
    fn largest(&self, free: &BTreeSet<(u64, u64)>, rest: u64, most: u64) -> Option<(u64, u64)> {
        /// Chunks of the same size that can make up a small slot.
        const TOGETHER: u64 = 16;
        let least = if rest >= self.sizes.large() { self.sizes.large().min(most) } else { rest / TOGETHER };
        let (bytes, chunk) = *free.range(..=(rest.min(most), u64::MAX)).next_back()?;
        (bytes >= least).then_some((bytes, chunk))
    }

    /// A chunk to cut for a slot that lacks `rest` bytes, and the bytes of the slot's part. Large chunks are cut into
    /// large ones.
    fn part(&self, free: &BTreeSet<(u64, u64)>, fixed: &BTreeSet<u64>, rest: u64) -> Option<(u64, u64, u64)> {
        let large = self.sizes.large();
        let wanted = if rest >= large { rest - rest % large } else { rest };
        let fits =
            |&&(bytes, chunk): &&(u64, u64)| !fixed.contains(&chunk) && (bytes >= large) == (wanted >= large);
        let enough = free.range((wanted, 0)..).find(fits);
        let found = enough.or_else(|| free.range(..(wanted, 0)).rev().find(fits));
        found.map(|&(bytes, chunk)| (bytes, chunk, wanted.min(bytes)))
    }

    /// Cuts a chunk into parts, which its users have instead; returns the new chunks, each with the slot that its part is
    /// for.
    fn cut(&mut self, chunk: u64, parts: &Parts, slots: &[Slot]) -> Vec<(Option<usize>, u64)> {
        let mut new = Vec::new();
        for &(slot, bytes) in parts {
            let most = slot.map_or(self.sizes.most(), |slot| slots[slot].most);
            new.extend(self.sizes.chunks(bytes, most).map(|bytes| (slot, self.add(bytes))));
        }
        let mut users = std::mem::take(&mut self.users);
        for user in users.values_mut() {
            for (slot, chunks) in user.slots.iter().zip(&mut user.chunks) {
                if let Some(at) = chunks.iter().position(|&each| each == chunk) {
                    chunks.swap_remove(at);
                    chunks.extend(new.iter().map(|&(_, number)| number));
                    self.prune(chunks, slot.bytes);
                }
            }
        }
        self.users = users;
        self.chunks.remove(&chunk);
        new
    }

    /// Leaves of some chunks the largest, as many as `bytes` bytes take.
    fn prune(&self, chunks: &mut Vec<u64>, bytes: u64) {
        chunks.sort_by_key(|chunk| (Reverse(self.chunks[chunk]), *chunk));
        let mut sum = 0;
        chunks.retain(|chunk| {
            let lacks = sum < bytes;
            sum += self.chunks[chunk];
            lacks
        });
    }

    fn add(&mut self, bytes: u64) -> u64 {
        self.last += 1;
        self.chunks.insert(self.last, bytes);
        self.last
    }

    /// Takes out the chunks that no user has.
    fn sweep(&mut self) {
        let users = self.users.values().flat_map(|user| user.chunks.iter().flatten());
        let used: BTreeSet<u64> = users.copied().collect();
        self.chunks.retain(|number, _| used.contains(number));
    }
}

#[cfg(test)]
mod tests;
