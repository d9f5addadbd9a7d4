//! Device images of which only the address is known: what a fat binary's constructor and `hipModuleLoadData` give.

use loader::{
    Bytes,
    bundle::{Extent, Wrapper, extent},
};

use crate::error::{Error, Result};

/// The image at `address`, as long as its own headers say that it is.
///
/// # Errors
/// [`Error::InvalidImage`] if it is no code object or bundle.
///
/// # Safety
/// If an image stands at `address`, all of it is readable and stays as it is for `'a`; if not, at least its first
/// four bytes are readable.
pub unsafe fn image_at<'a>(address: *const u8) -> Result<Bytes<'a>> {
    if address.is_null() {
        return Err(Error::InvalidImage("a null pointer".into()));
    }
    let mut known = 0;
    loop {
        // SAFETY: `extent` asks only for bytes that the headers read so far say are there.
        let prefix = unsafe { std::slice::from_raw_parts(address, known) };
        match extent(prefix)? {
            Extent::Need(bytes) => known = bytes,
            Extent::Len(bytes) => {
                // SAFETY: the headers say that the image has so many bytes, and the caller that all are readable.
                return Ok(unsafe { std::slice::from_raw_parts(address, bytes) }.into());
            }
        }
    }
}

/// The image that a fat binary's wrapper points to.
///
/// # Errors
/// [`Error::InvalidImage`] if it is no wrapper, or points to no image.
///
/// # Safety
/// `wrapper` is null or readable for 24 bytes, and what it points to is as for [`image_at`], for ever.
pub unsafe fn image_of_wrapper(wrapper: *const u8) -> Result<Bytes<'static>> {
    if wrapper.is_null() {
        return Err(Error::InvalidImage("a null pointer".into()));
    }
    // SAFETY: the caller's promise; bytes have no alignment.
    let bytes = unsafe { wrapper.cast::<[u8; Wrapper::BYTES]>().read() };
    let wrapper = Wrapper::parse(&bytes)?;
    // SAFETY: the caller's promise.
    unsafe { image_at(wrapper.binary as usize as *const u8) }
}
