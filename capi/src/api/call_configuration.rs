//! The launch configuration that `<<<...>>>` pushes and the kernel's host stub pops.

use std::cell::RefCell;

use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue, hipErrorMissingConfiguration, hipErrorOutOfMemory},
    types::{dim3, hipStream_t},
};

/// What stands between the angle brackets.
#[derive(Clone, Copy)]
struct Configuration {
    grid: dim3,
    block: dim3,
    shared_bytes: usize,
    stream: hipStream_t,
}

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

entry! {
    /// Pushes a launch configuration on the calling thread's stack.
    fn __hipPushCallConfiguration(grid: dim3, block: dim3, shared_bytes: usize, stream: hipStream_t) -> hipError_t {
        with_stack(|stack| {
            stack.try_reserve(1).map_err(|_| hipErrorOutOfMemory)?;
            stack.push(Configuration { grid, block, shared_bytes, stream });
            Ok(())
        })
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
        let top = with_stack(|stack| stack.pop().ok_or(hipErrorMissingConfiguration))?;
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
