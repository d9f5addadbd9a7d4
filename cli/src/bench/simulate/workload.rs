//! Graphs to simulate.

use aqlipse::{
    graph::Csr,
    schedule::{Class, Error, Problem},
};

/// A graph of kernels with their durations.
pub struct Workload {
    /// What it is.
    pub name: String,
    preds: Csr,
    succs: Csr,
    classes: Vec<Class>,
    durations: Vec<u32>,
    /// Compute units that each kernel can use.
    units: Vec<u32>,
}

impl Workload {
    /// The number of kernels.
    pub fn len(&self) -> usize {
        self.durations.len()
    }

    /// The graph with the durations and the compute units of its kernels.
    ///
    /// # Errors
    /// None for the workloads of this file, which list nodes behind those that they depend on.
    pub fn problem(&self) -> Result<Problem<'_>, Error> {
        self.problem_with(&self.durations)
    }

    /// The graph as a runtime sees it that knows no durations, but grids, registers and LDS, and so compute units.
    ///
    /// # Errors
    /// As [`Workload::problem`].
    pub fn problem_with<'a>(&'a self, each: &'a [u32]) -> Result<Problem<'a>, Error> {
        Problem::new(&self.preds, &self.succs, &self.classes, each)?.with_units(&self.units)
    }

    /// The time that all compute units together need for the kernels, if none is ever idle.
    pub fn work_ns(&self, compute_units: u32) -> u64 {
        let of_one =
            |(&duration, &units): (&u32, &u32)| u64::from(duration) * u64::from(units.min(compute_units));
        let all: u64 = self.durations.iter().zip(&self.units).map(of_one).sum();
        all.div_ceil(u64::from(compute_units))
    }
}

/// A graph that grows node by node.
#[derive(Default)]
pub(super) struct Builder {
    pub(super) preds: Csr,
    pub(super) durations: Vec<u32>,
    pub(super) units: Vec<u32>,
}

impl Builder {
    /// Adds a kernel of some microseconds, on some compute units, behind others.
    pub(super) fn kernel(&mut self, us: u32, units: u32, after: &[u32]) -> u32 {
        self.preds.push_row(after.iter().copied());
        self.durations.push(us * 1_000);
        self.units.push(units);
        // CAST: a few thousand kernels.
        self.durations.len() as u32 - 1
    }

    /// The graph.
    pub(super) fn build(self, name: impl Into<String>) -> Workload {
        Workload {
            name: name.into(),
            succs: self.preds.transposed(),
            classes: vec![Class::Packet; self.durations.len()],
            preds: self.preds,
            durations: self.durations,
            units: self.units,
        }
    }
}
