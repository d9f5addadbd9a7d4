//! Agents, their instruction sets, and the system.

use std::ffi::c_void;

use hsa_sys::*;

use super::{Answer, entry, present};
use crate::{
    agent::Agent,
    device::{Card, Device, MAX_QUEUE_SIZE, MAX_QUEUES, MAX_WORKGROUP, MIN_QUEUE_SIZE, card},
    isa::Target,
    os,
    processor::branch,
    runtime::{self, Runtime},
};

entry! {
    fn hsa_system_get_info(attribute: hsa_system_info_t, value: *mut c_void) {
        let runtime = runtime::get()?;
        let answer = system_info(&runtime, attribute).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the program's output pointer has room for the attribute.
        unsafe { answer.give(value) }
    }

    fn hsa_iterate_agents(callback: AgentCallback, data: *mut c_void) {
        let runtime = runtime::get()?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        for agent in runtime.agents() {
            // SAFETY: the program's callback, called with its own argument.
            let status = unsafe { callback(agent.handle(), data) };
            if status != HSA_STATUS_SUCCESS {
                return Err(status);
            }
        }
        Ok(())
    }

    fn hsa_agent_get_info(agent: hsa_agent_t, attribute: hsa_agent_info_t, value: *mut c_void) {
        let runtime = runtime::get()?;
        let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        present(value)?;
        let answer = match agent {
            Agent::Host(socket) => host_info(&runtime, socket, attribute),
            Agent::Gpu(index) => gpu_info(&runtime.devices[index as usize], attribute),
        };
        // SAFETY: the program's output pointer has room for the attribute.
        unsafe { answer.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?.give(value) }
    }

    fn hsa_agent_iterate_isas(agent: hsa_agent_t, callback: IsaCallback, data: *mut c_void) {
        let runtime = runtime::get()?;
        let agent = runtime.agent(agent).ok_or(HSA_STATUS_ERROR_INVALID_AGENT)?;
        let callback = callback.ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        let Some(gpu) = agent.gpu() else { return Ok(()) };
        let isa = isa_handle(runtime.devices[gpu as usize].card.target);
        // SAFETY: the program's callback, called with its own argument.
        match unsafe { callback(isa, data) } {
            HSA_STATUS_SUCCESS => Ok(()),
            status => Err(status),
        }
    }

    fn hsa_isa_get_info_alt(isa: hsa_isa_t, attribute: hsa_isa_info_t, value: *mut c_void) {
        let runtime = runtime::get()?;
        let card = isa_card(isa).ok_or(HSA_STATUS_ERROR_INVALID_ISA)?;
        let answer = isa_info(card, runtime.svm.retries(), attribute).ok_or(HSA_STATUS_ERROR_INVALID_ARGUMENT)?;
        // SAFETY: the program's output pointer has room for the attribute.
        unsafe { answer.give(value) }
    }
}

/// Upper half of every instruction-set handle.
const ISA_TAG: u64 = 0x0069_7361 << 32;

fn isa_handle(target: Target) -> hsa_isa_t {
    hsa_isa_t { handle: ISA_TAG | (target as u64 + 1) }
}

fn isa_card(isa: hsa_isa_t) -> Option<&'static Card> {
    Target::ALL.into_iter().find(|t| isa_handle(*t) == isa).map(card)
}

fn system_info(runtime: &Runtime, attribute: hsa_system_info_t) -> Option<Answer> {
    Some(match attribute {
        HSA_SYSTEM_INFO_VERSION_MAJOR => Answer::U16(1),
        HSA_SYSTEM_INFO_VERSION_MINOR => Answer::U16(2),
        HSA_SYSTEM_INFO_TIMESTAMP => Answer::U64(os::now()),
        HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY => Answer::U64(1_000_000_000),
        HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT => Answer::U64(u64::MAX),
        HSA_SYSTEM_INFO_ENDIANNESS => Answer::U32(HSA_ENDIANNESS_LITTLE.0),
        HSA_SYSTEM_INFO_MACHINE_MODEL => Answer::U32(HSA_MACHINE_MODEL_LARGE.0),
        HSA_SYSTEM_INFO_EXTENSIONS => Answer::Bytes(vec![0; 128]),
        HSA_AMD_SYSTEM_INFO_BUILD_VERSION => {
            Answer::Text(concat!("aqlipse-", env!("CARGO_PKG_VERSION")).into(), 64)
        }
        HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED => Answer::Bool(runtime.svm_of_hardware().is_some()),
        HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT | HSA_AMD_SYSTEM_INFO_XNACK_ENABLED => {
            Answer::Bool(runtime.svm.retries())
        }
        HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED | HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED => Answer::Bool(false),
        HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED => Answer::Bool(true),
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR => Answer::U16(1),
        HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR => Answer::U16(14),
        _ => return None,
    })
}

/// What CPU this is, in the kernel's words.
fn processor_name() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = information.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or("CPU", |(_, name)| name).to_owned()
}

fn cores() -> u32 {
    // CAST: no machine has 2^32 cores.
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// Attributes that AMD added, by the number that they have among the agent attributes.
const fn amd(attribute: hsa_amd_agent_info_t) -> hsa_agent_info_t {
    hsa_agent_info_t(attribute.0)
}

const CHIP_ID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_CHIP_ID);
const CACHELINE_SIZE: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
const COMPUTE_UNIT_COUNT: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
const MAX_CLOCK_FREQUENCY: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
const DRIVER_NODE_ID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
const MAX_ADDRESS_WATCH_POINTS: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS);
const BDFID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_BDFID);
const MEMORY_WIDTH: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MEMORY_WIDTH);
const MEMORY_MAX_FREQUENCY: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY);
const PRODUCT_NAME: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_PRODUCT_NAME);
const MAX_WAVES_PER_CU: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU);
const NUM_SIMDS_PER_CU: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
const NUM_SHADER_ENGINES: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES);
const NUM_SHADER_ARRAYS_PER_SE: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE);
const HDP_FLUSH: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_HDP_FLUSH);
const DOMAIN: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_DOMAIN);
const COOPERATIVE_QUEUES: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES);
const UUID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_UUID);
const ASIC_REVISION: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_ASIC_REVISION);
const SVM_DIRECT_HOST_ACCESS: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS);
const COOPERATIVE_UNITS: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT);
const MEMORY_AVAIL: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MEMORY_AVAIL);
const TIMESTAMP_FREQUENCY: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY);
const ASIC_FAMILY_ID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID);
const UCODE_VERSION: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_UCODE_VERSION);
const SDMA_UCODE_VERSION: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION);
const NUM_SDMA_ENG: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_SDMA_ENG);
const NUM_SDMA_XGMI_ENG: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG);
const IOMMU_SUPPORT: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_IOMMU_SUPPORT);
const NUM_XCC: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NUM_XCC);
const DRIVER_UID: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_DRIVER_UID);
const NEAREST_CPU: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_NEAREST_CPU);
const MEMORY_PROPERTIES: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES);
const AQL_EXTENSIONS: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_AQL_EXTENSIONS);
const SCRATCH_LIMIT_MAX: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX);
const SCRATCH_LIMIT_CURRENT: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT);
const CLOCK_COUNTERS: hsa_agent_info_t = amd(HSA_AMD_AGENT_INFO_CLOCK_COUNTERS);

/// Attributes whose answer is the same for host and GPUs.
fn common_info(attribute: hsa_agent_info_t) -> Option<Answer> {
    Some(match attribute {
        HSA_AGENT_INFO_MACHINE_MODEL => Answer::U32(HSA_MACHINE_MODEL_LARGE.0),
        HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE
        | HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => {
            Answer::U32(HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR.0)
        }
        HSA_AGENT_INFO_EXTENSIONS => Answer::Bytes(vec![0; 128]),
        HSA_AGENT_INFO_VERSION_MAJOR => Answer::U16(1),
        HSA_AGENT_INFO_VERSION_MINOR => Answer::U16(2),
        ASIC_REVISION | IOMMU_SUPPORT | DOMAIN => Answer::U32(0),
        MEMORY_PROPERTIES | AQL_EXTENSIONS => Answer::Bytes(vec![0; 8]),
        _ => return None,
    })
}

fn host_info(runtime: &Runtime, socket: u32, attribute: hsa_agent_info_t) -> Option<Answer> {
    Some(match attribute {
        HSA_AGENT_INFO_NAME | PRODUCT_NAME => Answer::Text(processor_name(), 64),
        HSA_AGENT_INFO_VENDOR_NAME => Answer::Text("CPU".into(), 64),
        HSA_AGENT_INFO_FEATURE => Answer::U32(0),
        HSA_AGENT_INFO_PROFILE => Answer::U32(HSA_PROFILE_FULL.0),
        HSA_AGENT_INFO_FAST_F16_OPERATION | COOPERATIVE_QUEUES => Answer::Bool(false),
        HSA_AGENT_INFO_WAVEFRONT_SIZE
        | HSA_AGENT_INFO_WORKGROUP_MAX_SIZE
        | HSA_AGENT_INFO_GRID_MAX_SIZE
        | HSA_AGENT_INFO_FBARRIER_MAX_SIZE
        | HSA_AGENT_INFO_QUEUES_MAX
        | HSA_AGENT_INFO_QUEUE_MIN_SIZE
        | HSA_AGENT_INFO_QUEUE_MAX_SIZE => Answer::U32(0),
        HSA_AGENT_INFO_NODE | DRIVER_NODE_ID => Answer::U32(socket),
        NEAREST_CPU => Answer::U64(Agent::Host(socket).handle().handle),
        HSA_AGENT_INFO_WORKGROUP_MAX_DIM => Answer::U16x3([0; 3]),
        HSA_AGENT_INFO_GRID_MAX_DIM => Answer::Dim3(hsa_dim3_t::default()),
        HSA_AGENT_INFO_QUEUE_TYPE => Answer::U32(HSA_QUEUE_TYPE_MULTI.0),
        HSA_AGENT_INFO_DEVICE => Answer::U32(HSA_DEVICE_TYPE_CPU.0),
        HSA_AGENT_INFO_CACHE_SIZE => Answer::U32x4([32 << 10, 0, 0, 0]),
        HSA_AGENT_INFO_ISA => Answer::U64(0),
        CACHELINE_SIZE => Answer::U32(64),
        COMPUTE_UNIT_COUNT | COOPERATIVE_UNITS => Answer::U32(cores()),
        CHIP_ID
        | MAX_ADDRESS_WATCH_POINTS
        | BDFID
        | MEMORY_WIDTH
        | MEMORY_MAX_FREQUENCY
        | MAX_CLOCK_FREQUENCY
        | MAX_WAVES_PER_CU
        | NUM_SIMDS_PER_CU
        | NUM_SHADER_ENGINES
        | NUM_SHADER_ARRAYS_PER_SE
        | NUM_XCC
        | DRIVER_UID
        | NUM_SDMA_ENG
        | NUM_SDMA_XGMI_ENG
        | ASIC_FAMILY_ID
        | UCODE_VERSION
        | SDMA_UCODE_VERSION => Answer::U32(0),
        SVM_DIRECT_HOST_ACCESS => Answer::Bool(true),
        UUID => Answer::Text("CPU-XX".into(), 21),
        MEMORY_AVAIL => Answer::U64(runtime.heap.host_available()),
        TIMESTAMP_FREQUENCY => Answer::U64(1_000_000_000),
        _ => return common_info(attribute),
    })
}

fn gpu_info(device: &Device, attribute: hsa_agent_info_t) -> Option<Answer> {
    let card = device.card;
    Some(match attribute {
        HSA_AGENT_INFO_NAME => Answer::Text(card.name.into(), 64),
        HSA_AGENT_INFO_VENDOR_NAME => Answer::Text("AMD".into(), 64),
        HSA_AGENT_INFO_FEATURE => Answer::U32(HSA_AGENT_FEATURE_KERNEL_DISPATCH.0),
        HSA_AGENT_INFO_PROFILE => Answer::U32(HSA_PROFILE_BASE.0),
        HSA_AGENT_INFO_FAST_F16_OPERATION | COOPERATIVE_QUEUES => Answer::Bool(true),
        HSA_AGENT_INFO_WAVEFRONT_SIZE => Answer::U32(card.wavefront),
        HSA_AGENT_INFO_WORKGROUP_MAX_DIM => Answer::U16x3([MAX_WORKGROUP as u16; 3]),
        HSA_AGENT_INFO_WORKGROUP_MAX_SIZE => Answer::U32(MAX_WORKGROUP),
        HSA_AGENT_INFO_GRID_MAX_DIM => Answer::Dim3(hsa_dim3_t { x: u32::MAX, y: u32::MAX, z: u32::MAX }),
        HSA_AGENT_INFO_GRID_MAX_SIZE => Answer::U32(u32::MAX),
        HSA_AGENT_INFO_FBARRIER_MAX_SIZE => Answer::U32(32),
        HSA_AGENT_INFO_QUEUES_MAX => Answer::U32(MAX_QUEUES),
        HSA_AGENT_INFO_QUEUE_MIN_SIZE => Answer::U32(MIN_QUEUE_SIZE),
        HSA_AGENT_INFO_QUEUE_MAX_SIZE => Answer::U32(MAX_QUEUE_SIZE),
        HSA_AGENT_INFO_QUEUE_TYPE => Answer::U32(HSA_QUEUE_TYPE_MULTI.0),
        HSA_AGENT_INFO_NODE | DRIVER_NODE_ID => Answer::U32(device.hardware.sockets() + device.index),
        NEAREST_CPU => Answer::U64(Agent::Host(device.hardware.socket_of(device.index)).handle().handle),
        HSA_AGENT_INFO_DEVICE => Answer::U32(HSA_DEVICE_TYPE_GPU.0),
        HSA_AGENT_INFO_CACHE_SIZE => Answer::U32x4(card.caches),
        HSA_AGENT_INFO_ISA => Answer::U64(isa_handle(card.target).handle),
        CHIP_ID => Answer::U32(card.chip_id),
        ASIC_REVISION => Answer::U32(card.asic_revision),
        ASIC_FAMILY_ID => Answer::U32(card.family_id),
        CACHELINE_SIZE => Answer::U32(card.cacheline),
        COMPUTE_UNIT_COUNT | COOPERATIVE_UNITS => Answer::U32(device.compute_units),
        MAX_CLOCK_FREQUENCY => Answer::U32(card.engine_clock),
        MEMORY_MAX_FREQUENCY => Answer::U32(card.memory_clock),
        MEMORY_WIDTH => Answer::U32(card.memory_width),
        MAX_ADDRESS_WATCH_POINTS => Answer::U32(4),
        // Bus 3, 4, ...; device and function 0.
        BDFID => Answer::U32((device.index + 3) << 8),
        PRODUCT_NAME => Answer::Text(card.product.into(), 64),
        MAX_WAVES_PER_CU => Answer::U32(card.waves_per_unit),
        NUM_SIMDS_PER_CU => Answer::U32(card.simds_per_unit),
        NUM_SHADER_ENGINES => Answer::U32(card.shader_engines),
        NUM_SHADER_ARRAYS_PER_SE => Answer::U32(card.arrays_per_engine),
        MEMORY_PROPERTIES => {
            // The header's name is the number of a bit, as its `hsa_flag_isset64` takes it.
            let mut flags = vec![0; 8];
            flags[0] = u8::from(card.is_apu) << HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU.0;
            Answer::Bytes(flags)
        }
        HDP_FLUSH => Answer::Pointers(device.flush_registers()?),
        UUID => Answer::Text(format!("GPU-{:012x}{:04x}", u64::from(card.chip_id), device.index), 21),
        // PCIe: the host's touch moves pages.
        SVM_DIRECT_HOST_ACCESS => Answer::Bool(false),
        MEMORY_AVAIL => Answer::U64(device.available()),
        TIMESTAMP_FREQUENCY => Answer::U64(card.timestamp_frequency),
        UCODE_VERSION => Answer::U32(card.firmware),
        SDMA_UCODE_VERSION => Answer::U32(card.copy_firmware),
        NUM_SDMA_ENG => Answer::U32(card.copy_engines),
        NUM_SDMA_XGMI_ENG => Answer::U32(card.link_copy_engines),
        NUM_XCC => Answer::U32(card.dies),
        DRIVER_UID => Answer::U32(device.index + 1),
        SCRATCH_LIMIT_MAX | SCRATCH_LIMIT_CURRENT => Answer::U64(4 << 30),
        AQLIPSE_AGENT_INFO_BRANCH_DEPTH => Answer::U32(branch::DEPTH),
        CLOCK_COUNTERS => {
            let now = os::now();
            Answer::U64x4([device.ticks(), now, now, card.timestamp_frequency])
        }
        _ => return common_info(attribute),
    })
}

fn isa_info(card: &Card, xnack: bool, attribute: hsa_isa_info_t) -> Option<Answer> {
    let name = card.isa_name(xnack);
    Some(match attribute {
        // CAST: a short name. The end mark is counted, as ROCr does.
        HSA_ISA_INFO_NAME_LENGTH => Answer::U32(name.len() as u32 + 1),
        HSA_ISA_INFO_NAME => {
            let room = name.len() + 1;
            Answer::Text(name, room)
        }
        HSA_ISA_INFO_CALL_CONVENTION_COUNT => Answer::U32(1),
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE => Answer::U32(card.wavefront),
        HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT => Answer::U32(card.waves_per_unit),
        // Two booleans each: small and large machine model; base and full profile.
        HSA_ISA_INFO_MACHINE_MODELS => Answer::Bytes(vec![0, 1]),
        HSA_ISA_INFO_PROFILES => Answer::Bytes(vec![1, 0]),
        // Three booleans: default, towards zero, nearest.
        HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES
        | HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES => Answer::Bytes(vec![0, 0, 1]),
        HSA_ISA_INFO_FAST_F16_OPERATION => Answer::Bool(true),
        HSA_ISA_INFO_WORKGROUP_MAX_DIM => Answer::U16x3([MAX_WORKGROUP as u16; 3]),
        HSA_ISA_INFO_WORKGROUP_MAX_SIZE => Answer::U32(MAX_WORKGROUP),
        HSA_ISA_INFO_GRID_MAX_DIM => Answer::Dim3(hsa_dim3_t { x: u32::MAX, y: u32::MAX, z: u32::MAX }),
        HSA_ISA_INFO_GRID_MAX_SIZE => Answer::U64(u64::MAX),
        HSA_ISA_INFO_FBARRIER_MAX_SIZE => Answer::U32(32),
        _ => return None,
    })
}
