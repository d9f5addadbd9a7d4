//! A testing aid: a function table that refuses resources, and counts those that were granted.
//!
//! [`interpose`] puts itself between this crate and the table of ROCr or of the emulator. Every function by which
//! resources come to be is an *allocation point*; it answers `HSA_STATUS_ERROR_OUT_OF_RESOURCES` when it is its turn to
//! fail, and the real table is not asked. What the operating system provides can be such a point too: see [`refuses`].
//! A process that does not interpose calls the real table, and pays for nothing here.
//!
//! [`hold_back`] has a call take as long as a test wants: what other threads do meanwhile must not depend on it.

mod held_back;

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64, Ordering};

use hsa_sys::*;
use parking_lot::Mutex;

pub use held_back::{HeldBack, hold_back};

/// Which allocation points fail; they count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusals {
    /// None.
    None,
    /// This one.
    One(u64),
    /// This one and all behind it.
    From(u64),
    /// Each of which the number is a multiple of this one.
    Every(u64),
}

/// A text that says no [`Refusals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected `n` (the n-th allocation fails), `n-` (and all behind it), `%n` (every n-th) or `0` (none)"
)]
pub struct UnknownRefusals;

impl FromStr for Refusals {
    type Err = UnknownRefusals;

    fn from_str(text: &str) -> Result<Self, UnknownRefusals> {
        let number = |digits: &str| digits.parse().map_err(|_| UnknownRefusals);
        let refusals = match (text.strip_prefix('%'), text.strip_suffix('-')) {
            (Some(step), None) => Self::Every(number(step)?),
            (None, Some(first)) => Self::From(number(first)?),
            (None, None) if text == "0" => Self::None,
            (None, None) => Self::One(number(text)?),
            (Some(_), Some(_)) => return Err(UnknownRefusals),
        };
        match refusals {
            Self::One(0) | Self::From(0) | Self::Every(0) => Err(UnknownRefusals),
            refusals => Ok(refusals),
        }
    }
}

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(f, "0"),
            Self::One(n) => write!(f, "{n}"),
            Self::From(n) => write!(f, "{n}-"),
            Self::Every(n) => write!(f, "%{n}"),
        }
    }
}

/// Kinds of resources that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Kind {
    Memory,
    Signal,
    Queue,
    Lock,
    Reader,
    Executable,
    Attachment,
    Addresses,
    Physical,
    Mapping,
}

/// Resources that were granted and not given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Allocations of memory pools.
    pub allocations: i64,
    /// Their bytes, as they were asked for.
    pub bytes: i64,
    /// Signals.
    pub signals: i64,
    /// Queues.
    pub queues: i64,
    /// Locks of host memory.
    pub locks: i64,
    /// Readers of code objects.
    pub readers: i64,
    /// Executables.
    pub executables: i64,
    /// Memory of other processes.
    pub attachments: i64,
    /// Reserved ranges of addresses.
    pub addresses: i64,
    /// Handles of physical memory.
    pub physical: i64,
    /// Physical memory that has addresses.
    pub mappings: i64,
}

/// Whether a table is interposed.
static INTERPOSED: AtomicBool = AtomicBool::new(false);
static REAL: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());
static POINTS: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static COUNTS: [AtomicI64; 10] = [const { AtomicI64::new(0) }; 10];
static PLAN: Mutex<Refusals> = Mutex::new(Refusals::None);
/// All tables that were interposed, where a leak checker sees that they are not lost.
static TABLES: Mutex<Vec<&'static Api>> = Mutex::new(Vec::new());
/// The bytes of each allocation, by its address.
static BYTES: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);

/// Chooses which allocation points fail, and begins to count them anew.
pub fn refuse(refusals: Refusals) {
    let mut plan = PLAN.lock();
    *plan = refusals;
    POINTS.store(0, Ordering::Relaxed);
    REFUSED.store(0, Ordering::Relaxed);
}

/// Allocation points that were passed since [`refuse`], those that failed included.
pub fn points() -> u64 {
    POINTS.load(Ordering::Relaxed)
}

/// How many of them failed.
pub fn refused() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}

/// Passes an allocation point, and says whether it is to fail: for what does not come from the HSA runtime, as threads
/// and descriptors. Always false in a process that has not [interposed](interpose).
pub fn refuses() -> bool {
    INTERPOSED.load(Ordering::Relaxed) && {
        held_back::pass();
        // Under the lock, so that a count that starts anew does so between two points.
        let plan = PLAN.lock();
        let point = POINTS.fetch_add(1, Ordering::Relaxed) + 1;
        let refused = match *plan {
            Refusals::None => false,
            Refusals::One(n) => point == n,
            Refusals::From(n) => point >= n,
            Refusals::Every(n) => point.is_multiple_of(n),
        };
        REFUSED.fetch_add(refused.into(), Ordering::Relaxed);
        refused
    }
}

/// What the table behind has granted and not got back, since a table was interposed.
pub fn granted() -> Granted {
    let count = |kind: Kind| COUNTS[kind as usize].load(Ordering::Relaxed);
    let bytes = BYTES.lock().iter().flat_map(|bytes| bytes.values()).sum::<usize>();
    Granted {
        allocations: count(Kind::Memory),
        // CAST: memory is smaller than the address space.
        bytes: bytes as i64,
        signals: count(Kind::Signal),
        queues: count(Kind::Queue),
        locks: count(Kind::Lock),
        readers: count(Kind::Reader),
        executables: count(Kind::Executable),
        attachments: count(Kind::Attachment),
        addresses: count(Kind::Addresses),
        physical: count(Kind::Physical),
        mappings: count(Kind::Mapping),
    }
}

fn real() -> &'static Api {
    // ORDER: acquire, pairs with the release in `interpose`.
    let real = REAL.load(Ordering::Acquire);
    // SAFETY: no caller has the functions below before `interpose` has stored a table, which lives for ever.
    unsafe { &*real }
}

fn count(kind: Kind, change: i64) {
    COUNTS[kind as usize].fetch_add(change, Ordering::Relaxed);
}

/// Counts what the real table has answered.
fn counted(kind: Kind, change: i64, status: hsa_status_t) -> hsa_status_t {
    if status == HSA_STATUS_SUCCESS {
        count(kind, change);
    }
    status
}

macro_rules! call {
    (required $name:ident($($argument:ident),*)) => { (real().$name)($($argument),*) };
    (optional $name:ident($($argument:ident),*)) => {
        match real().$name {
            Some(function) => function($($argument),*),
            None => HSA_STATUS_ERROR_NOT_SUPPORTED,
        }
    };
}

/// Declares functions that stand in for those of a table: what the call does, whether every table has it, its name.
macro_rules! functions {
    ($($effect:ident($($kind:ident)?) $presence:ident $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(functions! { @define $effect [$($kind)?] $presence $name($($argument: $type),*) })*

        /// The table with these functions in the places of its own.
        fn stand_in(api: &Api) -> Api {
            let mut table = *api;
            $(functions! { @install table $presence $name })*
            table.hsa_amd_memory_pool_allocate = hsa_amd_memory_pool_allocate;
            table.hsa_amd_memory_pool_free = hsa_amd_memory_pool_free;
            table
        }
    };
    (@define makes [$kind:ident] $presence:ident $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> hsa_status_t {
            if refuses() {
                return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
            }
            // SAFETY: the caller keeps to the contract of the function that this one stands in for.
            counted(Kind::$kind, 1, unsafe { call!($presence $name($($argument),*)) })
        }
    };
    (@define ends [$kind:ident] $presence:ident $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> hsa_status_t {
            held_back::pass();
            // SAFETY: as above.
            counted(Kind::$kind, -1, unsafe { call!($presence $name($($argument),*)) })
        }
    };
    (@define wants [] $presence:ident $name:ident($($argument:ident: $type:ty),*)) => {
        unsafe extern "C" fn $name($($argument: $type),*) -> hsa_status_t {
            if refuses() {
                return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
            }
            // SAFETY: as above.
            unsafe { call!($presence $name($($argument),*)) }
        }
    };
    (@install $table:ident required $name:ident) => { $table.$name = $name; };
    (@install $table:ident optional $name:ident) => { $table.$name = $table.$name.map(|_| $name as _); };
}

functions! {
    makes(Signal) required hsa_signal_create(initial_value: hsa_signal_value_t, num_consumers: u32,
        consumers: *const hsa_agent_t, signal: *mut hsa_signal_t);
    makes(Signal) required hsa_amd_signal_create(initial_value: hsa_signal_value_t, num_consumers: u32,
        consumers: *const hsa_agent_t, attributes: u64, signal: *mut hsa_signal_t);
    ends(Signal) required hsa_signal_destroy(signal: hsa_signal_t);
    wants() required hsa_amd_signal_async_handler(signal: hsa_signal_t, cond: hsa_signal_condition_t,
        value: hsa_signal_value_t, handler: hsa_amd_signal_handler, arg: *mut c_void);
    makes(Queue) required hsa_queue_create(agent: hsa_agent_t, size: u32, type_: hsa_queue_type32_t,
        callback: QueueErrorCallback, data: *mut c_void, private_segment_size: u32, group_segment_size: u32,
        queue: *mut *mut hsa_queue_t);
    makes(Queue) optional hsa_amd_queue_create(agent: hsa_agent_t, descs: *mut hsa_amd_queue_create_desc_t,
        num_descs: u32);
    ends(Queue) required hsa_queue_destroy(queue: *mut hsa_queue_t);
    wants() required hsa_amd_agents_allow_access(num_agents: u32, agents: *const hsa_agent_t, flags: *const u32,
        ptr: *const c_void);
    makes(Lock) required hsa_amd_memory_lock(host_ptr: *mut c_void, size: usize, agents: *mut hsa_agent_t,
        num_agent: c_int, agent_ptr: *mut *mut c_void);
    makes(Lock) required hsa_amd_memory_lock_to_pool(host_ptr: *mut c_void, size: usize,
        agents: *mut hsa_agent_t, num_agent: c_int, pool: hsa_amd_memory_pool_t, flags: u32,
        agent_ptr: *mut *mut c_void);
    ends(Lock) required hsa_amd_memory_unlock(host_ptr: *mut c_void);
    makes(Reader) required hsa_code_object_reader_create_from_memory(code_object: *const c_void, size: usize,
        code_object_reader: *mut hsa_code_object_reader_t);
    ends(Reader) required hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t);
    makes(Executable) required hsa_executable_create_alt(profile: hsa_profile_t,
        default_float_rounding_mode: hsa_default_float_rounding_mode_t, options: *const c_char,
        executable: *mut hsa_executable_t);
    wants() required hsa_executable_load_agent_code_object(executable: hsa_executable_t, agent: hsa_agent_t,
        code_object_reader: hsa_code_object_reader_t, options: *const c_char,
        loaded_code_object: *mut hsa_loaded_code_object_t);
    wants() required hsa_executable_freeze(executable: hsa_executable_t, options: *const c_char);
    ends(Executable) required hsa_executable_destroy(executable: hsa_executable_t);
    wants() required hsa_amd_ipc_memory_create(ptr: *mut c_void, len: usize, handle: *mut hsa_amd_ipc_memory_t);
    makes(Attachment) required hsa_amd_ipc_memory_attach(handle: *const hsa_amd_ipc_memory_t, len: usize,
        num_agents: u32, mapping_agents: *const hsa_agent_t, mapped_ptr: *mut *mut c_void);
    ends(Attachment) required hsa_amd_ipc_memory_detach(mapped_ptr: *mut c_void);
    makes(Addresses) optional hsa_amd_vmem_address_reserve(va: *mut *mut c_void, size: usize, address: u64,
        flags: u64);
    makes(Addresses) optional hsa_amd_vmem_address_reserve_align(va: *mut *mut c_void, size: usize, address: u64,
        alignment: u64, flags: u64);
    ends(Addresses) optional hsa_amd_vmem_address_free(va: *mut c_void, size: usize);
    makes(Physical) optional hsa_amd_vmem_handle_create(pool: hsa_amd_memory_pool_t, size: usize,
        type_: hsa_amd_memory_type_t, flags: u64, memory_handle: *mut hsa_amd_vmem_alloc_handle_t);
    makes(Physical) optional hsa_amd_vmem_import_shareable_handle(dmabuf_fd: c_int,
        handle: *mut hsa_amd_vmem_alloc_handle_t);
    ends(Physical) optional hsa_amd_vmem_handle_release(memory_handle: hsa_amd_vmem_alloc_handle_t);
    makes(Mapping) optional hsa_amd_vmem_map(va: *mut c_void, size: usize, in_offset: usize,
        memory_handle: hsa_amd_vmem_alloc_handle_t, flags: u64);
    ends(Mapping) optional hsa_amd_vmem_unmap(va: *mut c_void, size: usize);
    wants() optional hsa_amd_vmem_set_access(va: *mut c_void, size: usize,
        desc: *const hsa_amd_memory_access_desc_t, desc_cnt: usize);
    wants() optional hsa_amd_svm_prefetch_async(ptr: *mut c_void, size: usize, agent: hsa_agent_t,
        num_dep_signals: u32, dep_signals: *const hsa_signal_t, completion_signal: hsa_signal_t);
    wants() optional hsa_amd_vmem_export_shareable_handle(dmabuf_fd: *mut c_int,
        handle: hsa_amd_vmem_alloc_handle_t, flags: u64);
    wants() optional hsa_amd_portable_export_dmabuf(ptr: *const c_void, size: usize, dmabuf: *mut c_int,
        offset: *mut u64);
}

unsafe extern "C" fn hsa_amd_memory_pool_allocate(
    memory_pool: hsa_amd_memory_pool_t,
    size: usize,
    flags: u32,
    ptr: *mut *mut c_void,
) -> hsa_status_t {
    if refuses() {
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    // Held meanwhile: another thread that frees memory at the same address is noted before or behind this one.
    let mut bytes = BYTES.lock();
    // SAFETY: the caller keeps to the contract of the function that this one stands in for.
    let status = unsafe { (real().hsa_amd_memory_pool_allocate)(memory_pool, size, flags, ptr) };
    if status == HSA_STATUS_SUCCESS {
        // SAFETY: as above; the call has filled it.
        let address = unsafe { *ptr }.addr();
        bytes.get_or_insert_default().insert(address, size);
    }
    counted(Kind::Memory, 1, status)
}

unsafe extern "C" fn hsa_amd_memory_pool_free(ptr: *mut c_void) -> hsa_status_t {
    held_back::pass();
    let mut bytes = BYTES.lock();
    // SAFETY: the caller keeps to the contract of the function that this one stands in for.
    let status = unsafe { (real().hsa_amd_memory_pool_free)(ptr) };
    if status == HSA_STATUS_SUCCESS {
        bytes.get_or_insert_default().remove(&ptr.addr());
    }
    counted(Kind::Memory, -1, status)
}

/// A table that counts and refuses, and otherwise does what `api` does. The latest one that was interposed counts.
///
/// The table lives for ever, as tables do.
pub fn interpose(api: &'static Api) -> &'static Api {
    // ORDER: release, pairs with the acquire in `real`.
    REAL.store(std::ptr::from_ref(api).cast_mut(), Ordering::Release);
    INTERPOSED.store(true, Ordering::Relaxed);
    let table: &'static Api = Box::leak(Box::new(stand_in(api)));
    TABLES.lock().push(table);
    table
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Runtime, Signal, Waiters, fake};

    #[test]
    fn refusals_are_spelled_as_they_are_printed() {
        for refusals in [Refusals::None, Refusals::One(7), Refusals::From(1), Refusals::Every(12)] {
            assert_eq!(refusals.to_string().parse(), Ok(refusals));
        }
        for text in ["", "x", "-", "%", "%0", "0-", "%3-", "-1", "1.5"] {
            assert_eq!(text.parse::<Refusals>(), Err(UnknownRefusals), "{text}");
        }
    }

    #[test]
    fn the_nth_request_is_refused_and_only_what_was_granted_counts() {
        assert!(!refuses() && points() == 0, "nothing is counted before a table is interposed");
        let runtime = Runtime::new(interpose(fake::api())).unwrap();
        let create = || Signal::create(&runtime, 0, &[], Waiters::HostAndDevice);
        refuse(Refusals::One(2));
        let first = create().unwrap();
        assert_eq!(create().unwrap_err().status(), Some(HSA_STATUS_ERROR_OUT_OF_RESOURCES));
        let third = create().unwrap();
        assert_eq!((points(), refused(), granted().signals), (3, 1, 2));
        drop((first, third));
        assert_eq!(granted(), Granted::default());
        refuse(Refusals::From(2));
        assert_eq!([create().is_ok(), create().is_ok(), create().is_ok()], [true, false, false]);
        refuse(Refusals::Every(2));
        assert_eq!([create().is_ok(), create().is_ok(), create().is_ok()], [true, false, true]);
        assert_eq!((points(), refused()), (3, 1));
        refuse(Refusals::None);
    }

    #[test]
    fn the_nth_call_waits_until_it_is_let_go() {
        let runtime = Runtime::new(interpose(fake::api())).unwrap();
        let create = || Signal::create(&runtime, 0, &[], Waiters::HostAndDevice);
        // Ends count as well as beginnings.
        let held = hold_back(3);
        let first = create().unwrap();
        drop(first);
        assert!(!held.is_there());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| drop(create()));
            while !held.is_there() {
                std::thread::yield_now();
            }
            assert!(!other.is_finished());
            // The calls behind it pass.
            drop(create().unwrap());
            drop(held);
        });
        drop(create().unwrap());
    }
}
