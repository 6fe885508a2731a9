// Names of captured graphs, and what is in them for people to read (runtime.md 8.7).
#include <algorithm>
#include <cstdio>
#include <fstream>

#include <nlohmann/json.hpp>

#include "api/model_handles.h"
#include "engine/batch.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxName = 512;  // with its end
constexpr uint32_t kVerbose = 1;

std::string Hex(const void* address) {
  char text[24];
  snprintf(text, sizeof(text), "%p", address);
  return text;
}

// Addresses and numbers of one task.
void Describe(const Task& task, Json* out) {
  switch (task.kind) {
    case TaskKind::kCopy:
      (*out)["dst"] = Hex(task.copy.dst);
      (*out)["src"] = Hex(task.copy.src);
      break;
    case TaskKind::kCopy2d:
      (*out)["dst"] = Hex(task.copy_2d.dst);
      (*out)["src"] = Hex(task.copy_2d.src);
      (*out)["width"] = task.copy_2d.width;
      (*out)["height"] = task.copy_2d.height;
      break;
    case TaskKind::kBatch:
      (*out)["pieces"] = task.batch.list->pieces().size();
      break;
    case TaskKind::kCopyByDesc:
      (*out)["descriptor"] = Hex(task.by_desc.descriptor);
      break;
    case TaskKind::kCopyByCells:
      (*out)["dst_cell"] = Hex(task.by_cells.dst_cell);
      (*out)["src_cell"] = Hex(task.by_cells.src_cell);
      break;
    case TaskKind::kSet:
    case TaskKind::kSetWords:
      (*out)["dst"] = Hex(task.set.dst);
      (*out)["value"] = task.set.value;
      break;
    case TaskKind::kReduce:
      (*out)["dst"] = Hex(task.reduce.dst);
      (*out)["src"] = Hex(task.reduce.src);
      break;
    case TaskKind::kStore:
      (*out)["address"] = Hex(task.store.address);
      (*out)["value"] = task.store.value;
      break;
    case TaskKind::kAwaitValue:
      (*out)["address"] = Hex(task.await_value.address);
      (*out)["value"] = task.await_value.value;
      break;
    case TaskKind::kSignal:
    case TaskKind::kAwaitSignal:
      (*out)["edge"] = task.edge.index;
      break;
    default:
      break;
  }
}

Json DescribeTask(const Task& task, bool verbose) {
  Json out = {{"id", task.id}, {"kind", TaskKindName(task.kind)}, {"call", task.call}};
  if (const size_t bytes = TaskBytes(task)) out["bytes"] = bytes;
  if (verbose) Describe(task, &out);
  return out;
}

Json DescribeModel(Model& model, bool verbose) {
  Json streams = Json::array();
  for (const auto& branch : model.graph().branches) {
    Json tasks = Json::array();
    for (const Task& task : branch) tasks.push_back(DescribeTask(task, verbose));
    streams.push_back({{"stream", streams.size()}, {"tasks", std::move(tasks)}});
  }
  return {{"model", model.id()}, {"name", model.name()}, {"streams", std::move(streams)}};
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
    printf("%s\n", DescribeModel(*model, true).dump(2).c_str());
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
    file << DescribeModel(*model, flags == kVerbose).dump(2) << '\n';
    file.close();
    if (!file) return Fail(ACL_ERROR_RT_PARAM_INVALID, "path %s cannot be written", path);
    return Ok();
  });
}
