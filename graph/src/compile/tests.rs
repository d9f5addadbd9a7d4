//! The door: passes one behind the other, and errors that name what is wrong.

use proptest::prelude::*;

use super::*;
use crate::{
    schedule::memory::Goal,
    template::{HostFn, Kernargs, Kernel, KernelAttributes, MemAlloc, MemFree, NodeId},
};
use hsa::packet::KernelDispatch;

type Work = Node<u32, (), ()>;
type Template = Graph<u32, (), ()>;

/// A target without a device: each kernel is a packet, unless it is the one that is refused.
#[derive(Default)]
struct Paper {
    preds: Csr,
    classes: Vec<Class>,
    main: Vec<u32>,
    refused: Option<u32>,
    placed: u32,
}

impl Target<u32, (), ()> for Paper {
    type Error = &'static str;

    fn lower(
        &mut self,
        flat: &FlatGraph,
        work: &[Option<&Work>],
        order: Option<Vec<u32>>,
    ) -> Result<(), &'static str> {
        assert!(order.is_none_or(|order| order.len() == flat.len()));
        for work in work {
            self.classes.push(match work {
                Some(Node::Kernel(kernel)) if Some(kernel.function) == self.refused => return Err("refused"),
                Some(Node::Kernel(_)) => Class::Packet,
                Some(_) => Class::Host,
                None => Class::Join,
            });
        }
        self.main = (0..work.len() as u32).collect();
        self.preds = flat.preds().clone();
        Ok(())
    }

    fn units(&self) -> Units<'_> {
        Units { preds: &self.preds, classes: &self.classes, copies: &[], main: &self.main, devices: &[] }
    }

    fn costs(&self) -> Result<CostTable, &'static str> {
        Ok(CostTable::default())
    }

    fn place(&mut self) -> Result<(), &'static str> {
        self.placed += 1;
        Ok(())
    }

    fn content(&self, unit: u32, fences: Fences) -> Result<Content, &'static str> {
        assert_eq!(self.placed, 1, "packets come behind their arguments' place");
        let dispatch = KernelDispatch { fences, ..KernelDispatch::new(u64::from(unit) + 1) };
        dispatch.packet().map(Content::Packet).map_err(|_| "no packet")
    }
}

fn kernel(function: u32, priority: i32) -> Work {
    Node::Kernel(Kernel {
        function,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        kernargs: Kernargs::default(),
        attributes: KernelAttributes { priority, ..KernelAttributes::DEFAULT }.into(),
    })
}

proptest! {
    #[test]
    fn every_kernel_is_one_packet_and_every_call_one_step(
        nodes in prop::collection::vec((0u8..8, prop::collection::vec(any::<prop::sample::Index>(), 0..3)), 1..40),
        lanes in 0usize..4,
        node_priority in any::<bool>(),
    ) {
        let mut graph = Template::new();
        let mut ids: Vec<NodeId> = Vec::new();
        for (what, before) in &nodes {
            let mut after: Vec<_> = before.iter().filter(|_| !ids.is_empty()).map(|at| ids[at.index(ids.len())]).collect();
            after.sort_unstable_by_key(|id| id.index());
            after.dedup();
            let node = match what {
                0 => Node::Host(HostFn::new(|| ())),
                1 => Node::Empty,
                priority => kernel(ids.len() as u32, i32::from(*priority) - 4),
            };
            ids.push(graph.add(node, &after).unwrap());
        }
        let options = Options { lanes, node_priority, ..Options::default() };
        let compiled = compile(&graph, &mut Paper::default(), &options).unwrap();
        let count = |from: u8, to: u8| nodes.iter().filter(|(what, _)| (from..=to).contains(what)).count();
        prop_assert_eq!(compiled.image.counts.kernel_dispatch, count(2, 7));
        prop_assert_eq!(compiled.image.host.len(), count(0, 0));
        prop_assert_eq!(compiled.priorities.is_empty(), !node_priority);
        prop_assert!(lanes == 0 || compiled.image.lanes.len() <= lanes);
    }
}

#[test]
fn what_a_target_refuses_is_told_apart_from_what_is_wrong_with_the_graph() {
    let mut graph = Template::new();
    let first = graph.add(kernel(1, 0), &[]).unwrap();
    let second = graph.add(kernel(2, 0), &[first]).unwrap();
    let mut paper = Paper { refused: Some(2), ..Paper::default() };
    assert_eq!(compile(&graph, &mut paper, &Options::default()).err(), Some(CompileError::Target("refused")));
    graph.add_dependencies([(second, first)]).unwrap();
    let Some(CompileError::Template(template::Error::Cycle(node))) =
        compile(&graph, &mut Paper::default(), &Options::default()).err()
    else {
        panic!("a cycle is compiled")
    };
    assert!(node == first || node == second);
}

#[test]
fn buffers_of_branches_share_memory_only_if_there_is_a_goal_and_room_for_no_more() {
    // Two branches, each with 1000 bytes between its two kernels.
    let mut graph = Template::new();
    let mut allocations = Vec::new();
    for address in [0x1000, 0x2000] {
        let alloc = graph.add(Node::MemAlloc(MemAlloc { address, bytes: 1000, device: 0 }), &[]).unwrap();
        let first = graph.add(kernel(0, 0), &[alloc]).unwrap();
        let second = graph.add(kernel(1, 0), &[first]).unwrap();
        graph.add(Node::MemFree(MemFree { address }), &[second]).unwrap();
        allocations.push(alloc);
    }
    let with = |goal| compile(&graph, &mut Paper::default(), &Options { goal, ..Options::default() });
    assert!(with(None).unwrap().memory.is_none());
    let smallest = with(Some(Goal::Limit(1000))).unwrap();
    let order = smallest.memory.unwrap();
    let [a, b] = allocations[..] else { panic!("two allocations") };
    assert!(order.is_before(a, b) || order.is_before(b, a));
    assert_eq!(smallest.scheduled.tradeoff.map(|tradeoff| tradeoff.needs.bytes), Some(1000));
    assert!(matches!(with(Some(Goal::Limit(999))), Err(CompileError::MemoryLimit(_))));
}
