//! A copy as the runs of bytes that it is.

#![forbid(unsafe_code)]

use crate::error::{Error, Result};
use aqlipse_graph::{BoxCopy, Memcpy, RunCopy, Surface};

/// The runs of a copy, row by row.
///
/// # Errors
/// [`Error::InvalidValue`] for a box that leaves the address space.
pub(crate) fn rows(copy: &Memcpy) -> Result<impl Iterator<Item = RunCopy>> {
    let corner =
        |s: &Surface| s.corner_address().ok_or(Error::InvalidValue("the box leaves the address space"));
    let (dst, src, [width, height, depth], steps) = match copy {
        Memcpy::Linear { dst, src, bytes, .. } => (*dst, *src, [*bytes, 1, 1], [(0, 0); 2]),
        Memcpy::Box(copy) => {
            let BoxCopy { dst, src, extent, .. } = &**copy;
            (corner(dst)?, corner(src)?, *extent, [dst, src].map(|s| (s.rows, s.pitch)))
        }
    };
    let run = move |z: u64, y: u64| {
        let [to, from] = steps.map(|(rows, pitch)| (z * rows + y) * pitch);
        RunCopy { dst: dst + to, src: src + from, bytes: width }
    };
    Ok((0..depth).flat_map(move |z| (0..height).map(move |y| run(z, y))))
}
