//! A sequence whose items stay where they are while it grows.

use std::ops::{Index, IndexMut};

/// Items of a chunk: enough that the allocator is asked rarely, and few enough that it takes them from what it has
/// rather than from the system.
const CHUNK: usize = 64;

/// Items by number, as in a vector. One that grows by moving would, for nodes, copy each of them once more and leave
/// behind as much memory as they take.
#[derive(Debug, Clone)]
pub(super) struct Chunks<T>(Vec<Vec<T>>);

impl<T> Chunks<T> {
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends an item, and returns where it is.
    #[inline]
    pub fn push(&mut self, item: T) -> &mut T {
        if self.0.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.begin_chunk();
        }
        let at = self.0.len() - 1;
        self.0[at].push_mut(item)
    }

    /// The first chunk grows as a vector does, for most graphs are small.
    #[cold]
    fn begin_chunk(&mut self) {
        self.0.push(Vec::with_capacity(if self.0.is_empty() { 0 } else { CHUNK }));
    }

    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.0.last_mut()?.last_mut()
    }

    /// Takes the last item away.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.0.last_mut()?.pop();
        self.0.pop_if(|chunk| chunk.is_empty());
        item
    }

    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at / CHUNK)?.get(at % CHUNK)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }

    /// What `make` makes of each item and its number, under the same numbers.
    pub fn map<'a, U>(&'a self, mut make: impl FnMut(usize, &'a T) -> U) -> Chunks<U> {
        let mut at = 0;
        let mut one = |item| {
            at += 1;
            make(at - 1, item)
        };
        Chunks(self.0.iter().map(|chunk| chunk.iter().map(&mut one).collect()).collect())
    }

    /// Keeps the items for which `keeps` holds, in their order; they move up.
    pub fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        *self = std::mem::take(&mut self.0).into_iter().flatten().filter(|item| keeps(item)).collect();
    }
}

impl<T> FromIterator<T> for Chunks<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut chunks = Self::new();
        for item in items {
            chunks.push(item);
        }
        chunks
    }
}

impl<T> Index<usize> for Chunks<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.0[at / CHUNK][at % CHUNK]
    }
}

impl<T> IndexMut<usize> for Chunks<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.0[at / CHUNK][at % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_the_numbers_of_a_vector_and_stay_where_they_are() {
        let mut chunks = Chunks::new();
        (0..CHUNK).for_each(|n| *chunks.push(0) = n);
        let places: Vec<*const usize> = chunks.iter().map(|item| item as *const usize).collect();
        (CHUNK..3 * CHUNK + 1).for_each(|n| *chunks.push(0) = n);
        assert!(chunks.iter().zip(&places).all(|(item, &place)| std::ptr::eq(item, place)));
        assert!(chunks.iter().copied().eq(0..3 * CHUNK + 1));
        chunks[CHUNK] = 7;
        assert_eq!([chunks[CHUNK - 1], chunks[CHUNK], chunks[CHUNK + 1]], [CHUNK - 1, 7, CHUNK + 1]);
        assert_eq!((chunks.get(3 * CHUNK), chunks.get(3 * CHUNK + 1)), (Some(&(3 * CHUNK)), None));
    }

    #[test]
    fn what_is_kept_moves_up() {
        let mut chunks: Chunks<usize> = (0..5 * CHUNK).collect();
        chunks.retain(|n| n % 3 == 0);
        assert!(chunks.iter().copied().eq((0..5 * CHUNK).step_by(3)));
        assert_eq!(chunks.get(CHUNK), Some(&(3 * CHUNK)));
        chunks.push(1);
        assert_eq!(chunks.iter().last(), Some(&1));
    }

    #[test]
    fn what_items_become_has_their_numbers() {
        let chunks: Chunks<usize> = (0..2 * CHUNK + 5).collect();
        let doubled = chunks.map(|at, item| at + item);
        assert!(doubled.iter().copied().eq((0..2 * CHUNK + 5).map(|n| 2 * n)));
        assert_eq!(doubled.get(CHUNK), Some(&(2 * CHUNK)));
    }

    #[test]
    fn what_is_taken_away_leaves_room_for_another() {
        let mut chunks: Chunks<usize> = (0..CHUNK + 1).collect();
        assert_eq!([chunks.pop(), chunks.pop()], [Some(CHUNK), Some(CHUNK - 1)]);
        chunks.push(7);
        chunks.push(8);
        assert_eq!((chunks[CHUNK - 1], chunks[CHUNK], chunks.iter().count()), (7, 8, CHUNK + 1));
        assert_eq!(Chunks::<usize>::new().pop(), None);
    }
}
