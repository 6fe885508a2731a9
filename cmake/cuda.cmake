# libropeway_cuda.so, the CUDA engine's backend. Built where nvcc and cuda.h are; nothing else needs CUDA, and the plugin itself finds
# the driver at run time. What it shares with the library is compiled into both: the two meet at one interface only.

option(ROPEWAY_CUDA "Build the CUDA plugin where nvcc is found" ON)
find_program(ROPEWAY_NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_HOME PATH_SUFFIXES bin)
if(NOT ROPEWAY_CUDA OR ROPEWAY_SANITIZE STREQUAL "thread")
  ropeway_part("engine for NVIDIA GPUs" "no: ROPEWAY_CUDA is off, or ThreadSanitizer on")
  return()
elseif(NOT ROPEWAY_NVCC)
  ropeway_part("engine for NVIDIA GPUs" "no: no nvcc on PATH, in /usr/local/cuda or in CUDA_HOME")
  return()
endif()
cmake_path(GET ROPEWAY_NVCC PARENT_PATH nvcc_folder)
find_path(ROPEWAY_CUDA_INCLUDE cuda.h HINTS ${nvcc_folder}/../include)
if(NOT ROPEWAY_CUDA_INCLUDE)
  ropeway_part("engine for NVIDIA GPUs" "no: ${ROPEWAY_NVCC} is there, cuda.h is not")
  return()
endif()

set(engine_dir ${PROJECT_SOURCE_DIR}/src/engine)
# Each .cu file is an image, which the plugin has as bytes under the symbol ropeway_cuda_<name>: assembled by the compiler that is there
# anyway.
enable_language(ASM)
set(kernel_images "")
foreach(name kernels reduce)
  set(kernel_image ${CMAKE_BINARY_DIR}/ropeway_cuda_${name}.fatbin)
  add_custom_command(
    OUTPUT ${kernel_image}
    COMMAND ${ROPEWAY_NVCC} -std=c++20 --expt-relaxed-constexpr --fmad=false -I${PROJECT_SOURCE_DIR}/src -O3 -gencode arch=compute_80,code=sm_80
            -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90 -fatbin ${engine_dir}/cuda/${name}.cu
            -o ${kernel_image}
    DEPENDS ${engine_dir}/cuda/${name}.cu ${engine_dir}/cuda/kernel_types.h ${engine_dir}/cuda/reduce_types.h
            ${PROJECT_SOURCE_DIR}/src/base/reduce_ops.h ${PROJECT_SOURCE_DIR}/src/base/half.h
    COMMENT "Compiling the GPU kernels: ${name}"
    VERBATIM)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/ropeway_cuda_${name}.S CONTENT [[
.section .rodata
.balign 64
.global ropeway_cuda_@name@
.hidden ropeway_cuda_@name@
ropeway_cuda_@name@:
.incbin "@kernel_image@"
.section .note.GNU-stack,"",%progbits
]] @ONLY)
  set_source_files_properties(${CMAKE_BINARY_DIR}/ropeway_cuda_${name}.S PROPERTIES OBJECT_DEPENDS ${kernel_image})
  list(APPEND kernel_images ${CMAKE_BINARY_DIR}/ropeway_cuda_${name}.S)
endforeach()

file(GLOB cuda_sources CONFIGURE_DEPENDS ${engine_dir}/cuda/*.cpp)
# The CPU's kernels, as far as this processor has them.
add_library(ropeway_cuda SHARED ${cuda_sources} ${kernel_images} ${engine_dir}/backend.cpp ${engine_dir}/late_copy.cpp ${engine_dir}/part_order.cpp
            ${engine_dir}/task.cpp ${engine_dir}/sched/shared_work.cpp ${kernel_sources})
if(NOT ROPEWAY_FILE_BY_FILE)  # as the other libraries: library.cmake
  set_target_properties(ropeway_cuda PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endif()
target_include_directories(ropeway_cuda SYSTEM PRIVATE ${ROPEWAY_CUDA_INCLUDE})
target_link_libraries(ropeway_cuda PRIVATE ropeway_base)
if(NOT ROPEWAY_SANITIZE)  # whose runtime comes with the program
  target_link_options(ropeway_cuda PRIVATE -Wl,--no-undefined)
endif()
ropeway_part("engine for NVIDIA GPUs" "yes, by ${ROPEWAY_NVCC}")
