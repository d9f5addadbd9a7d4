//! What a launch is about to dispatch, where it is checked what nodes touch.

#![forbid(unsafe_code)]

use std::sync::{Arc, OnceLock};

use super::{Exec, State, dump, events, unit::Unit};
use crate::{
    blit,
    check::{self, Drawing, Edges, Inside, Launch, MemoryNode, NodeDispatch, Order, Plans, Unordered},
    device::{Tool, checked, clocks, timeline::Work},
    error::Result,
    graph::{FlatGraph, FlatNode, Node, NodeKind, dot, flatten},
    schedule::Class,
    stream::Stream,
    template::Template,
};

/// The order of a graph's nodes, if it has not too many; those that are about memory alone are not in the flat graph.
pub(super) fn order(template: &Template, flat: &FlatGraph) -> Option<Arc<Order>> {
    let whole = flatten::flatten(template.graph(), |_, _| true).ok()?;
    let Some(unordered) = Unordered::new(whole.graph.len(), whole.graph.preds()) else {
        tracing::error!("a graph of {} nodes is not checked", whole.graph.len());
        return None;
    };
    // A join stands for no node that runs.
    let places = flat.nodes().iter().map(|node| whole.graph.find(node.origin).unwrap_or_default()).collect();
    let names: Box<[String]> = whole.graph.nodes().iter().map(|node| node.origin.to_string()).collect();
    let memory = (0u32..).zip(&whole.work).filter_map(|(place, work)| {
        let (address, begins) = match work {
            Some(Node::MemAlloc(alloc)) => (alloc.address, Some(alloc.bytes)),
            Some(Node::MemFree(free)) => (free.address, None),
            _ => return None,
        };
        let node = names[place as usize].clone();
        Some(MemoryNode { address, begins, place, node })
    });
    let edges = checked::is_on(Tool::Edges).then(|| {
        let nodes = whole.graph.nodes();
        Edges {
            preds: (0..nodes.len() as u32).map(|node| whole.graph.preds().row(node).into()).collect(),
            joins: whole.work.iter().map(Option::is_none).collect(),
            plans: plans(template, nodes, &whole.work),
        }
    });
    let captures = template.captures().into();
    let drawing = dump::folder()
        .map(|folder| Drawing { folder: folder.into(), dot: template.dot(dot::Detail::VERBOSE) });
    let memory = memory.collect();
    Some(Arc::new(Order { unordered, places, names, memory, edges, captures, drawing }))
}

/// What plans are compared by, if the graph is of one device.
fn plans(template: &Template, nodes: &[FlatNode], work: &[Option<&Node>]) -> Option<Plans> {
    let table = *template.device().costs().ok()?;
    if nodes.windows(2).any(|pair| pair[0].device() != pair[1].device()) {
        return None;
    }
    let class = |work: &Option<&Node>| match work {
        Some(
            Node::Kernel(_) | Node::Memcpy(_) | Node::Memset(_) | Node::MemcpyBatch(_) | Node::BatchMemOp(_),
        ) => Class::Packet,
        Some(Node::Host(_) | Node::SemaphoreSignal(_) | Node::SemaphoreWait(_) | Node::Conditional(_)) => {
            Class::Host
        }
        _ => Class::Join,
    };
    let classes: Box<[Class]> = work.iter().map(class).collect();
    let known = template.instances().durations().known();
    let duration =
        |(node, class): (&FlatNode, &Class)| known.get(&node.origin).copied().unwrap_or(table.guess(*class));
    let durations = nodes.iter().zip(&classes).map(duration).collect();
    Some(Plans { classes, durations, table })
}

impl Exec {
    /// Announces a launch that is about to be published on `stream`, if launches are checked.
    ///
    /// # Errors
    /// A fault of earlier work.
    pub(super) fn announce(&self, state: &State, stream: &Stream) -> Result<Option<Arc<Launch>>> {
        let Some(order) = self.0.order.clone() else { return Ok(None) };
        // What the stream comes behind is said when it is opened; the launch before this one is waited for later.
        let mut submission = stream.submission()?;
        if let Some((fence, lane)) = &state.last {
            submission.wait(fence, *lane)?;
        }
        submission.finish()?;
        events::follow(state, stream.id());
        let mut dispatches = Vec::new();
        for (flat, &main) in (0u32..).zip(&state.main) {
            let kind = self.0.shape.fixed(&self.0.flat, flat).map(|fixed| fixed.kind());
            if matches!(kind, Some(NodeKind::BatchMemOp | NodeKind::SemaphoreWait)) {
                clocks::open(stream.id());
            }
            let place = state.image.places.get(main as usize).copied().flatten();
            let packet =
                place.map(|(lane, packet)| &state.image.lanes[lane as usize].packets[packet as usize]);
            let arguments = packet.and_then(|packet| packet.kernarg_address());
            // A kernel without arguments has no address of its own.
            let unit = state.units.get(main as usize).filter(|unit| unit.kernarg_bytes() > 0);
            let (Some(arguments), Some(Unit::Dispatch(dispatch))) = (arguments, unit) else { continue };
            let what = match kind {
                Some(NodeKind::Kernel) => {
                    format!("kernel {}", aqlipse_graph::dot::readable(dispatch.code.name()))
                }
                Some(NodeKind::Memset) => "memset".into(),
                _ => Work::COPY.into(),
            };
            let place = order.places[flat as usize];
            let node = order.names[place as usize].clone();
            let (touches, inside) = (blit::touches(dispatch), Inside::default());
            dispatches.push(NodeDispatch { arguments, place, node, what, inside, touches });
        }
        let launch = Arc::new(Launch { executable: self.0.account.number(), order, moment: OnceLock::new() });
        let is_idle = state.last.as_ref().is_none_or(|(fence, _)| fence.is_over());
        check::launched(stream.id(), &launch, dispatches, is_idle);
        let calls = |unit: &Unit| matches!(unit, Unit::Host(_));
        if state.units.iter().any(calls) || state.conditionals.work().any(calls) {
            // A function of the host may let threads go on, from within the launch.
            clocks::now(stream.id()).iter().for_each(clocks::learn);
        }
        Ok(Some(launch))
    }
}
