// Names, numbers and descriptions of captured models (rules/graphs.md 7).
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace model_names_test {

using nlohmann::json;

class ModelNames : public CaptureTest {
 protected:
  Model EmptyModel() {
    Begin(stream_);
    return End(stream_);
  }
  static std::string NameOf(const Model& model) {
    std::vector<char> name(2048, 'x');
    EXPECT_EQ(aclmdlRIGetName(model.get(), static_cast<uint32_t>(name.size()), name.data()), ACL_SUCCESS);
    EXPECT_NE(std::find(name.begin(), name.end(), '\0'), name.end());
    name.back() = '\0';
    return name.data();
  }
};

TEST_F(ModelNames, BadArgumentsAreRejected) {
  Model model = EmptyModel();
  aclmdlRI stale = StaleModel(stream_);
  char name[8] = "as is";
  uint32_t id = 77;
  struct Bad {
    const char* name;
    aclError code;
    Callable<aclError()> call;
  };
  const Bad bad[] = {
      {"aclmdlRISetName", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRISetName(nullptr, "net"); }},
      {"aclmdlRISetName", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRISetName(model.get(), nullptr); }},
      {"aclmdlRISetName", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRISetName(stale, "net"); }},
      {"aclmdlRIGetName", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIGetName(nullptr, 8, name); }},
      {"aclmdlRIGetName", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIGetName(model.get(), 0, nullptr); }},
      {"aclmdlRIGetName", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclmdlRIGetName(model.get(), 0, name); }},
      {"aclmdlRIGetName", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIGetName(stale, 8, name); }},
      {"aclmdlRIGetId", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIGetId(nullptr, &id); }},
      {"aclmdlRIGetId", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIGetId(model.get(), nullptr); }},
      {"aclmdlRIGetId", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIGetId(stale, &id); }},
      {"aclmdlRIDebugPrint", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRIDebugPrint(nullptr); }},
      {"aclmdlRIDebugPrint", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIDebugPrint(stale); }},
      {"aclmdlRIDebugJsonPrint", ACL_ERROR_INVALID_PARAM, [] { return aclmdlRIDebugJsonPrint(nullptr, "m.json", 0); }},
      {"aclmdlRIDebugJsonPrint", ACL_ERROR_INVALID_PARAM, [&] { return aclmdlRIDebugJsonPrint(model.get(), nullptr, 0); }},
      {"aclmdlRIDebugJsonPrint", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclmdlRIDebugJsonPrint(stale, "m.json", 0); }},
  };
  for (const Bad& row : bad) ExpectRefused(row.name, row.code, row.call);
  EXPECT_STREQ(name, "as is");
  EXPECT_EQ(id, 77u);
}

TEST_F(ModelNames, NameIsEmptyUntilItIsSetAndCanBeSetAgain) {
  Model model = EmptyModel(), other = EmptyModel();
  EXPECT_EQ(NameOf(model), "");
  EXPECT_EQ(aclmdlRISetName(model.get(), "net"), ACL_SUCCESS);
  EXPECT_EQ(NameOf(model), "net");
  EXPECT_EQ(NameOf(other), "");
  EXPECT_EQ(aclmdlRISetName(model.get(), "another net"), ACL_SUCCESS);
  EXPECT_EQ(NameOf(model), "another net");
  EXPECT_EQ(aclmdlRISetName(model.get(), ""), ACL_SUCCESS);
  EXPECT_EQ(NameOf(model), "");
}

TEST_F(ModelNames, CallersTextIsCopied) {
  Model model = EmptyModel();
  std::string text = "net";
  EXPECT_EQ(aclmdlRISetName(model.get(), text.c_str()), ACL_SUCCESS);
  text = "xxx";
  EXPECT_EQ(NameOf(model), "net");
}

// Whether the end belongs to the 512 bytes is not said.
TEST_F(ModelNames, LongNameIsCutAt512Bytes) {
  Model model = EmptyModel();
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>('a' + i % 26);
  EXPECT_EQ(aclmdlRISetName(model.get(), text.c_str()), ACL_SUCCESS);
  const std::string kept = NameOf(model);
  EXPECT_TRUE(kept.size() == 511 || kept.size() == 512) << kept.size();
  EXPECT_EQ(kept, text.substr(0, kept.size()));
}

TEST_F(ModelNames, ShortBufferGetsTheStartOfTheName) {
  Model model = EmptyModel();
  ASSERT_EQ(aclmdlRISetName(model.get(), "a long name"), ACL_SUCCESS);
  char name[9] = "xxxxxxxx";
  EXPECT_EQ(aclmdlRIGetName(model.get(), 5, name), ACL_SUCCESS);
  EXPECT_EQ(std::string(name, 9), std::string("a lo\0xxx\0", 9));
  EXPECT_EQ(aclmdlRIGetName(model.get(), 1, name), ACL_SUCCESS);
  EXPECT_STREQ(name, "");
}

TEST_F(ModelNames, EveryModelHasItsOwnNumber) {
  Model one = EmptyModel(), two = EmptyModel();
  uint32_t first = 0, second = 0, again = 0;
  EXPECT_EQ(aclmdlRIGetId(one.get(), &first), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIGetId(two.get(), &second), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIGetId(one.get(), &again), ACL_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(first, again);
}

TEST_F(ModelNames, PrintLeavesTheModelAsItIs) {
  Tally tally;
  Begin(stream_);
  ASSERT_EQ(tally.Add(stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(aclmdlRIDebugPrint(model.get()), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(tally.Get(), 1u);
}

// A graph of two streams, and the file that describes it. How the file is built is free: it is searched for what must
// be in it.
class ModelJson : public ModelNames {
 protected:
  static constexpr size_t kSize = 1234;

  struct Memory {
    TestEvent fork{EventKind::kEx}, join{EventKind::kEx};
    PinnedBuffer host{kSize};
    DeviceBuffer device{kSize};
  };
  Model Capture(Memory& m) {
    aclrtStream branch = NewStream();
    Begin(stream_);
    EXPECT_EQ(Copy(m.device.get(), m.host.get(), kSize, stream_), ACL_SUCCESS);
    Link(stream_, m.fork, branch);
    EXPECT_EQ(aclrtMemsetAsync(m.device.get(), kSize, 1, kSize, branch), ACL_SUCCESS);
    Link(branch, m.join, stream_);
    return End(stream_);
  }
  static json Describe(const Model& model, uint32_t flags) {
    const auto path = std::filesystem::path(::testing::TempDir()) / ("ropeway_model_" + std::to_string(::getpid()));
    EXPECT_EQ(aclmdlRIDebugJsonPrint(model.get(), path.c_str(), flags), ACL_SUCCESS);
    std::ifstream file(path);
    EXPECT_TRUE(file.is_open()) << path;
    json described = json::parse(file, nullptr, false);
    std::filesystem::remove(path);
    EXPECT_FALSE(described.is_discarded()) << "not JSON";
    return described;
  }

  // Whether some number in `where` is `number`, or some text has it in hexadecimal.
  static bool Holds(const json& where, uint64_t number) {
    if (where.is_number()) return where.get<uint64_t>() == number;
    if (where.is_string()) {
      std::ostringstream hex;
      hex << "0x" << std::hex << number;
      const std::string text = where.get<std::string>();
      return text.find(hex.str()) != std::string::npos || text == std::to_string(number);
    }
    for (const json& part : where) {
      if (Holds(part, number)) return true;
    }
    return false;
  }
  static bool Holds(const json& where, const void* address) { return Holds(where, reinterpret_cast<uint64_t>(address)); }
};

TEST_F(ModelJson, VerboseTellsStreamsTasksSizesAndAddresses) {
  Memory m;
  Model model = Capture(m);
  ASSERT_EQ(aclmdlRISetName(model.get(), "a net of ours"), ACL_SUCCESS);
  const json described = Describe(model, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE);
  EXPECT_TRUE(Holds(described, kSize));
  EXPECT_TRUE(Holds(described, m.device.get()));
  EXPECT_TRUE(Holds(described, m.host.get()));
  const std::string text = described.dump();
  for (const char* word : {"a net of ours", "stream", "copy", "set"}) {
    EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in " << text;
  }
}

TEST_F(ModelJson, SummaryIsShorter) {
  Memory m;
  Model model = Capture(m);
  const json summary = Describe(model, ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY);
  const json verbose = Describe(model, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE);
  EXPECT_NE(summary.dump().find("stream"), std::string::npos);
  EXPECT_LT(summary.dump().size(), verbose.dump().size());
  EXPECT_FALSE(Holds(summary, m.device.get()));
}

TEST_F(ModelJson, EmptyModelIsDescribedToo) {
  Model model = EmptyModel();
  for (uint32_t flags : {0, 1}) EXPECT_FALSE(Describe(model, flags).is_null());
}

TEST_F(ModelJson, OldFileIsReplaced) {
  Memory m;
  Model large = Capture(m), small = EmptyModel();
  const json alone = Describe(small, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE);
  const auto path = std::filesystem::path(::testing::TempDir()) / ("ropeway_again_" + std::to_string(::getpid()));
  for (const Model* model : {&large, &small}) {
    EXPECT_EQ(aclmdlRIDebugJsonPrint(model->get(), path.c_str(), ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE), ACL_SUCCESS);
  }
  std::ifstream file(path);
  EXPECT_EQ(json::parse(file, nullptr, false), alone);
  std::filesystem::remove(path);
}

TEST_F(ModelJson, PathThatCannotBeWrittenIsAnError) {
  Model model = EmptyModel();
  for (const char* path : {"/nonexistent/folder/model.json", "/", ""}) {
    const bytes::Outcome outcome = bytes::Observe([&] { return aclmdlRIDebugJsonPrint(model.get(), path, 0); });
    EXPECT_NE(outcome.code, ACL_SUCCESS) << path;
    bytes::ExpectReported(outcome, "aclmdlRIDebugJsonPrint");
  }
}

TEST_F(ModelJson, UnknownFlagsAreRejected) {
  Model model = EmptyModel();
  for (uint32_t flags : {2u, 0x80000000u}) {
    EXPECT_EQ(aclmdlRIDebugJsonPrint(model.get(), "/nonexistent/folder/model.json", flags), ACL_ERROR_RT_PARAM_INVALID) << flags;
  }
}

}  // namespace model_names_test
}  // namespace ropeway_test::graph
