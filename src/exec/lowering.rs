//! This runtime's devices, as the graph compiler sees them: which units nodes become, and their packets.

use std::collections::HashMap;

use aqlipse_graph::{
    compile::{self, Target},
    image::Content,
    schedule::{CostTable, engines::EngineCopy},
};
use hsa::packet::Fences;

use super::{
    Options,
    arena::{self, Arena},
    conditional::Conditionals,
    failure::Failure,
    resident, unit,
    units::{self, Units},
};
use crate::{
    device::{Tool, checked, timeline},
    error::{Error, Result},
    external::ExternalSemaphore,
    graph::{FlatGraph, Node, NodeId},
    module::Function,
    stream::Event,
    template::Template,
};

/// A template on its way to packets.
pub(super) struct Lowering<'a> {
    template: &'a Template,
    options: Options,
    /// How long nodes take, in nanoseconds, of which that is known.
    known: HashMap<NodeId, u32>,
    pub(super) units: Units,
    /// As [`units::numbers`].
    numbers: Vec<u16>,
    /// As [`units::engine_copies`].
    copies: Vec<EngineCopy>,
    pub(super) conditionals: Conditionals,
    /// The kernel arguments of all units.
    pub(super) arena: Option<Arena>,
    /// Its address, if it is of one device.
    arguments: Option<u64>,
    /// Where each unit's arguments begin there.
    pub(super) offsets: Vec<u32>,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(template: &'a Template, options: Options) -> Self {
        Self {
            template,
            options,
            known: template.instances().durations().known(),
            units: Units::default(),
            numbers: Vec::new(),
            copies: Vec::new(),
            conditionals: Conditionals::default(),
            arena: None,
            arguments: None,
            offsets: Vec::new(),
        }
    }
}

impl Target<Function, Event, ExternalSemaphore> for Lowering<'_> {
    type Error = Failure;

    fn lower(
        &mut self,
        flat: &FlatGraph,
        work: &[Option<&Node>],
        order: Option<Vec<u32>>,
    ) -> Result<(), Failure> {
        let (resident, ordered) = (self.options.resident, order.is_some());
        if resident {
            resident::check_nodes(self.template, flat, work)?;
        }
        // CAST: a flat graph numbers its nodes in 32 bits.
        let order = order.unwrap_or_else(|| (0..flat.len() as u32).collect());
        if self.template.graph().may_nest() {
            // The packet processor says nothing of the nodes of bodies, and not which turn of a body it has come to.
            let are_watched = checked::is_any_on(&[Tool::Graph, Tool::Memory, Tool::Init]);
            let on_host = self.options.conditionals_on_host || timeline::wants_packets() || are_watched;
            self.conditionals = Conditionals::compile(&order, flat, work, on_host)?;
        }
        self.units = Units::new(self.template.device(), flat, work, &order, self.conditionals.units()?)?;
        if resident {
            resident::check_units(flat, &self.units)?;
        }
        if resident || self.options.copies_by_kernels {
            self.units.copies.clear();
        }
        self.copies = units::engine_copies(&self.units.copies);
        let Units { units, preds, main, placements, devices, .. } = &self.units;
        self.numbers = units::numbers(devices, placements);
        debug_assert!(
            ordered || *preds == units::preds(flat, units, main, placements),
            "the order could not be found again"
        );
        Ok(())
    }

    fn units(&self) -> compile::Units<'_> {
        let Units { preds, classes, main, .. } = &self.units;
        compile::Units { preds, classes, copies: &self.copies, main, devices: &self.numbers }
    }

    fn costs(&self) -> Result<CostTable, Failure> {
        Ok(arena::costs(&self.units.devices, self.options)?)
    }

    fn durations(&self, flat: &FlatGraph) -> Option<Vec<Option<u32>>> {
        units::durations(&self.units.units, flat, &self.units.main, &self.known)
    }

    fn compute_units(&self, unit: u32) -> u32 {
        self.units.units[unit as usize].compute_units(self.units.devices[0].properties())
    }

    fn place(&mut self) -> Result<(), Failure> {
        let Units { units, devices, kernarg_bytes, .. } = &self.units;
        let on_host = self.options.arguments_on_host;
        let (arena, offsets) = Arena::place(devices, &self.numbers, units, *kernarg_bytes, on_host)?;
        (self.arguments, self.offsets) = (arena.base(), offsets);
        self.arena = Some(arena);
        Ok(())
    }

    // A packet that is returned through several calls is copied by each.
    #[inline(always)]
    fn content(&self, unit: u32, fences: Fences) -> Result<Content, Failure> {
        let place = self.offsets[unit as usize];
        let kernarg = match self.arguments {
            Some(base) => base + u64::from(place),
            None => self.arena.as_ref().map_or(0, |arena| arena.address(place)),
        };
        match unit::content(&self.units.units, unit, fences, kernarg) {
            Ok(content) => Ok(content),
            Err(error) => Err(error.into()),
        }
    }
}

/// Why a graph was not compiled, in this runtime's words.
impl From<compile::CompileError<Failure>> for Failure {
    fn from(error: compile::CompileError<Failure>) -> Self {
        match error {
            compile::CompileError::Target(failure) => failure,
            error => Error::from(error).into(),
        }
    }
}
