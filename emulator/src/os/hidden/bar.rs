//! Device memory that the host may access through a window of PCIe (large BAR): its stores are posted.
//!
//! A store of the host is on its way until the host flushes the device's host data path or reads something of that
//! device back; the device sees the old bytes until then. What may be on its way stays on its way here: the oldest legal
//! value. A page that the host stores to becomes a private copy of the thread that stores, one instruction at a time:
//! the page is protected, the handler lifts that for one step (the processor's trap flag) and protects it again. A load
//! of a page whose stores are on their way ends them all.
//!
//! For the time of a step other threads can touch the page, too, and it is not noticed. So a thread's stores arrive before
//! another one steps on their page, what others stored meanwhile arrives when the step is over, and a dispatch waits for
//! that ([`settled`]).

use std::{
    collections::BTreeMap,
    io,
    sync::{
        OnceLock,
        atomic::{AtomicI32, Ordering},
    },
};

use libc::{c_int, c_void, siginfo_t, ucontext_t};
use parking_lot::Mutex;

use super::{Before, access, handle, of_device, pass_on, protect};
use crate::os::{Mapping, PAGE};

const PAGE_BYTES: u64 = PAGE as u64;
/// The processor executes one instruction and traps (EFLAGS.TF).
const TRAP_FLAG: i64 = 1 << 8;
/// Strings go downwards (EFLAGS.DF).
const DIRECTION_FLAG: i64 = 1 << 10;

/// What a range of the window is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Memory,
    /// Registers of the host data path: a store flushes it.
    Registers,
}

struct Range {
    end: u64,
    device: u32,
    kind: Kind,
}

/// A page with stores on their way.
struct Posted {
    device: u32,
    /// Whose they are.
    thread: i32,
    /// What the device had when the first was made.
    had: Box<[u8; PAGE]>,
}

impl Posted {
    /// Takes over into `image`, the host's side of the page, what the device has stored beside the host's bytes. A store
    /// that writes what was there when the first was made would else not show.
    fn follow(&mut self, page: u64, image: &mut [u8; PAGE]) {
        let mut now = [0; PAGE];
        // SAFETY: the devices' mapping of the page.
        unsafe { std::ptr::copy(of_device(page) as *const u8, now.as_mut_ptr(), PAGE) };
        for ((now, had), mine) in now.iter().zip(self.had.iter_mut()).zip(image) {
            if now != had && mine == had {
                (*mine, *had) = (*now, *now);
            }
        }
    }
}

/// A page that one thread may touch.
struct Step {
    page: u64,
    /// Where the instruction stores: in one line, unless it is a string's.
    stores: std::ops::Range<u64>,
    /// What was in the page before, of one whose bytes count.
    before: Option<Box<[u8; PAGE]>>,
}

/// Bytes that threads do not share: those of a cache line.
const LINE: u64 = 64;

impl Step {
    /// Whether another thread has stored to the page.
    fn is_disturbed(&self) -> bool {
        // SAFETY: the host's mapping of the page, which is open.
        let now = |at: usize| unsafe { (self.page as *const u8).add(at).read_volatile() };
        let elsewhere = |at: usize| !self.stores.contains(&(self.page + at as u64));
        let before = self.before.as_deref();
        before.is_some_and(|before| (0..PAGE).any(|at| now(at) != before[at] && elsewhere(at)))
    }
}

struct State {
    ranges: BTreeMap<u64, Range>,
    posted: BTreeMap<u64, Posted>,
    /// Pages that the thread in [`STEPPER`] may touch in this step.
    stepped: Vec<Step>,
}

static STATE: Mutex<State> =
    Mutex::new(State { ranges: BTreeMap::new(), posted: BTreeMap::new(), stepped: Vec::new() });
/// The thread that is in a step, or 0. Others wait: they would see its page unprotected.
static STEPPER: AtomicI32 = AtomicI32::new(0);
static BEFORE: Before = OnceLock::new();

/// Lets the host access whole pages of a device's memory through the window.
///
/// # Errors
/// The kernel's.
pub fn open(start: u64, size: u64, device: u32) -> io::Result<()> {
    add(start, size, device, Kind::Memory)?;
    protect(start, size, libc::PROT_READ)
}

/// Makes whole pages the registers of a device's host data path.
///
/// # Errors
/// The kernel's.
pub fn registers(start: u64, size: u64, device: u32) -> io::Result<()> {
    add(start, size, device, Kind::Registers)
}

fn add(start: u64, size: u64, device: u32, kind: Kind) -> io::Result<()> {
    handle(libc::SIGTRAP, on_trap, &BEFORE)?;
    STATE.lock().ranges.insert(start, Range { end: start + size, device, kind });
    Ok(())
}

/// Undoes [`open`]; what is on its way arrives.
pub fn close(start: u64) {
    let mut state = STATE.lock();
    let Some(range) = state.ranges.remove(&start) else { return };
    let inside: Vec<u64> = state.posted.range(start..range.end).map(|(page, _)| *page).collect();
    inside.into_iter().for_each(|page| state.arrive(page));
    // If that fails the page stays open, for threads that should not look.
    let _ = protect(start, range.end - start, libc::PROT_NONE);
}

/// Ends what is on its way to a device.
fn drain(state: &mut State, device: u32) {
    let pages = state.posted.iter().filter(|(_, posted)| posted.device == device);
    let pages: Vec<u64> = pages.map(|(page, _)| *page).collect();
    pages.into_iter().for_each(|page| state.arrive(page));
}

impl State {
    fn range(&self, address: u64) -> Option<&Range> {
        let (_, range) = self.ranges.range(..=address).next_back()?;
        (address < range.end).then_some(range)
    }

    /// Makes a page the private copy of a thread that stores, open for stores; returns what is in it.
    fn post(&mut self, page: u64, device: u32, thread: i32) -> Option<Box<[u8; PAGE]>> {
        let others = self.posted.get(&page).is_some_and(|posted| posted.thread != thread);
        if others && !self.stepped.iter().any(|step| step.page == page) {
            self.arrive(page);
        }
        let mut image = Box::new([0; PAGE]);
        if let Some(posted) = self.posted.get_mut(&page) {
            protect(page, PAGE_BYTES, libc::PROT_READ).ok()?;
            // SAFETY: the host's mapping of the page, which can be read now.
            unsafe { std::ptr::copy(page as *const u8, image.as_mut_ptr(), PAGE) };
            posted.follow(page, &mut image);
        } else {
            // SAFETY: the devices' mapping of a page of the window, which is open.
            unsafe { std::ptr::copy(of_device(page) as *const u8, image.as_mut_ptr(), PAGE) };
            self.posted.insert(page, Posted { device, thread, had: image.clone() });
        }
        // Put in place with what is in it: another thread may store to it from then on.
        let copy = Mapping::anonymous(PAGE).ok()?;
        // SAFETY: a page that is known to this function alone.
        unsafe { std::ptr::copy(image.as_ptr(), copy.pointer(), PAGE) };
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: the page is moved to one of the window, which is ours to replace.
        let moved = unsafe { libc::mremap(copy.pointer().cast(), PAGE, PAGE, flags, page as *mut c_void) };
        std::mem::forget(copy);
        (moved != libc::MAP_FAILED).then_some(image)
    }

    /// Lets the device see what was stored to a page, and the host what the device stores.
    fn arrive(&mut self, page: u64) {
        let Some(Posted { had, .. }) = self.posted.remove(&page) else { return };
        // Readable at least: that fails only where nothing is mapped.
        let _ = protect(page, PAGE_BYTES, libc::PROT_READ);
        for (at, had) in had.iter().enumerate() {
            // SAFETY: the host's mapping of the page; other threads that store to it race with themselves.
            let stored = unsafe { (page as *const u8).add(at).read_volatile() };
            if stored != *had {
                // SAFETY: the devices' mapping of the page.
                unsafe { (of_device(page) as *mut u8).add(at).write_volatile(stored) };
            }
        }
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: with an old size of 0 a shared mapping is made a second time: at a page of the window, which is ours to
        // replace (mremap(2)).
        unsafe { libc::mremap(of_device(page) as *mut c_void, 0, PAGE, flags, page as *mut c_void) };
        let _ = protect(page, PAGE_BYTES, libc::PROT_READ);
    }

    /// Protects what was stepped over.
    fn settle(&mut self) {
        for step in std::mem::take(&mut self.stepped) {
            let page = step.page;
            // Who stores now waits: a store behind the look that follows would not be noticed.
            let _ = protect(page, PAGE_BYTES, libc::PROT_READ);
            if step.is_disturbed() {
                self.arrive(page);
            }
            let readable = !self.posted.contains_key(&page)
                && self.range(page).is_some_and(|range| range.kind == Kind::Memory);
            let _ = protect(page, PAGE_BYTES, if readable { libc::PROT_READ } else { libc::PROT_NONE });
        }
    }
}

fn thread() -> i32 {
    // SAFETY: the call has no preconditions.
    unsafe { libc::gettid() }
}

fn enter(thread: i32) {
    while STEPPER.load(Ordering::Acquire) != thread
        && STEPPER.compare_exchange_weak(0, thread, Ordering::AcqRel, Ordering::Relaxed).is_err()
    {
        std::thread::yield_now();
    }
}

/// Waits until no thread is in a step: what was stored before, even unnoticed, has arrived.
pub fn settled() {
    let this = thread();
    if STEPPER.load(Ordering::Acquire) != 0 {
        enter(this);
        STEPPER.store(0, Ordering::Release);
    }
}

/// Serves an access of the host to memory in the window; `false` if it is not open to the host.
///
/// # Safety
/// `context` is the kernel's of a SIGSEGV for `address`.
pub(super) unsafe fn on_fault(address: u64, context: *mut ucontext_t) -> bool {
    // SAFETY: the caller's.
    let (_, is_store) = unsafe { access(context.cast()) };
    // SAFETY: the caller's.
    let registers = unsafe { &mut (*context).uc_mcontext.gregs };
    let page = address & !(PAGE_BYTES - 1);
    let this = thread();
    // A step that reaches a second page comes here again.
    let stepping = STEPPER.load(Ordering::Acquire) == this;
    if !stepping {
        enter(this);
    }
    let mut state = STATE.lock();
    let leave = || {
        if !stepping {
            STEPPER.store(0, Ordering::Release);
        }
    };
    let Some((device, kind)) = state.range(address).map(|range| (range.device, range.kind)) else {
        leave();
        return false;
    };
    let before = if kind == Kind::Registers {
        drain(&mut state, device);
        if protect(page, PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE).is_err() {
            leave();
            return false;
        }
        None
    } else if !is_store {
        // Another thread may have ended it meanwhile. The load is tried again.
        drain(&mut state, device);
        let readable = protect(page, PAGE_BYTES, libc::PROT_READ).is_ok();
        leave();
        return readable;
    } else {
        let Some(before) = state.post(page, device, this) else {
            leave();
            return false;
        };
        let first = registers[libc::REG_RDI as usize] as u64;
        // SAFETY: the caller's context; the page is open for stores.
        if !stepping && unsafe { string(page, registers) } {
            // CAST: registers are words without a sign.
            let stores = first..registers[libc::REG_RDI as usize] as u64;
            state.stepped.push(Step { page, stores, before: Some(before) });
            state.settle();
            leave();
            return true;
        }
        Some(before)
    };
    if !state.stepped.iter().any(|step| step.page == page) {
        // What crosses into the next line arrives at once: it may be another thread's store to what it has there.
        let stores = address..(address | (LINE - 1)) + 1;
        state.stepped.push(Step { page, stores, before });
    }
    registers[libc::REG_EFL as usize] |= TRAP_FLAG;
    true
}

/// Does what a repeated string instruction stores to a page, which as steps would be a trap an element; `false` if it is
/// none, or not as plain as that of a memcpy (Intel SDM 2, REP, MOVS, STOS).
///
/// # Safety
/// The registers are those of an instruction that stores to `page`, which is open for stores.
unsafe fn string(page: u64, registers: &mut [i64]) -> bool {
    let [rip, rdi, rsi, rcx, rax, flags] =
        [libc::REG_RIP, libc::REG_RDI, libc::REG_RSI, libc::REG_RCX, libc::REG_RAX, libc::REG_EFL]
            .map(|register| register as usize);
    // SAFETY: the processor was about to execute it; no instruction that is looked for is longer.
    let byte = |at: usize| unsafe { (registers[rip] as *const u8).add(at).read() };
    if byte(0) != 0xf3 || registers[flags] & DIRECTION_FLAG != 0 {
        return false;
    }
    let (wide, code) = if byte(1) & 0xf0 == 0x40 { (byte(1) & 8 != 0, 2) } else { (false, 1) };
    let size: u64 = match byte(code) {
        0xa4 | 0xaa => 1,
        _ if wide => 8,
        _ => 4,
    };
    // CAST: registers are words without a sign.
    let (to, from, count) = (registers[rdi] as u64, registers[rsi] as u64, registers[rcx] as u64);
    let copies = matches!(byte(code), 0xa4 | 0xa5);
    let fills = matches!(byte(code), 0xaa | 0xab);
    if !copies && !fills || to & !(PAGE_BYTES - 1) != page || copies && super::is_hidden(from) {
        return false;
    }
    let elements = count.min((page + PAGE_BYTES - to) / size);
    if elements == 0 {
        return false;
    }
    let bytes = elements * size;
    if copies {
        // SAFETY: the destination is in the page; the source is the program's to be read.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
        registers[rsi] += bytes as i64;
    } else {
        let value = registers[rax].to_le_bytes();
        for at in 0..bytes {
            // SAFETY: in the page.
            unsafe { ((to + at) as *mut u8).write(value[(at % size) as usize]) };
        }
    }
    registers[rdi] += bytes as i64;
    registers[rcx] -= elements as i64;
    if registers[rcx] == 0 {
        registers[rip] += code as i64 + 1;
    }
    true
}

/// # Safety
/// Called by the kernel.
unsafe extern "C" fn on_trap(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    if STEPPER.load(Ordering::Acquire) != thread() {
        // SAFETY: the kernel's arguments.
        return unsafe { pass_on(BEFORE.get(), signal, info, context) };
    }
    STATE.lock().settle();
    // SAFETY: the kernel's context of this signal.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
    STEPPER.store(0, Ordering::Release);
}
