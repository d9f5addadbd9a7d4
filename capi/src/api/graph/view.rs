//! What callers may point to of nodes whose parameters they asked for: the library's, valid until the node changes or its
//! graph goes.

use std::collections::BTreeMap;

use aqlipse::graph::NodeId;
use parking_lot::{Mutex, MutexGuard};

use crate::{
    graph_ref,
    types::{hipMemAccessDesc, hipMemAllocNodeParams},
};

/// What is kept of nodes, by the bits of the node.
pub(super) struct Views<T>(Mutex<BTreeMap<u64, T>>);

impl<T> Views<T> {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, T>> {
        self.0.lock()
    }

    /// Forgets the nodes whose graphs are gone.
    fn forget(&self) {
        let lives = |bits| NodeId::from_bits(bits).is_some_and(|node| graph_ref::graph_of(node).is_ok());
        self.lock().retain(|bits, _| lives(*bits));
    }
}

/// Arrays of words.
type Arrays = Vec<Box<[u64]>>;

static ARRAYS: Views<Arrays> = Views::new();

/// Arguments of kernel nodes.
pub(super) static KERNELS: Views<KernelView> = Views::new();

/// What allocation nodes were made with.
pub(super) static ALLOCATIONS: Views<AllocationView> = Views::new();

/// The arguments of a kernel node.
#[derive(Default)]
pub(super) struct KernelView {
    pub(super) bytes: Box<[u8]>,
    pub(super) pointers: Box<[usize]>,
}

pub(super) enum AllocationView {
    /// What the node was made with. It is given back as it was given, pointers included.
    Given(hipMemAllocNodeParams),
    /// Access descriptors of a node that a capture made, as callers may point to them.
    Descriptors(Box<[hipMemAccessDesc]>),
}

// SAFETY: the pointers are only given back.
unsafe impl Send for AllocationView {}

/// Keeps `arrays` for a node and says where each is. A node whose arrays are still the same keeps the old ones: callers
/// may point to them.
pub(super) fn keep(node: NodeId, arrays: Arrays) -> Vec<*mut u64> {
    let mut views = ARRAYS.lock();
    let kept = views.entry(node.to_bits()).or_default();
    if *kept != arrays {
        *kept = arrays;
    }
    kept.iter_mut().map(|array| array.as_mut_ptr()).collect()
}

/// Forgets what is kept of nodes whose graphs are gone.
pub(super) fn forget() {
    ARRAYS.forget();
    KERNELS.forget();
    ALLOCATIONS.forget();
}
