//! Managed memory: pages that go where they are used, or pinned memory where the driver moves none.

use aqlipse::{
    Backend, Error,
    memory::{self, Processor, Saying},
};

use super::*;

const BLOCK: usize = 2 << 20;
const PAGES: u64 = BLOCK as u64 / 4096;
const DEVICE: Processor = Processor::Device(0);

/// Ways of the hardware: the variables of the environment.
const WAYS: [&[(&str, &str)]; 3] = [&[], &[("HSA_XNACK", "1")], &[("AQLIPSE_EMULATE_HARDWARE", "no-svm")]];

/// Runs `body` in a child for each of the [`WAYS`].
fn each_way(test: &str, body: impl Fn()) {
    for way in WAYS {
        in_child(test, way, &body);
        if std::env::var(CHILD).is_ok() {
            return;
        }
    }
}

fn retries() -> bool {
    device().properties().managed.pageable
}

/// Faults of the device, and pages that came or went; `None` where no emulator counts.
fn counted() -> Option<[u64; 2]> {
    if device().backend() == Backend::Emulated {
        let counted = emulator::counters(0)?;
        return Some([counted.page_faults, counted.migrated_pages]);
    }
    let counted = thunk_counters(&device())?;
    Some([counted[16], counted[17]])
}

/// What `work` adds to [`counted`], if the pages move and are counted.
fn adds(work: impl FnOnce()) -> Option<[u64; 2]> {
    let before = counted();
    work();
    let (before, after) = (before?, counted()?);
    let moves = device().properties().managed.moves;
    moves.then(|| std::array::from_fn(|at| after[at] - before[at]))
}

/// Managed memory of so many blocks, written by the host.
struct Shared(u64, usize);

impl Shared {
    fn new(blocks: usize, value: u32) -> Self {
        let region = memory::allocate_managed(&device(), blocks * BLOCK, 0).unwrap();
        let shared = Self(region.address, blocks * BLOCK / 4);
        shared.words().fill(value);
        shared
    }

    /// The host's view, while no kernel runs.
    #[allow(clippy::mut_from_ref, reason = "host and device take turns")]
    fn words(&self) -> &mut [u32] {
        // SAFETY: managed memory of so many words, which the test lets live; nothing else uses it now.
        unsafe { std::slice::from_raw_parts_mut(self.0 as *mut u32, self.1) }
    }

    /// A block.
    fn span(&self, block: usize) -> (u64, u64) {
        (self.0 + (block * BLOCK) as u64, BLOCK as u64)
    }

    /// Doubles the first 1000 words of a block and adds one.
    fn run(&self, stream: &Stream, block: usize) {
        let (start, _) = self.span(block);
        let arguments: [&dyn Argument; 4] = [&start, &1000u32, &2u32, &1u32];
        let launch = kernels().affine.launch(&device(), [4, 1, 1], [256, 1, 1], 0, &arguments).unwrap();
        stream.run(&launch).unwrap();
    }

    fn first(&self, block: usize) -> u32 {
        self.words()[block * BLOCK / 4]
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        memory::free(self.0).unwrap();
    }
}

#[test]
fn what_the_driver_can_is_what_the_device_says() {
    each_way("runtime::managed::what_the_driver_can_is_what_the_device_says", || {
        let said = device().properties().managed;
        if device().backend() == Backend::Emulated {
            let traits = std::env::var("AQLIPSE_EMULATE_HARDWARE").unwrap_or_default();
            assert_eq!(said.moves, !traits.contains("no-svm"));
            assert_eq!(said.pageable, std::env::var("HSA_XNACK").is_ok());
        }
        assert!(said.moves || !said.pageable && !said.host_reaches_device);
        assert!(said.pageable || !said.host_page_tables);
    });
}

#[test]
fn prefetched_pages_do_not_fault_and_follow_the_stream() {
    each_way("runtime::managed::prefetched_pages_do_not_fault_and_follow_the_stream", || {
        let (stream, shared) = (stream(), Shared::new(2, 3));
        if retries() {
            let unprepared = adds(|| {
                shared.run(&stream, 0);
                stream.synchronize().unwrap();
            });
            assert!(unprepared.is_none_or(|counted| counted == [1, PAGES]), "{unprepared:?}");
        } else {
            shared.run(&stream, 0);
            stream.synchronize().unwrap();
        }
        let gate = Gate::on(&stream);
        let prefetched = adds(|| {
            stream.prefetch(&[shared.span(1)], &[DEVICE]).unwrap();
            shared.run(&stream, 1);
            // Behind the gate nothing has moved.
            std::thread::sleep(Duration::from_millis(20));
        });
        assert!(prefetched.is_none_or(|counted| counted == [0, 0]), "{prefetched:?}");
        let prefetched = adds(|| {
            gate.open();
            stream.synchronize().unwrap();
        });
        // Pages that several devices always have mapped are the host's (docs/adr/0048).
        let moved = if retries() || Device::all().unwrap().len() == 1 { PAGES } else { 0 };
        assert!(prefetched.is_none_or(|counted| counted == [0, moved]), "{prefetched:?}");
        assert_eq!((shared.first(0), shared.first(1)), (7, 7));
        let said = memory::advice(shared.span(1).0, 4096).unwrap();
        assert_eq!(said[0].prefetched, Some(DEVICE));
        // Back to the host.
        let back = adds(|| {
            stream.prefetch(&[shared.span(1)], &[Processor::Host]).unwrap();
            stream.synchronize().unwrap();
        });
        assert!(back.is_none_or(|counted| counted == [0, moved]), "{back:?}");
        assert_eq!(shared.first(1), 7);
    });
}

#[test]
fn advice_reaches_the_driver() {
    each_way("runtime::managed::advice_reaches_the_driver", || {
        let (stream, shared) = (stream(), Shared::new(3, 1));
        let touch = |block| {
            let counted = adds(|| {
                shared.run(&stream, block);
                stream.synchronize().unwrap();
            });
            counted.unwrap_or_default()
        };
        memory::advise(shared.0, BLOCK as u64, Saying::AccessedBy(DEVICE, true)).unwrap();
        assert_eq!(touch(0), [0, 0], "a device that is said to access pages reaches them in place");
        memory::advise(shared.0, BLOCK as u64, Saying::AccessedBy(DEVICE, false)).unwrap();
        let (start, bytes) = shared.span(1);
        memory::advise(start, bytes, Saying::Preferred(Some(Processor::Host))).unwrap();
        let faults = u64::from(retries() && counted().is_some());
        assert_eq!(touch(1), [faults, 0], "pages that prefer the host stay there");
        memory::advise(start, bytes, Saying::Preferred(None)).unwrap();
        memory::advise(start, bytes, Saying::ReadMostly(true)).unwrap();
        memory::advise(start, bytes, Saying::CoarseGrained(true)).unwrap();
        assert_eq!(touch(2), [faults, faults * PAGES], "others come");
        assert_eq!([0, 1, 2].map(|block| shared.first(block)), [3; 3]);
        let refused = memory::advise(shared.0, 4 * BLOCK as u64, Saying::ReadMostly(true));
        assert!(matches!(refused, Err(Error::InvalidValue(_))), "{refused:?}");
    });
}

#[test]
fn discarded_pages_give_up_their_memory_where_they_move() {
    each_way("runtime::managed::discarded_pages_give_up_their_memory_where_they_move", || {
        let (stream, shared) = (stream(), Shared::new(2, 5));
        stream.prefetch(&[shared.span(0)], &[DEVICE]).unwrap();
        // Not the first page, of which a part stays.
        let (start, bytes) = shared.span(0);
        stream.discard(&[(start + 4, bytes - 4)]).unwrap();
        shared.run(&stream, 1);
        stream.synchronize().unwrap();
        let moves = device().properties().managed.moves;
        assert_eq!(shared.words()[0], 5);
        assert_eq!(shared.words()[1023], 5);
        assert_eq!(shared.words()[1024], if moves { 0 } else { 5 });
        assert_eq!((shared.words()[BLOCK / 4 - 1], shared.first(1)), (if moves { 0 } else { 5 }, 11));
        // What is left to move is the page that was not discarded, and the one that the host has looked at since.
        let moved = adds(|| {
            stream.prefetch(&[(start + 8192, bytes - 8192)], &[DEVICE]).unwrap();
            shared.run(&stream, 0);
            stream.synchronize().unwrap();
        });
        assert!(moved.is_none_or(|counted| counted[1] <= 3), "{moved:?}");
        assert_eq!(shared.words()[0], 11);
    });
}

#[test]
fn copies_fills_and_graphs_work_on_managed_memory() {
    each_way("runtime::managed::copies_fills_and_graphs_work_on_managed_memory", || {
        let (stream, shared, data) = (stream(), Shared::new(1, 1), buffer(&[9; 1000]));
        let copy = |dst, src| aqlipse::graph::Memcpy::Linear {
            dst,
            src,
            bytes: 4000,
            kind: aqlipse::graph::CopyKind::Inferred,
        };
        // SAFETY: both ends are memory of the runtime's.
        unsafe { stream.memcpy_and_wait(copy(shared.0, data.slice().address())) }.unwrap();
        assert_eq!((shared.words()[999], shared.words()[1000]), (9, 1));
        shared.words()[..1000].fill(4);
        // SAFETY: as above.
        unsafe { stream.memcpy_and_wait(copy(data.slice().address(), shared.0)) }.unwrap();
        assert_eq!(data.read(&stream).unwrap(), [4; 1000]);
        let mut graph = aqlipse::typed::Graph::new(&device());
        let arguments: [&dyn Argument; 4] = [&shared.0, &1000u32, &2u32, &1u32];
        let launch = kernels().affine.launch(&device(), [4, 1, 1], [256, 1, 1], 0, &arguments).unwrap();
        let first = graph.kernel(&launch, &[]).unwrap();
        graph.kernel(&launch, &[first]).unwrap();
        let exec = graph.instantiate().unwrap();
        for expected in [19, 79, 319] {
            exec.launch(&stream).unwrap();
            stream.synchronize().unwrap();
            assert_eq!(shared.words()[..1000], [expected; 1000]);
        }
        let free = memory::allocate_managed(&device(), BLOCK, 0).unwrap();
        let gate = Gate::on(&stream);
        stream.prefetch(&[(free.address, BLOCK as u64)], &[DEVICE]).unwrap();
        let address = free.address;
        drop(free);
        let freed = std::thread::spawn(move || memory::free(address));
        std::thread::sleep(Duration::from_millis(10));
        gate.open();
        freed.join().unwrap().unwrap();
        stream.synchronize().unwrap();
    });
}

#[test]
fn freed_managed_memory_is_out_of_reach() {
    each_way("runtime::managed::freed_managed_memory_is_out_of_reach", || {
        if retries() {
            return; // What is mapped there next is within reach.
        }
        let stream = stream();
        let shared = Shared::new(1, 1);
        shared.run(&stream, 0);
        stream.synchronize().unwrap();
        let gone = std::mem::ManuallyDrop::new(Shared(shared.0, shared.1));
        drop(shared);
        gone.run(&stream, 0);
        let outcome = stream.synchronize();
        assert!(matches!(outcome, Err(Error::IllegalAddress(_))), "{outcome:?}");
    });
}
