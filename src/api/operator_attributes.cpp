// Attributes of operators (acl_op.h) and options of their compiler (acl_op_compiler.h): kept for whoever asks.
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"
#include "api/checks.h"
#include "base/mutex.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclopAttr {
  template <typename T>
  using List = std::vector<T>;
  using Value = std::variant<bool, int64_t, float, std::string, aclDataType, List<bool>, List<int64_t>, List<float>, List<std::string>,
                             List<aclDataType>, List<List<int64_t>>>;
  std::map<std::string, Value> values;
};

struct aclGraphDumpOption {};

namespace ropeway::api {
namespace {

template <typename Value>
aclError SetAttribute(const char* call, aclopAttr* attr, const char* name, Value value) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequirePointers({{"attr", attr}, {"attrName", name}}));
    attr->values[name] = std::move(value);
    return Ok();
  });
}

template <typename Value, typename Item>
aclError SetAttributes(const char* call, aclopAttr* attr, const char* name, int count, const Item* values) {
  return PlainEntry(call, [&]() -> Status {
    RW_TRY(RequirePointers({{"attr", attr}, {"attrName", name}}));
    RW_TRY(RequireRange(Layer::kOuter, "numValues", count, 0, INT32_MAX));
    if (count > 0) RW_TRY(RequirePointer("values", values));
    if constexpr (std::is_pointer_v<Item>) {
      for (int i = 0; i < count; ++i) RW_TRY(RequirePointer("a text of values", values[i]));
    }
    attr->values[name] = std::vector<Value>(values, values + count);
    return Ok();
  });
}

constexpr size_t kCompileOptions = ACL_OP_DEBUG_OPTION + 1;

struct CompileOptions {
  Mutex mutex{LockRank::kCompileOptions};
  std::array<std::string, kCompileOptions> values RW_GUARDED_BY(mutex);
};

CompileOptions& TheCompileOptions() {
  static auto* options = new CompileOptions;
  return *options;
}

Status RequireOption(aclCompileOpt opt) { return RequireRange(Layer::kOuter, "opt", opt, 0, kCompileOptions - 1); }

}  // namespace
}  // namespace ropeway::api

aclopAttr* aclopCreateAttr() { return new (std::nothrow) aclopAttr; }

void aclopDestroyAttr(const aclopAttr* attr) { delete attr; }

void aclopDestroyHandle(aclopHandle*) {}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return SetAttribute(__func__, attr, attrName, attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return SetAttribute(__func__, attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return SetAttribute(__func__, attr, attrName, attrValue);
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"attr", attr}, {"attrName", attrName}, {"attrValue", attrValue}}));
    attr->values[attrName] = std::string(attrValue);
    return Ok();
  });
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return SetAttribute(__func__, attr, attrName, attrValue);
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues, const aclDataType values[]) {
  return SetAttributes<aclDataType>(__func__, attr, attrName, numValues, values);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values) {
  return SetAttributes<bool>(__func__, attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values) {
  return SetAttributes<int64_t>(__func__, attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values) {
  return SetAttributes<float>(__func__, attr, attrName, numValues, values);
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values) {
  return SetAttributes<std::string>(__func__, attr, attrName, numValues, values);
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues, const int64_t* const values[]) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"attr", attr}, {"attrName", attrName}}));
    RW_TRY(RequireRange(Layer::kOuter, "numLists", numLists, 0, INT32_MAX));
    if (numLists > 0) RW_TRY(RequirePointers({{"numValues", numValues}, {"values", values}}));
    std::vector<std::vector<int64_t>> lists;
    for (int i = 0; i < numLists; ++i) {
      RW_TRY(RequireRange(Layer::kOuter, "a number of numValues", numValues[i], 0, INT32_MAX));
      if (numValues[i] > 0) RW_TRY(RequirePointer("a list of values", values[i]));
      lists.emplace_back(values[i], values[i] + numValues[i]);
    }
    attr->values[attrName] = std::move(lists);
    return Ok();
  });
}

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireOption(opt));
    RW_TRY(RequirePointer("value", value));
    CompileOptions& options = TheCompileOptions();
    LockGuard lock(options.mutex);
    options.values[opt] = value;
    return Ok();
  });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  size_t size = 0;
  Entry(__func__, [&]() -> Status {
    RW_TRY(RequireOption(opt));
    CompileOptions& options = TheCompileOptions();
    LockGuard lock(options.mutex);
    size = options.values[opt].size() + 1;
    return Ok();
  });
  return size;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireOption(opt));
    RW_TRY(RequirePointer("value", value));
    CompileOptions& options = TheCompileOptions();
    LockGuard lock(options.mutex);
    const std::string& kept = options.values[opt];
    if (length <= kept.size())
      return Reject(ACL_ERROR_INVALID_PARAM, "length %zu is below the %zu that aclGetCompileoptSize says", length, kept.size() + 1);
    memcpy(value, kept.c_str(), kept.size() + 1);
    return Ok();
  });
}

aclGraphDumpOption* aclCreateGraphDumpOpt() { return new (std::nothrow) aclGraphDumpOption; }

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("graphDumpOpt", graphDumpOpt));
    delete graphDumpOpt;
    return Ok();
  });
}
