//! User objects: resources whose destructor runs when the last reference of the caller, a graph, an executable or a
//! launch is gone.

use std::{
    ffi::{c_uint, c_void},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use aqlipse::UserObject;

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
        // The object is made before its handle, which its end takes away.
        let handle = Arc::new(AtomicUsize::new(0));
        let (known_as, resource) = (handle.clone(), resource as usize);
        let made = UserObject::new(count, move || {
            let word = known_as.load(Ordering::Acquire);
            if word == 0 {
                // The caller was never given the object, and keeps the resource.
                return;
            }
            OBJECTS.remove(word);
            // SAFETY: the caller's destructor and its argument; it is called once, when nobody holds the object.
            unsafe { destroy(resource as *mut c_void) };
        })?;
        let inserted = OBJECTS.insert_with(|word| {
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
    /// Gives up references that the caller owns.
    fn hipUserObjectRelease(object: hipUserObject_t, count: c_uint) -> hipError_t {
        Ok(object_of(object)?.release(count)?)
    }
}

entry! {
    /// Creates references that a graph owns, or gives it as many of the caller's.
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
    /// Gives up references that a graph owns.
    fn hipGraphReleaseUserObject(graph: hipGraph_t, object: hipUserObject_t, count: c_uint) -> hipError_t {
        let object = object_of(object)?;
        object::graph(graph)?.with(|graph| Ok(graph.release_object(&object, count)?))
    }
}
