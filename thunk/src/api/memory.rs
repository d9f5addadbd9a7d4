//! Memory.

use std::{ffi::c_void, os::fd::IntoRawFd};

use crate::{
    abi::{
        HSAKMT_STATUS_ERROR, HSAKMT_STATUS_INVALID_PARAMETER, HsaPointerInfo, In, Out, Zero,
        newer::{HsaGraphicsResourceInfo, REGISTER_REQUIRES_ADDRESS},
    },
    entry::{Result, entry},
    memory::{Request, SharedHandle, Wanted},
    session,
    topology::HOST_NODE,
};

/// Longest list of nodes that a call may pass: more than there can be, fewer than a wild number.
const MAX_NODES: u64 = 256;

fn nodes(list: In<u32>, count: u64) -> Result<Vec<u32>> {
    if count > MAX_NODES {
        return Err(HSAKMT_STATUS_INVALID_PARAMETER);
    }
    // CAST: at most MAX_NODES.
    list.read_all(count as usize)
}

fn allocate(node: u32, size: u64, alignment: u64, flags: u32, address: Out<u64>) -> Result {
    let session = session::current()?;
    // Read only where the flags fix the address; it may be uninitialised otherwise, but it is the caller's.
    let fixed = address.read()?;
    let request = Request { node, size, alignment, flags, address: fixed };
    address.write(session.memory.allocate(&request)?)
}

fn import(
    handle: u64,
    resource: Out<HsaGraphicsResourceInfo>,
    count: u64,
    list: In<u32>,
    flags: u32,
) -> Result {
    let session = session::current()?;
    let resource = resource.check()?;
    let nodes = nodes(list, count)?;
    for node in &nodes {
        session.topology.device(*node)?;
    }
    let descriptor = i32::try_from(handle).map_err(|_| HSAKMT_STATUS_INVALID_PARAMETER)?;
    let at_address = !nodes.is_empty() || flags & REGISTER_REQUIRES_ADDRESS != 0;
    let import = session.memory.import(descriptor, at_address)?;
    resource.write(HsaGraphicsResourceInfo {
        MemoryAddress: import.address,
        SizeInBytes: import.size,
        Metadata: 0,
        MetadataSizeInBytes: 0,
        NodeId: import.node,
    })
}

fn attach(handle: In<SharedHandle>, address: Out<u64>, size: Out<u64>) -> Result {
    let session = session::current()?;
    let (address, size) = (address.check()?, size.check()?);
    let attached = session.memory.attach(handle.read()?)?;
    address.write(attached.address)?;
    size.write(attached.size)
}

entry! {
    /// Allocates memory; `node` says whose.
    fn hsaKmtAllocMemory(node: u32, size: u64, flags: u32, address: Out<u64>) {
        allocate(node, size, 0, flags, address)
    }

    /// As `hsaKmtAllocMemory`, from a multiple of `alignment` on.
    fn hsaKmtAllocMemoryAlign(node: u32, size: u64, alignment: u64, flags: u32, address: Out<u64>) {
        allocate(node, size, alignment, flags, address)
    }

    /// Frees an allocation.
    fn hsaKmtFreeMemory(address: In<c_void>, _size: u64) {
        let session = session::current()?;
        if address.address() == 0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        session.memory.free(address.address())
    }

    /// Tells how much local memory a device has left.
    fn hsaKmtAvailableMemory(node: u32, bytes: Out<u64>) {
        let session = session::current()?;
        let (device, _) = session.topology.device(node)?.ok_or(HSAKMT_STATUS_INVALID_PARAMETER)?;
        bytes.write(session.driver.available_local(device))
    }

    /// Registers host memory.
    fn hsaKmtRegisterMemory(address: In<c_void>, size: u64) {
        session::current()?.memory.register(address.address(), size, 0)
    }

    /// Registers host memory for some nodes; which devices reach it, mapping decides.
    fn hsaKmtRegisterMemoryToNodes(address: In<c_void>, size: u64, count: u64, list: In<u32>) {
        let session = session::current()?;
        for node in nodes(list, count)? {
            session.topology.device(node)?;
        }
        session.memory.register(address.address(), size, 0)
    }

    /// Registers host memory with flags.
    fn hsaKmtRegisterMemoryWithFlags(address: In<c_void>, size: u64, flags: u32) {
        session::current()?.memory.register(address.address(), size, flags)
    }

    /// Undoes one registration.
    fn hsaKmtDeregisterMemory(address: In<c_void>) {
        let session = session::current()?;
        if address.address() == 0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        session.memory.deregister(address.address())
    }

    /// Lets all devices reach a range.
    fn hsaKmtMapMemoryToGPU(address: In<c_void>, size: u64, device_address: Out<u64>) {
        let session = session::current()?;
        session.memory.map(&Wanted { address: address.address(), size, flags: 0, nodes: None })?;
        device_address.write_if_wanted(address.address());
        Ok(())
    }

    /// Lets the devices of some nodes, and no others, reach a range.
    fn hsaKmtMapMemoryToGPUNodes(
        address: In<c_void>,
        size: u64,
        device_address: Out<u64>,
        flags: u32,
        count: u64,
        list: In<u32>,
    ) {
        let session = session::current()?;
        let nodes = nodes(list, count)?;
        session.memory.map(&Wanted { address: address.address(), size, flags, nodes: Some(&nodes) })?;
        device_address.write_if_wanted(address.address());
        Ok(())
    }

    /// Takes a range from all devices.
    fn hsaKmtUnmapMemoryToGPU(address: In<c_void>) {
        let session = session::current()?;
        if address.address() == 0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        session.memory.unmap(address.address())
    }

    /// Tells what an address belongs to.
    fn hsaKmtQueryPointerInfo(address: In<c_void>, information: Out<HsaPointerInfo>) {
        let session = session::current()?;
        if address.address() == 0 {
            return Err(HSAKMT_STATUS_INVALID_PARAMETER);
        }
        let known = session.memory.pointer_info(address.address());
        // Zeroed: of type HSA_POINTER_UNKNOWN.
        information.write(known.unwrap_or(HsaPointerInfo { Node: HOST_NODE, ..HsaPointerInfo::ZERO }))?;
        if known.is_some() { Ok(()) } else { Err(HSAKMT_STATUS_ERROR) }
    }

    /// Keeps a word of the caller's with the memory that contains an address.
    fn hsaKmtSetMemoryUserData(address: In<c_void>, data: *mut c_void) {
        session::current()?.memory.set_user_data(address.address(), data as u64)
    }

    /// Opens a file descriptor of the memory that holds a range, and tells where in it the range begins.
    fn hsaKmtExportDMABufHandle(address: In<c_void>, size: u64, descriptor: Out<i32>, offset: Out<u64>) {
        let session = session::current()?;
        let (descriptor, offset) = (descriptor.check()?, offset.check()?);
        let (file, at) = session.memory.export(address.address(), size)?;
        descriptor.write(file.into_raw_fd())?;
        offset.write(at)
    }

    /// Opens memory by a file descriptor: for some nodes at an address, for none by a name that stands for it.
    fn hsaKmtRegisterGraphicsHandleToNodes(
        handle: u64,
        resource: Out<HsaGraphicsResourceInfo>,
        count: u64,
        list: In<u32>,
    ) {
        import(handle, resource, count, list, 0)
    }

    /// As `hsaKmtRegisterGraphicsHandleToNodes`; at an address also for no node, if the flags say so.
    fn hsaKmtRegisterGraphicsHandleToNodesExt(
        handle: u64,
        resource: Out<HsaGraphicsResourceInfo>,
        count: u64,
        list: In<u32>,
        flags: u32,
    ) {
        import(handle, resource, count, list, flags)
    }

    /// Makes a handle of an allocation for another process.
    fn hsaKmtShareMemory(address: In<c_void>, size: u64, handle: Out<SharedHandle>) {
        let session = session::current()?;
        handle.check()?.write(session.memory.share(address.address(), size)?)
    }

    /// Opens another process's handle.
    fn hsaKmtRegisterSharedHandle(handle: In<SharedHandle>, address: Out<u64>, size: Out<u64>) {
        attach(handle, address, size)
    }

    /// Opens another process's handle for some nodes; which devices reach it, mapping decides.
    fn hsaKmtRegisterSharedHandleToNodes(
        handle: In<SharedHandle>,
        address: Out<u64>,
        size: Out<u64>,
        count: u64,
        list: In<u32>,
    ) {
        let session = session::current()?;
        for node in nodes(list, count)? {
            session.topology.device(node)?;
        }
        attach(handle, address, size)
    }
}
