//! What packets see of memory, by their fences alone.
//!
//! Without a device, so that many images can be played: `src/exec/caches.rs` launches a few on one. Each unit writes one
//! word, and a queue sees of the words what the rules of the HSA memory model say that it must, and no more: a packet's
//! writes reach its device when it releases at agent scope or wider, and everybody else at system scope; a packet sees
//! what had reached its device when it, or the latest packet of its queue that did, acquired.

use hsa::packet::{Fences, Scope};

use super::super::Image;

/// The word that the stream wrote before the launch.
pub(super) const BEFORE: u64 = 1 << 63;

/// Words that somebody sees, a bit each.
type Words = u64;

/// What each queue, each device and everybody sees.
pub(super) struct Memory {
    /// What every packet's unit has to see: the words of those that it depends on, and what was before.
    needs: Vec<Words>,
    everybody: Words,
    devices: Vec<Words>,
    /// By queue: the words as of the latest acquire, and those that its packets have written and not released.
    seen: Vec<Words>,
    kept: Vec<Words>,
    pub(super) stale: Option<String>,
}

impl Memory {
    /// Before a launch of `image`; each unit needs the words of the units in its row.
    pub(super) fn new(image: &Image, needs: impl Iterator<Item = Words>) -> Self {
        let devices = image.lanes.iter().map(|lane| usize::from(lane.device) + 1).max().unwrap_or(1);
        Self {
            needs: needs.map(|needs| needs | BEFORE).collect(),
            everybody: BEFORE,
            devices: vec![0; devices],
            seen: vec![0; image.lanes.len()],
            kept: vec![0; image.lanes.len()],
            stale: None,
        }
    }

    fn look(&mut self, unit: usize, seen: Words) {
        let missing = self.needs[unit] & !seen;
        if missing != 0 {
            let words: Vec<_> = (0..64).filter(|word| missing >> word & 1 != 0).collect();
            self.stale.get_or_insert(format!("unit {unit} sees old words {words:?}"));
        }
    }

    /// A packet is launched, which does a unit's work or none.
    pub(super) fn launch(&mut self, (lane, device): (usize, usize), fences: Fences, unit: Option<usize>) {
        if fences.acquire == Scope::System {
            self.devices[device] |= self.everybody;
        }
        if fences.acquire != Scope::None {
            self.seen[lane] = self.devices[device];
        }
        if let Some(unit) = unit {
            self.look(unit, self.seen[lane]);
        }
    }

    /// A packet has completed.
    pub(super) fn complete(&mut self, (lane, device): (usize, usize), fences: Fences, unit: Option<usize>) {
        let own = unit.map_or(0, |unit| 1 << unit);
        // With the barrier bit everything before it on its queue had completed.
        let before = if fences.barrier { std::mem::take(&mut self.kept[lane]) } else { 0 };
        match fences.release {
            Scope::None => self.kept[lane] |= own | before,
            Scope::Agent => self.devices[device] |= own | before,
            Scope::System => {
                self.devices[device] |= own | before;
                self.everybody |= own | before | self.seen[lane];
            }
        }
    }

    /// The host does a unit's work.
    pub(super) fn host(&mut self, unit: usize) {
        self.look(unit, self.everybody);
        self.everybody |= 1 << unit;
    }

    /// The words that everybody sees when the launch is over.
    pub(super) fn everybody(&self) -> Words {
        self.everybody
    }
}
