//! Cache lines that are wanted before they are needed.

/// Fetches the line at `address` to be stored to, if another processor has it, so that a store to it soon does not wait
/// as long. Nothing happens at an address that is not mapped.
#[inline(always)]
pub(crate) fn ask_for(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a hint, which changes nothing and cannot fault; processors that do not know it pass over it.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
