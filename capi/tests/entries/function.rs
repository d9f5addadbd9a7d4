use std::ptr;

use capi::{error::hipError_t, types::*};

use super::*;
use crate::program::{doubles, threes};

unsafe extern "C" {
    fn hipFuncGetAttributes(out: *mut hipFuncAttributes, function: *const c_void) -> hipError_t;
    fn hipFuncGetAttribute(
        value: *mut c_int,
        attribute: hipFunction_attribute,
        function: hipFunction_t,
    ) -> hipError_t;
    fn hipFuncSetAttribute(function: *const c_void, attribute: hipFuncAttribute, value: c_int) -> hipError_t;
    fn hipFuncSetCacheConfig(function: *const c_void, config: hipFuncCache_t) -> hipError_t;
    fn hipGetFuncBySymbol(function: *mut hipFunction_t, symbol: *const c_void) -> hipError_t;
    fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: *const c_void,
        block: c_int,
        lds: usize,
    ) -> hipError_t;
    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: hipFunction_t,
        block: c_int,
        lds: usize,
    ) -> hipError_t;
    fn hipOccupancyMaxPotentialBlockSize(
        grid: *mut c_int,
        block: *mut c_int,
        function: *const c_void,
        lds: usize,
        limit: c_int,
    ) -> hipError_t;
    fn hipOccupancyMaxActiveClusters(
        clusters: *mut c_int,
        function: *const c_void,
        config: *const hipLaunchConfig_t,
    ) -> hipError_t;
    fn hipOccupancyMaxPotentialClusterSize(
        blocks: *mut c_int,
        function: *const c_void,
        config: *const hipLaunchConfig_t,
    ) -> hipError_t;
}

type ClusterQuestion =
    unsafe extern "C" fn(*mut c_int, *const c_void, *const hipLaunchConfig_t) -> hipError_t;

// proves: hipOccupancyMaxActiveClusters, hipOccupancyMaxPotentialClusterSize
#[test]
fn there_are_no_clusters_of_blocks() {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut config: hipLaunchConfig_t = unsafe { std::mem::zeroed() };
    (config.gridDim, config.blockDim) = (dim3 { x: 8, y: 1, z: 1 }, dim3 { x: 64, y: 1, z: 1 });
    for ask in [hipOccupancyMaxActiveClusters as ClusterQuestion, hipOccupancyMaxPotentialClusterSize] {
        let mut answer = 7;
        fails!(hipErrorInvalidClusterSize, ask(&mut answer, doubles(), &config));
        fails!(hipErrorInvalidDeviceFunction, ask(&mut answer, ptr::null(), &config));
        fails!(hipErrorInvalidValue, ask(ptr::null_mut(), doubles(), &config));
        fails!(hipErrorInvalidValue, ask(&mut answer, doubles(), ptr::null()));
        let attributes = hipLaunchConfig_t { numAttrs: 1, ..config };
        fails!(hipErrorInvalidValue, ask(&mut answer, doubles(), &attributes));
        assert_eq!(answer, 7);
    }
}

const LDS: usize = 64 * 1024;

// proves: hipFuncGetAttributes, hipFuncGetAttribute, hipGetFuncBySymbol
#[test]
fn both_ways_to_ask_for_attributes_agree() {
    // SAFETY: all fields are plain data, for which zeros are values.
    let mut all: hipFuncAttributes = unsafe { std::mem::zeroed() };
    let (mut function, mut again, mut value) = (hipFunction_t::NULL, hipFunction_t::NULL, 0);
    ok!(
        hipFuncGetAttributes(&mut all, doubles()),
        hipGetFuncBySymbol(&mut function, doubles()),
        hipGetFuncBySymbol(&mut again, doubles()),
    );
    assert_eq!(function, again);
    assert_eq!((all.maxThreadsPerBlock, all.sharedSizeBytes, all.localSizeBytes), (1024, 0, 0));
    assert_eq!(all.maxDynamicSharedSizeBytes as usize, LDS);
    assert!(all.numRegs > 0);
    // 10 * major + minor of the device that the code is for.
    let binary_version = all.binaryVersion;
    assert!([90, 94].contains(&binary_version));
    for (attribute, expected) in [
        (HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, all.maxThreadsPerBlock),
        (HIP_FUNC_ATTRIBUTE_NUM_REGS, all.numRegs),
        (HIP_FUNC_ATTRIBUTE_BINARY_VERSION, binary_version),
    ] {
        ok!(hipFuncGetAttribute(&mut value, attribute, function));
        assert_eq!(value, expected);
    }
    fails!(hipErrorInvalidValue, hipFuncGetAttribute(&mut value, hipFunction_attribute(10), function));
    fails!(hipErrorInvalidValue, hipFuncGetAttributes(ptr::null_mut(), doubles()));
    fails!(hipErrorInvalidDeviceFunction, hipFuncGetAttributes(&mut all, ptr::null()));
    fails!(hipErrorInvalidSymbol, hipFuncGetAttributes(&mut all, ptr::dangling()));
    fails!(
        hipErrorInvalidHandle,
        hipFuncGetAttribute(&mut value, HIP_FUNC_ATTRIBUTE_NUM_REGS, hipFunction_t::NULL)
    );
    fails!(
        hipErrorInvalidDeviceFunction,
        hipFuncGetAttribute(&mut value, HIP_FUNC_ATTRIBUTE_NUM_REGS, hipFunction_t(1))
    );
    fails!(hipErrorInvalidDeviceFunction, hipGetFuncBySymbol(&mut function, ptr::dangling()));
}

// proves: hipFuncSetAttribute, hipFuncSetCacheConfig
#[test]
fn hints_are_accepted_and_nonsense_is_not() {
    let (size, carveout) =
        (hipFuncAttributeMaxDynamicSharedMemorySize, hipFuncAttributePreferredSharedMemoryCarveout);
    ok!(
        hipFuncSetAttribute(threes(), size, LDS as c_int),
        hipFuncSetAttribute(threes(), carveout, 50),
        hipFuncSetCacheConfig(threes(), hipFuncCachePreferEqual),
    );
    fails!(hipErrorInvalidValue, hipFuncSetAttribute(threes(), size, LDS as c_int + 1));
    fails!(hipErrorInvalidValue, hipFuncSetAttribute(threes(), carveout, 101));
    fails!(hipErrorInvalidValue, hipFuncSetAttribute(threes(), hipFuncAttribute(0), 1));
    fails!(hipErrorInvalidDeviceFunction, hipFuncSetAttribute(ptr::null(), size, 0));
    fails!(hipErrorInvalidSymbol, hipFuncSetAttribute(ptr::dangling(), size, 0));
    fails!(hipErrorInvalidDeviceFunction, hipFuncSetCacheConfig(ptr::null(), hipFuncCachePreferL1));
    fails!(hipErrorInvalidValue, hipFuncSetCacheConfig(threes(), hipFuncCache_t(9)));
    ok!(hipFuncSetCacheConfig(ptr::dangling(), hipFuncCachePreferL1));
}

// proves: hipOccupancyMaxActiveBlocksPerMultiprocessor, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
// proves: hipOccupancyMaxPotentialBlockSize
#[test]
fn occupancy_counts_wavefronts_and_shared_memory() {
    let (mut blocks, mut grid, mut block, mut function) = (0, 0, 0, hipFunction_t::NULL);
    ok!(hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, doubles(), 64, 0));
    assert_eq!(blocks, 32, "8 wavefronts on each of 4 SIMDs");
    ok!(
        hipGetFuncBySymbol(&mut function, doubles()),
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, 64, LDS / 2),
    );
    assert_eq!(blocks, 2);
    ok!(hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, doubles(), 0, 0));
    assert_eq!((block, grid % 2), (1024, 0), "two of the largest blocks fill a unit");
    ok!(hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, doubles(), 0, 200));
    assert_eq!((block, grid % 10), (192, 0), "the largest block of whole wavefronts");
    ok!(hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, doubles(), 0, 63));
    assert_eq!((block, grid % 32), (63, 0), "a limit is kept to");
    ok!(hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, doubles(), 0, -5));
    assert_eq!(block, 1024, "a negative limit is none");
    fails!(
        hipErrorInvalidDeviceFunction,
        hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, ptr::null(), 0, 0)
    );
    fails!(
        hipErrorInvalidDeviceFunction,
        hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, ptr::null(), 64, 0)
    );
    ok!(hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, doubles(), 1025, 0));
    assert_eq!(blocks, 0, "more threads than any block has");
    fails!(hipErrorInvalidValue, hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, doubles(), 0, 0));
    fails!(
        hipErrorInvalidValue,
        hipOccupancyMaxPotentialBlockSize(ptr::null_mut(), &mut block, doubles(), 0, 0)
    );
}
