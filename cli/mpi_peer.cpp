// See mpi_peer.h. The names are those of Open MPI 4 and 5, whose binary interface is the same.
#include "cli/mpi_peer.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace ropeway::cli {
namespace {

void Require(int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + " of Open MPI answered " + std::to_string(result));
}

}  // namespace

std::unique_ptr<MpiPeer> MpiPeer::Open() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") == nullptr) return nullptr;
  std::unique_ptr<MpiPeer> peer(new MpiPeer);
  if (!peer->Load()) return nullptr;
  Require(peer->calls_.Init(nullptr, nullptr), "MPI_Init");
  return peer;
}

bool MpiPeer::Load() {
  void* const library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);  // its parts look for each other's names
  if (library == nullptr) return false;
  bool all = true;
  const auto find = [&](const char* name) {
    void* const found = dlsym(library, name);
    all = all && found != nullptr;
    return found;
  };
  const auto load = [&](auto& call, const char* name) { call = reinterpret_cast<std::decay_t<decltype(call)>>(find(name)); };
  load(calls_.Init, "MPI_Init");
  load(calls_.Finalize, "MPI_Finalize");
  load(calls_.Bcast, "MPI_Bcast");
  load(calls_.Barrier, "MPI_Barrier");
  load(calls_.Allreduce, "MPI_Allreduce");
  load(calls_.Allgather, "MPI_Allgather");
  load(calls_.Alltoall, "MPI_Alltoall");
  world_ = find("ompi_mpi_comm_world");
  float_ = find("ompi_mpi_float");
  byte_ = find("ompi_mpi_byte");
  sum_ = find("ompi_mpi_op_sum");
  return all;
}

MpiPeer::~MpiPeer() {
  if (world_ != nullptr) calls_.Finalize();
}

void MpiPeer::Broadcast(void* bytes, size_t count) { Require(calls_.Bcast(bytes, static_cast<int>(count), byte_, 0, world_), "MPI_Bcast"); }
void MpiPeer::Barrier() { Require(calls_.Barrier(world_), "MPI_Barrier"); }
void MpiPeer::AllReduce(const void* in, void* out, size_t count) {
  Require(calls_.Allreduce(in, out, static_cast<int>(count), float_, sum_, world_), "MPI_Allreduce");
}
void MpiPeer::AllGather(const void* in, void* out, size_t each) {
  Require(calls_.Allgather(in, static_cast<int>(each), float_, out, static_cast<int>(each), float_, world_), "MPI_Allgather");
}
void MpiPeer::AllToAll(const void* in, void* out, size_t each) {
  Require(calls_.Alltoall(in, static_cast<int>(each), float_, out, static_cast<int>(each), float_, world_), "MPI_Alltoall");
}

}  // namespace ropeway::cli
