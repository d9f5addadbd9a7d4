//! What a graph keeps alive because it was told to: references to resources, counted for each.
//!
//! Every graph has its own, nested ones too. A copy of a graph has references of its own to the same resources.

use std::{any::Any, collections::BTreeMap, sync::Arc};

/// A resource that lives as long as it is held.
pub type Resource = Arc<dyn Any + Send + Sync>;

/// The references of one graph.
#[derive(Clone, Default)]
pub struct References(BTreeMap<u64, (Resource, u32)>);

impl References {
    /// Adds `count` references to the resource that is called `id`; says whether the sum can be counted.
    #[must_use]
    pub fn retain(&mut self, id: u64, resource: &Resource, count: u32) -> bool {
        let (_, held) = self.0.entry(id).or_insert_with(|| (resource.clone(), 0));
        let sum = held.checked_add(count);
        *held = sum.unwrap_or(*held);
        sum.is_some()
    }

    /// Gives `count` references up, or all if there are fewer. What is not held any more is handed over, to be dropped
    /// where no lock is held.
    pub fn release(&mut self, id: u64, count: u32) -> Option<Resource> {
        let (_, held) = self.0.get_mut(&id)?;
        *held = held.saturating_sub(count);
        if *held == 0 { self.0.remove(&id).map(|(resource, _)| resource) } else { None }
    }

    /// The number of references to the resource that is called `id`.
    pub fn count(&self, id: u64) -> u32 {
        self.0.get(&id).map_or(0, |(_, count)| *count)
    }

    /// The resources.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &Resource> {
        self.0.values().map(|(resource, _)| resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_counted_for_each_resource() {
        let (one, other): (Resource, Resource) = (Arc::new(1), Arc::new(2));
        let mut references = References::default();
        assert!(references.retain(1, &one, 2) && references.retain(2, &other, 1));
        assert!(references.release(3, 1).is_none(), "it is not held");
        assert!(references.release(1, 1).is_none());
        assert_eq!((references.count(1), references.resources().len()), (1, 2));
        let copy = references.clone();
        assert!(Arc::ptr_eq(&references.release(1, 7).unwrap(), &one), "no more than there are");
        assert_eq!((references.count(1), copy.count(1)), (0, 1));
    }

    #[test]
    fn a_sum_that_overflows_is_not_taken() {
        let (resource, mut references): (Resource, _) = (Arc::new(()), References::default());
        assert!(references.retain(1, &resource, u32::MAX) && !references.retain(1, &resource, 1));
        assert_eq!(references.count(1), u32::MAX);
    }
}
