# libhccl.so: the dispatcher, communicators and the one-sided service, built on the public headers of libascendcl.so. The sources
# compile once, into objects that the library and its tests both link.

file(GLOB_RECURSE hccl_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/hccl/*.cpp)
add_library(hccl_objects OBJECT ${hccl_sources})
target_include_directories(hccl_objects PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(hccl_objects PUBLIC ascendcl Threads::Threads ${CMAKE_DL_LIBS})

# nodelete: streams call into this library later than a dlclose.
add_library(hccl SHARED)
target_link_libraries(hccl PRIVATE hccl_objects)
target_include_directories(hccl INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
set(hccl_exports ${PROJECT_SOURCE_DIR}/cmake/hccl_exports.map)
target_link_options(hccl PRIVATE -Wl,-z,nodelete -Wl,--version-script=${hccl_exports})
if(NOT ROPEWAY_SANITIZE)
  target_link_options(hccl PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(hccl PROPERTIES LINK_DEPENDS ${hccl_exports} LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
