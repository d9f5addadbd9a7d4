use super::*;
use crate::{config::Config, isa::Target, os::Mapping};

/// 2 MiB, the pages that move at once.
const BLOCK: u64 = 2 << 20;

/// Two devices, and memory of three blocks that the program has touched.
struct Setting {
    svm: Arc<Svm>,
    memory: Mapping,
}

impl Setting {
    fn new(retries: bool) -> Self {
        let config = Config { devices: vec![Target::Gfx90a; 2], ..Config::default() };
        let devices: Arc<[_]> =
            (0..2).map(|index| Arc::new(Device::new(index, Target::Gfx90a, &config))).collect();
        let memory = Mapping::anonymous_aligned(3 * BLOCK as usize, BLOCK as usize).unwrap();
        // SAFETY: all of the mapping, which nothing else has.
        unsafe { memory.pointer().write_bytes(7, memory.size()) };
        Self { svm: Svm::new(devices, retries, Box::new(|_| false)), memory }
    }

    fn at(&self, block: u64) -> u64 {
        self.memory.address() + block * BLOCK
    }

    fn set(&self, blocks: std::ops::Range<u64>, changes: &[Change]) {
        self.svm.set(self.at(blocks.start), self.at(blocks.end), changes).unwrap();
    }

    fn prefetch(&self, blocks: std::ops::Range<u64>, to: Place) {
        self.svm.prefetch(self.at(blocks.start), self.at(blocks.end), to).unwrap();
    }

    /// Whether a device reaches a block without a fault.
    fn mapped(&self, device: usize, block: u64) -> bool {
        self.svm.devices[device].map.snapshot().covers(self.at(block), self.at(block + 1), true)
    }

    /// A device's touch of a byte of a block.
    fn touch(&self, device: usize, block: u64) -> bool {
        self.svm.devices[device].map.reaches(self.at(block), self.at(block) + 1, true)
    }

    /// Faults of a device, and pages that came to it or left it.
    fn counted(&self, device: usize) -> (u64, u64) {
        let counted = self.svm.devices[device].tally.read();
        (counted.page_faults, counted.migrated_pages)
    }
}

const PAGES: u64 = BLOCK / BYTES;

#[test]
fn without_retries_pages_are_mapped_where_they_lie() {
    let it = Setting::new(false);
    assert!(!it.touch(0, 0));
    it.set(0..2, &[Change::Reach(0, Reach::OnDemand)]);
    assert_eq!([0, 1, 2].map(|block| it.mapped(0, block)), [true, true, false]);
    assert!(!it.mapped(1, 0) && !it.touch(1, 0) && !it.touch(0, 2));
    it.prefetch(0..1, Place::Device(0));
    assert!(it.mapped(0, 0) && it.mapped(0, 1));
    assert_eq!(it.counted(0), (0, PAGES));
    // Another device behind PCIe does not reach the first one's memory.
    it.set(0..1, &[Change::Reach(1, Reach::OnDemand)]);
    assert!(it.mapped(0, 0) && it.mapped(1, 0));
    assert_eq!(it.counted(0), (0, 2 * PAGES), "they have gone home");
    it.prefetch(0..1, Place::Device(1));
    assert_eq!((it.counted(0), it.counted(1)), ((0, 2 * PAGES), (0, 0)));
    it.set(0..1, &[Change::Reach(0, Reach::None)]);
    it.prefetch(0..1, Place::Device(1));
    assert!(!it.touch(0, 0) && it.mapped(1, 0));
    assert_eq!(it.counted(1), (0, PAGES));
}

#[test]
fn with_retries_pages_come_to_the_device_that_touches_them() {
    let it = Setting::new(true);
    for (device, touched) in [(0, 1), (0, 1), (1, 1), (0, 2)] {
        assert!(it.touch(device, 1));
        assert_eq!(it.counted(device).0, touched);
        assert!(it.mapped(device, 1) && !it.mapped(1 - device, 1) && !it.mapped(device, 0));
    }
    // To the first, to the second, to the first.
    assert_eq!((it.counted(0).1, it.counted(1).1), (3 * PAGES, 2 * PAGES));
    it.prefetch(0..3, Place::Host);
    it.set(0..3, &[Change::Reach(0, Reach::InPlace)]);
    assert!((0..3).all(|block| it.mapped(0, block) && it.touch(0, block)));
    assert_eq!(it.counted(0), (2, 4 * PAGES), "no fault, and nothing moves but to the host");
    assert!(it.touch(1, 0));
    assert!(
        it.mapped(0, 0) && it.mapped(1, 0),
        "the first one reaches it in place, which is the host's memory"
    );
}

#[test]
fn preferred_pages_stay_where_they_are_wanted() {
    let it = Setting::new(true);
    it.set(0..1, &[Change::Prefer(Some(Place::Host))]);
    it.set(1..2, &[Change::Prefer(Some(Place::Device(1)))]);
    assert!(it.touch(0, 0) && it.touch(1, 0) && it.touch(1, 1));
    assert!(it.mapped(0, 0) && it.mapped(1, 0));
    assert_eq!((it.counted(0), it.counted(1)), ((1, 0), (2, PAGES)));
}

#[test]
fn what_was_prefetched_does_not_fault() {
    let it = Setting::new(true);
    it.prefetch(0..2, Place::Device(0));
    assert!(it.touch(0, 0) && it.touch(0, 1));
    assert_eq!(it.counted(0), (0, 2 * PAGES));
    assert!(it.touch(0, 2));
    assert_eq!(it.counted(0), (1, 3 * PAGES));
}

#[test]
fn terminal_faults_are_those_without_access_without_pages_and_stores_to_what_is_only_read() {
    let it = Setting::new(true);
    it.set(0..1, &[Change::Reach(0, Reach::None)]);
    assert!(!it.touch(0, 0) && it.touch(1, 0));
    it.set(1..2, &[Change::Flags(flag::READ_ONLY, 0)]);
    let map = &it.svm.devices[0].map;
    assert!(!it.touch(0, 1) && map.reaches(it.at(1), it.at(2), false));
    let reserved = Mapping::reserve_aligned(PAGE, PAGE).unwrap();
    assert!(!map.reaches(reserved.address(), reserved.address() + 1, false));
    let gone = Mapping::anonymous(PAGE).unwrap().address();
    assert!(!map.reaches(gone, gone + 1, false));
    assert_eq!(it.svm.set(gone, gone + BYTES, &[]), Err(SvmError::NotMapped));
    assert_eq!(it.svm.prefetch(gone, gone + BYTES, Place::Host), Err(SvmError::NotMapped));
    let refusing = Svm::new(it.svm.devices.clone(), true, Box::new(|_| true));
    assert_eq!(refusing.set(it.at(0), it.at(1), &[]), Err(SvmError::OfTheDriver));
}

#[test]
fn a_query_says_what_all_pages_have_in_common() {
    let it = Setting::new(false);
    it.set(0..2, &[Change::Prefer(Some(Place::Device(1))), Change::Granularity(4)]);
    it.set(1..2, &[Change::Reach(0, Reach::InPlace), Change::Flags(0, flag::COHERENT)]);
    let get = |blocks: std::ops::Range<u64>| it.svm.get(it.at(blocks.start), it.at(blocks.end));
    let (all, last, none) = (get(0..2), get(1..2), get(0..3));
    assert_eq!((all.preferred, all.granularity), (Some(Place::Device(1)), 4));
    assert_eq!((all.reach(0), last.reach(0)), (Reach::None, Reach::InPlace));
    assert_eq!([all.flags, all.clear].map(|flags| flags & flag::COHERENT), [0, 0]);
    assert_eq!(last.clear & flag::COHERENT, flag::COHERENT);
    assert_eq!((none.preferred, none.granularity, get(2..3).granularity), (None, 4, 9));
    // All as it was: nothing is left of it.
    let undo = [
        Change::Prefer(None),
        Change::Granularity(9),
        Change::Reach(0, Reach::None),
        Change::Flags(flag::COHERENT, 0),
    ];
    it.set(0..2, &undo);
    assert!(it.svm.lock().is_empty() && !it.mapped(0, 1));
}

#[test]
fn pages_that_go_or_give_up_their_memory_have_no_home() {
    let it = Setting::new(true);
    it.prefetch(0..3, Place::Device(0));
    let (start, size) = (it.at(1) as *mut libc::c_void, BLOCK as usize);
    // SAFETY: a block of the mapping, to which there is no reference.
    assert_eq!(unsafe { libc::madvise(start, size, libc::MADV_DONTNEED) }, 0);
    let map = &it.svm.devices[0].map;
    assert!(map.has_pages(it.at(0), it.at(0) + 1) && !map.has_pages(it.at(1), it.at(1) + 1));
    assert_eq!([0, 1, 2].map(|block| it.mapped(0, block)), [true, false, true]);
    assert!(it.touch(0, 1));
    assert_eq!(it.counted(0), (1, 3 * PAGES), "nothing was left to move");
    // SAFETY: as above; the mapping is not used there any more.
    assert_eq!(unsafe { libc::munmap(it.at(2) as *mut libc::c_void, size) }, 0);
    assert!(!map.has_pages(it.at(2), it.at(2) + 1));
    assert!(!it.touch(0, 2));
    std::mem::forget(it.memory);
}
