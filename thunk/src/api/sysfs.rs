//! What Linux would show of the devices; an addition of ours, described in `include/aqlipse_thunk.h`.

use std::ffi::c_char;

use emulator::driver::Figures;

use crate::{
    abi::{HSAKMT_STATUS_ERROR, In},
    entry::entry,
    session,
    topology::Topology,
};

entry! {
    /// Writes a folder `sys` with what Linux would show of the devices below `directory`.
    fn aqlipseThunkWriteSysfs(directory: In<c_char>) {
        let config = session::config()?;
        let directory = directory.read_path()?;
        let topology = Topology::new(Figures::of(&config), config.hardware, Vec::new());
        topology.write_sysfs(&directory).map_err(|error| {
            tracing::error!("{error}");
            HSAKMT_STATUS_ERROR
        })
    }
}
