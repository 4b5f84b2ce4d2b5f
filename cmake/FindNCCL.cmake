# NCCL::nccl: of the CUDA toolkit, or of the PyPI package beside torch.
include(InterlaceImportLibrary)

# What was found beside another torch, which may be gone, is sought anew.
if(DEFINED NCCL_SOUGHT_BESIDE AND NOT INTERLACE_TORCH_DIR STREQUAL NCCL_SOUGHT_BESIDE)
  unset(NCCL_INCLUDE_DIR CACHE)
  unset(NCCL_LIBRARY CACHE)
endif()
set(NCCL_SOUGHT_BESIDE "${INTERLACE_TORCH_DIR}" CACHE INTERNAL "The folder of torch that NCCL was sought beside")
set(places ${CUDAToolkit_INCLUDE_DIRS} "${INTERLACE_TORCH_DIR}/../nvidia/nccl/include")
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${places})
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2
  HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib "${INTERLACE_TORCH_DIR}/../nvidia/nccl/lib")
interlace_import_library(NCCL NCCL::nccl)
