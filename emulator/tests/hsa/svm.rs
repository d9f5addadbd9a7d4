//! Shared virtual memory through the function table: attributes, faults of kernels, prefetches.

use std::{ffi::c_void, ptr::null_mut};

use emulator::{Config, Target};
use hsa_sys::*;

use super::session::{Kernel, Session, dispatch, ok};
use crate::harness::{Level, code_object};

const SOURCE: &str = r#"
KERNEL add(u32 *data) { data[tid * 1024] += 1; }
"#;

/// 2 MiB, the pages that move at once.
const BLOCK: usize = 2 << 20;
const PAGES: u64 = BLOCK as u64 / 4096;
const MISSING: &str = "the emulator has the functions";

fn session(devices: usize, xnack: bool, traits: &str) -> Session {
    let hardware = traits.parse().expect("traits that there are");
    Session::with(Config { devices: vec![Target::Gfx90a; devices], xnack, hardware, ..Config::default() })
}

/// Blocks of the process's own memory, written by it.
struct Pages(*mut u32, usize);

impl Pages {
    fn new(blocks: usize) -> Self {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping replaces nothing.
        let start = unsafe { libc::mmap(null_mut(), (blocks + 1) * BLOCK, protection, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        let start = (start as usize).next_multiple_of(BLOCK) as *mut u32;
        // SAFETY: within the mapping, which is never given back.
        unsafe { start.cast::<u8>().write_bytes(0, blocks * BLOCK) };
        Self(start, blocks * BLOCK)
    }

    fn at(&self, byte: usize) -> *mut c_void {
        self.0.wrapping_byte_add(byte).cast()
    }

    /// The word at a byte.
    fn word(&self, byte: usize) -> u32 {
        // SAFETY: within the pages; no kernel runs.
        unsafe { self.0.wrapping_byte_add(byte).read_volatile() }
    }
}

type Pair = (hsa_amd_svm_attribute_t, u64);

impl Session {
    fn svm_set(&self, start: *mut c_void, size: usize, pairs: &[Pair]) -> hsa_status_t {
        let pair = |&(name, value): &Pair| hsa_amd_svm_attribute_pair_t { attribute: name.0.into(), value };
        let mut list: Vec<_> = pairs.iter().map(pair).collect();
        // SAFETY: an array of ours.
        unsafe {
            self.hsa.hsa_amd_svm_attributes_set.expect(MISSING)(start, size, list.as_mut_ptr(), list.len())
        }
    }

    fn svm_get(&self, start: *mut c_void, size: usize, asked: Pair) -> Result<(u64, u64), hsa_status_t> {
        let mut pair = hsa_amd_svm_attribute_pair_t { attribute: asked.0.0.into(), value: asked.1 };
        // SAFETY: one pair of ours.
        match unsafe { self.hsa.hsa_amd_svm_attributes_get.expect(MISSING)(start, size, &mut pair, 1) } {
            HSA_STATUS_SUCCESS => Ok((pair.attribute, pair.value)),
            status => Err(status),
        }
    }

    fn svm_prefetch(
        &self,
        (start, size): (*mut c_void, usize),
        agent: hsa_agent_t,
        after: &[hsa_signal_t],
        done: hsa_signal_t,
    ) -> hsa_status_t {
        let prefetch = self.hsa.hsa_amd_svm_prefetch_async.expect(MISSING);
        // SAFETY: signals that stay.
        unsafe { prefetch(start, size, agent, after.len() as u32, after.as_ptr(), done) }
    }

    fn says(&self, attribute: hsa_system_info_t) -> bool {
        let mut said = 7u8;
        // SAFETY: room for a bool.
        ok(unsafe { (self.hsa.hsa_system_get_info)(attribute, (&raw mut said).cast()) });
        said == 1
    }

    /// Adds one to the first word of each of 64 pages; `false` if the kernel does not end.
    fn add(&self, gpu: usize, kernel: Kernel, data: *mut c_void) -> bool {
        let kernarg = self.array::<u64>(8);
        kernarg[0] = data as u64;
        let (queue, done) = (self.queue(gpu, 64), self.signal(1));
        queue.submit(&[dispatch(0, kernel, 1, kernarg, done)]);
        let ended = self.finished_within(done, super::session::SECOND);
        queue.destroy();
        ended
    }
}

/// Faults of a device, and pages that came or went.
fn counted(gpu: usize) -> (u64, u64) {
    let counters = emulator::counters(gpu).expect("a device");
    (counters.page_faults, counters.migrated_pages)
}

#[test]
fn what_the_hardware_can_is_said() {
    let both = [HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT, HSA_AMD_SYSTEM_INFO_XNACK_ENABLED];
    for (xnack, traits, expected) in
        [(false, "", (true, false)), (true, "", (true, true)), (true, "no-svm", (false, false))]
    {
        let it = session(1, xnack, traits);
        assert_eq!(it.says(HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED), expected.0, "{traits}");
        assert!(both.iter().all(|attribute| it.says(*attribute) == expected.1));
        let pages = Pages::new(1);
        let status = it.svm_set(pages.at(0), BLOCK, &[]);
        assert_eq!(status == HSA_STATUS_SUCCESS, expected.0);
    }
}

#[test]
fn a_kernel_faults_pages_in_unless_they_are_there_or_reached_in_place() {
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let it = session(1, true, "");
    let (kernel, gpu) = (it.kernel(0, &object, "add"), it.gpu(0));
    let (start, pages) = (counted(0), Pages::new(3));
    assert!(it.add(0, kernel, pages.at(0)));
    assert_eq!((pages.word(0), pages.word(63 * 4096)), (1, 1));
    assert_eq!(counted(0), (start.0 + 1, start.1 + PAGES), "one fault brings all pages that move at once");
    assert!(it.add(0, kernel, pages.at(0)));
    assert_eq!(counted(0), (start.0 + 1, start.1 + PAGES));

    let (gate, done) = (it.signal(1), it.signal(1));
    let second = (pages.at(BLOCK), BLOCK);
    ok(it.svm_prefetch(second, gpu, &[gate], done));
    assert!(!it.finished_within(done, 20_000_000));
    assert_eq!(counted(0).1, start.1 + PAGES, "it waits");
    it.store(gate, 0);
    assert!(it.finished(done));
    assert_eq!(counted(0).1, start.1 + 2 * PAGES);
    assert!(it.add(0, kernel, second.0));
    assert_eq!(counted(0), (start.0 + 1, start.1 + 2 * PAGES), "what was prefetched does not fault");

    let third = pages.at(2 * BLOCK);
    ok(it.svm_set(third, BLOCK, &[(HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, gpu.handle)]));
    assert!(it.add(0, kernel, third));
    assert_eq!(counted(0), (start.0 + 1, start.1 + 2 * PAGES), "nor what is reached in place");
    ok(it.svm_prefetch((pages.at(0), BLOCK), it.cpu(), &[], hsa_signal_t { handle: 0 }));
    ok(it.svm_set(pages.at(0), BLOCK, &[(HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu.handle)]));
    assert!(!it.add(0, kernel, pages.at(0)), "a terminal fault");
    assert_eq!(pages.word(0), 2);
}

#[test]
fn without_retries_a_kernel_reaches_what_it_was_given() {
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let it = session(1, false, "");
    let (kernel, gpu) = (it.kernel(0, &object, "add"), it.gpu(0));
    let (start, pages) = (counted(0), Pages::new(2));
    assert!(!it.add(0, kernel, pages.at(0)));
    ok(it.svm_set(pages.at(0), BLOCK, &[(HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle)]));
    assert!(it.add(0, kernel, pages.at(0)));
    assert_eq!(counted(0), start);
    let done = it.signal(1);
    ok(it.svm_prefetch((pages.at(0), BLOCK), gpu, &[], done));
    assert!(it.finished(done));
    assert!(it.add(0, kernel, pages.at(0)));
    assert_eq!(counted(0), (start.0, start.1 + PAGES));
    assert_eq!(pages.word(4096), 2);
    // What the program unmaps is a fault, not the end of the process.
    // SAFETY: nothing refers to the pages.
    assert_eq!(unsafe { libc::munmap(pages.at(0), pages.1) }, 0);
    assert!(!it.add(0, kernel, pages.at(0)));
}

#[test]
fn attributes_are_of_pages_and_read_back() {
    let it = session(2, false, "");
    let (pages, cpu) = (Pages::new(1), it.cpu());
    let (gpu, other) = (it.gpu(0), it.gpu(1));
    // The second page, by a byte in it.
    ok(it.svm_set(
        pages.at(5000),
        1,
        &[
            (HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, HSA_AMD_SVM_GLOBAL_FLAG_COARSE_GRAINED.0.into()),
            (HSA_AMD_SVM_ATTRIB_READ_MOSTLY, 1),
            (HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION, gpu.handle),
            (HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY, 50),
            (HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, gpu.handle),
            (HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE, other.handle),
            (HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, cpu.handle),
        ],
    ));
    let get = |page: usize, count: usize, name, value| {
        it.svm_get(pages.at(page * 4096), count * 4096, (name, value)).expect("an attribute")
    };
    let value = |page, count, name| get(page, count, name, 0).1;
    assert_eq!(value(1, 1, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), 1);
    assert_eq!(value(0, 1, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), 0);
    assert_eq!(value(0, 2, HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG), 2);
    assert_eq!([1, 0].map(|page| value(page, 1, HSA_AMD_SVM_ATTRIB_READ_MOSTLY)), [1, 0]);
    assert_eq!([1, 0].map(|page| value(page, 1, HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION)), [gpu.handle, 0]);
    assert_eq!([1, 0].map(|page| value(page, 1, HSA_AMD_SVM_ATTRIB_MIGRATION_GRANULARITY)), [18, 9]);
    let access =
        |page, agent: hsa_agent_t| get(page, 1, HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, agent.handle).0 as u32;
    assert_eq!(access(1, gpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE.0);
    assert_eq!(access(1, other), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE.0);
    assert_eq!(access(1, cpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS.0);
    assert_eq!(access(0, gpu), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS.0);
    assert_eq!(access(0, cpu), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE.0);
    let done = it.signal(1);
    ok(it.svm_prefetch((pages.at(4096), 1), gpu, &[], done));
    assert!(it.finished(done));
    assert_eq!([1, 0].map(|page| value(page, 1, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION)), [gpu.handle, 0]);
    assert_eq!(value(0, 2, HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION), 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let it = session(1, false, "");
    let (pages, gpu) = (Pages::new(1), it.gpu(0).handle);
    let set = |pairs: &[Pair]| it.svm_set(pages.at(0), BLOCK, pairs);
    let access = HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE;
    for (pairs, status) in [
        (vec![(HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION, gpu)], HSA_STATUS_ERROR_INVALID_ARGUMENT),
        (vec![(HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu)], HSA_STATUS_ERROR_INVALID_ARGUMENT),
        (vec![(HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG, 2)], HSA_STATUS_ERROR_INVALID_ARGUMENT),
        (vec![(hsa_amd_svm_attribute_t(99), 0)], HSA_STATUS_ERROR_INVALID_ARGUMENT),
        (vec![(access, 0)], HSA_STATUS_ERROR_INVALID_AGENT),
        (
            vec![(access, gpu), (HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS, gpu)],
            HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
        ),
        (vec![(HSA_AMD_SVM_ATTRIB_READ_ONLY, 1); 2], HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS),
    ] {
        assert_eq!(set(&pairs), status, "{pairs:?}");
    }
    assert_eq!(it.svm_set(null_mut(), BLOCK, &[]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(it.svm_set(pages.at(0), 0, &[]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_eq!(it.svm_set(pages.at(0), usize::MAX, &[]), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let of_the_runtime = it.array::<u8>(4096).as_mut_ptr().cast();
    assert_eq!(it.svm_set(of_the_runtime, 4096, &[(access, gpu)]), HSA_STATUS_ERROR);
    let none = hsa_signal_t { handle: 0 };
    let prefetch = |agent, done| it.svm_prefetch((pages.at(0), BLOCK), agent, &[], done);
    assert_eq!(prefetch(hsa_agent_t { handle: 77 }, none), HSA_STATUS_ERROR_INVALID_AGENT);
    assert_eq!(prefetch(it.cpu(), hsa_signal_t { handle: 77 }), HSA_STATUS_ERROR_INVALID_SIGNAL);
    let access = it.svm_get(pages.at(0), BLOCK, (HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, gpu)).expect("an answer");
    assert_eq!(access.0, u64::from(HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS.0), "nothing has changed");
}

#[test]
fn a_prefetch_of_pages_that_went_meanwhile_ends_in_an_error() {
    let it = session(1, false, "");
    let (pages, gate, done) = (Pages::new(1), it.signal(1), it.signal(1));
    ok(it.svm_prefetch((pages.at(0), BLOCK), it.gpu(0), &[gate], done));
    // SAFETY: nothing refers to the pages.
    assert_eq!(unsafe { libc::munmap(pages.at(0), BLOCK) }, 0);
    it.store(gate, 0);
    // SAFETY: no pointers.
    let value = unsafe {
        (it.hsa.hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, u64::MAX, HSA_WAIT_STATE_BLOCKED)
    };
    assert!(value < 0, "{value}");
}
