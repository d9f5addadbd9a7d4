//! Loading of code objects by the HSA runtime (HSA Runtime 1.2, 2.12).

use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::Arc;

use hsa_sys::*;

use crate::agent::Agent;
use crate::error::{Error, check};
use crate::info::Answer;
use crate::ledger::{Entry, Resource};
use crate::runtime::Runtime;

/// Code objects that are being loaded; [`Executable::freeze`] makes them usable.
pub struct Executable {
    runtime: Arc<Runtime>,
    raw: hsa_executable_t,
    /// Code objects that were loaded: the runtime may read them until the executable is gone.
    readers: Vec<Reader>,
    entry: Entry,
}

/// Bytes of a code object and the runtime's reader of them.
struct Reader {
    runtime: Arc<Runtime>,
    raw: hsa_code_object_reader_t,
    /// Read by the runtime until the reader is destroyed.
    bytes: Arc<[u8]>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the reader is ours. A failure leaves nothing to do but leak.
        let _ = unsafe { (self.runtime.api().hsa_code_object_reader_destroy)(self.raw) };
    }
}

/// What a symbol of a frozen executable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symbol {
    /// A kernel.
    Kernel {
        /// Address of the kernel descriptor, for dispatch packets.
        object: u64,
        /// Bytes of the kernel arguments.
        kernarg_size: u32,
        /// Static group memory in bytes.
        group_size: u32,
        /// Private memory a work-item in bytes.
        private_size: u32,
    },
    /// A variable.
    Variable {
        /// Where agents find it.
        address: u64,
        /// Number of bytes.
        size: u32,
    },
    /// A symbol of another kind: `hsa_symbol_kind_t`.
    Other(u32),
}

impl Executable {
    /// Creates an empty executable.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn create(runtime: &Arc<Runtime>) -> Result<Self, Error> {
        let mut raw = hsa_executable_t::default();
        // SAFETY: `raw` has room for the handle, and null means no options.
        let status = unsafe {
            (runtime.api().hsa_executable_create_alt)(
                HSA_PROFILE_FULL,
                HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                std::ptr::null(),
                &raw mut raw,
            )
        };
        check("hsa_executable_create_alt", status)?;
        let entry = Entry::new(runtime.ledger(), Resource::Executable, 0, 0);
        Ok(Self { runtime: Arc::clone(runtime), raw, readers: Vec::new(), entry })
    }

    /// Gives an external variable its address; to be done before the code object that uses it is loaded.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::InteriorNul`].
    ///
    /// # Safety
    /// `address` is memory of the variable's type that `agent` can access and that outlives the executable.
    pub unsafe fn define_variable(&mut self, agent: &Agent, name: &str, address: u64) -> Result<(), Error> {
        let name = c_name(name)?;
        let address: *mut c_void = std::ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the name ends with a zero byte; the rest is the caller's promise.
        let status = unsafe {
            (self.runtime.api().hsa_executable_agent_global_variable_define)(
                self.raw,
                agent.raw(),
                name.as_ptr(),
                address,
            )
        };
        check("hsa_executable_agent_global_variable_define", status)
    }

    /// Loads a code object (an AMDGPU ELF file) onto `agent`.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR_INVALID_CODE_OBJECT`, `HSA_STATUS_ERROR_INVALID_ISA`,
    /// `HSA_STATUS_ERROR_OUT_OF_RESOURCES`.
    pub fn load(&mut self, agent: &Agent, code_object: Arc<[u8]>) -> Result<(), Error> {
        let api = self.runtime.api();
        let mut raw = hsa_code_object_reader_t::default();
        // SAFETY: the bytes are kept beside the reader.
        let status = unsafe {
            (api.hsa_code_object_reader_create_from_memory)(
                code_object.as_ptr().cast(),
                code_object.len(),
                &raw mut raw,
            )
        };
        check("hsa_code_object_reader_create_from_memory", status)?;
        let reader = Reader { runtime: Arc::clone(&self.runtime), raw, bytes: code_object };
        // SAFETY: executable and reader are alive; null means no options and no interest in the loaded
        // object.
        let status = unsafe {
            (api.hsa_executable_load_agent_code_object)(
                self.raw,
                agent.raw(),
                reader.raw,
                std::ptr::null(),
                std::ptr::null_mut(),
            )
        };
        check("hsa_executable_load_agent_code_object", status)?;
        // CAST: a 64-bit process.
        self.entry.grow(reader.bytes.len() as u64);
        self.readers.push(reader);
        Ok(())
    }

    /// Ends loading; symbols have addresses afterwards.
    ///
    /// # Errors
    /// [`Error::Call`]: `HSA_STATUS_ERROR_VARIABLE_UNDEFINED` if an external variable has no address.
    pub fn freeze(self) -> Result<FrozenExecutable, Error> {
        // SAFETY: the executable is alive, and null means no options.
        let status = unsafe { (self.runtime.api().hsa_executable_freeze)(self.raw, std::ptr::null()) };
        check("hsa_executable_freeze", status)?;
        Ok(FrozenExecutable(self))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the executable is ours, and its owner vouches that no kernel of it still runs. A failure
        // leaves nothing to do but leak.
        let _ = unsafe { (self.runtime.api().hsa_executable_destroy)(self.raw) };
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable({:#x}, {} code objects)", self.raw.handle, self.readers.len())
    }
}

/// Loaded code, unloaded when it is dropped.
#[derive(Debug)]
pub struct FrozenExecutable(Executable);

impl FrozenExecutable {
    /// Looks a symbol up; `None` if there is none of that name. A kernel's symbol is its name and `.kd`.
    ///
    /// # Errors
    /// [`Error::Call`], [`Error::InteriorNul`].
    pub fn symbol(&self, agent: &Agent, name: &str) -> Result<Option<Symbol>, Error> {
        let name = c_name(name)?;
        let handle = agent.raw();
        let mut symbol = hsa_executable_symbol_t::default();
        // SAFETY: the name ends with a zero byte, and `symbol` has room for the handle.
        let status = unsafe {
            (self.0.runtime.api().hsa_executable_get_symbol_by_name)(
                self.0.raw,
                name.as_ptr(),
                &raw const handle,
                &raw mut symbol,
            )
        };
        if status == HSA_STATUS_ERROR_INVALID_SYMBOL_NAME {
            return Ok(None);
        }
        check("hsa_executable_get_symbol_by_name", status)?;
        self.describe(symbol).map(Some)
    }

    /// All symbols of `agent` with their names.
    ///
    /// # Errors
    /// [`Error::Call`].
    pub fn symbols(&self, agent: &Agent) -> Result<Vec<(String, Symbol)>, Error> {
        let mut handles: Vec<hsa_executable_symbol_t> = Vec::new();
        // SAFETY: `collect_symbol` expects the vector that it is given, and is called only during this call.
        let status = unsafe {
            (self.0.runtime.api().hsa_executable_iterate_agent_symbols)(
                self.0.raw,
                agent.raw(),
                Some(collect_symbol),
                (&raw mut handles).cast(),
            )
        };
        check("hsa_executable_iterate_agent_symbols", status)?;
        handles
            .into_iter()
            .map(|symbol| {
                let length = self.info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, 4)?.u32();
                // CAST: u32 fits usize; one more byte ends the text.
                let name = self.info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, length as usize + 1)?.text();
                Ok((name, self.describe(symbol)?))
            })
            .collect()
    }

    fn describe(&self, symbol: hsa_executable_symbol_t) -> Result<Symbol, Error> {
        let ask = |attribute| self.info(symbol, attribute, 8);
        Ok(match hsa_symbol_kind_t(ask(HSA_EXECUTABLE_SYMBOL_INFO_TYPE)?.u32()) {
            HSA_SYMBOL_KIND_KERNEL => Symbol::Kernel {
                object: ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT)?.u64(),
                kernarg_size: ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE)?.u32(),
                group_size: ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE)?.u32(),
                private_size: ask(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE)?.u32(),
            },
            HSA_SYMBOL_KIND_VARIABLE => Symbol::Variable {
                address: ask(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS)?.u64(),
                size: ask(HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE)?.u32(),
            },
            other => Symbol::Other(other.0),
        })
    }

    fn info(
        &self,
        symbol: hsa_executable_symbol_t,
        attribute: hsa_executable_symbol_info_t,
        bytes: usize,
    ) -> Result<Answer, Error> {
        Answer::ask_for(bytes, "hsa_executable_symbol_get_info", |value| {
            // SAFETY: `value` has room for `bytes` bytes and for any fixed-size attribute.
            unsafe { (self.0.runtime.api().hsa_executable_symbol_get_info)(symbol, attribute, value) }
        })
    }
}

/// Appends a symbol to the vector behind `data`.
///
/// # Safety
/// `data` points to a `Vec<hsa_executable_symbol_t>` that nothing else uses during the call.
unsafe extern "C" fn collect_symbol(
    _executable: hsa_executable_t,
    _agent: hsa_agent_t,
    symbol: hsa_executable_symbol_t,
    data: *mut c_void,
) -> hsa_status_t {
    // SAFETY: the caller's promise.
    unsafe { (*data.cast::<Vec<hsa_executable_symbol_t>>()).push(symbol) };
    HSA_STATUS_SUCCESS
}

fn c_name(name: &str) -> Result<CString, Error> {
    CString::new(name).map_err(|error| Error::InteriorNul { position: error.nul_position() })
}
