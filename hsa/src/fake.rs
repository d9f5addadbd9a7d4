//! A function table without a device: one CPU and one GPU agent, pools in host memory, signals and queues
//! that no packet processor serves. A function that a test should not reach ends the process.

use std::alloc::Layout;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use hsa_sys::*;
use parking_lot::Mutex;

pub(crate) const CPU: u64 = 1;
pub(crate) const GPU: u64 = 2;
/// Fine-grained host memory for kernel arguments.
pub(crate) const KERNARG: u64 = 10;
/// Group memory, which cannot be allocated.
pub(crate) const GROUP: u64 = 20;

/// Name of the fake GPU's instruction set; longer than any fixed-size attribute.
pub(crate) static ISA: LazyLock<String> = LazyLock::new(|| format!("amdgcn-amd-amdhsa--{}", "x".repeat(300)));

/// References that `hsa_init` gave and `hsa_shut_down` has not taken back; tests of one process share it.
pub(crate) static REFERENCES: AtomicUsize = AtomicUsize::new(0);

/// The registered system event handler and its data.
static EVENT: Mutex<Option<(hsa_amd_system_event_callback_t, usize)>> = Mutex::new(None);

/// What a queue handle of this table points to; `raw` comes first.
#[repr(C)]
struct FakeQueue {
    raw: hsa_queue_t,
    /// Came from a box; producers write it through the address in `raw`.
    ring: *mut [Slot],
    write: AtomicU64,
    read: AtomicU64,
    on_error: QueueErrorCallback,
    data: usize,
}

/// Rings that were asked for in device memory, by address.
static DEVICE_RINGS: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Stores to it flush the fake GPU's host data path.
pub(crate) static HDP_FLUSH: AtomicU32 = AtomicU32::new(0);

#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Slot(pub(crate) [u32; 16]);

static ALLOCATIONS: LazyLock<Mutex<HashMap<usize, Layout>>> = LazyLock::new(Mutex::default);

/// Locked ranges by address, as lengths in the order in which they were locked.
static LOCKED: Mutex<BTreeMap<usize, Vec<usize>>> = Mutex::new(BTreeMap::new());

/// Lengths of the locks that begin at `host`.
pub(crate) fn locked(host: *mut u8) -> Vec<usize> {
    LOCKED.lock().get(&host.addr()).cloned().unwrap_or_default()
}

/// Allocations that have not been freed.
pub(crate) fn allocation_exists(address: u64) -> bool {
    ALLOCATIONS.lock().contains_key(&(address as usize))
}

/// Delivers a system event as the HSA runtime does; returns what the handler answers.
pub(crate) fn deliver(event: &hsa_amd_event_t) -> hsa_status_t {
    let (callback, data) = EVENT.lock().expect("a handler is registered");
    // SAFETY: the registered callback takes an event and its own data.
    unsafe { callback.unwrap()(event, ptr::without_provenance_mut(data)) }
}

fn fake(queue: *const hsa_queue_t) -> &'static FakeQueue {
    // SAFETY: every queue of this table is the first field of a FakeQueue that lives until it is destroyed.
    unsafe { &*queue.cast() }
}

/// Stops a queue as a packet processor does that finds an error.
pub(crate) fn fail(queue: *mut hsa_queue_t, status: hsa_status_t) {
    let fake = fake(queue);
    // SAFETY: the callback takes the queue and the data that it was registered with.
    unsafe { fake.on_error.unwrap()(status, queue, ptr::without_provenance_mut(fake.data)) };
}

/// The packet in a slot.
pub(crate) fn slot(queue: *mut hsa_queue_t, index: usize) -> Slot {
    let ring = fake(queue).ring;
    // SAFETY: the index lies in the ring, and the tests that look here have no producer running.
    unsafe { ring.cast::<Slot>().add(index % ring.len()).read() }
}

/// Retires packets up to `index`.
pub(crate) fn retire(queue: *mut hsa_queue_t, index: u64) {
    fake(queue).read.store(index, Ordering::Release);
}

/// The doorbell's value.
pub(crate) fn doorbell(queue: *mut hsa_queue_t) -> i64 {
    signal(fake(queue).raw.doorbell_signal).load(Ordering::Acquire)
}

extern "C" fn init() -> hsa_status_t {
    REFERENCES.fetch_add(1, Ordering::Relaxed);
    HSA_STATUS_SUCCESS
}

extern "C" fn shut_down() -> hsa_status_t {
    REFERENCES.fetch_sub(1, Ordering::Relaxed);
    HSA_STATUS_SUCCESS
}

extern "C" fn status_string(status: hsa_status_t, text: *mut *const c_char) -> hsa_status_t {
    if status != HSA_STATUS_ERROR {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    // SAFETY: the caller has room for the pointer.
    unsafe { *text = c"something failed".as_ptr() };
    HSA_STATUS_SUCCESS
}

/// Stores an attribute of whatever type.
fn answer<T>(value: *mut c_void, with: T) -> hsa_status_t {
    // SAFETY: the caller has room for the attribute.
    unsafe { value.cast::<T>().write_unaligned(with) };
    HSA_STATUS_SUCCESS
}

fn answer_text(value: *mut c_void, text: &str) -> hsa_status_t {
    // SAFETY: the caller has room for the text.
    unsafe { value.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    HSA_STATUS_SUCCESS
}

extern "C" fn system_get_info(attribute: hsa_system_info_t, value: *mut c_void) -> hsa_status_t {
    match attribute {
        HSA_SYSTEM_INFO_VERSION_MAJOR => answer(value, 1_u16),
        HSA_SYSTEM_INFO_VERSION_MINOR => answer(value, 2_u16),
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR => answer(value, 1_u16),
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR => answer(value, 6_u16),
        HSA_SYSTEM_INFO_TIMESTAMP => answer(value, 12_345_u64),
        HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY => answer(value, 100_000_000_u64),
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

extern "C" fn iterate_agents(callback: AgentCallback, data: *mut c_void) -> hsa_status_t {
    for handle in [CPU, GPU] {
        // SAFETY: the caller passes data that its callback understands.
        let status = unsafe { callback.unwrap()(hsa_agent_t { handle }, data) };
        if status != HSA_STATUS_SUCCESS {
            return status;
        }
    }
    HSA_STATUS_SUCCESS
}

extern "C" fn agent_get_info(
    agent: hsa_agent_t,
    attribute: hsa_agent_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    let gpu = agent.handle == GPU;
    match attribute {
        HSA_AGENT_INFO_NAME => answer_text(value, if gpu { "gfx90a" } else { "a processor" }),
        HSA_AGENT_INFO_DEVICE => answer(value, if gpu { HSA_DEVICE_TYPE_GPU } else { HSA_DEVICE_TYPE_CPU }),
        HSA_AGENT_INFO_NODE => answer(value, u32::from(gpu)),
        HSA_AGENT_INFO_WAVEFRONT_SIZE if gpu => answer(value, 64_u32),
        HSA_AGENT_INFO_WORKGROUP_MAX_DIM => answer(value, [1024_u16, 1023, 1022]),
        HSA_AGENT_INFO_GRID_MAX_DIM => answer(value, [u32::MAX, 7, 8]),
        attribute if attribute == HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES.into() => answer(value, gpu),
        attribute if attribute == HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT.into() => answer(value, 4_u32),
        attribute if attribute == HSA_AMD_AGENT_INFO_HDP_FLUSH.into() && gpu => {
            answer(value, [HDP_FLUSH.as_ptr().expose_provenance() as u64, 0])
        }
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

extern "C" fn agent_iterate_isas(_: hsa_agent_t, callback: IsaCallback, data: *mut c_void) -> hsa_status_t {
    // SAFETY: the caller passes data that its callback understands.
    unsafe { callback.unwrap()(hsa_isa_t { handle: 5 }, data) }
}

extern "C" fn isa_get_info(_: hsa_isa_t, attribute: hsa_isa_info_t, value: *mut c_void) -> hsa_status_t {
    match attribute {
        HSA_ISA_INFO_NAME_LENGTH => answer(value, ISA.len() as u32),
        HSA_ISA_INFO_NAME => answer_text(value, &ISA),
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

extern "C" fn iterate_pools(_: hsa_agent_t, callback: MemoryPoolCallback, data: *mut c_void) -> hsa_status_t {
    for handle in [KERNARG, GROUP] {
        // SAFETY: the caller passes data that its callback understands.
        let status = unsafe { callback.unwrap()(hsa_amd_memory_pool_t { handle }, data) };
        assert_eq!(status, HSA_STATUS_SUCCESS);
    }
    HSA_STATUS_SUCCESS
}

extern "C" fn pool_get_info(
    pool: hsa_amd_memory_pool_t,
    attribute: hsa_amd_memory_pool_info_t,
    value: *mut c_void,
) -> hsa_status_t {
    let kernarg = pool.handle == KERNARG;
    match attribute {
        HSA_AMD_MEMORY_POOL_INFO_SEGMENT if kernarg => answer(value, HSA_AMD_SEGMENT_GLOBAL),
        HSA_AMD_MEMORY_POOL_INFO_SEGMENT => answer(value, HSA_AMD_SEGMENT_GROUP),
        HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS if kernarg => answer(value, 3_u32),
        HSA_AMD_MEMORY_POOL_INFO_SIZE => answer(value, 65_536_usize),
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED => answer(value, kernarg),
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE if kernarg => answer(value, 4096_usize),
        HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT if kernarg => answer(value, 4096_usize),
        HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL => answer(value, kernarg),
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

extern "C" fn pool_allocate(
    _: hsa_amd_memory_pool_t,
    size: usize,
    _: u32,
    address: *mut *mut c_void,
) -> hsa_status_t {
    if size == 0 || size > 65_536 {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    let layout = Layout::from_size_align(size, 4096).unwrap();
    // SAFETY: the size is not 0.
    let memory = unsafe { std::alloc::alloc_zeroed(layout) };
    ALLOCATIONS.lock().insert(memory.expose_provenance(), layout);
    // SAFETY: the caller has room for the pointer.
    unsafe { *address = memory.cast() };
    HSA_STATUS_SUCCESS
}

extern "C" fn pool_free(address: *mut c_void) -> hsa_status_t {
    let Some(layout) = ALLOCATIONS.lock().remove(&address.addr()) else {
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    };
    // SAFETY: the table says that the memory was allocated with this layout.
    unsafe { std::alloc::dealloc(address.cast(), layout) };
    HSA_STATUS_SUCCESS
}

/// Refuses memory of one byte.
extern "C" fn memory_lock(
    host: *mut c_void,
    size: usize,
    _: *mut hsa_agent_t,
    _: c_int,
    address: *mut *mut c_void,
) -> hsa_status_t {
    if size == 1 {
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    LOCKED.lock().entry(host.addr()).or_default().push(size);
    // SAFETY: the caller has room for the pointer.
    unsafe { *address = host };
    HSA_STATUS_SUCCESS
}

/// Of several locks it takes the last, of whatever owner.
extern "C" fn memory_unlock(host: *mut c_void) -> hsa_status_t {
    match LOCKED.lock().get_mut(&host.addr()).and_then(Vec::pop) {
        Some(_) => HSA_STATUS_SUCCESS,
        None => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

fn signal(signal: hsa_signal_t) -> &'static AtomicI64 {
    // SAFETY: every handle of this table is the address of a value that lives until the signal is destroyed.
    unsafe { &*ptr::with_exposed_provenance(signal.handle as usize) }
}

fn new_signal(value: i64) -> hsa_signal_t {
    hsa_signal_t { handle: Box::into_raw(Box::new(AtomicI64::new(value))).expose_provenance() as u64 }
}

extern "C" fn signal_create(
    value: i64,
    _: u32,
    _: *const hsa_agent_t,
    created: *mut hsa_signal_t,
) -> hsa_status_t {
    // SAFETY: the caller has room for the handle.
    unsafe { *created = new_signal(value) };
    HSA_STATUS_SUCCESS
}

extern "C" fn signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    // SAFETY: the handle came from `new_signal`, and its owner gives it up.
    drop(unsafe { Box::<AtomicI64>::from_raw(ptr::with_exposed_provenance_mut(signal.handle as usize)) });
    HSA_STATUS_SUCCESS
}

extern "C" fn signal_load(raw: hsa_signal_t) -> i64 {
    signal(raw).load(Ordering::SeqCst)
}

extern "C" fn signal_store(raw: hsa_signal_t, value: i64) {
    signal(raw).store(value, Ordering::SeqCst);
}

extern "C" fn signal_exchange(raw: hsa_signal_t, value: i64) -> i64 {
    signal(raw).swap(value, Ordering::SeqCst)
}

extern "C" fn signal_cas(raw: hsa_signal_t, expected: i64, value: i64) -> i64 {
    signal(raw)
        .compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
        .unwrap_or_else(|seen| seen)
}

extern "C" fn signal_add(raw: hsa_signal_t, value: i64) {
    signal(raw).fetch_add(value, Ordering::SeqCst);
}

extern "C" fn signal_subtract(raw: hsa_signal_t, value: i64) {
    signal(raw).fetch_sub(value, Ordering::SeqCst);
}

/// Returns at once, as the specification allows: the timeout is only a hint.
extern "C" fn signal_wait(
    raw: hsa_signal_t,
    _: hsa_signal_condition_t,
    _: i64,
    _: u64,
    _: hsa_wait_state_t,
) -> i64 {
    std::thread::yield_now();
    signal(raw).load(Ordering::SeqCst)
}

/// Returns at once, with the first signal that meets its condition.
extern "C" fn signal_wait_any(
    number: u32,
    signals: *mut hsa_signal_t,
    conditions: *mut hsa_signal_condition_t,
    operands: *mut i64,
    _: u64,
    _: hsa_wait_state_t,
    satisfying: *mut i64,
) -> u32 {
    std::thread::yield_now();
    for index in 0..number {
        let at = index as usize;
        // SAFETY: the caller passes three arrays of this length.
        let (raw, condition, operand) = unsafe { (*signals.add(at), *conditions.add(at), *operands.add(at)) };
        let value = signal(raw).load(Ordering::SeqCst);
        if crate::Condition::from_code(condition.0).unwrap().holds(value, operand) {
            // SAFETY: the caller has room for the value.
            unsafe { *satisfying = value };
            return index;
        }
    }
    u32::MAX
}

extern "C" fn signal_async_handler(
    raw: hsa_signal_t,
    condition: hsa_signal_condition_t,
    operand: i64,
    handler: hsa_amd_signal_handler,
    data: *mut c_void,
) -> hsa_status_t {
    let data = data.expose_provenance();
    let condition = crate::Condition::from_code(condition.0).unwrap();
    std::thread::spawn(move || {
        let value = loop {
            let value = signal(raw).load(Ordering::SeqCst);
            if condition.holds(value, operand) {
                break value;
            }
            std::thread::yield_now();
        };
        // SAFETY: the handler takes the value and the data that it was registered with.
        let again = unsafe { handler.unwrap()(value, ptr::with_exposed_provenance_mut(data)) };
        assert!(!again);
    });
    HSA_STATUS_SUCCESS
}

extern "C" fn queue_create(
    agent: hsa_agent_t,
    size: u32,
    type_: hsa_queue_type32_t,
    on_error: QueueErrorCallback,
    data: *mut c_void,
    _: u32,
    _: u32,
    created: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    if agent.handle != GPU || !size.is_power_of_two() {
        return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    }
    let ring = Box::into_raw(vec![Slot([1; 16]); size as usize].into_boxed_slice());
    let raw = hsa_queue_t {
        type_,
        features: HSA_QUEUE_FEATURE_KERNEL_DISPATCH.0,
        base_address: ring.cast(),
        doorbell_signal: new_signal(-1),
        size,
        reserved1: 0,
        id: 77,
    };
    let (write, read) = (AtomicU64::new(0), AtomicU64::new(0));
    let queue = Box::into_raw(Box::new(FakeQueue { raw, ring, write, read, on_error, data: data.addr() }));
    // SAFETY: the caller has room for the pointer.
    unsafe { *created = queue.cast() };
    HSA_STATUS_SUCCESS
}

/// Makes one queue, which must ask for a ring in device memory and for nothing else.
extern "C" fn queue_create_by_descriptor(
    agent: hsa_agent_t,
    descriptor: *mut hsa_amd_queue_create_desc_t,
    count: u32,
) -> hsa_status_t {
    // SAFETY: the caller has as many descriptors as it says, of the version that they name.
    let descriptor = unsafe { &mut *descriptor };
    let engine = &descriptor.engine;
    let plain = (descriptor.reserved_header, descriptor.reserved, engine.reserved)
        == ([0; 3], [0; 20], [0; 3])
        && (descriptor.engine_type, descriptor.traffic_class, engine.cu_mask_count) == (0, 0, 0)
        && descriptor.priority == HSA_AMD_QUEUE_PRIORITY_NORMAL
        && engine.cu_mask.is_null();
    if count != 1 || (descriptor.version, descriptor.flags) != (1, 1) || !plain {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    let (bytes, data) = (descriptor.queue_size_bytes, descriptor.callback_data);
    let place = &raw mut descriptor.queue;
    let status =
        queue_create(agent, bytes / 64, engine.type_, descriptor.callback, data, u32::MAX, u32::MAX, place);
    if status == HSA_STATUS_SUCCESS {
        let base = fake(descriptor.queue).raw.base_address;
        DEVICE_RINGS.lock().insert(base.expose_provenance(), bytes as usize);
    }
    status
}

/// Knows rings in device memory, and nothing else.
extern "C" fn pointer_info(
    address: *const c_void,
    info: *mut hsa_amd_pointer_info_t,
    _: PointerInfoAllocator,
    _: *mut u32,
    _: *mut *mut hsa_agent_t,
) -> hsa_status_t {
    if let Some(bytes) = DEVICE_RINGS.lock().get(&address.addr()) {
        // SAFETY: the caller has room for what is known.
        unsafe {
            (*info).type_ = HSA_EXT_POINTER_TYPE_HSA;
            (*info).agentBaseAddress = address.cast_mut();
            (*info).sizeInBytes = *bytes;
            (*info).agentOwner = hsa_agent_t { handle: GPU };
        }
    }
    HSA_STATUS_SUCCESS
}

extern "C" fn queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
    // SAFETY: the queue came from `queue_create`, and its owner gives it up.
    let queue = unsafe { Box::<FakeQueue>::from_raw(queue.cast()) };
    DEVICE_RINGS.lock().remove(&queue.ring.addr());
    // SAFETY: the ring came from a box, and goes with its queue.
    drop(unsafe { Box::from_raw(queue.ring) });
    signal_destroy(queue.raw.doorbell_signal)
}

extern "C" fn queue_inactivate(_: *mut hsa_queue_t) -> hsa_status_t {
    HSA_STATUS_SUCCESS
}

extern "C" fn queue_read_index(queue: *const hsa_queue_t) -> u64 {
    fake(queue).read.load(Ordering::Acquire)
}

extern "C" fn queue_write_index(queue: *const hsa_queue_t) -> u64 {
    fake(queue).write.load(Ordering::Acquire)
}

extern "C" fn queue_cas_write_index(queue: *const hsa_queue_t, expected: u64, value: u64) -> u64 {
    fake(queue)
        .write
        .compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst)
        .unwrap_or_else(|seen| seen)
}

extern "C" fn queue_cu_set_mask(_: *const hsa_queue_t, bits: u32, _: *const u32) -> hsa_status_t {
    match bits {
        32 => HSA_STATUS_SUCCESS,
        64 => HSA_STATUS_CU_MASK_REDUCED,
        _ => HSA_STATUS_ERROR_INVALID_ARGUMENT,
    }
}

extern "C" fn register_event_handler(
    callback: hsa_amd_system_event_callback_t,
    data: *mut c_void,
) -> hsa_status_t {
    let mut event = EVENT.lock();
    if event.is_some() {
        return HSA_STATUS_ERROR;
    }
    *event = Some((callback, data.addr()));
    HSA_STATUS_SUCCESS
}

extern "C" fn unexpected() -> ! {
    eprintln!("a test called a function that the fake table does not have");
    std::process::abort()
}

/// The fake table.
pub(crate) fn api() -> &'static Api {
    static API: LazyLock<Api> = LazyLock::new(|| {
        let functions: HashMap<&str, *const ()> = HashMap::from([
            ("hsa_init", init as *const ()),
            ("hsa_shut_down", shut_down as *const ()),
            ("hsa_status_string", status_string as *const ()),
            ("hsa_system_get_info", system_get_info as *const ()),
            ("hsa_iterate_agents", iterate_agents as *const ()),
            ("hsa_agent_get_info", agent_get_info as *const ()),
            ("hsa_agent_iterate_isas", agent_iterate_isas as *const ()),
            ("hsa_isa_get_info_alt", isa_get_info as *const ()),
            ("hsa_amd_agent_iterate_memory_pools", iterate_pools as *const ()),
            ("hsa_amd_memory_pool_get_info", pool_get_info as *const ()),
            ("hsa_amd_memory_pool_allocate", pool_allocate as *const ()),
            ("hsa_amd_memory_pool_free", pool_free as *const ()),
            ("hsa_amd_memory_lock", memory_lock as *const ()),
            ("hsa_amd_memory_unlock", memory_unlock as *const ()),
            ("hsa_signal_create", signal_create as *const ()),
            ("hsa_signal_destroy", signal_destroy as *const ()),
            ("hsa_signal_load_scacquire", signal_load as *const ()),
            ("hsa_signal_load_relaxed", signal_load as *const ()),
            ("hsa_signal_store_screlease", signal_store as *const ()),
            ("hsa_signal_store_relaxed", signal_store as *const ()),
            ("hsa_signal_silent_store_relaxed", signal_store as *const ()),
            ("hsa_signal_exchange_scacq_screl", signal_exchange as *const ()),
            ("hsa_signal_cas_scacq_screl", signal_cas as *const ()),
            ("hsa_signal_add_relaxed", signal_add as *const ()),
            ("hsa_signal_subtract_screlease", signal_subtract as *const ()),
            ("hsa_signal_wait_scacquire", signal_wait as *const ()),
            ("hsa_amd_signal_wait_any", signal_wait_any as *const ()),
            ("hsa_amd_signal_async_handler", signal_async_handler as *const ()),
            ("hsa_queue_create", queue_create as *const ()),
            ("hsa_amd_queue_create", queue_create_by_descriptor as *const ()),
            ("hsa_amd_pointer_info", pointer_info as *const ()),
            ("hsa_queue_destroy", queue_destroy as *const ()),
            ("hsa_queue_inactivate", queue_inactivate as *const ()),
            ("hsa_queue_load_read_index_scacquire", queue_read_index as *const ()),
            ("hsa_queue_load_write_index_relaxed", queue_write_index as *const ()),
            ("hsa_queue_cas_write_index_relaxed", queue_cas_write_index as *const ()),
            ("hsa_amd_queue_cu_set_mask", queue_cu_set_mask as *const ()),
            ("hsa_amd_register_system_event_handler", register_event_handler as *const ()),
        ]);
        let optional =
            |name| Api::FUNCTIONS.iter().any(|function| function.optional && function.name == name);
        let lookup = |name: &'static str| match functions.get(name) {
            Some(function) => NonNull::new(function.cast_mut().cast()),
            None if optional(name) => None,
            None => NonNull::new((unexpected as *const ()).cast_mut().cast()),
        };
        // SAFETY: the functions above have the signatures of their names; `unexpected` has none of them, and
        // ends the process whatever it is called with.
        unsafe { Api::from_lookup(lookup) }.expect("the lookup knows every required name")
    });
    &API
}
