# The version is that of HIP's headers, which hip-config.cmake finds: a project may ask for one that those are of.
find_path(HIP_INCLUDE_DIR hip/hip_version.h
  HINTS "$ENV{HIP_PATH}/include" "$ENV{ROCM_PATH}/include" /opt/rocm/include
  DOC "The folder of HIP's headers")
set(PACKAGE_VERSION 0)
if(HIP_INCLUDE_DIR)
  file(STRINGS "${HIP_INCLUDE_DIR}/hip/hip_version.h" _aqlipse_defines REGEX "#define HIP_VERSION_(MAJOR|MINOR) +[0-9]+")
  string(REGEX REPLACE ".*HIP_VERSION_MAJOR +([0-9]+).*HIP_VERSION_MINOR +([0-9]+).*" "\\1.\\2" PACKAGE_VERSION "${_aqlipse_defines}")
endif()
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION STREQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
