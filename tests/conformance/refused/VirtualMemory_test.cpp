// Links of mappings cannot be chosen.
#include "tests/conformance/refused/refusals.h"

#ifndef ROPEWAY_TEST_VENDOR
namespace ropeway_test {
namespace virtual_memory_test {

constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kRange = ACL_ERROR_RT_PARAM_INVALID;
constexpr size_t kMiB = 1 << 20;

class RefusedMemory : public StreamTest {
 protected:
  void* const p_ = Nonsense();
  void* out_ = Nonsense();
};

TEST_F(RefusedMemory, LinksAreRefused) {
  ExpectRefusals(
      {
          {"aclrtMemMapSelectedLink",
           [&] { return aclrtMemMapSelectedLink(p_, 2 * kMiB, p_, 1); },
           {{kNull, [&] { return aclrtMemMapSelectedLink(nullptr, 2 * kMiB, p_, 1); }},
            {kNull, [&] { return aclrtMemMapSelectedLink(p_, 0, p_, 1); }},
            {kNull, [&] { return aclrtMemMapSelectedLink(p_, 2 * kMiB, p_, 2); }}}},
          {"aclrtMemMapSetLink",
           [&] { return aclrtMemMapSetLink(p_, ACL_RT_MEM_ACCESS_LINK_HCCS); },
           {{kNull, [&] { return aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_HCCS); }},
            {kRange, [&] { return aclrtMemMapSetLink(p_, static_cast<aclrtMemLinkType>(4)); }}}},
      },
      LastError::kShows);
}

}  // namespace virtual_memory_test
}  // namespace ropeway_test
#endif
