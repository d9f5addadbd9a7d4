//! `aqlipse doctor queues`: the hardware queues of each device.

use std::fmt::Write as _;

use aqlipse::{Device, Result};

/// Says how many queues the runtime has made, here for one stream, and how many it makes at most.
pub fn run() -> Result<()> {
    for device in Device::all()? {
        device.default_stream().synchronize()?;
        print!("{}", report(device)?);
    }
    Ok(())
}

fn report(device: &Device) -> Result<String> {
    let queues = device.queues()?;
    let mut text = String::new();
    let (ordinal, name, count, limit) =
        (device.ordinal(), &device.properties().name, queues.count(), queues.limit);
    // Writing to a string does not fail.
    let _ = writeln!(text, "device {ordinal}: {name}: {count} of {limit} hardware queues");
    for (kind, count) in &queues.made {
        let _ = writeln!(text, "  {count:>2} for {kind}");
    }
    let _ =
        writeln!(text, "  Past {limit}, streams share queues; each set of compute units has one of its own.");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_counted_by_what_they_are_for() {
        let device = &Device::all().unwrap()[0];
        device.default_stream().synchronize().unwrap();
        let text = report(device).unwrap();
        assert!(text.contains(" of 22 hardware queues\n") && text.contains(" for streams\n"), "{text}");
    }
}
