//! What each executable graph holds.
//!
//! An executable is entered when it is instantiated and leaves when the program lets go of it: launches neither count nor
//! look anything up. What changes from launch to launch is asked for when the table is read.

#![forbid(unsafe_code)]

use std::{collections::BTreeMap, fmt, sync::Weak};

use parking_lot::{Mutex, MutexGuard};

/// What an executable has of memory, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// What its plan takes.
    pub(crate) planned: u64,
    /// What of that is there.
    pub(crate) mapped: u64,
    /// What of that a launch in flight uses, or one has left allocated.
    pub(crate) used: u64,
}

impl Usage {
    pub(crate) fn add(&mut self, bytes: u64, is_mapped: bool, is_used: bool) {
        self.planned += bytes;
        self.mapped += if is_mapped { bytes } else { 0 };
        self.used += if is_mapped && is_used { bytes } else { 0 };
    }
}

/// Memory of an executable.
pub(crate) trait HasUsage: Send + Sync {
    /// What it is now.
    fn usage(&self) -> Usage;
}

/// What one executable graph holds, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executable {
    /// Counts from 1, in the order in which executables are instantiated; [`Exec::number`](crate::Exec::number).
    pub number: u64,
    /// The ordinal of the device on which launches begin.
    pub device: usize,
    /// Nodes of its graph; those of child graphs and of bodies are not counted.
    pub nodes: usize,
    /// Kernel arguments, as it was instantiated.
    pub kernel_arguments: u64,
    /// Packets: on the host, and on the device if it is resident.
    pub packets: u64,
    /// What the memory of its allocation nodes takes. Executables that take turns with memory have each all of it here.
    pub planned: u64,
    /// How much of that is there: what a trim has taken comes back with the next launch.
    pub mapped: u64,
    /// How much of that a launch in flight uses, or one has left allocated.
    pub used: u64,
}

/// What does not change while an executable lives.
struct Facts {
    device: usize,
    nodes: usize,
    kernel_arguments: u64,
    packets: u64,
    memory: Weak<dyn HasUsage>,
}

static EXECUTABLES: Mutex<Table> = Mutex::new(Table { last: 0, facts: BTreeMap::new() });

struct Table {
    last: u64,
    facts: BTreeMap<u64, Facts>,
}

fn table() -> MutexGuard<'static, Table> {
    EXECUTABLES.lock()
}

/// An executable's place in the table, for as long as this lives.
pub(crate) struct Account(u64);

impl Account {
    /// Enters an executable of `device` for a graph of so many nodes.
    pub(crate) fn open(
        device: usize,
        nodes: usize,
        kernel_arguments: usize,
        packets: usize,
        memory: Weak<dyn HasUsage>,
    ) -> Self {
        // CAST: a 64-bit process.
        let (kernel_arguments, packets) = (kernel_arguments as u64, packets as u64);
        let mut table = table();
        table.last += 1;
        let number = table.last;
        table.facts.insert(number, Facts { device, nodes, kernel_arguments, packets, memory });
        Self(number)
    }

    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        table().facts.remove(&self.0);
    }
}

/// The executables that the program has now, by number.
pub fn executables() -> Vec<Executable> {
    // What the memory is asked for takes locks of its own, and not under the table's.
    let known: Vec<(Executable, Weak<dyn HasUsage>)> = {
        let table = table();
        let row = |(&number, facts): (&u64, &Facts)| {
            let Facts { device, nodes, kernel_arguments, packets, .. } = *facts;
            let (planned, mapped, used) = (0, 0, 0);
            let row = Executable { number, device, nodes, kernel_arguments, packets, planned, mapped, used };
            (row, facts.memory.clone())
        };
        table.facts.iter().map(row).collect()
    };
    let measured = known.into_iter().map(|(row, memory)| {
        let Usage { planned, mapped, used } =
            memory.upgrade().map(|memory| memory.usage()).unwrap_or_default();
        Executable { planned, mapped, used, ..row }
    });
    measured.collect()
}

/// Most executables that are printed one by one.
const PRINTED: usize = 40;

/// The table of executables as text: those that hold most, in the order of their numbers.
pub(super) struct Printed(pub(super) Vec<Executable>);

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<&Executable> = self.0.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.planned + row.kernel_arguments + row.packets));
        let rest = rows.split_off(rows.len().min(PRINTED));
        rows.sort_by_key(|row| row.number);
        writeln!(
            f,
            "{:<16} {:>6} {:>8} {:>10} {:>10} {:>14} {:>14} {:>14}",
            "executable graph",
            "device",
            "nodes",
            "arguments",
            "packets",
            "memory planned",
            "mapped",
            "in use"
        )?;
        for row in rows {
            let Executable { number, device, nodes, kernel_arguments, packets, planned, mapped, used } = row;
            writeln!(
                f,
                "{number:<16} {device:>6} {nodes:>8} {kernel_arguments:>10} {packets:>10} {planned:>14} {mapped:>14} \
                 {used:>14}"
            )?;
        }
        if !rest.is_empty() {
            let sum = |of: fn(&Executable) -> u64| rest.iter().map(|row| of(row)).sum::<u64>();
            writeln!(
                f,
                "{} more, each with fewer bytes: arguments {}, packets {}, memory planned {}",
                rest.len(),
                sum(|row| row.kernel_arguments),
                sum(|row| row.packets),
                sum(|row| row.planned)
            )?;
        }
        Ok(())
    }
}
