// The order in which one thread may take locks: downwards in this list, and no two of one name. docs/locking.md says what each of them
// guards; a test compares the two lists. A build with assertions ends a thread that does otherwise, with the names of both locks: such a
// program would hang one day.
#pragma once

#include <cstdint>

namespace ropeway {

#define RW_LOCK_RANKS(X) \
  X(HixlPool)            \
  X(HixlEngine)          \
  X(HixlLink)            \
  X(HixlMemory)          \
  X(HixlLinkState)       \
  X(HixlShareable)       \
  X(HixlRequest)         \
  X(HixlAnswer)          \
  X(HcclPrepare)         \
  X(HcclExchange)        \
  X(HcclRegistry)        \
  X(HcclWindows)         \
  X(HcclOneSided)        \
  X(HcclGlobalMemory)    \
  X(HcclRemoteRanges)    \
  X(HcclCommunicator)    \
  X(HcclCommMemory)      \
  X(HcclStateCallbacks)  \
  X(HcclBarrier)         \
  X(HcclPlans)           \
  X(HcclPairLinks)       \
  X(HcclMailboxes)       \
  X(HcclDispatcher)      \
  X(HcclHostMem)         \
  X(HcclPeerAccess)      \
  X(UcxContext)          \
  X(HcclPeer)            \
  X(HcclRegions)         \
  X(UcxMessage)          \
  X(HcclLease)           \
  X(HcclGivenUp)         \
  X(HcclNumbers)         \
  X(HcclReply)           \
  X(Init)                \
  X(CoreLimits)          \
  X(Allocators)          \
  X(StreamConfigs)       \
  X(StandIns)            \
  X(ProfConfigs)         \
  X(Profiling)           \
  X(Mspti)               \
  X(Start)               \
  X(Listeners)           \
  X(Seats)               \
  X(Device)              \
  X(Context)             \
  X(Stepper)             \
  X(Model)               \
  X(Labels)              \
  X(VirtualMemory)       \
  X(Pool)                \
  X(IpcMemory)           \
  X(ExportedMemory)      \
  X(EventHome)           \
  X(EventImport)         \
  X(IpcEvent)            \
  X(EventLatch)          \
  X(NotifyOffers)        \
  X(NotifyOffer)         \
  X(NotifyImport)        \
  X(Counter)             \
  X(Registrations)       \
  X(Managed)             \
  X(ManagedAdvice)       \
  X(Aliases)             \
  X(MappedWindow)        \
  X(Heap)                \
  X(SharedChunks)        \
  X(HugePages)           \
  X(CudaMemory)          \
  X(Fences)              \
  X(Stream)              \
  X(Event)               \
  X(FailureScope)        \
  X(StreamError)         \
  X(KnownOrder)          \
  X(RunList)             \
  X(WorkBoard)           \
  X(Operation)           \
  X(ValueWatch)          \
  X(ReplayGrowth)        \
  X(KernelGroup)         \
  X(IdleLines)           \
  X(CudaStaging)         \
  X(CudaWordLine)        \
  X(Slab)                \
  X(Gate)                \
  X(CudaPoints)          \
  X(SpareGates)          \
  X(Service)             \
  X(Offer)               \
  X(Connection)          \
  X(SubmitterLog)        \
  X(ExceptionReports)    \
  X(HostThread)          \
  X(ReportMailbox)       \
  X(ReportMailboxes)     \
  X(WaitTimer)           \
  X(Reclaimer)           \
  X(EventLoop)           \
  X(MsptiBuffers)        \
  X(Submits)             \
  X(Activities)          \
  X(Mstx)                \
  X(Stamps)              \
  X(MarkTexts)           \
  X(ContextOptions)      \
  X(CompileOptions)      \
  X(Registries)          \
  X(Descriptors)

enum class LockRank : uint8_t {
#define RW_LOCK_RANK(name) k##name,
  RW_LOCK_RANKS(RW_LOCK_RANK)
#undef RW_LOCK_RANK
};

// What every lock tells of itself; nothing at all in a release build. Each library knows of its own locks only.
class RankedLock {
 protected:
#ifdef NDEBUG
  constexpr explicit RankedLock(LockRank) {}
  void Taking() {}
  void Left() {}
#else
  constexpr explicit RankedLock(LockRank rank) : rank_(rank) {}
  void Taking();
  void Left();

 private:
  LockRank rank_;
#endif
};

}  // namespace ropeway
