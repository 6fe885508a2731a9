#include "engine/cuda/cuda_backend.h"

#include <algorithm>
#include <cstring>

#include "engine/batch.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/reduce.h"
#include "engine/cuda/error_codes.h"
#include "engine/late_copy.h"
#include "engine/task_ranges.h"

// The fat binary that nvcc made of kernels.cu (cmake/cuda.cmake).
extern "C" const unsigned char ropeway_cuda_kernels[];

namespace ropeway::cuda {
namespace {

CUdeviceptr Bits(const void* address) { return reinterpret_cast<CUdeviceptr>(address); }

// From Hopper on, when the kernels say so.
bool OverlapsKernels(const Driver& driver) {
  int major = 0;
  return driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) == CUDA_SUCCESS && major >= 9;
}

}  // namespace

std::unique_ptr<CudaBackend> CudaBackend::Create(const Driver& driver, int gpus, WorkSharer& sharer, unsigned ctas) {
  std::unique_ptr<CudaBackend> backend(new CudaBackend(driver, sharer));
  backend->gpus_ = gpus;
  CUdevice device = 0;
  CUmodule module = nullptr;
  Gpu& gpu = backend->gpu_;
  gpu.driver = &driver;
  gpu.ctas = ctas;
  gpu.overlaps_slices = OverlapsKernels(driver);
  if (driver.cuDeviceGet(&device, 0) != CUDA_SUCCESS || driver.cuDevicePrimaryCtxRetain(&gpu.context, device) != CUDA_SUCCESS ||
      driver.cuCtxSetCurrent(gpu.context) != CUDA_SUCCESS || driver.cuModuleLoadData(&module, ropeway_cuda_kernels) != CUDA_SUCCESS ||
      driver.cuModuleGetFunction(&gpu.copy_pieces, module, "ropeway_copy_pieces") != CUDA_SUCCESS ||
      driver.cuModuleGetFunction(&gpu.copy_few, module, "ropeway_copy_few") != CUDA_SUCCESS)
    return nullptr;
  backend->staging_ = std::make_unique<Staging>(gpu, sharer);
  return backend;
}

void CudaBackend::Enter() const {
  static thread_local CUcontext current = nullptr;
  if (current == gpu_.context) return;
  driver_.cuCtxSetCurrent(gpu_.context);
  current = gpu_.context;
}

// --- Addresses ----------------------------------------------------------------------------------------------------------

void* CudaBackend::ReserveDevices(size_t window, size_t size, uintptr_t wanted) {
  Enter();
  return memory_.ReserveDevices(window, size, wanted, gpus_);
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

// --- Work ---------------------------------------------------------------------------------------------------------------

std::unique_ptr<Backend::Line> CudaBackend::NewLine() {
  Enter();
  return std::make_unique<CudaLine>(gpu_);
}

int CudaBackend::Start(const Task& task, const Behind&, Line* line_in, TaskFailure* failure) {
  Enter();
  CudaLine& line = *static_cast<CudaLine*>(line_in);
  switch (task.kind) {
    case TaskKind::kCopy: return CopyOne(line, task.copy.dst, task.copy.src, task.copy.size, failure);
    case TaskKind::kCopy2d: return CopyRows(line, task, failure);
    case TaskKind::kBatch: return CopyBatch(line, task, failure);
    case TaskKind::kCopyByDesc:
    case TaskKind::kCopyByCells: return CopyLate(line, task, failure);
    case TaskKind::kSet:
    case TaskKind::kSetWords: return Set(line, task, failure);
    case TaskKind::kReduce: Reduce(line, task); return 0;
    case TaskKind::kStore: line.Store(task.store.address, task.store.value); return 0;
    case TaskKind::kFail: return ExplainImpossible(failure, task);
    default: return 0;
  }
}

int CudaBackend::Finish(Line* line, TaskFailure* failure) {
  Enter();
  return Report(static_cast<CudaLine*>(line)->Wait(), failure);
}

int CudaBackend::Report(CUresult result, TaskFailure* failure) const {
  if (result == CUDA_SUCCESS) return 0;
  return Explain(failure, CodeOfTask(result), "the NVIDIA driver says %s", driver_.Text(result).c_str());
}

int CudaBackend::Stage(CudaLine& line, const std::vector<KernelPiece>& pieces, TaskFailure* failure) {
  line.Note(line.Wait());
  const Staging::Outcome outcome = staging_->Copy(pieces, memory_.OnDevice(pieces[0].dst));
  line.Note(outcome.result);
  if (!outcome.faulted) return 0;
  for (const KernelPiece& piece : pieces) {
    const TouchedRange range{piece.dst, piece.size, piece.src, piece.size};
    if (MayFaultAt(range, outcome.fault)) return ExplainFault(failure, outcome.fault, range);
  }
  return ExplainFault(failure, outcome.fault, {});
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
  if (!Reaches(dst, size) || !Reaches(src, size)) return Stage(line, {{dst, src, size}}, failure);
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
  line.CopyUnordered(batch.pieces(), batch.ExpectedBytes(), reached, [&] { return batch.More(); });
  return pageable.empty() ? 0 : Stage(line, pageable, failure);
}

int CudaBackend::CopyRows(CudaLine& line, const Task& task, TaskFailure* failure) {
  const auto& rows = task.copy_2d;
  const auto extent = [&](size_t pitch) { return RowsExtent(pitch, rows.width, rows.height); };
  // The driver would take pageable memory, too, but does not survive what is not there.
  const bool reached = Reaches(rows.dst, extent(rows.dst_pitch)) && Reaches(rows.src, extent(rows.src_pitch));
  if (!reached && (memory_.OnDevice(rows.dst) || memory_.OnDevice(rows.src))) return StageRows(line, task, failure);
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
  const CUstream stream = line.StreamToWrite(set.dst, TaskBytes(task));
  line.Note(words ? driver_.cuMemsetD32Async(Bits(set.dst), set.value, set.count, stream)
                  : driver_.cuMemsetD8Async(Bits(set.dst), static_cast<unsigned char>(set.value), set.count, stream));
  return 0;
}

// By the CPU's own code, so that the two engines agree to the last bit; a reduction is no path for speed here.
void CudaBackend::Reduce(CudaLine& line, const Task& task) {
  constexpr size_t kPart = size_t{16} << 20;
  const CUstream stream = line.StreamToWrite(task.reduce.dst, task.reduce.size);
  std::vector<char> dst(std::min(kPart, task.reduce.size)), src(dst.size());
  for (size_t at = 0; at < task.reduce.size; at += kPart) {
    const size_t part = std::min(kPart, task.reduce.size - at);
    char* to = static_cast<char*>(task.reduce.dst) + at;
    line.Note(driver_.cuMemcpyAsync(Bits(dst.data()), Bits(to), part, stream));
    line.Note(driver_.cuMemcpyAsync(Bits(src.data()), Bits(static_cast<const char*>(task.reduce.src) + at), part, stream));
    line.Note(line.Wait());
    cpu::Reduce(dst.data(), src.data(), part, task.reduce.op, task.reduce.type);
    line.Note(driver_.cuMemcpyAsync(Bits(to), Bits(dst.data()), part, stream));
    line.Note(line.Wait());
  }
}

uint64_t CudaBackend::LoadWord(const void* address) {
  Enter();
  uint64_t word = 0;
  LockGuard lock(word_mutex_);
  if (word_line_ == nullptr) word_line_ = std::make_unique<CudaLine>(gpu_);
  word_line_->Read(&word, address, sizeof(word));
  return word;
}

}  // namespace ropeway::cuda
