//! The same source on the host's CPU: what the emulator's results are compared with.

use bytemuck::Pod;
use emulator::isa::Target;

use super::{compile, everywhere, input, kernel, output, value};

/// A source compiled for the host.
struct Native(libloading::Library);

/// Compiles `source` for the host; `None` without a compiler.
fn native(source: &str) -> Option<Native> {
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
