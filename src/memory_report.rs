//! What holds the devices' and the host's resources that this process has.
//!
//! Every allocation, signal, queue and executable of the runtime is in the accounts of the `hsa` crate under its holder's
//! name; here they are put into a table. Executable graphs are accounted for one by one ([`executables()`]).
//! `AQLIPSE_MEMORY_REPORT` prints both when the process ends (docs/memory-report.md).

mod executables;

use std::{
    env, fmt, fs,
    io::Write,
    path::PathBuf,
    sync::{Once, OnceLock},
};

use hsa::Resource;
use parking_lot::Mutex;
use timeline::{recorder, track::Track};

use self::executables::Printed;
pub(crate) use self::executables::{Account, HasUsage, Usage};
pub use self::executables::{Executable, executables};
pub(crate) use crate::device::holders::*;
use crate::{
    device::{Device, System},
    error::{Error, Result, explain},
};

/// The environment variable that has the table printed when the process ends: `1` to stderr, or a file's path.
pub const REPORT_VARIABLE: &str = "AQLIPSE_MEMORY_REPORT";

/// What is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Memory, in bytes that were given out: whole granules.
    Memory,
    /// Pages of the host that are locked for devices.
    LockedMemory,
    /// Signals, which have no bytes here: they are the HSA runtime's.
    Signals,
    /// Queues, with the bytes of their rings.
    Queues,
    /// Loaded code, with the bytes of its files.
    Code,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// In no memory of ours in particular, or the host's.
    Host,
    /// The device with this ordinal: its memory, or its queues.
    Device(usize),
}

/// One row: what holders of one name hold of one kind in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it is.
    pub location: Location,
    /// What it is.
    pub kind: Kind,
    /// What holds it; empty where that was not said.
    pub holder: &'static str,
    /// How many allocations, signals, queues or code objects.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of them, or signals, that are in use now: the rest waits to be used again. `None` where all is in use.
    pub used: Option<u64>,
}

/// The table, as it was at one moment.
#[derive(Clone, Debug)]
pub struct MemoryReport {
    /// The rows, by place and kind.
    pub rows: Vec<Row>,
    /// For each device, bytes of its memory that are given out: to this process as the rows say, to the HSA runtime for
    /// code and scratch, and to other processes where the device tells of them.
    pub given_out: Vec<u64>,
}

impl MemoryReport {
    /// What is held now.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if no HSA runtime could be started.
    pub fn now() -> Result<Self> {
        let system = System::get()?;
        let devices = system.devices();
        let mut rows: Vec<Row> = Vec::new();
        for holding in system.runtime().holdings() {
            let (location, kind) = match holding.resource {
                Resource::Memory => (place_of_pool(devices, holding.place), Kind::Memory),
                Resource::Locked => (Location::Host, Kind::LockedMemory),
                Resource::Signal => (Location::Host, Kind::Signals),
                Resource::Queue => (place_of_agent(devices, holding.place), Kind::Queues),
                Resource::Executable => (Location::Host, Kind::Code),
                _ => continue,
            };
            let same =
                |row: &&mut Row| (row.location, row.kind, row.holder) == (location, kind, holding.holder);
            // Pools of one place count together.
            match rows.iter_mut().find(same) {
                Some(row) => (row.count, row.bytes) = (row.count + holding.count, row.bytes + holding.bytes),
                None => rows.push(Row {
                    location,
                    kind,
                    holder: holding.holder,
                    count: holding.count,
                    bytes: holding.bytes,
                    used: None,
                }),
            }
        }
        for row in &mut rows {
            row.used = used(devices, row);
        }
        rows.sort_by_key(|row| (row.location, row.kind, std::cmp::Reverse(row.bytes), row.holder));
        let given_out = devices.iter().map(|device| {
            let (free, all) = device.memory_info();
            all.saturating_sub(free)
        });
        Ok(Self { rows, given_out: given_out.collect() })
    }

    /// Bytes of memory that the rows of one place have together.
    pub fn memory_of(&self, location: Location) -> u64 {
        let memory = self.rows.iter().filter(|row| row.kind == Kind::Memory && row.location == location);
        memory.map(|row| row.bytes).sum()
    }

    /// The rows of memory in one place that have most, in a sentence.
    fn top(&self, location: Location) -> String {
        let mut memory: Vec<_> =
            self.rows.iter().filter(|row| row.kind == Kind::Memory && row.location == location).collect();
        memory.sort_by_key(|row| std::cmp::Reverse(row.bytes));
        let row = |row: &&Row| format!("{} {} in {}", name(row), size(row.bytes), row.count);
        memory.iter().take(3).map(row).collect::<Vec<_>>().join(", ")
    }
}

/// Puts on the timeline how many bytes of each device's memory this process has, where that has changed.
#[cold]
pub fn count_memory() {
    static LATEST: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    // Not started by this: a program may never use a device.
    let Some(system) = System::running() else { return };
    let mut bytes = vec![0; system.devices().len()];
    for holding in system.runtime().holdings() {
        if holding.resource == Resource::Memory
            && let Location::Device(device) = place_of_pool(system.devices(), holding.place)
        {
            bytes[device] += holding.bytes;
        }
    }
    let mut latest = LATEST.lock();
    for (device, &bytes) in bytes.iter().enumerate() {
        if latest.get(device).is_none_or(|&latest| latest != bytes) {
            recorder::count(Track::Memory(device), bytes);
        }
    }
    *latest = bytes;
}

fn place_of_pool(devices: &[Device], handle: u64) -> Location {
    let has = |device: &&Device| {
        let fine = device.0.fine_grained.as_ref();
        fine.into_iter().chain([&device.0.local]).any(|pool| pool.raw().handle == handle)
    };
    devices.iter().find(has).map_or(Location::Host, |device| Location::Device(device.ordinal()))
}

fn place_of_agent(devices: &[Device], handle: u64) -> Location {
    let found = devices.iter().find(|device| device.0.agent.raw().handle == handle);
    found.map_or(Location::Host, |device| Location::Device(device.ordinal()))
}

/// What of a row is in use, if its holder keeps some for later.
fn used(devices: &[Device], row: &Row) -> Option<u64> {
    let on_host = |of: fn(&Device) -> u64| Some(devices.iter().map(of).sum());
    match (row.kind, row.location, row.holder) {
        (Kind::Memory, Location::Host, KERNARGS) => on_host(|device| device.0.kernargs.footprint().1),
        (Kind::Memory, Location::Host, STAGING) => on_host(|device| device.0.staging.footprint().1),
        // CAST: counts.
        (Kind::Signals, _, SIGNALS) => on_host(|device| {
            [&device.0.signals, &device.0.edges].map(|pool| pool.footprint().0 as u64).iter().sum()
        }),
        (Kind::Memory, Location::Device(n), KERNARGS) => Some(devices.get(n)?.0.arguments.footprint().1),
        (Kind::Memory, Location::Device(n), PACKETS) => Some(devices.get(n)?.0.packets.footprint().1),
        _ => None,
    }
}

fn name(row: &Row) -> &'static str {
    match (row.holder, row.kind) {
        ("", Kind::LockedMemory) => "pages of the caller",
        ("", Kind::Queues) => "lanes",
        ("", Kind::Code) => "modules",
        ("", _) => "others",
        (holder, _) => holder,
    }
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    match bytes {
        0..0x2800 => format!("{bytes} B"),
        0x2800..0xa0_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<9} {:<8} {:<22} {:>7} {:>14} {:>14}",
            "place", "kind", "holder", "count", "bytes", "in use"
        )?;
        for row in &self.rows {
            let place = match row.location {
                Location::Host => "host".into(),
                Location::Device(ordinal) => format!("device {ordinal}"),
            };
            let kind = match row.kind {
                Kind::Memory => "memory",
                Kind::LockedMemory => "locked",
                Kind::Signals => "signals",
                Kind::Queues => "queues",
                Kind::Code => "code",
            };
            let used = row.used.map_or_else(|| "all".into(), |used| used.to_string());
            let (holder, count, bytes) = (name(row), row.count, row.bytes);
            writeln!(f, "{place:<9} {kind:<8} {holder:<22} {count:>7} {bytes:>14} {used:>14}")?;
        }
        for (ordinal, given_out) in self.given_out.iter().enumerate() {
            let ours = self.memory_of(Location::Device(ordinal));
            let rest = given_out.saturating_sub(ours);
            writeln!(
                f,
                "device {ordinal}: {given_out} bytes given out, {ours} as above, {rest} to the HSA runtime and others"
            )?;
        }
        Ok(())
    }
}

/// The error for want of memory, with the largest holders kept for a caller that asks.
pub(crate) fn short(bytes: usize) -> Error {
    if let Ok(holdings) = MemoryReport::now() {
        let devices = (0..holdings.given_out.len()).map(Location::Device);
        let most: Vec<_> = devices
            .chain([Location::Host])
            .map(|place| (place, holdings.top(place)))
            .filter(|(_, top)| !top.is_empty())
            .map(|(place, top)| match place {
                Location::Host => format!("of the host's memory {top}"),
                Location::Device(ordinal) => format!("of device {ordinal} {top}"),
            })
            .collect();
        explain(format_args!("no memory for {bytes} bytes; this process holds {}", most.join("; ")));
    }
    Error::OutOfMemory { bytes }
}

/// Where [`REPORT_VARIABLE`] wants the table, if it does.
fn destination() -> Option<&'static PathBuf> {
    static DESTINATION: OnceLock<Option<PathBuf>> = OnceLock::new();
    let wanted = || env::var_os(REPORT_VARIABLE).filter(|wanted| !wanted.is_empty() && wanted != "0");
    DESTINATION.get_or_init(|| wanted().map(PathBuf::from)).as_ref()
}

/// Has the table printed when the process ends, if [`REPORT_VARIABLE`] asks for it.
pub(crate) fn report_at_exit() {
    static ONCE: Once = Once::new();
    if destination().is_some() {
        ONCE.call_once(|| {
            // SAFETY: the function may be called when the process ends: what it uses lives as long. A refusal leaves the
            // table unprinted.
            let _ = unsafe { libc::atexit(print) };
        });
    }
}

extern "C" fn print() {
    // A panic must not cross into C, where the process is ending.
    let _ = std::panic::catch_unwind(|| {
        let (Some(path), Ok(holdings)) = (destination(), MemoryReport::now()) else { return };
        let graphs = Printed(executables());
        let table = format!("what is held at the end of process {}\n{holdings}{graphs}", std::process::id());
        let written = match path.as_os_str() == "1" {
            true => std::io::stderr().write_all(table.as_bytes()),
            false => fs::write(path, table),
        };
        if let Err(error) = written {
            tracing::warn!("{}: {error}", path.display());
        }
    });
}

#[cfg(test)]
mod tests;
