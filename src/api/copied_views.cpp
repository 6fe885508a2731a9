#include "api/copied_views.h"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "api/entry.h"
#include "engine/host_call.h"
#include "runtime/transfer.h"

namespace ropeway::api {
namespace {

struct View {
  unsigned char* address;
  size_t size;
  std::unique_ptr<unsigned char[]> bytes;
  const char* call;

  bool Holds(const unsigned char* inner, size_t inner_size) const {
    return inner >= address && inner_size <= size && static_cast<size_t>(inner - address) <= size - inner_size;
  }
  bool Touches(const unsigned char* other, size_t other_size) const { return other < address + size && address < other + other_size; }
};

// Of the function that this thread runs.
thread_local std::vector<View> t_views;

Status Move(void* dst, const void* src, size_t size, const char* call) { return RunPart(CopyTask(Runtime::Get(), dst, src, size, call)); }

// In the order in which they were taken; all of them, whatever becomes of one.
HostCall::Ending WriteBack() {
  HostCall::Ending ending;
  for (const View& view : std::exchange(t_views, {})) {
    const Status status = Move(view.address, view.bytes.get(), view.size, view.call);
    if (!status.ok() && ending.code == 0) ending = {status.code(), std::string("a view could not be written back: ") + status.text()};
  }
  return ending;
}

}  // namespace

bool CanCopyViews() { return HostCall::running_here != nullptr; }

Result<void*> CopyView(void* address, size_t size, const char* call) {
  auto* const begin = static_cast<unsigned char*>(address);
  for (const View& view : t_views) {
    if (view.Holds(begin, size)) return static_cast<void*>(view.bytes.get() + (begin - view.address));
    if (view.Touches(begin, size))
      return Fail(ACL_ERROR_RT_PARAM_INVALID,
                  "the view of %zu bytes at %p overlaps an earlier one of %zu bytes at %p; take one view of both", size, address, view.size,
                  static_cast<void*>(view.address));
  }
  View made{begin, size, std::unique_ptr<unsigned char[]>(new (std::nothrow) unsigned char[size]), call};
  if (made.bytes == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a view of %zu bytes", size);
  RW_TRY(Move(made.bytes.get(), address, size, call));
  void* const bytes = made.bytes.get();
  t_views.push_back(std::move(made));
  HostCall::epilogue = &WriteBack;
  return bytes;
}

}  // namespace ropeway::api
