//! Hands code objects to the HSA runtime: as they are, or in a form that an older one understands.

use std::sync::Arc;

use hsa_sys::HSA_STATUS_ERROR_OUT_OF_RESOURCES;
use loader::{CodeObject, Place, SymbolKind};

use super::generic;
use crate::{
    device::Device,
    error::{Error, Result},
};

/// Has the HSA runtime place `object` on `device`; `bytes` is its file.
///
/// # Errors
/// [`Error::InvalidImage`], [`Error::OutOfMemory`]; what took the device, if it is lost.
pub(super) fn place(device: &Device, object: &CodeObject<'_>, bytes: &[u8]) -> Result<hsa::FrozenExecutable> {
    device.refuse_if_lost()?;
    let refused = |error: hsa::Error| refused(&error, bytes.len());
    let (executable, older) = match load(device, bytes) {
        Ok(executable) => (executable, None),
        // ROCr from before code object version 6 has no other words for one, and knows no generic target.
        Err(error) => {
            match object.as_version_5().or_else(|| generic::for_processor(object, &device.0.target)) {
                Some(older) => (load(device, &older).map_err(|_| refused(error))?, Some(older)),
                None => return Err(refused(error)),
            }
        }
    };
    if finds_symbols(device, object, &executable)? {
        return Ok(executable);
    }
    // ROCr 5.2.3 looks symbols up in the static table alone: what is stripped loads, and has no kernels.
    let full = match &older {
        Some(older) => CodeObject::parse(older.as_slice())?.with_static_symbols(),
        None => object.with_static_symbols(),
    };
    full.map_or(Ok(executable), |full| load(device, &full).map_err(refused))
}

fn load(device: &Device, bytes: &[u8]) -> std::result::Result<hsa::FrozenExecutable, hsa::Error> {
    let mut executable = hsa::Executable::create(device.0.system.runtime())?;
    executable.load(&device.0.agent, Arc::from(bytes))?;
    executable.freeze()
}

/// Whether the HSA runtime finds the first symbol that the object offers.
fn finds_symbols(
    device: &Device,
    object: &CodeObject<'_>,
    executable: &hsa::FrozenExecutable,
) -> Result<bool> {
    let offered = |symbol: &loader::Symbol<'_>| {
        matches!(symbol.kind, SymbolKind::KernelDescriptor | SymbolKind::Variable)
            && matches!(symbol.place, Place::Image(_))
    };
    match object.symbols().find(offered) {
        Some(symbol) => Ok(executable.symbol(&device.0.agent, symbol.name)?.is_some()),
        None => Ok(true),
    }
}

/// The image can be laid out, so what the HSA runtime does not take is the image's fault or a lack of memory.
fn refused(error: &hsa::Error, bytes: usize) -> Error {
    match error.status() {
        Some(HSA_STATUS_ERROR_OUT_OF_RESOURCES) => Error::OutOfMemory { bytes },
        _ => Error::InvalidImage(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_image_is_invalid_unless_there_is_no_memory() {
        let call = |status| hsa::Error::Call { function: "hsa_executable_load_agent_code_object", status };
        let full = refused(&call(HSA_STATUS_ERROR_OUT_OF_RESOURCES), 7);
        assert_eq!(full, Error::OutOfMemory { bytes: 7 });
        let damaged = refused(&call(hsa_sys::HSA_STATUS_ERROR_INVALID_CODE_OBJECT), 7);
        assert!(matches!(damaged, Error::InvalidImage(_)), "{damaged}");
    }
}
