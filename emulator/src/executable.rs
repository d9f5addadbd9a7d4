//! Executables: code objects placed in a device's memory, and the symbols in them.
//!
//! An image is laid out by the loader crate, shown to the device segment by segment (constants and
//! code read-only), and its code registered for decoding. Machine code is untrusted: whatever it
//! contains, the worst that comes of it is a fault of the dispatch.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use hsa_sys::{
    HSA_STATUS_ERROR_FROZEN_EXECUTABLE, HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS,
    HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER, HSA_STATUS_ERROR_INVALID_EXECUTABLE,
    HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL, HSA_STATUS_ERROR_INVALID_SYMBOL_NAME,
    HSA_STATUS_ERROR_OUT_OF_RESOURCES, HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED,
    HSA_STATUS_ERROR_VARIABLE_UNDEFINED, hsa_status_t,
};
use loader::{Bytes, CodeObject, Limits, Place, SymbolKind, TargetId};
use parking_lot::{Mutex, MutexGuard};

use crate::{
    device::{Device, Image},
    memory::{Allocation, Grain},
    os::{self, Mapping},
    wave::code::Code,
};

/// Bytes that a load may reach behind a segment.
const TAIL: u64 = 16;

/// A code object in a device's memory.
struct Loaded {
    gpu: u32,
    object: CodeObject<'static>,
    base: u64,
    size: u64,
    mapping: Arc<Mapping>,
    /// Starts of what stands in the device's map.
    shown: Vec<u64>,
    code: Vec<Arc<Code>>,
}

impl Image for Loaded {
    fn kernel(&self, address: u64) -> Option<String> {
        let offset = address.checked_sub(self.base)?;
        let symbols = self.object.symbols();
        let mut kernels = symbols.filter(|s| s.kind == SymbolKind::KernelDescriptor);
        let kernel = kernels.find(|s| s.place == Place::Image(offset))?;
        Some(kernel.name.trim_end_matches(".kd").to_owned())
    }

    fn function(&self, address: u64) -> Option<(String, u64)> {
        let offset = address.checked_sub(self.base)?;
        let functions = self.object.symbols().filter(|s| s.kind == SymbolKind::Function);
        let below = functions.filter_map(|s| match s.place {
            Place::Image(start) if start <= offset && offset - start < s.size.max(1) => {
                Some((s.name, offset - start))
            }
            _ => None,
        });
        below.min_by_key(|(_, distance)| *distance).map(|(name, distance)| (name.to_owned(), distance))
    }
}

/// What a symbol handle stands for.
struct Symbol {
    executable: u64,
    image: Arc<Loaded>,
    name: Box<str>,
}

/// A kernel's or a variable's attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolInfo {
    pub(crate) gpu: u32,
    /// As in the symbol table: a kernel's ends in `.kd`.
    pub(crate) name: String,
    pub(crate) kind: SymbolInfoKind,
}

/// See [`SymbolInfo`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SymbolInfoKind {
    Kernel {
        object: u64,
        kernarg_size: u32,
        kernarg_align: u32,
        group: u32,
        private: u32,
        dynamic_stack: bool,
    },
    Variable {
        address: u64,
        size: u64,
        writable: bool,
    },
}

#[derive(Default)]
struct Executable {
    frozen: bool,
    images: Vec<Arc<Loaded>>,
    /// Addresses that the program gave for names, by GPU.
    defined: HashMap<(u32, String), u64>,
    /// Handles already given out, by image and name.
    handles: HashMap<(u64, Box<str>), u64>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Address and length of the program's bytes.
    readers: BTreeMap<u64, (u64, usize)>,
    executables: BTreeMap<u64, Executable>,
    symbols: HashMap<u64, Symbol>,
    /// Unloaded images whose code a dispatch may still decode.
    lingering: Vec<Arc<Loaded>>,
}

impl State {
    fn handle(&mut self) -> u64 {
        self.next += 1;
        TAG | self.next
    }

    fn executable(&mut self, handle: u64) -> Result<&mut Executable, hsa_status_t> {
        self.executables.get_mut(&handle).ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE)
    }
}

/// Upper half of the handles of readers, executables, images and symbols.
const TAG: u64 = 0x6578_6563 << 32;

/// All executables of the process.
pub(crate) struct Executables {
    devices: Arc<[Arc<Device>]>,
    state: Mutex<State>,
}

/// The status for an error of the loader's.
fn status(error: &loader::Error) -> hsa_status_t {
    match error {
        loader::Error::Unresolved { .. } => HSA_STATUS_ERROR_VARIABLE_UNDEFINED,
        loader::Error::OutOfMemory { .. } | loader::Error::ImageTooLarge { .. } => {
            HSA_STATUS_ERROR_OUT_OF_RESOURCES
        }
        _ => HSA_STATUS_ERROR_INVALID_CODE_OBJECT,
    }
}

fn refuse(error: loader::Error) -> hsa_status_t {
    tracing::warn!(%error, "a code object is refused");
    status(&error)
}

impl Executables {
    /// None loaded.
    pub(crate) fn new(devices: Arc<[Arc<Device>]>) -> Self {
        Self { devices, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Remembers where the bytes of a code object are.
    pub(crate) fn create_reader(&self, start: u64, size: usize) -> u64 {
        let mut state = self.lock();
        let handle = state.handle();
        state.readers.insert(handle, (start, size));
        handle
    }

    /// Forgets a reader.
    ///
    /// # Errors
    /// `INVALID_CODE_OBJECT_READER`.
    pub(crate) fn destroy_reader(&self, reader: u64) -> Result<(), hsa_status_t> {
        let removed = self.lock().readers.remove(&reader);
        removed.map(drop).ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER)
    }

    /// Makes an executable with nothing in it.
    pub(crate) fn create(&self) -> u64 {
        let mut state = self.lock();
        let handle = state.handle();
        state.executables.insert(handle, Executable::default());
        handle
    }

    /// Unloads an executable. Dispatches that still run its code keep the memory until they end.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`.
    pub(crate) fn destroy(&self, executable: u64) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let removed = state.executables.remove(&executable).ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE)?;
        state.symbols.retain(|_, symbol| symbol.executable != executable);
        for image in removed.images {
            let device = &self.devices[image.gpu as usize];
            for start in &image.shown {
                device.map.remove(*start);
            }
            for code in &image.code {
                device.code.remove(code.start());
            }
            device.remove_image(image.base);
            device.give_back(image.mapping.size() as u64);
            state.lingering.push(image);
        }
        // `Code` reads the image when it decodes a page for the first time.
        state.lingering.retain(|image| image.code.iter().any(|code| Arc::strong_count(code) > 1));
        Ok(())
    }

    /// Stops changes to an executable.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`, `FROZEN_EXECUTABLE`.
    pub(crate) fn freeze(&self, executable: u64) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let executable = state.executable(executable)?;
        if std::mem::replace(&mut executable.frozen, true) {
            return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        }
        Ok(())
    }

    /// Whether the handle names an executable.
    pub(crate) fn exists(&self, executable: u64) -> bool {
        self.lock().executables.contains_key(&executable)
    }

    /// Gives an address to a name that code objects loaded later may refer to.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`, `FROZEN_EXECUTABLE`, `VARIABLE_ALREADY_DEFINED`.
    pub(crate) fn define(
        &self,
        executable: u64,
        gpu: u32,
        name: &str,
        address: u64,
    ) -> Result<(), hsa_status_t> {
        let mut state = self.lock();
        let executable = state.executable(executable)?;
        if executable.frozen {
            return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
        }
        let exists = executable.images.iter().any(|i| i.gpu == gpu && i.object.variable(name).is_some());
        if exists || executable.defined.contains_key(&(gpu, name.to_owned())) {
            return Err(HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED);
        }
        executable.defined.insert((gpu, name.to_owned()), address);
        Ok(())
    }

    /// Places the code object behind a reader in a GPU's memory.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`, `FROZEN_EXECUTABLE`, `INVALID_CODE_OBJECT_READER`;
    /// `INVALID_CODE_OBJECT` for bytes that are none; `INCOMPATIBLE_ARGUMENTS` for another target's code; `VARIABLE_UNDEFINED`;
    /// `OUT_OF_RESOURCES`.
    ///
    /// # Safety
    /// The bytes behind the reader are still there, and do not change during the call
    /// (`hsa_code_object_reader_create_from_memory`).
    pub(crate) unsafe fn load(&self, executable: u64, gpu: u32, reader: u64) -> Result<u64, hsa_status_t> {
        let mut state = self.lock();
        let (start, size) = *state.readers.get(&reader).ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER)?;
        let defined = {
            let executable = state.executable(executable)?;
            if executable.frozen {
                return Err(HSA_STATUS_ERROR_FROZEN_EXECUTABLE);
            }
            &executable.defined
        };
        // SAFETY: the caller's. Copied, because names are looked up after the program took its bytes back.
        let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, size) }.to_vec();
        let device = &self.devices[gpu as usize];
        let resolve = |name: &str| defined.get(&(gpu, name.to_owned())).copied();
        let image = Arc::new(place(device, bytes, resolve)?);
        device.add_image(image.base, image.size, Arc::clone(&image) as Arc<dyn Image>);
        state.executable(executable)?.images.push(image);
        Ok(state.handle())
    }

    /// The handle of a symbol, on one GPU or any.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`; `INVALID_SYMBOL_NAME` if no image has such a kernel (`name.kd`) or variable.
    pub(crate) fn symbol(&self, executable: u64, gpu: Option<u32>, name: &str) -> Result<u64, hsa_status_t> {
        let mut state = self.lock();
        let found = state
            .executable(executable)?
            .images
            .iter()
            .filter(|image| gpu.is_none_or(|gpu| gpu == image.gpu))
            .find(|image| {
                let symbol = image.object.symbol(name);
                symbol.is_some_and(|s| is_listed(s.kind) && matches!(s.place, Place::Image(_)))
            })
            .cloned()
            .ok_or(HSA_STATUS_ERROR_INVALID_SYMBOL_NAME)?;
        Ok(Self::handle_of(&mut state, executable, &found, name))
    }

    fn handle_of(state: &mut State, executable: u64, image: &Arc<Loaded>, name: &str) -> u64 {
        let key = (image.base, Box::<str>::from(name));
        let known = state.executables.get(&executable).and_then(|e| e.handles.get(&key)).copied();
        known.unwrap_or_else(|| {
            let handle = state.handle();
            let symbol = Symbol { executable, image: Arc::clone(image), name: name.into() };
            state.symbols.insert(handle, symbol);
            if let Some(executable) = state.executables.get_mut(&executable) {
                executable.handles.insert(key, handle);
            }
            handle
        })
    }

    /// The handles of all kernels and variables on a GPU.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`.
    pub(crate) fn symbols(&self, executable: u64, gpu: u32) -> Result<Vec<u64>, hsa_status_t> {
        let mut state = self.lock();
        let images = state.executable(executable)?.images.clone();
        let mut handles = Vec::new();
        for image in images.iter().filter(|image| image.gpu == gpu) {
            for symbol in image.object.symbols().filter(|s| is_listed(s.kind)) {
                if matches!(symbol.place, Place::Image(_)) {
                    handles.push(Self::handle_of(&mut state, executable, image, symbol.name));
                }
            }
        }
        Ok(handles)
    }

    /// What a symbol handle stands for.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE_SYMBOL`; `INVALID_CODE_OBJECT` if a kernel's descriptor or metadata is malformed.
    pub(crate) fn info(&self, symbol: u64) -> Result<SymbolInfo, hsa_status_t> {
        let (image, name) = {
            let state = self.lock();
            let symbol = state.symbols.get(&symbol).ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL)?;
            (Arc::clone(&symbol.image), symbol.name.clone())
        };
        let kind = match name.strip_suffix(".kd") {
            Some(kernel) => {
                let kernel = image.object.kernel(kernel).map_err(refuse)?;
                SymbolInfoKind::Kernel {
                    object: image.base + kernel.descriptor_offset,
                    kernarg_size: kernel.metadata.kernarg_segment_size,
                    kernarg_align: kernel.metadata.kernarg_segment_align,
                    group: kernel.metadata.group_segment_fixed_size,
                    private: kernel.metadata.private_segment_fixed_size,
                    dynamic_stack: kernel.metadata.uses_dynamic_stack,
                }
            }
            None => {
                let variable =
                    image.object.variable(&name).ok_or(HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL)?;
                let (size, writable) = (variable.size, variable.writable);
                SymbolInfoKind::Variable { address: image.base + variable.offset, size, writable }
            }
        };
        Ok(SymbolInfo { gpu: image.gpu, name: name.into(), kind })
    }

    /// Whether `start..start + size` is inside an image.
    pub(crate) fn holds(&self, start: u64, size: u64) -> bool {
        let state = self.lock();
        let mut images = state.executables.values().flat_map(|e| &e.images);
        images.any(|i| start >= i.base && start.checked_add(size).is_some_and(|end| end <= i.base + i.size))
    }
}

fn is_listed(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::KernelDescriptor | SymbolKind::Variable)
}

fn place(
    device: &Device,
    bytes: Vec<u8>,
    resolve: impl Fn(&str) -> Option<u64>,
) -> Result<Loaded, hsa_status_t> {
    let object = CodeObject::parse(Bytes::shared(bytes)).map_err(refuse)?;
    let target: TargetId = device.card.isa_name(device.xnack).parse().map_err(refuse)?;
    let identity = object.identity();
    if !object.target().runs_on(identity.generic_version, &target) {
        tracing::warn!(code = %object.target(), device = %target, "the code object is for another target");
        return Err(HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
    }
    let plan = object.load_plan(&Limits::default()).map_err(refuse)?;
    let size =
        usize::try_from(plan.size()).ok().and_then(os::pages).ok_or(HSA_STATUS_ERROR_INVALID_CODE_OBJECT)?;
    if size == 0 {
        return Err(HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
    }
    if !device.take(size as u64) {
        return Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    }
    let laid_out = lay_out(&plan, size, resolve);
    let mapping = match laid_out {
        Ok(mapping) => Arc::new(mapping),
        Err(status) => {
            device.give_back(size as u64);
            return Err(status);
        }
    };
    let base = mapping.address();
    let size = plan.size();
    let (mut shown, mut code) = (Vec::new(), Vec::new());
    let segments = object.segments();
    for (index, segment) in segments.iter().enumerate().filter(|(_, s)| s.size > 0) {
        let limit = segments.get(index + 1).map_or(mapping.size() as u64, |next| next.offset);
        let start = base + segment.offset;
        let end = base + (segment.offset + segment.size.next_multiple_of(TAIL)).min(limit);
        let backing: Arc<dyn Send + Sync> = Arc::clone(&mapping) as _;
        // Constants of a program lie beside its kernel descriptors in the read-only segment, and the host sets
        // them by copies that the device makes: to a card all of device memory is writable. Code alone stays as
        // it is, for it is decoded once.
        let writable = !segment.protection.execute || segment.protection.write;
        let grain = Grain::Coarse;
        device.map.insert(Allocation { start, end, writable, grain, socket: None, backing: Some(backing) });
        shown.push(start);
        if segment.protection.execute && !writable {
            let start = start.next_multiple_of(4);
            // SAFETY: the image stays mapped while the code is referenced (`State::lingering`), and
            // neither the device, to which the segment is read-only, nor we write to it again. The
            // program that loaded it has no business there, and could write to our own code as well.
            let range = Arc::new(unsafe {
                Code::new(start, base + segment.offset + segment.size, device.card.target)
            });
            device.code.insert(Arc::clone(&range));
            code.push(range);
        }
    }
    Ok(Loaded { gpu: device.index, object, base, size, mapping, shown, code })
}

fn lay_out(
    plan: &loader::LoadPlan<'_>,
    size: usize,
    resolve: impl Fn(&str) -> Option<u64>,
) -> Result<Mapping, hsa_status_t> {
    let alignment = usize::try_from(plan.align()).map_err(|_| HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
    let mapping = Mapping::of_devices(size, alignment).map_err(|error| {
        tracing::warn!(size, %error, "the host has no room for a code object");
        HSA_STATUS_ERROR_OUT_OF_RESOURCES
    })?;
    // CAST: not above `size`.
    let image_size = plan.size() as usize;
    // SAFETY: a fresh mapping of at least that size, which no other thread knows yet.
    let image = unsafe { std::slice::from_raw_parts_mut(mapping.of_device(), image_size) };
    plan.write(image, mapping.address(), resolve).map_err(refuse)?;
    Ok(mapping)
}
