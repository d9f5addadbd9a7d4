# The HIP package of CMake where ROCm is absent: aqlipse's libamdhip64, and the headers of HIP that the machine has.
#
#   find_package(hip REQUIRED)
#   target_link_libraries(program PRIVATE hip::device)   # sources with kernels; hip::host for those that call HIP only
#
# HIP_INCLUDE_DIR names the folder with hip/hip_runtime.h, GPU_TARGETS the architectures.

get_filename_component(_aqlipse_folder "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_aqlipse_lib "${_aqlipse_folder}/../.." ABSOLUTE)

find_path(HIP_INCLUDE_DIR hip/hip_version.h
  HINTS "$ENV{HIP_PATH}/include" "$ENV{ROCM_PATH}/include" /opt/rocm/include
  DOC "The folder of HIP's headers")
if(NOT HIP_INCLUDE_DIR)
  set(hip_FOUND FALSE)
  set(hip_NOT_FOUND_MESSAGE
    "aqlipse brings no headers of HIP. Install a package that has them (libamdhip64-dev), or set HIP_INCLUDE_DIR.")
  return()
endif()
file(STRINGS "${HIP_INCLUDE_DIR}/hip/hip_version.h" _aqlipse_defines REGEX "#define HIP_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
foreach(_aqlipse_part MAJOR MINOR PATCH)
  string(REGEX REPLACE ".*HIP_VERSION_${_aqlipse_part} +([0-9]+).*" "\\1" HIP_VERSION_${_aqlipse_part} "${_aqlipse_defines}")
endforeach()
set(hip_VERSION "${HIP_VERSION_MAJOR}.${HIP_VERSION_MINOR}.${HIP_VERSION_PATCH}")

# A program is linked with the ABI that belongs to its headers: its SONAME tells the library.
set(_aqlipse_abi "${_aqlipse_lib}/hip${HIP_VERSION_MAJOR}")
if(NOT EXISTS "${_aqlipse_abi}/libamdhip64.so")
  set(hip_FOUND FALSE)
  set(hip_NOT_FOUND_MESSAGE "The headers in ${HIP_INCLUDE_DIR} are of HIP ${HIP_VERSION_MAJOR}, which aqlipse does not know.")
  return()
endif()

set(HIP_PLATFORM amd)
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
set(hip_INCLUDE_DIR "${HIP_INCLUDE_DIR}")
set(hip_INCLUDE_DIRS "${HIP_INCLUDE_DIR}")
set(hip_LIB_INSTALL_DIR "${_aqlipse_lib}")
set(hip_LIBRARIES hip::host)
set(hip_LIBRARY hip::host)
set(GPU_TARGETS gfx90a CACHE STRING "Architectures that device code is compiled for")

if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION "${_aqlipse_abi}/libamdhip64.so"
    IMPORTED_SONAME "libamdhip64.so.${HIP_VERSION_MAJOR}"
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_INCLUDE_DIRECTORIES "${HIP_INCLUDE_DIR}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${HIP_INCLUDE_DIR}")

  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64)

  # C++ sources are compiled as HIP. CMake's language HIP needs files of ROCm's that nobody else has.
  add_library(hip::device INTERFACE IMPORTED)
  get_filename_component(_aqlipse_rocm "${HIP_INCLUDE_DIR}" DIRECTORY)
  set(_aqlipse_options -x hip "--rocm-path=${_aqlipse_rocm}")
  # Clang looks for ROCm's folder only; Debian has the device libraries elsewhere.
  find_path(HIP_DEVICE_LIB_PATH ockl.bc
    HINTS "${_aqlipse_rocm}/amdgcn/bitcode" "${_aqlipse_rocm}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode"
    DOC "The folder of the device libraries")
  if(HIP_DEVICE_LIB_PATH)
    list(APPEND _aqlipse_options "--rocm-device-lib-path=${HIP_DEVICE_LIB_PATH}")
  endif()
  foreach(_aqlipse_target IN LISTS GPU_TARGETS)
    list(APPEND _aqlipse_options "--offload-arch=${_aqlipse_target}")
  endforeach()
  string(REPLACE ";" " " _aqlipse_options "${_aqlipse_options}")
  set_target_properties(hip::device PROPERTIES
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:${_aqlipse_options}>"
    INTERFACE_LINK_LIBRARIES hip::host)
endif()
