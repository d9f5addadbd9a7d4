use fastrand::Rng;

use super::{Allocation, Grain, Map};

fn range(start: u64, end: u64) -> Allocation {
    Allocation { start, end, writable: true, grain: Grain::Fine, socket: None, backing: None }
}

#[test]
fn finds_only_addresses_inside_a_range() {
    let map = Map::default();
    map.insert(range(0x2000, 0x3000));
    map.insert(range(0x1000, 0x1010));
    let snapshot = map.snapshot();
    assert_eq!(snapshot.find(0x100f).map(|a| a.start), Some(0x1000));
    assert!(snapshot.find(0x1010).is_none());
    assert!(snapshot.find(0xfff).is_none());
    assert_eq!(snapshot.find(0x2fff).map(|a| a.start), Some(0x2000));
    assert!(snapshot.find(u64::MAX).is_none());
}

#[test]
fn nearest_measures_to_both_sides() {
    let map = Map::default();
    assert!(map.snapshot().nearest(5).is_none());
    map.insert(range(0x1000, 0x2000));
    map.insert(range(0x9000, 0xa000));
    let snapshot = map.snapshot();
    assert_eq!(snapshot.nearest(0x2008).map(|a| a.start), Some(0x1000));
    assert_eq!(snapshot.nearest(0x8ff8).map(|a| a.start), Some(0x9000));
    assert_eq!(snapshot.nearest(0).map(|a| a.start), Some(0x1000));
    assert_eq!(snapshot.nearest(u64::MAX).map(|a| a.start), Some(0x9000));
}

#[test]
fn a_snapshot_keeps_what_was_removed_later() {
    let map = Map::default();
    map.insert(range(0x1000, 0x2000));
    let before = map.snapshot();
    assert_eq!(map.remove(0x1000).map(|a| a.end), Some(0x2000));
    assert!(map.remove(0x1000).is_none());
    assert!(before.find(0x1000).is_some());
    assert!(map.snapshot().find(0x1000).is_none());
    assert!(map.snapshot().is_empty());
}

#[test]
fn covers_joins_adjoining_ranges_and_minds_write_permission() {
    let map = Map::default();
    map.insert(range(0x1000, 0x2000));
    map.insert(Allocation { writable: false, ..range(0x2000, 0x3000) });
    let snapshot = map.snapshot();
    assert!(snapshot.covers(0x1000, 0x3000, false));
    assert!(!snapshot.covers(0x1000, 0x3000, true));
    assert!(!snapshot.covers(0x1000, 0x3001, false));
}

#[test]
fn agrees_with_a_plain_list_over_many_changes() {
    let map = Map::default();
    let mut model = std::collections::BTreeMap::new();
    let mut random = Rng::with_seed(1);
    for step in 0..20_000u64 {
        let start = random.u64(..4096) * 16;
        if model.remove(&start).is_some() {
            assert_eq!(map.remove(start).map(|a| a.start), Some(start));
        } else {
            let end = start + 1 + random.u64(..16);
            model.insert(start, end);
            map.insert(range(start, end));
        }
        if step % 64 == 0 {
            let snapshot = map.snapshot();
            assert_eq!(snapshot.len(), model.len());
            for probe in (0..65_536).step_by(97) {
                let expected = model.range(..=probe).next_back().filter(|(_, end)| probe < **end);
                assert_eq!(snapshot.find(probe).map(|a| a.start), expected.map(|(start, _)| *start));
            }
        }
    }
}
