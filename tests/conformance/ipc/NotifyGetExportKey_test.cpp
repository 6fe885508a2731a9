// aclrtNotifyGetExportKey, aclrtNotifySetImportPid and aclrtNotifySetImportPidInterServer: handing a notify to other processes.
#include <algorithm>
#include <cctype>
#include <set>

#include "tests/conformance/ipc/ipc_test_util.h"

namespace ropeway_test {
namespace notify_get_export_key_test {

using NotifyGetExportKey = StreamTest;
using NotifySetImportPid = StreamTest;

TEST_F(NotifyGetExportKey, ChecksInOrder) {
  SharedNotify notify;
  aclrtNotify stale = StaleNotify();
  char key[kKeyRoom] = "no key";
  const auto no_context = [](auto call) { return [call] { return WithoutContext(call); }; };
  ExpectAll({
      {"null notify, no room", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifyGetExportKey(nullptr, key, 0, 1); }},
      {"null key, stale", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifyGetExportKey(stale, nullptr, 0, 1); }},
      {"stale, no room", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtNotifyGetExportKey(stale, key, 0, 1); }},
      {"no room", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifyGetExportKey(notify.get(), key, 0, 0); }},
      {"too little room", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifyGetExportKey(notify.get(), key, 64, 0); }},
      {"flag 1, no context", ACL_ERROR_RT_PARAM_INVALID, no_context([&] { return aclrtNotifyGetExportKey(notify.get(), key, 65, 1); })},
      {"flag 3", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifyGetExportKey(notify.get(), key, 65, 3); }},
      {"high flag", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifyGetExportKey(notify.get(), key, 65, 1ull << 32); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, no_context([&] { return aclrtNotifyGetExportKey(notify.get(), key, 65, 0); })},
  });
  EXPECT_STREQ(key, "no key");
}

TEST_F(NotifyGetExportKey, KeysAreLongHexAndNeverTheSame) {
  std::set<std::string> keys;
  for (int i = 0; i < 8; ++i) {
    SharedNotify notify;
    const std::string key = notify.Export(ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT);
    EXPECT_EQ(key.size(), 64u);
    EXPECT_TRUE(std::all_of(key.begin(), key.end(), [](char c) { return std::isdigit(c) || (c >= 'a' && c <= 'f'); })) << key;
    EXPECT_TRUE(keys.insert(key.substr(16)).second);
  }
}

TEST_F(NotifyGetExportKey, OnceOnly) {
  SharedNotify notify;
  const std::string key = notify.Export();
  char again[kKeyRoom] = "no key";
  EXPECT_EQ(aclrtNotifyGetExportKey(notify.get(), again, sizeof(again), 0), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_STREQ(again, "no key");
  SharedNotify imported(key);
  EXPECT_EQ(aclrtNotifyGetExportKey(imported.get(), again, sizeof(again), 0), ACL_ERROR_RT_PARAM_INVALID) << "only its creator hands it on";
}

TEST_F(NotifySetImportPid, ChecksInOrder) {
  SharedNotify notify;
  aclrtNotify stale = StaleNotify();
  int32_t pid = 1;
  aclrtServerPid server = {0, &pid, 1}, nobody = {0, nullptr, 1}, none = {0, &pid, 0};
  const auto no_context = [](auto call) { return [call] { return WithoutContext(call); }; };
  ExpectAll({
      {"null notify", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifySetImportPid(nullptr, &pid, 0); }},
      {"null pids, stale", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifySetImportPid(stale, nullptr, 0); }},
      {"stale, none", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtNotifySetImportPid(stale, &pid, 0); }},
      {"none, no context", ACL_ERROR_RT_PARAM_INVALID, no_context([&] { return aclrtNotifySetImportPid(notify.get(), &pid, 0); })},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, no_context([&] { return aclrtNotifySetImportPid(notify.get(), &pid, 1); })},
      {"not exported", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifySetImportPid(notify.get(), &pid, 1); }},
      {"servers: null notify", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifySetImportPidInterServer(nullptr, &server, 0); }},
      {"servers: null, stale", ACL_ERROR_INVALID_PARAM, [&] { return aclrtNotifySetImportPidInterServer(stale, nullptr, 0); }},
      {"servers: stale, none", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtNotifySetImportPidInterServer(stale, &nobody, 0); }},
      {"servers: none", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifySetImportPidInterServer(notify.get(), &nobody, 0); }},
      {"servers: null pids, no context", ACL_ERROR_RT_PARAM_INVALID,
       no_context([&] { return aclrtNotifySetImportPidInterServer(notify.get(), &nobody, 1); })},
      {"servers: no pids", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifySetImportPidInterServer(notify.get(), &none, 1); }},
      {"servers: no context", ACL_ERROR_RT_CONTEXT_NULL,
       no_context([&] { return aclrtNotifySetImportPidInterServer(notify.get(), &server, 1); })},
      {"servers: not exported", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtNotifySetImportPidInterServer(notify.get(), &server, 1); }},
  });
  notify.Export(ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT);
  EXPECT_EQ(aclrtNotifySetImportPid(notify.get(), &pid, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtNotifySetImportPidInterServer(notify.get(), &server, 1), ACL_SUCCESS);
}

TEST_F(NotifySetImportPid, TheExporterItselfNeedsNoPlaceOnTheList) {
  SharedNotify notify;
  SharedNotify imported(notify.Export(ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
  EXPECT_NE(imported.get(), nullptr);
}

}  // namespace notify_get_export_key_test
}  // namespace ropeway_test
