// What proves that somebody may connect to an engine (docs/security.md). Each engine has a secret of its own: 32 random bytes, or what
// follows from ROPEWAY_HIXL_SECRET and its name. Processes of the same user in the same network namespace are told it, over an abstract
// Unix socket at which the kernel says who asks; all others must know the setting.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/status.h"
#include "hixl/engine/engine_name.h"

namespace ropeway::transfer {

// Of an engine of this process.
std::string NewSecret(const EngineName& own);
// Of another engine, wherever it is. FAILED where it cannot be had.
Result<std::string> SecretOf(const EngineName& remote, Deadline deadline);

// Tells the secret of an engine to processes of this user. Belongs to the I/O thread.
class SecretTeller {
 public:
  // Null with the reason.
  static std::unique_ptr<SecretTeller> Open(const EngineName& own, const std::string& secret, std::string* why);
  ~SecretTeller();

 private:
  SecretTeller(FileDescriptor fd, std::string secret) : fd_(std::move(fd)), secret_(std::move(secret)) {}
  void Ready();
  FileDescriptor fd_;
  const std::string secret_;
};

}  // namespace ropeway::transfer
