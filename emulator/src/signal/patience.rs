//! How long threads look for a change before they sleep.
//!
//! A thread that sleeps is late: on a virtual machine, whose idle cores the host system takes back, waking one takes
//! some 50 us, longer than most graphs run. So a thread that waits for a signal looks at it as long as a packet
//! processor works on another core, which is most of the time that a graph runs. If the packet processor is to run
//! on the core of the thread that waits for it, or sleeps, each further look only delays it.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::config::MAX_DEVICES;

/// How long a thread looks if no packet processor is awake: what it waits for may be another thread's.
const NOBODY: u64 = 5_000;
/// How long a thread looks while a packet processor that was called is about to wake up. On a machine that has other work
/// for its cores it may have been put behind this very thread.
const WAKING: u64 = 20_000;
/// So many waits that could look for a packet processor to wake up do not, after one that has looked in vain.
const SKIPPED: u8 = 15;
/// How long a thread looks while a packet processor works on another core.
const WORKING: u64 = 200_000;
/// How long a thread that asked to spin does so: sleeping costs less than a stolen core, of which a
/// laptop has few.
const ASKED: u64 = 60_000;

/// The value of an entry of [`Seats`] while its packet processor sleeps.
const ASLEEP: u32 = 0;
/// The same when the packet processor was woken and does not run yet. Other values are cores, plus one.
const CALLED: u32 = u32::MAX;

/// On which core each packet processor runs. A packet processor stores its own entry, when that changes; threads that
/// wake it only turn `ASLEEP` into `CALLED`. In cache lines of its own: packet processors look at it all the time.
#[repr(align(128))]
pub(crate) struct Seats([AtomicU32; MAX_DEVICES]);

/// The packet processors of this process.
pub(crate) static SEATS: Seats = Seats([const { AtomicU32::new(ASLEEP) }; MAX_DEVICES]);

/// What a thread that waits can expect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Outlook {
    /// No packet processor is awake.
    Nobody,
    /// One is awake, and cannot go on before this thread leaves the core.
    Here,
    /// One is about to wake up.
    Waking,
    /// One runs on another core.
    Working,
}

impl Outlook {
    fn limit(self) -> u64 {
        match self {
            Self::Nobody => NOBODY,
            Self::Here => 0,
            Self::Waking => WAKING,
            Self::Working => WORKING,
        }
    }
}

impl Seats {
    fn of(&self, device: u32) -> &AtomicU32 {
        &self.0[device as usize % MAX_DEVICES]
    }

    /// The packet processor of `device` runs on `core`.
    pub(crate) fn take(&self, device: u32, core: u32) {
        let (seat, value) = (self.of(device), (core + 1).min(CALLED - 1));
        // ORDER: Relaxed, here and below. An entry is a hint: a thread that misreads it looks or sleeps for too long,
        // and misses nothing.
        if seat.load(Ordering::Relaxed) != value {
            seat.store(value, Ordering::Relaxed);
        }
    }

    /// The packet processor of `device` goes to sleep.
    pub(crate) fn leave(&self, device: u32) {
        self.of(device).store(ASLEEP, Ordering::Relaxed);
    }

    /// The packet processor of `device` was woken.
    pub(super) fn call(&self, device: u32) {
        let _ = self.of(device).compare_exchange(ASLEEP, CALLED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// What a thread on `core` can expect.
    fn outlook(&self, core: u32) -> Outlook {
        let seen = self.0.iter().map(|seat| match seat.load(Ordering::Relaxed) {
            ASLEEP => Outlook::Nobody,
            CALLED => Outlook::Waking,
            other if other == core + 1 => Outlook::Here,
            _ => Outlook::Working,
        });
        seen.max().unwrap_or(Outlook::Nobody)
    }
}

thread_local! {
    /// Whether looking for long has ended, or would have ended, this thread's last wait.
    static PAID: Cell<bool> = const { Cell::new(true) };
    /// So many waits from now on do not look for packet processors that wake up.
    static SKIP: Cell<u8> = const { Cell::new(0) };
}

/// One wait of a thread that looks before it sleeps.
pub(super) struct Looking {
    active: bool,
    skips: bool,
}

impl Looking {
    /// A wait of this thread, which asks to spin if it is `active`.
    pub(super) fn new(active: bool) -> Self {
        let skip = SKIP.get();
        SKIP.set(skip.saturating_sub(1));
        Self { active, skips: skip > 0 }
    }

    /// How long the thread, on `core`, goes on before it sleeps, in nanoseconds since it began; it has looked for `passed`.
    pub(super) fn limit(&self, seats: &Seats, core: u32, passed: u64) -> u64 {
        let outlook = seats.outlook(core);
        if outlook == Outlook::Waking && passed >= WAKING {
            SKIP.set(SKIPPED);
        }
        // A thread that waits for long kernels, again and again, sleeps meanwhile.
        let asleep = !PAID.get() || outlook == Outlook::Waking && self.skips;
        let limit = if asleep { outlook.limit().min(NOBODY) } else { outlook.limit() };
        if self.active { limit.max(ASKED) } else { limit }
    }

    /// The wait has ended after so many nanoseconds, of looking or of sleep.
    pub(super) fn over(&self, time: u64) {
        PAID.set(time < WORKING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats() -> Seats {
        Seats([const { AtomicU32::new(ASLEEP) }; MAX_DEVICES])
    }

    /// Looks of a thread that knows nothing yet.
    fn looking(active: bool) -> Looking {
        PAID.set(true);
        SKIP.set(0);
        Looking::new(active)
    }

    #[test]
    fn a_wait_looks_for_long_only_while_a_packet_processor_runs_on_another_core() {
        let (seats, looking) = (seats(), looking(false));
        assert_eq!(looking.limit(&seats, 0, 0), NOBODY);
        seats.take(2, 5);
        assert_eq!(looking.limit(&seats, 0, 0), WORKING);
        assert_eq!(looking.limit(&seats, 5, 0), 0, "it would run if the core were free");
        seats.take(1, 3);
        assert_eq!(looking.limit(&seats, 5, 0), WORKING, "another may be what is waited for");
        seats.leave(1);
        seats.leave(2);
        assert_eq!(looking.limit(&seats, 0, 0), NOBODY);
    }

    #[test]
    fn one_that_is_called_is_expected_and_only_if_it_slept() {
        let (seats, looking) = (seats(), looking(false));
        seats.call(0);
        assert_eq!(looking.limit(&seats, 0, 0), WAKING);
        seats.take(0, 0);
        seats.call(0);
        assert_eq!(looking.limit(&seats, 0, 0), 0, "it has a core, which is this one");
    }

    #[test]
    fn a_wait_that_took_long_is_followed_by_waits_that_sleep_until_one_is_short() {
        let (seats, looking) = (seats(), looking(false));
        seats.take(0, 1);
        looking.over(WORKING);
        assert_eq!(looking.limit(&seats, 0, 0), NOBODY);
        looking.over(WORKING - 1);
        assert_eq!(looking.limit(&seats, 0, 0), WORKING);
    }

    #[test]
    fn a_thread_that_asks_to_spin_does() {
        let (seats, looking) = (seats(), looking(true));
        seats.take(0, 0);
        assert_eq!(looking.limit(&seats, 0, 0), ASKED);
        assert_eq!(looking.limit(&seats, 1, 0), WORKING);
    }

    #[test]
    fn a_wait_that_looks_in_vain_for_one_to_wake_up_spares_others_that() {
        let (seats, vain) = (seats(), looking(false));
        seats.call(0);
        assert_eq!(vain.limit(&seats, 0, WAKING), WAKING);
        for _ in 0..SKIPPED {
            let next = Looking::new(false);
            assert_eq!(next.limit(&seats, 0, 0), NOBODY);
            seats.take(0, 1);
            assert_eq!(next.limit(&seats, 0, 0), WORKING, "it is awake");
            seats.leave(0);
            seats.call(0);
        }
        assert_eq!(Looking::new(false).limit(&seats, 0, 0), WAKING, "now and then one tries again");
    }
}
