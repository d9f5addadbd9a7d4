//! What a profiler has asked to be told: of calls by number (`hip_prof_str.h`), and of what devices do.
//!
//! The types of callbacks are those of `ext/prof_protocol.h` of roctracer 5.2; which calls come when was observed on AMD's
//! 5.2.3 (`tests/conformance/profiler_calls.cpp`, `profiler_activity.hip`). A profiler registers two functions for each that
//! it wants to know of. The *activity callback* is asked for a `hip_api_data_t` when the call begins, and told when it ends.
//! The *API callback* gets that structure, filled in, at both times.
//!
//! | module | what it holds |
//! |---|---|
//! | `function` | the functions that profilers know |
//! | `operations` | what devices do, told to a profiler |

mod function;
mod operations;

use std::{cell::Cell, ffi::c_void, mem::MaybeUninit, ptr};

use aqlipse::activity;
use parking_lot::RwLock;

pub use function::{Function, bytes, function};
use operations::Operations;

/// The last number of the header of 5.2.3.
const LAST: usize = 333;
/// `ACTIVITY_DOMAIN_HIP_API` of the protocol's header.
const CALLS: u32 = 3;
/// `ACTIVITY_API_PHASE_EXIT`.
const EXIT: u32 = 1;
/// Where `hip_api_data_t` has the phase.
const PHASE: usize = 8;

/// `activity_sync_callback_t`: gets the number of the function, and when the call is over the profiler's argument.
pub type SyncCallback = unsafe extern "C" fn(u32, *mut c_void, *const c_void, *mut c_void) -> *mut c_void;
/// `activity_rtapi_callback_t`: gets the domain, the number of the function, `hip_api_data_t`, and the profiler's argument.
pub type ApiCallback = unsafe extern "C" fn(u32, u32, *const c_void, *mut c_void);
/// `activity_id_callback_t`: gets the number of the record that will come.
pub type IdCallback = unsafe extern "C" fn(u64);
/// `activity_async_callback_t`: gets the operation, an `activity_record_t`, and the profiler's argument.
pub type AsyncCallback = unsafe extern "C" fn(u32, *mut c_void, *mut c_void);

/// A function of a profiler's, and what it wants to get back.
#[derive(Clone, Copy)]
struct Callback<F> {
    function: F,
    argument: Argument,
}

/// The profiler's: the library only passes it on.
#[derive(Clone, Copy)]
struct Argument(*mut c_void);
// SAFETY: it is never followed here.
unsafe impl Send for Argument {}
// SAFETY: as above.
unsafe impl Sync for Argument {}

/// What was registered for one function.
#[derive(Clone, Copy)]
struct Registered {
    api: Option<Callback<ApiCallback>>,
    activity: Option<Callback<SyncCallback>>,
}

/// All that profilers have registered.
struct Callbacks {
    /// By number.
    functions: [Registered; LAST + 1],
    begins: Option<IdCallback>,
    ended: Option<Callback<AsyncCallback>>,
    /// By operation: kernels, copies and fills, barriers.
    enabled: [bool; 3],
}

static CALLBACKS: RwLock<Callbacks> = RwLock::new(Callbacks {
    functions: [Registered { api: None, activity: None }; LAST + 1],
    begins: None,
    ended: None,
    enabled: [false; 3],
});

impl Callbacks {
    /// Whether the profiler is told anything of devices.
    fn wants_operations(&self) -> bool {
        self.begins.is_some() && self.ended.is_some() && self.enabled != [false; 3]
    }

    /// Has calls and devices watched as long as a callback is registered.
    fn watch(&self) {
        let operations = self.wants_operations();
        activity::listen(&Operations, operations);
        // HIP: without an activity callback 5.2.3 calls no API callback (tests/conformance/profiler_calls.cpp).
        timeline::recorder::listen(
            operations || self.functions.iter().any(|registered| registered.activity.is_some()),
        );
    }
}

/// Registers an API callback for a function, or removes it; says whether there is such a number.
pub fn set_api(id: u32, callback: Option<ApiCallback>, argument: *mut c_void) -> bool {
    let api = callback.map(|function| Callback { function, argument: Argument(argument) });
    set(id, |registered| registered.api = api)
}

/// Registers an activity callback for a function, or removes it; says whether there is such a number.
pub fn set_activity(id: u32, callback: Option<SyncCallback>, argument: *mut c_void) -> bool {
    let activity = callback.map(|function| Callback { function, argument: Argument(argument) });
    set(id, |registered| registered.activity = activity)
}

// HIP: 5.2.3 takes each number up to its last, removes what is not registered, and takes null for nothing
// (tests/conformance/profiler_calls.cpp).
fn set(id: u32, change: impl FnOnce(&mut Registered)) -> bool {
    let mut callbacks = CALLBACKS.write();
    let Some(registered) = callbacks.functions.get_mut(id as usize).filter(|_| id != 0) else { return false };
    change(registered);
    callbacks.watch();
    true
}

/// Sets the functions that are told of what devices do.
pub fn set_operations(begins: Option<IdCallback>, ended: Option<AsyncCallback>, argument: *mut c_void) {
    let mut callbacks = CALLBACKS.write();
    callbacks.begins = begins;
    callbacks.ended = ended.map(|function| Callback { function, argument: Argument(argument) });
    callbacks.watch();
}

/// Sets whether an operation is told of; says whether there is one with that number.
pub fn enable_operation(operation: u32, enable: bool) -> bool {
    let mut callbacks = CALLBACKS.write();
    let Some(enabled) = callbacks.enabled.get_mut(operation as usize) else { return false };
    *enabled = enable;
    callbacks.watch();
    true
}

thread_local! {
    /// Whether the thread is in a call that a profiler was told of: what the library itself calls is no call of the program's.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A call that a profiler was told of.
pub(crate) struct Entered {
    id: u32,
    registered: Registered,
    activity: Callback<SyncCallback>,
    /// The profiler's `hip_api_data_t`.
    data: *mut c_void,
}

impl Entered {
    /// Tells the profiler that a function is called, if it wants to know.
    // HIP: 5.2.3 leaves correlation number and phase to the profiler, fills in the arguments and no `__val`, and goes on with
    // what was registered then (tests/conformance/profiler_calls.cpp).
    pub(crate) fn new(function: &Function, arguments: &[&[MaybeUninit<u8>]]) -> Option<Self> {
        if IS_INSIDE.get() {
            return None;
        }
        let id = function.id;
        let registered = CALLBACKS.read().functions[id as usize];
        let activity = registered.activity?;
        // SAFETY: the profiler's function, of the type of the protocol's header.
        let data = unsafe { (activity.function)(id, ptr::null_mut(), ptr::null(), ptr::null_mut()) };
        if data.is_null() {
            return None;
        }
        for (known, argument) in function.arguments.iter().zip(arguments) {
            debug_assert_eq!(usize::from(known.size), argument.len());
            // SAFETY: the profiler's structure has room for the arguments of each function, by its header, and nothing else
            // points into it now.
            unsafe {
                let place = data.cast::<MaybeUninit<u8>>().add(known.offset.into());
                ptr::copy_nonoverlapping(argument.as_ptr(), place, argument.len());
            }
        }
        let entered = Self { id, registered, activity, data };
        entered.call_api();
        IS_INSIDE.set(true);
        Some(entered)
    }

    /// The function has done what it does.
    pub(crate) fn returned(self) -> Self {
        IS_INSIDE.set(false);
        self
    }

    /// Tells the profiler that it returns.
    pub(crate) fn tell(self) {
        // SAFETY: the profiler's structure, which is its own again only after this call.
        unsafe { self.data.cast::<u8>().add(PHASE).cast::<u32>().write_unaligned(EXIT) };
        self.call_api();
        let Callback { function, argument } = self.activity;
        // SAFETY: the profiler's function, of the type of the protocol's header.
        unsafe { function(self.id, ptr::null_mut(), ptr::null(), argument.0) };
    }

    fn call_api(&self) {
        if let Some(Callback { function, argument }) = self.registered.api {
            // SAFETY: as above.
            unsafe { function(CALLS, self.id, self.data, argument.0) };
        }
    }
}
