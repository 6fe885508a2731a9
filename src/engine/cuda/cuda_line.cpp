#include "engine/cuda/cuda_line.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/spin_lock.h"

// The fat binary that nvcc made of kernels.cu (cmake/cuda.cmake).
extern "C" const unsigned char ropeway_cuda_kernels[];

namespace ropeway::cuda {
namespace {

// Pieces up to here go by the kernel, larger ones by the copy engines, which need no help from there on.
constexpr size_t kKernelUpTo = size_t{256} << 10;
// What one warp gets at a time: all warps busy, and the last one not keeping the others waiting. The link is the limit, not the cut.
constexpr size_t kSmallestShare = size_t{4} << 10;
constexpr size_t kLargestShare = size_t{32} << 10;
constexpr unsigned kThreads = 512;
constexpr unsigned kWarpsPerCta = kThreads / 32;
constexpr size_t kSharesPerWarp = 4;
// A plain burst is collected up to here: the look for overlaps grows with it.
constexpr size_t kMostCollected = 256;
// Lists are launched in slices, so that the GPU works while the next one is written. Long ones begin with a short slice, to get the GPU
// going; one more launch costs about as much as writing this many.
constexpr size_t kSlice = 8192;
constexpr size_t kFirstSlice = 512;
constexpr size_t kLongList = 4 * kFirstSlice;
constexpr size_t kStagingBytes = size_t{4} << 20;
constexpr size_t kAlignment = 256;
// So many writes are remembered one by one; past that, anything may have been written.
constexpr size_t kMostWrites = 128;

bool Overlap(const void* a, size_t a_size, const void* b, size_t b_size) {
  const auto begin_a = reinterpret_cast<uintptr_t>(a), begin_b = reinterpret_cast<uintptr_t>(b);
  return begin_a < begin_b + b_size && begin_b < begin_a + a_size;
}

}  // namespace

bool Gpu::SetUp(const Driver& the_driver, int ordinal, unsigned the_ctas) {
  driver = &the_driver;
  ctas = the_ctas;
  CUdevice device = 0;
  CUmodule module = nullptr;
  points = std::make_shared<CudaPoints>(the_driver);
  int major = 0;  // from Hopper on, when the kernels say so
  overlaps_slices =
      driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal) == CUDA_SUCCESS && major >= 9;
  return driver->cuDeviceGet(&device, ordinal) == CUDA_SUCCESS && driver->cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
         driver->cuCtxSetCurrent(context) == CUDA_SUCCESS && driver->cuModuleLoadData(&module, ropeway_cuda_kernels) == CUDA_SUCCESS &&
         driver->cuModuleGetFunction(&copy_pieces, module, "ropeway_copy_pieces") == CUDA_SUCCESS &&
         driver->cuModuleGetFunction(&copy_few, module, "ropeway_copy_few") == CUDA_SUCCESS &&
         reducer.Load(*driver, ordinal) == CUDA_SUCCESS;
}

void Gpu::Enter() const {
  static thread_local CUcontext current = nullptr;
  if (current == context) return;
  driver->cuCtxSetCurrent(context);
  current = context;
}

CudaLine::CudaLine(const Gpu& gpu) : gpu_(&gpu) {
  gpu.Enter();
  Note(gpu.driver->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

CudaLine::~CudaLine() {
  DestroyStreams();
  if (staging_ != nullptr) gpu_->driver->cuMemFreeHost(staging_);
}

void CudaLine::DestroyStreams() {
  gpu_->Enter();
  for (CUstream* stream : {&stream_, &reading_}) {
    if (CUstream old = std::exchange(*stream, nullptr); old != nullptr) gpu_->driver->cuStreamDestroy(old);
  }
}

void CudaLine::MoveAway(const Gpu& gpu) {
  gpu_->Enter();
  Note(Wait());
  DestroyStreams();
  gpu_ = &gpu;
  gpu.Enter();
  Note(gpu.driver->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

CUstream CudaLine::StreamToWrite(const void* dst, size_t size) {
  Flush();
  NoteWrite(dst, size);
  busy_ = true;
  return stream_;
}

void CudaLine::NoteWrite(const void* dst, size_t size) {
  if (writes_.size() == kMostWrites) writes_anywhere_ = true;
  if (writes_anywhere_) return;
  const auto begin = reinterpret_cast<uintptr_t>(dst);
  writes_.push_back({begin, begin + size});
}

bool CudaLine::MayWrite(const void* address, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  return writes_anywhere_ ||
         std::any_of(writes_.begin(), writes_.end(), [&](const Range& range) { return range.begin < begin + size && begin < range.end; });
}

bool CudaLine::Touches(const KernelPiece& piece) const {
  return std::any_of(collected_.begin(), collected_.end(), [&](const KernelPiece& other) {
    return Overlap(piece.dst, piece.size, other.dst, other.size) || Overlap(piece.dst, piece.size, other.src, other.size) ||
           Overlap(piece.src, piece.size, other.dst, other.size);
  });
}

void CudaLine::CopyByEngine(void* dst, const void* src, size_t size) {
  slice_in_front_ = false;
  busy_ = true;
  Note(gpu_->driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), size, stream_));
}

void CudaLine::Copy(void* dst, const void* src, size_t size) {
  const KernelPiece piece{dst, src, size};
  NoteWrite(dst, size);
  if (size <= kKernelUpTo) {
    if (collected_.size() >= kMostCollected || Touches(piece)) Flush();
    collected_.push_back(piece);
    collected_bytes_ += size;
    return;
  }
  Flush();
  CopyByEngine(dst, src, size);
}

void CudaLine::Flush() {
  if (collected_.empty()) return;
  std::vector<KernelPiece> pieces;
  pieces.swap(collected_);
  const size_t bytes = std::exchange(collected_bytes_, 0);
  // One piece of a plain copy costs less as what it is.
  if (pieces.size() == 1) {
    CopyByEngine(pieces[0].dst, pieces[0].src, pieces[0].size);
  } else {
    Move(pieces, bytes, kAllWanted, kNoMore);
  }
  pieces.clear();
  collected_.swap(pieces);  // keeps its room
}

char* CudaLine::TakeStaging(size_t bytes) {
  const Driver& driver = *gpu_->driver;
  if (staging_ == nullptr) {
    Note(driver.AllocatePinned(reinterpret_cast<void**>(&staging_), kStagingBytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  }
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (used_ + bytes > kStagingBytes) {
    Note(driver.cuStreamSynchronize(stream_));  // what is in there is still being read
    used_ = 0;
  }
  if (first_failure_ != CUDA_SUCCESS) return nullptr;
  used_ += bytes;
  return staging_ + used_ - bytes;
}

size_t CudaLine::ShareOf(size_t bytes, size_t parts) const {
  return std::clamp(bytes / (gpu_->ctas * kWarpsPerCta * parts) / 512 * 512, kSmallestShare, kLargestShare);
}

void CudaLine::AddTo(FewPieces& few, const KernelPiece& piece) {
  if (piece.size > kKernelUpTo) return CopyByEngine(piece.dst, piece.src, piece.size);
  few.pieces[few.count] = piece;
  few.first[few.count++] = few.shares;
  few.shares += static_cast<unsigned>((piece.size + few.share - 1) / few.share);
}

void CudaLine::Launch(FewPieces& few) {
  void* arguments[] = {&few};
  Launch(gpu_->copy_few, std::min<size_t>(gpu_->ctas, few.shares), arguments, false);
  slice_in_front_ = false;
}

void CudaLine::Launch(CUfunction kernel, size_t blocks, void** arguments, bool beside) {
  CUlaunchAttribute overlap{};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(blocks);
  config.blockDimX = kThreads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream_;
  config.attrs = &overlap;
  config.numAttrs = beside && gpu_->overlaps_slices ? 1 : 0;
  busy_ = true;
  Note(gpu_->driver->cuLaunchKernelEx(&config, kernel, arguments, nullptr));
}

void CudaLine::BeginMove(size_t pieces, size_t bytes) {
  share_ = ShareOf(bytes, kSharesPerWarp);
  const size_t most = std::min(kSlice, pieces + bytes / share_);
  BeginList(pieces >= kLongList && !slice_in_front_ ? kFirstSlice : most);
}

void CudaLine::BeginList(size_t room) {
  list_length_ = 0;
  char* list = TakeStaging(room * sizeof(KernelPiece));
  list_room_ = list == nullptr ? 0 : room;
  if (list != nullptr) list_start_ = static_cast<size_t>(list - staging_);
}

void CudaLine::AddSlowly(void* dst, const void* src, size_t size) {
  if (size > kKernelUpTo) return CopyByEngine(dst, src, size);
  for (size_t at = 0; at < size && list_room_ != 0; at += share_) {
    if (list_length_ == list_room_) {
      LaunchList();
      BeginList(kSlice);
    }
    if (list_room_ == 0) return;  // failed already
    List()[list_length_++] = {static_cast<char*>(dst) + at, static_cast<const char*>(src) + at, std::min(share_, size - at)};
  }
}

void CudaLine::LaunchList() {
  if (list_length_ == 0) return;
  const KernelPiece* list = List();
  auto number = static_cast<unsigned>(list_length_);
  void* arguments[] = {&list, &number};
  Launch(gpu_->copy_pieces, std::min(gpu_->ctas, number), arguments, slice_in_front_);
  slice_in_front_ = true;
}

void CudaLine::Store(void* address, uint64_t value) {
  Flush();
  char* staged = TakeStaging(sizeof(value));
  if (staged == nullptr) return;
  std::memcpy(staged, &value, sizeof(value));
  NoteWrite(address, sizeof(value));
  CopyByEngine(address, staged, sizeof(value));
}

CUresult CudaLine::Read(void* out, const void* address, size_t size) {
  std::memset(out, 0, size);
  if (MayWrite(address, size)) Note(Wait());
  if (reading_ == nullptr) Note(gpu_->driver->cuStreamCreate(&reading_, CU_STREAM_NON_BLOCKING));
  char* staged = TakeStaging(kMostRead);
  if (staged == nullptr) return first_failure_;
  CUresult result =
      gpu_->driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(staged), reinterpret_cast<CUdeviceptr>(address), size, reading_);
  if (result == CUDA_SUCCESS) result = Await(reading_);
  if (result == CUDA_SUCCESS) std::memcpy(out, staged, size);
  return result;
}

std::shared_ptr<DevicePoint> CudaLine::MarkPoint() {
  Flush();
  return first_failure_ == CUDA_SUCCESS ? gpu_->points->Mark(*gpu_, stream_) : nullptr;
}

bool CudaLine::Follow(const CudaPoints::Point& point) {
  if (&point.gpu != gpu_) return false;
  Flush();
  slice_in_front_ = false;
  busy_ = true;
  return gpu_->driver->cuStreamWaitEvent(stream_, point.event, CU_EVENT_WAIT_DEFAULT) == CUDA_SUCCESS;
}

CUresult CudaLine::Await(CUstream stream) const {
  return LookUntilDone([this, stream] { return gpu_->driver->cuStreamQuery(stream); });
}

CUresult LookUntilDone(const std::function<CUresult()>& look) {
  constexpr int64_t kSpinNs = 100000;
  constexpr int64_t kYieldNs = 30000000;
  const int64_t start = NowNs();
  CUresult result = look();
  while (result == CUDA_ERROR_NOT_READY) {
    const int64_t waited = NowNs() - start;
    if (waited > kYieldNs) {
      const timespec nap = {0, static_cast<long>(std::min<int64_t>(waited / 256, 500000))};
      nanosleep(&nap, nullptr);
    } else if (waited > kSpinNs) {
      sched_yield();
    } else {
      CpuRelax();
    }
    result = look();
  }
  return result;
}

CUresult CudaLine::Wait() {
  Flush();
  if (std::exchange(busy_, false)) Note(Await(stream_));
  used_ = 0;
  writes_.clear();
  writes_anywhere_ = false;
  return std::exchange(first_failure_, CUDA_SUCCESS);
}

}  // namespace ropeway::cuda
