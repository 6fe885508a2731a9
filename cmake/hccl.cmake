# libhccl.so: the dispatcher, communicators and the one-sided service, built on the public headers of libascendcl.so and on base. The sources
# compile once, into objects that the library and its tests both link.

file(GLOB_RECURSE hccl_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/hccl/*.cpp)
list(FILTER hccl_sources EXCLUDE REGEX "^src/hccl/tls/")  # a plugin of its own, below
# UCX is loaded at run time; its headers are needed here. Without them there is the TCP link alone. Under TSan
# it is left out: it hooks madvise, which an ending thread calls after TSan has let go of it, and that is a crash.
find_path(ROPEWAY_UCX_INCLUDE ucp/api/ucp.h)
if(ROPEWAY_UCX_INCLUDE AND NOT ROPEWAY_SANITIZE STREQUAL "thread")
  list(FILTER hccl_sources EXCLUDE REGEX "^src/hccl/link/ucx_missing\\.cpp$")
  ropeway_part("ranks over UCX" yes)
else()
  ropeway_part("ranks over UCX" "no: no ucp/api/ucp.h (Debian: libucx-dev), or ThreadSanitizer, so they use TCP")
  list(FILTER hccl_sources EXCLUDE REGEX "^src/hccl/link/ucx_(api|context|peer)\\.cpp$")
endif()
# Loops that want vectors, which GCC makes of all of them at -O3 only.
set_source_files_properties(src/hccl/base/reduce_kernel.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                            SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O3")
ropeway_json_sources(${PROJECT_SOURCE_DIR}/src/hccl/bootstrap/rank_table.cpp)

# How two processes talk over TCP and move bytes, which knows nothing of communicators: a static library, as base is, for all that stand on it.
set(net_sources ${hccl_sources})
list(FILTER net_sources INCLUDE REGEX "^src/hccl/(transport/.*|link/(connected_peer|device_frame|regions|tcp_peer|tcp_receive))\\.cpp$")
list(REMOVE_ITEM hccl_sources ${net_sources})
add_library(ropeway_net STATIC ${net_sources})
target_link_libraries(ropeway_net PUBLIC ropeway_base)
target_precompile_headers(ropeway_net PRIVATE <algorithm> <atomic> <functional> <map> <memory> <mutex> <set> <string> <thread> <vector>)
ropeway_library_part(hccl_objects hccl_sources <algorithm> <atomic> <condition_variable> <functional> <map> <memory> <mutex> <set>
                     <string> <thread> <vector>)
target_link_libraries(hccl_objects PUBLIC ropeway_net ascendcl)
if(ROPEWAY_UCX_INCLUDE)
  target_include_directories(hccl_objects SYSTEM PUBLIC ${ROPEWAY_UCX_INCLUDE})
endif()

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

# libropeway_tls.so, which is opened where ROPEWAY_HCCL_TLS=1 and nowhere else.
find_path(ROPEWAY_GNUTLS_INCLUDE gnutls/gnutls.h)
find_library(ROPEWAY_GNUTLS gnutls)
if(ROPEWAY_GNUTLS_INCLUDE AND ROPEWAY_GNUTLS)
  add_library(ropeway_tls SHARED ${PROJECT_SOURCE_DIR}/src/hccl/tls/tls_plugin.cpp)
  target_include_directories(ropeway_tls PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(ropeway_tls SYSTEM PRIVATE ${ROPEWAY_GNUTLS_INCLUDE})
  target_link_libraries(ropeway_tls PRIVATE ${ROPEWAY_GNUTLS})
  ropeway_part("encryption between ranks" "yes, by ${ROPEWAY_GNUTLS}")
else()
  ropeway_part("encryption between ranks" "no: no gnutls/gnutls.h (Debian: libgnutls28-dev), so ROPEWAY_HCCL_TLS=1 is refused")
endif()
