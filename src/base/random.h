// Random bytes of the kernel, for secrets, nonces and names. A guessable secret would be worse than none: without them it throws.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace ropeway {

inline void FillRandom(void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom(static_cast<char*>(bytes) + done, size - done, 0);
    if (got > 0)
      done += static_cast<size_t>(got);
    else if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

inline std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  FillRandom(bytes.data(), size);
  return bytes;
}

}  // namespace ropeway
