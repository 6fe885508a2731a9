# The transfer engines: libmetadef.so (AscendString, under its older names, too), libcann_hixl.so (the engine, hixl::Hixl) and libllm_datadist.so
# (adxl::AdxlEngine, on the same engine), built on the public headers of libascendcl.so, on base and on the network of libhccl.so.

# ropeway_client_library(NAME EXPORTS SOURCE...): a library that programs link by this name. nodelete: streams and threads call into them later
# than a dlclose.
function(ropeway_client_library name exports)
  add_library(${name} SHARED ${ARGN})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE FUNC_VISIBILITY)
  set(map ${PROJECT_SOURCE_DIR}/cmake/${exports})
  target_link_options(${name} PRIVATE -Wl,-z,nodelete -Wl,--version-script=${map})
  if(NOT ROPEWAY_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  set_target_properties(${name} PROPERTIES LINK_DEPENDS ${map} INSTALL_RPATH "$ORIGIN")
endfunction()

foreach(name metadef graph graph_base)  # as targets they would be in the way of a project that has a library `graph`
  ropeway_client_library(ropeway_${name} metadef_exports.map ${PROJECT_SOURCE_DIR}/src/hixl/metadef/ascend_string.cpp)
  set_target_properties(ropeway_${name} PROPERTIES OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET default)
endforeach()

file(GLOB hixl_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/hixl/engine/*.cpp)
ropeway_json_sources(${PROJECT_SOURCE_DIR}/src/hixl/engine/options.cpp)
ropeway_library_part(hixl_objects hixl_sources <algorithm> <atomic> <condition_variable> <functional> <map> <memory> <mutex> <set> <string>
                     <thread> <vector>)
target_link_libraries(hixl_objects PUBLIC ropeway_net ascendcl nlohmann_json::nlohmann_json)

ropeway_client_library(cann_hixl hixl_exports.map ${PROJECT_SOURCE_DIR}/src/hixl/api/hixl_class.cpp)
target_link_libraries(cann_hixl PUBLIC ropeway_metadef PRIVATE hixl_objects ascendcl)

ropeway_client_library(llm_datadist adxl_exports.map ${PROJECT_SOURCE_DIR}/src/hixl/api/adxl_class.cpp
                       ${PROJECT_SOURCE_DIR}/src/hixl/api/shareable_memory.cpp ${PROJECT_SOURCE_DIR}/src/hixl/engine/result.cpp)
target_link_libraries(llm_datadist PUBLIC cann_hixl ropeway_metadef PRIVATE ropeway_base ascendcl)
