#include "cli/memory_server.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "cli/acl_objects.h"
#include "cli/commands.h"

namespace ropeway::cli {
namespace {

constexpr const char* kCommand = "serve-memory";
constexpr size_t kKeyLength = 64;
constexpr uint64_t kNoList = 1;  // whoever has the key may import

// Exports memory, says the key, and stays until nobody is at the other end of its stdin.
int Serve(size_t size) {
  DeviceScope device(0);
  DeviceBlock block(size);
  RW_ACL(aclrtMemset(block.data(), size, 0, size));
  char key[kKeyLength + 1] = {};
  RW_ACL(aclrtIpcMemGetExportKey(block.data(), size, key, sizeof(key), kNoList));
  if (write(STDOUT_FILENO, key, kKeyLength) != kKeyLength) return 1;
  char end;
  while (read(STDIN_FILENO, &end, 1) > 0) {
  }
  return 0;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe to another process");
    read_end = ends[0];
    write_end = ends[1];
  }
};

std::string ReadAll(int descriptor, size_t length) {
  std::string text(length, '\0');
  size_t got = 0;
  for (ssize_t count = 1; got < length && count > 0; got += static_cast<size_t>(count)) {
    count = read(descriptor, text.data() + got, length - got);
    if (count < 0) break;
  }
  text.resize(got);
  return text;
}

}  // namespace

MemoryServer::MemoryServer(size_t size) {
  const Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  std::string size_text = std::to_string(size);
  char* arguments[] = {const_cast<char*>("ropeway"), const_cast<char*>(kCommand), size_text.data(), nullptr};
  const int error = posix_spawn(&child_, "/proc/self/exe", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in.read_end);
  close(out.write_end);
  to_child_ = in.write_end;
  if (error == 0) key_ = ReadAll(out.read_end, kKeyLength);
  close(out.read_end);
  if (key_.size() == kKeyLength) return;
  close(to_child_);
  if (error == 0) waitpid(child_, nullptr, 0);
  throw std::runtime_error("the process that shares its memory did not come up");
}

MemoryServer::~MemoryServer() {
  close(to_child_);
  waitpid(child_, nullptr, 0);
}

void AddServeMemory(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand(kCommand, "share device memory with the process that started this one")->group("");
  auto size = std::make_shared<size_t>(0);
  command->add_option("size", *size)->required();
  command->callback([size, status] { *status = Serve(*size); });
}

}  // namespace ropeway::cli
