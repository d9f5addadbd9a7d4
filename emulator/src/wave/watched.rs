//! LDS that is watched: each access of a lane is noted in the shadow of its workgroup.

use super::Wave;
use crate::local::{How, LocalLane, WatchedLocal};

impl Wave {
    /// Whether LDS is watched and has these bytes.
    #[cold]
    pub(super) fn watched_local_contains(&self, offset: u32, bytes: u32) -> bool {
        let end = offset.checked_add(bytes);
        self.watched_local.as_ref().zip(end).is_some_and(|(watched, end)| end <= watched.size)
    }

    /// Bytes of LDS.
    pub(super) fn local_size(&self) -> u32 {
        self.watched_local.as_ref().map_or(self.lds_size, |watched| watched.size)
    }

    /// Whether LDS is watched and has these bytes, which a lane reads or changes by an atomic; that is noted.
    #[cold]
    pub(super) fn watches_local(&self, bytes: (u32, u32), lane: usize, how: How) -> bool {
        let Some(watched) = &self.watched_local else { return false };
        self.note(watched, bytes, lane, how, |_| true);
        self.watched_local_contains(bytes.0, bytes.1)
    }

    /// Stores a lane's datum of some bytes to LDS that is watched, unless it is outside.
    #[cold]
    pub(super) fn store_watched(
        &self,
        (offset, bytes): (u32, u32),
        lane: usize,
        write: impl FnOnce(*mut u8),
    ) {
        let Some(watched) = &self.watched_local else { return };
        let (mut before, mut after, len) = ([0u8; 16], [0u8; 16], bytes as usize);
        write(after.as_mut_ptr());
        if self.watched_local_contains(offset, bytes) {
            let at = self.lds.wrapping_add(offset as usize);
            // SAFETY: inside of LDS, which only this thread touches; no datum is longer than the buffers.
            unsafe {
                at.copy_to_nonoverlapping(before.as_mut_ptr(), len);
                at.copy_from_nonoverlapping(after.as_ptr(), len);
            }
        }
        self.note(watched, (offset, bytes), lane, How::Write, |n| before.get(n) != after.get(n));
    }

    fn note(
        &self,
        watched: &WatchedLocal,
        bytes: (u32, u32),
        lane: usize,
        how: How,
        changed: impl Fn(usize) -> bool,
    ) {
        let lane = LocalLane { wave: watched.wave, pc: self.pc, lane };
        watched.shadow.lock().touch(&watched.findings, lane, bytes, how, changed);
    }
}
