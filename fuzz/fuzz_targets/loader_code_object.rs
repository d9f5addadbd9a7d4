//! Parses, lists and lays out a code object. Start from `loader/tests/samples/*.co`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use loader::{CodeObject, Limits};

fuzz_target!(|data: &[u8]| {
    let Ok(object) = CodeObject::parse(data) else { return };
    for name in object.kernel_names() {
        let _ = (object.descriptor(name), object.kernel(name));
    }
    let limits = Limits::default().image_bytes(16 << 20);
    let Ok(plan) = object.load_plan(&limits) else { return };
    let base = 1 << 40;
    if let Ok(image) = plan.image(base, |name| Some(name.len() as u64)) {
        assert_eq!(image.len() as u64, plan.size());
        for kernel in object.kernels().flatten() {
            assert!(kernel.descriptor_offset + 64 <= plan.size() && kernel.entry_offset + 4 <= plan.size());
        }
        for variable in object.variables() {
            assert!(variable.offset + variable.size <= plan.size());
        }
    }
});
