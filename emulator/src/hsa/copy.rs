//! Asynchronous copies, and the copy engines that do them.

use std::{ffi::c_void, sync::Arc};

use hsa_sys::*;

use super::{entry, list, memory::may_name, present, store};
use crate::{
    agent::Agent,
    copy::{Copier, Copy, Rect, Window, Work},
    device::Device,
    memory::Map,
    runtime::{self, Runtime},
    signal::Signal,
};

/// Which way a copy goes, and the device that does it: the source's, if it is one.
struct Route<'a> {
    to: Agent,
    from: Agent,
    device: Option<&'a Arc<Device>>,
}

impl<'a> Route<'a> {
    fn find(runtime: &'a Runtime, to: hsa_agent_t, from: hsa_agent_t) -> Result<Self, hsa_status_t> {
        let to = runtime.agent(to).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let from = runtime.agent(from).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let device = from.gpu().or(to.gpu()).map(|gpu| &runtime.devices[gpu as usize]);
        Ok(Self { to, from, device })
    }

    /// As [`Route::find`], for calls that are about engines: these copy between two agents.
    fn between(runtime: &'a Runtime, to: hsa_agent_t, from: hsa_agent_t) -> Result<Self, hsa_status_t> {
        let route = Self::find(runtime, to, from)?;
        if route.to == route.from || route.device.is_none() {
            return Err(HSA_STATUS_ERROR_INVALID_AGENT);
        }
        Ok(route)
    }

    fn is_upload(&self) -> bool {
        self.from.gpu().is_none()
    }

    /// The engine that ROCr takes by default; `None` where it copies by shaders or on the host.
    fn default_engine(&self) -> Option<usize> {
        let upload = self.is_upload();
        self.device.filter(|_| self.to != self.from).map(|_| usize::from(!upload))
    }

    /// Whether an engine may do it, as ROCr restricts the card's.
    fn allows(&self, device: &Device, engine: usize) -> bool {
        engine > 0 || self.is_upload() || self.to == self.from || !device.card.first_engine_for_uploads
    }
}

fn signal(signal: hsa_signal_t) -> Result<Signal, hsa_status_t> {
    Signal::find(signal.handle).ok_or(HSA_STATUS_ERROR_INVALID_SIGNAL)
}

/// Signals that a call waits for.
///
/// # Safety
/// A non-null `dependencies` has as many elements.
pub(super) unsafe fn awaited(
    count: u32,
    dependencies: *const hsa_signal_t,
) -> Result<Vec<Signal>, hsa_status_t> {
    // SAFETY: the caller's.
    let all = unsafe { list(dependencies, count as usize) }?;
    all.iter().filter(|s| s.handle != 0).map(|s| signal(*s)).collect()
}

/// The signal that a call completes, if the program wants one.
pub(super) fn completed(completion: hsa_signal_t) -> Result<Option<Signal>, hsa_status_t> {
    (completion.handle != 0).then(|| signal(completion)).transpose()
}

/// What a call says about waiting and completion, checked.
fn signals(
    count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
) -> Result<(Vec<Signal>, Signal), hsa_status_t> {
    // SAFETY: the program's input array.
    Ok((unsafe { awaited(count, dependencies) }?, signal(completion)?))
}

/// The copier of an engine, or the one for what no engine does.
fn copier<'a>(runtime: &'a Runtime, route: &Route<'_>, engine: Option<usize>) -> &'a Copier {
    match (route.device, engine) {
        (Some(device), Some(engine)) => &runtime.engines[device.index as usize][engine],
        _ => &runtime.copier,
    }
}

/// Checks a linear copy and hands it to an engine, or to the copier for what none does.
fn submit(
    runtime: &Runtime,
    route: &Route<'_>,
    engine: Option<usize>,
    (destination, source, size): (u64, u64, usize),
    (dependencies, completion): (Vec<Signal>, Signal),
) -> Result<(), hsa_status_t> {
    // A device that copies reaches both ranges; the host alone may copy what the runtime does not know.
    let known = may_name(runtime, route.to, destination, size) && may_name(runtime, route.from, source, size);
    let reached = route.device.is_none_or(|device| {
        let map = &device.map;
        covers(map, destination, size as u64, true) && covers(map, source, size as u64, false)
    });
    if size > 0 && !(known && reached) {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    let work = Work::Linear { destination, source, size };
    hand_over(runtime, route, engine, work, [destination, source], (dependencies, completion))
}

fn hand_over(
    runtime: &Runtime,
    route: &Route<'_>,
    engine: Option<usize>,
    work: Work,
    ranges: [u64; 2],
    (dependencies, completion): (Vec<Signal>, Signal),
) -> Result<(), hsa_status_t> {
    let backing = ranges.iter().filter_map(|at| runtime.heap.backing(*at, 1)).collect();
    let copy = Copy { work, completion: Some(completion), _backing: backing, device: route.device.cloned() };
    // SAFETY: known ranges are kept by `backing`; the program vouches for the host's until the completion signal says
    // that they are no longer needed.
    let submitted = unsafe { copier(runtime, route, engine).submit(copy, &dependencies) };
    submitted.map_err(|error| {
        tracing::error!(%error, "a copy engine's thread does not start");
        HSA_STATUS_ERROR_OUT_OF_RESOURCES
    })
}

/// Whether a device that has this map reaches a range.
fn covers(map: &Map, start: u64, size: u64, write: bool) -> bool {
    start.checked_add(size).is_some_and(|end| map.reaches(start, end, write))
}

/// The box of one side of a copy, if the API's rules for boxes hold: multiples of 4, and no row or slice that wraps.
///
/// # Errors
/// `INVALID_ARGUMENT`.
fn window(base: &hsa_pitched_ptr_t, offset: &hsa_dim3_t, range: &hsa_dim3_t) -> Result<Window, hsa_status_t> {
    let (pitch, slice) = (base.pitch as u64, base.slice as u64);
    let (start, [x, y, z]) = (base.base as u64, [offset.x, offset.y, offset.z].map(u64::from));
    let aligned = [start, pitch, slice].iter().all(|value| value.is_multiple_of(4));
    let wide = x + u64::from(range.x) <= pitch;
    let high = slice == 0 || y + u64::from(range.y) <= slice / pitch.max(1);
    let deep = slice != 0 || range.z <= 1;
    if !(aligned && wide && high && deep && start != 0) {
        return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    let distance = z.wrapping_mul(slice).wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x);
    Ok(Window { start: start.wrapping_add(distance), pitch, slice })
}

entry! {
    fn hsa_amd_memory_async_copy(
        dst: *mut c_void,
        dst_agent: hsa_agent_t,
        src: *const c_void,
        src_agent: hsa_agent_t,
        size: usize,
        num_dep_signals: u32,
        dep_signals: *const hsa_signal_t,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::get()?;
        let route = Route::find(&runtime, dst_agent, src_agent)?;
        present(dst)?;
        present(src)?;
        let signals = signals(num_dep_signals, dep_signals, completion_signal)?;
        let engine = route.default_engine();
        submit(&runtime, &route, engine, (dst as u64, src as u64, size), signals)
    }

    fn hsa_amd_memory_async_copy_on_engine(
        dst: *mut c_void,
        dst_agent: hsa_agent_t,
        src: *const c_void,
        src_agent: hsa_agent_t,
        size: usize,
        num_dep_signals: u32,
        dep_signals: *const hsa_signal_t,
        completion_signal: hsa_signal_t,
        engine_id: hsa_amd_sdma_engine_id_t,
        force_copy_on_sdma: bool,
    ) {
        let runtime = runtime::get()?;
        present(dst)?;
        present(src)?;
        if (num_dep_signals == 0) != dep_signals.is_null() {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let route = Route::find(&runtime, dst_agent, src_agent)?;
        let device = route.device.ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let signals = signals(num_dep_signals, dep_signals, completion_signal)?;
        let engine = engine_id.0.trailing_zeros() as usize;
        let engines = runtime.engines[device.index as usize].len();
        if engine_id.0.count_ones() != 1 || engine >= engines || !route.allows(device, engine) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let by_shaders = route.to == route.from && !force_copy_on_sdma;
        let engine = (!by_shaders).then_some(engine);
        submit(&runtime, &route, engine, (dst as u64, src as u64, size), signals)
    }

    fn hsa_amd_memory_copy_engine_status(
        dst_agent: hsa_agent_t,
        src_agent: hsa_agent_t,
        engine_ids_mask: *mut u32,
    ) {
        let runtime = runtime::get()?;
        let route = Route::between(&runtime, dst_agent, src_agent)?;
        let device = route.device.ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let engines = runtime.engines[device.index as usize].iter().enumerate();
        let free = engines.filter(|(number, engine)| route.allows(device, *number) && engine.is_free());
        let mask = free.fold(0, |mask, (number, _)| mask | 1 << number);
        // SAFETY: the program's output pointer.
        unsafe { store(engine_ids_mask, mask) }?;
        if mask == 0 { Err(HSA_STATUS_ERROR_OUT_OF_RESOURCES) } else { Ok(()) }
    }

    fn hsa_amd_memory_get_preferred_copy_engine(
        dst_agent: hsa_agent_t,
        src_agent: hsa_agent_t,
        recommended_ids_mask: *mut u32,
    ) {
        let runtime = runtime::get()?;
        let route = Route::between(&runtime, dst_agent, src_agent)?;
        let mask = route.default_engine().map_or(0, |engine| 1 << engine);
        // SAFETY: the program's output pointer.
        unsafe { store(recommended_ids_mask, mask) }
    }

    #[allow(non_upper_case_globals, reason = "the names are the header's")]
    fn hsa_amd_memory_async_copy_rect(
        dst: *const hsa_pitched_ptr_t,
        dst_offset: *const hsa_dim3_t,
        src: *const hsa_pitched_ptr_t,
        src_offset: *const hsa_dim3_t,
        range: *const hsa_dim3_t,
        copy_agent: hsa_agent_t,
        dir: hsa_amd_copy_direction_t,
        num_dep_signals: u32,
        dep_signals: *const hsa_signal_t,
        completion_signal: hsa_signal_t,
    ) {
        let runtime = runtime::get()?;
        if (num_dep_signals == 0) != dep_signals.is_null() {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        let device = runtime.gpu(copy_agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let (to, from) = match dir {
            hsaHostToDevice => (copy_agent, Agent::Host(0).handle()),
            hsaDeviceToHost => (Agent::Host(0).handle(), copy_agent),
            hsaDeviceToDevice => (copy_agent, copy_agent),
            _ => return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT),
        };
        let route = Route::find(&runtime, to, from)?;
        let signals = signals(num_dep_signals, dep_signals, completion_signal)?;
        // SAFETY: the program's input structures.
        let boxes = unsafe {
            (list(dst, 1)?, list(dst_offset, 1)?, list(src, 1)?, list(src_offset, 1)?, list(range, 1)?)
        };
        let ([dst], [dst_offset], [src], [src_offset], [range]) = boxes else {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        };
        let rect = Rect {
            destination: window(dst, dst_offset, range)?,
            source: window(src, src_offset, range)?,
            width: range.x.into(),
            height: range.y.into(),
            // A box without bytes has no rows.
            depth: if range.x == 0 || range.y == 0 { 0 } else { range.z.into() },
        };
        let map = &device.map;
        let reached = |(to, from)| covers(map, to, rect.width, true) && covers(map, from, rect.width, false);
        if !rect.rows().all(reached) {
            return Err(HSA_STATUS_ERROR_INVALID_ARGUMENT);
        }
        // ROCr has one engine for what comes from the host, and one for the rest.
        let engine = Some(usize::from(!route.is_upload()));
        let starts = [rect.destination.start, rect.source.start];
        hand_over(&runtime, &route, engine, Work::Rect(rect), starts, signals)
    }
}
