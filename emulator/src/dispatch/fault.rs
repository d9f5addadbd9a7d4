//! What a user is told about a wave that stopped.

use std::fmt;

use super::Dispatch;
use crate::{
    isa::disassemble,
    wave::{Fault, FaultKind, code},
};

/// A fault with everything that is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DispatchFault {
    /// What happened.
    pub kind: FaultKind,
    /// Address of the instruction.
    pub pc: u64,
    /// The instruction's text; empty where there is none.
    pub instruction: String,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Position of the workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Number of the wave in the workgroup.
    pub wave: u32,
    /// Work-item in its workgroup, if the fault is one lane's.
    pub workitem: Option<[u32; 3]>,
    /// Bounds of the allocation nearest to the address of a memory fault.
    pub nearest: Option<(u64, u64)>,
}

impl DispatchFault {
    pub(super) fn new(dispatch: &Dispatch, workgroup: [u32; 3], wave: u32, fault: Fault) -> Self {
        let code = code::find(&dispatch.code, fault.pc);
        let instruction = code.and_then(|c| Some(disassemble(&c.instruction(fault.pc)?, c.target())));
        let nearest = match fault.kind {
            FaultKind::Memory { address, .. } => {
                let memory = dispatch.resources.surroundings.map.snapshot();
                memory.nearest(address).map(|a| (a.start, a.end))
            }
            _ => None,
        };
        let workitem = fault.kind.lane().map(|lane| {
            let [x, y, _] = dispatch.extent(workgroup);
            let flat = wave * dispatch.resources.lanes + u32::from(lane);
            [flat % x, flat / x % y, flat / (x * y)]
        });
        Self {
            kind: fault.kind,
            pc: fault.pc,
            instruction: instruction.unwrap_or_default(),
            kernel_object: dispatch.launch.kernel_object,
            workgroup,
            wave,
            workitem,
            nearest,
        }
    }
}

impl fmt::Display for DispatchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at pc {:#x}", self.kind, self.pc)?;
        if !self.instruction.is_empty() {
            write!(f, " ({})", self.instruction)?;
        }
        write!(f, ", workgroup {:?} wave {}", self.workgroup, self.wave)?;
        if let Some(item) = self.workitem {
            write!(f, " work-item {item:?}")?;
        }
        if let Some((start, end)) = self.nearest {
            write!(f, ", nearest allocation {start:#x}..{end:#x}")?;
        }
        write!(f, ", kernel descriptor {:#x}", self.kernel_object)
    }
}

impl std::error::Error for DispatchFault {}
