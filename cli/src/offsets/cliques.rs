//! Sets of buffers that are all alive together, by which a search sees that a branch leads nowhere.

use std::cmp::Reverse;

use aqlipse_graph::antichain::bits::Bits;

use super::buffer::Buffer;

/// A set, and for each buffer one with it that is as heavy as can be told at a glance: with the largest first.
pub(super) fn grow(given: &[u32], buffers: &[Buffer], conflicts: &[Bits]) -> Vec<Vec<u32>> {
    let with = |i: usize| {
        let mut common = conflicts[i].clone();
        // CAST: a problem numbers its buffers so.
        let mut clique = vec![i as u32];
        let mut others: Vec<u32> = common.iter().map(|j| j as u32).collect();
        others.sort_by_key(|&j| Reverse(buffers[j as usize].bytes));
        for j in others {
            if common.contains(j as usize) {
                clique.push(j);
                common.intersect(&conflicts[j as usize]);
            }
        }
        clique
    };
    std::iter::once(given.to_vec()).chain((0..buffers.len()).map(with)).collect()
}

/// The sets that are no part of another, without what takes no bytes.
pub(super) fn maximal(mut cliques: Vec<Vec<u32>>, buffers: &[Buffer]) -> Vec<Vec<u32>> {
    cliques.iter_mut().for_each(|clique| clique.retain(|&i| buffers[i as usize].bytes > 0));
    cliques.sort_by_key(|clique| Reverse(clique.len()));
    let mut kept: Vec<(Bits, Vec<u32>)> = Vec::new();
    for clique in cliques.into_iter().filter(|clique| !clique.is_empty()) {
        if kept.iter().any(|(bits, _)| clique.iter().all(|&i| bits.contains(i as usize))) {
            continue;
        }
        let mut bits = Bits::new(buffers.len());
        clique.iter().for_each(|&i| bits.insert(i as usize));
        kept.push((bits, clique));
    }
    kept.into_iter().map(|(_, clique)| clique).collect()
}
