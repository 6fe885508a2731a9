// The functions of libucp and libucs, found at run time: a program that never leaves its host loads no network library.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace ropeway::comm {

// X(name) for every function that is used.
#define RW_UCP_FUNCTIONS(X)         \
  X(ucp_config_read)                \
  X(ucp_config_modify)              \
  X(ucp_config_release)             \
  X(ucp_init_version)               \
  X(ucp_cleanup)                    \
  X(ucp_worker_create)              \
  X(ucp_worker_destroy)             \
  X(ucp_worker_query)               \
  X(ucp_worker_release_address)     \
  X(ucp_worker_get_efd)             \
  X(ucp_worker_arm)                 \
  X(ucp_worker_progress)            \
  X(ucp_worker_set_am_recv_handler) \
  X(ucp_ep_create)                  \
  X(ucp_ep_close_nbx)               \
  X(ucp_am_send_nbx)                \
  X(ucp_request_free)

struct UcxApi {
#define RW_MEMBER(name) decltype(&::name) name;
  RW_UCP_FUNCTIONS(RW_MEMBER)
#undef RW_MEMBER
  decltype(&::ucs_status_string) ucs_status_string;
};

// Loads UCX on the first call. Null, with the reason in `why`, when it cannot be had.
const UcxApi* LoadUcx(std::string* why);

// What UCX itself logged last, for the text of an error; "" when it has said nothing.
std::string LastUcxMessage();

}  // namespace ropeway::comm
