// Files of traces as they lie on disk: one part for each process, several parts in a merged file.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "cli/trace_data.h"
#include "src/watch/trace_format.h"

namespace ropeway::cli {

// The bytes of a file, as long as this lives.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  bool Open(const std::string& path, std::string* why);
  const std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// What one process wrote: its page and its chunks.
struct Part {
  trace::FileHeader header;
  const std::byte* chunks;
  size_t size;
};

// How many bytes the record at `record` takes, of the `left` that its chunk has; 0: there is none.
size_t RecordBytes(const std::byte* record, size_t left);

// The parts of all files; they live as long as `files` does. False, with a reason, when one is no trace.
bool OpenParts(const std::vector<std::string>& paths, std::deque<MappedFile>* files, std::vector<Part>* parts, std::string* why);

// Writes the parts of all files into one, without the chunks that nobody used; those that were used in part share one.
bool MergeTraces(const std::vector<std::string>& paths, const std::string& output, std::string* why, const Reached& reached = nullptr);

}  // namespace ropeway::cli
