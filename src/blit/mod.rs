//! Copies, fills and words by our own kernels (`kernels/blit.cpp`; `kernels/blit.md` gives their arguments).

mod task;

pub(crate) use task::{task, touches};

use crate::{
    device::Device,
    error::{Error, Result},
    module::Dispatch,
    module::{KernelCode, Module},
};
use aqlipse_graph::{
    BoxCopy, Memcpy, Memset, RunCopy, Surface, Word, WordAction, WordCondition as Condition, WordStep,
};

/// The code objects that `cargo xtask kernels` builds, most specific targets first.
const OBJECTS: [&[u8]; 6] = [
    include_bytes!("../../kernels/blit.gfx90a.co"),
    include_bytes!("../../kernels/blit.gfx9-4-generic.co"),
    include_bytes!("../../kernels/blit.gfx9-generic.co"),
    include_bytes!("../../kernels/blit.gfx10-3-generic.co"),
    include_bytes!("../../kernels/blit.gfx11-generic.co"),
    include_bytes!("../../kernels/blit.gfx12-generic.co"),
];

/// Work-items of a workgroup of every blit kernel.
const WORKGROUP: u32 = 256;

/// Bytes that one work-item should move before more of them pay off.
const BYTES_PER_ITEM: u64 = 64;

/// The loaded kernels of one device.
pub(crate) struct Blit {
    copy: KernelCode,
    copy_rect: KernelCode,
    fill: KernelCode,
    fill_rect: KernelCode,
    write_value: KernelCode,
    wait_value: KernelCode,
    word_steps: KernelCode,
    copy_batch: KernelCode,
    /// Work-items that fill the device.
    full: u64,
}

impl Blit {
    /// Loads the kernels that fit `device`.
    ///
    /// # Errors
    /// [`Error::NoBinaryForGpu`] for a device that none of the code objects serves.
    pub(crate) fn load(device: &Device) -> Result<Self> {
        let module = Module::first_that_fits(device, &OBJECTS)?;
        let kernel = |name: &str| module.kernel(name).and_then(|k| k.code(device).cloned());
        Ok(Self {
            copy: kernel("copy")?,
            copy_rect: kernel("copy_rect")?,
            fill: kernel("fill")?,
            fill_rect: kernel("fill_rect")?,
            write_value: kernel("write_value")?,
            wait_value: kernel("wait_value")?,
            word_steps: kernel("word_steps")?,
            copy_batch: kernel("copy_batch")?,
            full: u64::from(device.properties().multiprocessors) * 8 * u64::from(WORKGROUP),
        })
    }

    /// The dispatch that copies `bytes` bytes, at least one, from `src` to `dst`.
    pub(crate) fn copy(&self, dst: u64, src: u64, bytes: u64) -> Dispatch {
        let items = self.items(bytes);
        let mut args = Arguments::default();
        args.u64s(&[dst, src, bytes, u64::from(items)]);
        self.dispatch(&self.copy, [items, 1, 1], args)
    }

    /// The dispatch that copies a box of at least one byte; `dst` and `src` are its corners' addresses.
    pub(crate) fn copy_box(&self, dst: u64, src: u64, copy: &BoxCopy) -> Dispatch {
        let [width, height, depth] = copy.extent;
        let (items, team_shift, groups) = self.rows(width, height, depth);
        let mut args = Arguments::default();
        args.u64s(&[dst, src, copy.dst.pitch, copy.src.pitch]);
        // A box of one slice has no use for the distance to the next, which may be nonsense.
        let slice = |s: &Surface| s.pitch.wrapping_mul(s.rows);
        args.u64s(&[slice(&copy.dst), slice(&copy.src), width, height, depth]);
        args.u64s(&[u64::from(items)]);
        args.u32s(&[groups, team_shift]);
        self.dispatch(&self.copy_rect, [items, groups, 1], args)
    }

    /// The dispatch that fills rows, at least one byte in all.
    pub(crate) fn memset(&self, set: &Memset) -> Dispatch {
        let value = repeat(set.value, set.element_size);
        let width = set.width * u64::from(set.element_size);
        let mut args = Arguments::default();
        if set.height == 1 {
            let items = self.items(width);
            args.u64s(&[set.dst, value, width, u64::from(items)]);
            return self.dispatch(&self.fill, [items, 1, 1], args);
        }
        let (items, team_shift, groups) = self.rows(width, set.height, 1);
        args.u64s(&[set.dst, value, set.pitch, set.pitch.wrapping_mul(set.height), width, set.height, 1]);
        args.u64s(&[u64::from(items)]);
        args.u32s(&[groups, team_shift]);
        self.dispatch(&self.fill_rect, [items, groups, 1], args)
    }

    /// The dispatch that writes `value` to device address `at`.
    pub(crate) fn write_value(&self, at: u64, value: Word) -> Dispatch {
        let mut args = Arguments::default();
        args.u64s(&[at, value.bits()]);
        args.u32s(&[u32::from(value.is_wide())]);
        Dispatch { workgroup: [1, 1, 1], ..self.dispatch(&self.write_value, [1, 1, 1], args) }
    }

    /// The dispatch that ends when the word at device address `at` meets `condition`.
    /// `gone` is the address of a word of 32 bits that is 1 when nobody will write the word any more, which is a fault, or 0.
    pub(crate) fn wait_value(
        &self,
        at: u64,
        condition: Condition,
        value: Word,
        mask: u64,
        gone: u64,
    ) -> Dispatch {
        let mask = if value.is_wide() { mask } else { mask & u64::from(u32::MAX) };
        let mut args = Arguments::default();
        args.u64s(&[at, value.bits(), mask, gone]);
        args.u32s(&[condition as u32, u32::from(value.is_wide())]);
        Dispatch { workgroup: [1, 1, 1], ..self.dispatch(&self.wait_value, [1, 1, 1], args) }
    }

    /// The dispatch that writes words and waits for words, one after the other, at device addresses; beside each the word
    /// that [`wait_value`](Self::wait_value) calls `gone`.
    pub(crate) fn word_steps(&self, steps: &[(WordStep, u64)]) -> Dispatch {
        /// The action that is no condition.
        const WRITE: u32 = 4;
        let mut args = Arguments::default();
        args.u64s(&[steps.len() as u64]);
        for (WordStep { address, value, action }, gone) in steps {
            let (mask, code) = match action {
                WordAction::Write => (0, WRITE),
                WordAction::Wait { condition, mask } if value.is_wide() => (*mask, *condition as u32),
                WordAction::Wait { condition, mask } => (mask & u64::from(u32::MAX), *condition as u32),
            };
            args.u64s(&[*address, value.bits(), mask, *gone]);
            args.u32s(&[code, u32::from(value.is_wide())]);
        }
        Dispatch { workgroup: [1, 1, 1], ..self.dispatch(&self.word_steps, [1, 1, 1], args) }
    }

    /// The dispatch that copies at least one run of bytes, in no order, at device addresses.
    pub(crate) fn copy_batch(&self, copies: &[RunCopy]) -> Dispatch {
        let longest = copies.iter().map(|copy| copy.bytes).max().unwrap_or(0);
        let items = self.items(longest);
        let at_once = (self.full / u64::from(items)).max(1);
        // CAST: bounded by `full`, far below 2^32.
        let groups = (copies.len() as u64).clamp(1, at_once) as u32;
        let mut args = Arguments::default();
        args.u64s(&[copies.len() as u64, u64::from(items)]);
        args.u32s(&[groups, 0]);
        copies.iter().for_each(|copy| args.u64s(&[copy.dst, copy.src, copy.bytes]));
        self.dispatch(&self.copy_batch, [items, groups, 1], args)
    }

    /// The dispatch for a copy whose operands the device can reach; `None` when it moves no byte.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a box that leaves the address space.
    pub(crate) fn memcpy(&self, copy: &Memcpy) -> Result<Option<Dispatch>> {
        match copy {
            Memcpy::Linear { bytes: 0, .. } => Ok(None),
            Memcpy::Linear { dst, src, bytes, .. } => Ok(Some(self.copy(*dst, *src, *bytes))),
            Memcpy::Box(copy) if copy.extent.contains(&0) => Ok(None),
            Memcpy::Box(copy) => {
                let corner = |s: &Surface| {
                    s.corner_address().ok_or(Error::InvalidValue("the box leaves the address space"))
                };
                Ok(Some(self.copy_box(corner(&copy.dst)?, corner(&copy.src)?, copy)))
            }
        }
    }

    fn items(&self, bytes: u64) -> u32 {
        let wanted = bytes.div_ceil(BYTES_PER_ITEM).clamp(1, self.full);
        // CAST: `full` is far below 2^32.
        (wanted as u32).next_multiple_of(WORKGROUP)
    }

    /// Work-items along x, the logarithm of the work-items that share a row, and slice groups.
    fn rows(&self, width: u64, height: u64, depth: u64) -> (u32, u32, u32) {
        let team = width.div_ceil(16).next_power_of_two().min(u64::from(WORKGROUP));
        let wanted = team.saturating_mul(height).clamp(1, self.full);
        // CAST: both are bounded by `full`, far below 2^32.
        let items = (wanted as u32).next_multiple_of(WORKGROUP);
        let groups = depth.clamp(1, (self.full / u64::from(items)).max(1)) as u32;
        (items, team.trailing_zeros(), groups)
    }

    fn dispatch(&self, kernel: &KernelCode, grid: [u32; 3], args: Arguments) -> Dispatch {
        Dispatch {
            token: 0,
            code: kernel.clone(),
            grid,
            workgroup: [WORKGROUP as u16, 1, 1],
            group_bytes: kernel.group_bytes(),
            kernargs: args.0.into(),
        }
    }
}

/// A pattern of `size` bytes repeated to eight.
fn repeat(value: u64, size: u32) -> u64 {
    match size {
        1 => (value & 0xff) * 0x0101_0101_0101_0101,
        2 => (value & 0xffff) * 0x0001_0001_0001_0001,
        4 => (value & 0xffff_ffff) * 0x0000_0001_0000_0001,
        _ => value,
    }
}

#[derive(Default)]
struct Arguments(Vec<u8>);

impl Arguments {
    fn u64s(&mut self, values: &[u64]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }

    fn u32s(&mut self, values: &[u32]) {
        self.0.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    }
}
impl Device {
    /// The copy and fill kernels, loaded on first use.
    pub(crate) fn blit(&self) -> Result<&Blit> {
        self.context().blit.get_or_make(|| Blit::load(self))
    }
}
