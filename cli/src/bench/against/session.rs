//! What a worker does with a library: one stream, one kernel with three arguments, and graphs of it.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use aqlipse_bench::{sampling::nanoseconds, shape::Shape};

use super::{
    library::{Dimensions, Failed, Handle, KernelNode, Library, NON_BLOCKING},
    protocol::Loaded,
};

/// Code objects by target. Of version 4 and with a symbol table, where there are such: every release of the library takes them.
/// Generic targets begin with version 6.
const OBJECTS: [(&str, &[u8]); 6] = [
    ("gfx90a", include_bytes!("../../../../kernels/demo-v4.gfx90a.co")),
    ("gfx942", include_bytes!("../../../../kernels/demo-v4.gfx942.co")),
    ("gfx9-4-generic", include_bytes!("../../../../kernels/demo.gfx9-4-generic.co")),
    ("gfx10-3-generic", include_bytes!("../../../../kernels/demo.gfx10-3-generic.co")),
    ("gfx11-generic", include_bytes!("../../../../kernels/demo.gfx11-generic.co")),
    ("gfx12-generic", include_bytes!("../../../../kernels/demo.gfx12-generic.co")),
];

/// The kernel that says when it ran.
const KERNEL: &CStr = c"stamp";

/// A library that is up, with what all measurements share.
#[derive(Debug)]
pub struct Session {
    library: Library,
    target: &'static str,
    stream: Handle,
    kernel: Handle,
    ticket: Pinned,
    stamps: Pinned,
}

/// Words of pinned memory that the device writes: they are seen without a copy, which may be a kernel.
#[derive(Debug)]
struct Pinned {
    host: *mut u32,
    device: *mut c_void,
    words: usize,
}

impl Pinned {
    fn new(library: &Library, words: usize) -> Result<Self, Failed> {
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: both pointers go to variables of this function; the memory is given back by the process's
        // end.
        unsafe {
            library.hipHostMalloc(&raw mut host, words * size_of::<u32>(), 0)?;
            library.hipHostGetDevicePointer(&raw mut device, host, 0)?;
        }
        let pinned = Self { host: host.cast(), device, words };
        pinned.clear();
        Ok(pinned)
    }

    fn all(&self) -> impl Iterator<Item = &AtomicU32> {
        // SAFETY: as many words as were allocated, aligned like a page, accessed by atomics alone.
        (0..self.words).map(|at| unsafe { AtomicU32::from_ptr(self.host.add(at)) })
    }

    fn clear(&self) {
        // ORDER: Relaxed. The launch that follows releases to the device.
        self.all().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    fn read(&self, count: usize) -> Vec<u32> {
        // ORDER: Relaxed. The wait for the stream has acquired what the device wrote.
        self.all().take(count).map(|word| word.load(Ordering::Relaxed)).collect()
    }
}

/// The kernel's arguments.
#[derive(Clone, Copy, Debug)]
struct Arguments {
    ticket: *mut c_void,
    stamps: *mut c_void,
    index: u32,
}

impl Arguments {
    /// Where each of them is, as launches ask for it. The arguments must not move while that is used.
    fn pointers(&mut self) -> [*mut c_void; 3] {
        [(&raw mut self.ticket).cast(), (&raw mut self.stamps).cast(), (&raw mut self.index).cast()]
    }
}

impl Session {
    /// Brings the library up on its first device, with memory for graphs of `nodes`.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn new(library: Library, nodes: usize) -> Result<Self, Failed> {
        let (mut stream, mut kernel) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: pointers go to variables of this function; the kernel's name ends in NUL.
        let target = unsafe {
            library.hipInit(0)?;
            let (target, module) = load(&library)?;
            library.hipModuleGetFunction(&raw mut kernel, module, KERNEL.as_ptr())?;
            library.hipStreamCreateWithFlags(&raw mut stream, NON_BLOCKING)?;
            target
        };
        let (ticket, stamps) = (Pinned::new(&library, 1)?, Pinned::new(&library, nodes.max(1))?);
        Ok(Self { library, target, stream, kernel, ticket, stamps })
    }

    /// What was loaded, and what it does with a kernel.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn loaded(&self) -> Result<Loaded, Failed> {
        let (mut version, mut name) = (0, [0; 256]);
        // SAFETY: the functions write to variables of this function, the name no more than its length.
        unsafe {
            self.library.hipRuntimeGetVersion(&raw mut version)?;
            let length = name.len() as c_int - 1;
            self.library.hipDeviceGetName(name.as_mut_ptr().cast::<c_char>(), length, 0)?;
        }
        let device = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
        self.stamps.clear();
        self.launch(1)?;
        self.synchronize()?;
        Ok(Loaded {
            path: self.library.path().display().to_string(),
            version,
            device,
            target: self.target.into(),
            executes: self.stamps.read(1) != [0],
        })
    }

    /// Launches the kernel `times` times.
    ///
    /// # Errors
    /// The first launch that fails.
    pub fn launch(&self, times: usize) -> Result<(), Failed> {
        let mut arguments = self.arguments(0);
        let mut pointers = arguments.pointers();
        for _ in 0..times {
            // SAFETY: the kernel of `load` takes these arguments, and writes to the ticket and to the first
            // stamp.
            unsafe {
                self.library.hipModuleLaunchKernel(
                    self.kernel,
                    1,
                    1,
                    1,
                    1,
                    1,
                    1,
                    0,
                    self.stream,
                    pointers.as_mut_ptr(),
                    ptr::null_mut(),
                )?;
            }
        }
        Ok(())
    }

    /// Waits for all that was launched.
    ///
    /// # Errors
    /// That of the wait or of what it waits for.
    pub fn synchronize(&self) -> Result<(), Failed> {
        // SAFETY: the stream is the session's.
        unsafe { self.library.hipStreamSynchronize(self.stream) }
    }

    /// A graph of `nodes` kernels with the dependencies of `shape`.
    ///
    /// # Errors
    /// The first call that fails.
    ///
    /// # Panics
    /// If the session was not made for as many nodes.
    pub fn graph(&self, shape: Shape, nodes: usize) -> Result<Graph<'_>, Failed> {
        assert!(nodes <= self.stamps.words, "the session is for fewer nodes");
        let mut arguments: Vec<_> = (0..nodes).map(|node| self.arguments(node)).collect();
        let mut pointers: Vec<_> = arguments.iter_mut().map(Arguments::pointers).collect();
        let mut graph = self.graph_of(shape, &mut pointers)?;
        graph._arguments = arguments;
        Ok(graph)
    }

    /// As [`Session::graph`], of kernels with these arguments, which must live as long as the graph.
    fn graph_of(&self, shape: Shape, pointers: &mut [[*mut c_void; 3]]) -> Result<Graph<'_>, Failed> {
        let nodes = pointers.len();
        let ids = Vec::with_capacity(nodes);
        let mut graph = Graph { session: self, handle: ptr::null_mut(), ids, _arguments: Vec::new() };
        // SAFETY: the pointer goes to the graph.
        unsafe { self.library.hipGraphCreate(&raw mut graph.handle, 0)? };
        let one = Dimensions { x: 1, y: 1, z: 1 };
        for (node, pointers) in pointers.iter_mut().enumerate() {
            let parameters = KernelNode {
                block: one,
                extra: ptr::null_mut(),
                function: self.kernel,
                grid: one,
                arguments: pointers.as_mut_ptr(),
                shared_bytes: 0,
            };
            let dependencies = &graph.ids[shape.dependencies(node, nodes)];
            let before = if dependencies.is_empty() { ptr::null() } else { dependencies.as_ptr() };
            let mut id = ptr::null_mut();
            // SAFETY: the dependencies are nodes of this graph; the arguments are those that the kernel
            // takes.
            unsafe {
                let count = dependencies.len();
                self.library.hipGraphAddKernelNode(
                    &raw mut id,
                    graph.handle,
                    before,
                    count,
                    &raw const parameters,
                )?;
            }
            graph.ids.push(id);
        }
        Ok(graph)
    }

    /// Another stream with an executable of `graph`.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn launcher(&self, graph: &Graph<'_>) -> Result<Launcher<'_>, Failed> {
        let exec = graph.instantiate()?.handle;
        let mut stream = ptr::null_mut();
        // SAFETY: the pointer goes to a variable of this function.
        unsafe { self.library.hipStreamCreateWithFlags(&raw mut stream, NON_BLOCKING)? };
        Ok(Launcher { library: &self.library, exec, stream })
    }

    /// What building a graph of `nodes` kernels takes, in nanoseconds.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn time_of_building(&self, shape: Shape, nodes: usize) -> Result<f64, Failed> {
        let mut arguments: Vec<_> = (0..nodes).map(|node| self.arguments(node)).collect();
        let mut pointers: Vec<_> = arguments.iter_mut().map(Arguments::pointers).collect();
        let start = Instant::now();
        let graph = self.graph_of(shape, &mut pointers)?;
        let time = nanoseconds(start);
        drop(graph);
        Ok(time)
    }

    /// Runs a graph twice and checks every node and dependency.
    ///
    /// # Errors
    /// [`Failed::Wrong`], or the first call that fails.
    pub fn verify(&self, shape: Shape, nodes: usize) -> Result<(), Failed> {
        let graph = self.graph(shape, nodes)?;
        let exec = graph.instantiate()?;
        self.ticket.clear();
        for run in 0..2 {
            self.stamps.clear();
            exec.launch()?;
            self.synchronize()?;
            let when = self.stamps.read(nodes);
            shape.check(&when, run * nodes + 1).map_err(|what| Failed::Wrong(what.into()))?;
        }
        Ok(())
    }

    fn arguments(&self, index: usize) -> Arguments {
        // CAST: graphs have fewer than 2^32 nodes.
        Arguments { ticket: self.ticket.device, stamps: self.stamps.device, index: index as u32 }
    }
}

/// Loads the first code object that the library takes for its device.
fn load(library: &Library) -> Result<(&'static str, Handle), Failed> {
    let mut refused = Failed::Missing("hipModuleLoadData");
    for (target, object) in OBJECTS {
        let mut module = ptr::null_mut();
        // SAFETY: the image is a whole ELF file and lives as long as the process.
        match unsafe { library.hipModuleLoadData(&raw mut module, object.as_ptr().cast()) } {
            Ok(()) => return Ok((target, module)),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// An executable and a stream of its own, for a thread.
#[derive(Debug)]
pub struct Launcher<'a> {
    library: &'a Library,
    exec: Handle,
    stream: Handle,
}

// SAFETY: what handles name may be used by any thread, as HIP's functions may be called by any.
unsafe impl Send for Launcher<'_> {}

impl Launcher<'_> {
    /// Launches and waits; what the call that launches took, in nanoseconds.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn call(&self) -> Result<f64, Failed> {
        let start = Instant::now();
        // SAFETY: both are alive; the kernels write to stamps of the session.
        unsafe { self.library.hipGraphLaunch(self.exec, self.stream)? };
        let time = nanoseconds(start);
        // SAFETY: the stream is alive.
        unsafe { self.library.hipStreamSynchronize(self.stream)? };
        Ok(time)
    }
}

/// A graph of kernels.
#[derive(Debug)]
pub struct Graph<'a> {
    session: &'a Session,
    handle: Handle,
    ids: Vec<Handle>,
    /// The library has copied them by HIP's rules; one that has not finds them here.
    _arguments: Vec<Arguments>,
}

impl<'a> Graph<'a> {
    /// The number of its nodes.
    pub fn nodes(&self) -> usize {
        self.ids.len()
    }

    /// Compiles the graph.
    ///
    /// # Errors
    /// That of the call.
    pub fn instantiate(&self) -> Result<Exec<'a>, Failed> {
        let mut handle = ptr::null_mut();
        let nothing = ptr::null_mut();
        // SAFETY: the graph is alive; neither the node at fault nor a log is asked for.
        unsafe {
            self.session.library.hipGraphInstantiate(
                &raw mut handle,
                self.handle,
                nothing,
                ptr::null_mut(),
                0,
            )?;
        }
        Ok(Exec { session: self.session, handle })
    }

    /// Compiles the graph to lie on the device.
    ///
    /// # Errors
    /// That of the call.
    pub fn instantiate_resident(&self) -> Result<Exec<'a>, Failed> {
        /// `hipGraphInstantiateFlagDeviceLaunch`.
        const DEVICE_LAUNCH: u64 = 4;
        let mut handle = ptr::null_mut();
        // SAFETY: the graph is alive.
        unsafe {
            self.session.library.hipGraphInstantiateWithFlags(&raw mut handle, self.handle, DEVICE_LAUNCH)?;
        }
        Ok(Exec { session: self.session, handle })
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: the graph is alive, and this is its last use. A failure leaves nothing to be done.
            let _ = unsafe { self.session.library.hipGraphDestroy(self.handle) };
        }
    }
}

/// A compiled graph.
///
/// It is not destroyed with this: that takes AMD's 5.2.3 some milliseconds for each root, and the process ends
/// anyway.
#[derive(Debug)]
pub struct Exec<'a> {
    session: &'a Session,
    handle: Handle,
}

impl Exec<'_> {
    /// Launches it onto the session's stream.
    ///
    /// # Errors
    /// That of the call.
    pub fn launch(&self) -> Result<(), Failed> {
        // SAFETY: graph and stream are alive; the kernels write to stamps of the session.
        unsafe { self.session.library.hipGraphLaunch(self.handle, self.session.stream) }
    }

    /// As [`Exec::launch`], by an entry of another name.
    ///
    /// # Errors
    /// That of the call.
    pub fn launch_aside(&self) -> Result<(), Failed> {
        // SAFETY: as there.
        unsafe { self.session.library.hipGraphLaunch_spt(self.handle, self.session.stream) }
    }

    /// Gives all nodes the parameters of those of `graph`.
    ///
    /// # Errors
    /// That of the call.
    pub fn update(&self, graph: &Graph<'_>) -> Result<(), Failed> {
        let (mut node, mut result) = (ptr::null_mut(), 0);
        // SAFETY: both graphs are alive; the results go to variables of this function.
        unsafe {
            self.session.library.hipGraphExecUpdate(self.handle, graph.handle, &raw mut node, &raw mut result)
        }
    }

    /// Gives nodes of `graph`, of which this was made, other arguments, one after the other, `times` in all.
    ///
    /// # Errors
    /// The first call that fails.
    pub fn set(&self, graph: &Graph<'_>, times: usize) -> Result<(), Failed> {
        let mut arguments = self.session.arguments(0);
        let mut pointers = arguments.pointers();
        let one = Dimensions { x: 1, y: 1, z: 1 };
        let parameters = KernelNode {
            block: one,
            extra: ptr::null_mut(),
            function: self.session.kernel,
            grid: one,
            arguments: pointers.as_mut_ptr(),
            shared_bytes: 0,
        };
        for &node in graph.ids.iter().cycle().take(times) {
            // SAFETY: executable and node are alive; the arguments are those that the kernel takes.
            unsafe {
                self.session.library.hipGraphExecKernelNodeSetParams(
                    self.handle,
                    node,
                    &raw const parameters,
                )?;
            }
        }
        Ok(())
    }

    /// Destroys it. It must not be running.
    ///
    /// # Errors
    /// That of the call.
    pub fn destroy(self) -> Result<(), Failed> {
        // SAFETY: the graph is alive, and this is its last use.
        unsafe { self.session.library.hipGraphExecDestroy(self.handle) }
    }
}
