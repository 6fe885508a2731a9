#include "engine/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>

#include "engine/batch.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cuda/error_codes.h"
#include "engine/late_copy.h"
#include "engine/task_ranges.h"

namespace ropeway::cuda {
namespace {

CUdeviceptr Bits(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

}  // namespace

std::unique_ptr<CudaBackend> CudaBackend::Create(const Driver& driver, int gpus, WorkSharer& sharer, unsigned ctas) {
  std::unique_ptr<CudaBackend> backend(new CudaBackend(driver, sharer));
  for (int ordinal = gpus - 1; ordinal > 0; --ordinal) {
    backend->others_.insert(backend->others_.begin(), std::make_unique<Gpu>());
    if (!backend->others_.front()->SetUp(driver, ordinal, ctas)) return nullptr;
  }
  if (!backend->gpu_.SetUp(driver, 0, ctas)) return nullptr;  // whose context is current from here on
  backend->staging_ = std::make_unique<Staging>(sharer);
  return backend;
}

// --- Addresses ----------------------------------------------------------------------------------------------------------

void* CudaBackend::ReserveDevices(size_t window, size_t size, uintptr_t wanted) {
  Enter();
  return memory_.ReserveDevices(window, size, wanted, static_cast<int>(others_.size()) + 1);
}

bool CudaBackend::Commit(void* address, size_t size, bool) {
  Enter();
  return memory_.Commit(address, size);
}

void CudaBackend::Decommit(void* address, size_t size) {
  Enter();
  memory_.Decommit(address, size);
}

bool CudaBackend::Register(void* address, size_t size) {
  Enter();
  return memory_.Register(address, size);
}

void CudaBackend::Unregister(void* address) {
  Enter();
  memory_.Unregister(address);
}

std::shared_ptr<SharedPages> CudaBackend::CreatePages(size_t size, PagePlace place) {
  Enter();
  return memory_.CreatePages(size, place);
}

std::shared_ptr<SharedPages> CudaBackend::AdoptPages(int descriptor, size_t size) {
  Enter();
  return memory_.AdoptPages(descriptor, size);
}

bool CudaBackend::MapPages(const SharedPages& pages, const Mapping& mapping) {
  Enter();
  return memory_.MapPages(pages, mapping);
}

// The side that is device memory decides; of two, the target.
void CudaBackend::Place(CudaLine& line, const void* dst, const void* src) const {
  if (others_.empty()) [[likely]]
    return;
  const void* there = memory_.OnDevice(dst) ? dst : src;
  if (!memory_.OnDevice(there)) return;
  const int gpu = memory_.GpuOf(there);
  line.MoveTo(gpu == 0 ? gpu_ : *others_[static_cast<size_t>(gpu) - 1]);
}

// --- Work ---------------------------------------------------------------------------------------------------------------

std::unique_ptr<Backend::Line> CudaBackend::NewLine() {
  Enter();
  return std::make_unique<CudaLine>(gpu_);
}

int CudaBackend::Start(const Task& task, const Behind&, Line* line_in, TaskFailure* failure) {
  CudaLine& line = *static_cast<CudaLine*>(line_in);
  line.gpu().Enter();
  switch (task.kind) {
    case TaskKind::kCopy: return CopyOne(line, task.copy.dst, task.copy.src, task.copy.size, failure);
    case TaskKind::kCopy2d: return CopyRows(line, task, failure);
    case TaskKind::kBatch: return CopyBatch(line, task, failure);
    case TaskKind::kCopyByDesc:
    case TaskKind::kCopyByCells: return CopyLate(line, task, failure);
    case TaskKind::kSet:
    case TaskKind::kSetWords: return Set(line, task, failure);
    case TaskKind::kReduce: Reduce(line, task); return 0;
    case TaskKind::kStore:
      Place(line, task.store.address, nullptr);
      line.Store(task.store.address, task.store.value);
      return 0;
    case TaskKind::kFail: return ExplainImpossible(failure, task);
    default: return 0;
  }
}

void CudaBackend::Hurry(Line* line) {
  static_cast<CudaLine*>(line)->gpu().Enter();
  static_cast<CudaLine*>(line)->Flush();
}

// What may take its time, since bytes go through host memory or are read back, is for the lanes.
bool CudaBackend::StartsSoon(const Task& task) const {
  switch (task.kind) {
    case TaskKind::kBatch: return true;
    case TaskKind::kCopy: {
      const auto& copy = task.copy;
      return (memory_.OnDevice(copy.dst) || memory_.OnDevice(copy.src)) && Reaches(copy.dst, copy.size) && Reaches(copy.src, copy.size);
    }
    case TaskKind::kSet:
    case TaskKind::kSetWords: return memory_.OnDevice(task.set.dst);
    default: return false;
  }
}

int CudaBackend::Finish(Line* line, TaskFailure* failure) {
  static_cast<CudaLine*>(line)->gpu().Enter();
  return Report(static_cast<CudaLine*>(line)->Wait(), failure);
}

std::shared_ptr<DevicePoint> CudaBackend::MarkPoint(Line* line) {
  static_cast<CudaLine*>(line)->gpu().Enter();
  return static_cast<CudaLine*>(line)->MarkPoint();
}

bool CudaBackend::Follow(Line* line, const DevicePoint& point) {
  static_cast<CudaLine*>(line)->gpu().Enter();
  return static_cast<CudaLine*>(line)->Follow(static_cast<const CudaPoints::Point&>(point));
}

int CudaBackend::FinishUpTo(const DevicePoint& point_in, const std::function<void()>& meanwhile, TaskFailure* failure) {
  const auto& point = static_cast<const CudaPoints::Point&>(point_in);
  const auto look = [&] {
    point.gpu.Enter();
    const CUresult result = driver_.cuEventQuery(point.event);
    if (result == CUDA_ERROR_NOT_READY) meanwhile();
    return result;
  };
  return Report(LookUntilDone(look), failure);
}

int CudaBackend::Report(CUresult result, TaskFailure* failure) const {
  if (result == CUDA_SUCCESS) return 0;
  return Explain(failure, CodeOfTask(result), "the NVIDIA driver says %s%s", driver_.Text(result).c_str(), NextStep(result));
}

int CudaBackend::Stage(CudaLine& line, const std::vector<KernelPiece>& pieces, TaskFailure* failure) {
  line.Note(line.Wait());
  const Staging::Outcome outcome = staging_->Copy(line.gpu(), pieces, memory_.OnDevice(pieces[0].dst));
  line.Note(outcome.result);
  if (!outcome.faulted) return 0;
  for (const KernelPiece& piece : pieces) {
    const TouchedRange range{piece.dst, piece.size, piece.src, piece.size};
    if (MayFaultAt(range, outcome.fault)) return ExplainFault(failure, outcome.fault, range);
  }
  return ExplainFault(failure, outcome.fault, {});
}

int CudaBackend::StageSmall(CudaLine& line, const KernelPiece& piece, TaskFailure* failure) {
  line.Note(line.Wait());
  char* const slot = line.TakeStaging(piece.size);
  if (slot == nullptr) return 0;  // noted
  const bool to_device = memory_.OnDevice(piece.dst);
  const TouchedRange range{piece.dst, piece.size, piece.src, piece.size};
  const void* fault;
  auto move = [&] { to_device ? std::memcpy(slot, piece.src, piece.size) : std::memcpy(piece.dst, slot, piece.size); };
  if (to_device && !TouchHost(move, &fault)) return ExplainFault(failure, fault, range);
  const CUdeviceptr from = Bits(to_device ? slot : piece.src), to = Bits(to_device ? piece.dst : slot);
  line.Note(driver_.cuMemcpyAsync(to, from, piece.size, line.StreamToWrite(piece.dst, piece.size)));
  if (to_device) return 0;
  const CUresult result = line.Wait();
  line.Note(result);
  return result != CUDA_SUCCESS || TouchHost(move, &fault) ? 0 : ExplainFault(failure, fault, range);
}

template <class Move>
int CudaBackend::TouchAfter(CudaLine& line, const TouchedRange& range, TaskFailure* failure, Move move) {
  line.Note(line.Wait());
  const void* fault;
  return TouchHost(move, &fault) ? 0 : ExplainFault(failure, fault, range);
}

int CudaBackend::CopyOne(CudaLine& line, void* dst, const void* src, size_t size, TaskFailure* failure) {
  if (!memory_.OnDevice(dst) && !memory_.OnDevice(src))
    return TouchAfter(line, {dst, size, src, size}, failure, [=] { std::memmove(dst, src, size); });
  Place(line, dst, src);
  if (!Reaches(dst, size) || !Reaches(src, size))
    return size <= CudaLine::kMostStaged ? StageSmall(line, {dst, src, size}, failure) : Stage(line, {{dst, src, size}}, failure);
  line.Copy(dst, src, size);
  return 0;
}

int CudaBackend::CopyBatch(CudaLine& line, const Task& task, TaskFailure* failure) {
  Batch& batch = *task.batch.list;
  std::vector<KernelPiece> pageable;
  const auto reached = [&](const Piece& piece) {
    if (Reaches(piece.dst, piece.size) && Reaches(piece.src, piece.size)) [[likely]]
      return true;
    pageable.push_back({piece.dst, piece.src, piece.size});
    return false;
  };
  batch.Begin();
  Place(line, batch.pieces()[0].dst, batch.pieces()[0].src);
  line.CopyUnordered(batch.pieces(), batch.ExpectedBytes(), reached, [&] { return batch.More(); });
  return pageable.empty() ? 0 : Stage(line, pageable, failure);
}

int CudaBackend::CopyRows(CudaLine& line, const Task& task, TaskFailure* failure) {
  const auto& rows = task.copy_2d;
  const auto extent = [&](size_t pitch) { return RowsExtent(pitch, rows.width, rows.height); };
  // The driver would take pageable memory, too, but does not survive what is not there.
  const bool reached = Reaches(rows.dst, extent(rows.dst_pitch)) && Reaches(rows.src, extent(rows.src_pitch));
  if (!reached && (memory_.OnDevice(rows.dst) || memory_.OnDevice(rows.src))) return StageRows(line, task, failure);
  Place(line, rows.dst, rows.src);
  CUDA_MEMCPY2D copy{};
  const auto type = [&](const void* address) { return memory_.OnDevice(address) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST; };
  copy.srcMemoryType = type(rows.src);
  copy.srcDevice = Bits(rows.src);
  copy.srcHost = rows.src;
  copy.srcPitch = rows.src_pitch;
  copy.dstMemoryType = type(rows.dst);
  copy.dstDevice = Bits(rows.dst);
  copy.dstHost = rows.dst;
  copy.dstPitch = rows.dst_pitch;
  copy.WidthInBytes = rows.width;
  copy.Height = rows.height;
  // One row may claim any pitch, and the driver has a limit.
  if (rows.height == 1) copy.srcPitch = copy.dstPitch = rows.width;
  if (reached && driver_.cuMemcpy2DAsync(&copy, line.StreamToWrite(rows.dst, extent(rows.dst_pitch))) == CUDA_SUCCESS) return 0;
  int code = 0;
  for (size_t row = 0; row < rows.height && code == 0; ++row)
    code = CopyOne(line, static_cast<char*>(rows.dst) + row * rows.dst_pitch, static_cast<const char*>(rows.src) + row * rows.src_pitch,
                   rows.width, failure);
  return code;
}

int CudaBackend::StageRows(CudaLine& line, const Task& task, TaskFailure* failure) {
  constexpr size_t kAtATime = 65536;  // so that the list stays small
  const auto& rows = task.copy_2d;
  int code = 0;
  Place(line, rows.dst, rows.src);
  for (size_t row = 0; row < rows.height && code == 0;) {
    std::vector<KernelPiece> pieces;
    for (const size_t end = std::min(rows.height, row + kAtATime); row < end; ++row)
      pieces.push_back(
          {static_cast<char*>(rows.dst) + row * rows.dst_pitch, static_cast<const char*>(rows.src) + row * rows.src_pitch, rows.width});
    code = Stage(line, pieces, failure);
  }
  return code;
}

int CudaBackend::CopyLate(CudaLine& line, const Task& task, TaskFailure* failure) {
  CopyDescriptor copy;
  CUresult result = CUDA_SUCCESS;
  Place(line, task.kind == TaskKind::kCopyByDesc ? task.by_desc.descriptor : task.by_cells.dst_cell, nullptr);
  const auto read = [&](void* out, const void* address, size_t size) {
    const CUresult read_result = line.Read(out, address, size);
    if (result == CUDA_SUCCESS) result = read_result;
  };
  const int code = ResolveLateCopy(task, *judge_, read, &copy, failure);
  if (result != CUDA_SUCCESS) return Report(result, failure);  // what was judged is not what is there
  if (code == 0) line.Copy(copy.dst, copy.src, copy.size);
  return code;
}

int CudaBackend::Set(CudaLine& line, const Task& task, TaskFailure* failure) {
  const auto& set = task.set;
  const bool words = task.kind == TaskKind::kSetWords;
  if (!memory_.OnDevice(set.dst)) {  // managed memory is set in the line's order
    return TouchAfter(line, {set.dst, TaskBytes(task)}, failure, [&] {
      words ? cpu::FillWords(set.dst, set.value, set.count) : void(std::memset(set.dst, static_cast<int>(set.value), set.count));
    });
  }
  Place(line, set.dst, nullptr);
  const CUstream stream = line.StreamToWrite(set.dst, TaskBytes(task));
  line.Note(words ? driver_.cuMemsetD32Async(Bits(set.dst), set.value, set.count, stream)
                  : driver_.cuMemsetD8Async(Bits(set.dst), static_cast<unsigned char>(set.value), set.count, stream));
  return 0;
}

void CudaBackend::Reduce(CudaLine& line, const Task& task) {
  const auto& reduce = task.reduce;
  Place(line, reduce.dst, reduce.src);
  const CUstream stream = line.StreamToWrite(reduce.dst, reduce.size);
  line.Note(line.gpu().reducer.Launch(reduce.dst, reduce.src, reduce.size, reduce.op, reduce.type, stream));
}

uint64_t CudaBackend::LoadWord(const void* address) {
  uint64_t word = 0;
  LockGuard lock(word_mutex_);
  if (word_line_ == nullptr) word_line_ = std::make_unique<CudaLine>(gpu_);
  word_line_->gpu().Enter();
  Place(*word_line_, address, nullptr);
  word_line_->Read(&word, address, sizeof(word));
  return word;
}

}  // namespace ropeway::cuda
