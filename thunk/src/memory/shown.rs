//! What one device reaches, as ranges that never overlap.
//!
//! Registrations of host memory may overlap each other and memory of ours; the emulator's maps may not. Each piece
//! here is one range of such a map, together with the mappings that want it there: it goes when the last of them
//! goes. A piece is never split, so that a running kernel never sees a hole where there is none.

use std::{collections::BTreeMap, sync::Arc};

use emulator::driver::{Access, Driver};

/// Keeps memory mapped while a device may touch it.
pub type Backing = Arc<dyn Send + Sync>;

/// A device's map.
pub trait Reach {
    /// The device reaches `start..start + size` from now on.
    fn show(&self, device: u32, start: u64, size: u64, access: Access, backing: Option<Backing>);
    /// The device no longer reaches the range that was shown at `start`.
    fn hide(&self, device: u32, start: u64);
}

impl Reach for Driver {
    fn show(&self, device: u32, start: u64, size: u64, access: Access, backing: Option<Backing>) {
        // SAFETY: memory of ours is kept by its backing; host memory that the client registered stays, by the
        // interface's contract, until the client has unmapped it and what uses it has ended.
        unsafe { Driver::show(self, device, start, size, access, backing) };
    }

    fn hide(&self, device: u32, start: u64) {
        let shown = Driver::hide(self, device, start);
        debug_assert!(shown, "{start:#x} was not shown to device {device}");
    }
}

/// Names a mapping among those of all devices.
pub type Owner = u64;

struct Piece {
    end: u64,
    access: Access,
    backing: Option<Backing>,
    owners: Vec<Owner>,
}

/// What one device reaches.
pub struct Shown {
    device: u32,
    pieces: BTreeMap<u64, Piece>,
}

/// A range to be shown.
pub struct Range<'a> {
    /// First address.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// What the device may do there.
    pub access: Access,
    /// What keeps it mapped.
    pub backing: Option<&'a Backing>,
}

impl Shown {
    /// Device `device` reaches nothing.
    pub fn new(device: u32) -> Self {
        Self { device, pieces: BTreeMap::new() }
    }

    /// Starts of the pieces that touch `start..end`.
    fn touching(&self, start: u64, end: u64) -> Vec<u64> {
        let below = self.pieces.range(..=start).next_back().filter(|(_, piece)| piece.end > start);
        let above = self.pieces.range(start.saturating_add(1)..end);
        below.into_iter().chain(above).map(|(start, _)| *start).collect()
    }

    /// Shows what is not shown yet of a range; pieces that are gain an owner.
    pub fn add(&mut self, reach: &impl Reach, owner: Owner, range: &Range<'_>) {
        let mut at = range.start;
        let mut holes = Vec::new();
        for start in self.touching(range.start, range.end) {
            if at < start {
                holes.push((at, start));
            }
            let Some(piece) = self.pieces.get_mut(&start) else { continue };
            at = piece.end;
            if !piece.owners.contains(&owner) {
                piece.owners.push(owner);
            }
            let access = Access {
                writable: piece.access.writable || range.access.writable,
                executable: piece.access.executable || range.access.executable,
                home: piece.access.home,
            };
            if access != piece.access {
                piece.access = access;
                reach.hide(self.device, start);
                reach.show(self.device, start, piece.end - start, access, piece.backing.clone());
            }
        }
        if at < range.end {
            holes.push((at, range.end));
        }
        for (start, end) in holes {
            let backing = range.backing.cloned();
            reach.show(self.device, start, end - start, range.access, backing.clone());
            let piece = Piece { end, access: range.access, backing, owners: vec![owner] };
            self.pieces.insert(start, piece);
        }
    }

    /// Hides what only `owner` wanted of `start..end`.
    pub fn remove(&mut self, reach: &impl Reach, owner: Owner, start: u64, end: u64) {
        for start in self.touching(start, end) {
            let Some(piece) = self.pieces.get_mut(&start) else { continue };
            let before = piece.owners.len();
            piece.owners.retain(|other| *other != owner);
            if before > 0 && piece.owners.is_empty() {
                self.pieces.remove(&start);
                reach.hide(self.device, start);
            }
        }
    }
}
