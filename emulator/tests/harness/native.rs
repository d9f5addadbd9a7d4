//! The same source on the host's CPU: what the emulator's results are compared with.

use std::{ffi::c_void, sync::Barrier};

use bytemuck::Pod;
use emulator::isa::Target;

use super::{compile, everywhere, input, kernel, output, value};

/// Most arguments of a kernel that runs on the host: as many as System V passes in registers.
const ARGUMENTS: usize = 6;
/// Bytes of stack of a work-item's thread.
const STACK: usize = 256 << 10;

/// A source compiled for the host.
pub struct Native(libloading::Library);

/// `WorkItem` of the prelude.
#[repr(C)]
struct WorkItem {
    item: u32,
    group: u32,
    size: u32,
    barrier: *const c_void,
    wait: unsafe extern "C" fn(*const c_void),
}

/// Compiles `source` for the host; `None` without a compiler.
pub fn native(source: &str) -> Option<Native> {
    let path = compile::host(source)?;
    // SAFETY: the library is ours and runs no code when it is loaded.
    Some(Native(unsafe { libloading::Library::new(path) }.expect("the library was just linked")))
}

impl Native {
    /// Calls the function that `MAP(name, In, Out)` defined.
    ///
    /// # Panics
    /// Where the library has no such function.
    fn map<In: Pod, Out: Pod>(&self, name: &str, input: &[In], output: &mut [Out]) {
        type Map<In, Out> = unsafe extern "C" fn(*const In, *mut Out, u32);
        // SAFETY: MAP gives the function this type.
        let function = unsafe { self.0.get::<Map<In, Out>>(name.as_bytes()) }.expect("the source has a MAP");
        assert_eq!(input.len(), output.len());
        // SAFETY: both slices have as many elements as the function is told.
        unsafe { function(input.as_ptr(), output.as_mut_ptr(), input.len() as u32) };
    }

    /// Runs a `KERNEL` whose parameters are pointers and integers, a thread for each work-item of a workgroup, one
    /// workgroup after the other.
    ///
    /// # Panics
    /// Where the library has no such function, or it has too many parameters.
    ///
    /// # Safety
    /// The arguments are what the kernel expects, and memory that they point to is as large as it believes.
    pub unsafe fn launch(&self, name: &str, groups: u32, size: u32, args: &[usize]) {
        type Enter = unsafe extern "C" fn(*const WorkItem);
        type Entry = unsafe extern "C" fn(usize, usize, usize, usize, usize, usize);
        assert!(args.len() <= ARGUMENTS);
        let [a, b, c, d, e, f] = std::array::from_fn(|i| args.get(i).copied().unwrap_or(0));
        // SAFETY: the prelude gives the function this type.
        let enter = *unsafe { self.0.get::<Enter>(b"enter") }.expect("the prelude defines it");
        // SAFETY: the caller says that the kernel takes integers and pointers; those beyond its parameters sit in
        // registers that it does not read.
        let entry = *unsafe { self.0.get::<Entry>(name.as_bytes()) }.expect("the source has this kernel");
        let barrier = Barrier::new(size as usize);
        std::thread::scope(|scope| {
            for item in 0..size {
                let barrier = &barrier;
                let work = move || {
                    for group in 0..groups {
                        let barrier = std::ptr::from_ref(barrier).cast();
                        // SAFETY: the function copies the structure; the barrier outlives the scope.
                        unsafe { enter(&WorkItem { item, group, size, barrier, wait }) };
                        // SAFETY: as the caller promises.
                        unsafe { entry(a, b, c, d, e, f) };
                        // SAFETY: as above. LDS belongs to the next workgroup only when all are done with it.
                        unsafe { wait(barrier) };
                    }
                };
                std::thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, work)
                    .expect("a workgroup has at most 1024 work-items");
            }
        });
    }
}

/// The host's `barrier()`.
unsafe extern "C" fn wait(barrier: *const c_void) {
    // SAFETY: `launch` passes a barrier that lives until all its threads are done.
    unsafe { &*barrier.cast::<Barrier>() }.wait();
}

/// Runs the `MAP(name, In, Out)` of `source` on the host and on the emulator, at every level and target, and demands
/// the same bytes. `blank` fills the outputs before.
///
/// # Panics
/// At the first difference.
pub fn compare<In: Pod + std::fmt::Debug, Out: Pod + PartialEq + std::fmt::Debug>(
    source: &str,
    name: &str,
    inputs: &[In],
    blank: Out,
) {
    let Some(host) = native(source) else { return };
    let mut expected = vec![blank; inputs.len()];
    host.map(name, inputs, &mut expected);
    for (target, level) in everywhere() {
        let actual = on_device(source, name, inputs, blank, (target, level));
        for (i, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            let same = bytemuck::bytes_of(actual) == bytemuck::bytes_of(expected);
            assert!(same, "{name} {target:?} {level:?}: {:?} gives {actual:?}, not {expected:?}", inputs[i]);
        }
    }
}

fn on_device<In: Pod, Out: Pod>(
    source: &str,
    name: &str,
    inputs: &[In],
    blank: Out,
    (target, level): (Target, super::Level),
) -> Vec<Out> {
    let mut outputs = vec![blank; inputs.len()];
    let Some(kernel) = kernel(source, name, target, level) else { return outputs };
    let count = inputs.len() as u32;
    let groups = count.div_ceil(256);
    kernel
        .run([groups, 1, 1], [256, 1, 1], &mut [input(inputs), output(&mut outputs), value(count)], 0)
        .unwrap_or_else(|fault| panic!("{name} {target:?} {level:?}: {fault}"));
    outputs
}
