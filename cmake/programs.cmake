# What is built on the public API alone: the command and the examples.

function(ropeway_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ascendcl Threads::Threads)
endfunction()

# The sanitizer builds are for the tests; what a user runs is in the others.
if(ROPEWAY_SANITIZE)
  return()
endif()

file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
list(REMOVE_ITEM cli_sources ${report_sources})
if(cli_sources)
  find_package(CLI11 REQUIRED)
  ropeway_program(ropeway ${cli_sources} $<TARGET_OBJECTS:ropeway_symbols> ${PROJECT_SOURCE_DIR}/src/base/fault_rules.cpp)
  target_include_directories(ropeway PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cli ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(ropeway PRIVATE ropeway_report CLI11::CLI11 nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  # The parser of arguments is most of the compile time of the files that have commands: they are compiled as one. So are the parts of
  # the demo, which make the same templates. Benches stand alone: they have the same names for different sizes.
  set(commands main bench check completion demo doctor env exec explore manual memory_server ps ranks report
      suggestion trace tune)
  file(GLOB demo_parts RELATIVE ${PROJECT_SOURCE_DIR}/cli CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/demo_*.cpp)
  list(TRANSFORM demo_parts REPLACE "\\.cpp$" "")
  foreach(group commands demo_parts)
    foreach(file IN LISTS ${group})
      set_source_files_properties(${PROJECT_SOURCE_DIR}/cli/${file}.cpp PROPERTIES UNITY_GROUP ${group})
    endforeach()
  endforeach()
  set_target_properties(ropeway PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  ropeway_json_sources(${PROJECT_SOURCE_DIR}/cli/bench_json.cpp ${PROJECT_SOURCE_DIR}/cli/json_rows.cpp)
  target_compile_options(ropeway PRIVATE -O1 -g1)  # what it measures is in the library
  target_precompile_headers(ropeway PRIVATE <algorithm> <functional> <memory> <string> <thread> <vector>
                            ${PROJECT_SOURCE_DIR}/include/acl/acl.h)
  # The installed command finds its library beside it, wherever the tree is put.
  set_target_properties(ropeway PROPERTIES INSTALL_RPATH "$ORIGIN/../lib64")
endif()

file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  ropeway_program(example_${name} ${source})
  if(name MATCHES "^(hccl|ring)_")
    target_link_libraries(example_${name} PRIVATE hccl)
  endif()
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endforeach()
