//! The host's own node, as the kernel describes the machine.

use std::{fs, thread};

use emulator::os;

use super::set_names;
use crate::abi::{
    CACHE_TYPE_CPU, CACHE_TYPE_DATA, CACHE_TYPE_INSTRUCTION, HsaCacheProperties, HsaNodeProperties, Zero,
};

const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Bytes of memory, whole pages.
pub fn memory() -> u64 {
    os::physical_memory() / os::PAGE as u64 * os::PAGE as u64
}

/// What the kernel writes after `name : ` of the first processor.
fn processor(name: &str) -> Option<String> {
    let information = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = information.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(": ")?.1.trim().to_owned())
}

/// Clock of the processors, MHz; 0 where the kernel does not tell.
pub fn clock() -> u32 {
    // CAST: saturates.
    processor("cpu MHz").and_then(|text| text.parse::<f64>().ok()).map_or(0, |clock| clock as u32)
}

/// The host's node.
pub fn describe() -> HsaNodeProperties {
    let mut properties = HsaNodeProperties {
        // CAST: no machine has 2^32 cores.
        NumCPUCores: thread::available_parallelism().map_or(1, |n| n.get() as u32),
        MaxEngineClockMhzCCompute: clock(),
        DrmRenderMinor: -1,
        ..HsaNodeProperties::ZERO
    };
    set_names(&mut properties, &processor("model name").unwrap_or_else(|| "CPU".to_owned()), "");
    properties
}

/// The caches of one processor; at least one for data, which ROCr insists on.
pub fn caches(processor: u32) -> Vec<HsaCacheProperties> {
    let found: Vec<_> = (0..8).map_while(|index| cache(index, processor)).collect();
    if found.iter().any(|cache| cache.CacheType & CACHE_TYPE_DATA != 0) {
        return found;
    }
    vec![HsaCacheProperties {
        ProcessorIdLow: processor,
        CacheLevel: 1,
        CacheSize: 32,
        CacheLineSize: 64,
        CacheType: CACHE_TYPE_DATA | CACHE_TYPE_CPU,
        ..HsaCacheProperties::ZERO
    }]
}

fn cache(index: u32, processor: u32) -> Option<HsaCacheProperties> {
    let text = |name: &str| fs::read_to_string(format!("{CACHES}/index{index}/{name}")).ok();
    let number = |name: &str| text(name).and_then(|text| text.trim().parse::<u32>().ok()).unwrap_or_default();
    let kind = match text("type")?.trim() {
        "Data" => CACHE_TYPE_DATA,
        "Instruction" => CACHE_TYPE_INSTRUCTION,
        _ => CACHE_TYPE_DATA | CACHE_TYPE_INSTRUCTION,
    };
    Some(HsaCacheProperties {
        ProcessorIdLow: processor,
        CacheLevel: number("level"),
        // The kernel writes "48K".
        CacheSize: text("size")?.trim().trim_end_matches('K').parse().ok()?,
        CacheLineSize: number("coherency_line_size"),
        CacheAssociativity: number("ways_of_associativity"),
        CacheType: kind | CACHE_TYPE_CPU,
        ..HsaCacheProperties::ZERO
    })
}
