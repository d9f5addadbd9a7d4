//! Which commands come behind which by what the program has said, where that is checked.
//!
//! A vector clock for each stream, for each fence and for the host, whose threads count as one. What a packet waits for beside,
//! such as what lies on the same queue, is no order that the program has asked for.

#![forbid(unsafe_code)]

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

/// How many commands of each stream something comes behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    streams: BTreeMap<u64, u64>,
    /// Waits for what nobody here can tell, such as a word in memory, by their numbers: behind one it may come behind all that
    /// there is.
    open: BTreeSet<u64>,
}

impl Clock {
    fn join(&mut self, other: &Self) {
        self.join_counts(other);
        self.open.extend(&other.open);
    }

    fn join_counts(&mut self, other: &Self) {
        for (&stream, &count) in &other.streams {
            let known = self.streams.entry(stream).or_default();
            *known = count.max(*known);
        }
    }

    /// Whether it comes behind a command of a stream, which is that one's `count`-th.
    pub(crate) fn is_behind(&self, stream: u64, count: u64) -> bool {
        !self.open.is_empty() || self.streams.get(&stream).is_some_and(|&known| known >= count)
    }
}

/// The place of a command in the order that the program has asked for.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Counts all commands, in the order in which they were submitted.
    pub(crate) number: u64,
    /// The stream, and its how-manieth command this is.
    pub(crate) place: (u64, u64),
    /// What it comes behind.
    pub(crate) clock: Arc<Clock>,
}

#[derive(Default)]
struct Clocks {
    commands: u64,
    opens: u64,
    /// The host comes behind nothing that is open: what it has seen the end of came behind what was submitted by then.
    host: Clock,
    /// What streams came behind that are gone.
    ended: Clock,
    /// The open waits of which the host has seen the end.
    settled: BTreeSet<u64>,
    streams: HashMap<u64, Clock>,
    /// The streams that the default stream of their device orders, with the device and whether they are that.
    implicit: HashMap<u64, (usize, bool)>,
    /// By their addresses. One that is used again is marked again.
    fences: HashMap<usize, Arc<Clock>>,
}

impl Clocks {
    fn stream(&mut self, stream: u64) -> &mut Clock {
        self.streams.entry(stream).or_default()
    }

    fn open(&mut self, stream: u64) {
        self.opens += 1;
        let wait = self.opens;
        self.stream(stream).open.insert(wait);
    }

    /// The host has seen the end of what comes behind this, or behind something that is not known.
    fn pass(&mut self, behind: Option<&Clock>) {
        let Self { host, settled, streams, .. } = self;
        if let Some(behind) = behind.filter(|behind| behind.open.is_empty()) {
            return host.join_counts(behind);
        }
        streams.values().for_each(|clock| host.join_counts(clock));
        settled.extend(behind.iter().flat_map(|behind| &behind.open));
    }
}

/// The host, where it is counted like a stream.
const HOST: u64 = u64::MAX;

thread_local! {
    /// The place of the function call or the launch whose host work this thread is executing.
    static EXECUTING: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Told when the host comes behind more than before, or when a thread begins with what other commands come behind.
static LISTENER: OnceLock<fn()> = OnceLock::new();
static ARE_KEPT: AtomicBool = AtomicBool::new(false);
static CLOCKS: LazyLock<Mutex<Clocks>> = LazyLock::new(Mutex::default);

/// Has `listener` called whenever the host has come behind more than before, or a thread begins with what other commands come
/// behind, with no lock of the clocks held.
pub(crate) fn on_pass(listener: fn()) {
    // There is one.
    let _ = LISTENER.set(listener);
}

/// Whether the host comes behind a command.
pub(crate) fn host_is_behind(moment: &Moment) -> bool {
    let (stream, count) = moment.place;
    with(|clocks| clocks.host.is_behind(stream, count)).unwrap_or_default()
}

/// Executes the host work of the function call or the launch at `place`, after a call of the listener.
pub(crate) fn executing<T>(place: Option<(u64, u64)>, act: impl FnOnce() -> T) -> T {
    let outer = EXECUTING.replace(place);
    if place.is_some() {
        LISTENER.get().into_iter().for_each(|listener| listener());
    }
    let outcome = act();
    EXECUTING.set(outer);
    outcome
}

/// Whether a command comes behind the host work that this thread is executing.
pub(crate) fn is_behind_this_thread(moment: &Moment) -> bool {
    EXECUTING.get().is_some_and(|(stream, count)| moment.clock.is_behind(stream, count))
}

/// Lets the host come behind more than before.
#[inline(always)]
fn advance(act: impl FnOnce(&mut Clocks)) {
    if with(act).is_some() {
        LISTENER.get().into_iter().for_each(|listener| listener());
    }
}

/// Has clocks kept from now on.
pub(super) fn keep() {
    ARE_KEPT.store(true, Ordering::Relaxed);
}

#[inline(always)]
fn with<T>(act: impl FnOnce(&mut Clocks) -> T) -> Option<T> {
    if !ARE_KEPT.load(Ordering::Relaxed) {
        return None;
    }
    std::hint::cold_path();
    Some(act(&mut CLOCKS.lock()))
}

/// A thread submits to a stream: what it has waited for comes before.
#[inline(always)]
pub(crate) fn submit(stream: u64) {
    with(|clocks| {
        let Clocks { host, settled, streams, .. } = clocks;
        let clock = streams.entry(stream).or_default();
        clock.join(host);
        clock.open.retain(|wait| !settled.contains(wait));
        if let Some(&(device, is_default)) = clocks.implicit.get(&stream) {
            let ordered = |&(&other, &(its, kind)): &(&u64, &(usize, bool))| {
                other != stream && its == device && kind != is_default
            };
            let others: Vec<u64> = clocks.implicit.iter().filter(ordered).map(|(&other, _)| other).collect();
            for other in others {
                let clock = clocks.stream(other).clone();
                clocks.stream(stream).join(&clock);
            }
        }
    });
}

/// A stream waits for a fence.
#[inline(always)]
pub(crate) fn follow(stream: u64, fence: usize) {
    with(|clocks| match clocks.fences.get(&fence).cloned() {
        Some(behind) => clocks.stream(stream).join(&behind),
        // Of an event of a graph, whose place only the graph knows.
        None => clocks.open(stream),
    });
}

/// A stream waits for what nobody here can tell.
#[inline(always)]
pub(crate) fn open(stream: u64) {
    with(|clocks| clocks.open(stream));
}

/// A fence comes behind all that is on a stream.
#[inline(always)]
pub(crate) fn mark(stream: u64, fence: usize) {
    with(|clocks| {
        let clock = clocks.stream(stream).clone();
        clocks.fences.insert(fence, Arc::new(clock));
    });
}

/// A thread of the host has waited for a fence, or has asked and heard that it has fired.
#[inline(always)]
pub(crate) fn pass(fence: usize) {
    advance(|clocks| {
        let behind = clocks.fences.get(&fence).cloned();
        clocks.pass(behind.as_deref());
    });
}

/// What a function of the host comes behind that a stream calls next; to be [learnt](learn) when it is called.
pub(crate) fn now(stream: u64) -> Option<Clock> {
    with(|clocks| clocks.stream(stream).clone())
}

/// A new stream is the default stream of a device, or one of those that it orders.
pub(crate) fn order_implicitly(stream: u64, device: usize, is_default: bool) {
    with(|clocks| clocks.implicit.insert(stream, (device, is_default)));
}

/// A stream is gone, and its work may be in flight.
pub(crate) fn end(stream: u64) {
    with(|clocks| {
        clocks.implicit.remove(&stream);
        if let Some(clock) = clocks.streams.remove(&stream) {
            clocks.ended.join(&clock);
        }
    });
}

/// A thread of the host has waited for all that a device had, that of streams included that are gone.
pub(crate) fn drained() {
    advance(|clocks| {
        let ended = std::mem::take(&mut clocks.ended);
        clocks.pass(Some(&ended));
    });
}

/// The host is called behind what a clock says: what it does then may let other threads go on.
pub(crate) fn learn(clock: &Clock) {
    advance(|clocks| clocks.pass(Some(clock)));
}

/// The next command of a stream.
pub(crate) fn command(stream: u64) -> Option<Moment> {
    with(|clocks| {
        clocks.commands += 1;
        let number = clocks.commands;
        let clock = clocks.stream(stream);
        let before = Arc::new(clock.clone());
        let count = clock.streams.entry(stream).or_default();
        *count += 1;
        Moment { number, place: (stream, *count), clock: before }
    })
}

/// A call of the host's, as a command: what is submitted later comes behind it. `drained`: it has waited for all that was
/// submitted.
pub(crate) fn host_command(drained: bool) -> Option<Moment> {
    with(|clocks| {
        clocks.commands += 1;
        let mut before = clocks.host.clone();
        if drained {
            let streams = clocks.streams.values().chain([&clocks.ended]);
            streams.for_each(|clock| before.join_counts(clock));
        }
        let count = clocks.host.streams.entry(HOST).or_default();
        *count += 1;
        Moment { number: clocks.commands, place: (HOST, *count), clock: Arc::new(before) }
    })
}

/// How many commands there were.
pub(crate) fn commands() -> u64 {
    with(|clocks| clocks.commands).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(streams: &[(u64, u64)]) -> Clock {
        Clock { streams: streams.iter().copied().collect(), open: BTreeSet::new() }
    }

    #[test]
    fn a_clock_is_behind_the_latest_of_what_it_has_joined() {
        let mut clock = of(&[(1, 3)]);
        clock.join(&of(&[(1, 2), (2, 5)]));
        let known =
            [(1, 3), (1, 4), (2, 5), (2, 6), (3, 1)].map(|(stream, count)| clock.is_behind(stream, count));
        assert_eq!(known, [true, false, true, false, false]);
    }

    #[test]
    fn what_is_open_may_be_behind_anything_until_the_host_has_seen_its_end() {
        let mut clocks = Clocks::default();
        clocks.stream(1).join(&of(&[(1, 7)]));
        clocks.open(2);
        let waits = clocks.stream(2).clone();
        assert!(waits.is_behind(1, 7) && waits.is_behind(1, 8));
        clocks.pass(Some(&waits));
        assert!(
            clocks.host.is_behind(1, 7) && !clocks.host.is_behind(1, 8),
            "what was there by then, and no more"
        );
        assert_eq!(clocks.settled, waits.open);
    }

    #[test]
    fn the_host_is_behind_one_stream_alone_that_it_has_waited_for() {
        let mut clocks = Clocks::default();
        clocks.stream(1).join(&of(&[(1, 1)]));
        clocks.stream(2).join(&of(&[(2, 1)]));
        let one = clocks.stream(1).clone();
        clocks.pass(Some(&one));
        assert!(clocks.host.is_behind(1, 1) && !clocks.host.is_behind(2, 1));
    }
}
