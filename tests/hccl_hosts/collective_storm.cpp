// collective_storm RANK SIZE FOLDER SEED [CALLS]: collectives by chance between hosts. Elements are small whole numbers in every type, so
// that each sum, product, greatest and least is exact, and what has to come out does not depend on any order. Half of the calls are
// captured and replayed.
#include <algorithm>
#include <random>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kMostElements = 300'000;
// In one message, on both sides of its limit, of many pieces, odd.
constexpr size_t kCounts[] = {1, 100, 4096, 16'385, 70'001, kMostElements};
constexpr HcclDataType kTypes[] = {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_INT64};
constexpr size_t kBytes[] = {1, 4, 4, 8};

struct Call {
  uint32_t kind;
  uint32_t type;
  HcclReduceOp op;
  size_t count;
  uint32_t root;
  uint32_t fill;
  bool in_place;
  bool captured;
};

// Of rank `rank`, element `i`.
int Value(const Call& call, uint32_t rank, size_t i) { return static_cast<int>((i * 7 + call.fill + rank * 3) % 3) - 1; }

int Combined(const Call& call, size_t i, uint32_t ranks) {
  int result = Value(call, 0, i);
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    const int value = Value(call, rank, i);
    if (call.op == HCCL_REDUCE_SUM) result += value;
    if (call.op == HCCL_REDUCE_PROD) result *= value;
    if (call.op == HCCL_REDUCE_MAX) result = std::max(result, value);
    if (call.op == HCCL_REDUCE_MIN) result = std::min(result, value);
  }
  return result;
}

template <typename T>
void PutAs(char* at, int value) {
  const T typed = static_cast<T>(value);
  memcpy(at, &typed, sizeof typed);
}
void Put(uint32_t type, char* at, int value) {
  if (type == 0) PutAs<int8_t>(at, value);
  if (type == 1) PutAs<int32_t>(at, value);
  if (type == 2) PutAs<float>(at, value);
  if (type == 3) PutAs<int64_t>(at, value);
}

struct Storm {
  Rank& self;
  char* in;
  char* out;

  // Those that keep their input are replayed twice.
  template <typename Calls>
  void Make(const Call& call, bool keeps_input, const Calls& calls) const {
    if (!call.captured) return calls();
    aclmdlRI graph = nullptr;
    RW_MUST(aclmdlRICaptureBegin(self.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    calls();
    RW_MUST(aclmdlRICaptureEnd(self.stream, &graph));
    for (int replay = keeps_input ? 0 : 1; replay < 2; ++replay) RW_MUST(aclmdlRIExecuteAsync(graph, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
    RW_MUST(aclmdlRIDestroy(graph));
  }
  // `of(i)` for every element.
  template <typename Of>
  std::vector<char> Elements(uint32_t type, size_t count, const Of& of) const {
    std::vector<char> bytes(count * kBytes[type]);
    for (size_t i = 0; i < count; ++i) Put(type, bytes.data() + i * kBytes[type], of(i));
    return bytes;
  }
  void Load(const std::vector<char>& bytes) const {
    RW_MUST(aclrtMemcpy(in, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void Expect(const char* at, const std::vector<char>& expected) const {
    std::vector<char> got(expected.size());
    RW_MUST(aclrtSynchronizeStream(self.stream));
    RW_MUST(aclrtMemcpy(got.data(), got.size(), at, got.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    RW_EXPECT(got == expected);
  }

  void Reduces(const Call& call) const {
    const HcclDataType type = kTypes[call.type];
    const size_t n = call.count, blocks = call.kind == 2 ? self.size : 1;
    Load(Elements(call.type, n * blocks, [&](size_t i) { return Value(call, self.rank, i); }));
    char* const to = call.in_place && call.kind != 2 ? in : out;
    Make(call, !call.in_place, [&] {
      if (call.kind == 0) RW_MUST(HcclAllReduce(in, to, n, type, call.op, self.comm, self.stream));
      if (call.kind == 1) RW_MUST(HcclReduce(in, to, n, type, call.op, call.root, self.comm, self.stream));
      if (call.kind == 2) RW_MUST(HcclReduceScatter(in, to, n, type, call.op, self.comm, self.stream));
    });
    const size_t first = call.kind == 2 ? self.rank * n : 0;
    if (call.kind != 1 || call.root == self.rank)
      Expect(to, Elements(call.type, n, [&](size_t i) { return Combined(call, first + i, self.size); }));
    else
      RW_MUST(aclrtSynchronizeStream(self.stream));
  }
  void Moves(const Call& call) const {
    const HcclDataType type = kTypes[call.type];
    const size_t n = call.count;
    Load(Elements(call.type, n * self.size, [&](size_t i) { return Value(call, self.rank, i); }));
    if (call.kind == 3) {
      Make(call, true, [&] { RW_MUST(HcclAllGather(in, out, n, type, self.comm, self.stream)); });
      Expect(out, Elements(call.type, n * self.size, [&](size_t i) { return Value(call, static_cast<uint32_t>(i / n), i % n); }));
    } else if (call.kind == 4) {
      Make(call, true, [&] { RW_MUST(HcclBroadcast(in, n, type, call.root, self.comm, self.stream)); });
      Expect(in, Elements(call.type, n, [&](size_t i) { return Value(call, call.root, i); }));
    } else if (call.kind == 5) {
      Make(call, true, [&] { RW_MUST(HcclScatter(in, out, n, type, call.root, self.comm, self.stream)); });
      Expect(out, Elements(call.type, n, [&](size_t i) { return Value(call, call.root, self.rank * n + i); }));
    } else {
      Make(call, true, [&] { RW_MUST(HcclAlltoAll(in, n, type, out, n, type, self.comm, self.stream)); });
      Expect(out, Elements(call.type, n * self.size,
                           [&](size_t i) { return Value(call, static_cast<uint32_t>(i / n), self.rank * n + i % n); }));
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), static_cast<uint32_t>(atoi(argv[2])), folder);
  std::mt19937 random(static_cast<uint32_t>(atoi(argv[4])));
  const auto device = [&] { return static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kMostElements * 8 * self.size)); };
  const Storm storm{self, device(), device()};
  const int calls = argc == 6 ? atoi(argv[5]) : 60;
  for (int i = 0; i < calls; ++i) {
    const auto pick = [&](size_t below) { return static_cast<uint32_t>(random() % below); };
    const Call call{
        pick(7),      pick(4),     static_cast<HcclReduceOp>(pick(4)), kCounts[pick(std::size(kCounts))], pick(self.size), pick(1000),
        pick(2) == 0, pick(2) == 0};
    call.kind <= 2 ? storm.Reduces(call) : storm.Moves(call);
  }
  self.LeaveInPeace();
  printf("rank %u: every element as it should be\n", self.rank);
}
