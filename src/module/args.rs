//! The kernarg segment: explicit arguments where the compiler put them, hidden ones filled in.

use loader::{Arg, ValueKind};

/// What hidden arguments are made of.
pub(crate) struct LaunchShape {
    /// Work-items of the grid in x, y, z.
    pub(crate) work_items: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub(crate) block: [u16; 3],
    /// Bytes of LDS asked for at launch.
    pub(crate) dynamic_lds: u32,
    /// Address of the hostcall buffer, for kernels that have one.
    pub(crate) hostcall: u64,
    /// Address of the device library's heap, for kernels that have one.
    pub(crate) heap: u64,
}

/// Whether a kernel has an argument of this kind that it may read.
pub(crate) fn has(args: &[Arg], kind: &ValueKind) -> bool {
    args.iter().any(|arg| arg.value_kind == *kind)
}

/// The explicit arguments of `args`, in order.
pub(crate) fn explicit(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    args.iter().filter(|a| !a.value_kind.is_hidden())
}

/// Bytes from the start of the segment to the end of the last explicit argument.
pub(crate) fn explicit_bytes(args: &[Arg]) -> usize {
    explicit(args).map(|a| (a.offset + a.size) as usize).max().unwrap_or(0)
}

/// Fills the hidden arguments of `segment` in.
///
/// Pointers to services that the runtime does not offer (device-side enqueue) are null: a kernel that uses one faults
/// instead of writing somewhere. So are the pointers to the printf buffer and to what a cooperative launch needs. The
/// launch fills them in when it has these ([`put_hidden`]).
pub(crate) fn fill_hidden(segment: &mut [u8], args: &[Arg], shape: &LaunchShape) {
    if args.is_empty() {
        return;
    }
    let dims =
        shape.work_items.iter().zip(shape.block).rposition(|(&n, b)| n > 1 || b > 1).map_or(1, |i| i + 1);
    // Partial workgroups count apart (LLVM AMDGPU usage, code object v5 kernel arguments).
    let whole = |i: usize| u64::from(shape.work_items[i] / u32::from(shape.block[i]).max(1));
    let remainder = |i: usize| u64::from(shape.work_items[i] % u32::from(shape.block[i]).max(1));
    for arg in args {
        let value: u64 = match &arg.value_kind {
            ValueKind::HiddenBlockCountX => whole(0),
            ValueKind::HiddenBlockCountY => whole(1),
            ValueKind::HiddenBlockCountZ => whole(2),
            ValueKind::HiddenRemainderX => remainder(0),
            ValueKind::HiddenRemainderY => remainder(1),
            ValueKind::HiddenRemainderZ => remainder(2),
            ValueKind::HiddenGroupSizeX => shape.block[0].into(),
            ValueKind::HiddenGroupSizeY => shape.block[1].into(),
            ValueKind::HiddenGroupSizeZ => shape.block[2].into(),
            ValueKind::HiddenGridDims => dims as u64,
            ValueKind::HiddenDynamicLdsSize => shape.dynamic_lds.into(),
            ValueKind::HiddenHostcallBuffer => shape.hostcall,
            ValueKind::HiddenHeapV1 => shape.heap,
            kind if kind.is_hidden() => 0,
            _ => continue,
        };
        put(segment, arg, value);
    }
}

/// Fills one hidden argument in, if the kernel has it.
pub(crate) fn put_hidden(segment: &mut [u8], args: &[Arg], kind: &ValueKind, value: u64) {
    for arg in args.iter().filter(|arg| arg.value_kind == *kind) {
        put(segment, arg, value);
    }
}

fn put(segment: &mut [u8], arg: &Arg, value: u64) {
    let at = arg.offset as usize..(arg.offset as usize).saturating_add(arg.size as usize);
    if let Some(field) = segment.get_mut(at) {
        let bytes = value.to_le_bytes();
        let n = field.len().min(bytes.len());
        field[..n].copy_from_slice(&bytes[..n]);
    }
}
