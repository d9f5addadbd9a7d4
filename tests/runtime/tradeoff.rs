//! Plans for less time or fewer bytes of the graph's memory.

use aqlipse::{
    Backend, Error, Exec, Options, Template,
    graph::{ConditionalKind, Memset, Node},
    schedule::memory::{Goal, LimitExceeded, Tradeoff},
};

use super::*;

const BYTES: u64 = 1 << 20;

/// Two branches that allocate, fill again and again, and free.
fn branches() -> Template {
    let mut template = Template::new(&device());
    for _ in 0..2 {
        let (mut last, address) = template.add_allocation(&device(), BYTES, &[]).unwrap();
        for value in 0..16 {
            let fill = Memset { dst: address, pitch: 64, value, element_size: 1, width: 64, height: 1 };
            last = template.add(Node::Memset(fill), &[last]).unwrap();
        }
        template.add_free(address, &[last]).unwrap();
    }
    template
}

fn tradeoff(goal: Goal) -> Result<Tradeoff, Error> {
    let exec = Exec::new(&branches(), Options { memory: Some(goal), ..Options::default() })?;
    let stream = stream();
    exec.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    Ok(exec.report().tradeoff.expect("a goal was given"))
}

#[test]
fn a_graph_with_memory_is_planned_for_time_or_for_bytes_and_tells_both() {
    let fastest = tradeoff(Goal::Fastest).unwrap();
    assert_eq!(fastest.needs, fastest.fastest);
    assert_eq!((fastest.fastest.bytes, fastest.smallest.bytes), (2 * BYTES, BYTES));
    assert!(fastest.fastest.time_ns < fastest.smallest.time_ns);
    let smallest = tradeoff(Goal::Smallest).unwrap();
    assert_eq!(smallest, Tradeoff { needs: fastest.smallest, ..fastest });
    // As fast as it can be where that fits.
    assert_eq!(tradeoff(Goal::Limit(2 * BYTES)).unwrap(), fastest);
    assert_eq!(tradeoff(Goal::Limit(2 * BYTES - 1)).unwrap().needs.bytes, BYTES);
}

#[test]
fn a_limit_that_no_plan_keeps_to_is_refused_with_the_least_bytes() {
    let limit = BYTES - 1;
    let refused = tradeoff(Goal::Limit(limit)).unwrap_err();
    assert_eq!(refused, Error::MemoryLimit(LimitExceeded { least: BYTES, limit }));
    assert!(refused.to_string().contains(&BYTES.to_string()), "{refused}");
}

#[test]
fn nothing_is_told_where_nobody_asks_or_no_memory_is_allocated() {
    let exec = Exec::new(&branches(), Options::default()).unwrap();
    assert_eq!(exec.report().tradeoff, None);
    let options = Options { memory: Some(Goal::Limit(0)), ..Options::default() };
    let exec = Exec::new(&Template::new(&device()), options).unwrap();
    assert_eq!(exec.report().tradeoff, None);
}

#[test]
fn what_bodies_allocate_counts_as_long_as_their_node_runs() {
    let fill = |dst| Node::Memset(Memset { dst, pitch: 64, value: 1, element_size: 1, width: 64, height: 1 });
    let mut template = Template::new(&device());
    let condition = template.create_condition(1).unwrap();
    let mut body = Template::new(&device());
    let mut last = Vec::new();
    // One behind the other, so they take turns; and one beside both.
    for _ in 0..2 {
        let (begin, address) = body.add_allocation(&device(), BYTES, &last).unwrap();
        let used = body.add(fill(address), &[begin]).unwrap();
        last = vec![body.add_free(address, &[used]).unwrap()];
    }
    let (begin, address) = body.add_allocation(&device(), BYTES, &[]).unwrap();
    let used = body.add(fill(address), &[begin]).unwrap();
    body.add_free(address, &[used]).unwrap();
    // A branch with memory of its own, which a plan may put beside the conditional node or not.
    template.add_conditional(&condition, ConditionalKind::If, vec![body], &[]).unwrap();
    let (begin, address) = template.add_allocation(&device(), BYTES, &[]).unwrap();
    let used = template.add(fill(address), &[begin]).unwrap();
    template.add_free(address, &[used]).unwrap();
    let new = |goal| Exec::new(&template, Options { memory: Some(goal), ..Options::default() });
    // Plans order packets, and host calls, but not one kind behind the other: a node that the host drives is beside the
    // branch's packet in all of them.
    let least = if device().backend() == Backend::Emulated { 2 * BYTES } else { 3 * BYTES };
    let tradeoff = new(Goal::Smallest).unwrap().report().tradeoff.expect("a goal was given");
    assert_eq!(tradeoff.needs.bytes, least);
    let limit = least - 1;
    let refused = new(Goal::Limit(limit)).err();
    assert_eq!(refused, Some(Error::MemoryLimit(LimitExceeded { least, limit })));
}
