//! Real kernels, end to end, and what becomes of those that fail.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use emulator::Target;
use hsa_sys::*;

use super::session::{BARRIER_BIT, Kernel, Session, dispatch, ok};
use crate::harness::{Level, code_object};

const SOURCE: &str = r#"
KERNEL add(const u32 *in, u32 *out, u32 n) {
    u32 i = block * 64 + tid;
    if (i < n) out[i] = in[i] + 1;
}
KERNEL spin(volatile u32 *flag, u32 *arrived, u32 groups) {
    // A barrier over the grid: every workgroup waits for all others.
    if (tid == 0) {
        __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
        while (*(volatile u32 *)arrived < groups) __builtin_amdgcn_s_sleep(1);
        while (*flag == 0) __builtin_amdgcn_s_sleep(1);
    }
}
KERNEL expect_waves(u32 less_one) { __builtin_amdgcn_ds_gws_init(less_one, 3); }
KERNEL meet(u32 *arrived, u32 *seen, u32 less_one) {
    if (tid == 0) __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
    __builtin_amdgcn_ds_gws_barrier(less_one, 3);
    seen[block] = __hip_atomic_load(arrived, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL set(u64 *at, u64 value) { if (tid == 0) *at = value; }
FN u32 table[4] = {1, 2, 3, 4};
KERNEL lookup(u32 *out) { out[tid] = table[tid & 3]; }
"#;

fn kernel(session: &Session, gpu: usize, target: Target, name: &str) -> Option<Kernel> {
    Some(session.kernel(gpu, &code_object(SOURCE, target, Level::O1)?, name))
}

/// Arguments in memory that the device can read.
fn kernarg(session: &Session, words: &[u64]) -> &'static [u64] {
    let memory = session.array::<u64>(words.len().max(1));
    memory[..words.len()].copy_from_slice(words);
    memory
}

#[test]
fn a_kernel_computes_on_two_devices() {
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx942]);
    for (gpu, target) in [Target::Gfx90a, Target::Gfx942].into_iter().enumerate() {
        let Some(add) = kernel(&session, gpu, target, "add") else { return };
        let (input, output) = (session.array::<u32>(1000), session.array::<u32>(1024));
        input.iter_mut().zip(0..).for_each(|(word, i)| *word = i * 3);
        let kernarg = kernarg(&session, &[input.as_ptr() as u64, output.as_ptr() as u64, 1000]);
        let queue = session.queue(gpu, 64);
        let done = session.signal(1);
        queue.submit(&[dispatch(0, add, 16, kernarg, done)]);
        assert!(session.finished(done));
        assert!(output[..1000].iter().zip(0..).all(|(word, i)| *word == i * 3 + 1));
        assert!(output[1000..].iter().all(|word| *word == 0));
        queue.destroy();
    }
}

#[test]
fn waves_of_all_workgroups_meet_at_a_global_barrier() {
    const GROUPS: u64 = 40;
    let session = Session::devices(&[Target::Gfx90a, Target::Gfx942]);
    for (gpu, target) in [Target::Gfx90a, Target::Gfx942].into_iter().enumerate() {
        let Some(expect) = kernel(&session, gpu, target, "expect_waves") else { return };
        let Some(meet) = kernel(&session, gpu, target, "meet") else { return };
        let (arrived, seen) = (session.array::<u32>(1), session.array::<u32>(GROUPS as usize));
        let expected = kernarg(&session, &[GROUPS - 1]);
        let places = kernarg(&session, &[arrived.as_ptr() as u64, seen.as_ptr() as u64, GROUPS - 1]);
        let queue = session.queue(gpu, 64);
        let done = session.signal(2);
        queue.submit(&[
            dispatch(0, expect, 1, expected, done),
            dispatch(BARRIER_BIT, meet, GROUPS as u32, places, done),
        ]);
        assert!(session.finished(done));
        assert!(seen.iter().all(|seen| u64::from(*seen) == GROUPS), "{target:?} {seen:?}");
        queue.destroy();
    }
}

#[test]
fn code_for_another_target_is_refused() {
    let session = Session::new();
    let Some(object) = code_object(SOURCE, Target::Gfx942, Level::O1) else { return };
    assert_eq!(session.load_code(0, &object), Err(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS));
    let Some(mut object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    assert!(session.load_code(0, &object).is_ok());
    object.truncate(object.len() / 2);
    assert_eq!(session.load_code(0, &object), Err(HSA_STATUS_ERROR_INVALID_CODE_OBJECT));
    assert_eq!(session.load_code(0, b"\x7fELF, or so it says"), Err(HSA_STATUS_ERROR_INVALID_CODE_OBJECT));
}

#[test]
fn variables_are_found_by_name_and_kernels_by_descriptor() {
    let session = Session::new();
    let Some(object) = code_object(SOURCE, Target::Gfx90a, Level::O1) else { return };
    let executable = session.load_code(0, &object).expect("a sound code object");
    let find = |name: &std::ffi::CStr| {
        let mut symbol = hsa_executable_symbol_t { handle: 0 };
        let gpu = session.gpu(0);
        // SAFETY: pointers of ours.
        let status = unsafe {
            (session.hsa.hsa_executable_get_symbol_by_name)(executable, name.as_ptr(), &gpu, &mut symbol)
        };
        (status, symbol)
    };
    assert_eq!(find(c"no_such_kernel.kd").0, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME);
    let (status, symbol) = find(c"add.kd");
    ok(status);
    let mut word = [0u8; 64];
    let mut length = 0u32;
    // SAFETY: the answers fit.
    unsafe {
        let info = session.hsa.hsa_executable_symbol_get_info;
        ok(info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, (&raw mut length).cast()));
        ok(info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, word.as_mut_ptr().cast()));
        assert_eq!(&word[..length as usize], b"add.kd");
        assert_eq!(
            info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, word.as_mut_ptr().cast()),
            HSA_STATUS_ERROR_INVALID_ARGUMENT
        );
        ok((session.hsa.hsa_executable_destroy)(executable));
        assert_eq!(
            info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, (&raw mut length).cast()),
            HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL
        );
    }
}

#[test]
fn workgroups_that_wait_for_each_other_and_the_host_make_progress() {
    let session = Session::new();
    let Some(spin) = kernel(&session, 0, Target::Gfx90a, "spin") else { return };
    let words = session.array::<u32>(2);
    let base = words.as_ptr() as u64;
    // 24 workgroups of one wave are resident together on 4 compute units.
    let kernarg = kernarg(&session, &[base, base + 4, 24]);
    let queue = session.queue(0, 64);
    let done = session.signal(1);
    queue.submit(&[dispatch(0, spin, 24, kernarg, done)]);
    assert!(!session.finished_within(done, 50_000_000));
    // SAFETY: the word is the kernel's flag; both sides use atomic-width accesses.
    unsafe { AtomicU32::from_ptr(base as *mut u32) }.store(1, Ordering::SeqCst);
    assert!(session.finished(done));
    queue.destroy();
}

#[test]
fn destroying_a_queue_ends_a_kernel_that_never_would() {
    let session = Session::new();
    let Some(spin) = kernel(&session, 0, Target::Gfx90a, "spin") else { return };
    let base = session.array::<u32>(2).as_ptr() as u64;
    let kernarg = kernarg(&session, &[base, base + 4, 3]);
    let queue = session.queue(0, 64);
    let done = session.signal(1);
    queue.submit(&[dispatch(0, spin, 3, kernarg, done)]);
    assert!(!session.finished_within(done, 20_000_000));
    queue.destroy();
    assert_eq!(session.load(done), 1);
}

#[test]
fn inactivating_a_queue_aborts_what_runs_on_it() {
    let session = Session::new();
    let Some(spin) = kernel(&session, 0, Target::Gfx90a, "spin") else { return };
    let base = session.array::<u32>(2).as_ptr() as u64;
    let kernarg = kernarg(&session, &[base, base + 4, 1]);
    let queue = session.queue(0, 64);
    let done = session.signal(1);
    queue.submit(&[dispatch(0, spin, 1, kernarg, done)]);
    assert!(!session.finished_within(done, 20_000_000));
    // SAFETY: the queue exists.
    ok(unsafe { (session.hsa.hsa_queue_inactivate)(queue.queue) });
    // SAFETY: the word is the kernel's flag; both sides use atomic-width accesses.
    unsafe { AtomicU32::from_ptr(base as *mut u32) }.store(1, Ordering::SeqCst);
    assert!(!session.finished_within(done, 20_000_000), "it would end now if it still ran");
    queue.destroy();
}

#[test]
fn a_store_of_device_code_into_a_signal_wakes_the_host() {
    let session = Session::new();
    let Some(set) = kernel(&session, 0, Target::Gfx90a, "set") else { return };
    let signal = session.signal(1);
    // The value stands 8 bytes into the signal (amd_signal_t).
    let kernarg = kernarg(&session, &[signal.handle + 8, 0]);
    let queue = session.queue(0, 64);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| session.finished(signal));
        std::thread::sleep(std::time::Duration::from_millis(20));
        queue.submit(&[dispatch(0, set, 1, kernarg, hsa_signal_t { handle: 0 })]);
        assert!(waiter.join().expect("the waiter returns"));
    });
    queue.destroy();
}

static FAULT_ADDRESS: AtomicU64 = AtomicU64::new(0);
static QUEUE_STATUS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn on_event(event: *const hsa_amd_event_t, _: *mut c_void) -> hsa_status_t {
    // SAFETY: the runtime passes an event; a memory fault has this payload.
    unsafe {
        assert_eq!((*event).event_type, HSA_AMD_GPU_MEMORY_FAULT_EVENT);
        FAULT_ADDRESS.store((*event).info.memory_fault.virtual_address, Ordering::SeqCst);
    }
    HSA_STATUS_SUCCESS
}

unsafe extern "C" fn on_error(status: hsa_status_t, _: *mut hsa_queue_t, _: *mut c_void) {
    QUEUE_STATUS.store(status.0, Ordering::SeqCst);
}

#[test]
fn a_memory_fault_is_reported_and_leaves_the_process_usable() {
    let session = Session::new();
    let Some(set) = kernel(&session, 0, Target::Gfx90a, "set") else { return };
    let memory = session.array::<u64>(4);
    let beyond = memory.as_ptr() as u64 + 32;
    // SAFETY: a callback of ours.
    ok(unsafe { (session.hsa.hsa_amd_register_system_event_handler)(Some(on_event), std::ptr::null_mut()) });
    let queue = session.queue_with(0, 64, Some(on_error), std::ptr::null_mut());
    let (done, after) = (session.signal(1), session.signal(1));
    let bad = kernarg(&session, &[beyond, 1]);
    let good = kernarg(&session, &[memory.as_ptr() as u64, 42]);
    queue.submit(&[dispatch(0, set, 1, bad, done), dispatch(BARRIER_BIT, set, 1, good, after)]);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while QUEUE_STATUS.load(Ordering::SeqCst) == 0 && std::time::Instant::now() < end {
        std::thread::yield_now();
    }
    assert_eq!(hsa_status_t(QUEUE_STATUS.load(Ordering::SeqCst)), HSA_STATUS_ERROR_MEMORY_FAULT);
    assert_eq!(FAULT_ADDRESS.load(Ordering::SeqCst), beyond / 4096 * 4096);
    let report = emulator::take_fault_report().expect("a fault leaves a report");
    for part in
        ["kernel set", "set+0x", "workgroup [0, 0, 0]", "0 bytes past the end", &format!("{beyond:#x}")]
    {
        assert!(report.contains(part), "{part} is missing in: {report}");
    }
    assert_eq!((session.load(done), session.load(after)), (1, 1), "a faulted queue completes nothing");
    queue.destroy();

    let queue = session.queue(0, 64);
    queue.submit(&[dispatch(0, set, 1, good, after)]);
    assert!(session.finished(after));
    assert_eq!(memory[0], 42);
    queue.destroy();
}

#[test]
fn host_memory_is_reached_only_while_it_is_locked() {
    let session = Session::new();
    let Some(set) = kernel(&session, 0, Target::Gfx90a, "set") else { return };
    let word = Box::new(AtomicU64::new(0));
    let address = word.as_ptr();
    let kernarg = kernarg(&session, &[address as u64, 9]);
    let submit = |done| {
        let queue = session.queue(0, 64);
        queue.submit(&[dispatch(0, set, 1, kernarg, done)]);
        let finished = session.finished_within(done, 200_000_000);
        queue.destroy();
        finished
    };
    let mut agent_address = std::ptr::null_mut();
    // SAFETY: the word outlives the lock.
    unsafe {
        let lock = session.hsa.hsa_amd_memory_lock;
        ok(lock(address.cast(), 8, &mut session.gpu(0), 1, &mut agent_address));
    }
    assert!(submit(session.signal(1)));
    assert_eq!(word.swap(0, Ordering::SeqCst), 9);
    // SAFETY: locked above.
    ok(unsafe { (session.hsa.hsa_amd_memory_unlock)(address.cast()) });
    assert!(!submit(session.signal(1)));
    assert_eq!(word.load(Ordering::SeqCst), 0);
    assert!(emulator::take_fault_report().is_some_and(|r| r.contains(&format!("{:#x}", address as u64))));
}

#[test]
fn a_profiled_queue_leaves_times_in_the_completion_signal() {
    let session = Session::new();
    let Some(set) = kernel(&session, 0, Target::Gfx90a, "set") else { return };
    let memory = session.array::<u64>(1);
    let kernarg = kernarg(&session, &[memory.as_ptr() as u64, 7]);
    let queue = session.queue(0, 64);
    let done = session.signal(1);
    let mut time = hsa_amd_profiling_dispatch_time_t::default();
    let mut now = [0u64; 2];
    // SAFETY: pointers of ours.
    unsafe {
        let system = session.hsa.hsa_system_get_info;
        ok((session.hsa.hsa_amd_profiling_set_profiler_enabled)(queue.queue, 1));
        ok(system(HSA_SYSTEM_INFO_TIMESTAMP, (&raw mut now[0]).cast()));
        queue.submit(&[dispatch(0, set, 1, kernarg, done)]);
        assert!(session.finished(done));
        ok(system(HSA_SYSTEM_INFO_TIMESTAMP, (&raw mut now[1]).cast()));
        ok((session.hsa.hsa_amd_profiling_get_dispatch_time)(session.gpu(0), done, &mut time));
    }
    // The device's clock ticks every 10 ns.
    assert!(now[0] <= time.start + 10 && time.start <= time.end && time.end <= now[1], "{now:?} {time:?}");
    queue.destroy();
}
