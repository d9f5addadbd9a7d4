//! Which code runs on which device.

mod processor;

use std::fmt;

pub use processor::Processor;

/// The value of a target feature, in code or on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Code that runs with either setting, or a processor without the feature.
    #[default]
    Any,
    /// Off: `-` in a target id.
    Off,
    /// On: `+` in a target id.
    On,
}

impl Feature {
    fn sign(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Off => "-",
            Self::On => "+",
        }
    }
}

/// A target id (LLVM AMDGPUUsage, "Target ID"): a processor and the settings of its two features.
///
/// It says what code was compiled for, and what a device is. It is read from every spelling in use:
///
/// | where | example |
/// |---|---|
/// | `--offload-arch`, `gcnArchName` | `gfx90a:sramecc+:xnack-` |
/// | bundle entry | `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`, `hip-amdgcn-amd-amdhsa--gfx942` |
/// | HSA ISA name | `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-` |
/// | metadata of newer LLVM | `amdgpu9.0a-amd-amdhsa-unknown-gfx90a`, `amdgpu9.42-amd-amdhsa` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetId {
    /// The processor, which for code may be a generic one.
    pub processor: Processor,
    /// Retry of faulting memory accesses.
    pub xnack: Feature,
    /// Error correction of on-chip memories.
    pub sramecc: Feature,
}

impl TargetId {
    /// Names a processor with both features at [`Feature::Any`].
    pub fn new(processor: Processor) -> Self {
        Self { processor, xnack: Feature::Any, sramecc: Feature::Any }
    }

    /// Whether code compiled for `self` runs on `device`.
    ///
    /// The processors are equal, or `self` is a generic target that covers the device's from a version not
    /// above `generic_version`; and each feature that the code fixes has that value on the device. A device
    /// that does not tell a feature's setting runs only code that leaves it open.
    pub fn runs_on(&self, generic_version: u8, device: &TargetId) -> bool {
        let processor = self.processor == device.processor
            || device
                .processor
                .generic()
                .is_some_and(|(generic, since)| generic == self.processor && generic_version >= since);
        let agrees = |code: Feature, device: Feature| code == Feature::Any || code == device;
        processor && agrees(self.xnack, device.xnack) && agrees(self.sramecc, device.sramecc)
    }

    /// Ranks code that runs on one device: an exact processor before a generic one, then the more fixed
    /// features.
    pub fn specificity(&self) -> u8 {
        let fixed = |feature| u8::from(feature != Feature::Any);
        4 * u8::from(!self.processor.is_generic()) + fixed(self.xnack) + fixed(self.sramecc)
    }
}

impl fmt::Display for TargetId {
    /// Writes the canonical form: features in alphabetic order, those at "any" left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.processor)?;
        for (name, value) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            if value != Feature::Any {
                write!(f, ":{name}{}", value.sign())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
