//! The registers of a wave that hold values which no lane has given.

use crate::isa::{Operand, Ty};

/// The lanes of a register that hold such a value, and the instruction that has read it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Row {
    pub(crate) lanes: u64,
    pub(crate) origin: u64,
}

/// All registers; none of them before the first such value.
#[derive(Default)]
pub(crate) struct Inactive(Option<Box<[Row; 512]>>);

/// The rows of an operand; none if it is no vector register.
pub(crate) fn rows(op: Operand, ty: Ty) -> impl Iterator<Item = usize> {
    let first = op.row();
    let count = if first.is_some() { usize::from(ty.dwords()) } else { 0 };
    (0..count).map(move |n| (first.unwrap_or(0) + n) & 511)
}

impl Inactive {
    /// Whether there has been such a value.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// There is such a value from now on.
    pub(crate) fn begin(&mut self) {
        self.0.get_or_insert_with(|| Box::new([Row::default(); 512]));
    }

    pub(crate) fn row(&self, row: usize) -> Row {
        self.0.as_ref().map_or_else(Row::default, |rows| rows[row & 511])
    }

    /// The lanes in `exec` of an operand are written.
    pub(crate) fn set(&mut self, (op, ty): (Operand, Ty), exec: u64, Row { lanes, origin }: Row) {
        let Some(all) = &mut self.0 else { return };
        for row in rows(op, ty) {
            let kept = all[row].lanes & !exec;
            let origin = if lanes & exec != 0 { origin } else { all[row].origin };
            all[row] = Row { lanes: kept | lanes & exec, origin };
        }
    }

    /// The lanes of a mask in which any of some rows holds such a value.
    pub(crate) fn any(&self, rows: impl Iterator<Item = (usize, u64)>) -> Row {
        rows.fold(Row::default(), |sum, (row, mask)| {
            let Row { lanes, origin } = self.row(row);
            let origin = if sum.lanes == 0 { origin } else { sum.origin };
            Row { lanes: sum.lanes | lanes & mask, origin }
        })
    }
}
