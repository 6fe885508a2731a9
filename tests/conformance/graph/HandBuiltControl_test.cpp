// What a model built by hand runs next (rules/models.md 4, 5): labels and jumps to them, streams that are activated or switched to.
#include "tests/conformance/graph/hand_built.h"

namespace ropeway_test::graph {
namespace hand_built_control_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM, kStale = ACL_ERROR_RT_INVALID_HANDLE, kParam = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kNoContext = ACL_ERROR_RT_CONTEXT_NULL, kOtherContext = ACL_ERROR_RT_STREAM_CONTEXT;
constexpr aclError kBinding = ACL_ERROR_RT_STREAM_MODEL, kInternal = ACL_ERROR_RT_INTERNAL_ERROR;
constexpr aclError kTaskFailed = ACL_ERROR_RT_TS_ERROR, kMemoryGone = ACL_ERROR_RT_SYS_DMA;

// Labels that are in a list of their own.
class LabelSet {
 public:
  explicit LabelSet(size_t count) : labels_(count) {
    for (aclrtLabel& label : labels_) EXPECT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateLabelList(labels_.data(), count, &list_), ACL_SUCCESS);
  }
  ~LabelSet() {
    EXPECT_EQ(aclrtDestroyLabelList(list_), ACL_SUCCESS);
    for (aclrtLabel label : labels_) EXPECT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  }
  LabelSet(const LabelSet&) = delete;
  LabelSet& operator=(const LabelSet&) = delete;
  aclrtLabel operator[](size_t i) const { return labels_[i]; }
  aclrtLabelList list() const { return list_; }

 private:
  std::vector<aclrtLabel> labels_;
  aclrtLabelList list_ = nullptr;
};

using ControlChecks = HandBuiltTest;

struct LabelArgs : CallArgs {
  aclrtLabel label = nullptr;
  aclrtStream stream = nullptr;
  void* index = nullptr;
  aclrtLabelList list = nullptr;
};

TEST_F(ControlChecks, SetLabel) {
  ForeignModel foreign;
  ForeignContext another;
  aclrtLabel elsewhere = nullptr, unlisted = nullptr;
  another.Run([&] { ASSERT_EQ(aclrtCreateLabel(&elsewhere), ACL_SUCCESS); });
  ASSERT_EQ(aclrtCreateLabel(&unlisted), ACL_SUCCESS);
  LabelSet labels(2);
  aclmdlRI model = NewModel();
  LabelArgs valid;
  valid.label = labels[0];
  valid.stream = Bound(model);
  ASSERT_EQ(aclrtSetLabel(labels[1], valid.stream), ACL_SUCCESS);
  const std::vector<Check<LabelArgs>> checks = {
      {"label NULL", kNull, [](LabelArgs& a) { a.label = nullptr; }},
      {"stream NULL", kNull, [](LabelArgs& a) { a.stream = nullptr; }},
      {"stale label", kStale, [](LabelArgs& a) { a.label = Nonsense(); }},
      {"stale stream", kStale, [](LabelArgs& a) { a.stream = Nonsense(); }},
      {"no context", kNoContext, [](LabelArgs& a) { a.without_context = true; }},
      {"label of another context", ACL_ERROR_RT_LABEL_CONTEXT, [&](LabelArgs& a) { a.label = elsewhere; }},
      {"stream of another context", kOtherContext, [&](LabelArgs& a) { a.stream = foreign.stream(); }},
      {"not bound", kBinding, [&](LabelArgs& a) { a.stream = stream_; }},
      {"set twice", kInternal, [&](LabelArgs& a) { a.label = labels[1]; }},
      {"not in a list", kInternal, [&](LabelArgs& a) { a.label = unlisted; }},
  };
  ExpectCheckOrder(
      "aclrtSetLabel", valid, checks, [](const LabelArgs& a) { return aclrtSetLabel(a.label, a.stream); }, [] {});
  EXPECT_EQ(aclrtSetLabel(labels[0], Bound(model)), kInternal) << "nor on another stream";
  EXPECT_EQ(aclrtDestroyLabel(elsewhere), ACL_ERROR_RT_LABEL_CONTEXT);
  another.Run([&] { EXPECT_EQ(aclrtDestroyLabel(elsewhere), ACL_SUCCESS); });
  EXPECT_EQ(WithoutContext([&] { return aclrtDestroyLabel(unlisted); }), kNoContext);
  EXPECT_EQ(aclrtDestroyLabel(unlisted), ACL_SUCCESS);
}

TEST_F(ControlChecks, LabelLists) {
  LabelSet labels(2);
  aclrtLabel first = nullptr, twice[2] = {};
  aclrtLabelList list = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&first), ACL_SUCCESS);
  twice[0] = twice[1] = first;
  aclrtLabel listed[2] = {first, labels[0]};
  EXPECT_EQ(aclrtCreateLabelList(twice, 2, &list), kInternal) << "twice in one list";
  EXPECT_EQ(aclrtCreateLabelList(listed, 2, &list), kInternal) << "in another list already";
  EXPECT_EQ(WithoutContext([&] { return aclrtCreateLabelList(&first, 1, &list); }), kNoContext);
  EXPECT_EQ(list, nullptr);
  EXPECT_EQ(aclrtCreateLabelList(&first, 1, &list), ACL_SUCCESS) << "what failed has left it alone";
  EXPECT_EQ(aclrtDestroyLabelList(list), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyLabel(first), ACL_SUCCESS);
}

TEST_F(ControlChecks, SwitchLabelByIndex) {
  ForeignModel foreign;
  LabelSet labels(1);
  Cell index;
  LabelArgs valid;
  valid.stream = Bound(NewModel());
  valid.index = index.get();
  valid.list = labels.list();
  const std::vector<Check<LabelArgs>> checks = {
      {"index NULL", kNull, [](LabelArgs& a) { a.index = nullptr; }},
      {"list NULL", kNull, [](LabelArgs& a) { a.list = nullptr; }},
      {"stream NULL", kNull, [](LabelArgs& a) { a.stream = nullptr; }},
      {"stale stream", kStale, [](LabelArgs& a) { a.stream = Nonsense(); }},
      {"no context", kNoContext, [](LabelArgs& a) { a.without_context = true; }},
      {"stream of another context", kOtherContext, [&](LabelArgs& a) { a.stream = foreign.stream(); }},
      {"not bound", kBinding, [&](LabelArgs& a) { a.stream = stream_; }},
  };
  ExpectCheckOrder(
      "aclrtSwitchLabelByIndex", valid, checks, [](const LabelArgs& a) { return aclrtSwitchLabelByIndex(a.index, 1, a.list, a.stream); },
      [] {});
}

struct StreamArgs : CallArgs {
  aclrtStream target = nullptr;
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  void* left = nullptr;
  void* right = nullptr;
  int condition = ACL_RT_EQUAL;
  int type = ACL_RT_SWITCH_INT32;
};

TEST_F(ControlChecks, ActiveStream) {
  ForeignModel foreign;
  aclmdlRI model = NewModel();
  StreamArgs valid;
  valid.stream = Bound(model);
  valid.target = Bound(model, kNotHead);
  aclrtStream of_other = Bound(NewModel());
  const std::vector<Check<StreamArgs>> checks = {
      {"target NULL", kNull, [](StreamArgs& a) { a.target = nullptr; }},
      {"stream NULL", kNull, [](StreamArgs& a) { a.stream = nullptr; }},
      {"stale target", kStale, [](StreamArgs& a) { a.target = Nonsense(); }},
      {"stale stream", kStale, [](StreamArgs& a) { a.stream = Nonsense(); }},
      {"no context", kNoContext, [](StreamArgs& a) { a.without_context = true; }},
      {"stream not bound", kBinding, [&](StreamArgs& a) { a.stream = stream_; }},
      {"target not bound", kBinding, [&](StreamArgs& a) { a.target = stream_; }},
      {"stream of another context", kOtherContext, [&](StreamArgs& a) { a.stream = foreign.stream(); }},
      {"target of another model", kBinding, [&](StreamArgs& a) { a.target = of_other; }},
  };
  ExpectCheckOrder(
      "aclrtActiveStream", valid, checks, [](const StreamArgs& a) { return aclrtActiveStream(a.target, a.stream); }, [] {});
}

TEST_F(ControlChecks, SwitchStream) {
  ForeignModel foreign;
  Cell left, right;
  aclmdlRI model = NewModel();
  StreamArgs valid;
  valid.stream = Bound(model);
  valid.target = Bound(model, kNotHead);
  valid.left = left.get();
  valid.right = right.get();
  aclrtStream of_other = Bound(NewModel());
  const std::vector<Check<StreamArgs>> checks = {
      {"left NULL", kNull, [](StreamArgs& a) { a.left = nullptr; }},
      {"right NULL", kNull, [](StreamArgs& a) { a.right = nullptr; }},
      {"target NULL", kNull, [](StreamArgs& a) { a.target = nullptr; }},
      {"stream NULL", kNull, [](StreamArgs& a) { a.stream = nullptr; }},
      {"other stream given", kNull, [](StreamArgs& a) { a.other = Nonsense(); }},
      {"stale target", kStale, [](StreamArgs& a) { a.target = Nonsense(); }},
      {"stale stream", kStale, [](StreamArgs& a) { a.stream = Nonsense(); }},
      {"condition", kParam, [](StreamArgs& a) { a.condition = 6; }},
      {"type", kParam, [](StreamArgs& a) { a.type = 2; }},
      {"target not bound", kBinding, [&](StreamArgs& a) { a.target = stream_; }},
      {"stream not bound", kBinding, [&](StreamArgs& a) { a.stream = stream_; }},
      {"no context", kNoContext, [](StreamArgs& a) { a.without_context = true; }},
      {"stream of another context", kOtherContext, [&](StreamArgs& a) { a.stream = foreign.stream(); }},
      {"target of another model", kBinding, [&](StreamArgs& a) { a.target = of_other; }},
  };
  auto call = [](const StreamArgs& a) {
    return aclrtSwitchStream(a.left, static_cast<aclrtCondition>(a.condition), a.right, static_cast<aclrtCompareDataType>(a.type), a.target,
                             a.other, a.stream);
  };
  ExpectCheckOrder("aclrtSwitchStream", valid, checks, call, [] {});
}

// --- Labels -------------------------------------------------------------------------------------------------------------

using LabelJump = HandBuiltTest;

// Says again as often as it is told, then leave.
struct Countdown {
  PinnedBuffer index{4};
  int left = 0;
  static void Step(void* self) {
    auto* count = static_cast<Countdown*>(self);
    const uint32_t leave = --count->left > 0 ? 0 : 1;
    std::memcpy(count->index.get(), &leave, sizeof(leave));
  }
};

TEST_F(LabelJump, ALoopRunsAsOftenAsTheHostSays) {
  Countdown countdown;
  Tally rounds, ends;
  DeviceBuffer index(4);
  LabelSet labels(2);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(aclrtSetLabel(labels[0], stream), ACL_SUCCESS);
  ASSERT_EQ(rounds.Add(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &Countdown::Step, &countdown), ACL_SUCCESS);
  ASSERT_EQ(Copy(index.get(), countdown.index.get(), 4, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchLabelByIndex(index.get(), 2, labels.list(), stream), ACL_SUCCESS);
  ASSERT_EQ(rounds.Add(stream), ACL_SUCCESS);  // jumped over
  ASSERT_EQ(aclrtSetLabel(labels[1], stream), ACL_SUCCESS);
  ASSERT_EQ(ends.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  for (int i = 0; i < 2; ++i) {
    countdown.left = 7;
    ASSERT_EQ(Run(model), ACL_SUCCESS);
  }
  EXPECT_EQ(rounds.Get(), 14u);
  EXPECT_EQ(ends.Get(), 2u);
  ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  models_.clear();
}

TEST_F(LabelJump, AnIndexThatIsTooLargeMeansTheLastOfTheCount) {
  Cell index, chosen;
  LabelSet labels(3);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model), next[3];
  ASSERT_EQ(aclrtSwitchLabelByIndex(index.get(), 2, labels.list(), stream), ACL_SUCCESS);
  for (size_t i = 0; i < 3; ++i) {
    next[i] = Bound(model, kNotHead);
    ASSERT_EQ(aclrtValueWrite(chosen.get(), 99, 0, next[i]), ACL_SUCCESS);  // in front of the label
    ASSERT_EQ(aclrtSetLabel(labels[i], next[i]), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWrite(chosen.get(), i + 1, 0, next[i]), ACL_SUCCESS);
  }
  TestNotify done;
  aclrtStream last = Bound(model);
  for (aclrtStream each : next) ASSERT_EQ(aclrtRecordNotify(done.get(), each), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(done.get(), last, 0), ACL_SUCCESS);
  Finish(model, last);
  const std::pair<uint64_t, uint64_t> cases[] = {{0, 1}, {1, 2}, {2, 2}, {0xFFFFFFFF, 2}, {uint64_t{1} << 32, 1}};
  for (auto [value, expected] : cases) {
    index.Set(value);
    ASSERT_EQ(Run(model), ACL_SUCCESS);
    EXPECT_EQ(chosen.Get(), expected) << "32 bits of " << value;
  }
}

TEST_F(LabelJump, ALabelThatWasNotSetFailsTheTask) {
  Cell index(1);
  Tally tally;
  LabelSet labels(2);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  ASSERT_EQ(aclrtSetLabel(labels[0], stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchLabelByIndex(index.get(), 2, labels.list(), stream), ACL_SUCCESS);
  ASSERT_EQ(tally.Add(stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), kTaskFailed);
  EXPECT_EQ(tally.Get(), 1u) << "the stream goes on behind it";
}

TEST_F(LabelJump, AnIndexThatIsFreedFailsTheTask) {
  LabelSet labels(1);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model);
  {
    Cell index;
    ASSERT_EQ(aclrtSwitchLabelByIndex(index.get(), 1, labels.list(), stream), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSetLabel(labels[0], stream), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), kMemoryGone);
}

TEST_F(LabelJump, AStreamThatIsBusyCannotBeJumpedTo) {
  Cell index, go, jumped;
  TestNotify done;
  LabelSet labels(1);
  aclmdlRI model = NewModel();
  aclrtStream stream = Bound(model), busy = Bound(model);
  ASSERT_EQ(aclrtSetLabel(labels[0], busy), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(go.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, busy), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(done.get(), busy), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchLabelByIndex(index.get(), 1, labels.list(), stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(go.get(), 1, 0, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(done.get(), stream, 0), ACL_SUCCESS);
  Finish(model, stream);
  EXPECT_EQ(Run(model), kTaskFailed);
}

// --- Streams ------------------------------------------------------------------------------------------------------------

using StreamSwitch = HandBuiltTest;

TEST_F(StreamSwitch, AnActivatedStreamRunsBesideItsIssuer) {
  Tally a, b, c;
  TestNotify joined;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model, kNotHead), never = Bound(model, kNotHead);
  ASSERT_EQ(a.Add(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(second, first), ACL_SUCCESS);
  ASSERT_EQ(b.Add(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(joined.get(), first, 0), ACL_SUCCESS);
  ASSERT_EQ(c.Add(second), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(joined.get(), second), ACL_SUCCESS);
  ASSERT_EQ(a.Add(never), ACL_SUCCESS);
  Finish(model, first);
  for (uint64_t round = 1; round < 4; ++round) {
    ASSERT_EQ(Run(model), ACL_SUCCESS);
    for (Tally* tally : {&a, &b, &c}) EXPECT_EQ(tally->Get(), round);
  }
}

TEST_F(StreamSwitch, AStreamThatRunsIsNotActivatedAgain) {
  Cell go;
  TestNotify joined;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model, kNotHead);
  ASSERT_EQ(aclrtActiveStream(second, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(second, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(go.get(), 1, 0, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(joined.get(), first, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(go.get(), 1, ACL_STREAM_WAIT_VALUE_EQ, second), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(joined.get(), second), ACL_SUCCESS);
  Finish(model, first);
  EXPECT_EQ(Run(model), kTaskFailed);
}

struct Comparing {
  aclrtCondition condition;
  bool below, same, above;  // whether it holds for 1 and 2, 2 and 2, 3 and 2
};

TEST_F(StreamSwitch, TheConditionsCompareLeftWithRight) {
  constexpr Comparing kAll[] = {{ACL_RT_EQUAL, false, true, false},   {ACL_RT_NOT_EQUAL, true, false, true},
                                {ACL_RT_GREATER, false, false, true}, {ACL_RT_GREATER_OR_EQUAL, false, true, true},
                                {ACL_RT_LESS, true, false, false},    {ACL_RT_LESS_OR_EQUAL, true, true, false}};
  for (const Comparing& row : kAll) {
    for (aclrtCompareDataType type : {ACL_RT_SWITCH_INT32, ACL_RT_SWITCH_INT64}) {
      Cell left, right(2), went;
      TestNotify done;
      aclmdlRI model = NewModel();
      aclrtStream first = Bound(model), taken = Bound(model, kNotHead), last = Bound(model);
      ASSERT_EQ(aclrtSwitchStream(left.get(), row.condition, right.get(), type, taken, nullptr, first), ACL_SUCCESS);
      ASSERT_EQ(aclrtValueWrite(went.get(), 1, 0, first), ACL_SUCCESS);
      ASSERT_EQ(aclrtValueWrite(went.get(), 2, 0, taken), ACL_SUCCESS);
      for (aclrtStream each : {first, taken}) ASSERT_EQ(aclrtRecordNotify(done.get(), each), ACL_SUCCESS);
      ASSERT_EQ(aclrtWaitAndResetNotify(done.get(), last, 0), ACL_SUCCESS);
      Finish(model, last);
      const std::pair<uint64_t, bool> cases[] = {{1, row.below}, {2, row.same}, {3, row.above}};
      for (auto [value, holds] : cases) {
        left.Set(value);
        ASSERT_EQ(Run(model), ACL_SUCCESS);
        EXPECT_EQ(went.Get(), holds ? 2u : 1u) << "condition " << row.condition << ", type " << type << ", left " << value;
      }
      ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
      models_.pop_back();
    }
  }
}

TEST_F(StreamSwitch, NumbersHaveTheirSignAndTheirWidth) {
  Cell left, right(0), went;
  TestNotify done;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), narrow = Bound(model, kNotHead), wide = Bound(model, kNotHead), last = Bound(model);
  ASSERT_EQ(aclrtSwitchStream(left.get(), ACL_RT_LESS, right.get(), ACL_RT_SWITCH_INT32, narrow, nullptr, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchStream(left.get(), ACL_RT_LESS, right.get(), ACL_RT_SWITCH_INT64, wide, nullptr, first), ACL_SUCCESS);
  const aclrtStream streams[] = {first, narrow, wide};
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(aclrtValueWrite(went.get(), i, 0, streams[i]), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordNotify(done.get(), streams[i]), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtWaitAndResetNotify(done.get(), last, 0), ACL_SUCCESS);
  Finish(model, last);
  const std::pair<uint64_t, uint64_t> cases[] = {{5, 0}, {0xFFFFFFFF, 1}, {uint64_t{1} << 63, 2}, {~uint64_t{0}, 1}};
  for (auto [value, expected] : cases) {
    left.Set(value);
    ASSERT_EQ(Run(model), ACL_SUCCESS);
    EXPECT_EQ(went.Get(), expected) << "an else-if chain, for " << value;
  }
}

// A number need not lie in one word: the bytes of a 64-bit one may begin anywhere.
TEST_F(StreamSwitch, NumbersMayLieAcrossWords) {
  DeviceBuffer numbers(64);
  std::vector<uint8_t> bytes(64);
  const int64_t value = 0x1122334455667788;
  std::memcpy(bytes.data() + 5, &value, 8);
  std::memcpy(bytes.data() + 32, &value, 8);
  numbers.Write(bytes);
  Cell went;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), same = Bound(model, kNotHead), last = Bound(model);
  TestNotify done;
  ASSERT_EQ(aclrtSwitchStream(numbers.at(5), ACL_RT_EQUAL, numbers.at(32), ACL_RT_SWITCH_INT64, same, nullptr, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(done.get(), first), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(went.get(), 1, 0, same), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(done.get(), same), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(done.get(), last, 0), ACL_SUCCESS);
  Finish(model, last);
  ASSERT_EQ(Run(model), ACL_SUCCESS);
  EXPECT_EQ(went.Get(), 1u);
}

TEST_F(StreamSwitch, AStreamThatWasUnboundCannotBeStarted) {
  Tally tally;
  aclmdlRI model = NewModel();
  aclrtStream first = Bound(model), second = Bound(model, kNotHead);
  ASSERT_EQ(tally.Add(second), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(second, first), ACL_SUCCESS);
  Finish(model, first);
  ASSERT_EQ(aclmdlRIUnbindStream(model, second), ACL_SUCCESS);
  EXPECT_EQ(Run(model), kTaskFailed);
  EXPECT_EQ(tally.Get(), 0u);
}

}  // namespace hand_built_control_test
}  // namespace ropeway_test::graph
