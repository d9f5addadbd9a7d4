//! Arrays: texels in rows and slices whose layout is the library's own, in ordinary device memory.
//!
//! AMD's library keeps arrays in images, whose tiles only image instructions can read. Ours are what copies need:
//! rows without padding, one behind the other. Nothing fetches texels here, so nothing needs tiles.

use std::sync::{Arc, Weak};

use super::{Region, allocate_array, external::ExternalMemory, forget, idle};
use crate::{
    callback,
    device::{Device, System},
    error::{Error, Result},
};
use aqlipse_graph::Surface;

/// Most elements of a row, and most rows: what AMD's devices take.
// HIP: 5.2.3 refuses more (tests/conformance/array_limits.cpp); so an array of ours could live there as well.
const MAX_SIDE: u64 = 16384;

/// Most slices or layers.
const MAX_DEPTH: u64 = 8192;

/// How the bits of a channel are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// A two's complement integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A float.
    Float,
}

/// What an element of an array is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementFormat {
    kind: ChannelKind,
    bits: u8,
    channels: u8,
}

impl ElementFormat {
    /// `channels` channels of `bits` bits.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for other than 1, 2 or 4 channels, integers of other than 8, 16 or 32 bits, and floats
    /// of other than 16 or 32.
    pub fn new(kind: ChannelKind, bits: u32, channels: u32) -> Result<Self> {
        let known = match kind {
            ChannelKind::Float => matches!(bits, 16 | 32),
            ChannelKind::Signed | ChannelKind::Unsigned => matches!(bits, 8 | 16 | 32),
        };
        if !known || !matches!(channels, 1 | 2 | 4) {
            return Err(Error::InvalidValue("no array has elements of this format"));
        }
        // CAST: both are small, as was just seen.
        Ok(Self { kind, bits: bits as u8, channels: channels as u8 })
    }

    /// How the bits of a channel are read.
    pub fn kind(self) -> ChannelKind {
        self.kind
    }

    /// Bits of a channel.
    pub fn bits(self) -> u32 {
        self.bits.into()
    }

    /// Channels of an element.
    pub fn channels(self) -> u32 {
        self.channels.into()
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits / 8 * self.channels)
    }
}

/// Width in elements, height in rows and depth in slices or layers; a dimension that an array lacks is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Width, height and depth.
    pub extent: [u64; 3],
    /// Whether the depth counts layers, each an array of its own with one dimension less.
    pub layered: bool,
}

impl ArrayShape {
    /// # Errors
    /// [`Error::InvalidValue`].
    fn check(self) -> Result<()> {
        let [width, height, depth] = self.extent;
        if width == 0 {
            return Err(Error::InvalidValue("an array has a width"));
        }
        if width > MAX_SIDE || height > MAX_SIDE || depth > MAX_DEPTH {
            return Err(Error::InvalidValue("an array is larger than any device takes"));
        }
        match (self.layered, height, depth) {
            (true, _, 0) => Err(Error::InvalidValue("a layered array has layers")),
            (false, 0, 1..) => Err(Error::InvalidValue("an array with slices has rows")),
            _ => Ok(()),
        }
    }

    /// The shapes of `levels` levels of a mipmapped array, this one's first.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for no level, and for more than until every side is 1.
    fn levels(self, levels: u32) -> Result<Vec<Self>> {
        let [width, height, depth] = self.extent;
        let side = if self.layered { width.max(height) } else { width.max(height).max(depth) };
        let most = side.max(1).ilog2() + 1;
        if !(1..=most).contains(&levels) {
            return Err(Error::InvalidValue("a mipmapped array has levels until every side is 1"));
        }
        let shapes = (0..levels).map(|level| {
            // A dimension that the array lacks stays lacking, and layers are not made fewer.
            let halved = |n: u64| if n == 0 { 0 } else { (n >> level).max(1) };
            let depth = if self.layered { depth } else { halved(depth) };
            Self { extent: [halved(width), halved(height), depth], ..self }
        });
        Ok(shapes.collect())
    }

    /// Bytes of so many elements, if the shape was checked.
    fn bytes(self, format: ElementFormat) -> u64 {
        let [width, height, depth] = self.extent;
        // At most 2^14 * 2^14 * 2^13 elements of 2^4 bytes.
        width * height.max(1) * depth.max(1) * format.bytes()
    }
}

/// An array in the memory of a device.
///
/// Clones are the same array. It ends with [`Array::free`], or when all memory of its device is freed.
#[derive(Clone)]
pub struct Array {
    format: ElementFormat,
    shape: ArrayShape,
    address: u64,
    /// A reference to an array that has ended does not keep its memory.
    memory: Weak<Region>,
}

impl Array {
    /// Allocates an array; what is in it is undefined.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a shape that no array has, [`Error::OutOfMemory`].
    pub fn new(device: &Device, format: ElementFormat, shape: ArrayShape) -> Result<Self> {
        shape.check()?;
        let bytes = shape.bytes(format);
        if bytes > device.properties().total_memory {
            return Err(Error::OutOfMemory { bytes: bytes as usize });
        }
        let memory = allocate_array(device, bytes as usize)?;
        Ok(Self { format, shape, address: memory.address, memory: Arc::downgrade(&memory) })
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.shape.bytes(self.format)
    }

    /// What its elements are made of.
    pub fn format(&self) -> ElementFormat {
        self.format
    }

    /// How large it is.
    pub fn shape(&self) -> ArrayShape {
        self.shape
    }

    /// Its first byte, by which the copies in a graph tell it from others.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes of a row, rows of a slice and slices, at least 1 each.
    pub fn byte_extent(&self) -> [u64; 3] {
        let [width, height, depth] = self.shape.extent;
        [width * self.format.bytes(), height.max(1), depth.max(1)]
    }

    /// Frees the array after all work of its device.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if it has ended, [`Error::IllegalState`] inside a host function; the fault of earlier
    /// work, after the memory is freed.
    pub fn free(&self) -> Result<()> {
        self.check_alive()?;
        callback::refuse_inside()?;
        self.give_back()?.check()
    }

    /// As [`Array::free`], but leaves a fault to be reported to a later call.
    fn give_back(&self) -> Result<Device> {
        let mine = |region: &Region| std::ptr::eq(region, self.memory.as_ptr());
        let (region, device) = idle(self.address, mine, "the array has ended")?;
        forget(&region).map(|()| device)
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&self) -> bool {
        self.check_alive().is_ok()
    }

    /// The part of the array that begins at `corner` (bytes, rows, slices), for a copy of `extent` bytes, rows and
    /// slices.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if the array has ended, [`Error::InvalidValue`] for a box that leaves it.
    pub fn surface(&self, corner: [u64; 3], extent: [u64; 3]) -> Result<Surface> {
        self.check_alive()?;
        let whole = self.byte_extent();
        let fits = |i: usize| corner[i].checked_add(extent[i]).is_some_and(|end| end <= whole[i]);
        if !(0..3).all(fits) {
            return Err(Error::InvalidValue("the box leaves the array"));
        }
        let [row_bytes, rows, _] = whole;
        Ok(Surface { address: self.address, pitch: row_bytes, row_bytes, rows, corner })
    }

    /// The address of the byte that is `offset` bytes into row `row`, of which `bytes` follow: to the end of the row
    /// and on into the next.
    ///
    /// # Errors
    /// As [`Array::surface`].
    pub fn run(&self, offset: u64, row: u64, bytes: u64) -> Result<u64> {
        self.check_alive()?;
        let [row_bytes, rows, slices] = self.byte_extent();
        let start = row.checked_mul(row_bytes).and_then(|before| before.checked_add(offset));
        let end = start.and_then(|start| start.checked_add(bytes));
        match (start, end) {
            (Some(start), Some(end)) if end <= row_bytes * rows * slices => Ok(self.address + start),
            _ => Err(Error::InvalidValue("the range leaves the array")),
        }
    }

    /// The reset of a device takes the memory of its arrays, and their addresses may be another's by now.
    fn check_alive(&self) -> Result<()> {
        let found = System::get()?.memory().find(self.address);
        if found.is_some_and(|region| Arc::as_ptr(&region) == self.memory.as_ptr()) {
            Ok(())
        } else {
            Err(Error::InvalidHandle)
        }
    }
}

/// The levels of a mipmapped array, each half as large as the one before.
#[derive(Clone)]
pub struct MipmappedArray {
    levels: Arc<[Array]>,
    /// Whether the levels lie in one buffer of imported memory, which begins with the first.
    is_mapped: bool,
}

impl MipmappedArray {
    /// Allocates `levels` levels, at least one and at most until every side is 1.
    ///
    /// # Errors
    /// As [`Array::new`]; [`Error::InvalidValue`] for another number of levels.
    pub fn new(device: &Device, format: ElementFormat, shape: ArrayShape, levels: u32) -> Result<Self> {
        let mut made: Vec<Array> = Vec::new();
        for shape in shape.levels(levels)? {
            match Array::new(device, format, shape) {
                Ok(array) => made.push(array),
                Err(error) => {
                    // The memory is not used yet, so there is no fault of earlier work to report here.
                    made.iter().for_each(|array| drop(array.give_back()));
                    return Err(error);
                }
            }
        }
        Ok(Self { levels: made.into(), is_mapped: false })
    }

    /// Shows imported memory from `offset` on as an array of `levels` levels, one behind the other without gaps, as memory
    /// of `device` that [`MipmappedArray::free`] unmaps.
    ///
    /// # Errors
    /// As [`MipmappedArray::new`] and [`ExternalMemory::buffer`].
    pub fn in_memory(
        device: &Device,
        memory: &ExternalMemory,
        offset: u64,
        format: ElementFormat,
        shape: ArrayShape,
        levels: u32,
    ) -> Result<Self> {
        let shapes = shape.levels(levels)?;
        shapes.iter().try_for_each(|shape| shape.check())?;
        let bytes = shapes.iter().map(|shape| shape.bytes(format)).sum();
        let mut address = memory.buffer(device, offset, bytes)?;
        let region = System::get()?.memory().at(address).ok_or(Error::InvalidHandle)?;
        let level = |shape: &ArrayShape| {
            let level = Array { format, shape: *shape, address, memory: Arc::downgrade(&region) };
            address += level.bytes();
            level
        };
        Ok(Self { levels: shapes.iter().map(level).collect(), is_mapped: true })
    }

    /// The levels, the largest first.
    pub fn levels(&self) -> &[Array] {
        &self.levels
    }

    /// Frees all levels after all work of their device.
    ///
    /// # Errors
    /// As [`Array::free`].
    pub fn free(&self) -> Result<()> {
        let count = if self.is_mapped { 1 } else { self.levels.len() };
        self.levels[..count].iter().map(Array::free).fold(Ok(()), Result::and)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_one_two_or_four_channels_of_whole_bytes() {
        let bytes = |kind, bits, channels| ElementFormat::new(kind, bits, channels).map(ElementFormat::bytes);
        assert_eq!(bytes(ChannelKind::Float, 32, 4), Ok(16));
        assert_eq!(bytes(ChannelKind::Signed, 8, 2), Ok(2));
        for (kind, bits, channels) in [
            (ChannelKind::Float, 8, 1),
            (ChannelKind::Signed, 64, 1),
            (ChannelKind::Unsigned, 7, 1),
            (ChannelKind::Unsigned, 8, 3),
            (ChannelKind::Unsigned, 8, 0),
        ] {
            assert!(ElementFormat::new(kind, bits, channels).is_err(), "{kind:?} {bits} {channels}");
        }
    }

    #[test]
    fn shapes_that_no_array_has_are_refused() {
        let shape = |extent, layered| ArrayShape { extent, layered }.check().is_ok();
        assert!(shape([4, 0, 0], false) && shape([4, 4, 0], false) && shape([4, 4, 4], false));
        assert!(shape([4, 0, 4], true) && shape([4, 4, 4], true));
        assert!(!shape([0, 4, 4], false) && !shape([4, 0, 4], false) && !shape([4, 4, 0], true));
        assert!(shape([MAX_SIDE, MAX_SIDE, MAX_DEPTH], false));
        assert!(!shape([MAX_SIDE + 1, 0, 0], false) && !shape([4, MAX_SIDE + 1, 0], false));
        assert!(!shape([4, 4, MAX_DEPTH + 1], true) && !shape([u64::MAX, 0, 0], false));
    }
}
