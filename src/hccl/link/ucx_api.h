// The functions of libucp and libucs, found at run time: a program that never leaves its host loads no network library.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace ropeway::comm {

// X(name) for every function that is used.
#define RW_UCP_FUNCTIONS(X)     \
  X(ucp_config_read)            \
  X(ucp_config_modify)          \
  X(ucp_config_release)         \
  X(ucp_init_version)           \
  X(ucp_cleanup)                \
  X(ucp_worker_create)          \
  X(ucp_worker_destroy)         \
  X(ucp_worker_query)           \
  X(ucp_worker_release_address) \
  X(ucp_worker_get_efd)         \
  X(ucp_worker_arm)             \
  X(ucp_worker_progress)        \
  X(ucp_ep_create)              \
  X(ucp_ep_close_nbx)           \
  X(ucp_ep_flush_nbx)           \
  X(ucp_ep_rkey_unpack)         \
  X(ucp_rkey_destroy)           \
  X(ucp_rkey_pack)              \
  X(ucp_rkey_buffer_release)    \
  X(ucp_mem_map)                \
  X(ucp_mem_unmap)              \
  X(ucp_put_nbx)                \
  X(ucp_get_nbx)                \
  X(ucp_request_free)

struct UcxApi {
#define RW_MEMBER(name) decltype(&::name) name;
  RW_UCP_FUNCTIONS(RW_MEMBER)
#undef RW_MEMBER
  decltype(&::ucs_status_string) ucs_status_string;
};

// Loads UCX on the first call; one thread at a time. Null, with the reason in `why`, when it cannot be had.
const UcxApi* LoadUcx(std::string* why);

// What UCX itself logged last, for the text of an error; "" when it has said nothing.
std::string LastUcxMessage();

}  // namespace ropeway::comm
