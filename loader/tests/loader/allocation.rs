//! An allocator that remembers the largest request, so that tests can see what a file makes the loader ask
//! for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Recording;

#[global_allocator]
static ALLOCATOR: Recording = Recording;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

fn record(bytes: usize) {
    // While a thread ends its value may be gone; nothing asks for it then.
    LARGEST.try_with(|largest| largest.set(largest.get().max(bytes))).ok();
}

// SAFETY: every request is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Recording {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        record(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        record(new_size);
        // SAFETY: the caller keeps `realloc`'s contract; the block came from the system's allocator.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract; the block came from the system's allocator.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Runs `work` and returns the bytes of the largest single allocation that this thread made in it.
pub fn largest_in(work: impl FnOnce()) -> usize {
    LARGEST.set(0);
    work();
    LARGEST.get()
}

#[test]
fn the_largest_allocation_is_seen() {
    let bytes = largest_in(|| drop(std::hint::black_box(vec![1u8; 54_321])));
    assert_eq!(bytes, 54_321);
}
