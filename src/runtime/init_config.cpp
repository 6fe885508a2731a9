#include "runtime/init_config.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "acl/acl_rt.h"

namespace ropeway {
namespace {

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

// What the file says, by the names that lead to it with a dot between. The library's own tree of values asks for memory when it is
// destroyed, and a process that has none would end there.
struct Value {
  enum class Kind { kText, kCount, kOther } kind = Kind::kOther;
  std::string text;
  uint64_t count = 0;  // a whole number that is not negative
};

class Values final : public nlohmann::json_sax<nlohmann::json> {
 public:
  const Value* Find(const std::string& path) const {
    auto it = values_.find(path);
    return it == values_.end() ? nullptr : &it->second;
  }

  bool null() override { return Add({}); }
  bool boolean(bool) override { return Add({}); }
  bool number_integer(number_integer_t) override { return Add({}); }
  bool number_unsigned(number_unsigned_t number) override { return Add({Value::Kind::kCount, {}, number}); }
  bool number_float(number_float_t, const string_t&) override { return Add({}); }
  bool string(string_t& text) override { return Add({Value::Kind::kText, text, 0}); }
  bool binary(binary_t&) override { return Add({}); }
  bool start_object(size_t) override {
    Add({});
    names_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    names_.back() = name;
    return true;
  }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override {
    Add({});
    names_.emplace_back("[]");
    return true;
  }
  bool end_array() override { return Leave(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool Add(Value value) {
    std::string path;
    for (const std::string& name : names_) path.append(path.empty() ? "" : ".").append(name);
    values_[path] = std::move(value);
    return true;
  }
  bool Leave() {
    names_.pop_back();
    return true;
  }

  std::vector<std::string> names_;  // of the objects around the next value
  std::map<std::string, Value> values_;
};

Status ReadSwitch(const Value* value, const char* key, bool* on) {
  if (value == nullptr) return Ok();
  if (value->text != "0" && value->text != "1")
    return Reject(ACL_ERROR_INVALID_PARAM, "%s in the configuration file is neither \"0\" nor \"1\"", key);
  *on = value->text == "1";
  return Ok();
}

Status ReadDefaultDevice(const Value* value, int* device) {
  if (value == nullptr) return Ok();
  const std::string& text = value->text;
  const char* end = text.data() + text.size();
  int id = -1;
  const bool plain = !text.empty() && text[0] != '-' && (text[0] != '0' || text.size() == 1);
  if (auto [stop, error] = std::from_chars(text.data(), end, id); !plain || error != std::errc() || stop != end)
    return Reject(ACL_ERROR_FAILURE,
                  "default_device in the configuration file must be a device id as a string without leading zeros, as in \"0\"");
  *device = id;
  return Ok();
}

Status ReadSize(const Value* value, const char* key, size_t least, size_t most, std::optional<size_t>* size) {
  if (value == nullptr) return Ok();
  if (value->kind != Value::Kind::kCount || value->count < least || value->count > most)
    return Reject(ACL_ERROR_FAILURE, "%s in the configuration file must be a number from %zu to %zu, without quotes", key, least, most);
  *size = value->count;
  return Ok();
}

// The other keys of the profiler choose what is measured of kernels and of the machine.
Status ReadProfiler(const Values& values, InitConfig* config) {
  const Value* const power = values.Find("profiler.switch");
  if (power == nullptr || power->text == "off") return Ok();
  if (power->text != "on")
    return Reject(ACL_ERROR_INVALID_PROFILING_CONFIG, "profiler.switch in the configuration file is neither \"on\" nor \"off\"");
  const Value* const output = values.Find("profiler.output");
  if (output != nullptr && output->kind != Value::Kind::kText)
    return Reject(ACL_ERROR_INVALID_PROFILING_CONFIG, "profiler.output in the configuration file is not a text, which names a folder");
  config->profile_folder = output == nullptr || output->text.empty() ? "./" : output->text;
  return Ok();
}

Status ReadSizes(const Values& values, InitConfig* config) {
  std::optional<size_t> of_other_chips;  // looked at, and then skipped without a word
  RW_TRY(ReadSize(values.Find("StackSize.aicore_stack_size"), "aicore_stack_size", 0, kMaxStack, &config->simd_stack_size));
  if (config->simd_stack_size)
    config->simd_stack_size = std::max(kMinStack, (*config->simd_stack_size + kStackStep - 1) / kStackStep * kStackStep);
  for (const char* key : {"simt_stack_size", "simt_divergence_stack_size"})
    RW_TRY(ReadSize(values.Find(std::string("StackSize.") + key), key, 0, kMaxSize, &of_other_chips));
  constexpr const char* kSimtFifo = "simt_printf_fifo_size";
  constexpr const char* kSimdFifo = "simd_printf_fifo_size_per_core";
  RW_TRY(ReadSize(values.Find(kSimtFifo), kSimtFifo, 1, kMaxSize, &of_other_chips));
  return ReadSize(values.Find(kSimdFifo), kSimdFifo, 1, kMaxSize, &config->simd_printf_fifo_size);
}

}  // namespace

Status ReadInitFile(const char* path, std::string* text) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path, nullptr), &std::free);
  struct stat info;
  if (resolved == nullptr || stat(resolved.get(), &info) != 0)
    return Reject(ACL_ERROR_INVALID_FILE, "configPath %s does not lead to a file", path);
  if (!S_ISREG(info.st_mode)) return Reject(ACL_ERROR_INVALID_FILE, "configPath %s is not a regular file", path);
  if (info.st_size > kMaxFileBytes)
    return Reject(ACL_ERROR_INVALID_FILE, "configPath %s has %lld bytes, more than %lld", path, static_cast<long long>(info.st_size),
                  static_cast<long long>(kMaxFileBytes));
  std::ifstream file(resolved.get(), std::ios::binary);
  if (!file) return Reject(ACL_ERROR_INVALID_FILE, "configPath %s cannot be opened for reading", path);
  text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return Ok();
}

Status ParseInitConfig(const std::string& text, InitConfig* config) {
  if (text.empty()) return Ok();
  if (NestedTooDeeply(text)) return Reject(ACL_ERROR_PARSE_FILE, "the configuration file nests more than %d objects or lists", kMaxNesting);
  Values values;
  if (!nlohmann::json::sax_parse(text, &values)) return Reject(ACL_ERROR_PARSE_FILE, "the configuration file is not valid JSON");
  RW_TRY(ReadSwitch(values.Find("err_msg_mode"), "err_msg_mode", &config->share_error_texts));
  bool event_mode = false;  // of captured graphs: checked, and without meaning for anything that exists here
  RW_TRY(ReadSwitch(values.Find("acl_graph.event_mode"), "event_mode", &event_mode));
  RW_TRY(ReadDefaultDevice(values.Find("defaultDevice.default_device"), &config->default_device));
  RW_TRY(ReadProfiler(values, config));
  return ReadSizes(values, config);
}

}  // namespace ropeway
