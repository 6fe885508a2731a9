#include "profile/mspti_records.h"

#include <unistd.h>

#include <cstring>
#include <iterator>

namespace ropeway {
namespace {

// Programs that were built with the vendor's header read these bytes.
#define RW_RECORD_SIZE(type, size) static_assert(sizeof(type) == (size) && alignof(type) == 8)
#define RW_RECORD_FIELD(type, field, offset) static_assert(offsetof(type, field) == (offset))
RW_RECORD_SIZE(msptiActivityMarker, 56);
RW_RECORD_FIELD(msptiActivityMarker, flag, 4);
RW_RECORD_FIELD(msptiActivityMarker, sourceKind, 8);
RW_RECORD_FIELD(msptiActivityMarker, timestamp, 12);
RW_RECORD_FIELD(msptiActivityMarker, id, 20);
RW_RECORD_FIELD(msptiActivityMarker, objectId, 28);
RW_RECORD_FIELD(msptiActivityMarker, name, 36);
RW_RECORD_FIELD(msptiActivityMarker, domain, 44);
RW_RECORD_SIZE(msptiActivityKernel, 56);
RW_RECORD_FIELD(msptiActivityKernel, start, 4);
RW_RECORD_FIELD(msptiActivityKernel, end, 12);
RW_RECORD_FIELD(msptiActivityKernel, ds, 20);
RW_RECORD_FIELD(msptiActivityKernel, correlationId, 28);
RW_RECORD_FIELD(msptiActivityKernel, type, 36);
RW_RECORD_FIELD(msptiActivityKernel, name, 44);
RW_RECORD_SIZE(msptiActivityApi, 48);
RW_RECORD_FIELD(msptiActivityApi, start, 4);
RW_RECORD_FIELD(msptiActivityApi, end, 12);
RW_RECORD_FIELD(msptiActivityApi, pt, 20);
RW_RECORD_FIELD(msptiActivityApi, correlationId, 28);
RW_RECORD_FIELD(msptiActivityApi, name, 36);
RW_RECORD_SIZE(msptiActivityMemory, 64);
RW_RECORD_FIELD(msptiActivityMemory, memoryOperationType, 4);
RW_RECORD_FIELD(msptiActivityMemory, memoryKind, 8);
RW_RECORD_FIELD(msptiActivityMemory, correlationId, 12);
RW_RECORD_FIELD(msptiActivityMemory, start, 20);
RW_RECORD_FIELD(msptiActivityMemory, end, 28);
RW_RECORD_FIELD(msptiActivityMemory, address, 36);
RW_RECORD_FIELD(msptiActivityMemory, bytes, 44);
RW_RECORD_FIELD(msptiActivityMemory, processId, 52);
RW_RECORD_FIELD(msptiActivityMemory, deviceId, 56);
RW_RECORD_FIELD(msptiActivityMemory, streamId, 60);
RW_RECORD_SIZE(msptiActivityMemset, 56);
RW_RECORD_FIELD(msptiActivityMemset, value, 4);
RW_RECORD_FIELD(msptiActivityMemset, bytes, 8);
RW_RECORD_FIELD(msptiActivityMemset, start, 16);
RW_RECORD_FIELD(msptiActivityMemset, end, 24);
RW_RECORD_FIELD(msptiActivityMemset, deviceId, 32);
RW_RECORD_FIELD(msptiActivityMemset, streamId, 36);
RW_RECORD_FIELD(msptiActivityMemset, correlationId, 40);
RW_RECORD_FIELD(msptiActivityMemset, isAsync, 48);
RW_RECORD_SIZE(msptiActivityMemcpy, 56);
RW_RECORD_FIELD(msptiActivityMemcpy, copyKind, 4);
RW_RECORD_FIELD(msptiActivityMemcpy, bytes, 8);
RW_RECORD_FIELD(msptiActivityMemcpy, start, 16);
RW_RECORD_FIELD(msptiActivityMemcpy, end, 24);
RW_RECORD_FIELD(msptiActivityMemcpy, deviceId, 32);
RW_RECORD_FIELD(msptiActivityMemcpy, streamId, 36);
RW_RECORD_FIELD(msptiActivityMemcpy, correlationId, 40);
RW_RECORD_FIELD(msptiActivityMemcpy, isAsync, 48);
RW_RECORD_SIZE(msptiActivityExternalCorrelation, 24);
RW_RECORD_FIELD(msptiActivityExternalCorrelation, externalKind, 4);
RW_RECORD_FIELD(msptiActivityExternalCorrelation, externalId, 8);
RW_RECORD_FIELD(msptiActivityExternalCorrelation, correlationId, 16);
RW_RECORD_SIZE(msptiActivityCommunication, 72);
RW_RECORD_FIELD(msptiActivityCommunication, dataType, 4);
RW_RECORD_FIELD(msptiActivityCommunication, count, 8);
RW_RECORD_FIELD(msptiActivityCommunication, ds, 16);
RW_RECORD_FIELD(msptiActivityCommunication, start, 24);
RW_RECORD_FIELD(msptiActivityCommunication, end, 32);
RW_RECORD_FIELD(msptiActivityCommunication, algType, 40);
RW_RECORD_FIELD(msptiActivityCommunication, name, 48);
RW_RECORD_FIELD(msptiActivityCommunication, commName, 56);
RW_RECORD_FIELD(msptiActivityCommunication, correlationId, 64);

constexpr size_t kSizes[] = {0,
                             sizeof(msptiActivityMarker),
                             sizeof(msptiActivityKernel),
                             sizeof(msptiActivityApi),
                             0,
                             sizeof(msptiActivityMemory),
                             sizeof(msptiActivityMemset),
                             sizeof(msptiActivityMemcpy),
                             sizeof(msptiActivityExternalCorrelation),
                             sizeof(msptiActivityCommunication),
                             sizeof(msptiActivityApi),
                             sizeof(msptiActivityApi),
                             sizeof(msptiActivityApi)};
static_assert(std::size(kSizes) == MSPTI_ACTIVITY_KIND_COUNT);

uint32_t Process() {
  static const auto pid = static_cast<uint32_t>(getpid());
  return pid;
}
uint64_t Time(int64_t ns) { return static_cast<uint64_t>(ns); }
uint32_t StreamNumber(const Activity& activity) { return activity.stream != 0 ? activity.stream : MSPTI_INVALID_STREAM_ID; }
uint32_t DeviceNumber(const Activity& activity) {
  return activity.device >= 0 ? static_cast<uint32_t>(activity.device) : MSPTI_INVALID_DEVICE_ID;
}

template <typename Record>
MsptiRecord Bytes(const Record& record) {
  static_assert(sizeof(Record) <= MsptiRecord::kLargest);
  MsptiRecord made;
  made.size = sizeof(record);
  std::memcpy(made.bytes, &record, sizeof(record));
  return made;
}

MsptiRecord MarkerRecord(const Activity& activity) {
  constexpr msptiActivityFlag kFlags[] = {MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, MSPTI_ACTIVITY_FLAG_MARKER_START,
                                          MSPTI_ACTIVITY_FLAG_MARKER_END};
  constexpr int kWithDevice = 3;  // so much further are the flags of marks with a stream
  const int flag = kFlags[static_cast<size_t>(activity.mark)] << (activity.stream != 0 ? kWithDevice : 0);
  msptiActivityMarker record{};
  record.kind = MSPTI_ACTIVITY_KIND_MARKER;
  record.flag = static_cast<msptiActivityFlag>(flag);
  record.sourceKind = activity.in_stream ? MSPTI_ACTIVITY_SOURCE_KIND_DEVICE : MSPTI_ACTIVITY_SOURCE_KIND_HOST;
  record.timestamp = Time(activity.start_ns);
  record.id = activity.id;
  if (activity.in_stream) {
    record.objectId.ds = {DeviceNumber(activity), StreamNumber(activity)};
  } else {
    record.objectId.pt = {Process(), activity.thread};
  }
  record.name = activity.mark == MarkKind::kEnd ? "" : activity.name;
  record.domain = *activity.domain != '\0' ? activity.domain : "default";
  return Bytes(record);
}

MsptiRecord ApiRecord(const Activity& activity, msptiActivityKind kind) {
  msptiActivityApi record{};
  record.kind = kind;
  record.start = Time(activity.start_ns);
  record.end = Time(activity.end_ns);
  record.pt = {Process(), activity.thread};
  record.correlationId = activity.correlation;
  record.name = activity.name;
  return Bytes(record);
}

MsptiRecord MemoryRecord(const Activity& activity) {
  msptiActivityMemory record{};
  record.kind = MSPTI_ACTIVITY_KIND_MEMORY;
  record.memoryOperationType =
      activity.freed ? MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE : MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  record.memoryKind = MSPTI_ACTIVITY_MEMORY_DEVICE;
  record.correlationId = activity.correlation;
  record.start = Time(activity.start_ns);
  record.end = Time(activity.end_ns);
  record.address = activity.address;
  record.bytes = activity.bytes;
  record.processId = Process();
  record.deviceId = DeviceNumber(activity);
  record.streamId = StreamNumber(activity);
  return Bytes(record);
}

// What copies and sets have in common, under the same names.
template <typename Record>
Record TransferRecord(const Activity& activity, msptiActivityKind kind) {
  Record record{};
  record.kind = kind;
  record.bytes = activity.bytes;
  record.start = Time(activity.start_ns);
  record.end = Time(activity.end_ns);
  record.deviceId = DeviceNumber(activity);
  record.streamId = StreamNumber(activity);
  record.correlationId = activity.correlation;
  record.isAsync = activity.asynchronous ? 1 : 0;
  return record;
}

MsptiRecord MemsetRecord(const Activity& activity) {
  auto record = TransferRecord<msptiActivityMemset>(activity, MSPTI_ACTIVITY_KIND_MEMSET);
  record.value = activity.value;
  return Bytes(record);
}

MsptiRecord MemcpyRecord(const Activity& activity) {
  auto record = TransferRecord<msptiActivityMemcpy>(activity, MSPTI_ACTIVITY_KIND_MEMCPY);
  record.copyKind = static_cast<msptiActivityMemcpyKind>(activity.way);
  return Bytes(record);
}

MsptiRecord CommunicationRecord(const Activity& activity) {
  msptiActivityCommunication record{};
  record.kind = MSPTI_ACTIVITY_KIND_COMMUNICATION;
  record.dataType = static_cast<decltype(record.dataType)>(activity.value);
  record.count = activity.id;
  record.ds = {DeviceNumber(activity), StreamNumber(activity)};
  record.start = Time(activity.start_ns);
  record.end = Time(activity.end_ns);
  record.algType = "point to point";
  record.name = activity.name;
  record.commName = activity.domain;
  record.correlationId = activity.correlation;
  return Bytes(record);
}

MsptiRecord ExternalRecord(const Activity& activity) {
  msptiActivityExternalCorrelation record{};
  record.kind = MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = static_cast<msptiExternalCorrelationKind>(activity.value);
  record.externalId = activity.id;
  record.correlationId = activity.correlation;
  return Bytes(record);
}

}  // namespace

size_t MsptiRecordSize(uint32_t kind) { return kind < std::size(kSizes) ? kSizes[kind] : 0; }

msptiActivityKind MsptiKindOf(const Activity& activity) {
  switch (activity.kind) {
    case Activity::Kind::kMark: return MSPTI_ACTIVITY_KIND_MARKER;
    case Activity::Kind::kExternal: return MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    case Activity::Kind::kCommunication: return MSPTI_ACTIVITY_KIND_COMMUNICATION;
    case Activity::Kind::kBlock: return activity.device < 0 ? MSPTI_ACTIVITY_KIND_INVALID : MSPTI_ACTIVITY_KIND_MEMORY;
    case Activity::Kind::kTask:
      if (activity.task <= TaskKind::kCopyByCells) return MSPTI_ACTIVITY_KIND_MEMCPY;
      return activity.task <= TaskKind::kSetWords ? MSPTI_ACTIVITY_KIND_MEMSET : MSPTI_ACTIVITY_KIND_INVALID;
    case Activity::Kind::kCall: return static_cast<msptiActivityKind>(activity.value);
  }
  return MSPTI_ACTIVITY_KIND_INVALID;
}

MsptiRecord MakeMsptiRecord(const Activity& activity) {
  const msptiActivityKind kind = MsptiKindOf(activity);
  switch (kind) {
    case MSPTI_ACTIVITY_KIND_MARKER: return MarkerRecord(activity);
    case MSPTI_ACTIVITY_KIND_MEMORY: return MemoryRecord(activity);
    case MSPTI_ACTIVITY_KIND_MEMSET: return MemsetRecord(activity);
    case MSPTI_ACTIVITY_KIND_MEMCPY: return MemcpyRecord(activity);
    case MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return ExternalRecord(activity);
    case MSPTI_ACTIVITY_KIND_COMMUNICATION: return CommunicationRecord(activity);
    default: return ApiRecord(activity, kind);
  }
}

}  // namespace ropeway
