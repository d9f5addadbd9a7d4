//! Code objects, executables and their symbols.

use std::ffi::{c_char, c_void};

use hsa_sys::*;

use super::{Answer, entry, present, store, text};
use crate::{
    agent::Agent,
    executable::{SymbolInfo, SymbolInfoKind},
    runtime::{self, Runtime},
};

/// A GPU, because code objects of the host do not exist.
fn gpu(runtime: &Runtime, agent: hsa_agent_t) -> Result<u32, hsa_status_t> {
    runtime.agent(agent).and_then(Agent::gpu).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)
}

entry! {
    fn hsa_code_object_reader_create_from_memory(
        code_object: *const c_void,
        size: usize,
        code_object_reader: *mut hsa_code_object_reader_t,
    ) {
        let runtime = runtime::get()?;
        present(code_object)?;
        present(code_object_reader)?;
        if size == 0 {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let handle = runtime.executables.create_reader(code_object as u64, size);
        // SAFETY: the program's output pointer.
        unsafe { store(code_object_reader, hsa_code_object_reader_t { handle }) }
    }

    fn hsa_code_object_reader_destroy(code_object_reader: hsa_code_object_reader_t) {
        runtime::get()?.executables.destroy_reader(code_object_reader.handle)
    }

    fn hsa_executable_create_alt(
        profile: hsa_profile_t,
        default_float_rounding_mode: hsa_default_float_rounding_mode_t,
        _options: *const c_char,
        executable: *mut hsa_executable_t,
    ) {
        let runtime = runtime::get()?;
        present(executable)?;
        let known = profile.0 <= HSA_PROFILE_FULL.0
            && default_float_rounding_mode.0 <= HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR.0;
        if !known {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let handle = runtime.executables.create();
        // SAFETY: the program's output pointer.
        unsafe { store(executable, hsa_executable_t { handle }) }
    }

    fn hsa_executable_destroy(executable: hsa_executable_t) {
        runtime::get()?.executables.destroy(executable.handle)
    }

    fn hsa_executable_load_agent_code_object(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        code_object_reader: hsa_code_object_reader_t,
        _options: *const c_char,
        loaded_code_object: *mut hsa_loaded_code_object_t,
    ) {
        let runtime = runtime::get()?;
        if !runtime.executables.exists(executable.handle) {
            return Err(HSA_STATUS_ERROR_INVALID_EXECUTABLE);
        }
        let gpu = gpu(&runtime, agent)?;
        // SAFETY: the program keeps the bytes until it destroys the reader.
        let handle = unsafe { runtime.executables.load(executable.handle, gpu, code_object_reader.handle) }?;
        if loaded_code_object.is_null() {
            return Ok(());
        }
        // SAFETY: the program's output pointer.
        unsafe { store(loaded_code_object, hsa_loaded_code_object_t { handle }) }
    }

    fn hsa_executable_freeze(executable: hsa_executable_t, _options: *const c_char) {
        runtime::get()?.executables.freeze(executable.handle)
    }

    fn hsa_executable_validate(executable: hsa_executable_t, result: *mut u32) {
        let runtime = runtime::get()?;
        if !runtime.executables.exists(executable.handle) {
            return Err(HSA_STATUS_ERROR_INVALID_EXECUTABLE);
        }
        // What could be invalid was refused when it was loaded.
        // SAFETY: the program's output pointer.
        unsafe { store(result, 0) }
    }

    fn hsa_executable_get_symbol_by_name(
        executable: hsa_executable_t,
        symbol_name: *const c_char,
        agent: *const hsa_agent_t,
        symbol: *mut hsa_executable_symbol_t,
    ) {
        let runtime = runtime::get()?;
        present(symbol)?;
        // SAFETY: the program's string.
        let name = unsafe { text(symbol_name) }?;
        let gpu = if agent.is_null() {
            None
        } else {
            // SAFETY: the program's input pointer.
            Some(gpu(&runtime, unsafe { agent.read_unaligned() })?)
        };
        let handle = runtime.executables.symbol(executable.handle, gpu, name)?;
        // SAFETY: the program's output pointer.
        unsafe { store(symbol, hsa_executable_symbol_t { handle }) }
    }

    fn hsa_executable_symbol_get_info(
        executable_symbol: hsa_executable_symbol_t,
        attribute: hsa_executable_symbol_info_t,
        value: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let info = runtime.executables.info(executable_symbol.handle)?;
        let answer = symbol_info(&info, attribute).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the program's output pointer has room for the attribute.
        unsafe { answer.give(value) }
    }

    fn hsa_executable_iterate_agent_symbols(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        callback: AgentSymbolCallback,
        data: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let gpu = gpu(&runtime, agent)?;
        for handle in runtime.executables.symbols(executable.handle, gpu)? {
            // SAFETY: the program's callback, called with its own argument.
            let status = unsafe { callback(executable, agent, hsa_executable_symbol_t { handle }, data) };
            if status != HSA_STATUS_SUCCESS {
                return Err(status);
            }
        }
        Ok(())
    }

    fn hsa_executable_agent_global_variable_define(
        executable: hsa_executable_t,
        agent: hsa_agent_t,
        variable_name: *const c_char,
        address: *mut c_void,
    ) {
        let runtime = runtime::get()?;
        // SAFETY: the program's string.
        let name = unsafe { text(variable_name) }?;
        let gpu = gpu(&runtime, agent)?;
        runtime.executables.define(executable.handle, gpu, name, address as u64)
    }
}

fn symbol_info(info: &SymbolInfo, attribute: hsa_executable_symbol_info_t) -> Option<Answer> {
    let common = match attribute {
        // CAST: symbol names are shorter than 4 GiB.
        HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH => Answer::U32(info.name.len() as u32),
        HSA_EXECUTABLE_SYMBOL_INFO_NAME => Answer::Characters(info.name.clone()),
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH => Answer::U32(0),
        HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME => Answer::Characters(String::new()),
        HSA_EXECUTABLE_SYMBOL_INFO_AGENT => Answer::U64(Agent::Gpu(info.gpu).handle().handle),
        HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE => Answer::U32(HSA_SYMBOL_LINKAGE_PROGRAM.0),
        HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION => Answer::Bool(true),
        _ => return kind_info(&info.kind, attribute),
    };
    Some(common)
}

fn kind_info(kind: &SymbolInfoKind, attribute: hsa_executable_symbol_info_t) -> Option<Answer> {
    Some(match *kind {
        SymbolInfoKind::Kernel { object, kernarg_size, kernarg_align, group, private, dynamic_stack } => {
            match attribute {
                HSA_EXECUTABLE_SYMBOL_INFO_TYPE => Answer::U32(HSA_SYMBOL_KIND_KERNEL.0),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT => Answer::U64(object),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE => Answer::U32(kernarg_size),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT => Answer::U32(kernarg_align),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE => Answer::U32(group),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE => Answer::U32(private),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK => Answer::Bool(dynamic_stack),
                HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION => Answer::U32(0),
                _ => return None,
            }
        }
        SymbolInfoKind::Variable { address, size, writable } => match attribute {
            HSA_EXECUTABLE_SYMBOL_INFO_TYPE => Answer::U32(HSA_SYMBOL_KIND_VARIABLE.0),
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS => Answer::U64(address),
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION => Answer::U32(HSA_VARIABLE_ALLOCATION_AGENT.0),
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT if writable => {
                Answer::U32(HSA_VARIABLE_SEGMENT_GLOBAL.0)
            }
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT => Answer::U32(HSA_VARIABLE_SEGMENT_READONLY.0),
            // The greatest power of two that divides the address.
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT => {
                Answer::U32(1 << address.trailing_zeros().min(12))
            }
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE => Answer::U32(u32::try_from(size).unwrap_or(u32::MAX)),
            HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST => Answer::Bool(!writable),
            _ => return None,
        },
    })
}
