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

struct Piece {
  const std::byte* begin;
  size_t size;
};

// The records of a chunk, as one piece.
Piece UsedOf(const std::byte* chunk) {
  size_t used = 0;
  while (const size_t bytes = RecordBytes(chunk + used, trace::kChunkSize - used)) used += bytes;
  return {chunk, used};
}

// What goes into each chunk of the merged file. Every piece says whose its records are, so several may follow one another; none is divided.
std::vector<std::vector<Piece>> PackedChunks(const Part& part) {
  std::vector<std::vector<Piece>> chunks;
  size_t full = trace::kChunkSize;
  for (size_t at = 0; at + trace::kChunkSize <= part.size; at += trace::kChunkSize) {
    const Piece piece = UsedOf(part.chunks + at);
    if (piece.size == 0) continue;
    if (full + piece.size > trace::kChunkSize) {
      chunks.emplace_back();
      full = 0;
    }
    chunks.back().push_back(piece);
    full += piece.size;
  }
  return chunks;
}

bool WriteChunk(FILE* file, const std::vector<Piece>& pieces) {
  static constexpr std::byte kZeros[trace::kChunkSize] = {};
  size_t left = trace::kChunkSize;
  bool good = true;
  for (const Piece& piece : pieces) {
    good = good && fwrite(piece.begin, piece.size, 1, file) == 1;
    left -= piece.size;
  }
  return good && (left == 0 || fwrite(kZeros, left, 1, file) == 1);
}

template <typename Tell>
bool WritePart(FILE* file, const Part& part, Tell reached) {
  const std::vector<std::vector<Piece>> chunks = PackedChunks(part);
  std::byte page[trace::kHeaderSize] = {};
  trace::FileHeader header = part.header;
  header.size = trace::kHeaderSize + chunks.size() * trace::kChunkSize;
  std::memcpy(page, &header, sizeof(header));
  bool good = fwrite(page, sizeof(page), 1, file) == 1;
  for (size_t i = 0; i < chunks.size(); ++i) {
    reached(i * trace::kChunkSize);
    good = good && WriteChunk(file, chunks[i]);
  }
  return good;
}

}  // namespace

size_t RecordBytes(const std::byte* record, size_t left) {
  if (left < trace::kShortSize) return 0;
  trace::RecordHead head;
  std::memcpy(&head, record, sizeof(head));
  if (head.type == trace::RecordType::kNone || head.type > trace::RecordType::kMark) return 0;
  const bool has_text = head.type >= trace::RecordType::kSite;
  const size_t slots = has_text ? std::max<size_t>(head.a, 1) : 1;
  const size_t bytes = head.type == trace::RecordType::kShortRun ? trace::kShortSize : slots * trace::kSlotSize;
  return bytes <= left ? bytes : 0;
}

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

bool MergeTraces(const std::vector<std::string>& paths, const std::string& output, std::string* why, const Reached& reached) {
  std::deque<MappedFile> files;
  std::vector<Part> parts;
  if (!OpenParts(paths, &files, &parts, why)) return false;
  // Under another name until it is whole: one of the files may be the output itself.
  const std::string unfinished = output + ".new";
  FILE* const file = fopen(unfinished.c_str(), "we");
  bool good = file != nullptr;
  size_t done = 0, all = 0;
  for (const Part& part : parts) all += part.size;
  for (const Part& part : parts) {
    good = good && WritePart(file, part, [&](size_t bytes) {
             if (reached) reached(done + bytes, all);
           });
    done += part.size;
  }
  if (file != nullptr) good = fclose(file) == 0 && good;
  good = good && rename(unfinished.c_str(), output.c_str()) == 0;
  if (good) return true;
  *why = output + ": " + std::strerror(errno);
  unlink(unfinished.c_str());
  return false;
}

}  // namespace ropeway::cli
