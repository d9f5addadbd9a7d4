//! Every exported symbol by name, with its address and the HIP version that brought it.

/// One exported symbol.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The name as the linker sees it.
    pub name: &'static str,
    /// Major and minor HIP version of its version node.
    pub since: (u8, u8),
    /// What captures do to it, if it has to do with streams, memory or graphs.
    pub capture: Option<aqlipse::capture::Rule>,
    /// Its address; the true signature is the header's.
    pub address: unsafe extern "C" fn(),
}

/// Finds an exported symbol.
pub fn find(name: &str) -> Option<&'static Symbol> {
    generated::SYMBOLS
        .binary_search_by(|symbol| symbol.name.cmp(name))
        .ok()
        .map(|index| &generated::SYMBOLS[index])
}

/// All exported symbols, by name.
pub fn all() -> &'static [Symbol] {
    &generated::SYMBOLS
}

#[allow(non_snake_case, clashing_extern_declarations)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/surface.rs"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{hipError_t, hipErrorNotSupported};

    #[test]
    fn every_export_is_found_by_its_name() {
        // AMD's 590, and those of its newest header; beside them what its later releases have, AMD's proposal, and our own.
        assert_eq!(all().len(), 590 + 3 + 4 + 3 + 6);
        for symbol in all() {
            assert_eq!(find(symbol.name).map(|found| found.name), Some(symbol.name));
        }
        assert!(find("hipNoSuchFunction").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn versions_come_from_the_nodes() {
        assert_eq!(find("hipMalloc").map(|symbol| symbol.since), Some((4, 2)));
        assert_eq!(find("hipGetDevicePropertiesR0600").map(|symbol| symbol.since), Some((6, 0)));
    }

    #[test]
    fn what_is_not_written_refuses() {
        // OpenGL is out.
        let symbol = find("hipGLGetDevices").unwrap();
        type Refusal = extern "C" fn(u64, u64, u32, u32) -> hipError_t;
        // SAFETY: a generated refusal takes what the function takes, and returns a code.
        let refusal = unsafe { std::mem::transmute::<unsafe extern "C" fn(), Refusal>(symbol.address) };
        assert_eq!(refusal(0, 0, 0, 0), hipErrorNotSupported);
        assert_eq!(crate::entry::last_error(true), hipErrorNotSupported);
    }
}
