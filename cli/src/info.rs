//! `aqlipse info`: the devices.

use aqlipse::{Backend, Device, Result, Rings};
use serde_json::json;

/// Lists the devices with what programs ask of them.
pub fn run(json: bool) -> Result<()> {
    let devices = Device::all()?;
    if json {
        let list = devices.iter().map(describe).collect::<Result<Vec<_>>>()?;
        println!("{}", json!({ "devices": list }));
        return Ok(());
    }
    for device in devices {
        let p = device.properties();
        println!("device {}: {} [{}]", device.ordinal(), p.name, backend(device));
        println!("  target           {}", p.arch);
        println!("  compute units    {}, wavefronts of {}", p.compute_units, p.wavefront);
        println!("  memory           {} MiB", p.total_memory >> 20);
        println!("  LDS per block    {} KiB", p.lds_per_block >> 10);
        println!("  threads a block  {}", p.max_threads_per_block);
        println!(
            "  clocks           {} MHz core, {} MHz memory",
            p.clock_khz / 1000,
            p.memory_clock_khz / 1000
        );
        println!("  rings            in {} memory", rings(device)?);
        println!("  PCI              {:04x}:{:02x}:{:02x}.{}", p.pci.0, p.pci.1, p.pci.2, p.pci.3);
    }
    Ok(())
}

/// Where the device's queues have their rings, as `AQLIPSE_RING` spells it.
fn rings(device: &Device) -> Result<&'static str> {
    device.default_stream().rings().map(Rings::name)
}

/// The name of a device's back end, as `AQLIPSE_DEVICE` spells it.
pub fn backend(device: &Device) -> &'static str {
    match device.backend() {
        Backend::Rocr => "rocr",
        Backend::Emulated => "emulated",
    }
}

fn describe(device: &Device) -> Result<serde_json::Value> {
    let p = device.properties();
    Ok(json!({
        "ordinal": device.ordinal(),
        "name": p.name,
        "backend": backend(device),
        "target": p.arch,
        "compute_units": p.compute_units,
        "wavefront": p.wavefront,
        "memory_bytes": p.total_memory,
        "lds_bytes_per_block": p.lds_per_block,
        "threads_per_block": p.max_threads_per_block,
        "clock_khz": p.clock_khz,
        "memory_clock_khz": p.memory_clock_khz,
        "rings": rings(device)?,
        "pci": format!("{:04x}:{:02x}:{:02x}.{}", p.pci.0, p.pci.1, p.pci.2, p.pci.3),
    }))
}
