use std::fmt;

/// An AMDGPU processor, or a generic target that stands for a family of them.
///
/// Its number is the `EF_AMDGPU_MACH` value of a code object's `e_flags` (LLVM AMDGPUUsage, "ELF Header").
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Processor(&'static Row);

#[derive(PartialEq, Eq, Hash)]
struct Row {
    mach: u8,
    name: &'static str,
    xnack: bool,
    sramecc: bool,
    /// The generic target that this processor belongs to.
    family: Option<Family>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Family {
    mach: u8,
    /// Code objects for the generic target run on this processor from this version on.
    since: u8,
}

const GFX9: u8 = 0x51;
const GFX10_1: u8 = 0x52;
const GFX10_3: u8 = 0x53;
const GFX11: u8 = 0x54;
const GFX12: u8 = 0x59;
const GFX9_4: u8 = 0x5f;

const fn row(mach: u8, name: &'static str, features: &str, family: u8) -> Row {
    let features = features.as_bytes();
    let family = if family == 0 { None } else { Some(Family { mach: family, since: 1 }) };
    Row { mach, name, xnack: features[0] == b'x', sramecc: features[1] == b's', family }
}

/// LLVM AMDGPUUsage, "AMDGPU Processors", "AMDGPU Generic Processors" and "EF_AMDGPU_MACH Values"; the
/// features are those that LLVM 22 marks in `e_flags`. `x` is xnack, `s` is sramecc.
#[rustfmt::skip]
static TABLE: [Row; 55] = [
    row(0x20, "gfx600", "--", 0),
    row(0x21, "gfx601", "--", 0),
    row(0x22, "gfx700", "--", 0),
    row(0x23, "gfx701", "--", 0),
    row(0x24, "gfx702", "--", 0),
    row(0x25, "gfx703", "--", 0),
    row(0x26, "gfx704", "--", 0),
    row(0x28, "gfx801", "x-", 0),
    row(0x29, "gfx802", "--", 0),
    row(0x2a, "gfx803", "--", 0),
    row(0x2b, "gfx810", "x-", 0),
    row(0x2c, "gfx900", "x-", GFX9),
    row(0x2d, "gfx902", "x-", GFX9),
    row(0x2e, "gfx904", "x-", GFX9),
    row(0x2f, "gfx906", "xs", GFX9),
    row(0x30, "gfx908", "xs", 0),
    row(0x31, "gfx909", "x-", GFX9),
    row(0x32, "gfx90c", "x-", GFX9),
    row(0x33, "gfx1010", "x-", GFX10_1),
    row(0x34, "gfx1011", "x-", GFX10_1),
    row(0x35, "gfx1012", "x-", GFX10_1),
    row(0x36, "gfx1030", "--", GFX10_3),
    row(0x37, "gfx1031", "--", GFX10_3),
    row(0x38, "gfx1032", "--", GFX10_3),
    row(0x39, "gfx1033", "--", GFX10_3),
    row(0x3a, "gfx602", "--", 0),
    row(0x3b, "gfx705", "--", 0),
    row(0x3c, "gfx805", "--", 0),
    row(0x3d, "gfx1035", "--", GFX10_3),
    row(0x3e, "gfx1034", "--", GFX10_3),
    row(0x3f, "gfx90a", "xs", 0),
    row(0x40, "gfx940", "xs", 0),
    row(0x41, "gfx1100", "--", GFX11),
    row(0x42, "gfx1013", "x-", GFX10_1),
    row(0x43, "gfx1150", "--", GFX11),
    row(0x44, "gfx1103", "--", GFX11),
    row(0x45, "gfx1036", "--", GFX10_3),
    row(0x46, "gfx1101", "--", GFX11),
    row(0x47, "gfx1102", "--", GFX11),
    row(0x48, "gfx1200", "--", GFX12),
    row(0x49, "gfx1250", "xs", 0),
    row(0x4a, "gfx1151", "--", GFX11),
    row(0x4b, "gfx941", "xs", 0),
    row(0x4c, "gfx942", "xs", GFX9_4),
    row(0x4e, "gfx1201", "--", GFX12),
    row(0x4f, "gfx950", "xs", GFX9_4),
    row(GFX9, "gfx9-generic", "x-", 0),
    row(GFX10_1, "gfx10-1-generic", "x-", 0),
    row(GFX10_3, "gfx10-3-generic", "--", 0),
    row(GFX11, "gfx11-generic", "--", 0),
    row(0x55, "gfx1152", "--", GFX11),
    row(0x58, "gfx1153", "--", GFX11),
    row(GFX12, "gfx12-generic", "--", 0),
    row(0x5a, "gfx1251", "xs", 0),
    row(GFX9_4, "gfx9-4-generic", "xs", 0),
];

impl Processor {
    /// Looks a processor up by its `EF_AMDGPU_MACH` value.
    pub fn from_mach(mach: u8) -> Option<Self> {
        TABLE.iter().find(|row| row.mach == mach).map(Self)
    }

    /// Looks a processor up by its LLVM name: `gfx90a`, `gfx9-4-generic`, ...
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(Self)
    }

    /// Iterates over all processors that the loader knows.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    /// The `EF_AMDGPU_MACH` value.
    pub fn mach(self) -> u8 {
        self.0.mach
    }

    /// The LLVM name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether code for it may depend on the XNACK setting (retry of faulting memory accesses).
    pub fn has_xnack(self) -> bool {
        self.0.xnack
    }

    /// Whether code for it may depend on the SRAMECC setting.
    pub fn has_sramecc(self) -> bool {
        self.0.sramecc
    }

    /// Whether it stands for a family of processors.
    pub fn is_generic(self) -> bool {
        self.0.name.ends_with("-generic")
    }

    /// The generic target whose code runs on this processor, and the first version of it that does.
    pub fn generic(self) -> Option<(Self, u8)> {
        let family = self.0.family?;
        Some((Self::from_mach(family.mach)?, family.since))
    }

    /// Whether wavefronts can have 32 lanes, as a kernel says: GFX10 and later.
    pub fn has_narrow_wavefronts(self) -> bool {
        ["gfx10", "gfx11", "gfx12"].iter().any(|generation| self.name().starts_with(generation))
    }

    /// Whether vector and accumulation registers are one file, allocated in blocks of 8 (gfx90a and later
    /// CDNA).
    pub fn has_unified_registers(self) -> bool {
        matches!(self.name(), "gfx90a" | "gfx940" | "gfx941" | "gfx942" | "gfx950" | "gfx9-4-generic")
    }
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Debug for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_unique() {
        for p in Processor::all() {
            assert_eq!(Processor::from_mach(p.mach()), Some(p));
            assert_eq!(Processor::from_name(p.name()), Some(p));
        }
    }

    #[test]
    fn gfx9_generic_covers_neither_gfx908_nor_gfx90a() {
        let members: Vec<_> = Processor::all()
            .filter(|p| p.generic().is_some_and(|(g, _)| g.name() == "gfx9-generic"))
            .map(Processor::name)
            .collect();
        assert_eq!(members, ["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]);
    }

    #[test]
    fn wavefronts_are_narrow_from_gfx10_on() {
        for p in Processor::all().filter(|p| p.generic().is_some()) {
            let (generic, _) = p.generic().unwrap();
            let is_gfx9 = matches!(generic.mach(), GFX9 | GFX9_4);
            assert_eq!(
                (p.has_narrow_wavefronts(), generic.has_narrow_wavefronts()),
                (!is_gfx9, !is_gfx9),
                "{p}"
            );
        }
    }

    #[test]
    fn a_generic_target_has_the_features_that_all_its_members_have() {
        for p in Processor::all() {
            if let Some((generic, since)) = p.generic() {
                assert!(generic.is_generic() && since >= 1);
                assert!(p.has_xnack() || !generic.has_xnack(), "{p} {generic}");
                assert!(p.has_sramecc() || !generic.has_sramecc(), "{p} {generic}");
            }
        }
    }
}
