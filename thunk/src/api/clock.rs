//! Clocks.

use emulator::os;

use crate::{
    abi::{HsaClockCounters, Out},
    entry::entry,
    session,
};

/// The system's clock counts nanoseconds.
const SYSTEM_FREQUENCY: u64 = 1_000_000_000;

entry! {
    /// Reads the clocks of a node and of the system, close together.
    fn hsaKmtGetClockCounters(node: u32, counters: Out<HsaClockCounters>) {
        let session = session::current()?;
        let device = session.topology.device(node)?;
        let ticks = device.map_or(0, |(index, _)| session.driver.ticks(index));
        let now = os::now();
        counters.write(HsaClockCounters {
            GPUClockCounter: ticks,
            CPUClockCounter: now,
            SystemClockCounter: now,
            SystemClockFrequencyHz: SYSTEM_FREQUENCY,
        })
    }
}
