//! User objects: resources whose destructor runs when the last reference of the caller, a graph, an executable or a
//! launch is gone.

use std::{
    ffi::{c_uint, c_void},
    sync::{
        Arc, Once,
        atomic::{AtomicUsize, Ordering},
    },
};

use aqlipse::{UserObject, destructors};

use crate::{
    caller,
    error::{hipError_t, hipErrorInvalidValue},
    handle::{Kind, Table},
    object,
    types::*,
};

/// The objects whose destructor has not been called yet.
static OBJECTS: Table<UserObject> = Table::new(Kind::UserObject);

fn object_of(handle: hipUserObject_t) -> Result<UserObject, hipError_t> {
    OBJECTS.get(handle.0).ok_or(hipErrorInvalidValue)
}

/// The object behind a handle; none if its destructor was called. A caller that gives up references that are gone has
/// none any more.
fn object_or_gone(handle: hipUserObject_t) -> Result<Option<UserObject>, hipError_t> {
    match OBJECTS.get(handle.0) {
        None if OBJECTS.was_living(handle.0) => Ok(None),
        found => found.map(Some).ok_or(hipErrorInvalidValue),
    }
}

fn check(count: c_uint) -> Result<(), hipError_t> {
    if (1..=i32::MAX as c_uint).contains(&count) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Lets the end of the process leave destructors out that no call of the program's is there to run. The objects of a program
/// that end with it come before this: they were made before it created user objects.
fn stop_at_exit() {
    static ONCE: Once = Once::new();
    extern "C" fn stop() {
        destructors::stop();
    }
    ONCE.call_once(|| {
        // SAFETY: the function may be called whenever the process ends. A refusal changes nothing until then.
        let _ = unsafe { libc::atexit(stop) };
    });
}

entry! {
    /// Creates an object with references that the caller owns.
    fn hipUserObjectCreate(
        object: *mut hipUserObject_t,
        resource: *mut c_void,
        destroy: hipHostFn_t,
        count: c_uint,
        flags: c_uint,
    ) -> hipError_t {
        let destroy = destroy.ok_or(hipErrorInvalidValue)?;
        if object.is_null() || flags != hipUserObjectNoDestructorSync.0 {
            return Err(hipErrorInvalidValue);
        }
        stop_at_exit();
        // The object is made before its handle, which its end takes away.
        let handle = Arc::new(AtomicUsize::new(0));
        let (known_as, resource) = (handle.clone(), resource as usize);
        let made = UserObject::of_calls(count, move || {
            let word = known_as.load(Ordering::Acquire);
            if word == 0 {
                // The caller was never given the object, and keeps the resource.
                return;
            }
            OBJECTS.remove(word);
            // SAFETY: the caller's destructor and its argument; it is called once, when nothing holds the object.
            unsafe { destroy(resource as *mut c_void) };
        })?;
        let inserted = OBJECTS.give_with(|word| {
            handle.store(word, Ordering::Release);
            made
        })?;
        // SAFETY: the caller's pointer, which is not null.
        unsafe { caller::write(object, hipUserObject_t(inserted)) }
    }
}

entry! {
    /// Creates more references that the caller owns.
    fn hipUserObjectRetain(object: hipUserObject_t, count: c_uint) -> hipError_t {
        Ok(object_of(object)?.retain(count)?)
    }
}

entry! {
    /// Gives up references that the caller owns; more than it owns are all of them.
    fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t {
        check(count)?;
        object_or_gone(object)?.map_or(Ok(()), |object| Ok(object.release(count)?))
    }
}

entry! {
    /// Creates references that a graph owns; the caller gives up as many of its own, or all it has, if it moves them.
    fn hipGraphRetainUserObject(
        graph: hipGraph_t,
        object: hipUserObject_t,
        count: c_uint,
        flags: c_uint,
    ) -> hipError_t {
        let from_caller = flags == hipGraphUserObjectMove.0;
        if flags != 0 && !from_caller {
            return Err(hipErrorInvalidValue);
        }
        let object = object_of(object)?;
        object::graph(graph)?.with(|graph| Ok(graph.retain_object(&object, count, from_caller)?))
    }
}

entry! {
    /// Gives up references that a graph owns; more than it owns are all of them.
    fn hipGraphReleaseUserObject(graph: hipGraph_t, object: hipUserObject_t, count: c_uint) -> hipError_t {
        check(count)?;
        let object = object_or_gone(object)?;
        let graph = object::graph(graph)?;
        object.map_or(Ok(()), |object| graph.with(|graph| Ok(graph.release_object(&object, count)?)))
    }
}
