# The functions by which kernel projects say what to compile. There is no compiler for device code here: a kernel file is replaced by its
# stand-in, a file of host code that registers a host function under the kernel's name (ropeway/kernel.h, docs/kernels.md). A file without
# device code is compiled as it is.
#
# The stand-in of folder/name.cpp is, whichever is there first:
#   folder/name.standin.cpp, folder/standin/name.cpp, ${ROPEWAY_STANDIN_DIR}/name.cpp
# Where there is none, the build ends with a line that says so; configuring does not.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.16)
include(GNUInstallDirs)

# The tree, by whichever of its folders this file was found.
get_filename_component(_ropeway_tree "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_ropeway_tree "${_ropeway_tree}" DIRECTORY)
get_filename_component(_ropeway_tree "${_ropeway_tree}/../.." ABSOLUTE)
set(ROPEWAY_TREE "${_ropeway_tree}" CACHE INTERNAL "The drop-in tree that ascendc.cmake lies in")
if(NOT TARGET ropeway_runtime)
  add_library(ropeway_runtime INTERFACE)
  target_include_directories(ropeway_runtime INTERFACE "${ROPEWAY_TREE}/include")
  target_link_libraries(ropeway_runtime INTERFACE "${ROPEWAY_TREE}/lib64/libascendcl.so")
endif()

# _ropeway_standin_of(FILE RESULT): its stand-in, or nothing.
function(_ropeway_standin_of file result)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(name "${file}" NAME_WE)
  set(candidates "${folder}/${name}.standin.cpp" "${folder}/standin/${name}.cpp")
  if(ROPEWAY_STANDIN_DIR)
    list(APPEND candidates "${ROPEWAY_STANDIN_DIR}/${name}.cpp")
  endif()
  foreach(candidate IN LISTS candidates)
    if(EXISTS "${candidate}")
      set(${result} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

# _ropeway_is_device_code(TEXT RESULT): what only a compiler for devices understands.
function(_ropeway_is_device_code text result)
  set(found FALSE)
  if(text MATCHES "<<<|__aicore__|__global__|kernel_operator\\.h|AscendC::")
    set(found TRUE)
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# _ropeway_type(PARAMETER TYPE NAME): how the host passes a parameter of a kernel; TYPE is empty where this cannot be told.
function(_ropeway_type parameter type name)
  string(STRIP "${parameter}" parameter)
  string(REGEX REPLACE "__gm__|__restrict__|const " "" parameter "${parameter}")
  string(STRIP "${parameter}" parameter)
  set(${type} "" PARENT_SCOPE)
  set(scalars "bool|char|float|double|int|unsigned|unsigned int|short|long|size_t|u?int(8|16|32|64)_t|aclFloat16")
  if(parameter MATCHES "^(GM_ADDR |.*\\*) *([A-Za-z_0-9]+)$")
    set(${name} "${CMAKE_MATCH_2}" PARENT_SCOPE)
    set(${type} "void*" PARENT_SCOPE)
  elseif(parameter MATCHES "^(${scalars}) +([A-Za-z_0-9]+)$")
    set(${name} "${CMAKE_MATCH_3}" PARENT_SCOPE)
    set(${type} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

# _ropeway_write(FILE TEXT): a file that has this text already stays as old as it is.
function(_ropeway_write file text)
  if(EXISTS "${file}")
    file(READ "${file}" old)
    if(old STREQUAL text)
      return()
    endif()
  endif()
  file(WRITE "${file}" "${text}")
endfunction()

# _ropeway_launcher(KERNEL PARAMETERS FOLDER RESULT): aclrtlaunch_<kernel>.h, and the file that defines what it declares.
function(_ropeway_launcher kernel parameters folder result)
  set(${result} "" PARENT_SCOPE)
  string(REPLACE "," ";" parameters "${parameters}")
  set(declared "uint32_t blockDim, aclrtStream stream")
  set(members "")
  set(values "")
  foreach(parameter IN LISTS parameters)
    _ropeway_type("${parameter}" type name)
    if(NOT type)
      message(STATUS "${kernel}: no aclrtlaunch_${kernel}, because of the parameter '${parameter}'; use ropewayLaunchKernel")
      return()
    endif()
    string(APPEND declared ", ${type} ${name}")
    string(APPEND members "    ${type} ${name};\n")
    list(APPEND values "${name}")
  endforeach()
  string(REPLACE ";" ", " values "${values}")
  set(header "${folder}/aclrtlaunch_${kernel}.h")
  _ropeway_write("${header}" "/* Launches the stand-in for the kernel ${kernel}. */
#ifndef HEADER_ACLRTLAUNCH_${kernel}_H
#define HEADER_ACLRTLAUNCH_${kernel}_H
#include <stddef.h>
#include <stdint.h>

#include \"acl/acl_base.h\"
#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func
#endif
#ifdef __cplusplus
extern \"C\"
#endif
uint32_t aclrtlaunch_${kernel}(${declared});
#endif
")
  if(members)
    set(body "  struct {\n${members}  } const arguments = {${values}};
  return (uint32_t)ropewayLaunchKernel(\"${kernel}\", blockDim, &arguments, sizeof(arguments), stream);")
  else()
    set(body "  return (uint32_t)ropewayLaunchKernel(\"${kernel}\", blockDim, nullptr, 0, stream);")
  endif()
  _ropeway_write("${folder}/aclrtlaunch_${kernel}.cpp" "#include \"aclrtlaunch_${kernel}.h\"

#include \"ropeway/kernel.h\"

uint32_t aclrtlaunch_${kernel}(${declared}) {
${body}
}
")
  set(${result} "${folder}/aclrtlaunch_${kernel}.cpp" PARENT_SCOPE)
endfunction()

# _ropeway_launchers(TEXT FOLDER RESULT): one for each kernel that a file defines.
function(_ropeway_launchers text folder result)
  set(made "")
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  string(REPLACE ";" " " text "${text}")
  string(REGEX MATCHALL "__global__ __aicore__ void [A-Za-z_0-9]+ ?\\([^)]*\\) ?{" kernels "${text}")
  foreach(kernel IN LISTS kernels)
    string(REGEX MATCH "void ([A-Za-z_0-9]+) ?\\(([^)]*)\\)" kernel "${kernel}")
    _ropeway_launcher("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" "${folder}" file)
    list(APPEND made ${file})
  endforeach()
  set(${result} "${made}" PARENT_SCOPE)
endfunction()

# _ropeway_sources(TARGET RESULT SOURCE...): what the host compiles for them.
function(_ropeway_sources target result)
  set(compiled "")
  foreach(source IN LISTS ARGN)
    get_filename_component(file "${source}" ABSOLUTE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${target}: there is no ${source}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    _ropeway_is_device_code("${text}" device_code)
    _ropeway_standin_of("${file}" standin)
    if(device_code)
      _ropeway_launchers("${text}" "${CMAKE_BINARY_DIR}/include/${target}" launchers)
      list(APPEND compiled ${launchers})
    endif()
    if(standin)
      list(APPEND compiled "${standin}")
    elseif(NOT device_code)
      list(APPEND compiled "${file}")
    else()
      get_filename_component(folder "${file}" DIRECTORY)
      get_filename_component(name "${file}" NAME_WE)
      set(text "${source} is device code, which cannot run here: write a stand-in, ${folder}/${name}.standin.cpp (docs/kernels.md)")
      message(WARNING "${target}: ${text}")
      set(missing "${CMAKE_CURRENT_BINARY_DIR}/${target}.${name}.standin.cpp")
      add_custom_command(OUTPUT "${missing}" COMMAND ${CMAKE_COMMAND} -E echo "error: ${text}" COMMAND ${CMAKE_COMMAND} -E false VERBATIM
                         COMMENT "A stand-in is missing")
      list(APPEND compiled "${missing}")
    endif()
  endforeach()
  set(${result} "${compiled}" PARENT_SCOPE)
endfunction()

function(_ropeway_common target)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include/${target}>")
  target_link_libraries(${target} PUBLIC ropeway_runtime)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
endfunction()

# ascendc_library(TARGET STATIC|SHARED SOURCE...): kernels, and host functions that start them.
function(ascendc_library target type)
  if(NOT type MATCHES "^(STATIC|SHARED)$")
    message(FATAL_ERROR "ascendc_library(${target} ${type} ...): the type is STATIC or SHARED")
  endif()
  _ropeway_sources(${target} sources ${ARGN})
  if(type STREQUAL "SHARED")
    add_library(${target} SHARED ${sources})
  else()
    # A linker takes nothing from an archive that nobody names, and stand-ins are found by their registration: whoever links the target
    # gets its objects themselves.
    add_library(${target}_objects OBJECT ${sources})
    foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
      set_property(TARGET ${target}_objects PROPERTY ${property} "$<TARGET_PROPERTY:${target},${property}>")
    endforeach()
    _ropeway_common(${target}_objects)
    target_include_directories(${target}_objects PRIVATE "${CMAKE_BINARY_DIR}/include/${target}")
    add_library(${target} STATIC $<TARGET_OBJECTS:${target}_objects>)
    target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_objects>)
  endif()
  _ropeway_common(${target})
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# ascendc_fatbin_library(TARGET SOURCE...): what a program gives to aclrtBinaryLoadFromFile, fatbin/<target>/<target>.o of the install prefix.
# It is a shared library, which that call opens.
function(ascendc_fatbin_library target)
  _ropeway_sources(${target} sources ${ARGN})
  add_library(${target} MODULE ${sources})
  _ropeway_common(${target})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${target} SUFFIX ".o" INSTALL_RPATH "${ROPEWAY_TREE}/lib64")
  install(TARGETS ${target} LIBRARY DESTINATION fatbin/${target})
endfunction()

function(ascendc_include_directories target scope)
  target_include_directories(${target} ${scope} ${ARGN})
endfunction()

# Items may begin with -D.
function(ascendc_compile_definitions target scope)
  target_compile_definitions(${target} ${scope} ${ARGN})
endfunction()

# What stands in front of -forward-options-to-host-compiler is for a compiler that is not here.
function(ascendc_compile_options target scope)
  set(options ${ARGN})
  list(FIND options "-forward-options-to-host-compiler" at)
  if(at EQUAL -1)
    return()
  endif()
  math(EXPR first "${at} + 1")
  list(LENGTH options count)
  if(first LESS count)
    list(SUBLIST options ${first} -1 options)
    target_compile_options(${target} ${scope} ${options})
  endif()
endfunction()
cmake_policy(POP)
