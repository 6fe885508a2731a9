// Names of captured graphs, and what is in them for people to read (rules/graphs.md 7).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "api/model_handles.h"
#include "engine/task_ranges.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kMaxName = 512;  // with its end
constexpr uint32_t kVerbose = 1;

// Text as it grows. (A tree of values of the JSON library asks for memory when it is destroyed; without any, the process would end there.)
class JsonText {
 public:
  // An object or a list, which has a name unless it is an item of a list.
  void Open(const char* name, char bracket) {
    Begin(name);
    text_ += bracket;
    empty_ = true;
    ++depth_;
  }
  void Close(char bracket) {
    --depth_;
    if (!empty_) NewLine();
    text_ += bracket;
    empty_ = false;
  }
  void Number(const char* name, uint64_t number) {
    Begin(name);
    text_ += std::to_string(number);
  }
  void Text(const char* name, const std::string& text) {
    Begin(name);
    Quote(text);
  }
  void Address(const char* name, const void* address) {
    char text[24];
    snprintf(text, sizeof(text), "%p", address);
    Text(name, text);
  }
  const std::string& text() const { return text_; }

 private:
  void NewLine() { text_.append("\n").append(2 * depth_, ' '); }
  void Begin(const char* name) {
    if (!empty_) text_ += ',';
    if (depth_ > 0) NewLine();
    empty_ = false;
    if (name == nullptr) return;
    Quote(name);
    text_ += ": ";
  }
  void Quote(const std::string& text) {
    text_ += '"';
    for (const char c : text) {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned char>(c));
      if (c == '"' || c == '\\') {
        text_.append(1, '\\').append(1, c);
      } else if (static_cast<unsigned char>(c) < ' ') {
        text_ += escaped;
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  std::string text_;
  size_t depth_ = 0;
  bool empty_ = true;  // nothing has been said since the last bracket opened
};

// Addresses and numbers of one task.
void Describe(const Task& task, JsonText* out) {
  if (task.kind == TaskKind::kBatch) return out->Number("pieces", task.batch.list->pieces().size());
  ForEachRange(task, [out](const TaskRange& range) { return out->Address(range.name.data(), range.address), true; });
  switch (task.kind) {
    case TaskKind::kCopy2d: out->Number("width", task.copy_2d.width); return out->Number("height", task.copy_2d.height);
    case TaskKind::kSet:
    case TaskKind::kSetWords: return out->Number("value", task.set.value);
    case TaskKind::kStore: return out->Number("value", task.store.value);
    case TaskKind::kAwaitValue: return out->Number("value", task.await_value.value);
    case TaskKind::kSignal:
    case TaskKind::kAwaitSignal: return out->Number("edge", task.edge.index);
    default: return;
  }
}

void DescribeTask(const Task& task, bool verbose, JsonText* out) {
  out->Open(nullptr, '{');
  out->Number("id", task.id);
  out->Text("kind", TaskKindName(task.kind));
  out->Text("call", task.call);
  if (const size_t bytes = TaskBytes(task)) out->Number("bytes", bytes);
  if (verbose) Describe(task, out);
  out->Close('}');
}

std::string DescribeModel(Model& model, bool verbose) {
  JsonText out;
  out.Open(nullptr, '{');
  out.Number("model", model.id());
  out.Text("name", model.name());
  out.Open("streams", '[');
  uint64_t number = 0;
  for (const auto& branch : model.graph().branches) {
    out.Open(nullptr, '{');
    out.Number("stream", number++);
    out.Open("tasks", '[');
    for (const Task& task : branch) DescribeTask(task, verbose, &out);
    out.Close(']');
    out.Close('}');
  }
  out.Close(']');
  out.Close('}');
  return out.text();
}

}  // namespace
}  // namespace ropeway::api

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequirePointer("name", name));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    model->set_name(std::string(name, strnlen(name, kMaxName - 1)));
    return Ok();
  });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequirePointer("name", name));
    if (maxLen == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen is 0, but the name's end needs one byte");
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    snprintf(name, maxLen, "%s", model->name().c_str());
    return Ok();
  });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequirePointer("modelRIId", modelRIId));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    *modelRIId = model->id();
    return Ok();
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireCaptured(*model));
    printf("%s\n", DescribeModel(*model, true).c_str());
    return Ok();
  });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequirePointer("path", path));
    if (flags > kVerbose) return Fail(ACL_ERROR_RT_PARAM_INVALID, "flags %u is neither 0 (summary) nor 1 (verbose)", flags);
    RW_TRY_SET(ModelHold model, FindModel(modelRI));
    RW_TRY(RequireCaptured(*model));
    std::ofstream file(path);
    file << DescribeModel(*model, flags == kVerbose) << '\n';
    file.close();
    if (!file) return Fail(ACL_ERROR_RT_PARAM_INVALID, "path %s cannot be written", path);
    return Ok();
  });
}
