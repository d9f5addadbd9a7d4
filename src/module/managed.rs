//! Managed variables: memory that host and device share, behind a pointer in the device code.
//!
//! A compiler turns a managed variable `v` into two symbols of the code object: `v.managed` holds the initial value, and
//! `v` is a pointer, null until the runtime stores the variable's address there. The host's half of a program has a
//! pointer of its own, which it uses from its first constructor on.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::CStr,
    sync::Arc,
};

use loader::SymbolKind;
use parking_lot::Mutex;

use super::Loaded;
use crate::{
    device::Device,
    error::{Error, Result},
    memory::{self, Region},
};

/// What the compiler appends to a variable's name for the symbol with its initial value.
const INITIAL: &str = ".managed";
/// Bytes of a pointer in device code.
const POINTER: u64 = 8;

/// The managed variables of a module, the same for all devices; they end with the last code that may use them. And the names of
/// those that are constant for kernels, as far as they are known.
#[derive(Default)]
pub struct Managed {
    variables: Mutex<BTreeMap<Box<str>, Arc<Region>>>,
    constants: Mutex<BTreeSet<Box<CStr>>>,
}

impl Managed {
    /// Kernels must not write the variable `name`.
    pub fn know_constant(&self, name: &CStr) {
        self.constants.lock().insert(name.into());
    }

    pub(super) fn is_constant(&self, name: &str) -> bool {
        self.constants.lock().iter().any(|known| known.to_bytes() == name.as_bytes())
    }

    /// Makes the variable `name` with an initial value, unless there is one; returns its address.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::InvalidValue`] if there is one of another size.
    pub fn define(&self, device: &Device, name: &str, initial: &[u8]) -> Result<u64> {
        let region = self.find_or_make(device, name, initial.len() as u64, |address| {
            let target = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
            // SAFETY: the host reaches managed memory. No other thread knows this piece yet; it has as many bytes.
            unsafe { target.copy_from_nonoverlapping(initial.as_ptr(), initial.len()) };
            Ok(())
        })?;
        Ok(region.address)
    }

    /// Address and bytes of the variable `name`, if there is one.
    pub(super) fn find(&self, name: &str) -> Option<(u64, u64)> {
        let known = self.variables.lock();
        known.get(name).map(|region| (region.address, region.bytes))
    }

    fn find_or_make(
        &self,
        device: &Device,
        name: &str,
        bytes: u64,
        initialise: impl FnOnce(u64) -> Result<()>,
    ) -> Result<Arc<Region>> {
        let mut known = self.variables.lock();
        if let Some(region) = known.get(name) {
            return match region.bytes == bytes {
                true => Ok(region.clone()),
                false => Err(Error::InvalidValue("a managed variable of another size in the device's code")),
            };
        }
        let region = memory::allocate_managed_variable(device, bytes)?;
        if let Err(error) = initialise(region.address) {
            memory::forget_managed_variable(region.address);
            return Err(error);
        }
        known.insert(name.into(), region.clone());
        Ok(region)
    }

    /// Lets the code that was just loaded on `device` find its managed variables.
    ///
    /// # Errors
    /// What [`Managed::define`] fails with, and [`Error::Hsa`] if the pointers cannot be written.
    pub(super) fn connect(&self, device: &Device, loaded: &Loaded) -> Result<()> {
        let runtime = device.0.system.runtime();
        for symbol in loaded.object.symbols().filter(|symbol| symbol.kind == SymbolKind::Variable) {
            let Some(name) = symbol.name.strip_suffix(INITIAL) else { continue };
            if loaded.object.variable(name).is_none_or(|pointer| pointer.size != POINTER) {
                continue;
            }
            let region = self.find_or_make(device, name, symbol.size, |address| {
                let initial = loaded.variable(symbol.name)?;
                // SAFETY: the HSA runtime has placed the code's variables. No other thread knows the new memory yet,
                // and it has as many bytes as the symbol.
                Ok(unsafe { runtime.copy(address, initial, symbol.size as usize) }?)
            })?;
            let value = region.address.to_ne_bytes();
            // SAFETY: the pointer is a variable of the code, eight bytes as checked, which no kernel runs yet.
            unsafe { runtime.copy(loaded.variable(name)?, value.as_ptr() as u64, value.len()) }?;
        }
        Ok(())
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        let known = self.variables.get_mut();
        std::mem::take(known)
            .into_values()
            .for_each(|region| memory::forget_managed_variable(region.address));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_made_once_and_ends_with_its_module() {
        let device = Device::get(0).unwrap();
        let managed = Managed::default();
        let address = managed.define(&device, "v", &[1, 2, 3]).unwrap();
        assert_eq!(managed.define(&device, "v", &[7, 7, 7]), Ok(address));
        assert_eq!(managed.find("v"), Some((address, 3)));
        assert_eq!(managed.find("w"), None);
        assert!(matches!(managed.define(&device, "v", &[1]), Err(Error::InvalidValue(_))));
        let value = std::ptr::with_exposed_provenance::<[u8; 3]>(address as usize);
        // SAFETY: managed memory of three bytes, which the host reaches.
        assert_eq!(unsafe { value.read() }, [1, 2, 3]);
        assert!(memory::free(address).is_err(), "no caller may free it");
        assert_eq!(memory::find(address).unwrap().map(|region| region.bytes), Some(3));
        drop(managed);
        assert!(memory::find(address).unwrap().is_none());
    }
}
