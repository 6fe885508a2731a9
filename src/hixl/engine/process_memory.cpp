#include "hixl/engine/process_memory.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/random.h"
#include "hccl/transport/wire.h"

namespace ropeway::transfer {
namespace {

constexpr size_t kProbeBytes = 16;

const std::string& OwnProbe() {
  static const std::string* const probe = new std::string(RandomBytes(kProbeBytes));
  return *probe;
}

}  // namespace

std::string ProcessMemory::TellOwn() {
  return comm::Writer().Number(int32_t{getpid()}).Number(uint64_t{Bits(OwnProbe().data())}).Raw(OwnProbe()).Take();
}

std::unique_ptr<ProcessMemory> ProcessMemory::Open(const std::string& told) {
  comm::Reader reader(told);
  const auto pid = reader.Number<int32_t>();
  const auto address = static_cast<uintptr_t>(reader.Number<uint64_t>());
  const std::string_view probe = reader.Raw(kProbeBytes);
  if (!reader.AtEnd()) return nullptr;
  FileDescriptor alive = FileDescriptor::Make([pid] { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); });
  if (!alive) return nullptr;
  std::unique_ptr<ProcessMemory> memory(new ProcessMemory(pid, std::move(alive)));
  std::string found(kProbeBytes, '\0');
  return memory->Move(false, found.data(), address, found.size()) && found == probe ? std::move(memory) : nullptr;
}

bool ProcessMemory::IsAlive() const {
  pollfd ended{alive_.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

bool ProcessMemory::Move(bool write, void* local, uintptr_t remote, size_t size) const {
  for (size_t done = 0; done < size;) {
    const iovec here{static_cast<char*>(local) + done, size - done}, there{At(remote + done), size - done};
    if (!IsAlive()) return false;
    const ssize_t moved = write ? process_vm_writev(pid_, &here, 1, &there, 1, 0) : process_vm_readv(pid_, &here, 1, &there, 1, 0);
    if (moved <= 0) return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

}  // namespace ropeway::transfer
