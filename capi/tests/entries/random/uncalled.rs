//! The exported functions that are deliberately not called at random, each with the reason.

use std::{collections::BTreeSet, fs, path::Path};

use super::calls::CALLS;

#[allow(dead_code, reason = "the build script uses the rest")]
#[path = "../../../build/surface.rs"]
mod surface;

/// Reasons, and the functions that each is true of.
const UNCALLED: &[(&str, &[&str])] = &[
    (
        "takes away what other threads, and the caller's own host code, use at this moment",
        &["hipDeviceReset", "hipDevicePrimaryCtxReset"],
    ),
    (
        "sets something for the whole process or thread, and hardly anything would succeed afterwards",
        &[
            "hipCtxCreate",
            "hipCtxDestroy",
            "hipCtxPopCurrent",
            "hipCtxPushCurrent",
            "hipCtxSetCurrent",
            "hipDevicePrimaryCtxRelease",
            "hipDevicePrimaryCtxRetain",
            "hipDevicePrimaryCtxSetFlags",
            "hipDeviceSetCacheConfig",
            "hipDeviceSetLimit",
            "hipDeviceSetSharedMemConfig",
            "hipExtDisableLogging",
            "hipExtEnableLogging",
            "hipExtSetLoggingParams",
            "hipProfilerStart",
            "hipProfilerStop",
            "hipSetDeviceFlags",
            "hipSetValidDevices",
        ],
    ),
    (
        "takes or removes functions that the library calls from then on, whoever calls it",
        &[
            "hipEnableActivityCallback",
            "hipInitActivityCallback",
            "hipRegisterActivityCallback",
            "hipRegisterApiCallback",
            "hipRemoveActivityCallback",
            "hipRemoveApiCallback",
        ],
    ),
    (
        "needs a context of the deprecated kind, of which there is one for each device",
        &["hipCtxDisablePeerAccess", "hipCtxEnablePeerAccess", "hipCtxSynchronize"],
    ),
    (
        "is called by compilers, in an order that they keep; a wrong one is theirs",
        &[
            "_ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv",
            "__gnu_f2h_ieee",
            "__gnu_h2f_ieee",
            "__hipGetPCH",
            "__hipPopCallConfiguration",
            "__hipPushCallConfiguration",
            "__hipRegisterFatBinary",
            "__hipRegisterFunction",
            "__hipRegisterManagedVar",
            "__hipRegisterVar",
            "__hipUnregisterFatBinary",
            "hipConfigureCall",
            "hipLaunchByPtr",
            "hipSetupArgument",
        ],
    ),
    (
        "only asks for what does not change, and knows no handle of an object that others could destroy",
        &[
            "amd_dbgapi_get_build_id",
            "amd_dbgapi_get_build_name",
            "amd_dbgapi_get_git_hash",
            "hipApiName",
            "hipChooseDevice",
            "hipChooseDeviceR0000",
            "hipChooseDeviceR0600",
            "hipCreateChannelDesc",
            "hipCtxGetApiVersion",
            "hipCtxGetCurrent",
            "hipCtxGetDevice",
            "hipCtxGetFlags",
            "hipCtxGetSharedMemConfig",
            "hipDeviceComputeCapability",
            "hipDeviceGet",
            "hipDeviceGetAttribute",
            "hipDeviceGetByPCIBusId",
            "hipDeviceGetCacheConfig",
            "hipDeviceGetExecutionCtx",
            "hipDeviceGetLimit",
            "hipDeviceGetName",
            "hipDeviceGetP2PAttribute",
            "hipDeviceGetPCIBusId",
            "hipDeviceGetSharedMemConfig",
            "hipDeviceGetUuid",
            "hipDevicePrimaryCtxGetState",
            "hipDeviceTotalMem",
            "hipDriverGetVersion",
            "hipDrvGetErrorName",
            "hipDrvGetErrorString",
            "hipExtGetLinkTypeAndHopCount",
            "hipGetCmdName",
            "hipGetDeviceCount",
            "hipGetDeviceFlags",
            "hipGetDeviceProperties",
            "hipGetDevicePropertiesR0000",
            "hipGetDevicePropertiesR0600",
            "hipGetDriverEntryPoint",
            "hipGetDriverEntryPoint_spt",
            "hipGetErrorName",
            "hipGetErrorString",
            "hipGetProcAddress",
            "hipGetProcAddress_spt",
            "hipInit",
            "hipRuntimeGetVersion",
            "hiprtcGetErrorString",
        ],
    ),
    (
        "asks a kernel for what its code object says, as hipKernelGetParamInfo does",
        &[
            "hipFuncGetAttribute",
            "hipFuncGetAttributes",
            "hipFuncSetAttribute",
            "hipFuncSetCacheConfig",
            "hipFuncSetSharedMemConfig",
            "hipKernelGetAttribute",
            "hipKernelSetAttribute",
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
            "hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
            "hipModuleOccupancyMaxPotentialBlockSize",
            "hipModuleOccupancyMaxPotentialBlockSizeWithFlags",
            "hipOccupancyAvailableDynamicSMemPerBlock",
            "hipOccupancyMaxActiveBlocksPerMultiprocessor",
            "hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
            "hipOccupancyMaxActiveClusters",
            "hipOccupancyMaxPotentialBlockSize",
            "hipOccupancyMaxPotentialClusterSize",
        ],
    ),
    (
        "returns no code that would tell success from failure",
        &["hipGetStreamDeviceId", "hipKernelNameRef", "hipKernelNameRefByPtr"],
    ),
    (
        "is another way to load, launch or look up what is loaded, launched and looked up here",
        &[
            "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
            "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_",
            "hipDevSmResourceSplit",
            "hipDrvPointerGetAttributes",
            "hipExtModuleLaunchKernel",
            "hipHccModuleLaunchKernel",
            "hipLibraryEnumerateKernels",
            "hipLibraryGetGlobal",
            "hipLibraryGetManaged",
            "hipLibraryLoadFromFile",
            "hipMalloc3D",
            "hipMemRangeGetAttributes",
            "hipModuleGetGlobal",
            "hipModuleLoad",
            "hipModuleLoadDataEx",
            "hipModuleLoadFatBinary",
        ],
    ),
    (
        "runs a compiler, or is about what one has made; tests of its own pass wrong handles and pointers",
        &[
            "hipLinkAddData",
            "hipLinkAddFile",
            "hipLinkComplete",
            "hipLinkCreate",
            "hipLinkDestroy",
            "hiprtcAddNameExpression",
            "hiprtcCompileProgram",
            "hiprtcCreateProgram",
            "hiprtcDestroyProgram",
            "hiprtcGetBitcode",
            "hiprtcGetBitcodeSize",
            "hiprtcGetCode",
            "hiprtcGetCodeSize",
            "hiprtcGetLoweredName",
            "hiprtcGetProgramLog",
            "hiprtcGetProgramLogSize",
            "hiprtcLinkAddData",
            "hiprtcLinkAddFile",
            "hiprtcLinkComplete",
            "hiprtcLinkCreate",
            "hiprtcLinkDestroy",
            "hiprtcVersion",
        ],
    ),
    (
        "needs several devices, or several processes, to do more than refuse",
        &[
            "hipExtLaunchMultiKernelMultiDevice",
            "hipIpcCloseMemHandle",
            "hipIpcOpenMemHandle",
            "hipLaunchCooperativeKernelMultiDevice",
            "hipMemPoolExportPointer",
            "hipMemPoolExportToShareableHandle",
            "hipMemPoolImportFromShareableHandle",
            "hipMemPoolImportPointer",
            "hipModuleLaunchCooperativeKernelMultiDevice",
        ],
    ),
    (
        "refuses whatever it is asked: no memory of ours has what it is for",
        &["hipMemGetHandleForAddressRange"],
    ),
];

#[test]
fn every_function_is_called_or_has_a_reason() {
    let capi = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(capi.join("exports.tsv")).expect("the table");
    let exports = surface::parse_table(&table).expect("a table");
    let implemented = surface::implemented(&capi.join("src"), &exports).expect("the sources");
    let implemented: BTreeSet<&str> = implemented.iter().map(String::as_str).collect();

    let called: BTreeSet<&str> = CALLS.iter().map(|call| call.name).collect();
    assert_eq!(called.len(), CALLS.len(), "each is called in one place");
    let listed = || UNCALLED.iter().flat_map(|(_, names)| names.iter().copied());
    let uncalled: BTreeSet<&str> = listed().collect();
    assert_eq!(uncalled.len(), listed().count(), "each has one reason");

    let both: Vec<_> = called.intersection(&uncalled).collect();
    assert!(both.is_empty(), "called, with a reason not to: {both:?}");
    let accounted: BTreeSet<&str> = called.union(&uncalled).copied().collect();
    let new: Vec<_> = implemented.difference(&accounted).collect();
    assert!(new.is_empty(), "neither called (a line in calls/) nor listed with a reason: {new:?}");
    let gone: Vec<_> = accounted.difference(&implemented).collect();
    assert!(gone.is_empty(), "called or listed, but not implemented: {gone:?}");
}
