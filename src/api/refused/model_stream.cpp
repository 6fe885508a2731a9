// Streams and labels inside models built by hand (runtime.md 4.6, 4.8, 8.5). There are no such models yet, so nothing
// here can be part of one. Labels themselves live in api/label.cpp.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoModel =
    "works only inside a model built by hand, which is not there yet; order streams by events";

}  // namespace

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"activeStream", activeStream}, {"stream", stream}}));
    RW_TRY(RequireLiveStream(activeStream));
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoModel);
  });
}

aclError aclrtSwitchStream(void* leftValue, aclrtCondition, void* rightValue, aclrtCompareDataType,
                           aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers(
        {{"leftValue", leftValue}, {"rightValue", rightValue}, {"trueStream", trueStream}, {"stream", stream}}));
    RW_TRY(RequireNull("falseStream", falseStream));
    RW_TRY(RequireLiveStream(trueStream));
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoModel);
  });
}

aclError aclrtPersistentTaskClean(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly("a persistent stream cannot be emptied yet; destroy it and create another");
  });
}

aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("label", label));
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoModel);
  });
}

aclError aclrtSwitchLabelByIndex(void* ptr, uint32_t maxValue, aclrtLabelList labelList, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"ptr", ptr}, {"labelList", labelList}}));
    RW_TRY(RequireSome(Layer::kRuntime, "maxValue", maxValue));
    RW_TRY(RequireLiveStream(stream));
    return NotSupportedQuietly(kNoModel);
  });
}
