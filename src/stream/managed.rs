//! Managed memory in the order of a stream: where it is wanted, and what it need not hold any more.

use std::sync::Arc;

use super::{Stream, rules::refuse_uncapturable};
use crate::{
    device::{
        System,
        fence::{Keep, PooledSignal},
    },
    error::Result,
    memory::{Processor, managed},
};

/// What the driver has of a prefetch until it is done.
struct Prefetch {
    /// It begins when this is 0.
    reached: Arc<PooledSignal>,
    /// It decrements this.
    done: Arc<PooledSignal>,
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        if !self.done.has_fired() {
            // A fault has taken what the driver waits for. It may still look at the signals: no packet may have them again.
            std::mem::forget((self.reached.clone(), self.done.clone()));
        }
    }
}

impl Stream {
    /// Has ranges of managed memory, by first byte and number of bytes, moved to where they will be used, once the stream
    /// gets here; what follows waits for it. Memory that does not move is within everybody's reach: where it was wanted is
    /// remembered.
    ///
    /// # Errors
    /// [`Error::InvalidValue`](crate::Error::InvalidValue) for a range that is empty or not within one managed allocation:
    /// none is moved then; what capture forbids; a fault of earlier work.
    pub fn prefetch(&self, spans: &[(u64, u64)], to: &[Processor]) -> Result<()> {
        refuse_uncapturable(self, "prefetching memory")?;
        let system = System::get()?;
        let ranges = managed::ranges(spans)?;
        let agents: Result<Vec<_>> = to.iter().map(|&place| managed::agent_of(system, place)).collect();
        let (agents, moving) = (agents?, ranges.iter().filter(|range| range.pages().is_some()).count());
        let mut outcome = Ok(());
        if moving > 0 {
            let mut submission = self.submission()?;
            // CAST: as many as there are ranges.
            let (reached, done) = (submission.signal(1)?, submission.edges(moving as i64)?);
            submission.mark(&reached);
            submission.keep(Keep::Other(Arc::new(Prefetch { reached: reached.clone(), done: done.clone() })));
            for (range, agent) in ranges.iter().zip(&agents) {
                let Some(pages) = range.pages() else { continue };
                let deps = [reached.handle()];
                // SAFETY: the stream keeps both signals until it has passed; `Prefetch` sees to the rest.
                let moved = unsafe { pages.shared().prefetch(range.span(), agent, &deps, done.handle()) };
                if let Err(error) = moved {
                    done.subtract(1, std::sync::atomic::Ordering::Release);
                    outcome = Err(error.into());
                }
            }
            submission.wait_signal(done);
            for range in &ranges {
                submission.keep(Keep::Other(range.region()));
            }
            submission.finish()?;
        }
        ranges.iter().zip(to).for_each(|(range, to)| managed::note_prefetch(range, *to));
        outcome
    }

    /// Lets ranges of managed memory lose what they hold once the stream gets here. Whole pages of memory that moves give
    /// their memory up, wherever it lies, and hold zeros; memory that does not move keeps what it holds.
    ///
    /// # Errors
    /// As [`Stream::prefetch`].
    pub fn discard(&self, spans: &[(u64, u64)]) -> Result<()> {
        refuse_uncapturable(self, "discarding memory")?;
        let ranges = managed::ranges(spans)?;
        if ranges.iter().all(|range| range.pages().is_none()) {
            return Ok(());
        }
        self.run_on_host(move || ranges.iter().for_each(managed::Range::discard))
    }
}
