use std::{
    collections::BTreeMap,
    ffi::{CStr, c_char, c_uint},
    mem, ptr, thread,
};

use capi::{
    error::{hipError_t, hipErrorInvalidValue, hipSuccess},
    types::*,
};

use super::*;
use crate::{process, program::threes};

unsafe extern "C" {
    fn hipInit(flags: c_uint) -> hipError_t;
    fn hipGetDevice(ordinal: *mut c_int) -> hipError_t;
    fn hipSetDevice(ordinal: c_int) -> hipError_t;
    fn hipSetValidDevices(ordinals: *mut c_int, count: c_int) -> hipError_t;
    fn hipGetDeviceCount(count: *mut c_int) -> hipError_t;
    fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t;
    fn hipDeviceGetName(name: *mut c_char, bytes: c_int, device: hipDevice_t) -> hipError_t;
    fn hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t) -> hipError_t;
    fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t;
    fn hipDeviceComputeCapability(major: *mut c_int, minor: *mut c_int, device: hipDevice_t) -> hipError_t;
    fn hipDeviceGetAttribute(
        value: *mut c_int,
        attribute: hipDeviceAttribute_t,
        device: hipDevice_t,
    ) -> hipError_t;
    fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) -> hipError_t;
    fn hipGetDevicePropertiesR0600(properties: *mut hipDeviceProp_tR0600, device: c_int) -> hipError_t;
    fn hipGetDevicePropertiesR0000(properties: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
    fn hipGetDeviceProperties(properties: *mut hipDeviceProp_tR0000, device: c_int) -> hipError_t;
    fn hipChooseDeviceR0000(device: *mut c_int, properties: *const hipDeviceProp_tR0000) -> hipError_t;
    fn hipCtxGetSharedMemConfig(config: *mut hipSharedMemConfig) -> hipError_t;
    fn hipFuncSetSharedMemConfig(function: *const c_void, config: hipSharedMemConfig) -> hipError_t;
    fn hipCtxEnablePeerAccess(peer: hipCtx_t, flags: c_uint) -> hipError_t;
    fn hipCtxDisablePeerAccess(peer: hipCtx_t) -> hipError_t;
    fn hipDevicePrimaryCtxRetain(context: *mut hipCtx_t, device: c_int) -> hipError_t;
    fn hipDevicePrimaryCtxRelease(device: c_int) -> hipError_t;
    fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t;
}

fn properties() -> hipDeviceProp_tR0600 {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut properties = unsafe { mem::zeroed() };
    ok!(hipGetDevicePropertiesR0600(&mut properties, 0));
    properties
}

fn older_properties() -> hipDeviceProp_tR0000 {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut properties = unsafe { mem::zeroed() };
    ok!(hipGetDevicePropertiesR0000(&mut properties, 0));
    properties
}

fn text(characters: &[c_char]) -> &CStr {
    // SAFETY: the library ends what it writes with NUL.
    unsafe { CStr::from_ptr(characters.as_ptr()) }
}

// proves: hipInit, hipGetDeviceCount, hipGetDevice, hipSetDevice, hipDeviceGet
#[test]
fn each_ordinal_below_the_count_is_a_device() {
    ok!(hipInit(0));
    fails!(hipErrorInvalidValue, hipInit(1));
    let (mut count, mut device, mut current) = (0, -1, -1);
    ok!(hipGetDeviceCount(&mut count));
    assert!(count >= 1);
    for ordinal in 0..count {
        ok!(hipDeviceGet(&mut device, ordinal), hipSetDevice(ordinal), hipGetDevice(&mut current));
        assert_eq!((device, current), (ordinal, ordinal));
    }
    ok!(hipSetDevice(0));
    for beyond in [count, -1] {
        fails!(hipErrorInvalidDevice, hipDeviceGet(&mut device, beyond));
        fails!(hipErrorInvalidDevice, hipSetDevice(beyond));
    }
    ok!(hipGetDevice(&mut current));
    assert_eq!(current, 0, "what was refused changed nothing");
    fails!(hipErrorInvalidValue, hipGetDeviceCount(ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipGetDevice(ptr::null_mut()));
}

// proves: hipSetValidDevices
#[test]
fn a_thread_without_a_choice_has_the_first_valid_device() {
    // One device could not be another than the first; and other tests' threads choose none either.
    if !process::with_devices("devices::a_thread_without_a_choice_has_the_first_valid_device", 3) {
        return;
    }
    let (mut count, mut none) = (0, 0);
    ok!(hipGetDeviceCount(&mut count));
    let current = || {
        let mut ordinal = -1;
        ok!(hipGetDevice(&mut ordinal));
        ordinal
    };
    let chosen = |list: &[c_int]| {
        let mut list = list.to_vec();
        ok!(hipSetValidDevices(list.as_mut_ptr(), list.len() as c_int));
        thread::spawn(current).join().unwrap()
    };
    assert_eq!(count, 3);
    for list in [&[2][..], &[1, 0], &[2, 1, 0], &[0, 2]] {
        assert_eq!(chosen(list), list[0]);
    }
    assert_eq!(chosen(&[1]), 1);
    assert_eq!(
        thread::spawn(move || {
            ok!(hipSetDevice(2));
            current()
        })
        .join()
        .unwrap(),
        2,
        "a thread's own choice counts more"
    );
    assert_eq!(chosen(&[]), 0, "an empty list is no list");
    fails!(hipErrorInvalidDevice, hipSetValidDevices([count].as_mut_ptr(), 1));
    fails!(hipErrorInvalidDevice, hipSetValidDevices([-1].as_mut_ptr(), 1));
    fails!(hipErrorInvalidValue, hipSetValidDevices(ptr::null_mut(), 1));
    fails!(hipErrorInvalidValue, hipSetValidDevices(&mut none, count + 1));
    fails!(hipErrorInvalidValue, hipSetValidDevices(&mut none, -1));
    ok!(hipSetValidDevices(ptr::null_mut(), 0));
}

// proves: hipDeviceGetName, hipDeviceGetUuid, hipDeviceTotalMem, hipDeviceComputeCapability, hipMemGetInfo
#[test]
fn what_is_asked_alone_is_what_the_properties_say() {
    let properties = properties();
    let mut name = [1; 256];
    let mut uuid = hipUUID { bytes: [1; 16] };
    let (mut bytes, mut major, mut minor) = (0, 0, 0);
    ok!(
        hipDeviceGetName(name.as_mut_ptr(), 256, 0),
        hipDeviceGetUuid(&mut uuid, 0),
        hipDeviceTotalMem(&mut bytes, 0),
        hipDeviceComputeCapability(&mut major, &mut minor, 0),
    );
    assert_eq!(text(&name), text(&properties.name));
    assert_eq!(uuid.bytes, properties.uuid.bytes);
    assert_eq!((bytes, major, minor), (properties.totalGlobalMem, properties.major, properties.minor));
    let (mut free, mut total, mut less) = (0, 0, 0);
    ok!(hipMemGetInfo(&mut free, &mut total));
    assert!(free <= total && total == bytes);
    // Other tests allocate and free meanwhile, but not as much.
    const LARGE: usize = 1 << 30;
    let mut large = ptr::null_mut();
    ok!(hipMalloc(&mut large, LARGE), hipMemGetInfo(&mut less, &mut total), hipFree(large));
    assert!(less + LARGE / 2 < free, "{less} of {free} bytes are left");

    fails!(hipErrorInvalidValue, hipDeviceGetName(ptr::null_mut(), 256, 0));
    fails!(hipErrorInvalidValue, hipDeviceGetName(name.as_mut_ptr(), 0, 0));
    let first = name[0];
    ok!(hipDeviceGetName(name.as_mut_ptr(), 2, 0));
    assert_eq!(name[..2], [first, 0], "a name is cut");
    fails!(hipErrorInvalidDevice, hipDeviceGetName(name.as_mut_ptr(), 256, 99));
    fails!(hipErrorInvalidValue, hipDeviceGetUuid(ptr::null_mut(), 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetUuid(&mut uuid, -1));
    fails!(hipErrorInvalidValue, hipDeviceTotalMem(ptr::null_mut(), 0));
    fails!(hipErrorInvalidDevice, hipDeviceTotalMem(&mut bytes, 99));
    fails!(hipErrorInvalidValue, hipDeviceComputeCapability(ptr::null_mut(), &mut minor, 0));
    fails!(hipErrorInvalidDevice, hipDeviceComputeCapability(&mut major, &mut minor, 99));
}

/// Compares the fields that both layouts have.
macro_rules! agree {
    ($a:ident, $b:ident: $($field:ident)*) => { $(assert_eq!($a.$field, $b.$field, stringify!($field));)* };
}

// proves: hipGetDevicePropertiesR0600, hipGetDevicePropertiesR0000, hipGetDeviceProperties
#[test]
fn both_layouts_of_the_properties_agree() {
    let (new, old) = (properties(), older_properties());
    agree!(new, old: name totalGlobalMem sharedMemPerBlock regsPerBlock warpSize maxThreadsPerBlock maxThreadsDim
        maxGridSize clockRate memoryClockRate memoryBusWidth totalConstMem major minor multiProcessorCount l2CacheSize
        maxThreadsPerMultiProcessor computeMode clockInstructionRate concurrentKernels pciDomainID pciBusID pciDeviceID
        maxSharedMemoryPerMultiProcessor isMultiGpuBoard canMapHostMemory gcnArchName integrated cooperativeLaunch
        cooperativeMultiDeviceLaunch maxTexture1DLinear maxTexture1D maxTexture2D maxTexture3D hdpMemFlushCntl
        hdpRegFlushCntl memPitch textureAlignment texturePitchAlignment kernelExecTimeoutEnabled ECCEnabled tccDriver
        cooperativeMultiDeviceUnmatchedFunc cooperativeMultiDeviceUnmatchedGridDim
        cooperativeMultiDeviceUnmatchedBlockDim cooperativeMultiDeviceUnmatchedSharedMem isLargeBar asicRevision
        managedMemory directManagedMemAccessFromHost concurrentManagedAccess pageableMemoryAccess
        pageableMemoryAccessUsesHostPageTables);
    assert_eq!(new.arch.bits, old.arch.bits);
    let arch = text(&new.gcnArchName).to_str().unwrap();
    let expected = if arch.starts_with("gfx90a") { (9, 0, 910) } else { (9, 4, 942) };
    assert_eq!((new.major, new.minor, old.gcnArch), expected, "{arch}");
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut without_suffix: hipDeviceProp_tR0000 = unsafe { mem::zeroed() };
    ok!(hipGetDeviceProperties(&mut without_suffix, 0));
    assert_eq!(without_suffix.name, old.name);
    assert_eq!(without_suffix.pageableMemoryAccessUsesHostPageTables, 0, "the last field");
    fails!(hipErrorInvalidValue, hipGetDevicePropertiesR0600(ptr::null_mut(), 0));
    fails!(hipErrorInvalidValue, hipGetDevicePropertiesR0000(ptr::null_mut(), 0));
    fails!(hipErrorInvalidValue, hipGetDeviceProperties(ptr::null_mut(), 0));
    fails!(hipErrorInvalidDevice, hipGetDeviceProperties(&mut without_suffix, 99));
}

fn attribute(number: u32) -> Result<c_int, hipError_t> {
    let mut value = -7;
    // SAFETY: an integer that the function may write.
    match unsafe { hipDeviceGetAttribute(&mut value, hipDeviceAttribute_t(number), 0) } {
        code if code == hipSuccess => Ok(value),
        code => Err(code),
    }
}

/// What the properties say of each attribute that they have a field for.
fn expected(p: &hipDeviceProp_tR0600) -> BTreeMap<u32, c_int> {
    let int = |bytes: usize| c_int::try_from(bytes).unwrap_or(c_int::MAX);
    BTreeMap::from(
        [
            (hipDeviceAttributeEccEnabled, p.ECCEnabled),
            (hipDeviceAttributeAccessPolicyMaxWindowSize, p.accessPolicyMaxWindowSize),
            (hipDeviceAttributeAsyncEngineCount, p.asyncEngineCount),
            (hipDeviceAttributeCanMapHostMemory, p.canMapHostMemory),
            (hipDeviceAttributeCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem),
            (hipDeviceAttributeClockRate, p.clockRate),
            (hipDeviceAttributeComputeMode, p.computeMode),
            (hipDeviceAttributeComputePreemptionSupported, p.computePreemptionSupported),
            (hipDeviceAttributeConcurrentKernels, p.concurrentKernels),
            (hipDeviceAttributeConcurrentManagedAccess, p.concurrentManagedAccess),
            (hipDeviceAttributeCooperativeLaunch, p.cooperativeLaunch),
            (hipDeviceAttributeCooperativeMultiDeviceLaunch, p.cooperativeMultiDeviceLaunch),
            (hipDeviceAttributeDeviceOverlap, p.deviceOverlap),
            (hipDeviceAttributeDirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost),
            (hipDeviceAttributeGlobalL1CacheSupported, p.globalL1CacheSupported),
            (hipDeviceAttributeHostNativeAtomicSupported, p.hostNativeAtomicSupported),
            (hipDeviceAttributeIntegrated, p.integrated),
            (hipDeviceAttributeIsMultiGpuBoard, p.isMultiGpuBoard),
            (hipDeviceAttributeKernelExecTimeout, p.kernelExecTimeoutEnabled),
            (hipDeviceAttributeL2CacheSize, p.l2CacheSize),
            (hipDeviceAttributeLocalL1CacheSupported, p.localL1CacheSupported),
            (hipDeviceAttributeComputeCapabilityMajor, p.major),
            (hipDeviceAttributeManagedMemory, p.managedMemory),
            (hipDeviceAttributeMaxBlocksPerMultiProcessor, p.maxBlocksPerMultiProcessor),
            (hipDeviceAttributeMaxBlockDimX, p.maxThreadsDim[0]),
            (hipDeviceAttributeMaxBlockDimY, p.maxThreadsDim[1]),
            (hipDeviceAttributeMaxBlockDimZ, p.maxThreadsDim[2]),
            (hipDeviceAttributeMaxGridDimX, p.maxGridSize[0]),
            (hipDeviceAttributeMaxGridDimY, p.maxGridSize[1]),
            (hipDeviceAttributeMaxGridDimZ, p.maxGridSize[2]),
            (hipDeviceAttributeMaxSurface1D, p.maxSurface1D),
            (hipDeviceAttributeMaxTexture1DWidth, p.maxTexture1D),
            (hipDeviceAttributeMaxTexture1DLinear, p.maxTexture1DLinear),
            (hipDeviceAttributeMaxTexture2DWidth, p.maxTexture2D[0]),
            (hipDeviceAttributeMaxTexture2DHeight, p.maxTexture2D[1]),
            (hipDeviceAttributeMaxTexture3DWidth, p.maxTexture3D[0]),
            (hipDeviceAttributeMaxTexture3DHeight, p.maxTexture3D[1]),
            (hipDeviceAttributeMaxTexture3DDepth, p.maxTexture3D[2]),
            (hipDeviceAttributeMaxTextureCubemap, p.maxTextureCubemap),
            (hipDeviceAttributeMaxThreadsPerBlock, p.maxThreadsPerBlock),
            (hipDeviceAttributeMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor),
            (hipDeviceAttributeMaxPitch, int(p.memPitch)),
            (hipDeviceAttributeMemoryBusWidth, p.memoryBusWidth),
            (hipDeviceAttributeMemoryClockRate, p.memoryClockRate),
            (hipDeviceAttributeComputeCapabilityMinor, p.minor),
            (hipDeviceAttributeMultiGpuBoardGroupID, p.multiGpuBoardGroupID),
            (hipDeviceAttributeMultiprocessorCount, p.multiProcessorCount),
            (hipDeviceAttributePageableMemoryAccess, p.pageableMemoryAccess),
            (
                hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
                p.pageableMemoryAccessUsesHostPageTables,
            ),
            (hipDeviceAttributePciBusId, p.pciBusID),
            (hipDeviceAttributePciDeviceId, p.pciDeviceID),
            (hipDeviceAttributePciDomainID, p.pciDomainID),
            (hipDeviceAttributePersistingL2CacheMaxSize, p.persistingL2CacheMaxSize),
            (hipDeviceAttributeMaxRegistersPerBlock, p.regsPerBlock),
            (hipDeviceAttributeMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor),
            (hipDeviceAttributeReservedSharedMemPerBlock, int(p.reservedSharedMemPerBlock)),
            (hipDeviceAttributeMaxSharedMemoryPerBlock, int(p.sharedMemPerBlock)),
            (hipDeviceAttributeSharedMemPerBlockOptin, int(p.sharedMemPerBlockOptin)),
            (hipDeviceAttributeSharedMemPerMultiprocessor, int(p.sharedMemPerMultiprocessor)),
            (hipDeviceAttributeStreamPrioritiesSupported, p.streamPrioritiesSupported),
            (hipDeviceAttributeSurfaceAlignment, int(p.surfaceAlignment)),
            (hipDeviceAttributeTextureAlignment, int(p.textureAlignment)),
            (hipDeviceAttributeTexturePitchAlignment, int(p.texturePitchAlignment)),
            (hipDeviceAttributeTotalConstantMemory, int(p.totalConstMem)),
            (hipDeviceAttributeTotalGlobalMem, int(p.totalGlobalMem)),
            (hipDeviceAttributeUnifiedAddressing, p.unifiedAddressing),
            (hipDeviceAttributeWarpSize, p.warpSize),
            (hipDeviceAttributeMemoryPoolsSupported, p.memoryPoolsSupported),
            (hipDeviceAttributeHostRegisterSupported, p.hostRegisterSupported),
            (hipDeviceAttributeMemoryPoolSupportedHandleTypes, p.memoryPoolSupportedHandleTypes as c_int),
            (hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, int(p.maxSharedMemoryPerMultiProcessor)),
            (hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc, p.cooperativeMultiDeviceUnmatchedFunc),
            (
                hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim,
                p.cooperativeMultiDeviceUnmatchedGridDim,
            ),
            (
                hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim,
                p.cooperativeMultiDeviceUnmatchedBlockDim,
            ),
            (
                hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem,
                p.cooperativeMultiDeviceUnmatchedSharedMem,
            ),
            (hipDeviceAttributeIsLargeBar, p.isLargeBar),
            (hipDeviceAttributeAsicRevision, p.asicRevision),
            (hipDeviceAttributePhysicalMultiProcessorCount, p.multiProcessorCount),
        ]
        .map(|(attribute, value)| (attribute.0, value)),
    )
}

// proves: hipDeviceGetAttribute
#[test]
fn every_attribute_is_what_the_properties_say() {
    let p = properties();
    let expected = expected(&p);
    // The ranges of the enumeration of HIP 10: what CUDA has too, and AMD's own.
    let numbers = (hipDeviceAttributeEccEnabled.0..=hipDeviceAttributeHandleTypeFabricSupported.0)
        .chain(hipDeviceAttributeClockInstructionRate.0..=hipDeviceAttributeMaxDynDataPrefetchRegions.0);
    // Five numbers have no meaning any more, two attributes would be addresses, and AMD's runtimes know none of the others.
    let none = [
        hipDeviceAttributeClockInstructionRate,
        hipDeviceAttributeLuid,
        hipDeviceAttributeMaxSurface1DLayered,
        hipDeviceAttributeMaxSurface2D,
        hipDeviceAttributeMaxSurface2DLayered,
        hipDeviceAttributeMaxSurface3D,
        hipDeviceAttributeMaxSurfaceCubemap,
        hipDeviceAttributeMaxSurfaceCubemapLayered,
        hipDeviceAttributeMaxTexture1DLayered,
        hipDeviceAttributeMaxTexture2DGather,
        hipDeviceAttributeMaxTexture2DLayered,
        hipDeviceAttributeMaxTexture2DLinear,
        hipDeviceAttributeMaxTexture2DMipmap,
        hipDeviceAttributeMaxTexture3DAlt,
        hipDeviceAttributeMaxTextureCubemapLayered,
        hipDeviceAttributeMaxThreadsDim,
        hipDeviceAttributeSingleToDoublePrecisionPerfRatio,
        hipDeviceAttributeTccDriver,
        hipDeviceAttributeUnused1,
        hipDeviceAttributeUnused2,
        hipDeviceAttributeUnused3,
        hipDeviceAttributeUnused4,
        hipDeviceAttributeUnused5,
        hipDeviceAttributeHdpMemFlushCntl,
        hipDeviceAttributeHdpRegFlushCntl,
    ];
    for number in numbers {
        let value = attribute(number);
        if none.contains(&hipDeviceAttribute_t(number)) {
            assert_eq!(value, Err(hipErrorInvalidValue), "attribute {number}");
            continue;
        }
        let value = value.unwrap_or_else(|code| panic!("attribute {number}: {code:?}"));
        if let Some(&said) = expected.get(&number) {
            assert_eq!(value, said, "attribute {number}");
        }
    }
    // What no property says: clients ask whether kernels can use 512 registers, and for the chip.
    assert_eq!(attribute(hipDeviceAttributeMaxAvailableVgprsPerThread.0), Ok(512));
    assert_eq!(attribute(hipDeviceAttributeImageSupport.0), Ok(0));
    assert_eq!(attribute(hipDeviceAttributeCanUseStreamWaitValue.0), Ok(1));
    assert!(attribute(hipDeviceAttributeNumberOfXccs.0).unwrap() >= 1);
    assert!(attribute(hipDeviceAttributePciChipId.0).unwrap() > 0);
    for beyond in [96, 9999, 10_023, 19_999, u32::MAX] {
        assert_eq!(attribute(beyond), Err(hipErrorInvalidValue), "attribute {beyond}");
    }
    let warp = hipDeviceAttributeWarpSize;
    fails!(hipErrorInvalidValue, hipDeviceGetAttribute(ptr::null_mut(), warp, 0));
    fails!(hipErrorInvalidDevice, hipDeviceGetAttribute(&mut 0, warp, 99));
}

// proves: hipChooseDeviceR0000
#[test]
fn the_device_itself_is_what_its_older_properties_choose() {
    let (properties, mut device) = (older_properties(), -1);
    ok!(hipChooseDeviceR0000(&mut device, &properties));
    assert_eq!(device, 0);
    fails!(hipErrorInvalidValue, hipChooseDeviceR0000(ptr::null_mut(), &properties));
    fails!(hipErrorInvalidValue, hipChooseDeviceR0000(&mut device, ptr::null()));
}

// proves: hipCtxGetSharedMemConfig, hipFuncSetSharedMemConfig
#[test]
fn preferences_are_accepted_and_the_hardware_keeps_its_own() {
    let mut banks = hipSharedMemBankSizeEightByte;
    ok!(
        hipFuncSetSharedMemConfig(threes(), hipSharedMemBankSizeEightByte),
        hipCtxGetSharedMemConfig(&mut banks),
    );
    assert_eq!(banks, hipSharedMemBankSizeFourByte);
    fails!(hipErrorInvalidValue, hipCtxGetSharedMemConfig(ptr::null_mut()));
    fails!(hipErrorInvalidValue, hipFuncSetSharedMemConfig(threes(), hipSharedMemConfig(3)));
    let nobody = ptr::null();
    fails!(hipErrorInvalidDeviceFunction, hipFuncSetSharedMemConfig(nobody, hipSharedMemBankSizeFourByte));
}

// proves: hipCtxEnablePeerAccess, hipCtxDisablePeerAccess
#[test]
fn the_context_of_the_device_itself_is_no_peer() {
    let mut own = hipCtx_t::NULL;
    ok!(hipDevicePrimaryCtxRetain(&mut own, 0));
    fails!(hipErrorInvalidDevice, hipCtxEnablePeerAccess(own, 0));
    fails!(hipErrorInvalidDevice, hipCtxDisablePeerAccess(own));
    let garbage = hipCtx_t(0x5eed);
    fails!(hipErrorInvalidContext, hipCtxEnablePeerAccess(garbage, 0));
    fails!(hipErrorInvalidContext, hipCtxDisablePeerAccess(garbage));
    fails!(hipErrorInvalidValue, hipCtxEnablePeerAccess(own, 1));
    ok!(hipDevicePrimaryCtxRelease(0));
}

// proves: hipDeviceGetStreamPriorityRange
#[test]
fn the_least_priority_is_the_largest_number() {
    let (mut least, mut greatest) = (0, 0);
    ok!(hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    assert_eq!((least, greatest), (1, -1));
    // Either may be unwanted.
    ok!(hipDeviceGetStreamPriorityRange(ptr::null_mut(), ptr::null_mut()));
}
