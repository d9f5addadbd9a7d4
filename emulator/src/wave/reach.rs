//! Whether a wave may touch an address: the small cache in front of the allocation map, then the map.

use super::{
    FaultKind, Surroundings, Wave,
    exec::{shape, transfer::Linear},
    near::Near,
};
use crate::{
    isa::{Flow, Inst},
    memory::Allocation,
    race::RaceAccess,
    touched::How,
};

impl Wave {
    /// Whether one allocation, or several that adjoin, contain all of `first..=last` (both inclusive) and may be written
    /// if `write`.
    #[inline(always)]
    pub(super) fn allows(&mut self, first: u64, last: u64, write: bool) -> bool {
        self.near.allows(self.pc, first, last, write) || self.allows_cold(first, last, write)
    }

    #[cold]
    fn allows_cold(&mut self, first: u64, last: u64, write: bool) -> bool {
        let allowed = self.knows_plainly(first, last, write);
        if allowed {
            self.note_touch(first, last, write);
        }
        allowed
    }

    /// As [`Wave::allows`], for live lanes that touch `bytes` bytes each and not what lies between: all of that is in
    /// `first..=last`.
    #[inline(always)]
    pub(super) fn allows_lanes(
        &mut self,
        lanes: Linear,
        bytes: u32,
        (first, last): (u64, u64),
        write: bool,
    ) -> bool {
        self.near.allows(self.pc, first, last, write)
            || self.allows_lanes_cold(lanes, bytes, (first, last), write)
    }

    #[cold]
    fn allows_lanes_cold(
        &mut self,
        Linear { base, row }: Linear,
        bytes: u32,
        (first, last): (u64, u64),
        write: bool,
    ) -> bool {
        let allowed = self.knows_plainly(first, last, write);
        if let Some(notes) = self.notes.as_ref().filter(|_| allowed) {
            let offsets = self.row(row);
            let addresses = shape::lanes(self.exec).map(|lane| base.wrapping_add(u64::from(offsets[lane])));
            let how = how(write);
            notes.note_each(addresses, bytes.into(), how, &|| self.access(how));
        }
        allowed
    }

    /// What [`Wave::allows`] says of memory without caches: behind caches every lane is moved by itself, so that nothing is
    /// remembered and no range is allowed.
    fn knows_plainly(&mut self, first: u64, last: u64, write: bool) -> bool {
        self.view.is_none() && self.knows(first, last, write)
    }

    /// Notes what is touched, where that is observed.
    fn note_touch(&self, first: u64, last: u64, write: bool) {
        if let Some(notes) = &self.notes {
            let how = how(write);
            notes.note(first, last, how, &|| self.access(how));
        }
    }

    /// The address of the instruction that is executed, which accesses memory.
    pub(super) fn access_pc(&self) -> u64 {
        // Each such has 8 bytes, unless it is of RDNA 4, and the next one is pointed to.
        let looked_at = self.racing.as_ref().and_then(|racing| racing.at);
        looked_at.unwrap_or_else(|| self.pc.wrapping_sub(8))
    }

    /// The access that is executed, where bounds are watched.
    fn access(&self, how: How) -> Option<RaceAccess> {
        self.racing.as_deref().map(|racing| racing.access(how, self.access_pc()))
    }

    /// What [`Wave::allows`] says, by the map.
    fn knows(&mut self, first: u64, last: u64, write: bool) -> bool {
        let access = Access { pc: self.pc, write };
        let end = last.checked_add(1).filter(|&end| first < end);
        if self.memory.is_paged(first) && !(self.has_page(first) && self.has_page(last)) {
            self.renew();
        }
        if self.finds(&access, first, last) {
            return true;
        }
        // Host pages that are pinned twice, and mappings side by side, are several ranges without a gap.
        if self.covers(first, end, write) {
            return true;
        }
        // An allocation may have been made since the snapshot was taken.
        self.renew() && (self.finds(&access, first, last) || self.covers(first, end, write))
    }

    /// Whether the process still has the page of an address that the pager has mapped.
    fn has_page(&self, address: u64) -> bool {
        self.surroundings.map.has_pages(address, address.saturating_add(1))
    }

    /// What [`Wave::allows`] says, once the pager has brought what is missing.
    #[cold]
    fn faults(&mut self, first: u64, last: u64, write: bool) -> bool {
        let end = last.checked_add(1).filter(|&end| first < end);
        end.is_some_and(|end| self.surroundings.map.fault(first, end, write))
            && self.knows(first, last, write)
    }

    fn covers(&self, first: u64, end: Option<u64>, write: bool) -> bool {
        end.is_some_and(|end| self.memory.covers(first, end, write))
    }

    /// Whether one allocation of the snapshot allows an access; it is remembered then.
    fn finds(&mut self, access: &Access, first: u64, last: u64) -> bool {
        let fits = |a: &Allocation| last < a.end && first <= last && (a.writable || !access.write);
        let found = self.memory.find(first).filter(|a| fits(a));
        if let Some(a) = found {
            access.note(a, &mut self.near, &self.surroundings, &mut self.has_stored);
        }
        found.is_some()
    }

    /// Takes a new snapshot; `false` if there is none.
    fn renew(&mut self) -> bool {
        let fresh = self.surroundings.map.snapshot();
        if std::sync::Arc::ptr_eq(&fresh, &self.memory) {
            return false;
        }
        self.memory = fresh;
        self.near.clear();
        true
    }

    /// Checks one lane's access of `bytes` bytes.
    ///
    /// # Errors
    /// The fault that the access raises.
    #[inline(always)]
    pub(super) fn check(
        &mut self,
        address: u64,
        bytes: u32,
        lane: usize,
        write: bool,
    ) -> Result<(), FaultKind> {
        let last = address.wrapping_add(u64::from(bytes) - 1);
        if self.allows(address, last, write) || self.reaches(address, last, write) {
            Ok(())
        } else {
            Err(FaultKind::Memory { address, lane: lane as u8, bytes: bytes as u8, write })
        }
    }

    /// As [`Wave::check`], of an atomic.
    pub(super) fn check_atomic(&mut self, address: u64, bytes: u32, lane: usize) -> Result<(), FaultKind> {
        let notes = self.notes.take();
        let checked = self.check(address, bytes, lane, true);
        if let (Some(notes), Ok(())) = (&notes, &checked) {
            let last = address.wrapping_add(u64::from(bytes) - 1);
            notes.note(address, last, How::Atomic, &|| self.access(How::Atomic));
        }
        self.notes = notes;
        checked
    }

    /// What [`Wave::allows`] says, of a device with caches, and of pages that a pager brings.
    #[cold]
    fn reaches(&mut self, first: u64, last: u64, write: bool) -> bool {
        let is_cached = self.view.is_some();
        let reached = is_cached && self.knows(first, last, write) || self.faults(first, last, write);
        if is_cached {
            self.near.clear();
        }
        if reached {
            self.note_touch(first, last, write);
        }
        reached
    }

    /// Turns a fault kind into a stopped wave.
    #[inline(always)]
    pub(super) fn finish(&mut self, inst: &Inst, result: Result<(), FaultKind>) -> Flow {
        match result {
            Ok(()) => Flow::Next,
            Err(kind) => self.fault(inst, kind),
        }
    }
}

fn how(write: bool) -> How {
    if write { How::Write } else { How::Read }
}

/// An instruction that touches memory.
struct Access {
    pc: u64,
    write: bool,
}

impl Access {
    /// Remembers which allocation the instruction touches. Where reads are watched nothing is remembered, so that each
    /// access comes here.
    fn note(&self, a: &Allocation, near: &mut Near, surroundings: &Surroundings, has_stored: &mut bool) {
        if !surroundings.map.is_watched() {
            near.remember(self.pc, a);
        } else if self.write {
            *has_stored = true;
        } else if let Some(socket) = a.socket {
            surroundings.host.read(socket, !*has_stored);
        }
    }
}
