//! An initialised runtime, and the calls that every test makes.

use std::{
    ffi::{CString, c_void},
    ptr::null_mut,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU16, Ordering},
    },
};

use emulator::{Config, Target};
use hsa_sys::*;

/// The runtime is the process's: under `cargo test`, tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A second.
pub const SECOND: u64 = 1_000_000_000;

/// An initialised runtime; shut down when dropped.
pub struct Session {
    pub hsa: &'static Api,
    pub agents: Vec<hsa_agent_t>,
    gpus: Vec<hsa_agent_t>,
    _turn: MutexGuard<'static, ()>,
}

#[track_caller]
pub fn ok(status: hsa_status_t) {
    assert_eq!(status, HSA_STATUS_SUCCESS);
}

unsafe extern "C" fn collect<T: Copy>(item: T, data: *mut c_void) -> hsa_status_t {
    // SAFETY: `data` is the vector that the caller passed.
    unsafe { (*data.cast::<Vec<T>>()).push(item) };
    HSA_STATUS_SUCCESS
}

impl Session {
    /// One gfx90a.
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    /// What `config` says; with caches also if the environment says so.
    pub fn with(mut config: Config) -> Self {
        config.strict_coherence |= Config::from_env().expect("variables that make sense").strict_coherence;
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let hsa = emulator::api();
        emulator::configure(config).expect("nobody else has initialised the runtime");
        let mut agents: Vec<hsa_agent_t> = Vec::new();
        // SAFETY: the callback gets the vector that it expects.
        unsafe {
            ok((hsa.hsa_init)());
            ok((hsa.hsa_iterate_agents)(Some(collect::<hsa_agent_t>), (&raw mut agents).cast()));
        }
        let is_gpu = |agent: &hsa_agent_t| {
            let mut kind = HSA_DEVICE_TYPE_CPU;
            // SAFETY: room for the answer.
            ok(unsafe { (hsa.hsa_agent_get_info)(*agent, HSA_AGENT_INFO_DEVICE, (&raw mut kind).cast()) });
            kind == HSA_DEVICE_TYPE_GPU
        };
        let gpus = agents.iter().copied().filter(is_gpu).collect();
        Self { hsa, agents, gpus, _turn: turn }
    }

    /// Devices of one target each.
    pub fn devices(targets: &[Target]) -> Self {
        Self::with(Config { devices: targets.to_vec(), ..Config::default() })
    }

    pub fn cpu(&self) -> hsa_agent_t {
        self.agents[0]
    }

    pub fn gpu(&self, index: usize) -> hsa_agent_t {
        self.gpus[index]
    }

    /// Pools of an agent, in its order: fine, kernarg, coarse for the host, local and group for a GPU.
    pub fn pools(&self, agent: hsa_agent_t) -> Vec<hsa_amd_memory_pool_t> {
        let mut pools: Vec<hsa_amd_memory_pool_t> = Vec::new();
        // SAFETY: the callback gets the vector that it expects.
        ok(unsafe {
            (self.hsa.hsa_amd_agent_iterate_memory_pools)(
                agent,
                Some(collect::<hsa_amd_memory_pool_t>),
                (&raw mut pools).cast(),
            )
        });
        pools
    }

    pub fn signal(&self, value: i64) -> hsa_signal_t {
        let mut signal = hsa_signal_t { handle: 0 };
        // SAFETY: an output pointer of ours.
        ok(unsafe { (self.hsa.hsa_signal_create)(value, 0, std::ptr::null(), &mut signal) });
        signal
    }

    /// Waits until `signal` is 0; false after ten seconds.
    pub fn finished(&self, signal: hsa_signal_t) -> bool {
        self.finished_within(signal, 10 * SECOND)
    }

    pub fn finished_within(&self, signal: hsa_signal_t, timeout: u64) -> bool {
        // SAFETY: no pointers.
        unsafe {
            (self.hsa.hsa_signal_wait_scacquire)(
                signal,
                HSA_SIGNAL_CONDITION_EQ,
                0,
                timeout,
                HSA_WAIT_STATE_BLOCKED,
            ) == 0
        }
    }

    pub fn store(&self, signal: hsa_signal_t, value: i64) {
        // SAFETY: no pointers.
        unsafe { (self.hsa.hsa_signal_store_screlease)(signal, value) };
    }

    pub fn load(&self, signal: hsa_signal_t) -> i64 {
        // SAFETY: no pointers.
        unsafe { (self.hsa.hsa_signal_load_scacquire)(signal) }
    }

    pub fn try_allocate(
        &self,
        pool: hsa_amd_memory_pool_t,
        size: usize,
    ) -> Result<*mut c_void, hsa_status_t> {
        let mut pointer = null_mut();
        // SAFETY: an output pointer of ours.
        match unsafe { (self.hsa.hsa_amd_memory_pool_allocate)(pool, size, 0, &mut pointer) } {
            HSA_STATUS_SUCCESS => Ok(pointer),
            status => Err(status),
        }
    }

    /// `count` elements of zeros that every GPU can reach.
    pub fn array<T: Copy>(&self, count: usize) -> &'static mut [T] {
        let pointer = self.try_allocate(self.pools(self.cpu())[0], count * size_of::<T>()).expect("small");
        self.allow(pointer);
        // SAFETY: fresh pool memory of that size, zeroed, which tests never free; `T` is an integer.
        unsafe { std::slice::from_raw_parts_mut(pointer.cast(), count) }
    }

    /// Lets every GPU reach an allocation.
    pub fn allow(&self, pointer: *const c_void) {
        let gpus = &self.gpus;
        // SAFETY: an array of ours.
        ok(unsafe {
            (self.hsa.hsa_amd_agents_allow_access)(
                gpus.len() as u32,
                gpus.as_ptr(),
                std::ptr::null(),
                pointer,
            )
        });
    }

    /// Loads a code object and finds a kernel in it.
    pub fn kernel(&self, gpu: usize, object: &[u8], name: &str) -> Kernel {
        let executable = self.load_code(gpu, object).expect("a sound code object");
        let mut symbol = hsa_executable_symbol_t { handle: 0 };
        let name = CString::new(format!("{name}.kd")).expect("no NUL");
        // SAFETY: output pointers of ours.
        unsafe {
            ok((self.hsa.hsa_executable_get_symbol_by_name)(
                executable,
                name.as_ptr(),
                &self.gpu(gpu),
                &mut symbol,
            ));
            let info = self.hsa.hsa_executable_symbol_get_info;
            let (mut object, mut private, mut group) = (0u64, 0u32, 0u32);
            ok(info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, (&raw mut object).cast()));
            ok(info(
                symbol,
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
                (&raw mut private).cast(),
            ));
            ok(info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, (&raw mut group).cast()));
            Kernel { object, private, group }
        }
    }

    /// Loads and freezes an executable.
    pub fn load_code(&self, gpu: usize, object: &[u8]) -> Result<hsa_executable_t, hsa_status_t> {
        let mut reader = hsa_code_object_reader_t { handle: 0 };
        let mut executable = hsa_executable_t { handle: 0 };
        // SAFETY: output pointers of ours; the bytes outlive the reader.
        unsafe {
            ok((self.hsa.hsa_code_object_reader_create_from_memory)(
                object.as_ptr().cast(),
                object.len(),
                &mut reader,
            ));
            ok((self.hsa.hsa_executable_create_alt)(
                HSA_PROFILE_FULL,
                HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                std::ptr::null(),
                &mut executable,
            ));
            let status = (self.hsa.hsa_executable_load_agent_code_object)(
                executable,
                self.gpu(gpu),
                reader,
                std::ptr::null(),
                null_mut(),
            );
            ok((self.hsa.hsa_code_object_reader_destroy)(reader));
            if status != HSA_STATUS_SUCCESS {
                ok((self.hsa.hsa_executable_destroy)(executable));
                return Err(status);
            }
            ok((self.hsa.hsa_executable_freeze)(executable, std::ptr::null()));
        }
        Ok(executable)
    }

    pub fn queue(&self, gpu: usize, size: u32) -> Queue<'_> {
        self.queue_with(gpu, size, None, null_mut())
    }

    pub fn queue_with(
        &self,
        gpu: usize,
        size: u32,
        callback: QueueErrorCallback,
        data: *mut c_void,
    ) -> Queue<'_> {
        let mut queue = null_mut();
        // SAFETY: an output pointer of ours.
        ok(unsafe {
            (self.hsa.hsa_queue_create)(
                self.gpu(gpu),
                size,
                HSA_QUEUE_TYPE_MULTI.0,
                callback,
                data,
                u32::MAX,
                u32::MAX,
                &mut queue,
            )
        });
        Queue { session: self, queue }
    }

    /// A queue that was made by other means.
    pub fn adopt(&self, queue: *mut hsa_queue_t) -> Queue<'_> {
        Queue { session: self, queue }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: no pointers.
        ok(unsafe { (self.hsa.hsa_shut_down)() });
    }
}

/// What a dispatch packet needs to know of a kernel.
#[derive(Clone, Copy)]
pub struct Kernel {
    pub object: u64,
    pub private: u32,
    pub group: u32,
}

pub const BARRIER_BIT: u16 = 1 << 8;
const FENCES: u16 = 2 << 9 | 2 << 11;

/// A packet of which the header is `header`.
fn packet(header: u16, words: [u64; 8]) -> [u64; 8] {
    let mut packet = words;
    packet[0] |= u64::from(header | FENCES);
    packet
}

/// A dispatch of `groups` times 64 work-items.
pub fn dispatch(
    flags: u16,
    kernel: Kernel,
    groups: u32,
    kernarg: &[u64],
    completion: hsa_signal_t,
) -> [u64; 8] {
    let words = [
        // Header, setup, workgroup x and y; workgroup z, grid x; grid y and z; private and group bytes.
        1 << 16 | 64 << 32 | 1 << 48,
        1 | u64::from(groups * 64) << 32,
        1 | 1 << 32,
        u64::from(kernel.private) | u64::from(kernel.group) << 32,
        kernel.object,
        kernarg.as_ptr() as u64,
        0,
        completion.handle,
    ];
    // Workgroup z and the reserved half-word stand in the second dword pair, before grid x.
    packet(HSA_PACKET_TYPE_KERNEL_DISPATCH.0 as u16 | flags, words)
}

pub fn barrier(
    type_: hsa_packet_type_t,
    flags: u16,
    deps: &[hsa_signal_t],
    completion: hsa_signal_t,
) -> [u64; 8] {
    let mut words = [0; 8];
    for (word, dep) in words[1..6].iter_mut().zip(deps) {
        *word = dep.handle;
    }
    words[7] = completion.handle;
    packet(type_.0 as u16 | flags, words)
}

pub fn barrier_value(
    flags: u16,
    signal: hsa_signal_t,
    mask: i64,
    condition: hsa_signal_condition_t,
    value: i64,
    completion: hsa_signal_t,
) -> [u64; 8] {
    let words = [
        u64::from(HSA_AMD_PACKET_TYPE_BARRIER_VALUE.0) << 16,
        signal.handle,
        value as u64,
        mask as u64,
        condition.0.into(),
        0,
        0,
        completion.handle,
    ];
    packet(HSA_PACKET_TYPE_VENDOR_SPECIFIC.0 as u16 | flags, words)
}

/// No signal.
pub const NONE: hsa_signal_t = hsa_signal_t { handle: 0 };

/// A queue with one producer.
pub struct Queue<'s> {
    session: &'s Session,
    pub queue: *mut hsa_queue_t,
}

impl Queue<'_> {
    /// Publishes packets and rings the doorbell once.
    pub fn submit(&self, packets: &[[u64; 8]]) {
        let hsa = self.session.hsa;
        // SAFETY: the queue exists, and slots that were claimed and are free are ours.
        unsafe {
            let (base, size) = ((*self.queue).base_address.cast::<[u64; 8]>(), u64::from((*self.queue).size));
            let first = (hsa.hsa_queue_add_write_index_scacq_screl)(self.queue, packets.len() as u64);
            for (index, packet) in (first..).zip(packets) {
                while index - (hsa.hsa_queue_load_read_index_scacquire)(self.queue) >= size {
                    (hsa.hsa_signal_store_screlease)((*self.queue).doorbell_signal, index as i64);
                    std::thread::yield_now();
                }
                let slot = base.add((index % size) as usize);
                let header = packet[0] as u16;
                slot.cast::<u16>().add(1).write((packet[0] >> 16) as u16);
                slot.cast::<u32>().add(1).write((packet[0] >> 32) as u32);
                std::ptr::copy_nonoverlapping(packet.as_ptr().add(1), slot.cast::<u64>().add(1), 7);
                AtomicU16::from_ptr(slot.cast()).store(header, Ordering::Release);
            }
            let last = first + packets.len() as u64 - 1;
            (hsa.hsa_signal_store_screlease)((*self.queue).doorbell_signal, last as i64);
        }
    }

    pub fn read_index(&self) -> u64 {
        // SAFETY: the queue exists.
        unsafe { (self.session.hsa.hsa_queue_load_read_index_scacquire)(self.queue) }
    }

    pub fn destroy(self) {
        // SAFETY: the queue exists.
        ok(unsafe { (self.session.hsa.hsa_queue_destroy)(self.queue) });
    }
}
