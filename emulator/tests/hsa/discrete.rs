//! Cards behind PCIe: memory that the host may not touch, and what it stores through the window.

use std::{
    ffi::c_void,
    io::Read,
    os::fd::{FromRawFd, OwnedFd},
    ptr::null_mut,
};

use emulator::Config;
use hsa_sys::*;

use super::session::{Session, ok};

const PAGE: usize = 4096;

fn session(traits: &str) -> Session {
    let hardware = traits.parse().expect("traits that there are");
    Session::with(Config { hardware, ..Config::default() })
}

/// Memory of the device; the host may touch it if `open`.
fn local(session: &Session, bytes: usize, open: bool) -> *mut u8 {
    let pointer = session.try_allocate(session.pools(session.gpu(0))[0], bytes).expect("small");
    if open {
        ok(allow_host(session, pointer));
    }
    pointer.cast()
}

fn allow_host(session: &Session, pointer: *const c_void) -> hsa_status_t {
    let agents = [session.cpu(), session.gpu(0)];
    // SAFETY: an array of ours.
    unsafe { (session.hsa.hsa_amd_agents_allow_access)(2, agents.as_ptr(), std::ptr::null(), pointer) }
}

/// The bytes that the device has: its copy reads them.
fn of_device(session: &Session, pointer: *const u8, bytes: usize) -> Vec<u8> {
    let mut copy = vec![0; bytes];
    // SAFETY: `bytes` bytes of device memory and of ours.
    ok(unsafe { (session.hsa.hsa_memory_copy)(copy.as_mut_ptr().cast(), pointer.cast(), bytes) });
    copy
}

fn to_device(session: &Session, pointer: *mut u8, bytes: &[u8]) {
    // SAFETY: as above.
    ok(unsafe { (session.hsa.hsa_memory_copy)(pointer.cast(), bytes.as_ptr().cast(), bytes.len()) });
}

/// The signal that ends a child which does `act`, and what it wrote to the standard error stream.
fn death(act: impl FnOnce()) -> (i32, String) {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the child calls nothing that waits for a thread that it does not have.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: descriptors of ours, in a process of its own.
        unsafe { libc::dup2(ends[1], libc::STDERR_FILENO) };
        act();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    // SAFETY: descriptors that were just made, each owned once; the child's status has room.
    let (mut output, status) = unsafe {
        drop(OwnedFd::from_raw_fd(ends[1]));
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        (std::fs::File::from(OwnedFd::from_raw_fd(ends[0])), status)
    };
    let mut text = String::new();
    output.read_to_string(&mut text).expect("text");
    (if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 }, text)
}

#[test]
fn a_host_that_touches_device_memory_dies_and_is_told_why() {
    let session = session("discrete");
    let pointer = local(&session, PAGE, false);
    to_device(&session, pointer, b"bytes of the device's");
    assert_eq!(of_device(&session, pointer, 5), b"bytes");
    for stores in [false, true] {
        let (signal, text) = death(|| {
            // SAFETY: the access is what is tested.
            unsafe {
                if stores {
                    pointer.write_volatile(1)
                } else {
                    std::hint::black_box(pointer.read_volatile());
                }
            }
        });
        assert_eq!(signal, libc::SIGSEGV);
        assert!(text.contains(&format!("the host touched {:#x}", pointer as usize)), "{text}");
    }
    // What is not hidden faults as ever, without a word of ours.
    let (signal, text) = death(|| {
        // SAFETY: the access is what is tested.
        unsafe { std::ptr::dangling_mut::<u8>().wrapping_add(64).write_volatile(1) }
    });
    assert_eq!((signal, text.as_str()), (libc::SIGSEGV, ""));
}

#[test]
fn stores_through_the_window_arrive_when_something_is_read_back() {
    let session = session("discrete");
    let pointer = local(&session, 3 * PAGE, true);
    to_device(&session, pointer, &[9; 3 * PAGE]);
    // SAFETY: open memory, one thread.
    unsafe {
        pointer.add(5).write_volatile(1);
        pointer.add(PAGE - 4).cast::<u64>().write_unaligned(u64::MAX);
        assert_eq!(of_device(&session, pointer, 3 * PAGE), [9; 3 * PAGE], "nothing was read back");
        // A page without stores is read: it has nothing to wait for, and reads as it is.
        assert_eq!(pointer.add(2 * PAGE).read_volatile(), 9);
        assert_eq!(pointer.add(PAGE + 3).read_volatile(), 255);
    }
    let mut expected = vec![9; 3 * PAGE];
    expected[5] = 1;
    expected[PAGE - 4..PAGE + 4].fill(255);
    assert!(of_device(&session, pointer, 3 * PAGE) == expected);
    // The host sees what the device stores, also beside bytes of its own.
    to_device(&session, pointer, b"device");
    // SAFETY: as above.
    unsafe {
        assert_eq!(std::slice::from_raw_parts(pointer, 6), b"device");
        pointer.add(1).write_volatile(b'E');
        to_device(&session, pointer.add(2), b"VI");
        assert_eq!(std::slice::from_raw_parts(pointer, 6), b"dEVIce");
        // A store of what was there before the device stored something else counts.
        pointer.add(1).write_volatile(b'o');
        to_device(&session, pointer, b"D");
        pointer.write_volatile(b'd');
        assert_eq!(std::slice::from_raw_parts(pointer, 6), b"doVIce");
    }
}

#[test]
fn a_flush_of_the_data_path_lets_stores_arrive() {
    let session = session("discrete");
    let pointer = local(&session, PAGE, true);
    let mut registers = [null_mut::<u32>(); 2];
    let attribute = hsa_agent_info_t(HSA_AMD_AGENT_INFO_HDP_FLUSH.0);
    // SAFETY: room for the two addresses.
    ok(unsafe { (session.hsa.hsa_agent_get_info)(session.gpu(0), attribute, registers.as_mut_ptr().cast()) });
    // SAFETY: open memory, and a register of the device.
    unsafe {
        pointer.write_volatile(1);
        assert_eq!(of_device(&session, pointer, 1), [0]);
        registers[0].write_volatile(1);
        assert_eq!(of_device(&session, pointer, 1), [1]);
    }
}

#[test]
fn large_copies_and_fills_go_through_the_window() {
    let session = session("discrete");
    let bytes = 40 * PAGE;
    let pointer = local(&session, bytes, true);
    let data: Vec<u8> = (0..bytes).map(|at| (at * 7 % 251) as u8).collect();
    // SAFETY: open memory of that size, one thread.
    unsafe {
        std::ptr::copy_nonoverlapping(data.as_ptr().add(3), pointer.add(3), bytes - 3);
        pointer.write_bytes(77, 3);
        std::hint::black_box(pointer.read_volatile());
    }
    let seen = of_device(&session, pointer, bytes);
    assert_eq!(seen[..3], [77; 3]);
    assert!(seen[3..] == data[3..]);
}

#[test]
fn threads_store_through_the_window_side_by_side() {
    let session = session("discrete");
    let pointer = local(&session, PAGE, true).expose_provenance();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for n in 0..200 {
                    let word =
                        std::ptr::with_exposed_provenance_mut::<u32>(pointer).wrapping_add(200 * thread + n);
                    // SAFETY: a word of open memory that no other thread has.
                    unsafe { word.write_volatile((1000 * thread + n) as u32) };
                }
            });
        }
    });
    let words = std::ptr::with_exposed_provenance::<u32>(pointer);
    // SAFETY: open memory.
    let read = |at: usize| unsafe { words.add(at).read_volatile() };
    for thread in 0..4 {
        for n in 0..200 {
            assert_eq!(read(200 * thread + n), (1000 * thread + n) as u32);
        }
    }
}

#[test]
fn without_a_large_bar_the_host_reaches_nothing() {
    let session = session("no-bar");
    let pointer = local(&session, PAGE, false);
    assert_eq!(allow_host(&session, pointer.cast()), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    let mut access = HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
    let pool = session.pools(session.gpu(0))[0];
    let attribute = HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS;
    // SAFETY: room for the answer.
    ok(unsafe {
        (session.hsa.hsa_amd_agent_memory_pool_get_info)(
            session.cpu(),
            pool,
            attribute,
            (&raw mut access).cast(),
        )
    });
    assert_eq!(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
    to_device(&session, pointer, b"copied");
    assert_eq!(of_device(&session, pointer, 6), b"copied");
}

#[test]
fn links_say_whether_atomics_reach_the_host() {
    for (traits, expected) in [("discrete", true), ("no-atomics", false)] {
        let session = session(traits);
        // SAFETY: zeros are a valid value of the structure.
        let mut link: hsa_amd_memory_pool_link_info_t = unsafe { std::mem::zeroed() };
        let (agent, pool) = (session.gpu(0), session.pools(session.cpu())[0]);
        let attribute = HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO;
        // SAFETY: room for the one hop.
        ok(unsafe {
            (session.hsa.hsa_amd_agent_memory_pool_get_info)(agent, pool, attribute, (&raw mut link).cast())
        });
        assert_eq!((link.atomic_support_32bit, link.atomic_support_64bit), (expected, expected));
    }
}
