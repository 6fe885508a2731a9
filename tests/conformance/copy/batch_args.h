// What the tests of batch copies share: the arrays of one batch as an object that a test fills and breaks, the four
// functions behind one call, and memory of every kind with a plain copy of what it must hold.
#pragma once

#include <algorithm>

#include "tests/conformance/copy/places.h"

namespace ropeway_test::bytes {

constexpr size_t kNoItem = SIZE_MAX;

inline aclrtMemLocation HostLocation(uint32_t id = 0) { return {id, ACL_MEM_LOCATION_TYPE_HOST}; }
inline aclrtMemLocation DeviceLocation(uint32_t id = 0) { return {id, ACL_MEM_LOCATION_TYPE_DEVICE}; }

// The arrays of one call. Everything is open, so that a test can break it; `count` and `num_attrs` are what the call is
// told, whatever the arrays hold.
struct Batch {
  enum Array : unsigned { kDsts = 1, kDestMaxs = 2, kSrcs = 4, kSizes = 8, kAttrs = 16, kIndexes = 32 };

  // The items added from now on lie there, says the caller.
  Batch& Declare(aclrtMemLocation dst, aclrtMemLocation src) {
    aclrtMemcpyBatchAttr attr = {};
    attr.dstLoc = dst;
    attr.srcLoc = src;
    attrs.push_back(attr);
    indexes.push_back(dsts.size());
    num_attrs = attrs.size();
    return *this;
  }
  Batch& Add(void* dst, const void* src, size_t size) {
    dsts.push_back(dst);
    dest_maxs.push_back(size);
    srcs.push_back(const_cast<void*>(src));
    sizes.push_back(size);
    count = dsts.size();
    return *this;
  }

  // The array as it goes into the call: NULL when the test has named it in `missing`.
  template <typename T>
  T* Pass(const std::vector<T>& array, Array which) const {
    return (missing & which) != 0 ? nullptr : const_cast<T*>(array.data());
  }

  std::vector<void*> dsts;
  std::vector<size_t> dest_maxs;
  std::vector<void*> srcs;
  std::vector<size_t> sizes;
  std::vector<aclrtMemcpyBatchAttr> attrs;
  std::vector<size_t> indexes;
  size_t count = 0;
  size_t num_attrs = 0;
  unsigned missing = 0;
};

inline Batch BatchToDevice() { return Batch().Declare(DeviceLocation(), HostLocation()); }
inline Batch BatchToHost() { return Batch().Declare(HostLocation(), DeviceLocation()); }

// One of the four functions.
struct BatchForm {
  const char* name;
  bool async;
  bool has_index;

  // `stream` is for the async functions, `fail_index` for those that have it.
  aclError Call(const Batch& b, aclrtStream stream, size_t* fail_index) const {
    void** dsts = b.Pass(b.dsts, Batch::kDsts);
    size_t* maxs = b.Pass(b.dest_maxs, Batch::kDestMaxs);
    void** srcs = b.Pass(b.srcs, Batch::kSrcs);
    size_t* sizes = b.Pass(b.sizes, Batch::kSizes);
    aclrtMemcpyBatchAttr* attrs = b.Pass(b.attrs, Batch::kAttrs);
    size_t* firsts = b.Pass(b.indexes, Batch::kIndexes);
    const size_t n = b.num_attrs;
    if (async && has_index) return aclrtMemcpyBatchAsync(dsts, maxs, srcs, sizes, b.count, attrs, firsts, n, fail_index, stream);
    if (async) return aclrtMemcpyBatchAsyncV2(dsts, maxs, srcs, sizes, b.count, attrs, firsts, n, stream);
    if (has_index) return aclrtMemcpyBatch(dsts, maxs, srcs, sizes, b.count, attrs, firsts, n, fail_index);
    return aclrtMemcpyBatchV2(dsts, maxs, srcs, sizes, b.count, attrs, firsts, n);
  }
};

constexpr BatchForm kBatchAsync = {"aclrtMemcpyBatchAsync", true, true};
constexpr BatchForm kBatchAsyncV2 = {"aclrtMemcpyBatchAsyncV2", true, false};
constexpr BatchForm kBatch = {"aclrtMemcpyBatch", false, true};
constexpr BatchForm kBatchV2 = {"aclrtMemcpyBatchV2", false, false};

inline std::string FormName(const ::testing::TestParamInfo<BatchForm>& tested) { return tested.param.name; }

// gtest prints the parameter of a failed test.
inline void PrintTo(const BatchForm& form, std::ostream* out) { *out << form.name; }

// Makes the call and expects `code`, the failing item (or kNoItem), and what the error model demands.
inline void ExpectBatch(const BatchForm& form, const Batch& batch, aclrtStream stream, aclError code, size_t item) {
  constexpr size_t kStale = 777777;
  size_t fail_index = kStale;
  const Outcome outcome = Observe([&] { return form.Call(batch, stream, &fail_index); });
  EXPECT_EQ(outcome.code, code) << outcome.text;
  ExpectReported(outcome, form.name);
  EXPECT_EQ(fail_index, form.has_index ? item : kStale);
}

// A test that runs with some or all of the four functions.
class BatchTest : public StreamTest, public ::testing::WithParamInterface<BatchForm> {
 protected:
  bool Async() const { return GetParam().async; }
  void Expect(aclError code, size_t item, const Batch& batch) { ExpectBatch(GetParam(), batch, stream_, code, item); }
  void ExpectSuccess(const Batch& batch) { Expect(ACL_SUCCESS, kNoItem, batch); }
  aclError Submit(const Batch& batch) {
    size_t fail_index = 0;
    return GetParam().Call(batch, stream_, &fail_index);
  }
  void Finish() { ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
};

constexpr Place kEveryPlace[] = {kDevice, kPinned, kRegistered, kPageable};
constexpr Place kEveryHostPlace[] = {kPinned, kRegistered, kPageable};

// A block of each kind, filled with bytes that differ everywhere, and beside each the bytes that it must hold: Apply
// carries out items there, and ExpectAsApplied compares every byte, so that one too many is seen like one too few.
class Places {
 public:
  explicit Places(size_t size) : size_(size), device_(size), pinned_(size), registered_(size), pageable_(size) {
    EXPECT_EQ(aclrtHostRegisterV2(registered_.data(), size, ACL_HOST_REG_PINNED), ACL_SUCCESS);
    base_[kDevice] = static_cast<char*>(device_.get());
    base_[kPinned] = reinterpret_cast<char*>(pinned_.get());
    base_[kRegistered] = reinterpret_cast<char*>(registered_.data());
    base_[kPageable] = reinterpret_cast<char*>(pageable_.data());
    Refill(1);
  }
  ~Places() { EXPECT_EQ(aclrtHostUnregister(registered_.data()), ACL_SUCCESS); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  void* at(Place place, size_t offset) const { return base_[place] + offset; }

  void Refill(uint32_t seed) {
    for (Place place : kEveryPlace) {
      model_[place] = Pattern(size_, seed * 4 + static_cast<uint32_t>(place));
      EXPECT_EQ(aclrtMemcpy(base_[place], size_, model_[place].data(), size_, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    }
  }

  // Items first .. last-1, in their order.
  void Apply(const Batch& batch, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) std::memmove(Model(batch.dsts[i]), Model(batch.srcs[i]), batch.sizes[i]);
  }
  void Apply(const Batch& batch) { Apply(batch, 0, batch.count); }

  std::vector<uint8_t> Read(Place place) const {
    std::vector<uint8_t> bytes(size_);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), size_, base_[place], size_, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    return bytes;
  }
  std::vector<uint8_t> Expected(Place place, size_t count) const { return BytesAt(model_[place].data(), count); }

  // EXPECT_EQ on the vectors would print all of them.
  void ExpectAsApplied(Place place) const {
    const auto bytes = Read(place);
    const auto wrong = std::mismatch(bytes.begin(), bytes.end(), model_[place].begin());
    EXPECT_TRUE(wrong.first == bytes.end()) << kPlaceNames[place] << " memory, byte " << wrong.first - bytes.begin();
  }
  void ExpectAsApplied() const {
    for (Place place : kEveryPlace) ExpectAsApplied(place);
  }

 private:
  uint8_t* Model(const void* address) {
    for (Place place : kEveryPlace) {
      const auto offset = static_cast<size_t>(static_cast<const char*>(address) - base_[place]);
      if (offset < size_) return model_[place].data() + offset;
    }
    ADD_FAILURE() << "an item of the test lies in none of the places";
    return model_[kPageable].data();
  }

  size_t size_;
  DeviceBuffer device_;
  PinnedBuffer pinned_;
  std::vector<uint8_t> registered_;
  std::vector<uint8_t> pageable_;
  char* base_[4];
  std::vector<uint8_t> model_[4];
};

// `count` items of 64 bytes between `host` and the device, with 16 bytes between one item and the next.
constexpr size_t kItem = 64;
constexpr size_t kStride = 80;

inline Batch ToDeviceFrom(const Places& places, Place host, size_t count) {
  Batch batch = BatchToDevice();
  for (size_t i = 0; i < count; ++i) batch.Add(places.at(kDevice, i * kStride), places.at(host, i * kStride), kItem);
  return batch;
}
inline Batch ToHostOf(const Places& places, Place host, size_t count) {
  Batch batch = BatchToHost();
  for (size_t i = 0; i < count; ++i) batch.Add(places.at(host, i * kStride), places.at(kDevice, i * kStride), kItem);
  return batch;
}

// The ways in which one item of a batch to the device can be wrong, whatever the function: 107000, and failIndex names
// it.
struct ItemFault {
  const char* what;
  Callable<void(Batch&, size_t)> apply;
};
inline std::vector<ItemFault> ItemFaults(const Places& places) {
  return {{"src NULL", [](Batch& b, size_t i) { b.srcs[i] = nullptr; }},
          {"dst NULL", [](Batch& b, size_t i) { b.dsts[i] = nullptr; }},
          {"dst on the host", [&](Batch& b, size_t i) { b.dsts[i] = places.at(kPageable, 0); }},
          {"src on the device", [&](Batch& b, size_t i) { b.srcs[i] = places.at(kDevice, 0); }},
          {"past the block", [](Batch& b, size_t i) { b.sizes[i] = b.dest_maxs[i] = 64 * kMiB; }}};
}

// One call in a table of checks. `item` is what failIndex has to say; every line sets it, and the earliest line, which
// ExpectCheckOrder applies last, has the last word.
struct BatchCall : CallArgs {
  Batch batch;
  aclrtStream stream = nullptr;
  bool null_index = false;
  size_t item = kNoItem;
};

// A line of the table of rules/batches.md 2: what the call answers once `change` is done to valid arguments.
template <typename Change>
Check<BatchCall> Line(const char* what, aclError code, size_t item, Change change) {
  return {what, code, [=](BatchCall& call) {
            change(call);
            call.item = item;
          }};
}

// Lines 1 to 7, which all four functions share; they are written for a batch whose second item has `kItem` bytes.
inline std::vector<Check<BatchCall>> OuterBatchLines(const BatchForm& form) {
  constexpr aclError kRefused = ACL_ERROR_INVALID_PARAM;
  auto missing = [](const char* what, Batch::Array array) {
    return Line(what, kRefused, kNoItem, [=](BatchCall& c) { c.batch.missing |= array; });
  };
  std::vector<Check<BatchCall>> lines = {
      Line("failIndex NULL", kRefused, kNoItem, [](BatchCall& c) { c.null_index = true; }),
      missing("sizes NULL", Batch::kSizes),
      Line("numBatches 0", kRefused, kNoItem, [](BatchCall& c) { c.batch.count = 0; }),
      Line("every size 0", ACL_SUCCESS, kNoItem, [](BatchCall& c) { std::fill(c.batch.sizes.begin(), c.batch.sizes.end(), size_t{0}); }),
      missing("dsts NULL", Batch::kDsts),
      missing("destMaxs NULL", Batch::kDestMaxs),
      missing("srcs NULL", Batch::kSrcs),
      missing("attrs NULL", Batch::kAttrs),
      missing("attrsIndexes NULL", Batch::kIndexes),
      Line("size above destMax", kRefused, kNoItem, [](BatchCall& c) { c.batch.dest_maxs[1] = kItem - 1; }),
      Line("reserved byte", kRefused, kNoItem, [](BatchCall& c) { c.batch.attrs[0].rsv[15] = 1; }),
  };
  if (!form.has_index) lines.erase(lines.begin());
  return lines;
}

// Walks the table with ExpectCheckOrder, and compares failIndex as well.
inline void ExpectBatchCheckOrder(const BatchForm& form, const BatchCall& valid, const std::vector<Check<BatchCall>>& lines,
                                  const Callable<void()>& expect_untouched) {
  auto call = [&](const BatchCall& c) {
    size_t fail_index = 777777;
    const aclError code = form.Call(c.batch, c.stream, c.null_index ? nullptr : &fail_index);
    if (form.has_index && !c.null_index) EXPECT_EQ(fail_index, c.item);
    return code;
  };
  ExpectCheckOrder(form.name, valid, lines, call, expect_untouched);
}

}  // namespace ropeway_test::bytes
