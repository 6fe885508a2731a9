// Launches of kernels by stand-in (docs/kernels.md): a task that calls a host function, with views of device memory.
#include "api/kernel_launch.h"

#include <cstdarg>
#include <cstring>
#include <optional>

#include "api/checks.h"
#include "api/copied_views.h"
#include "api/host_view.h"
#include "engine/backend.h"
#include "ropeway/operator.h"
#include "runtime/product.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

bool Inside(const void* inner, size_t inner_size, const void* outer, size_t outer_size) {
  const auto from = reinterpret_cast<uintptr_t>(inner), begin = reinterpret_cast<uintptr_t>(outer);
  return from >= begin && inner_size <= outer_size && from - begin <= outer_size - inner_size;
}

// The function's launch is the first member, so that views find their way back.
class Kernel final : public KernelCall, private ropewayKernelLaunch {
 public:
  Kernel(const StandIn& stand_in, const ropewayKernelShape& laid_out, uint32_t blocks, int on_device, ArgumentBlock arguments)
      : ropewayKernelLaunch{stand_in.name, blocks, on_device, arguments.bytes.get(), arguments.size}, function_(stand_in.function),
        shape_(laid_out), arguments_(std::move(arguments)) {}

  static Kernel& Of(const ropewayKernelLaunch* launch) { return *static_cast<Kernel*>(const_cast<ropewayKernelLaunch*>(launch)); }

  // A graph may be replayed when memory is long gone that was there when it was captured.
  void Prepare(uint64_t /*replay*/, uint64_t as_of) override { as_of_ = as_of; }
  void Run() override {
    code_ = 0;
    if (arguments_.later != nullptr) args = View(arguments_.later, argsSize);
    if (code_ == 0) function_(this);
  }
  int Failed(TaskFailure* failure) const override { return code_ == 0 ? 0 : Explain(failure, code_, "kernel %s: %s", name, text_); }

  [[gnu::format(printf, 2, 3)]] void Fail(const char* format, ...) {
    if (code_ != 0) return;
    code_ = ACL_ERROR_RT_AICORE_EXCEPTION;
    va_list values;
    va_start(values, format);
    vsnprintf(text_, sizeof(text_), format, values);
    va_end(values);
  }

  const ArgumentBlock& arguments() const { return arguments_; }
  const ropewayKernelShape& shape() const { return shape_; }

  void* View(const void* address, size_t size) {
    if (Inside(address, size, arguments_.bytes.get(), arguments_.size)) return const_cast<void*>(address);
    void* view = nullptr;
    const Status status = ViewForDevice(address, size, device, as_of_, &view);
    if (!status.ok()) Fail("%s", status.text());
    if (!status.ok() || view != nullptr) return view;
    Result<void*> copy = CopyView(const_cast<void*>(address), size, name);
    if (copy.ok()) return copy.value();
    Fail("%s", copy.status().text());
    return nullptr;
  }

 private:
  const ropewayKernelFunc function_;
  const ropewayKernelShape shape_;
  const ArgumentBlock arguments_;
  uint64_t as_of_ = FreeClock::Now();
  int code_ = 0;
  char text_[160] = {};
};

}  // namespace

Result<ArgumentBlock> ArgumentBlock::Copy(const void* from, size_t size) {
  ArgumentBlock block;
  block.bytes.reset(new unsigned char[size]);
  block.size = size;
  if (size > 0) memcpy(block.bytes.get(), from, size);
  return block;
}

ArgumentBlock ArgumentBlock::Later(const void* device_address, size_t size) {
  ArgumentBlock block;
  block.size = size;
  block.later = device_address;
  return block;
}

Status ArgumentBlock::PutAddress(size_t at, size_t of) {
  if (at > size || size - at < sizeof(void*) || of >= size)
    return ropeway::Fail(ACL_ERROR_RT_PARAM_INVALID, "a placeholder's address at %zu and its data at %zu do not both fit into argsSize %zu",
                         at, of, size);
  const void* const address = bytes.get() + of;
  memcpy(bytes.get() + at, &address, sizeof(address));
  return Ok();
}

Result<ArgumentBlock> ReadArguments(const void* bytes, size_t size) {
  if (size > 0) RW_TRY(RequirePointer("argsData", bytes));
  Location location;
  if (size > 0) RW_TRY(LocateAnytime("argsData", bytes, size, &location));
  if (location.place != Place::kDevice) return ArgumentBlock::Copy(bytes, size);
  RW_TRY(TheMemory().RequireRoom("argsData", bytes, size, location));
  return ArgumentBlock::Later(bytes, size);
}

// The product of three sizes; nothing when one is 0 or the product has more than 32 bits.
std::optional<uint32_t> Product(const uint32_t (&sizes)[3]) {
  uint64_t product = 1;
  for (const uint32_t size : sizes) {
    product *= size;
    if (product == 0 || product > UINT32_MAX) return std::nullopt;
  }
  return static_cast<uint32_t>(product);
}

Status LaunchStandIn(const StandIn& kernel, const ropewayKernelShape& shape, ArgumentBlock arguments, aclrtStream stream) {
  const std::optional<uint32_t> blocks = Product(shape.grid);
  if (!blocks)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%u x %u x %u blocks cannot be launched; kernel %s needs at least one", shape.grid[0],
                shape.grid[1], shape.grid[2], kernel.name);
  if (!Product(shape.block))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "blocks of %u x %u x %u threads cannot be launched; kernel %s needs at least one thread",
                shape.block[0], shape.block[1], shape.block[2], kernel.name);
  RW_TRY_SET(StreamRef found, FindStream(stream));
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef on = OrDefault(found, *context);
  context->kernel_thread().Prepare();
  auto call = std::make_unique<Kernel>(kernel, shape, *blocks, context->device(), std::move(arguments));
  Task task = KernelTask(&context->kernel_thread(), call.get(), kernel.name);
  RW_TRY(Submit(on, *context, task));
  call.release();  // the task's, or its graph's
  return Ok();
}

}  // namespace ropeway::api

void* ropewayKernelView(const ropewayKernelLaunch* launch, const void* devPtr, size_t size) {
  if (launch == nullptr) return nullptr;
  const race_detector::OurCode ours;
  return Kernel::Of(launch).View(devPtr, size);
}

void* ropewayKernelWorkspace(const ropewayKernelLaunch* launch, uint64_t* size) {
  if (size != nullptr) *size = launch == nullptr ? 0 : Kernel::Of(launch).arguments().workspace_size;
  return launch == nullptr ? nullptr : Kernel::Of(launch).arguments().workspace;
}

void ropewayKernelGetShape(const ropewayKernelLaunch* launch, ropewayKernelShape* shape) {
  if (launch != nullptr && shape != nullptr) *shape = Kernel::Of(launch).shape();
}

void ropewayFailKernel(const ropewayKernelLaunch* launch, const char* text) {
  if (launch != nullptr) Kernel::Of(launch).Fail("%s", text != nullptr ? text : "the stand-in says that it failed");
}

aclError ropewayLaunchKernel(const char* name, uint32_t numBlocks, const void* args, size_t argsSize, void* stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("name", name));
    RW_TRY_SET(ArgumentBlock arguments, ReadArguments(args, argsSize));
    const StandIn kernel = StandIns::All().Find(name);
    if (!kernel) return UnknownKernel(name);
    return LaunchStandIn(kernel, ShapeOf(numBlocks), std::move(arguments), stream);
  });
}
