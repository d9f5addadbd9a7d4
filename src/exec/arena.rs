//! Where an executable has the kernel arguments of its units: in memory of the device that executes them.

#![forbid(unsafe_code)]

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Options, unit::Unit};
use crate::{
    device::{Device, slabs::Block},
    error::{Error, Result},
    schedule::CostTable,
};

/// The table by which plans for an executable on `devices` are compared; launches begin on the first of them.
///
/// # Errors
/// As [`Device::costs`].
pub(super) fn costs(devices: &[Device], options: Options) -> Result<CostTable> {
    let table = *devices[0].costs()?;
    let near = !options.arguments_on_host && devices.iter().all(Device::has_own_arguments);
    Ok(if near { table } else { table.with_host_arguments() })
}

/// Blocks of kernel arguments: one for each device that executes units.
///
/// A place in it is a number of bytes, counted over all blocks in their order.
pub(super) struct Arena {
    /// Each with the place of its first byte.
    blocks: SmallVec<[(u32, Arc<Block>); 1]>,
}

impl Arena {
    /// Places the arguments of `units`, written and published; returns where those of each begin. `numbers` says which of
    /// `devices` executes a unit; there are none for one device. `on_host` has all of them in the host's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; [`Error::Hsa`] if the device cannot be given them.
    pub(super) fn place(
        devices: &[Device],
        numbers: &[u16],
        units: &[Unit],
        bytes: usize,
        on_host: bool,
    ) -> Result<(Self, Vec<u32>)> {
        u32::try_from(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let take = |device: &Device, bytes| match on_host {
            true => device.0.kernargs.take(bytes),
            false => device.0.arguments.take(bytes),
        };
        let (this, mut ends) = match devices {
            [device] => (Self::of_block(take(device, bytes)?), SmallVec::from([0; 1])),
            _ => Self::of_devices(devices, numbers, units, take)?,
        };
        let mut offsets = Vec::with_capacity(units.len());
        for (at, unit) in units.iter().enumerate() {
            let end = &mut ends[numbers.get(at).map_or(0, |&number| usize::from(number))];
            offsets.push(*end);
            if let Unit::Dispatch(dispatch) = unit {
                this.write(*end, &dispatch.kernargs);
                // CAST: no more than `bytes`.
                *end += unit.kernarg_bytes() as u32;
            }
        }
        this.blocks.iter().try_for_each(|(_, block)| block.publish())?;
        Ok((this, offsets))
    }

    /// A block for the units of each device, and the places at which these begin, by device.
    fn of_devices(
        devices: &[Device],
        numbers: &[u16],
        units: &[Unit],
        take: impl Fn(&Device, usize) -> Result<Block>,
    ) -> Result<(Self, SmallVec<[u32; 1]>)> {
        let mut bytes = vec![0; devices.len()];
        for (unit, &number) in units.iter().zip(numbers) {
            bytes[usize::from(number)] += unit.kernarg_bytes();
        }
        let (mut blocks, mut starts) = (SmallVec::new(), SmallVec::new());
        let mut start = 0;
        for (device, bytes) in devices.iter().zip(bytes) {
            starts.push(start);
            if bytes > 0 || blocks.is_empty() {
                blocks.push((start, Arc::new(take(device, bytes)?)));
            }
            // CAST: all of them fit 32 bits, as `place` has made sure.
            start += bytes as u32;
        }
        Ok((Self { blocks }, starts))
    }

    fn of_block(block: Block) -> Self {
        Self { blocks: SmallVec::from([(0, Arc::new(block))]) }
    }

    /// The block of a place, and where the place is there.
    pub(super) fn at(&self, place: u32) -> (&Arc<Block>, usize) {
        let number = match self.blocks.len() {
            1 => 0,
            _ => self.blocks.partition_point(|(start, _)| *start <= place).saturating_sub(1),
        };
        let (start, block) = &self.blocks[number];
        // CAST: u32 fits usize on the 64-bit hosts that ROCm has.
        (block, (place - start) as usize)
    }

    /// The address of a place.
    pub(super) fn address(&self, place: u32) -> u64 {
        let (block, offset) = self.at(place);
        block.address() + offset as u64
    }

    /// The address of the first byte, if what follows lies behind it, place by place.
    pub(super) fn base(&self) -> Option<u64> {
        match &self.blocks[..] {
            [(_, block)] => Some(block.address()),
            _ => None,
        }
    }

    /// Writes arguments at a place.
    pub(super) fn write(&self, place: u32, bytes: &[u8]) {
        let (block, offset) = self.at(place);
        block.write(offset, bytes);
    }

    /// As much memory of the same devices.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn another(&self) -> Result<Self> {
        let again = |(start, block): &(u32, Arc<Block>)| Ok((*start, Arc::new(block.another(block.len())?)));
        Ok(Self { blocks: self.blocks.iter().map(again).collect::<Result<_>>()? })
    }

    /// Bytes of all blocks.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|(_, block)| block.len()).sum()
    }
}
