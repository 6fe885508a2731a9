// What the tests of the transfer engines share: names, memory of both kinds, and patterns.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hixl/hixl.h"

namespace hixl_tests {

using hixl::AscendString;
using hixl::Hixl;
using Options = std::map<AscendString, AscendString>;

// A name at which nobody listens.
inline std::string FreeName() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// Device or host memory (pinned or not), filled and read from the host.
class Memory {
 public:
  enum Kind { kDevice, kPinned, kPageable };
  Memory(Kind kind, size_t size) : kind_(kind), size_(size) {
    if (kind == kDevice) {
      EXPECT_EQ(aclrtMalloc(&address_, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    } else if (kind == kPinned) {
      EXPECT_EQ(aclrtMallocHost(&address_, size), ACL_SUCCESS);
    } else {
      address_ = std::malloc(size);
    }
  }
  ~Memory() {
    if (kind_ == kDevice) aclrtFree(address_);
    if (kind_ == kPinned) aclrtFreeHost(address_);
    if (kind_ == kPageable) std::free(address_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uintptr_t at(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(address_) + offset; }
  size_t size() const { return size_; }
  hixl::MemType type() const { return kind_ == kDevice ? hixl::MEM_DEVICE : hixl::MEM_HOST; }
  hixl::MemDesc descriptor() const { return {at(), size_, {}}; }

  void Fill(uint8_t seed) {
    std::vector<uint8_t> bytes(size_);
    for (size_t i = 0; i < size_; ++i) bytes[i] = Byte(seed, i);
    Copy(address_, bytes.data(), kind_ == kDevice ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_HOST);
  }
  std::vector<uint8_t> Read() const {
    std::vector<uint8_t> bytes(size_);
    Copy(bytes.data(), address_, kind_ == kDevice ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_HOST);
    return bytes;
  }
  static uint8_t Byte(uint8_t seed, size_t i) { return static_cast<uint8_t>(seed * 31 + i * 7 + (i >> 8)); }

 private:
  void Copy(void* to, const void* from, aclrtMemcpyKind kind) const { EXPECT_EQ(aclrtMemcpy(to, size_, from, size_, kind), ACL_SUCCESS); }
  const Kind kind_;
  const size_t size_;
  void* address_ = nullptr;
};

inline hixl::MemHandle Register(Hixl& engine, const Memory& memory) {
  hixl::MemHandle handle = nullptr;
  EXPECT_EQ(engine.RegisterMem(memory.descriptor(), memory.type(), handle), hixl::SUCCESS);
  return handle;
}

// Blocks of one memory in another order in the other one: block i goes to or comes from block (i * 7 + 1) % count.
inline std::vector<hixl::TransferOpDesc> Scattered(uintptr_t local, uintptr_t remote, size_t block, size_t count) {
  std::vector<hixl::TransferOpDesc> descriptors;
  for (size_t i = 0; i < count; ++i) descriptors.push_back({local + i * block, remote + (i * 7 + 1) % count * block, block});
  return descriptors;
}

}  // namespace hixl_tests
