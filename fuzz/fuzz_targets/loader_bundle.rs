//! Measures and reads bundles, plain and compressed. Start from `loader/tests/samples/three_targets*`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loader::bundle::{Bundle, Extent, bundles, extent};
use loader::{CodeObject, Limits};

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default().decompressed_bytes(16 << 20);
    for bundle in bundles(data, limits).flatten() {
        for entry in bundle.entries() {
            let _ = CodeObject::parse(entry.bytes.clone());
        }
        for device in ["gfx90a:sramecc+:xnack-", "gfx942:sramecc+:xnack-", "gfx906:sramecc+:xnack-"] {
            let device = device.parse().expect("a target id");
            if let Ok(entry) = bundle.select(&device) {
                let identity = entry.identity.expect("only code objects are selected");
                assert!(identity.target.runs_on(identity.generic_version, &device));
            }
        }
    }

    // A caller that grows its view as told ends, and agrees with one that sees everything.
    let mut known = 0;
    let measured = loop {
        match extent(&data[..known]) {
            Ok(Extent::Len(length)) => break Some(length),
            Ok(Extent::Need(more)) => {
                assert!(more > known);
                if more > data.len() {
                    break None;
                }
                known = more;
            }
            Err(_) => break None,
        }
    };
    if let (Some(length), Ok(bundle)) = (measured, Bundle::parse(data, &limits)) {
        assert_eq!(length, bundle.extent());
    }
});
