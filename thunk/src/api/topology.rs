//! Opening the driver, and what nodes there are.

use crate::{
    abi::{
        HSAKMT_STATUS_NOT_SUPPORTED, HsaCacheProperties, HsaGpuTileConfig, HsaIoLinkProperties,
        HsaMemoryProperties, HsaNodeProperties, HsaSystemProperties, HsaVersionInfo, In, Out, Zero, newer,
    },
    entry::entry,
    session,
};

/// The kernel driver's interface that is spoken: 1.14 has all that ROCr 5.2.3 asks for. Below 1.4 ROCr leaves out
/// gfx906, and at 1.0 it polls instead of waiting for interrupts.
const INTERFACE: (u32, u32) = (1, 14);
/// From 1.15 on newer ROCr has virtual memory; from 1.17 on it would ask for copy engines by number.
const NEWER_INTERFACE: (u32, u32) = (1, 15);

/// `GB_ADDR_CONFIG` of gfx90a and gfx942: how addresses spread over channels.
const ADDRESS_CONFIG: u32 = 0x2a11_4042;
/// Banks and ranks that belong to it.
const BANKS: u32 = 16;
const RANKS: u32 = 1;

entry! {
    /// Opens the devices, or counts one more user of them.
    fn hsaKmtOpenKFD() {
        session::open()
    }

    /// Counts one user less; the last one takes the devices with it.
    fn hsaKmtCloseKFD() {
        session::close()
    }

    /// Tells the version of the kernel driver.
    fn hsaKmtGetVersion(version: Out<HsaVersionInfo>) {
        session::current()?;
        let (major, minor) = if newer::is_spoken() { NEWER_INTERFACE } else { INTERFACE };
        version.write(HsaVersionInfo {
            KernelInterfaceMajorVersion: major,
            KernelInterfaceMinorVersion: minor,
        })
    }

    /// Tells how many nodes there are.
    fn hsaKmtAcquireSystemProperties(properties: Out<HsaSystemProperties>) {
        let session = session::current()?;
        properties.write(HsaSystemProperties { NumNodes: session.topology.nodes().count(), ..HsaSystemProperties::ZERO })
    }

    /// Ends the use of what `hsaKmtAcquireSystemProperties` told; nodes never change here.
    fn hsaKmtReleaseSystemProperties() {
        session::current().map(drop)
    }

    /// Tells what a node is.
    fn hsaKmtGetNodeProperties(node: u32, properties: Out<HsaNodeProperties>) {
        let session = session::current()?;
        let place = properties.check()?;
        let properties = session.topology.node(node)?;
        if newer::is_spoken() {
            let additions = session.topology.additions(node)?;
            return place.cast().write(newer::NodeProperties::new(&properties, additions));
        }
        place.write(properties)
    }

    /// Lists a node's memory banks.
    fn hsaKmtGetNodeMemoryProperties(node: u32, room: u32, banks: Out<HsaMemoryProperties>) {
        let session = session::current()?;
        banks.write_all(room, &session.topology.memory(node)?)
    }

    /// Lists a node's caches.
    fn hsaKmtGetNodeCacheProperties(node: u32, processor: u32, room: u32, caches: Out<HsaCacheProperties>) {
        let session = session::current()?;
        caches.write_all(room, &session.topology.caches(node, processor)?)
    }

    /// Lists a node's links to others.
    fn hsaKmtGetNodeIoLinkProperties(node: u32, room: u32, links: Out<HsaIoLinkProperties>) {
        let session = session::current()?;
        let found = session.topology.links(node)?;
        if newer::is_spoken() {
            let found: Vec<_> = found.iter().map(newer::IoLinkProperties::new).collect();
            return links.cast().write_all(room, &found);
        }
        links.write_all(room, &found)
    }

    /// Tells how images lie in memory. The chips are newer than tables of tile modes: those are empty.
    fn hsaKmtGetTileConfig(node: u32, config: Out<HsaGpuTileConfig>) {
        let session = session::current()?;
        if session.topology.device(node)?.is_none() {
            return Err(HSAKMT_STATUS_NOT_SUPPORTED);
        }
        let asked = config.read()?;
        config.write(HsaGpuTileConfig {
            NumTileConfigs: 0,
            NumMacroTileConfigs: 0,
            GbAddrConfig: ADDRESS_CONFIG,
            NumBanks: BANKS,
            NumRanks: RANKS,
            ..asked
        })
    }

    /// Chooses caching of memory: devices see the host's memory as the host does, so that every choice holds.
    fn hsaKmtSetMemoryPolicy(node: u32, _default: u32, _alternate: u32, _address: In<u8>, _size: u64) {
        session::current()?.topology.device(node).map(drop)
    }
}
