// The functions that a library lets out, by its own symbol table, and how to call one without knowing what it takes.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

namespace process_test {

// As many arguments as any function has; all but the first are 0.
inline int32_t CallWith(void* first, void* function) {
  using Function = long (*)(void*, long, long, long, long, long, long, long, long, long, long, long, long, long);
  return static_cast<int32_t>(reinterpret_cast<Function>(function)(first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

// How many entries a symbol table has: only the hash table behind it knows. Chains end with a number that is odd.
inline uint32_t CountSymbols(const uint32_t* hash) {
  const uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2];
  const uint32_t* buckets = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chains = buckets + bucket_count;
  uint32_t last = *std::max_element(buckets, buckets + bucket_count);
  if (last < first) return first;
  while ((chains[last - first] & 1) == 0) ++last;
  return last + 1;
}

// By name; without those of C++ classes.
inline std::map<std::string, void*> ExportedFunctions(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  link_map* loaded = nullptr;
  if (handle == nullptr || dlinfo(handle, RTLD_DI_LINKMAP, &loaded) != 0) std::abort();
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hash = nullptr;
  for (const ElfW(Dyn)* entry = loaded->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) at = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(at);
    if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t*>(at);
  }
  if (symbols == nullptr || names == nullptr || hash == nullptr) std::abort();
  std::map<std::string, void*> functions;
  const uint32_t count = CountSymbols(hash);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string name = names + symbols[i].st_name;
    const bool exported = symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC;
    if (exported && !name.starts_with("_Z")) functions[name] = dlsym(handle, name.c_str());
  }
  return functions;
}

}  // namespace process_test
