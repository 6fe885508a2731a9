// The corpus of `ropeway check`: short programs that are wrong in one way each, and their right twins, which differ in as little as
// possible. A process runs one of them. Calls must succeed in both: what is wrong is the order, or the end of something.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "acl/acl.h"

namespace corpus {

struct Program {
  const char* name;
  const char* rule;         // what the wrong one is found with
  void (*run)(bool right);  // on device 0, which is set up before and synchronised afterwards
  int (*wrong_main)();      // instead: programs of the pages, which do everything themselves
  int (*right_main)();
};

// Puts a program into the list. Call it from the initialiser of a variable.
int Add(const Program& program);

// PROGRAM(name, rule) { ... } has `right` at hand.
#define PROGRAM(name, rule)                                                                               \
  static void name(bool right);                                                                           \
  [[maybe_unused]] static const int added_##name = ::corpus::Add({#name, rule, &name, nullptr, nullptr}); \
  static void name([[maybe_unused]] bool right)

void FailCall(const char* text, const char* file, int line, aclError code);
#define MUST(...)                                                           \
  do {                                                                      \
    if (const aclError must_code = (__VA_ARGS__); must_code != ACL_SUCCESS) \
      ::corpus::FailCall(#__VA_ARGS__, __FILE__, __LINE__, must_code);      \
  } while (false)

constexpr size_t kSize = 64 << 10;

char* Device(size_t size = kSize);
char* Pinned(size_t size = kSize);
aclrtStream Stream();
aclrtEvent Event();  // waits are tied to the record before them
aclrtEvent Flag();   // a classic event
aclrtNotify Notify();
uint64_t* Word();  // of device memory, 0

// Host to device, device to host, device to device.
void Load(void* block, const void* host, aclrtStream stream, size_t size = kSize);
void Store(void* host, const void* block, aclrtStream stream, size_t size = kSize);
void Move(void* to, const void* from, aclrtStream stream, size_t size = kSize);

void Record(aclrtEvent event, aclrtStream stream);
void Wait(aclrtStream stream, aclrtEvent event);
// What `later` gets from here on is behind all that `earlier` has.
void Order(aclrtStream earlier, aclrtStream later);
void Finish(std::initializer_list<aclrtStream> streams);
inline void Finish(aclrtStream stream) { Finish({stream}); }

// Pairs of a batch, all of one size.
struct Item {
  void* dst;
  void* src;
};
void LoadBatch(std::initializer_list<Item> items, aclrtStream stream, size_t size = kSize);
void StoreBatch(std::initializer_list<Item> items, aclrtStream stream, size_t size = kSize);

// A stream that stands still until `word` is opened, by the default stream.
void Hold(aclrtStream stream, uint64_t* word);
void Open(uint64_t* word);

}  // namespace corpus
