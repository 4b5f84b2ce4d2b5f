# CUPTI::headers: the headers of CUPTI and of the CUDA driver and runtime. No library: the collector looks for the one
# of the process at run time.
#
# They are part of a CUDA toolkit, and of the Python wheels nvidia-cuda-cupti and nvidia-cuda-runtime (the folder
# nvidia/cu13/include in them). CUPTI_ROOT, or CUDA_HOME in the environment, names a folder that has include/cupti.h.
include(FindPackageHandleStandardArgs)

find_path(CUPTI_INCLUDE_DIR cupti.h
  HINTS "${CUPTI_ROOT}" ENV CUDA_HOME ENV CUDA_PATH "${PROJECT_SOURCE_DIR}/build/cuda_headers/nvidia/cu13"
  PATHS /usr/local/cuda
  PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
find_path(CUPTI_CUDA_INCLUDE_DIR cuda.h
  HINTS "${CUPTI_ROOT}" "${CUPTI_INCLUDE_DIR}" ENV CUDA_HOME ENV CUDA_PATH
        "${PROJECT_SOURCE_DIR}/build/cuda_headers/nvidia/cu13"
  PATHS /usr/local/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include)
mark_as_advanced(CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR)

# The structs are those of CUDA 13.0, update 1; later ones extend them.
if(CUPTI_INCLUDE_DIR)
  file(STRINGS "${CUPTI_INCLUDE_DIR}/cupti_version.h" CUPTI_VERSION REGEX "^#define CUPTI_API_VERSION [0-9]+")
  string(REGEX REPLACE "[^0-9]" "" CUPTI_VERSION "${CUPTI_VERSION}")
endif()
find_package_handle_standard_args(CUPTI REQUIRED_VARS CUPTI_INCLUDE_DIR CUPTI_CUDA_INCLUDE_DIR
                                  VERSION_VAR CUPTI_VERSION)

if(CUPTI_FOUND AND NOT TARGET CUPTI::headers)
  add_library(CUPTI::headers INTERFACE IMPORTED)
  target_include_directories(CUPTI::headers SYSTEM INTERFACE "${CUPTI_INCLUDE_DIR}" "${CUPTI_CUDA_INCLUDE_DIR}")
endif()
