//! What the threads of a round share.

use std::{ptr, sync::Mutex};

use super::{worker::*, *};

/// Executables that every thread launches.
const SHARED: usize = 3;
/// Launches of each: a double can be doubled 1023 times.
const LAUNCHES: u64 = 1000;

/// An executable that doubles and counts, whoever launches it.
pub struct Doubler {
    pub exec: hipGraphExec_t,
    memory: *mut c_void,
    launches: AtomicU64,
    ran: AtomicU64,
}

/// An executable that fills memory, copies it, and looks at what was copied, while everybody changes the word.
pub struct Tuned {
    pub exec: hipGraphExec_t,
    pub fill: hipGraphNode_t,
    template: Template,
    pub memory: *mut c_void,
    seen: *mut c_void,
    pub launches: AtomicU64,
    looks: AtomicU64,
    torn: AtomicU64,
}

/// A relaxed capture that its thread has left to whoever comes. Its stream and memory come along.
pub struct Open {
    pub stream: hipStream_t,
    pub memory: *mut c_void,
    pub word: u32,
}

/// What two threads destroy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contested {
    Exec(hipGraphExec_t),
    Graph(hipGraph_t),
    Event(hipEvent_t),
    Stream(hipStream_t),
}

/// A shared event, and the memory that the work behind it goes through.
pub struct Relay {
    pub event: hipEvent_t,
    pub memory: *mut c_void,
    /// What was written there last, and where that can be read.
    pub word: Option<u32>,
}

pub struct World {
    /// Streams of all threads, non-blocking.
    pub streams: [hipStream_t; 4],
    pub doublers: [Doubler; SHARED],
    pub tuned: Box<Tuned>,
    /// A template that every thread adds to, and how many nodes it should have.
    pub template: Template,
    pub added: AtomicUsize,
    pub relay: Mutex<Relay>,
    open: Mutex<Vec<Open>>,
    /// Handles that one thread destroys and another one will.
    contested: Mutex<Vec<Contested>>,
    /// How often threads began, and ended, doing what breaks the global captures of others.
    pub breaking: AtomicU64,
    pub broke: AtomicU64,
    /// User objects that were made, and those that were destroyed.
    pub objects: AtomicU64,
    pub objects_gone: AtomicU64,
}

// SAFETY: addresses of device memory and handles are given to calls only, which may come from any thread.
unsafe impl Sync for World {}

fn device_memory() -> *mut c_void {
    let mut memory = ptr::null_mut();
    ok!(hipMalloc(&mut memory, BYTES));
    memory
}

fn device_ones() -> *mut c_void {
    let (memory, ones) = (device_memory(), [1f64; COUNT]);
    ok!(hipMemcpy(memory, ones.as_ptr().cast(), BYTES, hipMemcpyHostToDevice));
    memory
}

/// The host function of [`Tuned`]: all words that were copied are the same, unless two launches overlapped or an update
/// was seen in halves.
unsafe extern "C" fn look(tuned: *mut c_void) {
    // SAFETY: the world outlives its launches; this node runs behind the copy and before the next launch.
    let (tuned, words) = unsafe {
        let tuned = &*tuned.cast::<Tuned>();
        (tuned, std::slice::from_raw_parts(tuned.seen.cast::<u32>(), BYTES / 4))
    };
    tuned.looks.fetch_add(1, Ordering::Relaxed);
    if words.iter().any(|word| *word != words[0]) {
        tuned.torn.fetch_add(1, Ordering::Relaxed);
    }
}

impl Tuned {
    fn new() -> Box<Self> {
        let mut seen = ptr::null_mut();
        ok!(hipHostMalloc(&mut seen, BYTES, 0));
        let memory = device_memory();
        let mut tuned = Box::new(Self {
            exec: hipGraphExec_t::NULL,
            fill: hipGraphNode_t::NULL,
            template: Template::new(),
            memory,
            seen,
            launches: AtomicU64::new(0),
            looks: AtomicU64::new(0),
            torn: AtomicU64::new(0),
        });
        let user = (&raw const *tuned).cast_mut().cast();
        let filled = tuned.template.fill(&[], memory, 1);
        let copied = tuned.template.copy(&[filled], seen, memory);
        tuned.template.host(&[copied], hipHostNodeParams { r#fn: Some(look), userData: user });
        (tuned.exec, tuned.fill) = (tuned.template.instantiate(), filled);
        tuned
    }

    /// Another template with the same nodes, for a whole update.
    pub fn with_word(&self, word: u32) -> Template {
        let copy = self.template.copied();
        let (mut node, params) = (hipGraphNode_t::NULL, fill(self.memory, word));
        ok!(
            hipGraphNodeFindInClone(&mut node, self.fill, copy.0),
            hipGraphMemsetNodeSetParams(node, &params)
        );
        copy
    }
}

impl Doubler {
    fn new() -> Self {
        Self {
            exec: hipGraphExec_t::NULL,
            memory: device_ones(),
            launches: AtomicU64::new(0),
            ran: AtomicU64::new(0),
        }
    }

    /// Asks whether the numbers can be doubled once more, and counts that.
    pub fn may_launch(&self) -> bool {
        self.launches
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < LAUNCHES).then_some(n + 1))
            .is_ok()
    }
}

impl World {
    pub fn new() -> Box<Self> {
        let mut world = Box::new(Self {
            streams: std::array::from_fn(|_| independent_stream()),
            doublers: std::array::from_fn(|_| Doubler::new()),
            tuned: Tuned::new(),
            template: Template::new(),
            added: AtomicUsize::new(0),
            relay: Mutex::new(Relay { event: new_event(), memory: device_memory(), word: None }),
            open: Mutex::default(),
            contested: Mutex::default(),
            breaking: AtomicU64::new(0),
            broke: AtomicU64::new(0),
            objects: AtomicU64::new(0),
            objects_gone: AtomicU64::new(0),
        });
        for doubler in &mut world.doublers {
            let template = Template::new();
            let doubled = template.kernel(&[], program::doubles(), doubler.memory);
            let counter = (&raw const doubler.ran).cast_mut().cast();
            template.host(&[doubled], hipHostNodeParams { r#fn: Some(count), userData: counter });
            doubler.exec = template.into_exec();
        }
        world
    }

    pub fn leave_open(&self, open: Open) {
        lock(&self.open).push(open);
    }

    pub fn take_open(&self) -> Option<Open> {
        lock(&self.open).pop()
    }

    pub fn open_captures(&self) -> usize {
        lock(&self.open).len()
    }

    pub fn contest(&self, contested: Contested) {
        lock(&self.contested).push(contested);
    }

    pub fn contested(&self, n: usize) -> Option<Contested> {
        let contested = lock(&self.contested);
        (!contested.is_empty()).then(|| contested[n % contested.len()])
    }

    /// Takes a handle off the list; whoever does so is the one who destroyed it.
    pub fn settle(&self, settled: Contested) {
        let mut contested = lock(&self.contested);
        let at = contested.iter().position(|c| *c == settled);
        contested.swap_remove(at.expect("a handle is destroyed only once"));
    }

    /// Checks what came of all threads' acts, and destroys what they shared.
    pub fn finish(self: Box<Self>) {
        while let Some(open) = self.take_open() {
            let memory = open.memory;
            let (template, stream) = capturing::end(open);
            template.destroy();
            ok!(hipStreamDestroy(stream), hipFree(memory));
        }
        for contested in lock(&self.contested).drain(..) {
            assert!(ending::destroy(contested), "{contested:?} is nobody's any more");
        }
        assert_eq!(self.template.nodes(), self.added.load(Ordering::Relaxed));
        let last = independent_stream();
        for stream in self.streams {
            ok!(hipStreamSynchronize(stream), hipStreamDestroy(stream));
        }
        let worker = Worker::new(&self, 0);
        for doubler in &self.doublers {
            // Behind all launches, whatever streams those were on.
            ok!(hipGraphLaunch(doubler.exec, last), hipStreamSynchronize(last));
            let launches = doubler.launches.load(Ordering::Relaxed) + 1;
            assert_eq!(doubler.ran.load(Ordering::Relaxed), launches, "the host node ran once a launch");
            worker.expect_doubled(doubler.memory, launches, last);
            ok!(hipGraphExecDestroy(doubler.exec), hipFree(doubler.memory));
        }
        let tuned = &self.tuned;
        ok!(hipGraphLaunch(tuned.exec, last), hipStreamSynchronize(last));
        let counts = [&tuned.looks, &tuned.torn].map(|n| n.load(Ordering::Relaxed));
        assert_eq!(counts, [tuned.launches.load(Ordering::Relaxed) + 1, 0], "launches, and torn ones");
        ok!(hipGraphExecDestroy(tuned.exec), hipFree(tuned.memory), hipHostFree(tuned.seen));
        drop(worker);
        let relay = lock(&self.relay);
        ok!(
            hipGraphDestroy(tuned.template.0),
            hipGraphDestroy(self.template.0),
            hipEventDestroy(relay.event),
            hipFree(relay.memory),
            hipStreamDestroy(last),
        );
        // The call that finds a launch complete runs the destructors of what it held.
        ok!(hipDeviceSynchronize());
        assert_eq!(self.objects_gone.load(Ordering::Acquire), self.objects.load(Ordering::Relaxed));
    }
}
