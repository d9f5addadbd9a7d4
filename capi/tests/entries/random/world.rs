//! What the callers share and own: handles of every kind, whether alive or not, and memory.

use std::{
    collections::{HashMap, HashSet},
    ffi::{CString, c_char, c_int, c_uint, c_void},
    os::fd::OwnedFd,
    ptr,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use aqlipse::{
    Backend, Device,
    external::{ExternalSemaphore, SemaphoreKind},
};
use capi::error::hipSuccess as SUCCESS;
use fastrand::Rng;

use super::{super::program, zeros::Zeros, *};

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: u32) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
    fn hipCtxGetCurrent(context: *mut hipCtx_t) -> hipError_t;
    fn hipMemGetAllocationGranularity(
        granularity: *mut usize,
        properties: *const hipMemAllocationProp,
        option: hipMemAllocationGranularity_flags,
    ) -> hipError_t;
    fn hipDeviceGetDevResource(
        device: hipDevice_t,
        resource: *mut hipDevResource,
        kind: hipDevResourceType,
    ) -> hipError_t;
    fn hipDevSmResourceSplitByCount(
        result: *mut hipDevResource,
        groups: *mut c_uint,
        input: *const hipDevResource,
        remainder: *mut hipDevResource,
        flags: c_uint,
        least: c_uint,
    ) -> hipError_t;
    fn hipDeviceGetDefaultMemPool(pool: *mut hipMemPool_t, device: c_int) -> hipError_t;
    fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t;
    fn hipMemPoolSetAttribute(
        pool: hipMemPool_t,
        attribute: hipMemPoolAttr,
        value: *mut c_void,
    ) -> hipError_t;
    fn hipMemPoolTrimTo(pool: hipMemPool_t, keep: usize) -> hipError_t;
    fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t;
    fn hipExecutionCtxDestroy(context: hipExecutionCtx_t) -> hipError_t;
    fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t;
    fn hipLibraryUnload(library: hipLibrary_t) -> hipError_t;
    fn hipMemUnmap(address: *mut c_void, bytes: usize) -> hipError_t;
    fn hipMemAddressFree(address: *mut c_void, bytes: usize) -> hipError_t;
    fn hipMemRelease(handle: hipMemGenericAllocationHandle_t) -> hipError_t;
    fn hipFreeMipmappedArray(array: hipMipmappedArray_t) -> hipError_t;
    fn hipFreeArray(array: hipArray_t) -> hipError_t;
    fn hipHostUnregister(address: *mut c_void) -> hipError_t;
    fn hipDestroyExternalMemory(memory: hipExternalMemory_t) -> hipError_t;
    fn hipDestroyExternalSemaphore(semaphore: hipExternalSemaphore_t) -> hipError_t;
    fn hipModuleLoadData(module: *mut hipModule_t, image: *const c_void) -> hipError_t;
    fn hipModuleUnload(module: hipModule_t) -> hipError_t;
    fn hipModuleGetFunction(
        function: *mut hipFunction_t,
        module: hipModule_t,
        name: *const c_char,
    ) -> hipError_t;
}

/// Bytes of every buffer that copies and kernels work on.
pub const BUFFER: usize = 64 * 1024;
/// Handles of a kind that are remembered.
const REMEMBERED: usize = 10;

/// Kinds of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Stream,
    Event,
    Graph,
    Node,
    Exec,
    /// Memory of `hipMalloc`.
    Memory,
    /// Memory of `hipMallocAsync` and of allocation nodes.
    AsyncMemory,
    /// Pinned memory that nobody reads or writes.
    HostMemory,
    Pool,
    Array,
    Mipmap,
    /// Physical memory.
    Physical,
    /// Reserved addresses of one granule.
    Range,
    UserObject,
    /// Execution contexts.
    Context,
    /// What execution contexts are made of.
    Descriptor,
    Module,
    /// Kernels of modules.
    Function,
    Library,
    /// Kernels of libraries.
    LibraryKernel,
    Semaphore,
    ExternalMemory,
}

/// Parts of the names of calls that say which kind of node they add, set or ask.
const NODE_KINDS: [&str; 14] = [
    "MemcpyBatch",
    "BatchMemOp",
    "SemaphoresSignal",
    "SemaphoresWait",
    "Kernel",
    "Memcpy",
    "Memset",
    "Host",
    "ChildGraph",
    "EventRecord",
    "EventWait",
    "MemAlloc",
    "MemFree",
    "Conditional",
];

const KINDS: usize = Kind::ExternalMemory as usize + 1;

/// A node, and its kind as far as the call that has added it said.
#[derive(Clone, Copy)]
struct KnownNode {
    handle: usize,
    kind: Option<&'static str>,
}

#[derive(Default)]
struct Handles {
    known: Vec<usize>,
    /// Those that were made and, as far as it can be told, not destroyed.
    alive: HashSet<usize>,
}

/// A handle that a call is to destroy.
pub struct Doomed {
    pub handle: usize,
    /// It was to be destroyed at the end of the round, and need not be if the call succeeds.
    was_alive: bool,
}

/// What all callers of a round share.
pub struct World {
    handles: [Mutex<Handles>; KINDS],
    /// The nodes that calls have added to each graph, and the graph of each executable: most arguments of a call
    /// belong together.
    nodes: Mutex<HashMap<usize, Vec<KnownNode>>>,
    sources: Mutex<HashMap<usize, usize>>,
    /// The latest condition of each graph.
    conditions: Mutex<HashMap<usize, hipGraphConditionalHandle>>,
    /// Device memory that stays: what work is given.
    pub device: [*mut c_void; 4],
    /// Pinned memory that stays.
    pub host: [*mut c_void; 2],
    module: hipModule_t,
    pub kernels: [hipFunction_t; 3],
    pub context: hipCtx_t,
    /// Whether a memory fault would lose the device: no work may use what is gone then.
    pub is_tame: bool,
    /// Words of device memory that are always 0.
    pub zeros: Zeros,
    /// Bytes of a range of [`Kind::Range`].
    pub granule: usize,
    /// Compute units in three sizes.
    pub units: [hipDevResource; 3],
    /// What another process would be sent: of a timeline, of physical memory, of an event.
    pub timeline: OwnedFd,
    pub exported: Mutex<Option<OwnedFd>>,
    pub event: Mutex<hipIpcEventHandle_t>,
    /// Ordinary memory that is pinned and let go.
    pub pages: Vec<u8>,
    /// Where graphs are printed to.
    pub dot: CString,
}

// SAFETY: the addresses are given to calls only, which may come from any thread.
unsafe impl Sync for World {}

impl World {
    pub fn new() -> Self {
        let is_tame = Device::get(0).is_ok_and(|device| device.backend() == Backend::Rocr);
        let mut granule = 0;
        // SAFETY: a place for the number, and properties.
        let _ = unsafe {
            let wanted = hipMemAllocationGranularityRecommended;
            hipMemGetAllocationGranularity(&mut granule, &physical(), wanted)
        };
        let mut world = Self {
            handles: Default::default(),
            nodes: Mutex::default(),
            sources: Mutex::default(),
            conditions: Mutex::default(),
            device: [ptr::null_mut(); 4],
            host: [ptr::null_mut(); 2],
            module: hipModule_t::NULL,
            kernels: [hipFunction_t::NULL; 3],
            context: hipCtx_t::NULL,
            is_tame,
            zeros: if is_tame { Zeros::ordinary() } else { Zeros::protected(granule) },
            // Where there is no such memory, calls for some are refused.
            granule: granule.max(4096),
            units: units(),
            timeline: ExternalSemaphore::create(SemaphoreKind::Timeline, 0).expect("shared memory").0,
            exported: Mutex::default(),
            event: Mutex::new(hipIpcEventHandle_t { reserved: [0; 64] }),
            pages: vec![0; BUFFER],
            dot: dot_path(),
        };
        ok!(hipCtxGetCurrent(&mut world.context));
        for memory in &mut world.device {
            ok!(hipMalloc(memory, BUFFER));
        }
        for memory in &mut world.host {
            ok!(hipHostMalloc(memory, BUFFER, 0));
        }
        ok!(hipModuleLoadData(&mut world.module, program::image().as_ptr().cast()));
        for (kernel, name) in world.kernels.iter_mut().zip([c"kernelA", c"kernelB", c"empty"]) {
            ok!(hipModuleGetFunction(kernel, world.module, name.as_ptr()));
        }
        world
    }

    /// Destroys everything that calls have made, the captures first.
    pub fn destroy(self) {
        let alive = |kind: Kind| lock(&self.handles[kind as usize]).alive.drain().collect::<Vec<_>>();
        // SAFETY: handles may be anything; memory was allocated here and is used by nobody any more.
        unsafe {
            for stream in alive(Kind::Stream) {
                let mut graph = hipGraph_t::NULL;
                if hipStreamEndCapture(hipStream_t(stream), &mut graph) == capi::error::hipSuccess {
                    let _ = hipGraphDestroy(graph);
                }
                let _ = hipStreamDestroy(hipStream_t(stream));
            }
            let mut pool = hipMemPool_t::NULL;
            let _ = hipDeviceGetDefaultMemPool(&mut pool, 0);
            let _ = hipDeviceSetMemPool(0, pool);
            // What it retains would look as if it were lost.
            let mut threshold = 0u64;
            let address = (&raw mut threshold).cast();
            let _ = hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, address);
            for exec in alive(Kind::Exec) {
                let _ = hipGraphExecDestroy(hipGraphExec_t(exec));
            }
            for graph in alive(Kind::Graph) {
                let _ = hipGraphDestroy(hipGraph_t(graph));
            }
            for event in alive(Kind::Event) {
                let _ = hipEventDestroy(hipEvent_t(event));
            }
            for context in alive(Kind::Context) {
                let _ = hipExecutionCtxDestroy(hipExecutionCtx_t(context));
            }
            for object in alive(Kind::UserObject) {
                // More than it has is all.
                let _ = hipUserObjectRelease(hipUserObject_t(object), i32::MAX as c_uint);
            }
            let _ = hipDeviceSynchronize();
            self.destroy_others(alive);
            for memory in alive(Kind::Memory).into_iter().chain(alive(Kind::AsyncMemory)) {
                let _ = hipFree(memory as *mut c_void);
            }
            let _ = hipMemPoolTrimTo(pool, 0);
            for memory in self.device {
                let _ = hipFree(memory);
            }
            for memory in self.host {
                let _ = hipHostFree(memory);
            }
            let _ = hipModuleUnload(self.module);
            let _ = hipGetLastError();
        }
        self.zeros.free();
        let _ = std::fs::remove_file(self.dot.to_str().expect("made of text"));
    }

    /// Destroys what work no longer uses.
    ///
    /// # Safety
    /// None of it is memory that anybody uses any more.
    unsafe fn destroy_others(&self, alive: impl Fn(Kind) -> Vec<usize>) {
        // SAFETY: handles may be anything.
        unsafe {
            for library in alive(Kind::Library) {
                let _ = hipLibraryUnload(hipLibrary_t(library));
            }
            for module in alive(Kind::Module) {
                let _ = hipModuleUnload(hipModule_t(module));
            }
            for range in alive(Kind::Range) {
                let _ = hipMemUnmap(range as *mut c_void, self.granule);
                let _ = hipMemAddressFree(range as *mut c_void, self.granule);
            }
            for memory in alive(Kind::Physical) {
                // Whoever asked for the handle of mapped memory has a reference more.
                while hipMemRelease(hipMemGenericAllocationHandle_t(memory)) == SUCCESS {}
            }
            for mipmap in alive(Kind::Mipmap) {
                let _ = hipFreeMipmappedArray(hipMipmappedArray_t(mipmap));
            }
            for array in alive(Kind::Array) {
                let _ = hipFreeArray(hipArray_t(array));
            }
            for memory in alive(Kind::HostMemory) {
                let _ = hipHostFree(memory as *mut c_void);
            }
            for memory in alive(Kind::ExternalMemory) {
                let _ = hipDestroyExternalMemory(hipExternalMemory_t(memory));
            }
            for semaphore in alive(Kind::Semaphore) {
                let _ = hipDestroyExternalSemaphore(hipExternalSemaphore_t(semaphore));
            }
            let _ = hipHostUnregister(self.pages.as_ptr().cast_mut().cast());
            for pool in alive(Kind::Pool) {
                let _ = hipMemPoolDestroy(hipMemPool_t(pool));
            }
        }
    }
}

/// Physical memory of the device that other processes can be sent.
pub fn physical() -> hipMemAllocationProp {
    hipMemAllocationProp {
        r#type: hipMemAllocationTypePinned,
        requestedHandleType: hipMemHandleTypePosixFileDescriptor,
        location: hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 },
        win32HandleMetaData: ptr::null_mut(),
        allocFlags: hipMemAllocationFlags { compressionType: 0, gpuDirectRDMACapable: 0, usage: 0 },
    }
}

/// All compute units of the device, and two parts of them.
fn units() -> [hipDevResource; 3] {
    // SAFETY: a plain C structure, of which zeros are one.
    let mut units: [hipDevResource; 3] = unsafe { std::mem::zeroed() };
    let mut parts = 1;
    ok!(hipDeviceGetDevResource(0, &mut units[0], hipDevResourceTypeSm));
    let [all, part, rest] = &mut units;
    ok!(hipDevSmResourceSplitByCount(part, &mut parts, all, rest, 0, 2));
    units
}

/// A file of this world alone.
fn dot_path() -> CString {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("aqlipse-random-{}-{n}.dot", std::process::id()));
    CString::new(path.to_str().expect("made of text")).expect("without zeros")
}

/// One thread that calls.
pub struct Caller<'w> {
    pub world: &'w World,
    random: Rng,
    /// The graph that the arguments of a call are about, if one of them says.
    graph: usize,
    /// The stream that a call was about last. Calls that follow each other are often about one.
    stream: usize,
    /// The name of the call, and the kind of node that it says.
    call: &'static str,
    node_kind: Option<&'static str>,
}

impl<'w> Caller<'w> {
    pub fn new(world: &'w World, seed: u64) -> Self {
        Self { world, random: Rng::with_seed(seed), graph: 0, stream: 0, call: "", node_kind: None }
    }

    /// The next random word.
    pub fn random(&mut self) -> u64 {
        self.random.u64(..)
    }

    /// A random number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit)
    }

    /// Whether something happens that happens once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Forgets what the arguments of the call before were about.
    pub fn begin(&mut self, call: &'static str) {
        self.graph = 0;
        self.call = call;
        self.node_kind = NODE_KINDS.into_iter().find(|kind| call.contains(kind));
    }

    /// A handle, mostly one of the kind that was alive once.
    pub fn handle(&mut self, kind: Kind) -> usize {
        let handle = match self.below(64) {
            0 => 0,
            1 => self.one_of(&[1, 2, 3, 16, 0xdead_beef, usize::MAX, 1 << 62]),
            2 => {
                let other = self.one_of(&[Kind::Stream, Kind::Event, Kind::Graph, Kind::Node, Kind::Exec]);
                self.known(other)
            }
            3..60 if kind == Kind::Node => self.node_of_graph(),
            3..40 if kind == Kind::Stream => self.stream,
            _ => self.known(kind),
        };
        match kind {
            Kind::Graph => self.graph = handle,
            Kind::Stream => self.stream = handle,
            Kind::Exec => self.graph = lock(&self.world.sources).get(&handle).copied().unwrap_or(0),
            _ => {}
        }
        handle
    }

    fn known(&mut self, kind: Kind) -> usize {
        let index = self.random() as usize;
        let handles = lock(&self.world.handles[kind as usize]);
        if handles.known.is_empty() { 0 } else { handles.known[index % handles.known.len()] }
    }

    /// A node of the graph that the call is about, or else of any.
    fn node_of_graph(&mut self) -> usize {
        if self.graph == 0 {
            self.graph = self.known(Kind::Graph);
        }
        // What a node is set to, or asked for, depends on its kind; what it stands behind does not.
        let matters = !self.call.contains("Add") && !self.once_in(4);
        let index = self.random() as usize;
        let nodes = lock(&self.world.nodes);
        let nodes = nodes.get(&self.graph).map_or(&[][..], Vec::as_slice);
        let mut fitting: Vec<KnownNode> = nodes.to_vec();
        if let Some(kind) = self.node_kind.filter(|_| matters) {
            fitting.retain(|node| node.kind == Some(kind));
        }
        let from = if fitting.is_empty() { nodes } else { &fitting };
        if from.is_empty() { 0 } else { from[index % from.len()].handle }
    }

    /// The condition that was made last for the graph that the call is about.
    pub fn condition(&self) -> Option<hipGraphConditionalHandle> {
        lock(&self.world.conditions).get(&self.graph).copied()
    }

    /// Remembers a condition that a call has made.
    pub fn made_condition(&mut self, condition: hipGraphConditionalHandle) {
        lock(&self.world.conditions).insert(self.graph, condition);
    }

    /// Remembers a handle that a call has made.
    pub fn made(&mut self, kind: Kind, handle: usize) {
        if handle == 0 {
            return;
        }
        match kind {
            Kind::Node => {
                let mut nodes = lock(&self.world.nodes);
                let nodes = nodes.entry(self.graph).or_default();
                if nodes.len() < 2 * REMEMBERED {
                    nodes.push(KnownNode { handle, kind: self.node_kind });
                }
            }
            Kind::Exec => drop(lock(&self.world.sources).insert(handle, self.graph)),
            _ => {}
        }
        lock(&self.world.handles[kind as usize]).alive.insert(handle);
        self.found(kind, handle);
    }

    /// Remembers a handle of something that is not the caller's to destroy.
    pub fn found(&mut self, kind: Kind, handle: usize) {
        let place = self.random() as usize;
        let mut handles = lock(&self.world.handles[kind as usize]);
        if handles.known.len() < REMEMBERED {
            handles.known.push(handle);
        } else {
            handles.known[place % REMEMBERED] = handle;
        }
    }

    /// A handle that a call is about to destroy.
    pub fn doomed(&mut self, kind: Kind) -> Doomed {
        let handle = self.handle(kind);
        // Memory may be freed in a capture, by a node that never runs; physical memory may have other references.
        let was_alive = ![Kind::AsyncMemory, Kind::Physical].contains(&kind)
            // Before the call: as soon as it has freed memory, another thread may be given the address.
            && lock(&self.world.handles[kind as usize]).alive.remove(&handle);
        Doomed { handle, was_alive }
    }

    /// Notes whether a call has destroyed a handle, which others may go on using.
    pub fn spared_or_destroyed(&mut self, kind: Kind, doomed: Doomed, destroyed: bool) {
        let Doomed { handle, was_alive } = doomed;
        let forget = destroyed && !self.once_in(4);
        let mut handles = lock(&self.world.handles[kind as usize]);
        if was_alive && !destroyed {
            handles.alive.insert(handle);
        }
        if forget {
            handles.known.retain(|known| *known != handle);
        }
    }

    /// Ends the captures that only this thread may end.
    pub fn end_captures(&mut self) {
        let streams: Vec<usize> = lock(&self.world.handles[Kind::Stream as usize]).known.clone();
        for stream in streams.into_iter().chain([hipStreamPerThread.0]) {
            let mut graph = hipGraph_t::NULL;
            // SAFETY: any handle, and a place for the graph's.
            let code = unsafe { hipStreamEndCapture(hipStream_t(stream), &mut graph) };
            if code == capi::error::hipSuccess {
                self.made(Kind::Graph, graph.0);
            }
        }
    }
}
