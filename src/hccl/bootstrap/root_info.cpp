#include "hccl/bootstrap/root_info.h"

#include <cstring>

#include "hccl/transport/sha256.h"
#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

constexpr std::string_view kRootInfoMagic = "RWroot\x01\n";
constexpr size_t kSumBytes = 8;
constexpr size_t kBodyBytes = 8 + 16 + 32 + 1 + 16 + 2;

}  // namespace

void WriteRootInfo(const RootTicket& ticket, HcclRootInfo* info) {
  const Address& root = ticket.root;
  std::string bytes = Writer()
                          .Raw(kRootInfoMagic)
                          .Raw(ticket.communicator)
                          .Raw(ticket.secret)
                          .Number(root.family)
                          .Raw({reinterpret_cast<const char*>(root.bytes), sizeof root.bytes})
                          .Number(root.port)
                          .Take();
  bytes += BytesOf(Sha256(bytes)).substr(0, kSumBytes);
  std::memset(info->internal, 0, sizeof info->internal);
  std::memcpy(info->internal, bytes.data(), bytes.size());
}

bool ReadRootInfo(const HcclRootInfo& info, RootTicket* ticket) {
  const std::string_view body(info.internal, kBodyBytes);
  const std::string_view sum(info.internal + kBodyBytes, kSumBytes);
  if (body.substr(0, kRootInfoMagic.size()) != kRootInfoMagic || BytesOf(Sha256(body)).substr(0, kSumBytes) != sum) return false;
  Reader reader(body.substr(kRootInfoMagic.size()));
  ticket->communicator = reader.Raw(16);
  ticket->secret = reader.Raw(32);
  ticket->root.family = reader.Number<uint8_t>();
  std::memcpy(ticket->root.bytes, reader.Raw(16).data(), 16);
  ticket->root.port = reader.Number<uint16_t>();
  return reader.AtEnd() && ticket->root.valid();
}

}  // namespace ropeway::comm
