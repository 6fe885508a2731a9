// Carries a program out against the library. Each step becomes one action, with everything looked up before it begins: so it can be done
// on another thread, and an allocation that shall fail is one of the call and not of the test.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "tests/stress/program_model.h"
#include "tests/stress/random_program.h"
#include "tests/support/failing_memory.h"

namespace ropeway_test::programs {

class Runner {
 public:
  Runner() { EXPECT_EQ(aclrtGetCurrentContext(&contexts_[0]), ACL_SUCCESS); }
  ~Runner() {
    Join();
    EXPECT_EQ(aclrtSetCurrentContext(contexts_[0]), ACL_SUCCESS);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // What another thread does is answered by the kJoin behind it.
  Outcome Run(const Step& step) {
    if (step.op == Op::kJoin) return {Join(), {}};
    if (step.op == Op::kMakeContext) {
      current_ = step.context;
    } else if (std::exchange(current_, step.context) != step.context) {
      EXPECT_EQ(aclrtSetCurrentContext(contexts_[current_]), ACL_SUCCESS);
    }
    Outcome outcome;
    const Action action = ActionOf(step, &outcome.bytes);
    if (step.elsewhere) {
      Send(action, contexts_[step.context]);
    } else {
      outcome.code = step.failing > 0 ? WithFailure(action, step.failing) : action();
    }
    if (outcome.code != ACL_SUCCESS) outcome.bytes.clear();
    return outcome;
  }

 private:
  using Action = std::function<aclError()>;
  struct Errand {
    std::thread thread;
    std::unique_ptr<aclError> code;
  };
  struct Block {
    uint8_t* data = nullptr;
    bool on_host = false;
  };
  struct Xor {
    uint8_t* begin;
    size_t size;
    uint8_t value;
  };

  // Nothing has happened when memory ran out, so the call can be made again.
  static aclError WithFailure(const Action& action, int nth) {
    {
      failing_memory::FailNth failing(nth);
      const aclError code = action();
      if (code != ACL_ERROR_RT_MEMORY_ALLOCATION || !failing.failed()) return code;
    }
    return action();
  }

  void Send(const Action& action, aclrtContext context) {
    Errand& errand = errands_.emplace_back();
    errand.code = std::make_unique<aclError>(ACL_SUCCESS);
    errand.thread = std::thread([action, context, code = errand.code.get()] {
      *code = aclrtSetCurrentContext(context);
      if (*code == ACL_SUCCESS) *code = action();
    });
  }

  aclError Join() {
    aclError first = ACL_SUCCESS;
    for (Errand& errand : errands_) {
      errand.thread.join();
      if (first == ACL_SUCCESS) first = *errand.code;
    }
    errands_.clear();
    return first;
  }

  uint8_t* At(const Place& place) const { return blocks_.at(place.block).data + place.offset; }
  bool OnHost(const Place& place) const { return blocks_.at(place.block).on_host; }
  aclrtMemcpyKind KindOf(const Place& to, const Place& from) const {
    if (OnHost(to)) return ACL_MEMCPY_DEVICE_TO_HOST;
    return OnHost(from) ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE;
  }

  Action ActionOf(const Step& step, std::vector<uint8_t>* bytes) {
    if (step.op <= Op::kFree) return ObjectAction(step);
    if (step.op <= Op::kFail) return StreamAction(step, streams_.at(step.stream));
    if (step.op <= Op::kPointCells) return HostAction(step, bytes);
    if (step.op <= Op::kJoin) return OrderAction(step);
    return GraphAction(step);
  }

  Action ObjectAction(const Step& step) {
    switch (step.op) {
      case Op::kMakeContext: return [context = &contexts_[step.context]] { return aclrtCreateContext(context, 0); };
      case Op::kDestroyContext: return [context = contexts_.at(step.context)] { return aclrtDestroyContext(context); };
      case Op::kMakeStream: return [stream = &streams_[step.stream]] { return aclrtCreateStream(stream); };
      case Op::kDestroyStream: return [stream = streams_.at(step.stream)] { return aclrtDestroyStream(stream); };
      case Op::kMakeEvent: {
        aclrtEvent* event = &events_[step.object];
        if (step.kind == EventKind::kDefault) return [event] { return aclrtCreateEvent(event); };
        if (step.kind == EventKind::kClassic) return [event] { return aclrtCreateEventWithFlag(event, ACL_EVENT_SYNC); };
        return [event] { return aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC); };
      }
      case Op::kDestroyEvent: return [event = events_.at(step.object)] { return aclrtDestroyEvent(event); };
      case Op::kMakeNotify: return [notify = &notifies_[step.object]] { return aclrtCreateNotify(notify, 0); };
      case Op::kDestroyNotify: return [notify = notifies_.at(step.object)] { return aclrtDestroyNotify(notify); };
      case Op::kAllocate: {
        Block* block = &blocks_[step.object];
        block->on_host = step.on_host;
        return [block, size = step.size] {
          auto** data = reinterpret_cast<void**>(&block->data);
          return block->on_host ? aclrtMallocHost(data, size) : aclrtMalloc(data, size, ACL_MEM_MALLOC_NORMAL_ONLY);
        };
      }
      default:  // kFree
        return [block = blocks_.at(step.object)] { return block.on_host ? aclrtFreeHost(block.data) : aclrtFree(block.data); };
    }
  }

  Action StreamAction(const Step& step, aclrtStream stream) {
    if (step.op == Op::kCopyBatch) return BatchAction(step, stream);
    uint8_t* to = At(step.to);
    const uint8_t* from = step.from.block >= 0 ? At(step.from) : nullptr;
    void* through = step.through.block >= 0 ? At(step.through) : nullptr;
    const size_t size = step.size;
    const uint64_t value = step.value;
    constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    switch (step.op) {
      case Op::kCopy: {
        const aclrtMemcpyKind kind = step.named_kind ? KindOf(step.to, step.from) : ACL_MEMCPY_DEFAULT;
        return [=] { return aclrtMemcpyAsync(to, size, from, size, kind, stream); };
      }
      case Op::kCopyRows:
        return [=, kind = KindOf(step.to, step.from), to_pitch = step.to_pitch, from_pitch = step.from_pitch, rows = step.rows] {
          return aclrtMemcpy2dAsync(to, to_pitch, from, from_pitch, size, rows, kind, stream);
        };
      case Op::kCopyByDescriptor: return [=] { return aclrtMemcpyAsyncWithDesc(through, kInner, stream); };
      case Op::kCopyByCells:
        return [=, cells = static_cast<void**>(through), to_offset = step.to.offset, from_offset = step.from.offset] {
          return aclrtMemcpyAsyncWithOffset(cells, to_offset + size, to_offset, const_cast<const void**>(cells + 1), size, from_offset,
                                            kInner, stream);
        };
      case Op::kFill: return [=] { return aclrtMemsetAsync(to, size, static_cast<int32_t>(value), size, stream); };
      case Op::kAdd: return [=] { return aclrtReduceAsync(to, from, size, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr); };
      case Op::kStore: return [=] { return aclrtValueWrite(to, value, 0, stream); };
      case Op::kXor: {
        const auto run = [](void* argument) {
          const Xor& work = *static_cast<Xor*>(argument);
          for (size_t i = 0; i < work.size; ++i) work.begin[i] ^= work.value;
        };
        xors_.push_back(std::make_unique<Xor>(Xor{to, size, static_cast<uint8_t>(value)}));
        return [=, work = xors_.back().get()] { return aclrtLaunchHostFunc(stream, run, work); };
      }
      default: {  // kFail: pageable memory as a source that shall be of a device is noticed when the task runs
        static uint8_t pageable[64];
        return [=] { return aclrtMemcpyAsync(to, size, pageable, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream); };
      }
    }
  }

  Action BatchAction(const Step& step, aclrtStream stream) {
    std::vector<void*> to, from;
    std::vector<size_t> sizes;
    for (const Piece& piece : step.pieces) {
      to.push_back(At(piece.to));
      from.push_back(At(piece.from));
      sizes.push_back(piece.size);
    }
    const auto location = [this](const Place& place) {
      return aclrtMemLocation{0, OnHost(place) ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
    };
    aclrtMemcpyBatchAttr attribute = {};
    attribute.dstLoc = location(step.pieces[0].to);
    attribute.srcLoc = location(step.pieces[0].from);
    return [=]() mutable {
      size_t first = 0, failed = 0;
      return aclrtMemcpyBatchAsync(to.data(), sizes.data(), from.data(), sizes.data(), sizes.size(), &attribute, &first, 1, &failed,
                                   stream);
    };
  }

  Action HostAction(const Step& step, std::vector<uint8_t>* bytes) {
    const size_t size = step.size;
    const bool reads = step.op == Op::kRead || step.op == Op::kReadPageable;
    uint8_t* to = step.to.block >= 0 ? At(step.to) : nullptr;
    uint8_t* from = step.from.block >= 0 ? At(step.from) : nullptr;
    if (reads) {
      bytes->resize(size);
      to = bytes->data();
    }
    switch (step.op) {
      case Op::kDescribe:
        return [=, descriptor = At(step.through)] {
          return aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from, to, size, nullptr);
        };
      case Op::kPointCells: {
        const std::vector<void*> bases = {blocks_.at(step.to.block).data, blocks_.at(step.from.block).data};
        return [bases, cells = At(step.through)] {
          const size_t all = bases.size() * sizeof(void*);
          return aclrtMemcpy(cells, all, bases.data(), all, ACL_MEMCPY_HOST_TO_DEVICE);
        };
      }
      case Op::kRead:
      case Op::kWrite: {
        const std::vector<uint8_t> pattern = reads ? std::vector<uint8_t>() : BytesOf(step);
        const bool on_host = OnHost(reads ? step.from : step.to);
        return [=] {
          const uint8_t* source = reads ? from : pattern.data();
          if (!on_host) return aclrtMemcpy(to, size, source, size, reads ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE);
          std::copy_n(source, size, to);
          return ACL_SUCCESS;
        };
      }
      default: {  // kWritePageable, kReadPageable
        const std::vector<uint8_t> pattern = reads ? std::vector<uint8_t>() : BytesOf(step);
        return [=, stream = streams_.at(step.stream)] {
          return aclrtMemcpyAsync(to, size, reads ? from : pattern.data(), size,
                                  reads ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE, stream);
        };
      }
    }
  }

  Action OrderAction(const Step& step) {
    aclrtStream stream = step.stream >= 0 ? streams_.at(step.stream) : nullptr;
    switch (step.op) {
      case Op::kRecord: return [=, event = events_.at(step.object)] { return aclrtRecordEvent(event, stream); };
      case Op::kAwait: return [=, event = events_.at(step.object)] { return aclrtStreamWaitEvent(stream, event); };
      case Op::kRecordNotify: return [=, notify = notifies_.at(step.object)] { return aclrtRecordNotify(notify, stream); };
      case Op::kAwaitNotify: return [=, notify = notifies_.at(step.object)] { return aclrtWaitAndResetNotify(notify, stream, 0); };
      case Op::kAwaitValue:
        return [=, at = At(step.from), value = step.value] { return aclrtValueWait(at, value, ACL_STREAM_WAIT_VALUE_GEQ, stream); };
      case Op::kSynchronizeStream: return [=] { return aclrtSynchronizeStream(stream); };
      case Op::kSynchronizeEvent: return [event = events_.at(step.object)] { return aclrtSynchronizeEvent(event); };
      case Op::kSynchronizeDevice: return [] { return aclrtSynchronizeDevice(); };
      default:  // kQuery
        return [=] {
          auto status = ACL_STREAM_STATUS_RESERVED;
          return aclrtStreamQuery(stream, &status);
        };
    }
  }

  Action GraphAction(const Step& step) {
    aclrtStream stream = step.stream >= 0 ? streams_.at(step.stream) : nullptr;
    switch (step.op) {
      case Op::kBeginCapture: return [=] { return aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED); };
      case Op::kEndCapture: return [=, graph = &graphs_[step.object]] { return aclmdlRICaptureEnd(stream, graph); };
      case Op::kExecute: return [=, graph = graphs_.at(step.object)] { return aclmdlRIExecuteAsync(graph, stream); };
      default:  // kDestroyGraph
        return [graph = graphs_.at(step.object)] { return aclmdlRIDestroy(graph); };
    }
  }

  int current_ = 0;
  std::map<int, aclrtContext> contexts_;
  std::map<int, aclrtStream> streams_;
  std::map<int, aclrtEvent> events_;
  std::map<int, aclrtNotify> notifies_;
  std::map<int, aclmdlRI> graphs_;
  std::map<int, Block> blocks_;
  std::vector<std::unique_ptr<Xor>> xors_;  // graphs name theirs until the end
  std::vector<Errand> errands_;
};

}  // namespace ropeway_test::programs
