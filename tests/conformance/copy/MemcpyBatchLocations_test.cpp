// Where the items of a batch lie (rules/batches.md 2, steps 15 and 16): what the caller declares against what is true, the two ids,
// which attribute governs which items, and the one direction of a batch.
#include "tests/conformance/copy/batch_args.h"

namespace ropeway_test::bytes {
namespace memcpy_batch_locations_test {

using MemcpyBatchLocations = BatchTest;

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchLocations, ::testing::Values(kBatchAsync, kBatchAsyncV2, kBatch, kBatchV2), FormName);

constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID;
constexpr size_t kHalf = 512;

// Declarations by their number: those of the API, and one that it does not have.
struct Declared {
  const char* name;
  int type;
};
constexpr Declared kDeclarations[] = {{"HOST", 0}, {"DEVICE", 1}, {"UNREGISTERED", 2}, {"MANAGED", 3}, {"HOST_NUMA", 4}, {"5", 5}};

aclrtMemLocation Location(int type, uint32_t id = 0) { return {id, static_cast<aclrtMemLocationType>(type)}; }

// Host memory of every kind is HOST or HOST_NUMA; nothing is ever UNREGISTERED.
bool Agrees(Place place, int declared) {
  return place == kDevice ? declared == ACL_MEM_LOCATION_TYPE_DEVICE
                          : declared == ACL_MEM_LOCATION_TYPE_HOST || declared == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}

class MemcpyBatchLocationTable : public MemcpyBatchLocations {
 protected:
  // A good item, then one between these two places with this declaration.
  void ExpectPair(Places& places, Place dst, int dst_type, Place src, int src_type) {
    Batch batch = dst == kDevice ? ToDeviceFrom(places, kPinned, 1) : ToHostOf(places, kPinned, 1);
    batch.Declare(Location(dst_type), Location(src_type));
    batch.Add(places.at(dst, 100), places.at(src, kHalf), kItem);
    const bool good = Agrees(dst, dst_type) && Agrees(src, src_type) && (dst == kDevice) != (src == kDevice);
    Expect(good ? ACL_SUCCESS : kRefused, good ? kNoItem : 1, batch);
    Finish();
    places.Apply(batch, 0, good ? 2 : Async() ? 1 : 0);
    places.ExpectAsApplied(dst);
    places.ExpectAsApplied(dst == kDevice ? kDevice : kPinned);
  }
};

INSTANTIATE_TEST_SUITE_P(Batch, MemcpyBatchLocationTable, ::testing::Values(kBatchAsync, kBatch), FormName);

TEST_P(MemcpyBatchLocationTable, DeclaredAndRealLocationHaveToAgreeOnBothSides) {
  Places places(1024);
  for (Place dst : kEveryPlace) {
    for (Place src : kEveryPlace) {
      for (const Declared& dst_type : kDeclarations) {
        for (const Declared& src_type : kDeclarations) {
          SCOPED_TRACE(std::string(kPlaceNames[src]) + " as " + src_type.name + " to " + kPlaceNames[dst] + " as " + dst_type.name);
          places.Refill(static_cast<uint32_t>(dst_type.type * 8 + src_type.type));
          ExpectPair(places, dst, dst_type.type, src, src_type.type);
        }
      }
    }
  }
}

TEST_P(MemcpyBatchLocations, IdOfAHostLocationIsIgnored) {
  Places places(1024);
  for (int type : {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_HOST_NUMA}) {
    for (uint32_t id : {0u, 1u, 7u, 1000u, UINT32_MAX}) {
      for (Place host : kEveryHostPlace) {
        SCOPED_TRACE(std::string(kPlaceNames[host]) + " with id " + std::to_string(id));
        Batch to_device = ToDeviceFrom(places, host, 2);
        to_device.attrs[0].srcLoc = Location(type, id);
        ExpectSuccess(to_device);
        Batch to_host = ToHostOf(places, host, 2);
        to_host.attrs[0].dstLoc = Location(type, id);
        ExpectSuccess(to_host);
      }
    }
  }
  Finish();
}

TEST_P(MemcpyBatchLocations, IdOfADeviceLocationIsTheDeviceOfTheMemory) {
  Places places(1024);
  for (uint32_t id : {1u, 7u, 99u, UINT32_MAX}) {
    SCOPED_TRACE(id);
    Batch to_device = ToDeviceFrom(places, kPinned, 2);
    to_device.attrs[0].dstLoc.id = id;
    Expect(kRefused, 0, to_device);
    Batch to_host = ToHostOf(places, kPinned, 2);
    to_host.attrs[0].srcLoc.id = id;
    Expect(kRefused, 0, to_host);
  }
  Finish();
  places.ExpectAsApplied();
}

TEST_P(MemcpyBatchLocations, MemoryRegisteredInAnyWayIsHost) {
  Places places(1024);
  for (uint32_t flag : {uint32_t{ACL_HOST_REG_PINNED}, uint32_t{ACL_HOST_REG_MAPPED}}) {
    std::vector<uint8_t> host = Pattern(4096, flag);
    ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), flag), ACL_SUCCESS);
    ExpectSuccess(BatchToDevice().Add(places.at(kDevice, 0), host.data(), 256).Add(places.at(kDevice, 500), &host[7], 9));
    Finish();
    const auto seen = places.Read(kDevice);
    EXPECT_EQ(BytesAt(seen.data(), 256), BytesAt(host.data(), 256));
    EXPECT_EQ(BytesAt(&seen[500], 9), BytesAt(&host[7], 9));
    ASSERT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  }
}

TEST_P(MemcpyBatchLocations, DeviceAliasOfRegisteredMemoryIsNoPlaceToCopyFrom) {
  Places places(1024);
  std::vector<uint8_t> host(4096);
  void* alias = nullptr;
  ASSERT_EQ(aclrtHostRegister(host.data(), host.size(), ACL_HOST_REGISTER_MAPPED, &alias), ACL_SUCCESS);
  for (int type : {ACL_MEM_LOCATION_TYPE_HOST, ACL_MEM_LOCATION_TYPE_DEVICE}) {
    Batch to_device = ToDeviceFrom(places, kPinned, 1);
    to_device.Declare(DeviceLocation(), Location(type)).Add(places.at(kDevice, kHalf), alias, kItem);
    Expect(kRefused, 1, to_device);
    Batch to_host = ToHostOf(places, kPinned, 1);
    to_host.Declare(HostLocation(), Location(type)).Add(places.at(kPinned, kHalf), alias, kItem);
    Expect(kRefused, 1, to_host);
  }
  Finish();
  ASSERT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
}

// rules/batches.md 1: attrs[k] governs from attrsIndexes[k] to the item before attrsIndexes[k + 1]. A wrong attribute shows where its
// items begin, by failIndex; those in front of them show where they end.
TEST_P(MemcpyBatchLocations, EachAttributeGovernsItsItems) {
  constexpr size_t kCount = 10;
  Places places(1024);
  const std::vector<std::vector<size_t>> lists = {{0}, {0, 6}, {0, 1}, {0, 9}, {0, 3, 7, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  for (const auto& indexes : lists) {
    for (size_t wrong = 0; wrong < indexes.size(); ++wrong) {
      SCOPED_TRACE("attribute " + std::to_string(wrong) + " of " + std::to_string(indexes.size()));
      Batch batch = ToDeviceFrom(places, kPinned, kCount);
      batch.attrs.resize(indexes.size(), batch.attrs[0]);
      batch.indexes = indexes;
      batch.num_attrs = indexes.size();
      batch.attrs[wrong].dstLoc.id = 99;
      places.Refill(static_cast<uint32_t>(wrong));
      Expect(kRefused, indexes[wrong], batch);
      Finish();
      if (Async()) places.Apply(batch, 0, indexes[wrong]);
      places.ExpectAsApplied();
    }
  }
}

TEST_P(MemcpyBatchLocations, TwoHostSidesAreRejected) {
  Places places(1024);
  for (Place dst : kEveryHostPlace) {
    for (Place src : kEveryHostPlace) {
      Batch batch = ToDeviceFrom(places, kPinned, 2);
      batch.Declare(HostLocation(), HostLocation()).Add(places.at(dst, 0), places.at(src, kHalf), kItem);
      Expect(kRefused, 2, batch);
    }
  }
  Finish();
}

TEST_P(MemcpyBatchLocations, TwoDeviceSidesAreRejected) {
  Places places(1024);
  DeviceBuffer other(kItem);
  Batch batch = Batch().Declare(DeviceLocation(), DeviceLocation()).Add(places.at(kDevice, 0), other.get(), kItem);
  Expect(kRefused, 0, batch);
  batch = ToDeviceFrom(places, kPinned, 3);
  batch.Declare(DeviceLocation(), DeviceLocation()).Add(places.at(kDevice, kHalf), places.at(kDevice, 0), kItem);
  Expect(kRefused, 3, batch);
  batch.srcs[3] = batch.dsts[3];
  Expect(kRefused, 3, batch);
  Finish();
}

// rules/batches.md 2, step 16: the first item whose direction is not that of item 0.
TEST_P(MemcpyBatchLocations, BatchHasOneDirection) {
  constexpr size_t kCount = 6;
  Places places(1024);
  for (bool first_to_device : {true, false}) {
    for (Place host : kEveryHostPlace) {
      for (size_t turn = 1; turn < kCount; ++turn) {
        SCOPED_TRACE(std::string(kPlaceNames[host]) + ", turns at " + std::to_string(turn));
        Batch batch;
        for (size_t i = 0; i < kCount; ++i) {
          // From the turn on every second item goes the other way.
          const bool turned = i >= turn && (i - turn) % 2 == 0;
          void* device = places.at(kDevice, i * kStride);
          void* memory = places.at(host, i * kStride);
          if (first_to_device != turned) {
            batch.Declare(DeviceLocation(), HostLocation()).Add(device, memory, kItem);
          } else {
            batch.Declare(HostLocation(), DeviceLocation()).Add(memory, device, kItem);
          }
        }
        Expect(kRefused, turn, batch);
        Finish();
        if (Async()) places.Apply(batch, 0, turn);
        places.ExpectAsApplied();
        places.Refill(static_cast<uint32_t>(turn));
      }
    }
  }
}

}  // namespace memcpy_batch_locations_test
}  // namespace ropeway_test::bytes
