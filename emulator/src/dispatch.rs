//! One kernel dispatch: from the packet's fields to the last workgroup.
//!
//! A [`Dispatch`] says what is to be done and keeps the account; any number of threads do it at the same time, each
//! through a [`Share`] of its own with the register files of its [`Worker`].

mod fault;
mod launch;
mod registers;
mod residency;
mod share;

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

pub use fault::DispatchFault;
pub use launch::{Launch, LaunchError};
pub use residency::Residency;
pub use share::{Progress, Share, Worker};

use crate::{
    convergence::{SyncFinding, SyncKind},
    device::card,
    isa::Target,
    memory::{Snapshot, coherence::Origin},
    os::hidden,
    touched::Notes,
    units::{Timetable, UnitPlace, UnitSlice},
    wave::{
        Fault, Surroundings, Wave,
        code::{self, Ranges},
    },
    workgroup::{LDS_GRANULE, Resources, Watches},
};
use loader::{KernelDescriptor, Processor};
use registers::Registers;

/// Work-items per workgroup.
const MAX_WORKGROUP: u32 = 1024;
/// Bytes of scratch per wave of 64 lanes: 13 bits in units of 1 KiB (COMPUTE_TMPRING_SIZE on GFX9). Waves of 32 lanes have half
/// of it, so that a work-item can have as much on every card.
const MAX_SCRATCH: u64 = 8191 * 1024;

/// What a dispatch needs to know of its device.
#[derive(Clone)]
pub struct Environment {
    /// Its instruction set.
    pub target: Target,
    /// The compute units that workgroups may run on, at least one.
    pub units: Arc<[u32]>,
    /// Dies that the device's compute units are dealt out to, one after the other.
    pub dies: u32,
    /// How many waves the device holds, all dispatches together.
    pub residency: Arc<Residency>,
    /// Allocations, apertures, and where messages go.
    pub surroundings: Surroundings,
    /// The code that may run, from [`Registry::snapshot`](crate::wave::code::Registry::snapshot).
    pub code: Ranges,
}

/// A kernel dispatch under way.
pub struct Dispatch {
    launch: Launch,
    /// Address of the first instruction.
    entry: u64,
    /// Workgroups in x, y and z, partial ones included.
    groups: [u32; 3],
    registers: Registers,
    resources: Resources,
    code: Ranges,
    units: Arc<[u32]>,
    dies: u32,
    /// Whether waves of a workgroup may run on different compute units.
    is_split: bool,
    residency: Arc<Residency>,
    /// When its workgroups run, if that is to be known.
    timetable: Option<Box<Timetable>>,
    /// The next workgroup that no share took.
    next: AtomicU64,
    /// Workgroups that are neither done nor given up.
    remaining: AtomicU64,
    fault: OnceLock<DispatchFault>,
    /// The rest is not wanted any more.
    stopped: AtomicBool,
    /// Factor and offset that permute the workgroups, for a drawn order; the factor has no divisor in common
    /// with their number.
    order: (u64, u64),
}

impl Dispatch {
    /// Reads the kernel's descriptor and checks that the dispatch can be done.
    ///
    /// Group and private sizes come from `launch`: the kernel object may be of an older layout, which agrees with
    /// the descriptor only in the entry offset and the register words.
    ///
    /// # Errors
    /// What is wrong with the launch.
    pub fn new(environment: &Environment, launch: Launch) -> Result<Self, LaunchError> {
        let items = launch.workgroup.iter().map(|&n| u32::from(n)).product::<u32>();
        if items == 0 || launch.grid.contains(&0) {
            return Err(LaunchError::Empty);
        }
        if launch.workgroup.iter().any(|&n| u32::from(n) > MAX_WORKGROUP) || items > MAX_WORKGROUP {
            return Err(LaunchError::WorkgroupSize { items });
        }
        let most = card(environment.target).group_memory;
        if launch.group_bytes > most {
            return Err(LaunchError::GroupSegment { bytes: launch.group_bytes, most });
        }
        if (u64::from(launch.private_bytes) * 64).next_multiple_of(1024) > MAX_SCRATCH {
            return Err(LaunchError::PrivateSegment { bytes: launch.private_bytes });
        }
        let memory = environment.surroundings.map.snapshot();
        let descriptor = descriptor(&memory, launch.kernel_object)?;
        let lanes = lanes(&descriptor, environment.target);
        let entry = launch.kernel_object.wrapping_add_signed(descriptor.entry_byte_offset);
        if code::find(&environment.code, entry).is_none_or(|c| c.target() != environment.target) {
            return Err(LaunchError::Entry { address: entry });
        }
        let groups = std::array::from_fn(|i| launch.grid[i].div_ceil(u32::from(launch.workgroup[i])));
        let total = groups.iter().try_fold(1u64, |n, &g| n.checked_mul(u64::from(g)));
        let total = total.ok_or(LaunchError::GridSize)?;
        Ok(Self {
            registers: Registers::new(&descriptor, &launch, environment.target, entry, items.div_ceil(lanes)),
            resources: Resources {
                target: environment.target,
                lanes,
                lds_bytes: launch.group_bytes.next_multiple_of(LDS_GRANULE),
                scratch_bytes: (launch.private_bytes * lanes).next_multiple_of(1024),
                surroundings: environment.surroundings.clone(),
                memory,
                origin: None,
                notes: None,
                watches: Watches::default(),
                group_bytes: launch.group_bytes,
                has_several_caches: environment.target.is_rdna() && descriptor.wgp_mode(),
            },
            launch,
            entry,
            groups,
            code: environment.code.clone(),
            units: Arc::clone(&environment.units),
            dies: environment.dies.max(1),
            is_split: !environment.target.is_rdna() && descriptor.tg_split(),
            residency: Arc::clone(&environment.residency),
            timetable: None,
            next: AtomicU64::new(0),
            remaining: AtomicU64::new(total),
            fault: OnceLock::new(),
            stopped: AtomicBool::new(false),
            order: (1, 0),
        })
    }

    /// Begins the workgroups in an order drawn from `seed`, instead of the grid's.
    pub fn shuffled(mut self, seed: u64) -> Self {
        let total = self.workgroups();
        let mut factor = (seed | 1) % total.max(1);
        while gcd(factor, total) != 1 {
            factor += 1;
        }
        self.order = (factor, seed.rotate_left(32) % total.max(1));
        self
    }

    /// Lets the workgroups see memory as a device with caches does, from `origin` on, instead of as the host does.
    pub(crate) fn seen_from(mut self, origin: Option<Origin>) -> Self {
        self.resources.origin = origin;
        self
    }

    /// Has the workgroups note what they touch, and what else is watched.
    pub(crate) fn noted(mut self, watches: Watches) -> Self {
        let arguments = watches.races.bounds.then_some(self.launch.kernarg);
        let notes = Notes::of(arguments);
        if watches.sync.is_some() && self.is_split && self.resources.group_bytes > 0 {
            let (pc, count) = (self.entry, self.workgroups());
            let kind = SyncKind::SplitLds;
            notes.sync.add(SyncFinding { kind, workgroup: 0, wave: 0, lane: None, pc, then: pc, count });
        }
        self.resources.notes = Some(Arc::new(notes));
        self.resources.watches = watches;
        if watches.races.bounds {
            // No more than was asked for, so that what is beyond that is refused.
            self.resources.scratch_bytes =
                self.launch.private_bytes.next_multiple_of(4) * self.resources.lanes;
        }
        self
    }

    /// What the workgroups have noted.
    pub(crate) fn notes(&self) -> Option<&Notes> {
        self.resources.notes.as_deref()
    }

    /// Notes when each workgroup runs on which unit.
    pub(crate) fn timed(mut self) -> Self {
        self.timetable = Some(Box::default());
        self
    }

    /// Where the workgroups have run, and when, if that was to be noted.
    pub(crate) fn on_units(&self) -> Option<Vec<(UnitPlace, UnitSlice)>> {
        let slices = self.timetable.as_ref()?.take();
        Some(slices.into_iter().map(|(unit, slice)| (self.place(unit), slice)).collect())
    }

    /// Address of the kernel's first instruction.
    pub(crate) fn entry(&self) -> u64 {
        self.entry
    }

    /// Ends the dispatch early: workgroups that run stop after their turn, others do not begin. It is complete
    /// when every share has noticed.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether [`Dispatch::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Workgroups of the grid, partial ones included.
    pub fn workgroups(&self) -> u64 {
        self.groups.iter().map(|&g| u64::from(g)).product()
    }

    /// Waves of a whole workgroup.
    pub fn waves_per_workgroup(&self) -> u32 {
        self.launch.workgroup.iter().map(|&n| u32::from(n)).product::<u32>().div_ceil(self.resources.lanes)
    }

    /// Whether every workgroup is done or given up; then no thread touches memory on its behalf any more.
    pub fn is_complete(&self) -> bool {
        // ORDER: Acquire. A thread that sees 0 sees what all workgroups wrote.
        self.remaining.load(Ordering::Acquire) == 0
    }

    /// Whether there may be a workgroup that no share has taken.
    pub fn has_unclaimed(&self) -> bool {
        self.unclaimed() > 0
    }

    /// Workgroups that no share has taken.
    fn unclaimed(&self) -> u64 {
        self.workgroups().saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// The number of a workgroup in the grid.
    pub(crate) fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [columns, rows, _] = self.groups.map(u64::from);
        (u64::from(z) * rows + u64::from(y)) * columns + u64::from(x)
    }

    /// The first fault, if there was one; all other workgroups stop soon after.
    pub fn fault(&self) -> Option<&DispatchFault> {
        self.fault.get()
    }

    /// What was launched.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Runs the dispatch to its end on this thread alone, for tests and benches.
    ///
    /// # Errors
    /// The fault that ended it.
    pub fn run(self: &Arc<Self>, worker: &mut Worker) -> Result<(), DispatchFault> {
        let mut share = Share::new(Arc::clone(self));
        loop {
            match share.run(worker, u32::MAX) {
                Progress::Completed | Progress::Drained => break,
                Progress::Idle => std::thread::yield_now(),
                Progress::Working => {}
            }
        }
        self.fault().cloned().map_or(Ok(()), Err)
    }

    /// Takes the next workgroup.
    fn claim(&self) -> Option<u64> {
        let total = self.workgroups();
        // ORDER: Relaxed. Workgroups owe each other no order.
        let next =
            self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < total).then_some(n + 1));
        let (factor, offset) = self.order;
        if factor == 1 && offset == 0 {
            return next.ok();
        }
        // CAST: below `total`, a u64.
        next.ok()
            .map(|n| ((u128::from(n) * u128::from(factor) + u128::from(offset)) % u128::from(total)) as u64)
    }

    /// Settles `count` workgroups; true for the one that settles the last.
    fn settle(&self, count: u64) -> bool {
        // ORDER: AcqRel. Pairs with `is_complete`, and with the other workgroups' settling before.
        count > 0 && self.remaining.fetch_sub(count, Ordering::AcqRel) == count
    }

    /// Gives up the workgroups that no share took; returns how many.
    fn cancel(&self) -> u64 {
        let total = self.workgroups();
        total - self.next.swap(total, Ordering::Relaxed)
    }

    /// Position of a workgroup in the grid.
    fn position(&self, id: u64) -> [u32; 3] {
        let [x, y, _] = self.groups.map(u64::from);
        // CAST: each is below a u32 by construction.
        [(id % x) as u32, (id / x % y) as u32, (id / x / y) as u32]
    }

    /// Work-items of a workgroup in each dimension: less than the full size at the edges of the grid.
    fn extent(&self, position: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|i| {
            let full = u32::from(self.launch.workgroup[i]);
            full.min(self.launch.grid[i] - position[i] * full)
        })
    }

    /// Takes places for a workgroup on one of the units that it may run on.
    fn take_places(&self) -> Option<u32> {
        // CAST: which of the units is tried first matters little.
        let first = self.next.load(Ordering::Relaxed) as usize;
        self.residency.take(&self.units, self.waves_per_workgroup(), first)
    }

    /// Gives the places of a workgroup back.
    fn give_places(&self, unit: u32) {
        self.residency.give(unit, self.waves_per_workgroup());
    }

    /// Where a compute unit is: the dies have them in turn.
    fn place(&self, unit: u32) -> UnitPlace {
        let (die, unit) = (unit % self.dies, unit / self.dies);
        UnitPlace { die: (self.dies > 1).then_some(die), engine: unit >> 4 & 7, unit: unit & 0xf }
    }

    /// Sets up the registers of a wave on a compute unit.
    fn start(&self, wave: &mut Wave, id: u64, number: u32, unit: u32) {
        let position = self.position(id);
        let UnitPlace { die, engine, unit } = self.place(unit);
        wave.die = die.unwrap_or(0);
        wave.hardware_id = if self.resources.target.is_rdna() {
            // A workgroup processor has two units with two SIMDs each.
            let simd = (unit & 1) << 1 | number & 1;
            number & 0x1f | simd << 8 | (unit >> 1) << 10 | engine << 18
        } else {
            number & 0xf | (number & 3) << 4 | unit << 8 | engine << 13
        };
        self.registers.fill(wave, position, self.extent(position), number);
    }

    /// Keeps the first fault.
    fn report(&self, id: u64, wave: u32, fault: Fault) {
        let full = DispatchFault::new(self, self.position(id), wave, fault);
        // Losing the race is fine: one fault is enough.
        let _ = self.fault.set(full);
    }
}

/// Lanes of the waves of a kernel.
fn lanes(kernel: &KernelDescriptor, target: Target) -> u32 {
    Processor::from_name(target.name()).map_or(64, |processor| kernel.lanes(processor))
}

/// Greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Reads a kernel descriptor out of device memory.
fn descriptor(memory: &Snapshot, address: u64) -> Result<KernelDescriptor, LaunchError> {
    let bytes = KernelDescriptor::BYTES as u64;
    let end = address.checked_add(bytes).ok_or(LaunchError::KernelObject { address })?;
    if !address.is_multiple_of(bytes) || !memory.covers(address, end, false) {
        return Err(LaunchError::KernelObject { address });
    }
    // SAFETY: the map says that the range is readable, and the snapshot keeps its backing.
    let bytes = unsafe { hidden::at(address).cast::<[u8; KernelDescriptor::BYTES]>().read_volatile() };
    Ok(KernelDescriptor::from_bytes(&bytes))
}
