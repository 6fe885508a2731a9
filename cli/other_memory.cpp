#include "cli/other_memory.h"

#include <elf.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/exit_codes.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kPage = 4096;

// What the loader keeps of a library's exported names, in the process itself: the file may be gone, or another by now.
class ExportedNames {
 public:
  ExportedNames(OtherMemory& memory, uint64_t begin) : memory_(memory), begin_(begin) {
    const auto header = memory.Get<Elf64_Ehdr>(begin);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) return;
    uint64_t dynamic = 0;
    std::optional<uint64_t> first;
    for (uint64_t i = 0; i < header->e_phnum; ++i) {
      const auto part = memory.Get<Elf64_Phdr>(begin + header->e_phoff + i * header->e_phentsize);
      if (!part) return;
      if (part->p_type == PT_LOAD && !first) first = part->p_vaddr;
      if (part->p_type == PT_DYNAMIC) dynamic = part->p_vaddr;
    }
    if (!first || dynamic == 0) return;
    bias_ = begin - *first / kPage * kPage;
    ReadDynamic(bias_ + dynamic);
  }

  // 0: it has no such name.
  uint64_t Find(const std::string& name) const {
    if (symbols_ == 0 || texts_ == 0 || hashes_ == 0) return 0;
    struct Head {
      uint32_t buckets, first_hashed, filters, shift;
    };
    const auto head = memory_.Get<Head>(hashes_);
    if (!head || head->buckets == 0) return 0;
    const uint32_t hash = HashOf(name);
    const uint64_t buckets = hashes_ + sizeof(Head) + head->filters * sizeof(uint64_t);
    const uint64_t chains = buckets + head->buckets * sizeof(uint32_t);
    uint32_t index = memory_.Get<uint32_t>(buckets + hash % head->buckets * sizeof(uint32_t)).value_or(0);
    for (; index >= head->first_hashed && index != 0; ++index) {
      const auto hashed = memory_.Get<uint32_t>(chains + (index - head->first_hashed) * sizeof(uint32_t));
      if (!hashed) return 0;
      if ((*hashed | 1) == (hash | 1)) {
        const auto symbol = memory_.Get<Elf64_Sym>(symbols_ + index * sizeof(Elf64_Sym));
        if (symbol && symbol->st_shndx != SHN_UNDEF && memory_.Text(texts_ + symbol->st_name) == name) return bias_ + symbol->st_value;
      }
      if ((*hashed & 1) != 0) return 0;
    }
    return 0;
  }

 private:
  void ReadDynamic(uint64_t at) {
    constexpr int kMostEntries = 1024;
    for (int i = 0; i < kMostEntries; ++i, at += sizeof(Elf64_Dyn)) {
      const auto entry = memory_.Get<Elf64_Dyn>(at);
      if (!entry || entry->d_tag == DT_NULL) return;
      // Loaders write addresses there, or leave distances.
      const uint64_t address = entry->d_un.d_ptr < begin_ ? bias_ + entry->d_un.d_ptr : entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) symbols_ = address;
      if (entry->d_tag == DT_STRTAB) texts_ = address;
      if (entry->d_tag == DT_GNU_HASH) hashes_ = address;
    }
  }

  static uint32_t HashOf(const std::string& name) {
    uint32_t hash = 5381;
    for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
  }

  OtherMemory& memory_;
  const uint64_t begin_;
  uint64_t bias_ = 0, symbols_ = 0, texts_ = 0, hashes_ = 0;
};

// "7f.. -7f.. r-xp 00001000 08:01 1234   /lib/libc.so.6"
struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  std::string path;
};
std::optional<Mapping> Parse(const std::string& line) {
  Mapping mapping;
  int path_at = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &mapping.begin, &mapping.end, &mapping.offset,
                  &path_at) < 3)
    return std::nullopt;
  if (path_at > 0 && static_cast<size_t>(path_at) < line.size()) mapping.path = line.substr(static_cast<size_t>(path_at));
  return mapping;
}

// Files that are in memory, each from its first page to its last.
std::vector<symbols::Module> ModulesOf(std::istream& maps) {
  std::vector<symbols::Module> modules;
  for (std::string line; std::getline(maps, line);) {
    const auto mapping = Parse(line);
    if (!mapping || mapping->path.empty() || mapping->path[0] != '/') continue;
    if (mapping->offset == 0 && (modules.empty() || modules.back().path != mapping->path))
      modules.push_back({mapping->path, mapping->begin, mapping->end, mapping->begin});
    else if (!modules.empty() && modules.back().path == mapping->path)
      modules.back().end = mapping->end;
  }
  return modules;
}

[[noreturn]] void Refuse(int pid, int error) {
  if (error == ENOENT || error == ESRCH) throw CannotLook(kWrongUsage, Format("there is no process %d", pid));
  if (error != EACCES && error != EPERM) throw CannotLook(kFound, Format("process %d: %s", pid, std::strerror(error)));
  throw CannotLook(kFound, Format("process %d may not be looked at by this user; become its user or root%s", pid,
                                  access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0
                                      ? ", and where /proc/sys/kernel/yama/ptrace_scope is not 0 only a process's parents and root may look"
                                      : ""));
}

}  // namespace

std::string OtherMemory::NameOf(uint64_t code_address) { return Format("%#" PRIx64, code_address); }

std::string OtherMemory::Text(uint64_t address) {
  constexpr size_t kLongest = 256;
  std::string text;
  while (address != 0 && text.size() < kLongest) {
    char part[64];
    const size_t size = std::min(sizeof part, kPage - address % kPage);
    if (!Read(address, part, size)) break;
    const size_t length = strnlen(part, size);
    text.append(part, length);
    if (length < size) return text;
    address += size;
  }
  return text;
}

RunningProcess::RunningProcess(int pid) : pid_(pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  if (!maps) Refuse(pid, errno);
  errno = 0;
  modules_ = ModulesOf(maps);
  if (maps.bad() || errno != 0) Refuse(pid, errno == 0 ? EACCES : errno);
  if (modules_.empty()) throw CannotLook(kWrongUsage, Format("process %d has no memory: it is over, or belongs to the kernel", pid));
  uint8_t byte;
  if (!Read(modules_[0].begin, &byte, 1) && errno != EFAULT) Refuse(pid, errno);
}

bool RunningProcess::Read(uint64_t address, void* to, size_t size) {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(address), size};
  return process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(size);
}

std::string RunningProcess::NameOf(uint64_t code_address) {
  const symbols::Location location = symbols::Modules(modules_).Locate(code_address + 1);  // which wants the address behind a call
  const std::string text = location.file.empty() ? location.module : location.Short();
  return location.function.empty() ? (text.empty() ? OtherMemory::NameOf(code_address) : text) : location.function + " (" + text + ")";
}

uint64_t RunningProcess::FindExported(const std::string& name) {
  for (const symbols::Module& module : modules_) {
    if (const uint64_t found = ExportedNames(*this, module.begin).Find(name)) return found;
  }
  return 0;
}

std::string RunningProcess::program() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), {});
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& c : words) c = c == '\0' ? ' ' : c;
  return words;
}

bool AskedMemory::Read(uint64_t address, void* to, size_t size) {
  if (dprintf(questions_, "%" PRIu64 " %zu\n", address, size) < 0) return false;
  return std::getchar() == 1 && std::fread(to, 1, size, stdin) == size;
}

}  // namespace ropeway::cli
