#include "cli/trace_parts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ropeway::cli {
namespace {

bool FindParts(const std::string& path, const MappedFile& file, std::vector<Part>* parts, std::string* why) {
  size_t at = 0;
  for (; at + trace::kHeaderSize <= file.size();) {
    Part part;
    std::memcpy(&part.header, file.data() + at, sizeof(part.header));
    if (std::memcmp(part.header.magic, trace::kMagic, sizeof(trace::kMagic)) != 0) {
      *why = path + ": this is no trace; ROPEWAY_TRACE=FILE or ropeway trace makes one";
      return false;
    }
    if (part.header.version != trace::kVersion || part.header.chunk_size != trace::kChunkSize) {
      *why = path + ": a trace of version " + std::to_string(part.header.version) + ", and this command reads version " +
             std::to_string(trace::kVersion) + "; use the command of the library that wrote it";
      return false;
    }
    const size_t size = part.header.size == 0 ? file.size() - at : std::min<size_t>(part.header.size, file.size() - at);
    part.chunks = file.data() + at + trace::kHeaderSize;
    part.size = size - std::min(size, trace::kHeaderSize);
    parts->push_back(part);
    at += std::max(size, trace::kHeaderSize);
  }
  if (at != 0) return true;
  *why = path + ": it is too short for a trace";
  return false;
}

// Chunks that have a record: the others were prepared for nobody.
std::vector<const std::byte*> UsedChunks(const Part& part) {
  std::vector<const std::byte*> used;
  for (size_t at = 0; at + trace::kChunkSize <= part.size; at += trace::kChunkSize) {
    if (part.chunks[at] != std::byte{0}) used.push_back(part.chunks + at);
  }
  return used;
}

bool WritePart(FILE* file, const Part& part) {
  const std::vector<const std::byte*> chunks = UsedChunks(part);
  std::byte page[trace::kHeaderSize] = {};
  trace::FileHeader header = part.header;
  header.size = trace::kHeaderSize + chunks.size() * trace::kChunkSize;
  std::memcpy(page, &header, sizeof(header));
  bool good = fwrite(page, sizeof(page), 1, file) == 1;
  for (const std::byte* chunk : chunks) good = good && fwrite(chunk, trace::kChunkSize, 1, file) == 1;
  return good;
}

}  // namespace

MappedFile::~MappedFile() {
  if (size_ != 0) munmap(const_cast<std::byte*>(data_), size_);
}

bool MappedFile::Open(const std::string& path, std::string* why) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  void* pages = MAP_FAILED;
  if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0)
    pages = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  const int error = errno;
  if (file >= 0) close(file);
  if (pages == MAP_FAILED) {
    *why = path + ": " + (file >= 0 && status.st_size == 0 ? "it is empty" : std::strerror(error));
    return false;
  }
  data_ = static_cast<const std::byte*>(pages);
  size_ = static_cast<size_t>(status.st_size);
  return true;
}

bool OpenParts(const std::vector<std::string>& paths, std::deque<MappedFile>* files, std::vector<Part>* parts, std::string* why) {
  for (const std::string& path : paths) {
    MappedFile& file = files->emplace_back();
    if (!file.Open(path, why) || !FindParts(path, file, parts, why)) return false;
  }
  if (!parts->empty()) return true;
  *why = "no file was named";
  return false;
}

bool MergeTraces(const std::vector<std::string>& paths, const std::string& output, std::string* why) {
  std::deque<MappedFile> files;
  std::vector<Part> parts;
  if (!OpenParts(paths, &files, &parts, why)) return false;
  // Under another name until it is whole: one of the files may be the output itself.
  const std::string unfinished = output + ".new";
  FILE* const file = fopen(unfinished.c_str(), "we");
  bool good = file != nullptr;
  for (const Part& part : parts) good = good && WritePart(file, part);
  if (file != nullptr) good = fclose(file) == 0 && good;
  good = good && rename(unfinished.c_str(), output.c_str()) == 0;
  if (good) return true;
  *why = output + ": " + std::strerror(errno);
  unlink(unfinished.c_str());
  return false;
}

}  // namespace ropeway::cli
