//! Modules: device code, loaded on each device when its first kernel is needed there.

mod args;
mod dispatch;
mod file;
mod generic;
mod image;
mod managed;
mod names;
mod occupancy;
mod place;

pub(crate) use dispatch::Dispatch;
pub use file::image_in_file;
pub use image::{image_at, image_of_wrapper};
pub use managed::Managed;
pub(crate) use names::kernel_name;

use std::{
    array,
    collections::BTreeSet,
    fmt,
    ops::Range,
    sync::{Arc, OnceLock, Weak},
};

use parking_lot::Mutex;

pub use loader::Bytes;
use loader::{Arg, CodeObject, Limits, Place, ValueKind, bundle::Bundle};

use crate::{
    check,
    device::{Backend, Device, System, once::Once, timeline},
    error::{Error, Misfit, Result},
    hostcall::fifo::{self, Formats},
    memory,
};
use aqlipse_graph::{self as graph, Kernargs};

/// Scratch of a work-item whose kernel calls through pointers or recurses, beyond what the compiler counted; in bytes.
pub const STACK_BYTES: u32 = 16 * 1024;

/// Device code: a code object, a bundle of them, or a compressed bundle.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    image: Bytes<'static>,
    managed: Arc<Managed>,
    /// Whether the runtime itself has brought it.
    is_own: bool,
    /// By device ordinal.
    loaded: Vec<Once<Arc<Loaded>>>,
}

struct Loaded {
    object: CodeObject<'static>,
    executable: hsa::FrozenExecutable,
    agent: hsa::Agent,
    /// What the code has pointers to.
    managed: Arc<Managed>,
    is_own: bool,
    /// Addresses of the variables that copies find.
    known: Mutex<BTreeSet<u64>>,
    /// What kernels must not write, where that is checked.
    constants: Vec<Range<u64>>,
}

impl Module {
    /// Takes an image without looking at it; the first use on a device loads what fits there.
    ///
    /// # Errors
    /// [`Error::NotInitialized`].
    pub fn lazy(image: impl Into<Bytes<'static>>) -> Result<Self> {
        Self::lazy_with(image, Arc::default())
    }

    /// As [`Module::lazy`], for an image some of whose managed variables exist before it is loaded.
    ///
    /// # Errors
    /// [`Error::NotInitialized`].
    pub fn lazy_with(image: impl Into<Bytes<'static>>, managed: Arc<Managed>) -> Result<Self> {
        Self::made(image.into(), managed, false)
    }

    fn made(image: Bytes<'static>, managed: Arc<Managed>, is_own: bool) -> Result<Self> {
        let devices = System::get()?.devices().len();
        let loaded = std::iter::repeat_with(Once::default).take(devices).collect();
        Ok(Self(Arc::new(Inner { image, managed, is_own, loaded })))
    }

    /// Loads an image on `device`.
    ///
    /// # Errors
    /// [`Error::InvalidImage`], [`Error::NoBinaryForGpu`], [`Error::OutOfMemory`].
    pub fn load(device: &Device, image: impl Into<Bytes<'static>>) -> Result<Self> {
        let module = Self::lazy(image)?;
        module.loaded(device)?;
        Ok(module)
    }

    /// Loads the first of `objects` of the runtime's own that runs on `device`.
    pub fn first_that_fits(device: &Device, objects: &[&'static [u8]]) -> Result<Self> {
        let mut refused = Error::NoBinaryForGpu("no code object at all".into());
        for object in objects {
            let module = Self::made((*object).into(), Arc::default(), true)?;
            match module.loaded(device).map(drop) {
                Err(e @ Error::NoBinaryForGpu(_)) => refused = e,
                outcome => return outcome.map(|()| module),
            }
        }
        Err(refused)
    }

    /// The kernel called `name` (mangled, as in the code object). Whether it exists shows on first use, or with
    /// [`Function::code`].
    pub fn kernel(&self, name: &str) -> Result<Function> {
        Ok(self.kernel_with_token(name, 0))
    }

    /// As [`Module::kernel`], with a word by which its owner recognises it.
    pub fn kernel_with_token(&self, name: &str, token: usize) -> Function {
        let codes = std::iter::repeat_with(Once::default).take(self.0.loaded.len()).collect();
        Function(Arc::new(Entry { module: self.clone(), name: name.into(), token, codes }))
    }

    /// Address and bytes of the variable called `name` on `device`; a managed one is on no device in particular.
    ///
    /// # Errors
    /// [`Error::NotFound`], and what loading can fail with.
    pub fn variable(&self, device: &Device, name: &str) -> Result<(u64, u64)> {
        let loaded = self.loaded(device)?;
        // HIP: 5.2.3 names the memory, not the pointer to it (tests/conformance/module_managed_variable.hip).
        if let Some(found) = loaded.managed.find(name) {
            return Ok(found);
        }
        let known = loaded.object.variable(name);
        let variable = known.ok_or_else(|| Error::NotFound(name.into()))?;
        let address = loaded.variable(name)?;
        loaded.know(device, address, variable.size)?;
        Ok((address, variable.size))
    }

    /// Address and bytes of the managed variable called `name`.
    ///
    /// # Errors
    /// [`Error::NotFound`], and what loading on `device` can fail with.
    pub fn managed_variable(&self, device: &Device, name: &str) -> Result<(u64, u64)> {
        self.loaded(device)?.managed.find(name).ok_or_else(|| Error::NotFound(name.into()))
    }

    /// Names of all kernels of the image for `device`.
    ///
    /// # Errors
    /// What loading can fail with.
    pub fn kernel_names(&self, device: &Device) -> Result<Vec<String>> {
        Ok(self.loaded(device)?.object.kernel_names().map(Into::into).collect())
    }

    fn loaded(&self, device: &Device) -> Result<&Arc<Loaded>> {
        let slot =
            self.0.loaded.get(device.ordinal()).ok_or(Error::InvalidDevice(device.ordinal() as i64))?;
        slot.get_or_make(|| Loaded::new(device, &self.0).map(Arc::new))
    }
}

impl Loaded {
    fn new(device: &Device, Inner { image, managed, is_own, .. }: &Inner) -> Result<Self> {
        let bundle = Bundle::parse(image.clone(), &Limits::default())?;
        let bytes = bundle.select(&device.0.target)?.bytes.clone();
        let object = CodeObject::parse(bytes.clone())?;
        // What cannot be laid out is a bad image; the HSA runtime would only say that it lacks the room.
        object.load_plan(&Limits::default())?;
        let executable = place::place(device, &object, &bytes)?;
        let (agent, managed) = (device.0.agent.clone(), managed.clone());
        let (is_own, known, constants) = (*is_own, Mutex::default(), Vec::new());
        let mut loaded = Self { object, executable, agent, managed, is_own, known, constants };
        loaded.managed.connect(device, &loaded)?;
        timeline::start();
        if device.0.system.is_checked() {
            check::start();
            loaded.constants = loaded.find_constants()?;
            loaded.constants.iter().cloned().for_each(check::kept_constant);
            // What touches a variable is told from what touches memory of the runtime's.
            for variable in loaded.object.variables() {
                let address = loaded.variable(variable.name)?;
                loaded.know(device, address, variable.size)?;
                if loaded.managed.is_constant(variable.name) {
                    check::kept_constant(address..address + variable.size);
                }
            }
        }
        Ok(loaded)
    }

    /// What the code object says is only read. To the device it is writable, for the host copies to constants.
    fn find_constants(&self) -> Result<Vec<Range<u64>>> {
        for symbol in self.object.symbols() {
            let Place::Image(offset) = symbol.place else { continue };
            let address = match self.executable.symbol(&self.agent, symbol.name)? {
                Some(hsa::Symbol::Variable { address, .. }) => address,
                Some(hsa::Symbol::Kernel { object, .. }) => object,
                _ => continue,
            };
            let base = address - offset;
            let segments = self.object.segments().iter();
            let constant = segments.filter(|s| !s.protection.write && !s.protection.execute && s.size > 0);
            return Ok(constant.map(|s| base + s.offset..base + s.offset + s.size).collect());
        }
        Ok(Vec::new())
    }

    /// Address of a variable of the code.
    fn variable(&self, name: &str) -> Result<u64> {
        match self.symbol(name)? {
            hsa::Symbol::Variable { address, .. } => Ok(address),
            _ => Err(Error::NotFound(name.into())),
        }
    }

    /// Lets copies find a variable for as long as the code is loaded.
    fn know(&self, device: &Device, address: u64, bytes: u64) -> Result<()> {
        if self.known.lock().insert(address) {
            memory::know_variable(device, address, bytes)?;
        }
        Ok(())
    }

    /// What the HSA runtime made of a symbol.
    fn symbol(&self, name: &str) -> Result<hsa::Symbol> {
        self.executable.symbol(&self.agent, name)?.ok_or_else(|| Error::NotFound(name.into()))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let known = self.known.get_mut();
        std::mem::take(known).into_iter().for_each(memory::forget_variable);
        self.constants.drain(..).for_each(check::released);
    }
}

/// Refuses a launch that the kernel or the device cannot take.
///
/// # Errors
/// [`Error::InvalidConfiguration`], [`Error::InvalidValue`] for too few argument bytes, what loading can fail with.
pub fn check_kernel(device: &Device, launch: &graph::Kernel<Function>) -> Result<()> {
    let code = launch.function.code(device)?;
    code.check_launch(launch)?;
    if launch.attributes.is_cooperative() {
        code.check_cooperative(device.properties(), launch)
    } else {
        Ok(())
    }
}

/// A kernel of a module.
#[derive(Clone)]
pub struct Function(Arc<Entry>);

struct Entry {
    module: Module,
    name: Box<str>,
    token: usize,
    codes: Vec<Once<KernelCode>>,
}

impl Function {
    /// The kernel's name, as mangled.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The kernel, without keeping it alive.
    pub fn downgrade(&self) -> WeakFunction {
        WeakFunction(Arc::downgrade(&self.0))
    }

    /// The word given with [`Module::kernel_with_token`].
    pub fn token(&self) -> usize {
        self.0.token
    }

    /// The kernel's code on `device`, loaded on first use.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the image for the device has no such kernel, and what loading can fail with.
    #[inline]
    pub fn code(&self, device: &Device) -> Result<&KernelCode> {
        match self.0.codes.get(device.ordinal()).and_then(Once::get) {
            Some(code) => Ok(code),
            _ => self.load(device),
        }
    }

    #[cold]
    fn load(&self, device: &Device) -> Result<&KernelCode> {
        let slot = self.0.codes.get(device.ordinal()).ok_or(Error::InvalidDevice(device.ordinal() as i64))?;
        let load = || KernelCode::new(self.0.module.loaded(device)?, &self.0.name, device);
        slot.get_or_make(load)
    }
}

/// A kernel that is not kept by being known.
#[derive(Clone, Debug)]
pub struct WeakFunction(Weak<Entry>);

impl WeakFunction {
    /// No kernel.
    pub const NONE: Self = Self(Weak::new());

    /// The kernel, if it is still alive.
    pub fn upgrade(&self) -> Option<Function> {
        self.0.upgrade().map(Function)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.0.name).finish()
    }
}

/// A kernel loaded on a device, and what a launch needs to know of it.
#[derive(Clone)]
pub struct KernelCode(Arc<Code>);

struct Code {
    /// Keeps the code in memory.
    loaded: Arc<Loaded>,
    name: Box<str>,
    object: u64,
    args: Box<[Arg]>,
    /// Offset and size of each argument that a caller gives.
    explicit: Box<[(usize, usize)]>,
    /// The arguments that the runtime fills in.
    hidden: Box<[Arg]>,
    explicit_bytes: usize,
    kernarg_bytes: usize,
    group_bytes: u32,
    private_bytes: u32,
    max_block: u32,
    /// What the device takes of any kernel.
    device_block: u32,
    max_grid: [u32; 3],
    required_block: Option<[u32; 3]>,
    max_lds: u32,
    /// Lanes of a wavefront, at least one.
    wavefront: u32,
    /// Whether the waves of a block all run on one compute unit of RDNA, and not on a pair of them.
    one_unit: bool,
    vgprs: u32,
    sgprs: u32,
    /// Addresses that every launch is given, 0 for what the kernel does not ask for.
    hostcall: u64,
    heap: u64,
    /// For a kernel that prints to a buffer, what it prints.
    formats: Option<Formats>,
    wave_sync: OnceLock<bool>,
}

impl KernelCode {
    fn new(loaded: &Arc<Loaded>, name: &str, device: &Device) -> Result<Self> {
        let kernel = loaded.object.kernel(name).map_err(|e| match e {
            loader::Error::NoKernel { .. } => Error::NotFound(name.into()),
            e => e.into(),
        })?;
        let hsa::Symbol::Kernel { object, group_size, private_size, .. } =
            loaded.symbol(&kernel.metadata.symbol)?
        else {
            return Err(Error::NotFound(name.into()));
        };
        if device.0.system.watchdog().is_some() {
            names::remember(object, name);
        }
        if device.0.system.is_checked() {
            check::kernel_loaded(object, kernel.metadata, loaded.object.bytes(), loaded.is_own);
        }
        let meta = kernel.metadata;
        let args: Box<[Arg]> = meta.args.clone().into();
        let explicit_bytes = args::explicit_bytes(&args);
        let explicit = args::explicit(&args).map(|a| (a.offset as usize, a.size as usize)).collect();
        let hidden = args.iter().filter(|arg| arg.value_kind.is_hidden()).cloned().collect();
        let kernarg_bytes = (meta.kernarg_segment_size as usize).max(explicit_bytes);
        let stack = if meta.uses_dynamic_stack { STACK_BYTES } else { 0 };
        let services = &device.context().hostcall;
        let asks = |kind| args::has(&args, &kind);
        let hostcall = if asks(ValueKind::HiddenHostcallBuffer) { services.buffer(device)? } else { 0 };
        let heap = if asks(ValueKind::HiddenHeapV1) { services.heap(device)? } else { 0 };
        let formats = match loaded.object.metadata()? {
            metadata if asks(ValueKind::HiddenPrintfBuffer) => Some(fifo::formats(&metadata.printf)),
            _ => None,
        };
        Ok(Self(Arc::new(Code {
            loaded: loaded.clone(),
            name: name.into(),
            object,
            explicit,
            hidden,
            explicit_bytes,
            kernarg_bytes,
            group_bytes: group_size,
            private_bytes: private_size.saturating_add(stack),
            max_block: meta.max_flat_workgroup_size.min(device.properties().max_threads_per_block),
            device_block: device.properties().max_threads_per_block,
            max_grid: device.properties().max_grid,
            required_block: meta.reqd_workgroup_size.filter(|size| !size.contains(&0)),
            max_lds: device.properties().lds_per_block,
            wavefront: meta.wavefront_size.max(1),
            // `ENABLE_WGP_MODE`, which GFX9 does not look at (LLVM AMDGPUUsage, "compute_pgm_rsrc1").
            one_unit: kernel.descriptor.rsrc1 >> 29 & 1 == 0,
            vgprs: meta.vgpr_count,
            sgprs: meta.sgpr_count,
            hostcall,
            heap,
            formats,
            args,
            wave_sync: OnceLock::new(),
        })))
    }

    /// What its metadata call it.
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether it is one of the runtime's own.
    pub(crate) fn is_own(&self) -> bool {
        self.0.loaded.is_own
    }

    /// Whether both are the same kernel.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Handle of the kernel in packets.
    pub fn object(&self) -> u64 {
        self.0.object
    }

    /// Bytes of LDS that a workgroup always has.
    pub fn group_bytes(&self) -> u32 {
        self.0.group_bytes
    }

    /// Bytes of scratch of a work-item.
    pub fn private_bytes(&self) -> u32 {
        self.0.private_bytes
    }

    /// Largest number of work-items in a workgroup.
    pub fn max_block(&self) -> u32 {
        self.0.max_block
    }

    /// Largest number of bytes of LDS that a launch can ask for beside those that a workgroup always has.
    pub fn max_dynamic_lds(&self) -> u32 {
        self.0.max_lds.saturating_sub(self.0.group_bytes)
    }

    /// Vector registers of a work-item.
    pub fn vgprs(&self) -> u32 {
        self.0.vgprs
    }

    /// Offset and size in bytes of each argument that a caller gives.
    #[inline]
    pub fn arguments(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        self.0.explicit.iter().copied()
    }

    /// Bytes from the start of the first argument to the end of the last that a caller gives.
    #[inline]
    pub fn argument_bytes(&self) -> usize {
        self.0.explicit_bytes
    }

    /// Whether the kernel may print to a buffer that is read when it is over.
    pub(crate) fn prints(&self) -> bool {
        self.0.formats.is_some()
    }

    /// Whether the kernel may use global wave sync, and so needs the queue that has it.
    pub(crate) fn may_use_wave_sync(&self) -> bool {
        *self.0.wave_sync.get_or_init(|| {
            let object = &self.0.loaded.object;
            // GFX12 has none: a word that looks like it is something else there.
            let is_there = !object.target().processor.name().starts_with("gfx12");
            let uses = is_there && object.may_use_wave_sync(&self.0.name);
            if uses && System::started().is_ok_and(|system| system.backend() == Backend::Rocr) {
                let name = &self.0.name;
                tracing::info!(
                    "cooperative kernel {name} uses global wave sync: ROCr ends the process if it traps"
                );
            }
            uses
        })
    }

    /// The formats of what the kernel prints in that way, by hash.
    pub(crate) fn formats(&self) -> impl Iterator<Item = (&u64, &Box<str>)> {
        self.0.formats.iter().flatten()
    }

    /// Fills a hidden argument of a launch in, if the kernel has it.
    pub(crate) fn put_hidden(&self, kernargs: &mut [u8], kind: &ValueKind, value: u64) {
        args::put_hidden(kernargs, &self.0.args, kind, value);
    }

    /// Checks a launch and packs its kernel arguments.
    ///
    /// # Errors
    /// [`Error::InvalidConfiguration`], or [`Error::InvalidValue`] if the arguments do not have the kernel's size.
    #[inline]
    pub(crate) fn dispatch(&self, launch: &graph::Kernel<Function>) -> Result<Dispatch> {
        let (block, work_items) = self.check_launch(launch)?;
        let mut kernargs = Kernargs::padded(&launch.kernargs, self.0.kernarg_bytes);
        let shape = args::LaunchShape {
            work_items,
            block,
            dynamic_lds: launch.shared_bytes,
            hostcall: self.0.hostcall,
            heap: self.0.heap,
        };
        args::fill_hidden(&mut kernargs, &self.0.hidden, &shape);
        Ok(Dispatch {
            code: self.clone(),
            token: launch.function.token(),
            grid: work_items,
            workgroup: block,
            group_bytes: self.0.group_bytes + launch.shared_bytes,
            kernargs,
        })
    }

    /// Refuses blocks and shared memory that a launch without attributes cannot have.
    ///
    /// # Errors
    /// [`Error::InvalidConfiguration`].
    #[inline]
    pub fn check_size(&self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Result<()> {
        self.size(grid, block, shared_bytes, [0; 3]).map(drop)
    }

    /// Checks a launch with the arguments that come with it; returns the workgroup and the grid, in work-items.
    #[inline]
    fn check_launch(&self, launch: &graph::Kernel<Function>) -> Result<([u16; 3], [u32; 3])> {
        let size = self.size(launch.grid, launch.block, launch.shared_bytes, launch.attributes.lacking)?;
        // A caller that packs its arguments itself may pad them at the end.
        if launch.kernargs.len() < self.0.explicit_bytes {
            return Err(Error::InvalidValue("fewer argument bytes than the kernel takes"));
        }
        Ok(size)
    }

    /// The workgroup and the grid, in work-items. The compiler drops most of it where the caller needs no sizes.
    #[inline(always)]
    fn size(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        lacking: [u32; 3],
    ) -> Result<([u16; 3], [u32; 3])> {
        let refuse = |misfit| Err(Error::InvalidConfiguration(misfit));
        // Two dimensions never overflow 64 bits.
        let threads = (u64::from(block[0]) * u64::from(block[1])).saturating_mul(block[2].into());
        if grid.contains(&0) || threads == 0 {
            return refuse(Misfit::Zero);
        }
        if threads > self.0.max_block.into() {
            let any = threads > self.0.device_block.into();
            return refuse(if any { Misfit::Block } else { Misfit::Bounds });
        }
        if self.0.required_block.is_some_and(|required| required != block) {
            return refuse(Misfit::RequiredBlock);
        }
        if shared_bytes > self.0.max_lds.saturating_sub(self.0.group_bytes) {
            return refuse(Misfit::SharedMemory);
        }
        if lacking != [0; 3] && lacking.iter().zip(&block).any(|(lacking, block)| lacking >= block) {
            return refuse(Misfit::Lacking);
        }
        if grid.iter().zip(&self.0.max_grid).any(|(blocks, most)| blocks > most) {
            return refuse(Misfit::Grid);
        }
        let work_items: [u64; 3] =
            array::from_fn(|i| u64::from(grid[i]) * u64::from(block[i]) - u64::from(lacking[i]));
        if work_items[0] | work_items[1] | work_items[2] > u32::MAX.into() {
            return refuse(Misfit::WorkItems);
        }
        // CAST: the product of the block's dimensions is at most 1024, and the grid's were just looked at.
        Ok((block.map(|n| n as u16), work_items.map(|n| n as u32)))
    }
}

impl fmt::Debug for KernelCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KernelCode({:#x})", self.0.object)
    }
}
