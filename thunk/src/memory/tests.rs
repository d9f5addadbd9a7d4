use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use emulator::driver::{Access, Home};

use super::{
    Backing, Reach, Wanted,
    regions::{Allocation, Regions},
};
use crate::{
    abi::{
        HSA_POINTER_ALLOCATED, HSA_POINTER_REGISTERED_USER, HSAKMT_STATUS_ERROR,
        HSAKMT_STATUS_MEMORY_NOT_REGISTERED, MAP_READ_ONLY, MEM_EXECUTE_ACCESS, MEM_READ_ONLY,
    },
    entry::Result,
    topology::Nodes,
};

/// Devices that note what they reach and refuse what the emulator's maps may not hold.
#[derive(Default)]
struct Fake(RefCell<BTreeMap<(u32, u64), (u64, Access)>>);

impl Reach for Fake {
    fn show(&self, device: u32, start: u64, size: u64, access: Access, _: Option<Backing>) {
        let mut ranges = self.0.borrow_mut();
        let overlaps =
            |(&(d, s), &(e, _)): (&(u32, u64), &(u64, Access))| d == device && s < start + size && start < e;
        assert!(!ranges.iter().any(overlaps), "{start:#x} overlaps");
        ranges.insert((device, start), (start + size, access));
    }

    fn hide(&self, device: u32, start: u64) {
        assert!(self.0.borrow_mut().remove(&(device, start)).is_some(), "{start:#x} was not shown");
    }
}

impl Fake {
    fn access(&self, device: u32, address: u64) -> Option<Access> {
        let ranges = self.0.borrow();
        let (_, (end, access)) = ranges.range(..=(device, address)).rfind(|((d, _), _)| *d == device)?;
        (address < *end).then_some(*access)
    }

    fn reaches(&self, device: u32, address: u64) -> bool {
        self.access(device, address).is_some()
    }

    fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

fn allocation(base: u64, size: u64, flags: u32, scratch: bool) -> (Allocation, Weak<()>) {
    let backing = Arc::new(());
    let weak = Arc::downgrade(&backing);
    (Allocation::new(base, size, 1, flags, scratch, backing, None), weak)
}

fn map(regions: &mut Regions, fake: &Fake, address: u64, size: u64, nodes: &[u32]) -> Result {
    regions.map(fake, &Wanted { address, size, flags: 0, nodes: Some(nodes) })
}

#[test]
fn nothing_is_reachable_before_it_is_mapped_nor_after_it_is_unmapped() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 2)), Fake::default());
    regions.insert(allocation(0x10000, 0x4000, 0, false).0);
    assert!(fake.is_empty());
    map(&mut regions, &fake, 0x10000, 0x4000, &[1]).unwrap();
    assert!(fake.reaches(0, 0x13fff) && !fake.reaches(0, 0x14000) && !fake.reaches(1, 0x10000));
    regions.unmap(&fake, 0x10000).unwrap();
    assert!(fake.is_empty());
    assert_eq!(map(&mut regions, &fake, 0x14000, 1, &[1]), Err(HSAKMT_STATUS_ERROR));
}

#[test]
fn a_list_of_nodes_replaces_the_one_before() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 2)), Fake::default());
    regions.insert(allocation(0x10000, 0x4000, 0, false).0);
    map(&mut regions, &fake, 0x10000, 0x4000, &[1]).unwrap();
    map(&mut regions, &fake, 0x10000, 0x4000, &[0, 2]).unwrap();
    assert!(!fake.reaches(0, 0x10000) && fake.reaches(1, 0x10000));
    regions.map(&fake, &Wanted { address: 0x10000, size: 0, flags: 0, nodes: None }).unwrap();
    assert!(fake.reaches(0, 0x10000) && fake.reaches(1, 0x10000));
}

#[test]
fn flags_of_allocation_and_mapping_decide_the_access() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 1)), Fake::default());
    regions.insert(allocation(0x10000, 0x1000, MEM_READ_ONLY | MEM_EXECUTE_ACCESS, false).0);
    regions.insert(allocation(0x20000, 0x1000, 0, false).0);
    map(&mut regions, &fake, 0x10000, 0x1000, &[1]).unwrap();
    let wanted = Wanted { address: 0x20000, size: 0x1000, flags: MAP_READ_ONLY, nodes: None };
    regions.map(&fake, &wanted).unwrap();
    assert_eq!(
        fake.access(0, 0x10000),
        Some(Access { writable: false, executable: true, home: Home::Device })
    );
    assert_eq!(
        fake.access(0, 0x20000),
        Some(Access { writable: false, executable: false, home: Home::Device })
    );
}

#[test]
fn mapped_memory_is_not_freed_and_freed_memory_goes() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 1)), Fake::default());
    let (memory, backing) = allocation(0x10000, 0x1000, 0, false);
    regions.insert(memory);
    map(&mut regions, &fake, 0x10000, 0x1000, &[1]).unwrap();
    assert_eq!(regions.free(0x10000).map(drop), Err(HSAKMT_STATUS_ERROR));
    regions.unmap(&fake, 0x10000).unwrap();
    assert!(backing.upgrade().is_some());
    assert_eq!(regions.free(0x10800).map(drop), Err(HSAKMT_STATUS_ERROR));
    drop(regions.free(0x10000).unwrap());
    assert!(backing.upgrade().is_none());
    assert!(regions.pointer_info(0x10000).is_none());
}

#[test]
fn private_memory_is_mapped_in_parts() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 1)), Fake::default());
    regions.insert(allocation(0x100000, 0x100000, 0, true).0);
    map(&mut regions, &fake, 0x110000, 0x10000, &[1]).unwrap();
    map(&mut regions, &fake, 0x140000, 0x10000, &[1]).unwrap();
    assert!(!fake.reaches(0, 0x100000) && fake.reaches(0, 0x110000) && !fake.reaches(0, 0x120000));
    regions.unmap(&fake, 0x110000).unwrap();
    assert!(!fake.reaches(0, 0x110000) && fake.reaches(0, 0x140000));
    assert_eq!(map(&mut regions, &fake, 0x1f0000, 0x20000, &[1]), Err(HSAKMT_STATUS_ERROR));
    assert!(regions.pointer_info(0x140000).is_none());
}

#[test]
fn overlapping_registrations_keep_what_the_other_needs() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 1)), Fake::default());
    regions.register(0x10010, 0x5000, 0, None);
    map(&mut regions, &fake, 0x10010, 0x5000, &[1]).unwrap();
    regions.register(0x13800, 0x5000, 0, None);
    map(&mut regions, &fake, 0x13800, 0x5000, &[1]).unwrap();
    // Whole pages, as devices see them.
    assert!(fake.reaches(0, 0x10000) && fake.reaches(0, 0x18fff) && !fake.reaches(0, 0x19000));
    regions.unmap(&fake, 0x10010).unwrap();
    regions.deregister(&fake, 0x10010).unwrap();
    assert!(fake.reaches(0, 0x13800) && fake.reaches(0, 0x18000));
    regions.deregister(&fake, 0x13800).unwrap();
    assert!(fake.is_empty());
    assert_eq!(regions.deregister(&fake, 0x13800), Err(HSAKMT_STATUS_MEMORY_NOT_REGISTERED));
}

#[test]
fn a_range_registered_twice_stays_until_both_have_left() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 1)), Fake::default());
    for size in [0x1000, 0x3000] {
        regions.register(0x10000, size, 0, None);
        map(&mut regions, &fake, 0x10000, size, &[1]).unwrap();
    }
    regions.unmap(&fake, 0x10000).unwrap();
    regions.deregister(&fake, 0x10000).unwrap();
    assert!(fake.reaches(0, 0x10000) && fake.reaches(0, 0x12fff));
    regions.unmap(&fake, 0x10000).unwrap();
    assert!(fake.is_empty());
    regions.deregister(&fake, 0x10000).unwrap();
}

#[test]
fn registering_an_allocation_leaves_its_own_mapping_alone() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 2)), Fake::default());
    regions.insert(allocation(0x10000, 0x4000, 0, false).0);
    map(&mut regions, &fake, 0x10000, 0x4000, &[1]).unwrap();
    for start in [0x10000, 0x11000] {
        regions.register(start, 0x1000, 0, None);
        map(&mut regions, &fake, start, 0x1000, &[2]).unwrap();
        assert!(fake.reaches(0, 0x10000) && fake.reaches(1, start));
        regions.unmap(&fake, start).unwrap();
        regions.deregister(&fake, start).unwrap();
        assert!(fake.reaches(0, 0x10000) && fake.reaches(0, 0x13fff));
    }
}

#[test]
fn pointer_info_answers_for_interior_addresses() {
    let (mut regions, fake) = (Regions::new(Nodes::new(1, 2)), Fake::default());
    regions.insert(allocation(0x10000, 0x4000, 0, false).0);
    regions.register(0x30010, 0x100, 0, None);
    map(&mut regions, &fake, 0x10000, 0x4000, &[1, 2]).unwrap();
    regions.set_user_data(0x12000, 0x77).unwrap();

    let info = regions.pointer_info(0x13fff).unwrap();
    assert_eq!(info.Type, HSA_POINTER_ALLOCATED.0);
    assert_eq!((info.CPUAddress as u64, info.GPUAddress, info.SizeInBytes), (0x10000, 0x10000, 0x4000));
    assert_eq!((info.UserData as u64, info.NMappedNodes), (0x77, 2));
    let nodes = info.MappedNodes;
    // SAFETY: the list lives as long as the allocation.
    assert_eq!(unsafe { nodes.cast::<[u32; 2]>().read() }, [1, 2]);

    let info = regions.pointer_info(0x3010f).unwrap();
    assert_eq!((info.Type, info.NMappedNodes), (HSA_POINTER_REGISTERED_USER.0, 0));
    assert!(regions.pointer_info(0x30110).is_none() && regions.pointer_info(0x3000f).is_none());
    assert_eq!(regions.set_user_data(0x14000, 1), Err(HSAKMT_STATUS_ERROR));
}
