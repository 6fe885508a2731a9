# libropeway_check.so: the layer that `ropeway check` puts in front of any AscendCL. It knows the public headers only, and links nothing of
# ours. Names of source files come from libdw, which is loaded when something was found; without its headers, functions are named.

# The sanitizer builds are for what runs beside it.
if(ROPEWAY_SANITIZE)
  return()
endif()

file(GLOB_RECURSE check_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/check/*.cpp)
add_library(ropeway_check SHARED ${check_sources})
target_include_directories(ropeway_check PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(ropeway_check PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(ropeway_check PRIVATE -Wl,--no-undefined)
target_precompile_headers(ropeway_check PRIVATE ${PROJECT_SOURCE_DIR}/check/books.h)
find_path(ROPEWAY_LIBDW_INCLUDE elfutils/libdwfl.h)
if(ROPEWAY_LIBDW_INCLUDE)
  target_compile_definitions(ropeway_check PRIVATE ROPEWAY_LIBDW)
else()
  message(STATUS "ropeway check: findings without file and line (no elfutils/libdwfl.h; on Debian: apt-get install libdw-dev)")
endif()
