// What a race-free program has to do, told by the plainest means: every step is carried out when it is submitted, on bytes of the host.
// That is one of the orders in which its streams may run, and a program without races has the same outcome in all of them.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "acl/acl.h"
#include "tests/stress/random_program.h"
#include "tests/support/acl_test.h"

namespace ropeway_test::programs {

struct Outcome {
  aclError code = ACL_SUCCESS;
  std::vector<uint8_t> bytes;  // that the step reads back
};

// What a step writes: zeros for the value 0.
inline std::vector<uint8_t> BytesOf(const Step& step) {
  return step.value == 0 ? std::vector<uint8_t>(step.size, 0) : Pattern(step.size, static_cast<uint32_t>(step.value));
}

class Model {
 public:
  Outcome Run(const Step& step) {
    switch (step.op) {
      case Op::kAllocate: blocks_[step.object].assign(step.size, 0); return {};
      case Op::kFree: {
        const bool there = blocks_.erase(step.object) > 0;
        return {there ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID, {}};
      }
      case Op::kMakeStream: streams_[step.stream] = {step.context, 0, false}; return {};
      case Op::kDestroyStream: return {streams_.erase(step.stream) > 0 ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_HANDLE, {}};
      case Op::kDestroyContext:
        std::erase_if(streams_, [&](const auto& stream) { return stream.second.context == step.context; });
        return {};
      case Op::kBeginCapture:
        open_graph_ = step.object;
        graphs_[open_graph_].clear();
        return {};
      case Op::kEndCapture: open_graph_ = -1; return {};
      case Op::kExecute:
        for (const Step& task : graphs_[step.object]) Apply(task, streams_[step.stream]);
        return {};
      case Op::kSynchronizeStream: return {open_graph_ >= 0 ? ACL_ERROR_RT_STREAM_CAPTURED : TakeError(streams_[step.stream]), {}};
      case Op::kSynchronizeDevice: {
        aclError first = ACL_SUCCESS;
        for (auto& [number, stream] : streams_) {
          const aclError code = stream.context == step.context ? TakeError(stream) : ACL_SUCCESS;
          if (first == ACL_SUCCESS) first = code;
        }
        return {first, {}};
      }
      case Op::kRead: return {ACL_SUCCESS, Bytes(step.from, step.size)};
      case Op::kWrite: Fill(step.to, BytesOf(step)); return {};
      // The stream is drained first; what it has to tell comes out here, and then nothing is copied.
      case Op::kWritePageable:
      case Op::kReadPageable: {
        const aclError code = TakeError(streams_[step.stream]);
        if (code != ACL_SUCCESS) return {code, {}};
        if (step.op == Op::kReadPageable) return {ACL_SUCCESS, Bytes(step.from, step.size)};
        Fill(step.to, BytesOf(step));
        return {};
      }
      default: return Submit(step);
    }
  }

 private:
  struct Stream {
    int context;
    aclError error;  // not handed out yet
    bool gone;
  };

  static aclError TakeError(Stream& stream) { return std::exchange(stream.error, ACL_SUCCESS); }

  static bool MovesBytes(Op op) { return op >= Op::kCopy && op <= Op::kFail; }

  Outcome Submit(const Step& step) {
    if (!MovesBytes(step.op)) return {};
    const auto stream = streams_.find(step.stream);
    if (stream == streams_.end()) return {ACL_ERROR_RT_INVALID_HANDLE, {}};
    if (open_graph_ >= 0) {
      graphs_[open_graph_].push_back(step);
    } else {
      Apply(step, stream->second);
    }
    return {};
  }

  void Apply(const Step& step, Stream& stream) {
    switch (step.op) {
      case Op::kCopy:
      case Op::kCopyByDescriptor:
      case Op::kCopyByCells: return Fill(step.to, Bytes(step.from, step.size));
      case Op::kCopyRows:
        for (size_t row = 0; row < step.rows; ++row)
          Fill({step.to.block, step.to.offset + row * step.to_pitch},
               Bytes({step.from.block, step.from.offset + row * step.from_pitch}, step.size));
        return;
      case Op::kCopyBatch:
        for (const Piece& piece : step.pieces) Fill(piece.to, Bytes(piece.from, piece.size));
        return;
      case Op::kFill: return Fill(step.to, std::vector<uint8_t>(step.size, static_cast<uint8_t>(step.value)));
      case Op::kAdd: {
        std::vector<uint8_t> sum = Bytes(step.to, step.size);
        const std::vector<uint8_t> more = Bytes(step.from, step.size);
        for (size_t at = 0; at < step.size; at += sizeof(uint32_t)) {
          uint32_t a, b;
          std::memcpy(&a, sum.data() + at, sizeof(a));
          std::memcpy(&b, more.data() + at, sizeof(b));
          a += b;
          std::memcpy(sum.data() + at, &a, sizeof(a));
        }
        return Fill(step.to, sum);
      }
      case Op::kStore: {
        std::vector<uint8_t> word(sizeof(uint64_t));
        std::memcpy(word.data(), &step.value, word.size());
        return Fill(step.to, word);
      }
      case Op::kXor: {
        std::vector<uint8_t> bytes = Bytes(step.to, step.size);
        for (uint8_t& byte : bytes) byte ^= static_cast<uint8_t>(step.value);
        return Fill(step.to, bytes);
      }
      default:  // kFail
        if (stream.error == ACL_SUCCESS) stream.error = ACL_ERROR_RT_SYS_DMA;
    }
  }

  // A block that was freed behind the submission of what uses it has no bytes left that anybody could read.
  std::vector<uint8_t> Bytes(const Place& place, size_t size) {
    const auto begin = blocks_.at(place.block).begin() + static_cast<std::ptrdiff_t>(place.offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  }
  void Fill(const Place& place, const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), blocks_.at(place.block).begin() + static_cast<std::ptrdiff_t>(place.offset));
  }

  std::map<int, std::vector<uint8_t>> blocks_;
  std::map<int, Stream> streams_;
  std::map<int, std::vector<Step>> graphs_;
  int open_graph_ = -1;
};

}  // namespace ropeway_test::programs
