//! Compiles a graph to AQL packets and prints them; there is no device.
//!
//! ```sh
//! cargo run -p aqlipse-graph --example packets
//! ```

use std::{convert::Infallible, error::Error};

use aqlipse_graph::{
    Csr, FlatGraph, Graph, HostFn, Kernargs, Kernel, KernelAttributes, Node,
    compile::{Options, Target, Units, compile},
    image::Content,
    schedule::{Class, CostTable},
};
use hsa::packet::{Fences, KernelDispatch};

/// A kernel is its name here.
type Work = Node<&'static str, (), ()>;

/// A device that there is not: each kernel is a packet, whose code object would lie at 4096 times its number.
#[derive(Default)]
struct Paper {
    preds: Csr,
    classes: Vec<Class>,
    main: Vec<u32>,
}

impl Target<&'static str, (), ()> for Paper {
    type Error = Infallible;

    fn lower(
        &mut self,
        flat: &FlatGraph,
        work: &[Option<&Work>],
        _order: Option<Vec<u32>>,
    ) -> Result<(), Infallible> {
        self.preds = flat.preds().clone();
        let class = |work: &Option<&Work>| match work {
            Some(Node::Kernel(_)) => Class::Packet,
            Some(_) => Class::Host,
            None => Class::Join,
        };
        self.classes = work.iter().map(class).collect();
        self.main = (0..work.len() as u32).collect();
        Ok(())
    }

    fn units(&self) -> Units<'_> {
        Units { preds: &self.preds, classes: &self.classes, copies: &[], main: &self.main, devices: &[] }
    }

    fn costs(&self) -> Result<CostTable, Infallible> {
        Ok(CostTable::default())
    }

    fn content(&self, unit: u32, fences: Fences) -> Result<Content, Infallible> {
        let dispatch = KernelDispatch { fences, ..KernelDispatch::new(4096 * u64::from(unit + 1)) };
        // PANIC: one work-item is a grid.
        Ok(Content::Packet(dispatch.packet().expect("a packet")))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut graph: Graph<&str, (), ()> = Graph::new();
    let kernel = |function| {
        let attributes = KernelAttributes::DEFAULT.into();
        let (grid, block, kernargs) = ([1; 3], [1; 3], Kernargs::default());
        Node::Kernel(Kernel { function, grid, block, shared_bytes: 0, kernargs, attributes })
    };
    let load = graph.add(kernel("load"), &[])?;
    let left = graph.add(kernel("left"), &[load])?;
    let right = graph.add(kernel("right"), &[load])?;
    let store = graph.add(kernel("store"), &[left, right])?;
    graph.add(Node::Host(HostFn::new(|| ())), &[store])?;

    let compiled = compile(&graph, &mut Paper::default(), &Options::default())?;
    for (number, lane) in compiled.image.lanes.iter().enumerate() {
        println!("lane {number}");
        for (at, packet) in (0u32..).zip(&lane.packets) {
            let header = packet.header()?;
            println!("  {at}: {:?}, {:?}", header.kind, header.fences);
            for patch in lane.patches_of(at) {
                println!("     {:?} is {:?}", patch.field, patch.source);
            }
        }
    }
    for step in &compiled.image.host {
        println!("the host calls unit {} behind signals {:?}", step.unit, step.after);
    }
    println!("{:?}", compiled.scheduled.plan.counts());
    Ok(())
}
