// What the tests of models built by hand share: a fixture that destroys its models before the streams that are bound to them, and a model
// that is built in one line.
#pragma once

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {

constexpr uint32_t kHead = 0, kNotHead = 0x7FFFFFFF;

class HandBuiltTest : public CaptureTest {
 protected:
  void TearDown() override {
    for (aclmdlRI model : models_) {
      if (aclmdlRIDestroy(model) == ACL_ERROR_RT_MODEL_RUNNING) {
        EXPECT_EQ(aclmdlRIAbort(model), ACL_SUCCESS);
        EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
      }
    }
    CaptureTest::TearDown();
  }

  aclmdlRI NewModel() {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRIBuildBegin(&model, 0), ACL_SUCCESS);
    models_.push_back(model);
    return model;
  }
  aclrtStream Persistent(uint32_t more_flags = 0) { return NewStream(ACL_STREAM_PERSISTENT | more_flags); }
  // A new stream that is bound to the model.
  aclrtStream Bound(aclmdlRI model, uint32_t flag = kHead) {
    aclrtStream stream = Persistent();
    EXPECT_EQ(aclmdlRIBindStream(model, stream, flag), ACL_SUCCESS);
    return stream;
  }
  static void Finish(aclmdlRI model, aclrtStream stream) {
    ASSERT_EQ(aclmdlRIEndTask(model, stream), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIBuildEnd(model, nullptr), ACL_SUCCESS);
  }
  aclError Run(aclmdlRI model) {
    const aclError code = aclmdlRIExecuteAsync(model, stream_);
    return code != ACL_SUCCESS ? code : aclrtSynchronizeStream(stream_);
  }

  std::vector<aclmdlRI> models_;
};

// Another context with a model, built and with a stream of its own.
class ForeignModel {
 public:
  ForeignModel() {
    foreign_.Run([&] {
      EXPECT_EQ(aclmdlRIBuildBegin(&model_, 0), ACL_SUCCESS);
      EXPECT_EQ(aclrtCreateStreamWithConfig(&stream_, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRIBindStream(model_, stream_, kHead), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRIEndTask(model_, stream_), ACL_SUCCESS);
      EXPECT_EQ(aclmdlRIBuildEnd(model_, nullptr), ACL_SUCCESS);
    });
  }
  aclmdlRI get() const { return model_; }
  aclrtStream stream() const { return stream_; }  // bound
  aclrtStream plain() const { return foreign_.stream(); }

 private:
  ForeignContext foreign_;
  aclmdlRI model_ = nullptr;
  aclrtStream stream_ = nullptr;
};

}  // namespace ropeway_test::graph
