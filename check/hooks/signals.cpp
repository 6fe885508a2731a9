// Notifies, and words of memory that streams wait for.
#include "check/coming.h"

using namespace ropeway::check;

namespace {

void KeepNotify(Books& books, uint32_t operation, aclrtNotify handle) {
  NotifyState state;
  state.operation = operation;
  books.notifies.insert_or_assign(handle, std::move(state));
}

// One that this process exported itself is the same notify.
void KeepNotifyImport(Books& books, uint32_t operation, aclrtNotify handle, const char* key) {
  KeepNotify(books, operation, handle);
  const auto own = books.exported_notifies.find(key);
  if (own != books.exported_notifies.end()) books.notifies[handle].flag = own->second;
}

void KeepNotifyDestroy(Books& books, uint32_t operation, aclrtNotify handle) {
  const auto known = books.notifies.find(handle);
  if (known == books.notifies.end()) return;
  const NotifyState& notify = known->second;
  for (const auto& [stream, wait] : notify.waits)
    if (wait && !books.model.Finished(wait)) {
      books.Tell(Rule::kLifeDestroy, operation, "destroys a notify that " + books.NameOf(wait) + " waits for");
      break;
    }
  books.WhenDone([handle, flag = notify.flag](Books& settled) {
    const auto at = settled.notifies.find(handle);
    if (at != settled.notifies.end() && at->second.flag == flag) settled.notifies.erase(at);  // else another notify has the handle by now
  });
}

std::shared_ptr<Signal> NotifyFlag(const Books& books, aclrtNotify handle) {
  const auto known = books.notifies.find(handle);
  return known == books.notifies.end() ? nullptr : known->second.flag;
}

void KeepNotifyRecord(Books& books, uint32_t operation, aclrtNotify handle, StreamIndex index) {
  Step step;
  step.effect = Step::Effect::kPass;
  step.operation = operation;
  step.point = std::make_shared<Point>();
  step.flag = books.notifies[handle].flag;
  books.model.Submit(index, std::move(step));
}

void KeepNotifyWait(Books& books, uint32_t operation, aclrtNotify handle, StreamIndex index) {
  NotifyState& notify = books.notifies[handle];
  Step step;
  step.effect = Step::Effect::kTakeFlag;
  step.operation = operation;
  step.flag = notify.flag;
  notify.waits[index] = books.model.Submit(index, std::move(step));
}

void KeepWord(Books& books, uint32_t operation, Step::Effect effect, const void* address, uint64_t value, uint32_t condition,
              StreamIndex index) {
  Step step;
  step.effect = effect;
  step.operation = operation;
  step.value = value;
  step.condition = static_cast<uint8_t>(condition);
  step.word = books.model.WordAt(reinterpret_cast<uintptr_t>(address));
  books.model.Submit(index, std::move(step));
}

}  // namespace

RW_KEPT(aclrtCreateNotify, (aclrtNotify * notify, uint64_t flag), (notify, flag), KeepNotify(books, operation, *notify))
RW_KEPT(aclrtNotifyGetExportKey, (aclrtNotify notify, char* key, size_t len, uint64_t flags), (notify, key, len, flags), (void)operation;
        books.exported_notifies[key] = books.notifies[notify].flag)
RW_KEPT(aclrtNotifyImportByKey, (aclrtNotify * notify, const char* key, uint64_t flags), (notify, key, flags),
        KeepNotifyImport(books, operation, *notify, key))
RW_AT_ONCE(aclrtDestroyNotify, (aclrtNotify notify), (notify), KeepNotifyDestroy(books, operation, notify))
RW_RELEASES(aclrtRecordNotify, (aclrtNotify notify, aclrtStream stream), (notify, stream), NotifyFlag(books, notify),
            KeepNotifyRecord(books, operation, notify, index))
RW_QUEUED(aclrtWaitAndResetNotify, (aclrtNotify notify, aclrtStream stream, uint32_t timeout), (notify, stream, timeout),
          KeepNotifyWait(books, operation, notify, index))

RW_RELEASES(aclrtValueWrite, (void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream), (devAddr, value, flag, stream),
            books.model.WordAt(reinterpret_cast<uintptr_t>(devAddr)),
            KeepWord(books, operation, Step::Effect::kStore, devAddr, value, flag, index))
RW_QUEUED(aclrtValueWait, (void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream), (devAddr, value, flag, stream),
          KeepWord(books, operation, Step::Effect::kWaitWord, devAddr, value, flag, index))
