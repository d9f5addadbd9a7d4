//! What the callers share and own: handles of every kind, whether alive or not, and memory.

use std::{
    collections::{HashMap, HashSet},
    ffi::{c_char, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

use super::{super::program, *};

unsafe extern "C" {
    fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: u32) -> hipError_t;
    fn hipHostFree(address: *mut c_void) -> hipError_t;
    fn hipEventDestroy(event: hipEvent_t) -> hipError_t;
    fn hipGraphDestroy(graph: hipGraph_t) -> hipError_t;
    fn hipGraphExecDestroy(exec: hipGraphExec_t) -> hipError_t;
    fn hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t) -> hipError_t;
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
}

const KINDS: usize = 7;

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
    nodes: Mutex<HashMap<usize, Vec<usize>>>,
    sources: Mutex<HashMap<usize, usize>>,
    /// The latest condition of each graph.
    conditions: Mutex<HashMap<usize, hipGraphConditionalHandle>>,
    /// Device memory that stays: what work is given.
    pub device: [*mut c_void; 4],
    /// Pinned memory that stays.
    pub host: [*mut c_void; 2],
    module: hipModule_t,
    pub kernels: [hipFunction_t; 3],
}

// SAFETY: the addresses are given to calls only, which may come from any thread.
unsafe impl Sync for World {}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub fn new() -> Self {
        let mut world = Self {
            handles: Default::default(),
            nodes: Mutex::default(),
            sources: Mutex::default(),
            conditions: Mutex::default(),
            device: [ptr::null_mut(); 4],
            host: [ptr::null_mut(); 2],
            module: hipModule_t::NULL,
            kernels: [hipFunction_t::NULL; 3],
        };
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
            for exec in alive(Kind::Exec) {
                let _ = hipGraphExecDestroy(hipGraphExec_t(exec));
            }
            for graph in alive(Kind::Graph) {
                let _ = hipGraphDestroy(hipGraph_t(graph));
            }
            for event in alive(Kind::Event) {
                let _ = hipEventDestroy(hipEvent_t(event));
            }
            let _ = hipDeviceSynchronize();
            for memory in alive(Kind::Memory).into_iter().chain(alive(Kind::AsyncMemory)) {
                let _ = hipFree(memory as *mut c_void);
            }
            for memory in self.device {
                let _ = hipFree(memory);
            }
            for memory in self.host {
                let _ = hipHostFree(memory);
            }
            let _ = hipModuleUnload(self.module);
            let _ = hipGetLastError();
        }
    }
}

/// One thread that calls.
pub struct Caller<'w> {
    pub world: &'w World,
    random: u64,
    /// The graph that the arguments of a call are about, if one of them says.
    graph: usize,
}

impl<'w> Caller<'w> {
    pub fn new(world: &'w World, seed: u64) -> Self {
        Self { world, random: seed, graph: 0 }
    }

    /// The next random word (SplitMix64).
    pub fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A random number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.random() % limit as u64) as usize
    }

    /// Whether something happens that happens once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Forgets what the arguments of the call before were about.
    pub fn begin(&mut self) {
        self.graph = 0;
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
            _ => self.known(kind),
        };
        match kind {
            Kind::Graph => self.graph = handle,
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
        let index = self.random() as usize;
        let nodes = lock(&self.world.nodes);
        let nodes = nodes.get(&self.graph).map_or(&[][..], Vec::as_slice);
        if nodes.is_empty() { 0 } else { nodes[index % nodes.len()] }
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
                if nodes.len() < REMEMBERED {
                    nodes.push(handle);
                }
            }
            Kind::Exec => drop(lock(&self.world.sources).insert(handle, self.graph)),
            _ => {}
        }
        let place = self.random() as usize;
        let mut handles = lock(&self.world.handles[kind as usize]);
        handles.alive.insert(handle);
        if handles.known.len() < REMEMBERED {
            handles.known.push(handle);
        } else {
            handles.known[place % REMEMBERED] = handle;
        }
    }

    /// A handle that a call is about to destroy.
    pub fn doomed(&mut self, kind: Kind) -> Doomed {
        let handle = self.handle(kind);
        // Memory may be freed in a capture, by a node that never runs.
        let was_alive = kind != Kind::AsyncMemory
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
