// Opens libraries by their names a thousand times from each of several threads, looks a function up in each, and closes them:
// open_names LIBRARY:SYMBOL... The libraries that share a state must be one: what one name hands out, the others do, too.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4, kTimes = 1000;

struct Name {
  std::string library, symbol;
};

bool OpenOnce(const Name& name) {
  void* library = dlopen(name.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || dlsym(library, name.symbol.c_str()) == nullptr) {
    std::fprintf(stderr, "%s: %s\n", name.library.c_str(), dlerror());
    return false;
  }
  return dlclose(library) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Name> names;
  for (int i = 1; i < argc; ++i) {
    const char* colon = std::strchr(argv[i], ':');
    if (colon == nullptr) return 2;
    names.push_back({std::string(argv[i], static_cast<size_t>(colon - argv[i])), colon + 1});
  }
  std::vector<int> failures(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes && failures[t] == 0; ++i) {
        // Each thread is at another name at any time.
        for (size_t n = 0; n < names.size(); ++n) failures[t] += OpenOnce(names[(n + static_cast<size_t>(t) * 7) % names.size()]) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int failed = 0;
  for (const int count : failures) failed += count;
  return failed == 0 && !names.empty() ? 0 : 1;
}
