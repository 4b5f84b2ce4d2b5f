# LibTorch::cpu: the CPU half of a Python environment's torch (2.6 or newer): tensors, autograd, dispatcher.
#
# TorchConfig.cmake of a CUDA wheel wants a CUDA toolkit even for programs that never touch a GPU, so the two libraries
# are taken directly. The wheel's own run path leads to libcudart and libcupti in the PyPI packages beside it, which
# libtorch_cpu.so needs at load; LibTorch_MISSING_AT_LOAD names those of its needs that are not there.
#
# LibTorch::cuda: beside it, the GPU half, where the package has one. What that needs in turn (cuBLAS and others) is found
# at load, by the same run path, and need not be there to build.
#
# INTERLACE_TORCH_DIR: the folder of the Python package. Where it is not given, python3 is asked.
include(FindPackageHandleStandardArgs)

if(NOT INTERLACE_TORCH_DIR)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(Python3_Interpreter_FOUND)
    # Importing torch would load all of it.
    execute_process(
      COMMAND "${Python3_EXECUTABLE}" -c
              "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(INTERLACE_TORCH_DIR "${found}" CACHE PATH "Folder of the Python package torch" FORCE)
  endif()
endif()

# What was found in another folder, which may be gone, is sought anew.
if(NOT INTERLACE_TORCH_DIR STREQUAL LibTorch_SOUGHT_IN)
  unset(LibTorch_INCLUDE_DIR CACHE)
  foreach(library CPU C10 CUDA C10_CUDA)
    unset(LibTorch_${library}_LIBRARY CACHE)
  endforeach()
  set(LibTorch_SOUGHT_IN "${INTERLACE_TORCH_DIR}" CACHE INTERNAL "The folder of torch that the rest was found in")
endif()
find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h PATHS "${INTERLACE_TORCH_DIR}/include" NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS "${INTERLACE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS "${INTERLACE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_CUDA_LIBRARY torch_cuda PATHS "${INTERLACE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda PATHS "${INTERLACE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_CUDA_LIBRARY
                 LibTorch_C10_CUDA_LIBRARY)

set(LibTorch_MISSING_AT_LOAD)
if(LibTorch_CPU_LIBRARY)
  if(EXISTS "${INTERLACE_TORCH_DIR}/version.py")
    file(STRINGS "${INTERLACE_TORCH_DIR}/version.py" version REGEX "^__version__ = ")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${version}")
  endif()
  execute_process(COMMAND ldd "${LibTorch_CPU_LIBRARY}" OUTPUT_VARIABLE needs ERROR_QUIET)
  string(REGEX MATCHALL "[^ \t\n]+ => not found" LibTorch_MISSING_AT_LOAD "${needs}")
  list(TRANSFORM LibTorch_MISSING_AT_LOAD REPLACE " => not found" "")
endif()

find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  add_library(LibTorch::c10 UNKNOWN IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES
    IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR}")
  add_library(LibTorch::cpu UNKNOWN IMPORTED)
  set_target_properties(LibTorch::cpu PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
endif()

if(LibTorch_FOUND AND LibTorch_CUDA_LIBRARY AND LibTorch_C10_CUDA_LIBRARY AND NOT TARGET LibTorch::cuda)
  add_library(LibTorch::c10_cuda UNKNOWN IMPORTED)
  set_target_properties(LibTorch::c10_cuda PROPERTIES
    IMPORTED_LOCATION "${LibTorch_C10_CUDA_LIBRARY}" INTERFACE_LINK_LIBRARIES LibTorch::c10)
  add_library(LibTorch::cuda UNKNOWN IMPORTED)
  # The linker would drop a library that is needed only for the operators that it registers when it is loaded.
  set_target_properties(LibTorch::cuda PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CUDA_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "LibTorch::c10_cuda;LibTorch::cpu"
    INTERFACE_LINK_OPTIONS "LINKER:--no-as-needed;LINKER:--allow-shlib-undefined")
endif()
