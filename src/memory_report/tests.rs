use super::*;
use crate::{Exec, Options, Stream, StreamKind, Template, graph::Node, memory};

fn bytes(holdings: &MemoryReport, location: Location, holder: &str) -> u64 {
    let memory = holdings.rows.iter().filter(|row| row.kind == Kind::Memory && row.location == location);
    memory.filter(|row| row.holder == holder).map(|row| row.bytes).sum()
}

#[test]
fn rows_account_for_what_the_device_gives_out() {
    let device = Device::get(0).unwrap();
    if device.backend() == crate::Backend::Rocr {
        return; // ROCr 5.2.3 does not tell what a device has given out.
    }
    let here = Location::Device(0);
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    // What the device has for good.
    let warm = stream.allocate_async(1000).unwrap();
    stream.synchronize().unwrap();
    let before = MemoryReport::now().unwrap();
    let allocated = memory::allocate(&device, 5_000_000).unwrap().address;
    let pooled = stream.allocate_async(50 << 20).unwrap();
    let mut template = Template::new(&device);
    let (node, address) = template.add_allocation(&device, 3_000_000, &[]).unwrap();
    template.add_free(address, &[node]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    let after = MemoryReport::now().unwrap();
    for (holder, least) in [(USER, 5_000_000), (POOLS, 50 << 20), (GRAPHS, 3_000_000)] {
        let grown = bytes(&after, here, holder) - bytes(&before, here, holder);
        assert!((least..least + (4 << 20)).contains(&grown), "{holder}: {grown}\n{after}");
    }
    let grown = after.memory_of(here) - before.memory_of(here);
    assert_eq!(grown, after.given_out[0] - before.given_out[0], "{before}{after}");
    assert!(after.rows.iter().all(|row| row.kind != Kind::Memory || !row.holder.is_empty()), "{after}");
    memory::free(allocated).unwrap();
    stream.free_async(pooled).unwrap();
    stream.free_async(warm).unwrap();
    drop((exec, template));
    stream.synchronize().unwrap();
    let end = MemoryReport::now().unwrap();
    assert_eq!((bytes(&end, here, USER), bytes(&end, here, GRAPHS)), (0, 0), "{end}");
}

#[test]
fn what_waits_to_be_used_again_is_told_apart() {
    let device = Device::get(0).unwrap();
    let mut template = Template::new(&device);
    let address = memory::allocate(&device, 64).unwrap().address;
    let fill =
        crate::graph::Memset { dst: address, element_size: 4, height: 1, pitch: 0, value: 1, width: 16 };
    template.add(Node::Memset(fill), &[]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    let used = || {
        let holdings = MemoryReport::now().unwrap();
        let rows = holdings.rows.iter().filter(|row| row.kind == Kind::Memory && row.holder == KERNARGS);
        rows.fold((0, 0), |sum, row| (sum.0 + row.used.unwrap(), sum.1 + row.bytes))
    };
    let (while_it_lives, slab) = used();
    assert!(while_it_lives > 0 && slab > while_it_lives);
    drop((exec, template));
    assert!(used().0 < while_it_lives, "the arena is free");
    assert_eq!(used().1, slab, "and its slab is kept");
    memory::free(address).unwrap();
}

#[test]
fn want_of_memory_names_the_largest_holders() {
    let device = Device::get(0).unwrap();
    let held = memory::allocate(&device, 64 << 20).unwrap().address;
    let all = usize::try_from(device.properties().total_memory).unwrap();
    assert!(matches!(memory::allocate(&device, all), Err(Error::OutOfMemory { .. })));
    let detail = crate::last_error_detail().unwrap();
    assert!(detail.contains("allocations 64 MiB in 1"), "{detail}");
    memory::free(held).unwrap();
}

#[test]
fn each_executable_is_accounted_for_as_long_as_the_program_has_it() {
    const BYTES: u64 = 5 << 20;
    let device = Device::get(0).unwrap();
    let stream = Stream::new(&device, StreamKind::NonBlocking, 0);
    let of = |exec: &Exec| executables().into_iter().find(|row| row.number == exec.number());
    let mut template = Template::new(&device);
    let (node, address) = template.add_allocation(&device, BYTES, &[]).unwrap();
    let fill =
        crate::graph::Memset { dst: address, element_size: 1, height: 1, pitch: 0, value: 1, width: 16 };
    let used = template.add(Node::Memset(fill), &[node]).unwrap();
    template.add_free(address, &[used]).unwrap();
    let exec = Exec::new(&template, Options::default()).unwrap();
    let fresh = of(&exec).unwrap();
    assert_eq!((fresh.device, fresh.nodes, fresh.planned, fresh.mapped, fresh.used), (0, 3, BYTES, BYTES, 0));
    assert!(fresh.kernel_arguments > 0 && fresh.packets >= 64, "{fresh:?}");
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(of(&exec).unwrap(), fresh, "the launch is over");
    device.trim_graph_memory();
    let trimmed = of(&exec).unwrap();
    let there = if device.shares_graph_memory() { 0 } else { BYTES };
    assert_eq!((trimmed.planned, trimmed.mapped), (BYTES, there));

    // What a launch leaves is in use until it is freed.
    let mut template = Template::new(&device);
    let (_, left) = template.add_allocation(&device, BYTES, &[]).unwrap();
    let leaving = Exec::new(&template, Options::default()).unwrap();
    assert_eq!(of(&leaving).unwrap().used, 0);
    leaving.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(of(&leaving).unwrap().used, BYTES);
    memory::free(left).unwrap();
    assert_eq!(of(&leaving).unwrap().used, 0);
    let number = leaving.number();
    drop(leaving);
    assert!(executables().iter().all(|row| row.number != number));
}

#[test]
fn of_many_executables_those_are_printed_that_hold_most() {
    let row = |number| Executable {
        number,
        device: 0,
        nodes: 10,
        kernel_arguments: 100,
        packets: 64,
        planned: number << 20,
        mapped: 0,
        used: 0,
    };
    let text = Printed((1..=50).map(row).collect()).to_string();
    let numbers: Vec<u64> =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
    assert_eq!(numbers[..40], (11..=50).collect::<Vec<u64>>()[..]);
    let rest = format!(
        "10 more, each with fewer bytes: arguments 1000, packets 640, memory planned {}",
        55u64 << 20
    );
    assert!(text.ends_with(&format!("{rest}\n")), "{text}");
    assert_eq!(Printed(Vec::new()).to_string(), "");
}
