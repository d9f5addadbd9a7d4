//! Arrays that the parameters of a node point to when a caller asks for them: the library's, valid until the node
//! changes or its graph goes.

use std::{collections::HashMap, sync::Mutex};

use aqlipse::graph::NodeId;

use crate::{graph_ref, locks};

/// Arrays of words.
type Arrays = Vec<Box<[u64]>>;

/// The arrays of each node.
static VIEWS: Mutex<Option<HashMap<u64, Arrays>>> = Mutex::new(None);

/// Keeps `arrays` for a node and says where each is. A node whose arrays are still the same keeps the old ones: callers
/// may point to them.
pub(super) fn keep(node: NodeId, arrays: Arrays) -> Vec<*mut u64> {
    let mut views = locks::lock(&VIEWS);
    let kept = views.get_or_insert_default().entry(node.to_bits()).or_default();
    if *kept != arrays {
        *kept = arrays;
    }
    kept.iter_mut().map(|array| array.as_mut_ptr()).collect()
}

/// Forgets the arrays of nodes whose graphs are gone.
pub(super) fn forget() {
    let mut views = locks::lock(&VIEWS);
    if let Some(views) = views.as_mut() {
        views
            .retain(|bits, _| NodeId::from_bits(*bits).is_some_and(|node| graph_ref::graph_of(node).is_ok()));
    }
}
