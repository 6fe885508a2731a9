// Open MPI beside us, in the same processes: opened when somebody has started them by mpirun, and compiled without it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ropeway::cli {

class MpiPeer {
 public:
  // Null where this process was not started by mpirun, or has no Open MPI.
  static std::unique_ptr<MpiPeer> Open();
  ~MpiPeer();
  MpiPeer(const MpiPeer&) = delete;
  MpiPeer& operator=(const MpiPeer&) = delete;

  // Of rank 0, to all.
  void Broadcast(void* bytes, size_t count);
  void Barrier();
  // Elements are floats; `each` of them for every rank.
  void AllReduce(const void* in, void* out, size_t count);
  void AllGather(const void* in, void* out, size_t each);
  void AllToAll(const void* in, void* out, size_t each);

 private:
  // Open MPI's handles are addresses of its objects.
  struct Calls {
    int (*Init)(int*, char***);
    int (*Finalize)();
    int (*Bcast)(void*, int, void* type, int root, void* comm);
    int (*Barrier)(void* comm);
    int (*Allreduce)(const void*, void*, int, void* type, void* op, void* comm);
    int (*Allgather)(const void*, int, void* type, void*, int, void* type2, void* comm);
    int (*Alltoall)(const void*, int, void* type, void*, int, void* type2, void* comm);
  };
  MpiPeer() = default;
  bool Load();

  Calls calls_ = {};
  void *world_ = nullptr, *float_ = nullptr, *byte_ = nullptr, *sum_ = nullptr;
};

}  // namespace ropeway::cli
