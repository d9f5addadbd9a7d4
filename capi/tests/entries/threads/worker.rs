//! One thread: its random numbers, its streams and its memory.

use std::ptr;

use fastrand::Rng;

use super::{
    super::program::{BLOCK, doubles, line, threes},
    *,
};

/// Elements of every buffer: what one block of the demo's kernels works on.
pub const COUNT: usize = BLOCK as usize;
/// Bytes of every buffer, which holds doubles.
pub const BYTES: usize = COUNT * size_of::<f64>();

pub struct Worker<'w> {
    pub world: &'w World,
    random: Rng,
    /// Streams of its own, non-blocking.
    pub streams: [hipStream_t; 3],
    /// Device memory of its own.
    pub device: [*mut c_void; 3],
    /// Pinned memory of its own: the first buffer holds ones, the other is what results are read into.
    pub ones: *mut f64,
    read: *mut c_void,
    /// How often the host functions of its graphs have run.
    ran: Box<AtomicU64>,
}

/// A stream that captures of others do not concern.
pub fn independent_stream() -> hipStream_t {
    let mut stream = hipStream_t::NULL;
    ok!(hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
    stream
}

pub fn new_event() -> hipEvent_t {
    let mut event = hipEvent_t::NULL;
    ok!(hipEventCreateWithFlags(&mut event, hipEventDisableTiming));
    event
}

/// A host function: adds one to a counter.
pub unsafe extern "C" fn count(counter: *mut c_void) {
    // SAFETY: whoever gives the function gives a counter that outlives the launch.
    unsafe { &*counter.cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

/// Parameters of a fill of a whole buffer with one word.
pub fn fill(dst: *mut c_void, value: u32) -> hipMemsetParams {
    hipMemsetParams { dst, elementSize: 4, height: 1, pitch: 0, value, width: BYTES / 4 }
}

/// Has a stream fill a whole buffer with one word.
pub fn fill_async(dst: *mut c_void, value: u32, stream: hipStream_t) {
    ok!(hipMemsetD32Async(dst, value as c_int, BYTES / 4, stream));
}

/// Has a stream copy a whole buffer.
pub fn copy_async(dst: *mut c_void, src: *const c_void, stream: hipStream_t) {
    ok!(hipMemcpyAsync(dst, src, BYTES, hipMemcpyDefault, stream));
}

/// Has a stream write a three into the first [`COUNT`] words of a buffer.
pub fn threes_async(mut dst: *mut c_void, stream: hipStream_t) {
    let mut arguments = [(&raw mut dst).cast::<c_void>()];
    ok!(hipLaunchKernel(threes(), line(1), line(BLOCK), arguments.as_mut_ptr(), 0, stream));
}

impl<'w> Worker<'w> {
    pub fn new(world: &'w World, seed: u64) -> Self {
        // The mode of the thread, for as long as it lives.
        let mut mode = hipStreamCaptureModeRelaxed;
        ok!(hipThreadExchangeStreamCaptureMode(&mut mode));
        let mut device = [ptr::null_mut(); 3];
        for memory in &mut device {
            ok!(hipMalloc(memory, BYTES));
        }
        let mut pinned = [ptr::null_mut(); 2];
        for memory in &mut pinned {
            ok!(hipHostMalloc(memory, BYTES, 0));
        }
        let ones = pinned[0].cast::<f64>();
        // SAFETY: the memory is ours and long enough.
        unsafe { std::slice::from_raw_parts_mut(ones, COUNT) }.fill(1.0);
        Self {
            world,
            random: Rng::with_seed(seed),
            streams: std::array::from_fn(|_| independent_stream()),
            device,
            ones,
            read: pinned[1],
            ran: Box::new(AtomicU64::new(0)),
        }
    }

    /// A random number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.random.usize(..limit)
    }

    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub fn perhaps(&mut self) -> bool {
        self.below(2) == 0
    }

    /// A word that no other act is likely to write.
    pub fn word(&mut self) -> u32 {
        self.below(1 << 31) as u32
    }

    /// A stream to run something on: its own, everybody's, this thread's, or the default one.
    pub fn stream(&mut self) -> hipStream_t {
        let shared = self.world.streams;
        match self.below(8) {
            0..4 => self.one_of(&self.streams.clone()),
            4..6 => self.one_of(&shared),
            6 => hipStreamPerThread,
            _ => hipStream_t::NULL,
        }
    }

    /// Parameters of a node that counts launches.
    pub fn counting(&self) -> hipHostNodeParams {
        hipHostNodeParams { r#fn: Some(count), userData: self.counter() }
    }

    /// What [`count`] is given.
    pub fn counter(&self) -> *mut c_void {
        ptr::from_ref(&*self.ran).cast_mut().cast()
    }

    /// How often host functions have run since the last call.
    pub fn take_count(&self) -> u64 {
        self.ran.swap(0, Ordering::Relaxed)
    }

    /// Reads a buffer behind what is on the stream.
    fn read<T: Copy>(&self, memory: *const c_void, stream: hipStream_t) -> &[T] {
        copy_async(self.read, memory, stream);
        ok!(hipStreamSynchronize(stream));
        // SAFETY: the buffer has these bytes, any of which are a number, and nothing writes them until the next call.
        unsafe { std::slice::from_raw_parts(self.read.cast(), BYTES / size_of::<T>()) }
    }

    /// Looks, behind what is on the stream, whether a buffer holds nothing but one word.
    pub fn expect_words(&self, memory: *const c_void, word: u32, stream: hipStream_t) {
        let words: &[u32] = self.read(memory, stream);
        let wrong = words.iter().position(|w| *w != word);
        assert_eq!(wrong.map(|at| (at, words[at])), None, "where {word:#x} was expected");
    }

    /// As [`Worker::expect_words`], for a buffer that [`threes`] was run on behind a fill.
    pub fn expect_threes(&self, memory: *const c_void, behind: u32, stream: hipStream_t) {
        let words: &[u32] = self.read(memory, stream);
        let wrong = words.iter().enumerate().position(|(i, w)| *w != if i < COUNT { 3 } else { behind });
        assert_eq!(wrong.map(|at| (at, words[at])), None, "where threes, then {behind:#x}, were expected");
    }

    /// As [`Worker::expect_words`], for ones that were doubled so many times.
    pub fn expect_doubled(&self, memory: *const c_void, times: u64, stream: hipStream_t) {
        let expected = 2f64.powi(i32::try_from(times).expect("few launches"));
        let numbers: &[f64] = self.read(memory, stream);
        let wrong = numbers.iter().position(|x| *x != expected);
        assert_eq!(wrong.map(|at| (at, numbers[at])), None, "where {expected} was expected");
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // SAFETY: all of it is ours. A thread that has failed already has other troubles than these codes.
        unsafe {
            for stream in self.streams {
                let _ = hipStreamSynchronize(stream);
                let _ = hipStreamDestroy(stream);
            }
            for memory in self.device {
                let _ = hipFree(memory);
            }
            for memory in [self.ones.cast(), self.read] {
                let _ = hipHostFree(memory);
            }
        }
    }
}

/// A template that is being built; its nodes are added in any order that their dependencies allow.
pub struct Template(pub hipGraph_t);

impl Template {
    pub fn new() -> Self {
        let mut graph = hipGraph_t::NULL;
        ok!(hipGraphCreate(&mut graph, 0));
        Self(graph)
    }

    pub fn fill(&self, after: &[hipGraphNode_t], dst: *mut c_void, value: u32) -> hipGraphNode_t {
        let (mut node, params) = (hipGraphNode_t::NULL, fill(dst, value));
        ok!(hipGraphAddMemsetNode(&mut node, self.0, after.as_ptr(), after.len(), &params));
        node
    }

    pub fn copy(&self, after: &[hipGraphNode_t], dst: *mut c_void, src: *const c_void) -> hipGraphNode_t {
        let (mut node, kind) = (hipGraphNode_t::NULL, hipMemcpyDefault);
        ok!(hipGraphAddMemcpyNode1D(&mut node, self.0, after.as_ptr(), after.len(), dst, src, BYTES, kind));
        node
    }

    /// One block of [`doubles`] or [`threes`].
    pub fn kernel(
        &self,
        after: &[hipGraphNode_t],
        function: *const c_void,
        mut memory: *mut c_void,
    ) -> hipGraphNode_t {
        let (mut node, mut arguments) = (hipGraphNode_t::NULL, [(&raw mut memory).cast::<c_void>()]);
        let params = hipKernelNodeParams {
            blockDim: line(BLOCK),
            extra: ptr::null_mut(),
            func: function.cast_mut(),
            gridDim: line(1),
            kernelParams: arguments.as_mut_ptr(),
            sharedMemBytes: 0,
        };
        ok!(hipGraphAddKernelNode(&mut node, self.0, after.as_ptr(), after.len(), &params));
        node
    }

    /// So many nodes in a row, each of which doubles.
    pub fn doublings(&self, after: hipGraphNode_t, memory: *mut c_void, times: usize) -> Vec<hipGraphNode_t> {
        let mut row = vec![after];
        for i in 0..times {
            row.push(self.kernel(&[row[i]], doubles(), memory));
        }
        row.split_off(1)
    }

    pub fn threes(&self, after: &[hipGraphNode_t], memory: *mut c_void) -> hipGraphNode_t {
        self.kernel(after, threes(), memory)
    }

    pub fn host(&self, after: &[hipGraphNode_t], params: hipHostNodeParams) -> hipGraphNode_t {
        let mut node = hipGraphNode_t::NULL;
        ok!(hipGraphAddHostNode(&mut node, self.0, after.as_ptr(), after.len(), &params));
        node
    }

    pub fn nodes(&self) -> usize {
        let mut count = 0;
        ok!(hipGraphGetNodes(self.0, ptr::null_mut(), &mut count));
        count
    }

    pub fn copied(&self) -> Self {
        let mut clone = hipGraph_t::NULL;
        ok!(hipGraphClone(&mut clone, self.0));
        Self(clone)
    }

    pub fn instantiate(&self) -> hipGraphExec_t {
        let mut exec = hipGraphExec_t::NULL;
        ok!(hipGraphInstantiateWithFlags(&mut exec, self.0, 0));
        exec
    }

    /// Instantiates it, and destroys it before anything is launched.
    pub fn into_exec(self) -> hipGraphExec_t {
        let exec = self.instantiate();
        self.destroy();
        exec
    }

    pub fn destroy(self) {
        ok!(hipGraphDestroy(self.0));
    }
}
