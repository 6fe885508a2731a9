// Versions and names: the API version, the chip's name, and the version files under ASCEND_HOME_PATH.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace version_test {

using Version = BareTest;

TEST_F(Version, IsTheHeadersAndNeedsNothing) {
  int32_t major = -1, minor = -1, patch = -1;
  EXPECT_EQ(WithoutContext([&] { return aclrtGetVersion(&major, &minor, &patch); }), ACL_SUCCESS);
  EXPECT_EQ(major, ACL_MAJOR_VERSION);
  EXPECT_EQ(minor, ACL_MINOR_VERSION);
  EXPECT_EQ(patch, ACL_PATCH_VERSION);
}

TEST_F(Version, NullOutputIsRejectedAndTheOthersStay) {
  int32_t a = -1, b = -1;
  EXPECT_EQ(aclrtGetVersion(nullptr, &a, &b), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&a, nullptr, &b), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetVersion(&a, &b, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(a, -1);
  EXPECT_EQ(b, -1);
}

TEST_F(Version, SocNameIsOneStaticString) {
  const char* name = aclrtGetSocName();
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(std::string(name).rfind("Ascend", 0), 0u) << name;
  OnFreshThread([&] { EXPECT_EQ(aclrtGetSocName(), name); });
}

// A throw-away install tree that ASCEND_HOME_PATH names.
class VersionFile : public BareTest {
 protected:
  void SetUp() override {
    BareTest::SetUp();
    if (const char* home = std::getenv("ASCEND_HOME_PATH")) saved_ = home;
    root_ = std::filesystem::path(::testing::TempDir()) / ("ropeway_version_" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_);
    ::setenv("ASCEND_HOME_PATH", root_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(root_);
    if (saved_.empty()) {
      ::unsetenv("ASCEND_HOME_PATH");
    } else {
      ::setenv("ASCEND_HOME_PATH", saved_.c_str(), 1);
    }
    BareTest::TearDown();
  }
  void Write(const std::string& package, const std::string& content) {
    auto folder = root_ / "share" / "info" / package;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "version.info") << content;
  }
  static aclError Text(std::string package, std::string* text) {
    char buffer[ACL_PKG_VERSION_MAX_SIZE] = "untouched";
    aclError result = aclsysGetVersionStr(package.data(), buffer);
    *text = buffer;
    return result;
  }
  static aclError Number(std::string package, int32_t* number) { return aclsysGetVersionNum(package.data(), number); }

  std::filesystem::path root_;
  std::string saved_;
};

TEST_F(VersionFile, NullArgumentsAreRejected) {
  char name[] = "runtime";
  char text[ACL_PKG_VERSION_MAX_SIZE] = "untouched";
  int32_t number = -1;
  Write("runtime", "Version=1.2.3\n");
  EXPECT_EQ(aclsysGetVersionStr(nullptr, text), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionStr(name, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionNum(nullptr, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetVersionNum(name, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_STREQ(text, "untouched");
  EXPECT_EQ(number, -1);
}

TEST_F(VersionFile, MissingFileLineOrVariableIsInvalidFile) {
  std::string text;
  int32_t number = -1;
  auto version = std::make_unique<aclCANNPackageVersion>();
  EXPECT_EQ(Text("runtime", &text), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(Number("runtime", &number), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, version.get()), ACL_ERROR_INVALID_FILE);
  Write("runtime", "Name=runtime\n");
  EXPECT_EQ(Text("runtime", &text), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, version.get()), ACL_ERROR_INVALID_FILE);
  Write("runtime", "Version=1.2.3\n");
  EXPECT_EQ(Text("runtime", &text), ACL_SUCCESS);
  ::unsetenv("ASCEND_HOME_PATH");
  EXPECT_EQ(Text("runtime", &text), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(text, "untouched");
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, version.get()), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(number, -1);
}

TEST_F(VersionFile, PackageNamesLeadToTheirFolders) {
  const std::pair<aclCANNPackageName, const char*> packages[] = {
      {ACL_PKG_NAME_CANN, "runtime"},
      {ACL_PKG_NAME_RUNTIME, "runtime"},
      {ACL_PKG_NAME_COMPILER, "bisheng-compiler"},
      {ACL_PKG_NAME_HCCL, "hccl"},
      {ACL_PKG_NAME_TOOLKIT, "oam-tools"},
      {ACL_PKG_NAME_OPP, "ops-legacy"},
      {ACL_PKG_NAME_OPP_KERNEL, "ops-legacy"},
  };
  auto version = std::make_unique<aclCANNPackageVersion>();
  for (const auto& [name, folder] : packages) {
    Write(folder, "Name=x\nVersion=8.5.1-alpha.002\n");
    EXPECT_EQ(aclsysGetCANNVersion(name, version.get()), ACL_SUCCESS) << folder;
    EXPECT_STREQ(version->majorVersion, "8") << folder;
    EXPECT_STREQ(version->minorVersion, "5") << folder;
    EXPECT_STREQ(version->releaseVersion, "1") << folder;
    EXPECT_STREQ(version->patchVersion, "alpha002") << folder;
    std::filesystem::remove_all(root_ / "share");
  }
}

TEST_F(VersionFile, PackageNameOutOfRangeIsRejected) {
  auto version = std::make_unique<aclCANNPackageVersion>();
  for (int name : {-1, 8, 1000}) {
    EXPECT_EQ(aclsysGetCANNVersion(static_cast<aclCANNPackageName>(name), version.get()), ACL_ERROR_INVALID_PARAM);
  }
}

TEST_F(VersionFile, MissingComponentsAreZeroAndTwoAreTheLeast) {
  auto version = std::make_unique<aclCANNPackageVersion>();
  Write("hccl", "Version=8.3\n");
  ASSERT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, version.get()), ACL_SUCCESS);
  EXPECT_STREQ(version->majorVersion, "8");
  EXPECT_STREQ(version->minorVersion, "3");
  EXPECT_STREQ(version->releaseVersion, "0");
  EXPECT_STREQ(version->patchVersion, "0");
  Write("hccl", "Version=8\n");
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_HCCL, version.get()), ACL_ERROR_INVALID_FILE);
}

TEST_F(VersionFile, DashAndUnderscoreStandForEachOther) {
  std::string text;
  auto version = std::make_unique<aclCANNPackageVersion>();
  Write("oam_tools", "Version=8.3.0\n");
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_TOOLKIT, version.get()), ACL_SUCCESS);
  EXPECT_EQ(Text("oam-tools", &text), ACL_SUCCESS);
  EXPECT_EQ(text, "8.3.0");
  Write("ops-legacy", "Version=8.4.0\n");
  EXPECT_EQ(Text("ops_legacy", &text), ACL_SUCCESS);
  EXPECT_EQ(text, "8.4.0");
}

TEST_F(VersionFile, LongTextIsCutAndTheBufferKept) {
  Write("runtime", "Version=" + std::string(500, '7') + "\n");
  char name[] = "runtime";
  std::vector<char> buffer(ACL_PKG_VERSION_MAX_SIZE + 64, 'x');
  aclsysGetVersionStr(name, buffer.data());
  EXPECT_EQ(std::count(buffer.begin() + ACL_PKG_VERSION_MAX_SIZE, buffer.end(), 'x'), 64);
}

TEST_F(VersionFile, NumberIsBuiltFromTheParts) {
  const std::pair<const char*, int32_t> versions[] = {
      {"8.5.1", 80501000}, {"8.5.1-alpha002", 80500702}, {"8.5.0-beta1", 80499801}, {"8.5.0-rc3", 80499903}, {"0.0.1", 1000},
  };
  for (const auto& [text, expected] : versions) {
    Write("runtime", std::string("Version=") + text + "\n");
    int32_t number = -1;
    EXPECT_EQ(Number("runtime", &number), ACL_SUCCESS) << text;
    EXPECT_EQ(number, expected) << text;
  }
}

TEST_F(VersionFile, MalformedNumberIsAnInternalError) {
  int32_t number = -1;
  Write("runtime", "Version=newest\n");
  EXPECT_EQ(Number("runtime", &number), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_EQ(number, -1);
}

}  // namespace version_test
}  // namespace ropeway_test
