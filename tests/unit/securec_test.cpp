// libc_sec.so: what fits is done, what does not is refused, with its code and an emptied destination.
#include "securec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace securec_test {

constexpr size_t kTooLarge = size_t{SECUREC_STRING_MAX_LEN} + 1;

// A destination with a guard behind it.
struct Room {
  char text[8] = {'o', 'l', 'd', '\0', 'x', 'x', 'x', 'x'};
  char guard = '#';
  ~Room() { EXPECT_EQ(guard, '#') << "written behind the end"; }
  std::string str() const { return std::string(text, strnlen(text, sizeof(text))); }
};

bool IsZero(const Room& room) { return std::string(room.text, sizeof(room.text)) == std::string(sizeof(room.text), '\0'); }

TEST(Securec, CopiesMemoryThatFits) {
  for (auto copy : {&memcpy_s, &memmove_s, &memcpy_sOptAsm, &memcpy_sOptTc}) {
    Room room;
    EXPECT_EQ(copy(room.text, sizeof(room.text), "abcdefgh", 8), EOK);
    EXPECT_EQ(std::string(room.text, 8), "abcdefgh");
    EXPECT_EQ(copy(room.text, sizeof(room.text), "z", 0), EOK);
    EXPECT_EQ(room.text[0], 'a');
    EXPECT_EQ(copy(room.text, 0, "z", 1), ERANGE);
    EXPECT_EQ(copy(room.text, kTooLarge, "z", 1), ERANGE);
    EXPECT_EQ(copy(nullptr, 8, "z", 1), EINVAL);
    EXPECT_EQ(room.text[0], 'a');
    EXPECT_EQ(copy(room.text, sizeof(room.text), "too long.", 9), ERANGE_AND_RESET);
    EXPECT_TRUE(IsZero(room));
    room.text[0] = 'a';
    EXPECT_EQ(copy(room.text, sizeof(room.text), nullptr, 1), EINVAL_AND_RESET);
    EXPECT_TRUE(IsZero(room));
  }
}

TEST(Securec, OverlapsAreForMoves) {
  Room room;
  EXPECT_EQ(memmove_s(room.text + 1, 7, room.text, 3), EOK);
  EXPECT_EQ(std::string(room.text, 4), "oold");
  EXPECT_EQ(memcpy_s(room.text, 8, room.text, 8), EOK) << "onto itself";
  EXPECT_EQ(memcpy_s(room.text, 8, room.text + 4, 4), EOK) << "side by side";
  EXPECT_EQ(memcpy_s(room.text, 8, room.text + 3, 4), EOVERLAP_AND_RESET);
  EXPECT_TRUE(IsZero(room));
}

TEST(Securec, SetsMemory) {
  for (auto set : {&memset_s, &memset_sOptAsm, &memset_sOptTc}) {
    Room room;
    EXPECT_EQ(set(room.text, 8, 'a', 2), EOK);
    EXPECT_EQ(room.str(), "aad");
    EXPECT_EQ(set(nullptr, 8, 'a', 2), EINVAL);
    EXPECT_EQ(set(room.text, 0, 'a', 2), ERANGE);
    EXPECT_EQ(set(room.text, 8, 'b', 9), ERANGE_AND_RESET);
    EXPECT_EQ(std::string(room.text, 8), "bbbbbbbb");
  }
}

TEST(Securec, CopiesStrings) {
  Room room;
  EXPECT_EQ(strcpy_s(room.text, 8, "1234567"), EOK);
  EXPECT_EQ(room.str(), "1234567");
  EXPECT_EQ(strcpy_s(room.text, 8, room.text), EOK);
  EXPECT_EQ(strcpy_s(room.text, 8, "12345678"), ERANGE_AND_RESET);
  EXPECT_EQ(room.str(), "");
  EXPECT_EQ(strcpy_s(room.text, 0, "a"), ERANGE);
  EXPECT_EQ(strcpy_s(nullptr, 8, "a"), EINVAL);
  EXPECT_EQ(strcpy_s(room.text, 8, nullptr), EINVAL_AND_RESET);
  EXPECT_EQ(strncpy_s(room.text, 4, "12345678", 3), EOK);
  EXPECT_EQ(room.str(), "123");
  EXPECT_EQ(strcpy_s(room.text + 1, 7, room.text), EOVERLAP_AND_RESET);
  EXPECT_EQ(room.str(), "1");
  EXPECT_EQ(strncpy_s(room.text, 4, "1234", 4), ERANGE_AND_RESET);
  EXPECT_EQ(strncpy_s(room.text, 8, "1234", kTooLarge), ERANGE_AND_RESET);
  EXPECT_EQ(strcpy_error(room.text, 2, "12"), ERANGE_AND_RESET);
  EXPECT_EQ(strncpy_error(nullptr, 2, "12", 1), EINVAL);
}

TEST(Securec, AppendsStrings) {
  Room room;
  EXPECT_EQ(strcat_s(room.text, 8, "er"), EOK);
  EXPECT_EQ(room.str(), "older");
  EXPECT_EQ(strncat_s(room.text, 8, "123456", 2), EOK);
  EXPECT_EQ(room.str(), "older12");
  EXPECT_EQ(strcat_s(room.text, 8, "3"), ERANGE_AND_RESET);
  EXPECT_EQ(room.str(), "");
  std::memset(room.text, 'a', 8);
  EXPECT_EQ(strcat_s(room.text, 8, ""), EINVAL_AND_RESET) << "no end";
  EXPECT_EQ(strcat_s(room.text, 8, nullptr), EINVAL_AND_RESET);
  EXPECT_EQ(strncat_s(nullptr, 8, "a", 1), EINVAL);
}

TEST(Securec, Tokens) {
  char text[] = "a,b;;c";
  char* rest = nullptr;
  EXPECT_STREQ(strtok_s(text, ",;", &rest), "a");
  EXPECT_STREQ(strtok_s(nullptr, ",;", &rest), "b");
  EXPECT_STREQ(strtok_s(nullptr, ",;", &rest), "c");
  EXPECT_EQ(strtok_s(nullptr, ",;", &rest), nullptr);
  EXPECT_EQ(strtok_s(text, nullptr, &rest), nullptr);
  EXPECT_EQ(strtok_s(text, ",", nullptr), nullptr);
}

TEST(Securec, PrintsWhatFits) {
  Room room;
  EXPECT_EQ(sprintf_s(room.text, 8, "%d", 1234567), 7);
  EXPECT_EQ(room.str(), "1234567");
  EXPECT_EQ(sprintf_s(room.text, 8, "%d", 12345678), -1);
  EXPECT_EQ(room.str(), "");
  EXPECT_EQ(snprintf_s(room.text, 8, 7, "%s", "abc"), 3);
  EXPECT_EQ(snprintf_s(room.text, 8, 2, "%s", "abc"), -1);
  EXPECT_EQ(room.str(), "ab") << "cut off at count";
  EXPECT_EQ(snprintf_s(room.text, 8, 20, "%s", "abc"), 3);
  EXPECT_EQ(snprintf_s(room.text, 8, 20, "%s", "abcdefgh"), -1);
  EXPECT_EQ(room.str(), "");
  EXPECT_EQ(snprintf_truncated_s(room.text, 8, "%s", "abcdefghij"), 7);
  EXPECT_EQ(room.str(), "abcdefg");
  EXPECT_EQ(snprintf_truncated_s(room.text, 8, "%s", "abc"), 3);
  EXPECT_EQ(snprintf_s(nullptr, 8, 7, "%s", "abc"), -1);
  EXPECT_EQ(sprintf_s(room.text, 0, "%s", "abc"), -1);
  EXPECT_EQ(room.str(), "abc");
}

TEST(Securec, ScansIntoRoomsOfAKnownSize) {
  Room room;
  int number = 0, used = 0;
  char letter = 0;
  EXPECT_EQ(sscanf_s("12 abc", "%d %s%n", &number, room.text, sizeof(room.text), &used), 2);
  EXPECT_EQ(number, 12);
  EXPECT_EQ(room.str(), "abc");
  EXPECT_EQ(used, 6);
  EXPECT_EQ(sscanf_s("12345678", "%s", room.text, sizeof(room.text)), -1) << "no room for the end";
  EXPECT_EQ(room.str(), "");
  EXPECT_EQ(sscanf_s("12345678", "%7s%c", room.text, sizeof(room.text), &letter, sizeof(letter)), 2);
  EXPECT_EQ(room.str(), "1234567");
  EXPECT_EQ(letter, '8');
  EXPECT_EQ(sscanf_s("key=value", "%[^=]=%s", room.text, sizeof(room.text), room.text, sizeof(room.text)), 2);
  EXPECT_EQ(room.str(), "value");
  EXPECT_EQ(sscanf_s("[]x]", "[%[]x]]", room.text, sizeof(room.text)), 1);
  EXPECT_EQ(room.str(), "]x]");
  EXPECT_EQ(sscanf_s("7 8", "%*d %d", &number), 1);
  EXPECT_EQ(number, 8);
  long long large = 0;
  EXPECT_EQ(sscanf_s("100% 5000000000", "%d%% %lld", &number, &large), 2);
  EXPECT_EQ(large, 5000000000);
  EXPECT_EQ(sscanf_s("x", "%d", &number), 0);
  EXPECT_EQ(sscanf_s("", "%d", &number), EOF);
  EXPECT_EQ(sscanf_s(nullptr, "%d", &number), -1);
  EXPECT_EQ(sscanf_s("ab", "%2c", room.text, size_t{1}), -1);
  EXPECT_EQ(sscanf_s("ab", "%s", nullptr, size_t{4}), -1);
}

}  // namespace securec_test
