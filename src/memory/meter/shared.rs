//! A count that threads have in shares. `model` includes this file, too, on atomics and a lock of loom's.
//!
//! What is in use lies some *slack* below the high mark, and the slack is dealt out: counting more takes from a share,
//! counting less puts into it. As long as a share has enough, the mark cannot be reached, and no other thread needs to
//! know. A thread that finds too little takes the others' shares; if all of them together are not enough, the mark goes up.

use super::{AtomicI64, Meter, Mutex, MutexGuard, Ordering, SHARES};

/// In place of slack: the thread that has the ledger locked has the share, or it was not used yet.
const TAKEN: i64 = -1;

/// In a pair of cache lines of its own: processors fetch pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Share(AtomicI64);

/// A [`Meter`] in shares.
#[derive(Debug)]
pub struct Shared {
    shares: [Share; SHARES],
    ledger: Mutex<Ledger>,
}

#[derive(Debug, Default)]
pub struct Ledger {
    /// The most that was ever in use: what is, and all slack.
    high: i64,
    /// A bit for each share that was used: the others have nothing.
    used: u64,
}

const _: () = assert!(SHARES <= u64::BITS as usize);

impl Default for Shared {
    fn default() -> Self {
        let share = |_| Share(AtomicI64::new(TAKEN));
        Self { shares: std::array::from_fn(share), ledger: Mutex::new(Ledger::default()) }
    }
}

impl Shared {
    /// Counts `bytes` more.
    #[inline]
    pub fn add(&self, own: usize, bytes: u64) {
        // CAST: fewer bytes than 2^63 have addresses.
        let bytes = bytes as i64;
        // ORDER: release, here and below. A thread that takes a share behind this finds what its thread did to others before.
        let change = |slack| (slack >= bytes).then(|| slack - bytes);
        if self.shares[own].0.fetch_update(Ordering::Release, Ordering::Relaxed, change).is_err() {
            self.add_with_others(own, bytes);
        }
    }

    /// Counts `bytes` less.
    #[inline]
    pub fn sub(&self, own: usize, bytes: u64) {
        // CAST: as above.
        let bytes = bytes as i64;
        let change = |slack| (slack != TAKEN).then(|| slack + bytes);
        if self.shares[own].0.fetch_update(Ordering::Release, Ordering::Relaxed, change).is_err() {
            let mut ledger = self.ledger();
            ledger.used |= 1 << own;
            let slack = self.take(own);
            self.put(own, slack + bytes);
        }
    }

    /// Counts more than the share has: with slack of others, and with a higher mark if there is not enough.
    #[cold]
    fn add_with_others(&self, own: usize, bytes: i64) {
        let mut ledger = self.ledger();
        ledger.used |= 1 << own;
        let mut found = self.take(own);
        let mut taken = 0u64;
        for other in bits(ledger.used & !(1 << own)) {
            if found >= bytes {
                break;
            }
            let slack = self.take(other);
            let over = slack - (bytes - found);
            if over >= 0 {
                // Half of it stays for the thread that has put it there, which may want it again.
                self.put(other, over / 2);
                found = bytes + (over - over / 2);
            } else {
                // Stays taken: the mark goes up only if there is no slack anywhere at one moment.
                taken |= 1 << other;
                found += slack;
            }
        }
        if found < bytes {
            ledger.high += bytes - found;
            found = bytes;
        }
        bits(taken).for_each(|other| self.put(other, 0));
        self.put(own, found - bytes);
    }

    /// Has the mark start anew: what is in use now is the most so far.
    pub fn reset_high(&self) {
        let mut ledger = self.ledger();
        let slack: i64 = bits(ledger.used).map(|share| self.take(share)).sum();
        ledger.high -= slack;
        bits(ledger.used).for_each(|share| self.put(share, 0));
    }

    /// What is in use, and the most that ever was.
    pub fn read(&self) -> Meter {
        let ledger = self.ledger();
        let mut slack = [0; SHARES];
        // All of them before any goes back: together they are true of one moment.
        bits(ledger.used).for_each(|share| slack[share] = self.take(share));
        bits(ledger.used).for_each(|share| self.put(share, slack[share]));
        let current = ledger.high - slack.iter().sum::<i64>();
        debug_assert!(current >= 0, "more came back than was counted");
        // CAST: the mark is not negative.
        Meter { current: current.max(0) as u64, high: ledger.high as u64 }
    }

    /// Takes what a share has, until it is [put](Self::put) back. The caller has the ledger locked.
    fn take(&self, share: usize) -> i64 {
        // ORDER: acquire, pairs with the release of the thread that counted on it.
        self.shares[share].0.swap(TAKEN, Ordering::AcqRel).max(0)
    }

    fn put(&self, share: usize, slack: i64) {
        self.shares[share].0.store(slack, Ordering::Release);
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock()
    }

    /// Keeps other threads from the ledger and from others' shares.
    #[cfg(test)]
    pub fn hold(&self) -> MutexGuard<'_, Ledger> {
        self.ledger()
    }
}

/// The bits that are set, from the lowest on.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        // CAST: a number below 64.
        (bit < u64::BITS).then_some(bit as usize)
    })
}
