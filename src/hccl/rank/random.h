// Random bytes of the kernel, for secrets, nonces and names.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace ropeway::comm {

inline std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    const ssize_t got = getrandom(bytes.data() + done, size - done, 0);
    if (got > 0) done += static_cast<size_t>(got);
    // A guessable secret would be worse than none.
    else if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return bytes;
}

}  // namespace ropeway::comm
