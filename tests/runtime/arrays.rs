//! Copies to, from and between arrays, beside a model that counts elements only.

use aqlipse::{
    graph::{BoxCopy, CopyKind, Memcpy, Surface},
    memory::{Array, ArrayShape, ChannelKind, ElementFormat, MipmappedArray},
};
use proptest::prelude::*;

use super::*;

fn array(extent: [u64; 3], bits: u32, channels: u32) -> Array {
    let format = ElementFormat::new(ChannelKind::Unsigned, bits, channels).unwrap();
    Array::new(&device(), format, ArrayShape { extent, layered: false }).unwrap()
}

fn copy(stream: &Stream, copy: Memcpy) {
    // SAFETY: the callers' memory lives behind the wait.
    unsafe { stream.memcpy_and_wait(copy) }.unwrap();
}

/// Everything in an array, element after element, through a copy of bytes.
fn contents(stream: &Stream, array: &Array) -> Vec<u8> {
    let bytes: u64 = array.byte_extent().iter().product();
    let out = vec![0u8; bytes as usize];
    copy(stream, Memcpy::linear(out.as_ptr() as u64, array.run(0, 0, bytes).unwrap(), bytes));
    out
}

fn fill(stream: &Stream, array: &Array, seed: u8) -> Vec<u8> {
    let bytes: u64 = array.byte_extent().iter().product();
    let input: Vec<u8> = (0..bytes).map(|n| (n as u8).wrapping_mul(37) ^ (n >> 8) as u8 ^ seed).collect();
    copy(stream, Memcpy::linear(array.run(0, 0, bytes).unwrap(), input.as_ptr() as u64, bytes));
    input
}

/// A box somewhere in an array: where it starts and how large it is along one dimension.
fn part() -> impl Strategy<Value = (u64, u64, u64)> {
    // What is before the box, in it and behind it.
    (0u64..5, 1u64..9, 0u64..5)
}

/// Where byte `x` of row `y` of slice `z` of an array lies.
fn at(array: &Array, [x, y, z]: [u64; 3]) -> usize {
    let [row, rows, _] = array.byte_extent();
    ((z * rows + y) * row + x) as usize
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_box_goes_through_an_array_to_another_and_nothing_else_changes(
        parts in [part(), part(), part()],
        others in [(0u64..5, 0u64..5), (0u64..5, 0u64..5), (0u64..5, 0u64..5)],
        bits in prop_oneof![Just(8u32), Just(16), Just(32)],
        channels in prop_oneof![Just(1u32), Just(2), Just(4)],
    ) {
        let stream = stream();
        let bytes = u64::from(bits / 8 * channels);
        let sides = |parts: [(u64, u64, u64); 3]| parts.map(|(before, inside, behind)| before + inside + behind);
        let from = array(sides(parts), bits, channels);
        let around = std::array::from_fn(|i| (others[i].0, parts[i].1, others[i].1));
        let to = array(sides(around), bits, channels);
        let (input, mut expected) = (fill(&stream, &from, 1), fill(&stream, &to, 99));

        let in_bytes = |[x, y, z]: [u64; 3]| [x * bytes, y, z];
        let extent = in_bytes(parts.map(|(_, inside, _)| inside));
        let (src_at, dst_at) = (in_bytes(parts.map(|p| p.0)), in_bytes(around.map(|p| p.0)));
        let src = from.surface(src_at, extent).unwrap();
        let dst = to.surface(dst_at, extent).unwrap();
        copy(&stream, Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::DeviceToDevice })));
        for (z, y) in (0..extent[2]).flat_map(|z| (0..extent[1]).map(move |y| (z, y))) {
            let s = at(&from, [src_at[0], src_at[1] + y, src_at[2] + z]);
            let d = at(&to, [dst_at[0], dst_at[1] + y, dst_at[2] + z]);
            let n = extent[0] as usize;
            expected[d..d + n].copy_from_slice(&input[s..s + n]);
        }
        prop_assert!(contents(&stream, &to) == expected);
        prop_assert!(contents(&stream, &from) == input, "the source stays");
        from.free().unwrap();
        to.free().unwrap();
    }

    #[test]
    fn boxes_go_between_arrays_and_pitched_host_memory(
        parts in [part(), part(), part()],
        (gap, rows) in (0u64..20, 0u64..3),
        to_array in any::<bool>(),
    ) {
        let stream = stream();
        let array = array(parts.map(|(before, inside, behind)| before + inside + behind), 16, 2);
        let extent = [parts[0].1 * 4, parts[1].1, parts[2].1];
        let (pitch, rows) = (extent[0] + gap, extent[1] + rows);
        let mut host: Vec<u8> = (0..pitch * rows * extent[2]).map(|n| (n as u8) ^ 0x5a).collect();
        let mut expected = fill(&stream, &array, 3);
        let corner = [parts[0].0 * 4, parts[1].0, parts[2].0];
        let inside = array.surface(corner, extent).unwrap();
        let address = host.as_mut_ptr() as u64;
        let outside = Surface { address, pitch, row_bytes: extent[0], rows, corner: [0; 3] };
        let (dst, src) = if to_array { (inside, outside) } else { (outside, inside) };
        let mut model = host.clone();
        copy(&stream, Memcpy::Box(Box::new(BoxCopy { dst, src, extent, kind: CopyKind::Inferred })));
        for (z, y) in (0..extent[2]).flat_map(|z| (0..extent[1]).map(move |y| (z, y))) {
            let a = at(&array, [corner[0], corner[1] + y, corner[2] + z]);
            let h = ((z * rows + y) * pitch) as usize;
            let n = extent[0] as usize;
            if to_array {
                expected[a..a + n].copy_from_slice(&model[h..h + n]);
            } else {
                model[h..h + n].copy_from_slice(&expected[a..a + n]);
            }
        }
        prop_assert!(contents(&stream, &array) == expected);
        prop_assert!(host == model);
        array.free().unwrap();
    }

    #[test]
    fn whatever_leaves_an_array_is_refused(
        corner in [0u64..20, 0u64..6, 0u64..6],
        extent in [1u64..20, 1u64..6, 1u64..6],
    ) {
        let array = array([4, 3, 2], 32, 1);
        let whole = array.byte_extent();
        prop_assert_eq!(whole, [16, 3, 2]);
        let fits = (0..3).all(|i| corner[i] + extent[i] <= whole[i]);
        prop_assert_eq!(array.surface(corner, extent).is_ok(), fits);
        let run = corner[1] * 16 + corner[0] + extent[0] <= 16 * 3 * 2;
        prop_assert_eq!(array.run(corner[0], corner[1], extent[0]).is_ok(), run);
        array.free().unwrap();
    }
}

#[test]
fn numbers_that_overflow_leave_the_array_too() {
    let array = array([4, 3, 2], 32, 1);
    for i in 0..3 {
        let mut corner = [0; 3];
        corner[i] = u64::MAX;
        assert!(array.surface(corner, [1; 3]).is_err());
        assert!(array.surface([1, 0, 0], corner).is_err());
    }
    for (offset, row, bytes) in [(u64::MAX, 0, 1), (0, u64::MAX, 1), (1, 0, u64::MAX), (0, u64::MAX / 16, 16)]
    {
        assert!(array.run(offset, row, bytes).is_err(), "{offset} {row} {bytes}");
    }
    array.free().unwrap();
}

#[test]
fn an_array_that_was_freed_is_no_operand() {
    let first = array([4, 3, 2], 32, 1);
    first.free().unwrap();
    assert_eq!(first.surface([0; 3], [1; 3]), Err(aqlipse::Error::InvalidHandle));
    assert_eq!(first.free(), Err(aqlipse::Error::InvalidHandle));
    let second = array([4, 3, 2], 32, 1);
    assert!(!first.is_alive() && second.is_alive(), "even if it has the same address");
    second.free().unwrap();
}

#[test]
fn an_array_is_not_freed_by_its_address() {
    let array = array([4, 3, 2], 32, 1);
    let refused = Err(aqlipse::Error::InvalidValue("not the start of a device allocation"));
    assert_eq!(aqlipse::memory::free(array.address()), refused);
    stream().free_async(array.address()).unwrap_err();
    assert!(array.is_alive());
    array.free().unwrap();
}

#[test]
fn levels_halve_until_every_side_is_one() {
    let format = ElementFormat::new(ChannelKind::Float, 32, 1).unwrap();
    let extents = |extent, layered, levels| {
        let made = MipmappedArray::new(&device(), format, ArrayShape { extent, layered }, levels).unwrap();
        let extents: Vec<_> = made.levels().iter().map(|level| level.shape().extent).collect();
        made.free().unwrap();
        extents
    };
    assert_eq!(extents([8, 4, 0], false, 4), [[8, 4, 0], [4, 2, 0], [2, 1, 0], [1, 1, 0]]);
    assert_eq!(extents([5, 0, 0], false, 2), [[5, 0, 0], [2, 0, 0]]);
    assert_eq!(extents([4, 4, 7], true, 3), [[4, 4, 7], [2, 2, 7], [1, 1, 7]], "layers are not halved");
    assert_eq!(extents([2, 2, 8], false, 4).len(), 4);
}

#[test]
fn the_memory_of_arrays_is_counted_and_given_back() {
    let free = || device().memory_info().0;
    let before = free();
    let array = array([1024, 1024, 0], 32, 1);
    assert!(before - free() >= 4 << 20);
    array.free().unwrap();
    assert_eq!(free(), before);
}
