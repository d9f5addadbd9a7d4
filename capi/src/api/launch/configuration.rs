//! The launch configuration that `<<<...>>>` pushes and the kernel's host stub pops; before HIP 4 the stub added the
//! arguments one by one and had the launch pop it.

use std::{cell::RefCell, ffi::c_void};

use super::kernel::launch_packed;
use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue, hipErrorMissingConfiguration, hipErrorOutOfMemory},
    types::{dim3, hipStream_t},
};

/// What stands between the angle brackets, and the arguments that the oldest stubs add.
struct Configuration {
    grid: dim3,
    block: dim3,
    shared_bytes: usize,
    stream: hipStream_t,
    arguments: Vec<u8>,
}

/// No kernel takes more bytes of arguments: clang refuses them long before.
const MOST_ARGUMENT_BYTES: usize = 1 << 20;

thread_local! {
    // A stack: the arguments of a launch are evaluated after its push, and may launch in turn.
    static PUSHED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Works on the calling thread's stack; fails while the thread is being torn down.
fn with_stack<T>(
    work: impl FnOnce(&mut Vec<Configuration>) -> Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    PUSHED
        .try_with(|stack| work(&mut *stack.try_borrow_mut().map_err(|_| hipErrorMissingConfiguration)?))
        .unwrap_or(Err(hipErrorMissingConfiguration))
}

fn push(grid: dim3, block: dim3, shared_bytes: usize, stream: hipStream_t) -> Result<(), hipError_t> {
    with_stack(|stack| {
        stack.try_reserve(1).map_err(|_| hipErrorOutOfMemory)?;
        stack.push(Configuration { grid, block, shared_bytes, stream, arguments: Vec::new() });
        Ok(())
    })
}

fn pop_top() -> Result<Configuration, hipError_t> {
    with_stack(|stack| stack.pop().ok_or(hipErrorMissingConfiguration))
}

entry! {
    /// Pushes a launch configuration on the calling thread's stack: for the kernel's host stub, or for
    /// [`hipSetupArgument`] and [`hipLaunchByPtr`].
    fn __hipPushCallConfiguration, hipConfigureCall(grid: dim3, block: dim3, shared_bytes: usize, stream: hipStream_t) -> hipError_t {
        push(grid, block, shared_bytes, stream)
    }
}

entry! {
    /// Copies an argument to its offset among those of the configuration that was pushed last.
    fn hipSetupArgument(argument: *const c_void, bytes: usize, offset: usize) -> hipError_t {
        let end = offset.checked_add(bytes).filter(|&end| end <= MOST_ARGUMENT_BYTES).ok_or(hipErrorInvalidValue)?;
        // SAFETY: the caller's argument, null or readable.
        let argument = unsafe { caller::read_slice(argument.cast::<u8>(), bytes) }?;
        with_stack(|stack| {
            let arguments = &mut stack.last_mut().ok_or(hipErrorMissingConfiguration)?.arguments;
            if arguments.len() < end {
                arguments.resize(end, 0);
            }
            arguments[offset..end].copy_from_slice(&argument);
            Ok(())
        })
    }
}

entry! {
    /// Pops the configuration that was pushed last on the calling thread and launches a host function's kernel with it.
    fn hipLaunchByPtr(function: *const c_void) -> hipError_t {
        let top = pop_top()?;
        // SAFETY: the arguments are those that the caller has set up for the kernel.
        unsafe { launch_packed(function, top.grid, top.block, top.shared_bytes, top.stream, &top.arguments) }
    }
}

entry! {
    /// Pops the launch configuration that was pushed last on the calling thread.
    fn __hipPopCallConfiguration(
        grid: *mut dim3,
        block: *mut dim3,
        shared_bytes: *mut usize,
        stream: *mut hipStream_t,
    ) -> hipError_t {
        if grid.is_null() || block.is_null() || shared_bytes.is_null() || stream.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let top = pop_top()?;
        // SAFETY: the caller's pointers, which are not null and so writable.
        unsafe {
            caller::write(grid, top.grid)?;
            caller::write(block, top.block)?;
            caller::write(shared_bytes, top.shared_bytes)?;
            caller::write(stream, top.stream)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::hipSuccess;

    const BLOCK: dim3 = dim3 { x: 64, y: 1, z: 1 };

    fn push(x: u32) -> hipError_t {
        // SAFETY: no pointers are passed.
        unsafe { __hipPushCallConfiguration(dim3 { x, y: 2, z: 3 }, BLOCK, 4, hipStream_t(5)) }
    }

    fn pop() -> (hipError_t, u32, usize, hipStream_t) {
        let (mut grid, mut block, mut shared_bytes, mut stream) = (BLOCK, BLOCK, 0, hipStream_t::NULL);
        // SAFETY: all four are writable.
        let code =
            unsafe { __hipPopCallConfiguration(&mut grid, &mut block, &mut shared_bytes, &mut stream) };
        (code, grid.x, shared_bytes, stream)
    }

    #[test]
    fn arguments_belong_to_the_configuration_on_top() {
        let argument = |value: u32, offset| {
            // SAFETY: the argument is readable.
            unsafe { hipSetupArgument((&raw const value).cast(), 4, offset) }
        };
        assert_eq!(argument(1, 0), hipErrorMissingConfiguration);
        assert_eq!((push(1), argument(7, 4)), (hipSuccess, hipSuccess));
        assert_eq!((push(2), argument(9, 0)), (hipSuccess, hipSuccess));
        assert_eq!(argument(9, usize::MAX), hipErrorInvalidValue);
        assert_eq!(argument(9, MOST_ARGUMENT_BYTES - 3), hipErrorInvalidValue);
        assert_eq!(pop_top().map(|top| top.arguments), Ok(vec![9, 0, 0, 0]));
        assert_eq!(pop_top().map(|top| top.arguments), Ok(vec![0, 0, 0, 0, 7, 0, 0, 0]));
    }

    // proves: __hipPushCallConfiguration, __hipPopCallConfiguration
    #[test]
    fn configurations_pop_in_reverse_order() {
        assert_eq!(push(1), hipSuccess);
        assert_eq!(push(2), hipSuccess);
        assert_eq!(pop(), (hipSuccess, 2, 4, hipStream_t(5)));
        assert_eq!(pop(), (hipSuccess, 1, 4, hipStream_t(5)));
        assert_eq!(pop().0, hipErrorMissingConfiguration);
    }

    #[test]
    fn a_null_result_leaves_the_configuration_pushed() {
        assert_eq!(push(7), hipSuccess);
        let null = std::ptr::null_mut();
        // SAFETY: null is refused.
        let code =
            unsafe { __hipPopCallConfiguration(null, null, std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(code, hipErrorInvalidValue);
        assert_eq!(pop().1, 7);
    }

    #[test]
    fn each_thread_has_its_own_stack() {
        assert_eq!(push(1), hipSuccess);
        assert_eq!(std::thread::spawn(|| pop().0).join().unwrap(), hipErrorMissingConfiguration);
        assert_eq!(pop().0, hipSuccess);
    }
}
