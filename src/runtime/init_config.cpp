#include "runtime/init_config.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "acl/acl_rt.h"

namespace ropeway {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxFileBytes = 10 << 20;
constexpr int kMaxNesting = 10;
constexpr size_t kMinStack = 32 << 10;
constexpr size_t kMaxStack = 192 << 10;  // A2 and A3
constexpr size_t kStackStep = 16 << 10;
constexpr size_t kMaxSize = UINT32_MAX;  // what aclrtDeviceSetLimit takes

// Objects and lists are counted apart, and brackets inside strings not at all.
bool NestedTooDeeply(const std::string& text) {
  int braces = 0, brackets = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      braces += (c == '{') - (c == '}');
      brackets += (c == '[') - (c == ']');
    }
    if (std::max(braces, brackets) > kMaxNesting) return true;
  }
  return false;
}

const Json* Member(const Json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  auto it = object->find(key);
  return it == object->end() ? nullptr : &*it;
}

Status ReadSwitch(const Json* value, const char* key, bool* on) {
  if (value == nullptr) return Ok();
  if (*value != "0" && *value != "1")
    return Reject(ACL_ERROR_INVALID_PARAM, "%s in the configuration file is neither \"0\" nor \"1\"", key);
  *on = *value == "1";
  return Ok();
}

Status ReadDefaultDevice(const Json* value, int* device) {
  if (value == nullptr) return Ok();
  const std::string text = value->is_string() ? value->get<std::string>() : "";
  const char* end = text.data() + text.size();
  int id = -1;
  const bool plain = !text.empty() && text[0] != '-' && (text[0] != '0' || text.size() == 1);
  if (auto [stop, error] = std::from_chars(text.data(), end, id); !plain || error != std::errc() || stop != end)
    return Reject(
        ACL_ERROR_FAILURE,
        "default_device in the configuration file must be a device id as a string without leading zeros, as in \"0\"");
  *device = id;
  return Ok();
}

Status ReadSize(const Json* value, const char* key, size_t least, size_t most, std::optional<size_t>* size) {
  if (value == nullptr) return Ok();
  if (!value->is_number_unsigned() || value->get<uint64_t>() < least || value->get<uint64_t>() > most)
    return Reject(ACL_ERROR_FAILURE, "%s in the configuration file must be a number from %zu to %zu, without quotes",
                  key, least, most);
  *size = value->get<size_t>();
  return Ok();
}

Status ReadSizes(const Json& root, InitConfig* config) {
  std::optional<size_t> of_other_chips;  // looked at, and then skipped without a word
  const Json* stacks = Member(&root, "StackSize");
  RW_TRY(ReadSize(Member(stacks, "aicore_stack_size"), "aicore_stack_size", 0, kMaxStack, &config->simd_stack_size));
  if (config->simd_stack_size)
    config->simd_stack_size =
        std::max(kMinStack, (*config->simd_stack_size + kStackStep - 1) / kStackStep * kStackStep);
  for (const char* key : {"simt_stack_size", "simt_divergence_stack_size"})
    RW_TRY(ReadSize(Member(stacks, key), key, 0, kMaxSize, &of_other_chips));
  constexpr const char* kSimtFifo = "simt_printf_fifo_size";
  constexpr const char* kSimdFifo = "simd_printf_fifo_size_per_core";
  RW_TRY(ReadSize(Member(&root, kSimtFifo), kSimtFifo, 1, kMaxSize, &of_other_chips));
  return ReadSize(Member(&root, kSimdFifo), kSimdFifo, 1, kMaxSize, &config->simd_printf_fifo_size);
}

}  // namespace

Status ReadInitFile(const char* path, std::string* text) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path, nullptr), &std::free);
  struct stat info;
  if (resolved == nullptr || stat(resolved.get(), &info) != 0)
    return Reject(ACL_ERROR_INVALID_FILE, "configPath %s does not lead to a file", path);
  if (!S_ISREG(info.st_mode)) return Reject(ACL_ERROR_INVALID_FILE, "configPath %s is not a regular file", path);
  if (info.st_size > kMaxFileBytes)
    return Reject(ACL_ERROR_INVALID_FILE, "configPath %s has %lld bytes, more than %lld", path,
                  static_cast<long long>(info.st_size), static_cast<long long>(kMaxFileBytes));
  std::ifstream file(resolved.get(), std::ios::binary);
  if (!file) return Reject(ACL_ERROR_INVALID_FILE, "configPath %s cannot be opened for reading", path);
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return Ok();
}

Status ParseInitConfig(const std::string& text, InitConfig* config) {
  if (text.empty()) return Ok();
  if (NestedTooDeeply(text))
    return Reject(ACL_ERROR_PARSE_FILE, "the configuration file nests more than %d objects or lists", kMaxNesting);
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return Reject(ACL_ERROR_PARSE_FILE, "the configuration file is not valid JSON");
  RW_TRY(ReadSwitch(Member(&root, "err_msg_mode"), "err_msg_mode", &config->share_error_texts));
  bool event_mode = false;  // of captured graphs: checked, and without meaning for anything that exists here
  RW_TRY(ReadSwitch(Member(Member(&root, "acl_graph"), "event_mode"), "event_mode", &event_mode));
  RW_TRY(ReadDefaultDevice(Member(Member(&root, "defaultDevice"), "default_device"), &config->default_device));
  return ReadSizes(root, config);
}

}  // namespace ropeway
