//! The layouts, constants and signatures of this crate against the C headers of Debian's
//! `libhsa-runtime-dev`.
//!
//! A C program made from our tables includes the headers and prints every difference. Without the headers or
//! a C compiler the tests are skipped, unless `AQLIPSE_REQUIRE_PACKAGES=1` says that they must be there.

mod probe;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use hsa_sys::layout::Enumeration;
use hsa_sys::*;
use probe::{Comparison, Scratch, Structure, run_c, structure};

const INCLUDES: &str = "\
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
";

/// The comparison of function types, and C spellings of the callback types that the headers do not name.
const CALLBACKS: &str = "
#define SAME_TYPE(function, type) __builtin_types_compatible_p(__typeof__(function), type)
typedef hsa_status_t (*AgentCallback)(hsa_agent_t, void *);
typedef hsa_status_t (*IsaCallback)(hsa_isa_t, void *);
typedef hsa_status_t (*MemoryPoolCallback)(hsa_amd_memory_pool_t, void *);
typedef hsa_status_t (*AgentSymbolCallback)(hsa_executable_t, hsa_agent_t, hsa_executable_symbol_t, void *);
typedef void (*QueueErrorCallback)(hsa_status_t, hsa_queue_t *, void *);
typedef void *(*PointerInfoAllocator)(size_t);
";

/// Names that came after ROCr 5.2.3, the release that Debian 12 has.
///
/// Anything else that the headers lack is a name that we made up or misspelt.
const NEWER_THAN_5_2_3: &[&str] = &[
    "hsa_amd_vmem_alloc_handle_t",
    "hsa_amd_gpu_memory_error_info_t",
    "hsa_amd_gpu_hw_exception_info_t",
    "hsa_amd_memory_access_desc_t",
    "hsa_amd_agent_memory_properties_t",
    "hsa_amd_iommu_version_t",
    "hsa_amd_memory_pool_location_t",
    "hsa_amd_memory_pool_flag_t",
    "hsa_amd_memory_error_reason_t",
    "hsa_amd_hw_exception_reset_type_t",
    "hsa_amd_hw_exception_reset_cause_t",
    "hsa_amd_queue_create_flag_t",
    "hsa_amd_queue_create_desc_t",
    "hsa_amd_compute_queue_params_t",
    "hsa_amd_queue_engine_t",
    "HSA_AMD_QUEUE_ENGINE_COMPUTE",
    "HSA_AMD_QUEUE_ENGINE_SDMA",
    "HSA_AMD_QUEUE_ENGINE_AIE",
    "HSA_AMD_QUEUE_CREATE_DESC_VERSION",
    "hsa_amd_queue_create",
    "hsa_amd_sdma_engine_id_t",
    "HSA_AMD_SDMA_ENGINE_0",
    "HSA_AMD_SDMA_ENGINE_1",
    "HSA_AMD_SDMA_ENGINE_2",
    "HSA_AMD_SDMA_ENGINE_3",
    "HSA_AMD_SDMA_ENGINE_4",
    "HSA_AMD_SDMA_ENGINE_5",
    "HSA_AMD_SDMA_ENGINE_6",
    "HSA_AMD_SDMA_ENGINE_7",
    "HSA_AMD_SDMA_ENGINE_8",
    "HSA_AMD_SDMA_ENGINE_9",
    "HSA_AMD_SDMA_ENGINE_10",
    "HSA_AMD_SDMA_ENGINE_11",
    "HSA_AMD_SDMA_ENGINE_12",
    "HSA_AMD_SDMA_ENGINE_13",
    "HSA_AMD_SDMA_ENGINE_14",
    "HSA_AMD_SDMA_ENGINE_15",
    "hsa_amd_memory_async_copy_on_engine",
    "hsa_amd_memory_copy_engine_status",
    "hsa_amd_memory_get_preferred_copy_engine",
    "hsa_amd_vmem_address_reserve_flag_t",
    "hsa_amd_memory_type_t",
    "hsa_queue_info_attribute_t",
    "HSA_AMD_AGENT_INFO_MEMORY_AVAIL",
    "HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY",
    "HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID",
    "HSA_AMD_AGENT_INFO_UCODE_VERSION",
    "HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION",
    "HSA_AMD_AGENT_INFO_NUM_SDMA_ENG",
    "HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG",
    "HSA_AMD_AGENT_INFO_IOMMU_SUPPORT",
    "HSA_AMD_AGENT_INFO_NUM_XCC",
    "HSA_AMD_AGENT_INFO_DRIVER_UID",
    "HSA_AMD_AGENT_INFO_NEAREST_CPU",
    "HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES",
    "HSA_AMD_AGENT_INFO_AQL_EXTENSIONS",
    "HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX",
    "HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT",
    "HSA_AMD_AGENT_INFO_CLOCK_COUNTERS",
    "HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU",
    "HSA_IOMMU_SUPPORT_NONE",
    "HSA_IOMMU_SUPPORT_V2",
    "HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED",
    "HSA_AMD_MEMORY_POOL_LOCATION_CPU",
    "HSA_AMD_MEMORY_POOL_LOCATION_GPU",
    "HSA_AMD_MEMORY_POOL_INFO_LOCATION",
    "HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE",
    "HSA_AMD_MEMORY_POOL_STANDARD_FLAG",
    "HSA_AMD_MEMORY_POOL_PCIE_FLAG",
    "HSA_AMD_MEMORY_POOL_CONTIGUOUS_FLAG",
    "HSA_AMD_MEMORY_POOL_EXECUTABLE_FLAG",
    "HSA_AMD_MEMORY_POOL_UNCACHED_FLAG",
    "HSA_EXT_POINTER_TYPE_RESERVED_ADDR",
    "HSA_EXT_POINTER_TYPE_HSA_VMEM",
    "HSA_AMD_GPU_HW_EXCEPTION_EVENT",
    "HSA_AMD_GPU_MEMORY_ERROR_EVENT",
    "HSA_AMD_MEMORY_ERROR_MEMORY_IN_USE",
    "HSA_AMD_HW_EXCEPTION_RESET_TYPE_OTHER",
    "HSA_AMD_HW_EXCEPTION_CAUSE_GPU_HANG",
    "HSA_AMD_HW_EXCEPTION_CAUSE_ECC",
    "HSA_AMD_QUEUE_CREATE_SYSTEM_MEM",
    "HSA_AMD_QUEUE_CREATE_DEVICE_MEM_RING_BUF",
    "HSA_AMD_QUEUE_CREATE_DEVICE_MEM_QUEUE_DESCRIPTOR",
    "HSA_AMD_SVM_ATTRIB_GPU_EXEC",
    "HSA_AMD_VMEM_ADDRESS_NO_REGISTER",
    "MEMORY_TYPE_NONE",
    "MEMORY_TYPE_PINNED",
    "HSA_AMD_QUEUE_INFO_AGENT",
    "HSA_AMD_QUEUE_INFO_DOORBELL_ID",
    "HSA_AMD_PACKET_TYPE_AIE_ERT",
    "HSA_STATUS_ERROR_OUT_OF_REGISTERS",
    "HSA_STATUS_ERROR_RESOURCE_BUSY",
    "HSA_STATUS_ERROR_NOT_SUPPORTED",
    "HSA_ACCESS_PERMISSION_NONE",
    "HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED",
    "HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED",
    "HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED",
    "HSA_AMD_SYSTEM_INFO_XNACK_ENABLED",
    "HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR",
    "HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR",
    "HSA_EXTENSION_AMD_PC_SAMPLING",
    "HSA_DEVICE_TYPE_AIE",
    "hsa_amd_vmem_address_reserve",
    "hsa_amd_vmem_address_reserve_align",
    "hsa_amd_vmem_address_free",
    "hsa_amd_vmem_handle_create",
    "hsa_amd_vmem_handle_release",
    "hsa_amd_vmem_map",
    "hsa_amd_vmem_unmap",
    "hsa_amd_vmem_set_access",
    "hsa_amd_vmem_get_access",
    "hsa_amd_vmem_export_shareable_handle",
    "hsa_amd_vmem_import_shareable_handle",
    "hsa_amd_vmem_retain_alloc_handle",
    "hsa_amd_vmem_get_alloc_properties_from_handle",
    "hsa_amd_portable_export_dmabuf",
    "hsa_amd_portable_close_dmabuf",
    "hsa_amd_queue_get_info",
    "registered",
];

macro_rules! structures {
    ($($name:ident)*) => { vec![$(structure::<$name>()),*] };
}

macro_rules! constants {
    ($($name:ident)*) => { vec![$((stringify!($name), i64::from($name))),*] };
}

macro_rules! enumerations {
    ($($name:ident)*) => { vec![$((<$name as Enumeration>::NAME, <$name as Enumeration>::CONSTANTS)),*] };
}

fn all_structures() -> Vec<Structure> {
    structures! {
        hsa_agent_t hsa_isa_t hsa_signal_t hsa_code_object_reader_t hsa_executable_t
        hsa_loaded_code_object_t hsa_executable_symbol_t hsa_amd_memory_pool_t
        hsa_amd_vmem_alloc_handle_t hsa_amd_profiling_dispatch_time_t
        hsa_amd_profiling_async_copy_time_t hsa_amd_hdp_flush_t hsa_amd_memory_pool_link_info_t
        hsa_amd_pointer_info_t hsa_amd_ipc_memory_t hsa_amd_gpu_memory_fault_info_t
        hsa_amd_gpu_memory_error_info_t hsa_amd_gpu_hw_exception_info_t hsa_amd_event_t
        hsa_amd_svm_attribute_pair_t hsa_amd_memory_access_desc_t amd_queue_t amd_signal_t
        hsa_kernel_dispatch_packet_t hsa_agent_dispatch_packet_t hsa_barrier_and_packet_t
        hsa_barrier_or_packet_t hsa_amd_vendor_packet_header_t hsa_amd_barrier_value_packet_t
        hsa_dim3_t hsa_pitched_ptr_t hsa_queue_t hsa_amd_queue_create_desc_t hsa_amd_compute_queue_params_t
    }
}

fn all_enumerations() -> Vec<(&'static str, &'static [(&'static str, u32)])> {
    enumerations! {
        hsa_amd_agent_info_t hsa_amd_agent_memory_properties_t hsa_amd_iommu_version_t
        hsa_amd_signal_attribute_t hsa_amd_segment_t hsa_amd_memory_pool_global_flag_t
        hsa_amd_memory_pool_location_t hsa_amd_memory_pool_info_t hsa_amd_memory_pool_flag_t
        hsa_amd_memory_pool_access_t hsa_amd_link_info_type_t hsa_amd_agent_memory_pool_info_t
        hsa_amd_pointer_type_t hsa_amd_event_type_t hsa_amd_memory_fault_reason_t
        hsa_amd_memory_error_reason_t hsa_amd_hw_exception_reset_type_t
        hsa_amd_hw_exception_reset_cause_t hsa_amd_queue_priority_t hsa_amd_queue_create_flag_t
        hsa_amd_queue_engine_t hsa_amd_copy_direction_t hsa_amd_sdma_engine_id_t
        hsa_amd_svm_model_t hsa_amd_svm_attribute_t hsa_amd_vmem_address_reserve_flag_t
        hsa_amd_memory_type_t hsa_queue_info_attribute_t hsa_packet_type_t hsa_fence_scope_t
        hsa_packet_header_t hsa_packet_header_width_t hsa_kernel_dispatch_packet_setup_t
        hsa_kernel_dispatch_packet_setup_width_t hsa_amd_packet_type_t hsa_status_t
        hsa_access_permission_t hsa_endianness_t hsa_machine_model_t hsa_profile_t hsa_system_info_t
        hsa_extension_t hsa_agent_feature_t hsa_device_type_t hsa_default_float_rounding_mode_t
        hsa_agent_info_t hsa_isa_info_t hsa_signal_condition_t hsa_wait_state_t hsa_queue_type_t
        hsa_queue_feature_t hsa_executable_state_t hsa_symbol_kind_t hsa_symbol_linkage_t
        hsa_variable_allocation_t hsa_variable_segment_t hsa_executable_symbol_info_t
    }
}

fn plain_constants() -> Vec<(&'static str, i64)> {
    constants! {
        AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER AMD_QUEUE_PROPERTIES_IS_PTR64
        AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS AMD_QUEUE_PROPERTIES_ENABLE_PROFILING
        AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE AMD_SIGNAL_KIND_INVALID AMD_SIGNAL_KIND_USER
        AMD_SIGNAL_KIND_DOORBELL AMD_SIGNAL_KIND_LEGACY_DOORBELL HSA_AMD_QUEUE_CREATE_DESC_VERSION
    }
}

/// The header's name of a field: Rust reserves `type`, and C leaves the event's union unnamed.
fn c_field(structure: &str, field: &'static str) -> &'static str {
    match (structure, field) {
        ("hsa_amd_event_t", "info") => "memory_fault",
        (_, "type_") => "type",
        (_, field) => field,
    }
}

/// The C spelling of a Rust type of the function table.
fn c_type(rust: &str) -> String {
    if let Some(target) = rust.strip_prefix("*mut ") {
        return format!("{} *", c_type(target));
    }
    if let Some(target) = rust.strip_prefix("*const ") {
        return format!("{} const *", c_type(target));
    }
    match rust {
        "" | "c_void" => "void",
        "c_char" => "char",
        "c_int" => "int",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        same => same,
    }
    .to_owned()
}

/// Says why the headers cannot be read here, or fails if they must be.
fn headers_are_installed() -> bool {
    let missing = if !Path::new("/usr/include/hsa/hsa_ext_amd.h").exists() {
        "/usr/include/hsa is missing (Debian package libhsa-runtime-dev)"
    } else if Command::new("cc").arg("--version").output().is_err() {
        "there is no C compiler named cc (Debian package gcc)"
    } else {
        return true;
    };
    let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| value == "1");
    assert!(!required, "{missing}");
    eprintln!("skipped: {missing}");
    false
}

/// Every identifier in the headers, after comments are gone.
fn identifiers(scratch: &Scratch) -> BTreeSet<String> {
    let file = scratch.0.join("includes.c");
    std::fs::write(&file, INCLUDES).expect("the scratch directory is writable");
    let output = Command::new("cc").args(["-E", "-P"]).arg(&file).output().expect("cc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map(str::to_owned)
        .collect()
}

/// The names that the installed headers have; checks that each absent one is known to be newer.
struct Known(BTreeSet<String>);

impl Known {
    fn has(&self, name: &str) -> bool {
        let present = self.0.contains(name);
        assert!(present || NEWER_THAN_5_2_3.contains(&name), "no header has the name {name}");
        present
    }
}

#[test]
fn layouts_and_constants_equal_the_headers() {
    if !headers_are_installed() {
        return;
    }
    let scratch = Scratch::new("layouts");
    let known = Known(identifiers(&scratch));
    let mut comparison = Comparison::default();
    let mut check = |what: &str, c: &str, ours: i64| comparison.check(what, c, ours);
    for structure in all_structures().iter().filter(|structure| known.has(structure.name)) {
        let name = structure.name;
        check(&format!("size of {name}"), &format!("sizeof({name})"), structure.size as i64);
        check(&format!("alignment of {name}"), &format!("_Alignof({name})"), structure.align as i64);
        for field in structure.fields {
            let c = c_field(name, field.name);
            if known.has(c) {
                let what = format!("{name}.{c}");
                check(&format!("offset of {what}"), &format!("offsetof({name}, {c})"), field.offset as i64);
                check(&format!("size of {what}"), &format!("sizeof((({name} *)0)->{c})"), field.size as i64);
            }
        }
    }
    for (name, constants) in all_enumerations() {
        if known.has(name) {
            check(&format!("size of {name}"), &format!("sizeof({name})"), 4);
        }
        for (constant, value) in constants.iter().filter(|(constant, _)| known.has(constant)) {
            check(constant, &format!("(uint32_t){constant}"), i64::from(*value));
        }
    }
    for (constant, value) in plain_constants().into_iter().filter(|(constant, _)| known.has(constant)) {
        check(constant, constant, value);
    }
    assert!(comparison.count > 500, "only {} facts were compared", comparison.count);
    assert_eq!(comparison.run(&scratch, INCLUDES), "");
}

#[test]
fn signatures_equal_the_headers() {
    if !headers_are_installed() {
        return;
    }
    let scratch = Scratch::new("signatures");
    let known = Known(identifiers(&scratch));
    let mut checks = String::new();
    for function in Api::FUNCTIONS.iter().filter(|function| known.has(function.name)) {
        let name = function.name;
        let parameters: Vec<_> = function.parameters.iter().map(|parameter| c_type(parameter)).collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let result = c_type(function.result);
        writeln!(checks, "  if (!SAME_TYPE({name}, {result}({parameters}))) puts(\"{name}\");")
            .expect("a String takes any text");
    }
    let source = format!("{INCLUDES}{CALLBACKS}int main(void) {{\n{checks}  return 0;\n}}\n");
    assert_eq!(run_c(&scratch, &source), "");
}

#[test]
fn required_functions_are_those_of_5_2_3() {
    for function in Api::FUNCTIONS.iter().filter(|function| !function.optional) {
        assert!(!NEWER_THAN_5_2_3.contains(&function.name), "{} came after ROCr 5.2.3", function.name);
    }
}

#[test]
fn installed_rocr_fills_the_table() {
    match load() {
        Ok(api) => assert!(std::ptr::eq(api, load().expect("the first answer stays"))),
        Err(error @ LoadError::Library { .. }) => {
            let required = std::env::var_os("AQLIPSE_REQUIRE_PACKAGES").is_some_and(|value| value == "1");
            assert!(!required, "{error} (Debian package libhsa-runtime64-1)");
            eprintln!("skipped: {error}");
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn first_missing_required_function_is_named() {
    let present = std::ptr::NonNull::<std::ffi::c_void>::dangling();
    // SAFETY: the table is never built, so nothing calls what the lookup returns.
    let table = unsafe { Api::from_lookup(|name| (name != "hsa_queue_create").then_some(present)) };
    assert_eq!(table.err(), Some(MissingFunction { name: "hsa_queue_create" }));
}

#[test]
fn absent_optional_functions_leave_the_table_whole() {
    let present = std::ptr::NonNull::<std::ffi::c_void>::dangling();
    let optional: BTreeSet<_> =
        Api::FUNCTIONS.iter().filter(|function| function.optional).map(|function| function.name).collect();
    // SAFETY: nothing calls what the lookup returns.
    let table = unsafe { Api::from_lookup(|name| (!optional.contains(name)).then_some(present)) };
    assert!(
        table.is_ok_and(|table| table.hsa_amd_vmem_map.is_none() && table.hsa_amd_queue_get_info.is_none())
    );
}
