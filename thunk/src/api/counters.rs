//! What the devices counted; an addition of ours, described in `include/aqlipse_thunk.h`.

#![allow(missing_docs, reason = "the fields are described in the C header")]

use crate::{
    abi::{HSAKMT_STATUS_INVALID_NODE_UNIT, Out},
    entry::entry,
    session,
};

use hsa_sys::layout::layout;

layout! {
    /// Counts since the driver was opened.
    [size = 144, align = 8]
    pub struct aqlipse_thunk_counters_t {
        0 => kernels: u64,
        8 => barrier_and: u64,
        16 => barrier_or: u64,
        24 => barrier_value: u64,
        32 => pm4: u64,
        40 => barrier_bits: u64,
        48 => completion_signals: u64,
        56 => interrupts: u64,
        64 => doorbells: u64,
        72 => engine_copies: u64,
        80 => engine_bytes: u64,
        88 => mappings: u64,
        96 => quanta: u64,
        104 => near_host_reads: u64,
        112 => far_host_reads: u64,
        120 => early_host_reads: u64,
        128 => page_faults: u64,
        136 => migrated_pages: u64,
    }
}

entry! {
    /// Reads the counters of device `device`; the first is 0.
    fn aqlipseThunkCounters(device: u32, counters: Out<aqlipse_thunk_counters_t>) {
        let session = session::current()?;
        if device as usize >= session.topology.devices().len() {
            return Err(HSAKMT_STATUS_INVALID_NODE_UNIT);
        }
        let counted = session.driver.counters(device);
        counters.write(aqlipse_thunk_counters_t {
            kernels: counted.kernels,
            barrier_and: counted.barrier_and,
            barrier_or: counted.barrier_or,
            barrier_value: counted.barrier_value,
            pm4: counted.pm4,
            barrier_bits: counted.barrier_bits,
            completion_signals: counted.completion_signals,
            interrupts: counted.interrupts,
            doorbells: counted.doorbells,
            engine_copies: counted.engine_copies,
            engine_bytes: counted.engine_bytes,
            mappings: counted.mappings,
            quanta: counted.quanta,
            near_host_reads: counted.near_host_reads,
            far_host_reads: counted.far_host_reads,
            early_host_reads: counted.early_host_reads,
            page_faults: counted.page_faults,
            migrated_pages: counted.migrated_pages,
        })
    }
}
