//! One workgroup: its waves take turns on one host thread.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;

use crate::{
    convergence::{Awaited, Converging},
    coverage,
    isa::Target,
    memory::coherence::{Origin, Scope, View},
    os::Mapping,
    race::{self, Caches, Group, RaceWatch, Racing},
    touched::Notes,
    uninit::Contents,
    wave::{Exit, Fault, Question, Surroundings, Vector, Wave, code::Code, lockstep},
};

/// Dwords of instructions of one wave before the next one's turn.
const TURN: u64 = 2048;
/// Bytes of LDS that a workgroup can have on the card that has most.
pub const LDS_BYTES: u32 = 160 * 1024;
/// LDS is given out in units of this many bytes.
pub const LDS_GRANULE: u32 = 512;
/// Rows of 256 bytes in an LDS buffer.
const LDS_ROWS: usize = LDS_BYTES as usize / 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    AtBarrier,
    Ended,
}

struct Slot {
    state: State,
    wave: Box<Wave>,
    /// Backing of the wave's scratch, if it has one.
    scratch: Option<Mapping>,
}

/// How a turn of a workgroup ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All waves ended.
    Done,
    /// There is more to do. `idle`: every wave that could run gave way, so others should run first.
    Suspended { idle: bool },
    /// A wave faulted.
    Fault { wave: u32, fault: Fault },
}

/// The waves of a workgroup and the LDS that they share.
pub(crate) struct Workgroup {
    /// Number in the grid, x fastest.
    pub id: u64,
    /// The compute unit that it runs on.
    pub unit: u32,
    slots: Vec<Slot>,
    /// Whether every second wave shares its registers with the one before.
    is_paired: bool,
    lds: Option<Box<[Vector; LDS_ROWS]>>,
    /// What it sees of memory from each compute unit that it is on, if not what the host sees.
    views: Box<[Arc<View>]>,
    /// Whether stores get beyond the compute unit in time, though no instruction waits for them.
    writes_through: bool,
}

impl Workgroup {
    /// A workgroup of `waves` waves whose registers `init` fills in; it is called with the number of each wave.
    /// LDS and scratch contain what their last user left.
    ///
    /// # Errors
    /// The kernel's, if there is no memory for the scratch.
    pub fn new(
        id: u64,
        unit: u32,
        waves: u32,
        resources: &Resources,
        pool: &mut Pool,
        mut init: impl FnMut(u32, &mut Wave),
    ) -> std::io::Result<Self> {
        let mut lds = (resources.lds_bytes > 0).then(|| pool.lds.pop().unwrap_or_else(lds_buffer));
        let base = lds.as_mut().map_or(std::ptr::null_mut(), |b| b.as_mut_ptr().cast::<u8>());
        let map = &resources.surroundings.map;
        let units = if resources.has_several_caches { 2 } else { 1 };
        let is_layered = resources.target.is_rdna();
        let views = resources.origin.map(|origin| View::several(map, origin, units, is_layered));
        let views = views.unwrap_or_default();
        let writes_through = !resources.target.is_gfx940();
        let group = (resources.watches.races != RaceWatch::default())
            .then(|| Arc::new(Group::new(id, waves, resources.group_bytes)));
        let lds_shadow = resources
            .watches
            .uninit
            .then(|| Arc::new(Mutex::new(Contents::of(resources.lds_bytes as usize))));
        let mut slots = pool.lists.pop().unwrap_or_default();
        let is_paired = resources.is_paired();
        for number in 0..waves {
            let first = slots.last().filter(|_| is_paired && number % 2 == 1).map(|slot: &Slot| &*slot.wave);
            let mut wave = pool.wave(resources, first);
            wave.set_lanes(resources.lanes);
            wave.lds = base;
            wave.lds_size = resources.lds_bytes;
            let scratch = match resources.scratch_bytes {
                0 => None,
                bytes => match pool.scratch(bytes) {
                    Ok(mapping) => Some(mapping),
                    Err(error) => {
                        pool.keep(wave);
                        Self { id, unit, slots, is_paired, lds, views, writes_through }.retire(pool);
                        return Err(error);
                    }
                },
            };
            wave.scratch = scratch.as_ref().map_or(0, Mapping::address);
            wave.scratch_stride = resources.scratch_bytes;
            if !views.is_empty() {
                wave.near.clear();
                wave.view = views.get(number as usize % units).cloned();
            }
            match group.as_ref().zip(resources.notes.as_ref()) {
                Some((group, notes)) => {
                    let caches = Caches {
                        writes_back: resources.target.is_gfx940(),
                        several: resources.has_several_caches,
                    };
                    let racing = Racing::new(group, number, &notes.races, resources.watches.races, caches);
                    match &mut wave.racing {
                        Some(last) => last.go_on_with(racing),
                        None => wave.racing = Some(Box::new(racing)),
                    }
                }
                None => wave.racing = None,
            }
            let notes = resources.notes.as_ref().filter(|_| resources.watches.sync.is_some());
            wave.converging =
                notes.map(|notes| Box::new(Converging::new(id, number, Arc::clone(&notes.sync))));
            match lds_shadow.as_ref().zip(resources.notes.as_ref()) {
                Some((lds, notes)) => {
                    let uninit = wave.uninit.get_or_insert_default();
                    // What is known of a lane's stack has its place among 64, however many there are.
                    let scratch = resources.scratch_bytes / resources.lanes * 64;
                    uninit.begin((id, number), scratch, lds, &notes.uninit);
                }
                None => wave.uninit = None,
            }
            init(number, &mut wave);
            slots.push(Slot { state: State::Ready, wave, scratch });
        }
        Ok(Self { id, unit, slots, is_paired, lds, views, writes_through })
    }

    /// Runs the waves in turns until all ended, all give way, or about `budget` instructions are done.
    pub fn run(&mut self, code: &[Arc<Code>], budget: u64) -> Turn {
        let turn = self.take_turns(code, budget);
        if self.writes_through && matches!(turn, Turn::Suspended { .. }) {
            self.views.iter().for_each(|view| view.release(Scope::Agent));
        }
        turn
    }

    fn take_turns(&mut self, code: &[Arc<Code>], budget: u64) -> Turn {
        let mut left = budget;
        loop {
            let (mut live, mut ready, mut worked, mut asked) = (0u32, 0u32, false, false);
            let alone = self.slots.iter().filter(|s| s.state == State::Ready).count() == 1;
            let turn = if alone { left } else { TURN };
            let size = if self.is_paired { 2 } else { 1 };
            for (first, slots) in self.slots.chunks_mut(size).enumerate() {
                let exits = take_turn(slots, code, turn, &mut left);
                for (n, (slot, exit)) in slots.iter_mut().zip(exits).enumerate() {
                    if let Some(exit) = exit {
                        let is_spinning = slot.wave.end_turn(exit);
                        worked |= exit != Exit::Yield && !is_spinning;
                        match exit {
                            Exit::Slice | Exit::Yield => {}
                            Exit::Barrier if slot.wave.question.is_some() => asked = true,
                            Exit::Barrier => slot.state = State::AtBarrier,
                            Exit::End => slot.state = State::Ended,
                            Exit::Stop => {
                                let fault = slot.wave.stop.take();
                                // PANIC: a wave that stops says why.
                                let fault = fault.expect("a stopped wave has a fault");
                                // CAST: a workgroup has at most 32 waves.
                                return Turn::Fault { wave: (first * size + n) as u32, fault };
                            }
                        }
                    }
                    live += u32::from(slot.state != State::Ended);
                    ready += u32::from(slot.state == State::Ready);
                }
            }
            if asked {
                self.answer();
            }
            if live == 0 {
                self.judge();
                return Turn::Done;
            }
            if ready > 0
                && self.slots.iter().any(|slot| slot.state == State::AtBarrier && slot.wave.arrivals > 0)
            {
                self.pass();
            }
            if ready == 0 {
                // All that live have arrived; those that ended do not count (MI200 ISA, 4.3).
                self.go_on(u64::MAX);
            }
            if !worked {
                return Turn::Suspended { idle: true };
            }
            if left == 0 {
                return Turn::Suspended { idle: false };
            }
        }
    }

    /// Lets waves go on that wait where all that live have signalled, though not all wait there (RDNA 4).
    fn pass(&mut self) {
        let live = self.slots.iter().filter(|slot| slot.state != State::Ended);
        let arrivals = live.map(|slot| slot.wave.arrivals).min();
        self.go_on(arrivals.unwrap_or(u64::MAX));
    }

    /// Lets waves go on that wait, if they have signalled so often at most.
    fn go_on(&mut self, arrivals: u64) {
        let goes_on = |slot: &Slot| slot.state == State::AtBarrier && slot.wave.arrivals <= arrivals;
        let Some(barrier) = self.slots.iter().find(|slot| goes_on(slot)).map(|slot| slot.wave.arrivals)
        else {
            return;
        };
        let waves = self.slots.iter_mut().filter_map(|slot| {
            let goes_on = goes_on(slot);
            slot.wave.racing.as_deref_mut().map(|racing| (racing, goes_on))
        });
        race::meet(barrier, waves);
        self.meet();
        for slot in self.slots.iter_mut().filter(|slot| goes_on(slot)) {
            slot.state = State::Ready;
        }
    }

    /// Answers what waves have asked about the barrier, one after the other (RDNA 4).
    #[cold]
    fn answer(&mut self) {
        for number in 0..self.slots.len() {
            let Some(question) = self.slots[number].wave.question.take() else { continue };
            let live = self.slots.iter().filter(|slot| slot.state != State::Ended);
            let arrivals = live.map(|slot| slot.wave.arrivals);
            let (least, most) = (arrivals.clone().min().unwrap_or(0), arrivals.clone().max().unwrap_or(0));
            let (members, ahead) = (arrivals.clone().count(), arrivals.filter(|n| *n > least).count());
            let wave = &mut self.slots[number].wave;
            match question {
                Question::IsFirst => {
                    wave.arrivals += 1;
                    wave.scc = wave.arrivals > most;
                }
                // CAST: a workgroup has at most 32 waves.
                Question::State(dst) => wave.set_scalar(dst, (ahead << 16 | members << 4 | 1) as u32),
            }
        }
    }

    /// A wave that goes round in a loop, if all do that do not wait for others: its number, the instruction that asks for what would
    /// end the loop, and what that is. Only where that is watched.
    pub fn deadlock(&self) -> Option<(u32, u64, Awaited)> {
        let mut first = None;
        for (number, slot) in (0..).zip(&self.slots).filter(|(_, slot)| slot.state == State::Ready) {
            let (pc, awaited) = slot.wave.awaited()?;
            first = first.or(Some((number, pc, awaited)));
        }
        first
    }

    /// Whether it is watched where its lanes and waves come together.
    fn is_converging(&self) -> bool {
        self.slots.first().is_some_and(|slot| slot.wave.converging.is_some())
    }

    /// Tells the waves that are watched which of them meet at a barrier.
    fn meet(&mut self) {
        if !self.is_converging() {
            return;
        }
        let waits = |slot: &Slot| (slot.state == State::AtBarrier).then(|| slot.wave.barrier());
        let Some(first) = self.slots.iter().find_map(waits) else { return };
        let other = self.slots.iter().filter_map(waits).find(|barrier| *barrier != first);
        for slot in &mut self.slots {
            let mine = waits(slot);
            let Some(converging) = &mut slot.wave.converging else { return };
            match (mine, other) {
                // One that has signalled and goes on waits later.
                (None, _) if slot.state != State::Ended => {}
                (None, _) => converging.rounds.miss(first),
                (Some(mine), Some(other)) if mine == first => converging.rounds.cross(mine, other),
                (Some(mine), Some(_)) => converging.rounds.cross(mine, first),
                (Some(_), None) => {}
            }
        }
    }

    /// Finds the waves that are watched and have gone past a barrier.
    fn judge(&self) {
        if !self.is_converging() {
            return;
        }
        let all = self.slots.iter().filter_map(|slot| slot.wave.converging.as_deref());
        for converging in all.clone() {
            if let Some(shown) = converging.rounds.judge(all.clone().map(|other| &other.rounds)) {
                converging.not_reached(shown);
            }
        }
    }

    /// Gives everything back for the next workgroup.
    pub fn retire(mut self, pool: &mut Pool) {
        if !self.views.is_empty() {
            self.slots.iter_mut().for_each(|slot| slot.wave.view = None);
            self.views.iter().for_each(|view| view.end());
        }
        for slot in self.slots.drain(..) {
            pool.keep(slot.wave);
            pool.scratches.extend(slot.scratch);
        }
        pool.lds.extend(self.lds);
        pool.lists.push(self.slots);
    }
}

/// A turn of a wave, or of two that share their registers, of about so many dwords of instructions each, which are taken from
/// `left`. How those stopped that are ready.
fn take_turn(slots: &mut [Slot], code: &[Arc<Code>], turn: u64, left: &mut u64) -> [Option<Exit>; 2] {
    let mut unused = turn;
    if let [first, second] = slots
        && [&*first, &*second].iter().all(|slot| slot.state == State::Ready)
    {
        let exits = lockstep::run([&mut first.wave, &mut second.wave], code, &mut unused);
        *left = left.saturating_sub(2 * (turn - unused));
        return exits.map(Some);
    }
    let mut exits = [None; 2];
    for (slot, exit) in slots.iter_mut().zip(&mut exits).filter(|(slot, _)| slot.state == State::Ready) {
        unused = turn;
        *exit = Some(slot.wave.run(code, &mut unused));
        *left = left.saturating_sub(turn - unused);
    }
    exits
}

/// What workgroups look at for tools beside the bytes that they touch.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watches {
    /// Accesses that nothing orders, or beyond LDS.
    pub races: RaceWatch,
    /// Where lanes and waves do not come together, and deadlocks that last so long.
    pub sync: Option<Duration>,
    /// What depends on bytes that nothing has written.
    pub uninit: bool,
}

/// What each workgroup of a dispatch gets.
#[derive(Clone)]
pub(crate) struct Resources {
    pub target: Target,
    /// Lanes of a wave: 32 or 64.
    pub lanes: u32,
    /// Bytes, a multiple of the granule.
    pub lds_bytes: u32,
    /// Bytes per wave, a multiple of 256.
    pub scratch_bytes: u32,
    pub surroundings: Surroundings,
    /// Where its view of memory begins, on a device with caches.
    pub origin: Option<Origin>,
    /// The allocations when the dispatch began.
    pub memory: Arc<crate::memory::Snapshot>,
    /// Where its waves note what they touch.
    pub notes: Option<Arc<Notes>>,
    /// What else they note.
    pub watches: Watches,
    /// Bytes of LDS that were asked for.
    pub group_bytes: u32,
    /// Whether the waves of a workgroup may have different caches: those of both units of RDNA's WGP mode.
    pub has_several_caches: bool,
}

impl Resources {
    /// Whether waves may go in lockstep: they have 32 lanes, no caches are modelled, and no tool looks at what each does.
    fn is_paired(&self) -> bool {
        self.lanes == 32 && self.origin.is_none() && self.notes.is_none() && !coverage::enabled()
    }
}

fn lds_buffer() -> Box<[Vector; LDS_ROWS]> {
    let rows = vec![Vector([0; 64]); LDS_ROWS].into_boxed_slice();
    // PANIC: the slice has just been made with this length.
    rows.try_into().unwrap_or_else(|_| unreachable!())
}

/// Register files, LDS and scratch that a worker's workgroups use one after the other: to make them anew would cost
/// more than many workgroups take.
#[derive(Default)]
pub(crate) struct Pool {
    #[expect(clippy::vec_box, reason = "a wave is larger than what should be moved about")]
    waves: Vec<Box<Wave>>,
    /// Those that had the second halves of others' registers.
    #[expect(clippy::vec_box, reason = "as above")]
    seconds: Vec<Box<Wave>>,
    lds: Vec<Box<[Vector; LDS_ROWS]>>,
    scratches: Vec<Mapping>,
    lists: Vec<Vec<Slot>>,
}

impl Pool {
    /// A wave with registers of its own, or with the second halves of another one's.
    fn wave(&mut self, resources: &Resources, first: Option<&Wave>) -> Box<Wave> {
        // SAFETY: the waves of a workgroup run one after the other, and move between threads together; both of these go on as
        // waves of 32 lanes, until they are given registers anew.
        let half = first.map(|first| unsafe { first.vgpr.second_half() });
        let pool = if half.is_some() { &mut self.seconds } else { &mut self.waves };
        match pool.pop() {
            Some(mut wave) => {
                wave.reset(resources.target, &resources.surroundings, &resources.memory);
                if let Some(half) = half {
                    wave.vgpr = half;
                }
                wave
            }
            None => {
                let (target, surroundings) = (resources.target, resources.surroundings.clone());
                let mut wave = Box::new(Wave::with_file(target, surroundings, half.unwrap_or_default()));
                wave.memory = Arc::clone(&resources.memory);
                wave
            }
        }
    }

    fn keep(&mut self, wave: Box<Wave>) {
        let pool = if wave.vgpr.is_second_half() { &mut self.seconds } else { &mut self.waves };
        pool.push(wave);
    }

    fn scratch(&mut self, bytes: u32) -> std::io::Result<Mapping> {
        while let Some(mapping) = self.scratches.pop() {
            if mapping.size() >= bytes as usize {
                return Ok(mapping);
            }
        }
        Mapping::anonymous((bytes as usize).next_power_of_two().max(64 * 1024))
    }

    /// Forgets everything that belongs to a dispatch: what its waves know of the memory keeps freed memory alive.
    pub fn release(&mut self) {
        for wave in self.waves.iter_mut().chain(&mut self.seconds) {
            wave.memory = Arc::default();
            wave.near.clear();
            wave.notes = None;
            wave.racing = None;
            wave.converging = None;
            wave.uninit = None;
        }
    }
}
