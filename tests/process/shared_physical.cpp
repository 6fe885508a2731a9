// Physical memory that another process imports: who is let in, what both see, and what is left when one of them goes.
#include "tests/process/shared_physical.h"

#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

// --- The importer: does what it is told, and says how it went
// -------------------------------------------------------------------

void Importer() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Window window;
  aclrtDrvMemHandle handle = nullptr;
  for (std::string order = Hear(); !order.empty(); order = Hear()) {
    if (order == "import") {
      Say(std::to_string(ImportNumber(Hear(), &handle)));
    } else if (order == "import fabric") {
      Say(std::to_string(ImportFabric(Hear(), &handle)));
    } else if (order == "map") {
      Say(std::to_string(aclrtMapMem(window.base, kUnit, 0, handle, 0)));
    } else if (order == "read") {
      Say(window.Read());
    } else if (order == "write") {
      window.Write(Hear());
      Say("written");
    } else if (order == "peers") {
      Say(PeerStatus(0, 1) + PeerStatus(1, 0));
    } else if (order == "class") {
      aclrtPtrAttributes attributes = {};
      RW_CHECK_EQ(aclrtPointerGetAttributes(window.base, &attributes), ACL_SUCCESS);
      Say(std::to_string(attributes.location.type) + " " + std::to_string(attributes.location.id));
    } else if (order == "mix") {
      const Memory own(0);
      Say(std::to_string(aclrtMapMem(window.base + kUnit, kUnit, 0, own.handle, 0)));
    } else if (order == "drop") {
      RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
      Say(std::to_string(aclrtFreePhysical(handle)));
    }
  }
}

int Tell(const Peer& peer, const std::string& order) {
  peer.Say(order);
  return peer.HearNumber();
}
int TellImport(const Peer& peer, const std::string& order, const std::string& key) {
  peer.Say(order);
  peer.Say(key);
  return peer.HearNumber();
}
std::string Ask(const Peer& peer, const std::string& question) {
  peer.Say(question);
  return peer.Hear();
}

// --- The exporter
// -----------------------------------------------------------------------------------------------------------------

void Lists() {
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Window window;
  Memory memory(1);
  RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, memory.handle, 0), ACL_SUCCESS);
  window.Write("from the exporter");
  const std::string number = memory.Export(ACL_RT_VMM_EXPORT_FLAG_DEFAULT);
  Peer peer("importer"), stranger("importer");
  RW_CHECK_EQ(Ask(peer, "peers"), "00");
  RW_CHECK_EQ(TellImport(peer, "import", number), ACL_ERROR_RT_NO_PERMISSION);
  RW_CHECK_EQ(Ask(peer, "peers"), "00");
  int32_t pids[] = {1, peer.pid()};
  RW_CHECK_EQ(aclrtMemSetPidToShareableHandle(std::stoull(number), pids, 2), ACL_SUCCESS);
  RW_CHECK_EQ(TellImport(stranger, "import", number), ACL_ERROR_RT_NO_PERMISSION);
  RW_CHECK_EQ(TellImport(stranger, "import", std::to_string(std::stoull(number) ^ 4)), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(TellImport(peer, "import", number), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, "peers"), "11");
  RW_CHECK_EQ(Tell(peer, "map"), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, "class"), "1 0");
  RW_CHECK_EQ(Tell(peer, "mix"), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(Ask(peer, "read"), "from the exporter");
  peer.Say("write");
  RW_CHECK_EQ(Ask(peer, "from the importer"), "written");
  RW_CHECK_EQ(window.Read(), "from the importer");
  // The bytes outlive the exporter's handle and mapping; the shareable handle does not.
  RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
  memory.Free();
  RW_CHECK_EQ(Ask(peer, "read"), "from the importer");
  RW_CHECK_EQ(TellImport(stranger, "import", number), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(Tell(peer, "drop"), ACL_SUCCESS);
}

void Everybody() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Memory device(0), host(-1);
  Window window;
  RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, host.handle, 0), ACL_SUCCESS);
  window.Write("on the host");
  const std::string number = device.Export(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
  const std::string host_number = host.Export(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
  Peer first("importer"), second("importer");
  RW_CHECK_EQ(TellImport(first, "import", number), ACL_SUCCESS);
  RW_CHECK_EQ(TellImport(second, "import", host_number), ACL_SUCCESS);
  RW_CHECK_EQ(Tell(second, "map"), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(second, "class"), "0 0");
  RW_CHECK_EQ(Ask(second, "read"), "on the host");
  RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
}

// Says its number, and is killed in the middle of everything.
void Victim() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Memory memory(0);
  Window window;
  RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, memory.handle, 0), ACL_SUCCESS);
  window.Write("last words");
  Say(memory.Export(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  Hear();
}

void ExporterDies() {
  Peer victim("victim"), peer("importer"), late("importer");
  const std::string number = victim.Hear();
  RW_CHECK_EQ(TellImport(peer, "import", number), ACL_SUCCESS);
  victim.Kill();
  RW_CHECK_EQ(TellImport(late, "import", number), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(Tell(peer, "map"), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, "read"), "last words");
  RW_CHECK_EQ(TellImport(peer, "import", number), ACL_ERROR_RT_PARAM_INVALID);
}

void ImporterDies() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Memory memory(0);
  Window window;
  RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, memory.handle, 0), ACL_SUCCESS);
  const std::string number = memory.Export(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION);
  Peer victim("importer"), other("importer");
  RW_CHECK_EQ(TellImport(victim, "import", number), ACL_SUCCESS);
  RW_CHECK_EQ(Tell(victim, "map"), ACL_SUCCESS);
  victim.Say("write");
  RW_CHECK_EQ(Ask(victim, "a legacy"), "written");
  victim.Kill();
  RW_CHECK_EQ(window.Read(), "a legacy");
  RW_CHECK_EQ(TellImport(other, "import", number), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
}

// A3 has handles of 128 bytes, too.
void Fabric() {
  Memory memory(0);
  aclrtMemFabricHandle fabric = {};
  RW_CHECK_EQ(aclrtMemExportToShareableHandleV2(memory.handle, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric), ACL_ERROR_RT_CONTEXT_NULL);
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemExportToShareableHandleV2(memory.handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric), ACL_SUCCESS);
  const std::string key(reinterpret_cast<char*>(fabric.data), 64);
  Peer peer("importer");
  int32_t pid = peer.pid();
  RW_CHECK_EQ(TellImport(peer, "import fabric", key), ACL_ERROR_RT_NO_PERMISSION);
  RW_CHECK_EQ(aclrtMemSetPidToShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &pid, 1), ACL_SUCCESS);
  RW_CHECK_EQ(TellImport(peer, "import fabric", "no key"), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(TellImport(peer, "import fabric", key), ACL_SUCCESS);
}

// Those can be imported by the process that made them, too, and no list keeps it out.
void FabricInOneProcess() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Memory memory(0);
  aclrtMemFabricHandle fabric = {};
  RW_CHECK_EQ(aclrtMemExportToShareableHandleV2(memory.handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric), ACL_SUCCESS);
  const std::string key(reinterpret_cast<char*>(fabric.data), 64);
  Memory again, there;
  RW_CHECK_EQ(ImportFabric(key, &again.handle), ACL_SUCCESS);
  RW_CHECK(again.handle != memory.handle);
  Window first, second, third;
  RW_CHECK_EQ(aclrtMapMem(first.base, kUnit, 0, memory.handle, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMapMem(second.base, kUnit, 0, again.handle, 0), ACL_SUCCESS);
  first.Write("one memory, two places");
  RW_CHECK_EQ(second.Read(), "one memory, two places");
  // On another device, which reaches this one from then on.
  RW_CHECK_EQ(PeerStatus(0, 1) + PeerStatus(1, 0), "00");
  RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  RW_CHECK_EQ(ImportFabric(key, &there.handle), ACL_SUCCESS);
  RW_CHECK_EQ(PeerStatus(0, 1) + PeerStatus(1, 0), "11");
  RW_CHECK_EQ(aclrtMapMem(third.base, kUnit, 0, there.handle, 0), ACL_SUCCESS);
  third.Write("and a third");
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  // The bytes outlive the exported handle, and the fabric handle does not.
  RW_CHECK_EQ(aclrtUnmapMem(first.base), ACL_SUCCESS);
  memory.Free();
  RW_CHECK_EQ(second.Read(), "and a third");
  aclrtDrvMemHandle late = nullptr;
  RW_CHECK_EQ(ImportFabric(key, &late), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtUnmapMem(second.base), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtUnmapMem(third.base), ACL_SUCCESS);
}

void All() {
  for (const char* mode : {"lists", "everybody", "exporter_dies", "importer_dies"}) ExpectClean(mode);
  for (const char* mode : {"fabric", "fabric_in_one_process"}) ExpectClean(mode, {{"ROPEWAY_SOC", "Ascend910_9391"}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"lists", &Lists},
                             {"everybody", &Everybody},
                             {"exporter_dies", &ExporterDies},
                             {"importer_dies", &ImporterDies},
                             {"fabric", &Fabric},
                             {"fabric_in_one_process", &FabricInOneProcess},
                             {"importer", &Importer},
                             {"victim", &Victim}});
}
