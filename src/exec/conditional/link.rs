//! Bodies as runs of packets in one indirect buffer, entered by branches (`docs/conditional-nodes.md`).

#![forbid(unsafe_code)]

use hsa::{
    hsa_signal_t,
    packet::{Branch, Fences, LoopBack, Packet, Run, Scope, Test},
};

use aqlipse_graph::schedule::body::Step;

use super::structure::Structure;
use crate::{error::Result, graph::ConditionalKind};

/// Where the runs of a buffer begin.
pub(super) struct Layout {
    /// By body.
    runs: Vec<Run>,
    /// Packets that bodies take; comparisons come behind them.
    bodies: u32,
    /// Packets of the buffer.
    pub(super) len: u32,
}

impl Layout {
    /// Places the bodies of `structure`.
    ///
    /// # Errors
    /// [`crate::Error::Graph`] for more packets than a branch can count.
    pub(super) fn of(structure: &Structure) -> Result<Self> {
        let mut runs = vec![Run::default(); structure.bodies.len()];
        let mut end = 0u64;
        let mut comparisons = 0u64;
        for site in &structure.sites {
            for body in site.bodies.clone() {
                let steps = structure.bodies[body as usize].steps.iter().map(|step| match step {
                    Step::Packets { start, end } => u64::from(end - start),
                    _ => 1,
                });
                let len = steps.sum::<u64>() + u64::from(site.kind == ConditionalKind::While);
                // CAST: what is too large is refused below.
                runs[body as usize] = Run { start: end as u32, len: len as u32 };
                end += len;
            }
            if site.kind == ConditionalKind::Switch {
                comparisons += site.bodies.len() as u64 - 1;
            }
        }
        let len = u32::try_from(end + comparisons).map_err(|_| crate::graph::Error::TooLarge)?;
        // CAST: no greater than `len`.
        Ok(Self { runs, bodies: end as u32, len })
    }
}

/// The packets of a buffer under construction.
struct Linker<'s> {
    structure: &'s Structure,
    layout: &'s Layout,
    /// By site.
    conditions: &'s [hsa_signal_t],
    /// Address of the buffer.
    base: u64,
    packets: Vec<Packet>,
    /// Where the next comparison goes.
    next: u32,
}

/// The packets of the buffer at `base`, and the branch that enters it; `packets` are those of the structure's order.
pub(super) fn link(
    structure: &Structure,
    layout: &Layout,
    conditions: &[hsa_signal_t],
    packets: &[Packet],
    base: u64,
) -> (Vec<Packet>, Branch) {
    let mut linker = Linker {
        structure,
        layout,
        conditions,
        base,
        packets: vec![Packet::NO_OPERATION; layout.len as usize],
        next: layout.bodies,
    };
    for (number, site) in (0u32..).zip(&structure.sites) {
        for body in site.bodies.clone() {
            linker.body(body, packets);
        }
        if site.kind == ConditionalKind::While {
            let run = layout.runs[site.bodies.start as usize];
            let fences = Fences { barrier: true, acquire: Scope::Agent, release: Scope::Agent };
            let condition = conditions[number as usize];
            linker.packets[(run.start + run.len - 1) as usize] = LoopBack { fences, condition }.packet();
        }
    }
    let entry = linker.branch(0);
    (linker.packets, entry)
}

impl Linker<'_> {
    fn body(&mut self, body: u32, packets: &[Packet]) {
        let structure = self.structure;
        let mut at = self.layout.runs[body as usize].start as usize;
        for step in &structure.bodies[body as usize].steps {
            match *step {
                Step::Packets { start, end } => {
                    let some = &packets[start as usize..end as usize];
                    self.packets[at..at + some.len()].copy_from_slice(some);
                    at += some.len();
                }
                Step::Conditional { site, barrier } => {
                    let fences = Fences { barrier, acquire: Scope::Agent, release: Scope::Agent };
                    let branch = Branch { fences, ..self.branch(site) };
                    self.packets[at] = branch.packet();
                    at += 1;
                }
                // Its place stays a packet that does nothing: bodies with such steps are not linked.
                Step::Host { .. } => at += 1,
            }
        }
    }

    /// The branch to the bodies of a site; those of a switch are found by comparisons, a tree of them.
    fn branch(&mut self, site: u32) -> Branch {
        let Self { structure, layout, .. } = *self;
        let bodies = structure.sites[site as usize].bodies.clone();
        let condition = self.conditions[site as usize];
        let plain = Branch { condition, ..Branch::new(self.base, layout.len) };
        let run = |body: u32| layout.runs.get(body as usize).copied().filter(|_| body < bodies.end);
        match structure.sites[site as usize].kind {
            ConditionalKind::If => Branch {
                test: Test::NonZero,
                if_true: run(bodies.start).unwrap_or_default(),
                if_false: run(bodies.start + 1).unwrap_or_default(),
                ..plain
            },
            ConditionalKind::While => {
                Branch { test: Test::NonZero, if_true: run(bodies.start).unwrap_or_default(), ..plain }
            }
            ConditionalKind::Switch => {
                let count = bodies.end - bodies.start;
                let mut open = Vec::new();
                let if_true = self.choice(0..count, bodies.start, &mut open);
                while let Some((at, cases)) = open.pop() {
                    let middle = cases.start + (cases.end - cases.start) / 2;
                    let choice = Branch {
                        fences: Fences::NONE,
                        test: Test::Less(middle.into()),
                        if_true: self.choice(cases.start..middle, bodies.start, &mut open),
                        if_false: self.choice(middle..cases.end, bodies.start, &mut open),
                        ..plain
                    };
                    self.packets[at as usize] = choice.packet();
                }
                Branch { test: Test::Less(count.into()), if_true, ..plain }
            }
        }
    }

    /// The run that one of some cases of a switch is reached by: its body, or a comparison that is still open.
    fn choice(
        &mut self,
        cases: std::ops::Range<u32>,
        first_body: u32,
        open: &mut Vec<(u32, std::ops::Range<u32>)>,
    ) -> Run {
        if cases.end - cases.start == 1 {
            return self.layout.runs[(first_body + cases.start) as usize];
        }
        let at = self.next;
        self.next += 1;
        open.push((at, cases));
        Run { start: at, len: 1 }
    }
}
