//! A wave that is watched: what it has issued and not waited for, and what it comes behind.

use std::{collections::VecDeque, ops::Range, sync::Arc};

use super::{
    How, RaceAccess, RaceByte, RaceFinding, RaceKind, RaceWatch, SharedRaces,
    cell::{Access, Event, Meeting, Reach, Toucher},
    clock::{Clock, Times, join},
    shadow::Memory,
    shown::{Behind, Heard, Source, Upto, add},
    spans::Spans,
};

/// What the waves of a workgroup share.
pub(crate) struct Group {
    number: u64,
    /// Its waves, by their numbers in the dispatch.
    waves: Range<u32>,
    /// Bytes of LDS that the dispatch has asked for.
    bytes: u32,
    lds: Memory,
}

impl Group {
    /// A workgroup of so many waves that may touch so many bytes of LDS.
    pub(crate) fn new(number: u64, waves: u32, bytes: u32) -> Self {
        // CAST: waves beyond 2^32 share numbers, so that some of what they do is missed.
        let first = (number as u32).wrapping_mul(waves);
        Self { number, waves: first..first.saturating_add(waves), bytes, lds: Memory::new(1) }
    }
}

/// What is between the waves of a workgroup and those of others.
#[derive(Clone, Copy, Default)]
pub(crate) struct Caches {
    /// Stores have to be written back for the device to see them.
    pub(crate) writes_back: bool,
    /// The waves of a workgroup may have different caches, as in the WGP mode of RDNA.
    pub(crate) several: bool,
}

/// Which counter an access that was issued counts in until it is complete (MI200 ISA, 4.4; RDNA3 ISA, 5.6; RDNA4 ISA, 5.7).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// VMCNT, on RDNA 4 LOADCNT.
    Vector,
    /// VMCNT, of a load whose data go to LDS.
    ToLds,
    /// VSCNT, on RDNA 4 STORECNT: what RDNA counts by itself and does not return anything.
    Store,
    /// LGKMCNT, on RDNA 4 DSCNT.
    Local,
    /// None that orders anything here, as KMCNT of RDNA 4.
    Nothing,
}

/// How many accesses may be incomplete, of each counter.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) vector: usize,
    pub(crate) store: usize,
    pub(crate) local: usize,
}

impl Most {
    /// As many as there are.
    pub(crate) const ALL: Self = Self { vector: usize::MAX, store: usize::MAX, local: usize::MAX };
    /// None: all are waited for.
    pub(crate) const NONE: Self = Self { vector: 0, store: 0, local: 0 };
}

/// The most that a counter counts; instructions beyond that wait.
const MOST: usize = 63;
/// Where a wave remembers to have read.
const HEARD: usize = 64;
/// Of how many of these it tells others.
const TOLD: usize = 4;
/// What all waves of a dispatch meet at: no address of memory.
const GRID: u64 = u64::MAX;

/// What the lanes of an instruction touch of memory, and of LDS.
#[derive(Default)]
pub(crate) struct Touched {
    pub(crate) memory: Spans,
    pub(crate) lds: Spans,
}

/// A wave's part.
pub(crate) struct Racing {
    group: Arc<Group>,
    shared: SharedRaces,
    pub(crate) watch: RaceWatch,
    /// Its number in the dispatch.
    wave: u32,
    caches: Caches,
    /// The instruction that it is at, where that does not follow from where it goes on.
    pub(crate) at: Option<u64>,
    /// How many accesses it has issued.
    time: u32,
    /// Those that may not be complete: their times, and whether their data go to LDS; without a time those of scratch.
    vector: VecDeque<(Option<u32>, bool)>,
    stores: VecDeque<Option<u32>>,
    local: VecDeque<u32>,
    /// Whether it has waited for all that it had issued to memory, and issued nothing since.
    has_waited: bool,
    /// What it had issued and was behind at the latest writeback that is complete, and at one that may not be.
    flushed: Option<(u32, Arc<Clock>)>,
    flushing: Option<(u32, Arc<Clock>)>,
    /// What it comes behind.
    clock: Arc<Clock>,
    /// What it comes behind once it invalidates the cache of its compute unit, where its workgroup has several of them.
    near: Arc<Clock>,
    /// What it comes behind once it invalidates its caches; accesses of its own workgroup, which shares them, already.
    seen: Arc<Clock>,
    /// What it has read in LDS and in memory, where others may have shown something, and not asked for.
    heard: [Heard; 2],
    /// Room for what an instruction touches.
    pub(crate) room: Touched,
    /// Dwords of memory and of LDS that its latest access reads.
    reading: Vec<(bool, u64)>,
    /// Whether it is behind more than it has published, to readers of memory and to those of LDS.
    is_news: [bool; 2],
    /// The load that it has executed last, and where, if nothing else was accessed since.
    polled: Option<(bool, u64, u64)>,
    /// When it was at a resource of global wave sync.
    met: Option<u32>,
    /// Whether it has invalidated the cache of its shader array, and loaded nothing since (RDNA 2 and 3).
    is_fresh: bool,
    /// What it has brought to the barriers that it has signalled, by their numbers (RDNA 4).
    signalled: VecDeque<(u64, Arrival)>,
}

/// What a wave brings to a barrier.
#[derive(Clone, Default)]
struct Arrival {
    clock: Arc<Clock>,
    near: Arc<Clock>,
    seen: Arc<Clock>,
    heard: [Heard; 2],
}

impl Arrival {
    fn join(&mut self, other: &Self) {
        join(&mut self.clock, &other.clock);
        join(&mut self.near, &other.near);
        join(&mut self.seen, &other.seen);
        for (heard, more) in self.heard.iter_mut().zip(&other.heard) {
            more.iter().for_each(|(source, upto)| {
                add(heard, *source, *upto);
            });
        }
    }
}

impl Racing {
    /// Watches a wave of a workgroup, by its number there.
    pub(crate) fn new(
        group: &Arc<Group>,
        number: u32,
        shared: &SharedRaces,
        watch: RaceWatch,
        caches: Caches,
    ) -> Self {
        Self {
            group: Arc::clone(group),
            shared: Arc::clone(shared),
            watch,
            wave: group.waves.start.wrapping_add(number),
            caches,
            at: None,
            time: 0,
            vector: VecDeque::new(),
            stores: VecDeque::new(),
            local: VecDeque::new(),
            has_waited: false,
            flushed: None,
            flushing: None,
            clock: Arc::default(),
            near: Arc::default(),
            seen: Arc::default(),
            heard: Default::default(),
            room: Touched::default(),
            reading: Vec::new(),
            is_news: [true; 2],
            polled: None,
            met: None,
            is_fresh: false,
            signalled: VecDeque::new(),
        }
    }

    /// Watches the `next` wave, in the room that this one has needed.
    pub(crate) fn go_on_with(&mut self, next: Self) {
        let last = std::mem::replace(self, next);
        (self.room, self.vector, self.stores, self.local) = (last.room, last.vector, last.stores, last.local);
        self.vector.clear();
        self.stores.clear();
        self.local.clear();
    }

    /// Waits until no more than so many accesses are incomplete. `is_release`: with what an atomic store has before it.
    pub(crate) fn wait(&mut self, most: Most, is_release: bool) {
        let is_first = |len: usize, most: usize| len.saturating_sub(most);
        self.vector.drain(..is_first(self.vector.len(), most.vector));
        self.stores.drain(..is_first(self.stores.len(), most.store));
        self.local.drain(..is_first(self.local.len(), most.local));
        self.has_waited |= is_release;
        if self.flushing.as_ref().is_some_and(|(time, _)| *time <= self.complete()) {
            self.flushed = self.flushing.take();
            self.is_news = [true; 2];
        }
    }

    /// Writes caches back, so that the device sees what it has stored, and what it is behind.
    pub(crate) fn write_back(&mut self) {
        let mut clock = self.behind();
        Arc::make_mut(&mut clock).promote(&self.group.waves);
        self.issue(Counter::Vector);
        self.flushing = Some((self.time, clock));
    }

    /// Invalidates the caches before that of the device: loads get what it has heard of.
    pub(crate) fn invalidate(&mut self) {
        self.listen(false);
        join(&mut self.clock, &self.near);
        join(&mut self.clock, &self.seen);
        (self.near, self.seen) = Default::default();
    }

    /// Invalidates the cache of its compute unit alone: loads get what its workgroup has shown it.
    pub(crate) fn invalidate_near(&mut self) {
        if self.is_fresh {
            return self.invalidate();
        }
        self.listen(false);
        join(&mut self.clock, &self.near);
        self.near = Arc::default();
        Arc::make_mut(&mut self.clock).join_of(&self.seen, &self.group.waves);
    }

    /// Invalidates the cache behind that of its compute unit, which is to be invalidated next.
    pub(crate) fn invalidate_far(&mut self) {
        self.is_fresh = true;
    }

    /// All that it is behind, and its workgroup sees.
    fn behind(&self) -> Arc<Clock> {
        let mut clock = Arc::clone(&self.clock);
        join(&mut clock, &self.near);
        join(&mut clock, &self.seen);
        clock
    }

    /// Asks for what was shown where it has read, or for what was in LDS only.
    fn listen(&mut self, only_lds: bool) {
        let mut seen = Behind { clock: std::mem::take(&mut self.seen), ..Behind::default() };
        let [lds, memory] = &mut self.heard;
        if !(lds.is_empty() && memory.is_empty()) {
            self.is_news = [true; 2];
        }
        for (source, upto) in lds.drain() {
            let times = |(time, released)| Times { device: 0, group: time - 1, local: released };
            self.group.lds.shown.lock().acquire(source, upto, &mut seen, times);
        }
        if only_lds {
            seen.heard.drain().for_each(|(source, upto)| {
                add(memory, source, upto);
            });
            self.seen = seen.clock;
            return;
        }
        let mut left: Vec<_> = memory.drain().chain(seen.heard.drain()).collect();
        let mut asked = Heard::default();
        while let Some((source, upto)) = left.pop() {
            if !add(&mut asked, source, upto) {
                continue;
            }
            let mut shown = self.shared.memory.shown.lock();
            if source == Source::Atomics(GRID) {
                // Compilers invalidate caches before they wait for the grid, and rely on that behind it.
                let mut behind = Behind { clock: std::mem::take(&mut self.clock), ..Behind::default() };
                shown.acquire(source, upto, &mut behind, |_| Times::default());
                self.clock = behind.clock;
                left.extend(behind.heard);
            } else {
                let times =
                    |(_, released): Upto| Times { device: released, group: released, local: released };
                shown.acquire(source, upto, &mut seen, times);
                left.extend(seen.heard.drain());
            }
        }
        self.seen = seen.clock;
    }

    /// Notes that its access reads what others may show in these dwords, once it is executed.
    pub(crate) fn hear(&mut self, in_memory: bool, dwords: impl Iterator<Item = u64>) {
        self.reading.extend(dwords.map(|at| (in_memory, at)));
    }

    /// Its latest access is executed.
    pub(crate) fn settle(&mut self) {
        if self.reading.is_empty() {
            return;
        }
        let mut reading = std::mem::take(&mut self.reading);
        for (in_memory, at) in reading.drain(..) {
            let memory = if in_memory { &self.shared.memory } else { &self.group.lds };
            memory.read(self.wave, at, |source, upto| {
                if add(&mut self.heard[usize::from(in_memory)], source, upto) {
                    self.is_news = [true; 2];
                }
            });
        }
        self.reading = reading;
        if self.heard.iter().any(|heard| heard.len() > HEARD) {
            self.listen(false);
        }
    }

    /// Counts an access of scratch, which is its own, and completes when it is waited for.
    pub(crate) fn issue_scratch(&mut self, counter: Counter) {
        match counter {
            Counter::Store => self.count_store(None),
            _ => self.count((None, false)),
        }
    }

    fn count_store(&mut self, store: Option<u32>) {
        if self.stores.len() == MOST {
            self.stores.pop_front();
        }
        self.stores.push_back(store);
    }

    fn count(&mut self, vector: (Option<u32>, bool)) {
        if self.vector.len() == MOST {
            self.vector.pop_front();
        }
        self.vector.push_back(vector);
    }

    /// Counts an access, which completes when it is waited for.
    fn issue(&mut self, counter: Counter) {
        self.time += 1;
        match counter {
            Counter::Vector | Counter::ToLds => {
                self.count((Some(self.time), counter == Counter::ToLds));
                self.has_waited = false;
            }
            Counter::Store => {
                self.count_store(Some(self.time));
                self.has_waited = false;
            }
            Counter::Nothing => {}
            Counter::Local => {
                if self.local.len() == MOST {
                    self.local.pop_front();
                }
                self.local.push_back(self.time);
            }
        }
    }

    /// The latest of its accesses up to which all to memory are complete.
    fn complete(&self) -> u32 {
        let (loads, stores) = (self.vector.iter().map(|(time, _)| *time), self.stores.iter().copied());
        let first = [loads.flatten().next(), stores.flatten().next()].into_iter().flatten().min();
        first.map_or(self.time, |time| time - 1)
    }

    /// What others come behind that learn of its next access: of that as well, if nothing is left to wait for before it.
    fn times(&self) -> Times {
        let Times { device, group, local } = self.done();
        let with_next = |done: u32| if done == self.time { done + 1 } else { done };
        Times { device: with_next(device), group: with_next(group), local: with_next(local) }
    }

    /// Which of its accesses are complete.
    fn done(&self) -> Times {
        let complete = self.complete();
        let to_lds = self.vector.iter().find(|(_, to_lds)| *to_lds).and_then(|(time, _)| *time);
        let local =
            self.local.front().copied().into_iter().chain(to_lds).min().map_or(self.time, |time| time - 1);
        let device = match (self.caches.writes_back, &self.flushed) {
            (false, _) => complete,
            (true, Some((time, _))) => *time,
            (true, None) => 0,
        };
        Times { device, group: complete, local }
    }

    /// What others come behind that learn of what it does next, beside its own accesses; `None` if they know.
    fn news(&mut self, in_memory: bool) -> Option<Behind> {
        // The device sees what its workgroup has stored once it has itself waited.
        let is_settled = !in_memory || self.caches.writes_back || self.complete() == self.time;
        if !self.is_news[usize::from(in_memory)] || !is_settled {
            return None;
        }
        // What is much to tell is asked for before.
        self.listen(self.heard[1].len() <= TOLD);
        self.is_news[usize::from(in_memory)] = false;
        let mut clock = self.behind();
        match &self.flushed {
            _ if !in_memory => {}
            Some((_, flushed)) => join(&mut clock, flushed),
            None if self.caches.writes_back => {}
            None => Arc::make_mut(&mut clock).promote(&self.group.waves),
        }
        // Nothing was told before either, since a wave forgets nothing.
        let has_news = !clock.is_empty() || !self.heard[1].is_empty();
        has_news.then(|| Behind { clock, heard: self.heard[1].clone() })
    }

    /// Whether it has waited for all accesses to memory, since there were any.
    pub(crate) fn has_waited(&self) -> bool {
        self.has_waited && self.complete() == self.time
    }

    /// Is at a resource of global wave sync, which all waves of the dispatch meet at.
    pub(crate) fn meet_all(&mut self) {
        if self.met.replace(self.time) != Some(self.time) {
            let times = self.times();
            let news = self.news(true);
            let mut shown = self.shared.memory.shown.lock();
            if let Some(news) = news {
                shown.publish(self.wave, self.time, news);
            }
            shown.release(GRID, self.wave, self.time, times);
        }
        self.hear(true, [GRID].into_iter());
    }

    /// Touches bytes of memory or of LDS; an atomic shows there what it comes behind.
    pub(crate) fn touch(&mut self, in_memory: bool, access: Access, counter: Counter, spans: &Spans) {
        let times = self.times();
        let news = if access.how == How::Read { None } else { self.news(in_memory) };
        self.issue(counter);
        self.is_fresh &= access.how == How::Write || !in_memory;
        let released = if in_memory { times.device } else { times.local };
        let event = Event::new(self.wave, self.time, released, access);
        let mut unordered = Vec::new();
        let memory = if in_memory { &self.shared.memory } else { &self.group.lds };
        // Before others see what it has touched.
        if news.is_some() || access.how == How::Atomic {
            let mut shown = memory.shown.lock();
            if let Some(news) = news {
                shown.publish(self.wave, self.time, news);
            }
            if access.how == How::Atomic {
                spans.dwords().for_each(|at| shown.release(at, self.wave, self.time, times));
            }
        }
        let toucher = Toucher {
            group: &self.group.waves,
            wants_same: self.watch.same_values,
            is_before: |other: &Event| self.is_behind(in_memory, &access, other),
        };
        memory.touch(event, spans, &toucher, |other, at, mask, meeting| {
            unordered.push((*other, at, mask, meeting));
        });
        if !unordered.is_empty() {
            // Something that it has read before may say otherwise.
            self.listen(false);
        }
        for (other, at, mask, meeting) in unordered {
            match meeting {
                Meeting::LoopLoad => self.shared.know_loop(other.access.pc),
                Meeting::SameInstruction => self.tell(RaceKind::Lanes, in_memory, [&event, &other], at, mask),
                _ if self.is_behind(in_memory, &access, &other) => {}
                Meeting::Conflict => self.tell(RaceKind::Waves, in_memory, [&event, &other], at, mask),
                Meeting::SameValue => self.tell(RaceKind::SameValue, in_memory, [&event, &other], at, mask),
            }
        }
        self.poll(in_memory, &access, spans);
    }

    /// Notes a load of one place: what is loaded there again and again, with no access between, may be a flag that it waits for.
    fn poll(&mut self, in_memory: bool, access: &Access, spans: &Spans) {
        let only = spans.only().filter(|_| access.how == How::Read);
        let place = only.map(|at| (in_memory, at, access.pc));
        let Some((_, at, pc)) = place else { return self.polled = None };
        if self.polled == place {
            self.shared.know_poll(pc);
        }
        self.polled = place;
        self.hear(in_memory, [at & !3].into_iter());
    }

    /// Whether an access of another wave is before one of its own that comes next.
    fn is_behind(&self, in_memory: bool, access: &Access, other: &Event) -> bool {
        let is_of_group = self.group.waves.contains(&other.wave);
        let behind = |clock: &Clock| {
            let Times { device, group, local } = clock.of(other.wave);
            let time = if !in_memory {
                local
            } else if is_of_group {
                group
            } else {
                device
            };
            time >= other.time
        };
        // Plain loads may find something older in the cache, unless that was invalidated.
        let is_fresh = |reach: Reach| access.how != How::Read || access.coherent >= reach;
        let shares_caches = !in_memory || is_of_group && !self.caches.several;
        behind(&self.clock)
            || (shares_caches || is_fresh(Reach::Group)) && behind(&self.near)
            || (shares_caches || is_fresh(if is_of_group { Reach::Group } else { Reach::Device }))
                && behind(&self.seen)
    }

    /// What it brings to a barrier that it is at.
    fn arrive(&self) -> Arrival {
        let mut arrival = Arrival {
            clock: Arc::clone(&self.clock),
            near: Arc::clone(&self.near),
            seen: Arc::clone(&self.seen),
            heard: self.heard.clone(),
        };
        if self.caches.several {
            // What others know already they may not load before they invalidate their caches.
            join(&mut arrival.near, &self.clock);
            Arc::make_mut(&mut arrival.near).raise(self.wave, self.done());
        } else {
            // Waves of a workgroup share a cache, which takes accesses in order.
            let times = Times { group: self.time, ..self.done() };
            Arc::make_mut(&mut arrival.clock).raise(self.wave, times);
        }
        arrival
    }

    /// Signals a barrier that it will wait at, by its number (RDNA 4).
    pub(crate) fn signal(&mut self, barrier: u64) {
        let arrival = self.arrive();
        self.signalled.push_back((barrier, arrival));
    }

    /// What it has brought to a barrier with this number when it signalled it, if it has.
    fn brought(&self, barrier: u64) -> Option<&Arrival> {
        self.signalled.iter().find_map(|(number, arrival)| (*number == barrier).then_some(arrival))
    }

    /// Goes on behind a barrier with this number, to which all have brought so much.
    fn depart(&mut self, barrier: u64, all: &Arrival) {
        let has_gone_on = self.brought(barrier).is_some();
        let mut now = Arrival::default();
        if has_gone_on {
            self.settle();
            self.signalled.retain(|(number, _)| *number > barrier);
            now = self.arrive();
        }
        now.join(all);
        // In a cache of its own there may be something older than what others know.
        if !self.caches.several {
            self.clock = now.clock;
        }
        (self.near, self.seen, self.heard) = (now.near, now.seen, now.heard);
        self.is_news = [true; 2];
    }

    fn tell(&self, kind: RaceKind, in_memory: bool, [event, other]: [&Event; 2], at: u64, mask: u8) {
        let waves = self.group.waves.end - self.group.waves.start;
        let named = |event: &Event| RaceAccess {
            workgroup: (event.wave / waves.max(1)).into(),
            wave: event.wave % waves.max(1),
            how: event.access.how,
            pc: event.access.pc,
        };
        let first = (at & !3) + u64::from(mask.trailing_zeros());
        self.shared.add(RaceFinding {
            kind,
            access: named(event),
            other: Some(named(other)),
            // CAST: LDS has 160 KiB at most.
            byte: if in_memory { RaceByte::Memory(first) } else { RaceByte::Lds(first as u32) },
            count: mask.count_ones().into(),
        });
    }

    /// Notes an access of so many bytes of LDS, if it leaves those that the dispatch has asked for. Says whether it does.
    pub(crate) fn leaves(&self, access: &Access, offset: u32, bytes: u32) -> bool {
        let leaves = offset.checked_add(bytes).is_none_or(|end| end > self.group.bytes);
        if leaves && self.watch.bounds {
            self.tell_outside(access.how, access.pc, RaceByte::Lds(offset));
        }
        leaves
    }

    /// Notes an access that leaves the scratch of its lane, at an offset there.
    pub(crate) fn leave_scratch(&self, how: How, pc: u64, offset: u32) {
        if self.watch.bounds {
            self.tell_outside(how, pc, RaceByte::Scratch(offset));
        }
    }

    /// What it does at an instruction.
    pub(crate) fn access(&self, how: How, pc: u64) -> RaceAccess {
        RaceAccess { workgroup: self.group.number, wave: self.wave - self.group.waves.start, how, pc }
    }

    fn tell_outside(&self, how: How, pc: u64, byte: RaceByte) {
        let access = self.access(how, pc);
        self.shared.add(RaceFinding { kind: RaceKind::Outside, access, other: None, byte, count: 1 });
    }
}

/// All waves of a workgroup have met at a barrier, or have ended, and some of them, which are told apart, go on. `barrier` is its
/// number where it was signalled before (RDNA 4), or 0.
pub(crate) fn meet<'a>(barrier: u64, waves: impl Iterator<Item = (&'a mut Racing, bool)>) {
    let mut waves: Vec<_> = waves.collect();
    if waves.is_empty() {
        return;
    }
    let mut all = Arrival::default();
    for (wave, _) in &mut waves {
        if let Some(arrival) = wave.brought(barrier) {
            all.join(arrival);
        } else {
            wave.settle();
            all.join(&wave.arrive());
        }
    }
    for (wave, _) in waves.into_iter().filter(|(_, goes_on)| *goes_on) {
        wave.depart(barrier, &all);
    }
}
