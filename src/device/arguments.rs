//! Where executables have their kernel arguments.

use crate::error::{Error, Result};

/// The environment variable that says where kernel arguments of executables are: `device` or `host`.
pub const ARGUMENTS_VARIABLE: &str = "AQLIPSE_KERNARGS";

/// Where the kernel arguments of executables on one device lie.
///
/// A kernel begins with loads of its arguments: from memory of the host each of them crosses the bus. Executables keep
/// theirs from launch to launch, so that they are written once and read often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Arguments {
    /// In memory of the device, if it has fine-grained memory: the host writes there through a window of PCIe (large BAR)
    /// or by copies.
    #[default]
    Device,
    /// In memory of the host.
    Host,
}

impl Arguments {
    /// What [`ARGUMENTS_VARIABLE`] says.
    ///
    /// # Errors
    /// [`Error::NotInitialized`] if it says anything else.
    pub(super) fn from_env() -> Result<Self> {
        let wanted = std::env::var(ARGUMENTS_VARIABLE).unwrap_or_default();
        match wanted.as_str() {
            "" => Ok(Self::default()),
            "device" => Ok(Self::Device),
            "host" => Ok(Self::Host),
            _ => {
                Err(Error::NotInitialized(format!("{ARGUMENTS_VARIABLE}={wanted}: expected device or host")))
            }
        }
    }
}
