//! A loaded kernel and its launches.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    sync::Arc,
};

use bytemuck::Pod;
use emulator::{
    dispatch::{Dispatch, DispatchFault, Environment, Launch, Residency, Worker},
    isa::Target,
    memory::{Allocation, Grain, Map},
    wave::{
        Apertures, Deaf, Surroundings,
        code::{Code, Registry},
    },
};
use loader::{CodeObject, KernelMetadata, Limits, ValueKind};

/// Bytes of stack for kernels whose need the compiler does not know.
const DYNAMIC_STACK: u32 = 16 * 1024;

/// A kernel argument.
pub enum Arg<'a> {
    /// Memory that the kernel may only read.
    Input(&'a [u8]),
    /// Memory that the kernel may read and write.
    Output(&'a mut [u8]),
    /// A value.
    Value(Vec<u8>),
}

/// Memory that the kernel may only read.
pub fn input<T: Pod>(data: &[T]) -> Arg<'_> {
    Arg::Input(bytemuck::cast_slice(data))
}

/// Memory that the kernel may read and write.
pub fn output<T: Pod>(data: &mut [T]) -> Arg<'_> {
    Arg::Output(bytemuck::cast_slice_mut(data))
}

/// A value.
pub fn value<T: Pod>(value: T) -> Arg<'static> {
    Arg::Value(bytemuck::bytes_of(&value).to_vec())
}

/// Zeroed memory at a multiple of a page.
struct Block {
    address: *mut u8,
    layout: Layout,
}

// SAFETY: a block is an address; the user of the memory behind it must avoid races.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn new(size: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), 4096).expect("sizes are small");
        // SAFETY: the layout is not empty.
        let address = unsafe { alloc_zeroed(layout) };
        assert!(!address.is_null());
        Self { address, layout }
    }

    fn address(&self) -> u64 {
        self.address as u64
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: made with this layout, and only once.
        unsafe { dealloc(self.address, self.layout) };
    }
}

/// A kernel in memory, ready to run.
pub struct Kernel {
    map: Arc<Map>,
    code: Registry,
    image: Block,
    target: Target,
    descriptor: u64,
    metadata: KernelMetadata,
}

impl Kernel {
    /// Loads `name` from a code object.
    ///
    /// # Panics
    /// Where the object is broken or has no such kernel.
    pub fn load(object: &[u8], name: &str, target: Target) -> Self {
        let object = CodeObject::parse(object).expect("the compiler makes sound code objects");
        let plan = object.load_plan(&Limits::default()).expect("the image is small");
        let image = Block::new(plan.size() as usize);
        let base = image.address();
        // SAFETY: the block is zeroed and no other thread knows of it yet.
        let bytes = unsafe { std::slice::from_raw_parts_mut(image.address, plan.size() as usize) };
        plan.write(bytes, base, |_| None).expect("nothing is undefined");
        let (map, code) = (Arc::new(Map::default()), Registry::default());
        for segment in plan.segments() {
            let (start, end) = (base + segment.offset, base + segment.offset + segment.size);
            let writable = segment.protection.write;
            map.insert(Allocation { start, end, writable, grain: Grain::Fine, socket: None, backing: None });
            if segment.protection.execute {
                // SAFETY: the image lives as long as the kernel, and this segment is not writable.
                code.insert(Arc::new(unsafe { Code::new(start, end, target) }));
            }
        }
        let kernel = object.kernel(name).expect("the source has this kernel");
        Self {
            descriptor: base + kernel.descriptor_offset,
            metadata: kernel.metadata.clone(),
            map,
            code,
            image,
            target,
        }
    }

    /// Address of the loaded image.
    pub fn image(&self) -> u64 {
        self.image.address()
    }

    /// Runs `groups` workgroups of `block` work-items with `lds` bytes of dynamic LDS on this thread.
    ///
    /// # Errors
    /// The fault that ended the dispatch.
    pub fn run(
        &self,
        groups: [u32; 3],
        block: [u16; 3],
        args: &mut [Arg<'_>],
        lds: u32,
    ) -> Result<(), DispatchFault> {
        let grid = std::array::from_fn(|i| groups[i] * u32::from(block[i]));
        self.run_grid(grid, block, args, lds, 1)
    }

    /// Runs `grid` work-items, which need not be a multiple of `block`, on `threads` threads.
    ///
    /// # Errors
    /// The fault that ended the dispatch.
    pub fn run_grid(
        &self,
        grid: [u32; 3],
        block: [u16; 3],
        args: &mut [Arg<'_>],
        lds: u32,
        threads: usize,
    ) -> Result<(), DispatchFault> {
        let kernarg = Block::new(self.metadata.kernarg_segment_size as usize);
        let mut ranges = vec![(kernarg.address(), self.metadata.kernarg_segment_size as usize, false)];
        let explicit = self.metadata.args.iter().filter(|a| !a.value_kind.is_hidden()).collect::<Vec<_>>();
        assert_eq!(explicit.len(), args.len(), "arguments of {}", self.metadata.name);
        let write = |offset: u32, bytes: &[u8]| {
            // SAFETY: the metadata place every argument inside of the segment.
            unsafe {
                let at = kernarg.address.add(offset as usize);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
            }
        };
        for (place, arg) in explicit.iter().zip(args) {
            let pointer = match arg {
                Arg::Input(data) => {
                    ranges.push((data.as_ptr() as u64, data.len(), false));
                    data.as_ptr() as u64
                }
                Arg::Output(data) => {
                    ranges.push((data.as_mut_ptr() as u64, data.len(), true));
                    data.as_mut_ptr() as u64
                }
                Arg::Value(bytes) => {
                    assert_eq!(
                        place.size as usize,
                        bytes.len(),
                        "size of an argument of {}",
                        self.metadata.name
                    );
                    write(place.offset, bytes);
                    continue;
                }
            };
            write(place.offset, &pointer.to_le_bytes());
        }
        for arg in self.metadata.args.iter().filter(|a| a.value_kind.is_hidden()) {
            let value = hidden(&arg.value_kind, grid, block, lds);
            write(arg.offset, &value.to_le_bytes()[..arg.size as usize]);
        }
        for &(start, bytes, writable) in &ranges {
            let (end, grain) = (start + bytes as u64, Grain::Fine);
            self.map.insert(Allocation { start, end, writable, grain, socket: None, backing: None });
        }
        let stack = if self.metadata.uses_dynamic_stack { DYNAMIC_STACK } else { 0 };
        let launch = Launch {
            workgroup: block,
            grid,
            private_bytes: self.metadata.private_segment_fixed_size + stack,
            group_bytes: self.metadata.group_segment_fixed_size + lds,
            kernel_object: self.descriptor,
            kernarg: kernarg.address(),
            packet: 0,
            queue: 0,
            dispatch_id: 0,
        };
        let result = self.dispatch(launch, threads);
        for (start, ..) in ranges {
            self.map.remove(start);
        }
        result
    }

    fn dispatch(&self, launch: Launch, threads: usize) -> Result<(), DispatchFault> {
        let environment = Environment {
            target: self.target,
            units: Arc::new([0, 1, 2, 3]),
            dies: 1,
            residency: Arc::new(Residency::new(4, 32)),
            surroundings: Surroundings {
                map: Arc::clone(&self.map),
                apertures: Apertures::default(),
                host: Arc::new(Deaf),
            },
            code: self.code.snapshot(),
        };
        let dispatch =
            Arc::new(Dispatch::new(&environment, launch).expect("tests launch what can be launched"));
        if threads == 1 {
            return dispatch.run(&mut Worker::new());
        }
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| dispatch.run(&mut Worker::new()));
            }
        });
        assert!(dispatch.is_complete());
        dispatch.fault().cloned().map_or(Ok(()), Err)
    }
}

/// The hidden arguments that code without device libraries asks for; the others are 0.
fn hidden(kind: &ValueKind, grid: [u32; 3], block: [u16; 3], lds: u32) -> u64 {
    let count = |i: usize| u64::from(grid[i] / u32::from(block[i]));
    let remainder = |i: usize| u64::from(grid[i] % u32::from(block[i]));
    match kind {
        ValueKind::HiddenBlockCountX => count(0),
        ValueKind::HiddenBlockCountY => count(1),
        ValueKind::HiddenBlockCountZ => count(2),
        ValueKind::HiddenGroupSizeX => block[0].into(),
        ValueKind::HiddenGroupSizeY => block[1].into(),
        ValueKind::HiddenGroupSizeZ => block[2].into(),
        ValueKind::HiddenRemainderX => remainder(0),
        ValueKind::HiddenRemainderY => remainder(1),
        ValueKind::HiddenRemainderZ => remainder(2),
        ValueKind::HiddenGridDims => 3,
        ValueKind::HiddenDynamicLdsSize => lds.into(),
        ValueKind::HiddenPrivateBase => Apertures::default().private >> 32,
        ValueKind::HiddenSharedBase => Apertures::default().shared >> 32,
        _ => 0,
    }
}
