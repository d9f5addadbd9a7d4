//! Arrays by handle.
//!
//! A client of HIP 5 may read the structure that its header shows behind the handle, so a handle is the address of
//! one. It is only looked up, never followed. The structures of freed arrays rest for a while before their addresses
//! can name new ones, so that a stale handle finds nothing.

use std::collections::{BTreeMap, VecDeque};

use aqlipse::memory::Array;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    error::hipError_t,
    types::{hipArray, hipArray_t},
};

/// Structures that rest at most: 64 bytes each.
const RESTING: usize = 4096;

/// An array that a handle names.
#[derive(Clone)]
pub struct Known {
    pub array: Array,
    /// The flags that it was made with.
    pub flags: u32,
    /// Whether it is a level of a mipmapped array, and ends with that.
    pub is_level: bool,
}

struct Arrays {
    live: BTreeMap<usize, (Box<hipArray>, Known)>,
    resting: VecDeque<Box<hipArray>>,
}

static ARRAYS: Mutex<Arrays> = Mutex::new(Arrays { live: BTreeMap::new(), resting: VecDeque::new() });

fn arrays() -> MutexGuard<'static, Arrays> {
    ARRAYS.lock()
}

/// A handle for a new array, with what clients see behind it.
pub fn insert(seen: hipArray, known: Known) -> hipArray_t {
    let seen = Box::new(seen);
    let handle = (&raw const *seen).addr();
    arrays().live.insert(handle, (seen, known));
    hipArray_t(handle)
}

/// The array behind a handle.
pub fn get(handle: hipArray_t) -> Option<Known> {
    arrays().live.get(&handle.0).map(|(_, known)| known.clone())
}

/// Makes a handle stale.
pub fn remove(handle: hipArray_t) {
    let mut arrays = arrays();
    if let Some((seen, _)) = arrays.live.remove(&handle.0) {
        arrays.resting.push_back(seen);
        if arrays.resting.len() > RESTING {
            arrays.resting.pop_front();
        }
    }
}

/// The live array that starts at a device address, and its handle.
pub fn at(address: u64) -> Option<(hipArray_t, Array)> {
    let arrays = arrays();
    let mut all = arrays.live.iter();
    let (handle, (_, known)) =
        all.find(|(_, (_, known))| known.array.address() == address && known.array.is_alive())?;
    Some((hipArray_t(*handle), known.array.clone()))
}

/// The array behind a handle.
///
/// # Errors
/// `code` for one that does not exist (any more).
pub fn living_or(handle: hipArray_t, code: hipError_t) -> Result<Array, hipError_t> {
    get(handle).map(|known| known.array).filter(Array::is_alive).ok_or(code)
}
