//! Values that are made when a thread first needs them.

#![forbid(unsafe_code)]

use std::sync::OnceLock;

use parking_lot::Mutex;

use crate::error::Result;

/// A value that is made on first use. If a thread cannot make it for want of memory, the next one tries again.
pub(crate) struct Once<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Once<T> {
    /// The value, if it was made.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, made by `make` if there is none yet; other threads that need it wait meanwhile.
    ///
    /// # Errors
    /// Those of `make`, which may succeed the next time.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _making = self.making.lock();
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let made = make()?;
        Ok(self.value.get_or_init(|| made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn a_failure_is_not_kept() {
        let once = Once::default();
        let none = Error::OutOfMemory { bytes: 1 };
        assert_eq!(once.get_or_make(|| Err(none.clone())), Err(none));
        assert_eq!(once.get(), None);
        assert_eq!(once.get_or_make(|| Ok(7)), Ok(&7));
        assert_eq!(once.get_or_make(|| Ok(8)), Ok(&7));
    }
}
