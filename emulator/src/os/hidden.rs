//! Memory that devices reach and the host does not, as that of a card behind PCIe.
//!
//! Host and devices know such memory by one address. There the host's pages are protected; a device's accesses go to a
//! second mapping of the same pages, at a constant distance ([`of_device`]). Both lie in windows of the address space that
//! are used for nothing else, so that an address says by itself what it is. Nothing is in them, and the translation
//! changes no address, until [`begin`].
//!
//! A host that touches hidden memory gets SIGSEGV, as on a card, behind a line that says what it touched.

use std::{
    fmt::Write as _,
    io,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use libc::{c_int, c_void, siginfo_t};
use parking_lot::Mutex;

#[cfg(target_arch = "x86_64")]
pub mod bar;
/// Without a processor that can be stepped, what the host stores arrives at once.
#[cfg(not(target_arch = "x86_64"))]
pub mod bar {
    use std::io;

    use super::HostAccess;

    /// Lets the host access whole pages of a device's memory through the window.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(start: u64, size: u64, _device: u32) -> io::Result<()> {
        super::open(start, size, HostAccess::ReadWrite)
    }

    /// Makes whole pages the registers of a device's host data path.
    ///
    /// # Errors
    /// The kernel's.
    pub fn registers(start: u64, size: u64, device: u32) -> io::Result<()> {
        open(start, size, device)
    }

    /// Undoes [`open`] if the block is freed: its mapping goes.
    pub fn close(_start: u64) {}

    /// Waits for nothing.
    pub fn settled() {}
}

/// Where hidden memory begins. The host's programs, libraries, heaps and stacks are far above, those of sanitizers are
/// not: nothing can be hidden below one.
const START: u64 = 1 << 44;
/// Bytes of a window.
const SIZE: u64 = 1 << 44;
/// From the host's mapping of a page to the devices'.
const DISTANCE: u64 = SIZE;
/// At either end of a window nothing is mapped: a base register may lie so far from what its lanes reach.
const MARGIN: u64 = 1 << 33;

/// [`SIZE`] once something may be hidden.
static WINDOW: AtomicU64 = AtomicU64::new(0);
/// The next address that is free. None is used twice unless somebody asks for it: what was freed stays recognisable.
static NEXT: Mutex<u64> = Mutex::new(START + MARGIN);

/// The handler that was there before.
static BEFORE: Before = OnceLock::new();

type Before = OnceLock<libc::sigaction>;

/// Told of what the host touches that is protected: the address, whether it is a store, and the instruction. It runs in the
/// handler of the signal. Whether the access may go on: the page is [open] now.
pub type Watcher = fn(u64, bool, u64) -> bool;

static WATCHER: OnceLock<Watcher> = OnceLock::new();

/// Has `watcher` told from now on.
pub fn watch(watcher: Watcher) {
    // There is one.
    let _ = WATCHER.set(watcher);
}

/// From now on memory can be hidden.
///
/// # Errors
/// The kernel's.
pub fn begin() -> io::Result<()> {
    handle(libc::SIGSEGV, on_segv, &BEFORE)?;
    WINDOW.store(SIZE, Ordering::Relaxed);
    Ok(())
}

/// Whether memory can be hidden.
pub fn is_on() -> bool {
    WINDOW.load(Ordering::Relaxed) != 0
}

/// Whether `address` is of hidden memory.
#[inline(always)]
pub fn is_hidden(address: u64) -> bool {
    address.wrapping_sub(START) < WINDOW.load(Ordering::Relaxed)
}

/// Where this process finds what a device has at `address`.
#[inline(always)]
pub fn of_device(address: u64) -> u64 {
    if is_hidden(address) { address + DISTANCE } else { address }
}

/// [`of_device`] as a pointer.
#[inline(always)]
pub fn at(address: u64) -> *mut u8 {
    of_device(address) as *mut u8
}

/// Takes `size` bytes of the window from a multiple of `alignment` on, with a page behind them that is never mapped.
pub(super) fn take(size: usize, alignment: usize) -> io::Result<u64> {
    let mut next = NEXT.lock();
    let full = || io::Error::from(io::ErrorKind::OutOfMemory);
    let start = next.checked_next_multiple_of(alignment.max(super::PAGE) as u64).ok_or_else(full)?;
    let end = start.checked_add(size as u64 + super::PAGE as u64).ok_or_else(full)?;
    if end > START + SIZE - MARGIN {
        return Err(full());
    }
    *next = end;
    Ok(start)
}

/// Takes `size` bytes of the window at `start`, where nothing may be mapped; they may have been taken and freed.
pub(super) fn take_at(start: u64, size: usize) -> io::Result<()> {
    let outside = || io::Error::from(io::ErrorKind::OutOfMemory);
    let end = start.checked_add(size as u64 + super::PAGE as u64).ok_or_else(outside)?;
    if start < START + MARGIN || end > START + SIZE - MARGIN {
        return Err(outside());
    }
    let mut next = NEXT.lock();
    *next = end.max(*next);
    Ok(())
}

/// What the host may do with hidden memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostAccess {
    /// Nothing.
    None,
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
}

/// Lets the host access whole pages; does nothing if they are not hidden.
///
/// # Errors
/// The kernel's.
pub fn open(start: u64, size: u64, access: HostAccess) -> io::Result<()> {
    if !is_hidden(start) {
        return Ok(());
    }
    let protection = match access {
        HostAccess::None => libc::PROT_NONE,
        HostAccess::Read => libc::PROT_READ,
        HostAccess::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
    };
    protect(start, size, protection)
}

fn protect(start: u64, size: u64, protection: c_int) -> io::Result<()> {
    // SAFETY: pages of the window, which are ours.
    let done = unsafe { libc::mprotect(start as *mut c_void, size as usize, protection) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

type Handler = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Installs a handler if it is not there yet, and keeps what was there.
fn handle(signal: c_int, handler: Handler, before: &Before) -> io::Result<()> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one = INSTALLING.lock();
    if before.get().is_some() {
        return Ok(());
    }
    // SAFETY: all-zero is a valid sigaction.
    let (mut new, mut old): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    new.sa_sigaction = handler as usize;
    // On the stack of the thread: alternate ones may have room for little more than the kernel's frame, which takes most
    // of 8 KiB where vector registers are wide.
    new.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
    // SAFETY: the structure is ours.
    if unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut old) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Before the handler can be called. It is the only one that is kept: the lock is held.
    let _ = before.set(old);
    // SAFETY: the structure is ours; the handler has the type that SA_SIGINFO asks for.
    let done = unsafe { libc::sigaction(signal, &raw const new, std::ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Hands a signal to the handler that was there before, or has it act as it does by default.
///
/// # Safety
/// The arguments are those of a handler of `signal`.
unsafe fn pass_on(
    before: Option<&libc::sigaction>,
    signal: c_int,
    info: *mut siginfo_t,
    context: *mut c_void,
) {
    match before {
        Some(before) if before.sa_sigaction > libc::SIG_IGN && before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with SA_SIGINFO the kernel would call it so.
            let handler: Handler = unsafe { std::mem::transmute(before.sa_sigaction) };
            // SAFETY: the arguments are the kernel's.
            unsafe { handler(signal, info, context) };
        }
        Some(before) if before.sa_sigaction > libc::SIG_IGN => {
            // SAFETY: without SA_SIGINFO the kernel would call it so.
            let handler: unsafe extern "C" fn(c_int) = unsafe { std::mem::transmute(before.sa_sigaction) };
            // SAFETY: the argument is the kernel's.
            unsafe { handler(signal) };
        }
        _ => {
            // SAFETY: the default action of a signal needs no more than its number.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
            // A fault comes again when the instruction is executed again. A trap, or a signal that a process sent (its code
            // is not positive, sigaction(2)), does not.
            // SAFETY: the kernel's structure; the thread may send itself signals.
            unsafe {
                if signal != libc::SIGSEGV || (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
    }
}

/// A page fault was a store (error code, W/R).
#[cfg(target_arch = "x86_64")]
const WRITE: i64 = 1 << 1;

/// The instruction that a signal came from, and whether it was about to store.
///
/// # Safety
/// The context is the kernel's of a SIGSEGV.
#[cfg(target_arch = "x86_64")]
unsafe fn access(context: *mut c_void) -> (u64, bool) {
    // SAFETY: the caller's.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    // CAST: registers are words without a sign.
    (registers[libc::REG_RIP as usize] as u64, registers[libc::REG_ERR as usize] & WRITE != 0)
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn access(_context: *mut c_void) -> (u64, bool) {
    (0, false)
}

/// # Safety
/// Called by the kernel.
unsafe extern "C" fn on_segv(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's structure for SIGSEGV has an address.
    let address = unsafe { (*info).si_addr() } as u64;
    if is_hidden(address) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the kernel's context of this signal.
        if unsafe { bar::on_fault(address, context.cast()) } {
            return;
        }
        // SAFETY: the kernel's context of this signal.
        let (pc, is_store) = unsafe { access(context) };
        if WATCHER.get().is_some_and(|watcher| watcher(address, is_store, pc)) {
            return;
        }
        let mut line = Line::default();
        // A line that is too long is cut.
        let _ = writeln!(
            line,
            "aqlipse: the host touched {address:#x} at pc {pc:#x}, memory of a device that is not the host's to touch \
             (AQLIPSE_EMULATE_HARDWARE=discrete)"
        );
        line.print();
    }
    // SAFETY: the kernel's arguments.
    unsafe { pass_on(BEFORE.get(), signal, info, context) };
}

/// Text without allocation, for a handler.
struct Line {
    bytes: [u8; 256],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self { bytes: [0; 256], len: 0 }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.len..];
        let len = text.len().min(room.len());
        room[..len].copy_from_slice(&text.as_bytes()[..len]);
        self.len += len;
        Ok(())
    }
}

impl Line {
    fn print(&self) {
        // SAFETY: the bytes are ours. What cannot be written is lost.
        unsafe { libc::write(libc::STDERR_FILENO, self.bytes.as_ptr().cast(), self.len) };
    }
}
