//! Cooperative launches: kernels whose blocks are all resident at once, and may wait for each other.
//!
//! The device library synchronises a grid in one of two ways. Older ones, and newer ones on some processors, arrive at
//! resource 0 of global wave sync, which a kernel of ours sets up before each launch; the resource is there for kernels on
//! the one queue of a device that the HSA runtime has for them. Newer libraries count on gfx942, and from GFX11 on, in memory
//! that the launch brings along, as programs may that synchronise a grid by themselves: such kernels run on a queue of ours,
//! whose faults come to us. ROCr ends the process if a kernel on the other one traps. GFX12 has no global wave sync.
//!
//! Two kernels whose blocks wait for each other must not share the device's units, or each may hold what the other lacks.
//! So they run one after the other, whichever of the two queues they are on.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use hsa::packet::{BarrierAnd, Fences, KernelDispatch, NO_SIGNAL, Packet};
use parking_lot::Mutex;

use crate::{
    blit,
    device::{
        Device, LaneKind,
        fence::PooledSignal,
        lane::Lane,
        once::Once,
        slabs::Block,
        timeline::{self, Noted, Place, Work},
    },
    error::{Error, Result},
    module::Dispatch,
    module::{KernelCode, Module},
};

/// The code objects that `cargo xtask kernels` builds; none for GFX12, which has no global wave sync.
const OBJECTS: [&[u8]; 4] = [
    include_bytes!("../kernels/cooperative.gfx90a.co"),
    include_bytes!("../kernels/cooperative.gfx9-4-generic.co"),
    include_bytes!("../kernels/cooperative.gfx10-3-generic.co"),
    include_bytes!("../kernels/cooperative.gfx11-generic.co"),
];

/// Bytes of [`GridInfo::words`].
pub(crate) const INFO_BYTES: usize = 128;

/// What stands for [`GridInfo`] where the library only asks whether the launch is cooperative.
const NO_INFO: u64 = 1;

/// What a kernel of a cooperative launch knows of the launch, as the device library reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GridInfo {
    /// Address of the counter at which the grids of several devices meet.
    pub(crate) meeting: u64,
    /// Number of this grid.
    pub(crate) grid: u32,
    /// Grids in all; 0 for a launch on one device.
    pub(crate) grids: u32,
    /// Threads of the grids before this one, and of all.
    pub(crate) threads: (u64, u64),
    /// Blocks of this grid.
    pub(crate) blocks: u32,
}

impl GridInfo {
    /// The structure `mg_info` of the device library (ROCm 5.2; the counter of the grid itself, at 32, and the number
    /// of blocks, at 40, came later).
    pub(crate) fn bytes(&self) -> [u8; INFO_BYTES] {
        let mut bytes = [0; INFO_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &self.meeting.to_le_bytes());
        put(8, &self.grid.to_le_bytes());
        put(12, &self.grids.to_le_bytes());
        put(16, &self.threads.0.to_le_bytes());
        put(24, &self.threads.1.to_le_bytes());
        put(40, &self.blocks.to_le_bytes());
        bytes
    }
}

/// What a device's cooperative launches share.
#[derive(Default)]
pub(crate) struct Cooperative {
    /// Held while the packets of one launch are published, which must follow each other.
    order: Mutex<Order>,
    /// Kernels that streams or graphs will come to, and that are not published yet.
    expected: Arc<AtomicUsize>,
    init: Once<KernelCode>,
}

/// Kernels of a device that follow each other.
#[derive(Default)]
struct Order {
    /// The queue of the last one, and what falls when it is over.
    last: Option<(LaneKind, Weak<PooledSignal>)>,
    /// What falls when a kernel is over, and what a packet in front of it waits for.
    waits: Vec<(Arc<PooledSignal>, Arc<PooledSignal>)>,
}

/// A kernel that is to be published; while it is not, no other may be published that waits for anything.
///
/// The device runs such kernels in the order in which they are published. A kernel in front of this one that waits for its
/// stream could wait for this one: streams share queues, and what this one is to run for may hold that stream back.
pub(crate) struct Expected(Arc<AtomicUsize>);

impl Expected {
    /// Whether no other kernel is expected.
    pub(crate) fn is_alone(&self) -> bool {
        // ORDER: SeqCst. A thread that has published packets which this kernel's stream may be behind was counted before.
        self.0.load(Ordering::SeqCst) == 1
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A cooperative kernel with its kernel arguments in place.
pub(crate) struct Placed<'d> {
    pub(crate) dispatch: &'d Dispatch,
    /// Address of its arguments.
    pub(crate) kernarg: u64,
    /// Address of the arguments of the kernel that sets the barrier up ([`Placed::init_arguments`]).
    pub(crate) init_kernarg: u64,
}

impl Placed<'_> {
    /// The arguments of the kernel that sets the barrier up.
    pub(crate) fn init_arguments(dispatch: &Dispatch) -> [u8; 4] {
        (dispatch.resident_blocks() - 1).to_le_bytes()
    }
}

impl Device {
    /// What a launch of `code` on this device alone passes as its [`GridInfo`]: whether it must be in memory, or is a number.
    pub(crate) fn lone_grid_info(&self, code: &KernelCode) -> Option<u64> {
        let uses_it = reads_grid_info(self.properties().capability, || code.may_use_wave_sync());
        (!uses_it).then_some(NO_INFO)
    }

    /// Publishes a cooperative kernel behind `after`; it decrements `done`. The timeline has `traced`, what launches it and
    /// the node, if events are recorded.
    ///
    /// # Errors
    /// What the HSA runtime refuses, and a fault of the device since `done` was taken.
    pub(crate) fn publish_cooperative(
        &self,
        placed: &Placed<'_>,
        after: &[hsa_sys::hsa_signal_t],
        done: &Arc<PooledSignal>,
        traced: Option<(timeline::Launch, Option<&str>)>,
    ) -> Result<()> {
        let cooperative = &self.context().cooperative;
        let fences = Fences { barrier: true, ..Fences::SYSTEM };
        let mut kernels: Vec<Packet> = Vec::new();
        if let Some(init) = cooperative.init(self, placed.dispatch)? {
            let setup = KernelDispatch {
                fences,
                grid: [1; 3],
                workgroup: [1; 3],
                group_segment: init.group_bytes(),
                private_segment: init.private_bytes(),
                kernarg_address: placed.init_kernarg,
                ..KernelDispatch::new(init.object())
            };
            kernels.push(setup.packet().map_err(hsa::Error::from)?);
        }
        let mut kernel = placed.dispatch.packet(fences, placed.kernarg)?;
        kernel.set_completion_signal(done.handle());
        kernels.push(kernel);
        let mut order = cooperative.order.lock();
        let (kind, lane) = self.cooperative_lane(placed.dispatch)?;
        if lane.epoch() != done.epoch() {
            return Err(self.0.faults.error());
        }
        let elsewhere = order.last.as_ref().filter(|(other, _)| *other != kind);
        // What nothing keeps any more was seen to be over.
        let before = elsewhere.and_then(|(_, done)| done.upgrade()).filter(|done| !done.is_over());
        let after: Vec<_> = before.iter().map(|done| done.handle()).chain(after.iter().copied()).collect();
        let mut packets: Vec<Packet> = Vec::new();
        for some in after.chunks(5) {
            let mut deps = [NO_SIGNAL; 5];
            deps[..some.len()].copy_from_slice(some);
            packets.push(BarrierAnd { fences, deps, completion: NO_SIGNAL }.packet());
        }
        packets.append(&mut kernels);
        if let Some((launch, node)) = traced {
            timeline::note([Noted {
                device: self.clone(),
                place: Place::Queue(lane.id()),
                signal: done.clone(),
                work: Work::of(placed.dispatch.code.name(), placed.dispatch.code.is_own()),
                task: blit::task(placed.dispatch),
                launch,
                node: node.map(str::to_owned),
                is_first: node.is_none(),
            }]);
        }
        lane.submit(&packets)?;
        order.last = Some((kind, Arc::downgrade(done)));
        order.waits.retain(|(done, _)| !done.is_quiet());
        order.waits.extend(before.map(|before| (done.clone(), before)));
        Ok(())
    }

    /// Counts a kernel that is to be published, before the packets are that wait for it.
    pub(crate) fn expect_cooperative(&self) -> Expected {
        let expected = self.context().cooperative.expected.clone();
        expected.fetch_add(1, Ordering::SeqCst);
        Expected(expected)
    }

    /// The lane for a cooperative kernel.
    fn cooperative_lane(&self, dispatch: &Dispatch) -> Result<(LaneKind, Arc<Lane>)> {
        if !self.properties().cooperative {
            return Err(Error::NotSupported("cooperative launches on this device"));
        }
        let kind = if dispatch.code.may_use_wave_sync() { LaneKind::WaveSync } else { LaneKind::Cooperative };
        Ok((kind, self.lane(kind)?))
    }

    /// Takes what a cooperative kernel needs that [`Device::run_cooperative`] is to run in `epoch`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], what loading can fail with, a fault.
    pub(crate) fn reserve_cooperative(&self, dispatch: &Dispatch, epoch: u64) -> Result<Reserved> {
        self.context().cooperative.init(self, dispatch)?;
        self.cooperative_lane(dispatch)?;
        let mut dispatch = dispatch.clone();
        let info = self.0.staging.take(INFO_BYTES)?;
        let grid = GridInfo { blocks: dispatch.resident_blocks(), ..GridInfo::default() };
        info.write(0, &grid.bytes());
        let address = self.lone_grid_info(&dispatch.code).unwrap_or(info.address());
        dispatch.set_hidden(&loader::ValueKind::HiddenMultigridSyncArg, address);
        let arguments = self.0.kernargs.take(dispatch.kernargs.len())?;
        arguments.write(0, &dispatch.kernargs);
        let init = self.0.kernargs.take(4)?;
        init.write(0, &Placed::init_arguments(&dispatch));
        let done = self.0.signals.take(1, epoch)?;
        Ok(Reserved { dispatch, _info: info, arguments, init, done })
    }

    /// Runs a cooperative kernel and waits for it, on a thread that the device waits for; `traced` as in
    /// [`Device::publish_cooperative`].
    ///
    /// # Errors
    /// As [`Device::publish_cooperative`], and the fault of the kernel.
    pub(crate) fn run_cooperative(
        &self,
        reserved: &Reserved,
        traced: Option<(timeline::Launch, Option<&str>)>,
    ) -> Result<()> {
        let Reserved { dispatch, arguments, init, done, .. } = reserved;
        let placed = Placed { dispatch, kernarg: arguments.address(), init_kernarg: init.address() };
        self.publish_cooperative(&placed, &[], done, traced)?;
        done.wait()
    }
}

/// Whether the device library that a kernel was linked with may read its [`GridInfo`] when its grid is the only one. Where it
/// does, it takes the grid for one of several if there are any; elsewhere it takes every address for one of several grids.
///
/// On gfx942 and gfx950 libraries read it; from GFX11 on those do that have no use for global wave sync.
fn reads_grid_info(capability: (u32, u32), uses_wave_sync: impl FnOnce() -> bool) -> bool {
    match capability {
        (9, minor) => minor >= 4,
        (major, _) => major >= 11 && !uses_wave_sync(),
    }
}

/// What one run of a cooperative kernel needs.
pub(crate) struct Reserved {
    dispatch: Dispatch,
    _info: Block,
    arguments: Block,
    init: Block,
    done: Arc<PooledSignal>,
}

impl Reserved {
    /// The address of the kernel's arguments.
    pub(crate) fn arguments(&self) -> u64 {
        self.arguments.address()
    }
}

impl Cooperative {
    /// The kernel that sets global wave sync up, if `dispatch` needs it.
    fn init(&self, device: &Device, dispatch: &Dispatch) -> Result<Option<&KernelCode>> {
        if !dispatch.code.may_use_wave_sync() {
            return Ok(None);
        }
        let load = || {
            let module = Module::first_that_fits(device, &OBJECTS)?;
            module.kernel("gws_init").and_then(|kernel| kernel.code(device).cloned())
        };
        self.init.get_or_make(load).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_grid_has_its_information_where_the_library_counts_in_it() {
        for (capability, without, with) in [
            ((9, 0), false, false),
            ((9, 4), true, true),
            ((9, 5), true, true),
            ((10, 3), false, false),
            ((11, 0), true, false),
            ((12, 0), true, false),
        ] {
            assert_eq!(reads_grid_info(capability, || false), without, "{capability:?}");
            assert_eq!(reads_grid_info(capability, || true), with, "{capability:?} with global wave sync");
        }
    }

    #[test]
    fn fields_are_where_the_device_library_reads_them() {
        let info = GridInfo { meeting: 0x1122_3344_5566, grid: 3, grids: 4, threads: (5, 6), blocks: 7 };
        let bytes = info.bytes();
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!((u64_at(0), u32_at(8), u32_at(12)), (0x1122_3344_5566, 3, 4));
        assert_eq!((u64_at(16), u64_at(24), u64_at(32), u32_at(40)), (5, 6, 0, 7));
    }
}
