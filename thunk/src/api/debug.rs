//! Debugging: the runtime may announce itself, a debugger cannot attach.

use std::ffi::c_void;

use super::say_once;
use crate::{
    abi::{HSAKMT_STATUS_NOT_SUPPORTED, Out},
    entry::{Result, entry},
    session,
};

fn refuse(what: &str) -> Result {
    session::current()?;
    say_once!(warn, "{what}: emulated devices have no debugger interface");
    Err(HSAKMT_STATUS_NOT_SUPPORTED)
}

entry! {
    /// The runtime announces itself. Success means that queues report exceptions through their error reason.
    fn hsaKmtRuntimeEnable(_debug: *mut c_void, _setup_ttmp: u8) {
        session::current().map(drop)
    }

    /// The runtime takes its leave.
    fn hsaKmtRuntimeDisable() {
        session::current().map(drop)
    }

    /// Installs a trap handler: waves here report their exceptions without one, and it never runs.
    fn hsaKmtSetTrapHandler(node: u32, _code: *mut c_void, _size: u64, _buffer: *mut c_void, _buffer_size: u64) {
        let session = session::current()?;
        match session.topology.device(node)? {
            Some(_) => Ok(()),
            None => Err(HSAKMT_STATUS_NOT_SUPPORTED),
        }
    }

    /// A debugger takes a node: refused.
    fn hsaKmtDbgRegister(_node: u32) {
        refuse("hsaKmtDbgRegister")
    }

    /// A debugger leaves a node: refused.
    fn hsaKmtDbgUnregister(_node: u32) {
        refuse("hsaKmtDbgUnregister")
    }

    /// A debugger stops or kills waves: refused.
    fn hsaKmtDbgWavefrontControl(_node: u32, _operand: u32, _mode: u32, _trap: u32, _message: *mut c_void) {
        refuse("hsaKmtDbgWavefrontControl")
    }

    /// A debugger watches addresses: refused.
    fn hsaKmtDbgAddressWatch(
        _node: u32,
        _count: u32,
        _modes: *mut c_void,
        _addresses: *mut c_void,
        _masks: *mut c_void,
        _events: *mut c_void,
    ) {
        refuse("hsaKmtDbgAddressWatch")
    }

    /// Tells the version of the debugger interface: there is none.
    fn hsaKmtGetKernelDebugTrapVersionInfo(_major: Out<u32>, _minor: Out<u32>) {
        refuse("hsaKmtGetKernelDebugTrapVersionInfo")
    }

    /// Tells what of debugging the runtime may use: nothing.
    fn hsaKmtGetRuntimeCapabilities(capabilities: Out<u32>) {
        session::current()?;
        capabilities.write(0)
    }

    /// Whether firmware and kernel can debug: no.
    fn hsaKmtCheckRuntimeDebugSupport() {
        refuse("hsaKmtCheckRuntimeDebugSupport")
    }

    /// A debugger takes the process: refused.
    fn hsaKmtDbgEnable(_information: *mut *mut c_void, _size: *mut u32) {
        refuse("hsaKmtDbgEnable")
    }

    /// A debugger leaves the process: refused.
    fn hsaKmtDbgDisable() {
        refuse("hsaKmtDbgDisable")
    }

    /// A debugger lists devices: refused.
    fn hsaKmtDbgGetDeviceData(_data: *mut *mut c_void, _count: *mut u32, _size: *mut u32) {
        refuse("hsaKmtDbgGetDeviceData")
    }

    /// A debugger lists queues: refused.
    fn hsaKmtDbgGetQueueData(_data: *mut *mut c_void, _count: *mut u32, _size: *mut u32, _suspend: u8) {
        refuse("hsaKmtDbgGetQueueData")
    }

    /// A debugger's operation: refused.
    fn hsaKmtDebugTrapIoctl(_arguments: *mut c_void, _queues: *mut u64, _result: *mut u64) {
        refuse("hsaKmtDebugTrapIoctl")
    }
}
