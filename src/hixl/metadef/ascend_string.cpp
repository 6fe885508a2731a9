// Bytes are made and freed here alone: a program whose std::string is the other one only counts references.
#include "graph/ascend_string.h"

#include <cstring>
#include <string_view>

namespace ge {
namespace {

// Without bytes comes before everything with bytes.
int Compare(const std::string* a, const std::string* b) {
  if (a == nullptr || b == nullptr) return static_cast<int>(a != nullptr) - static_cast<int>(b != nullptr);
  return a->compare(*b);
}

std::shared_ptr<std::string> Keep(const char* bytes, size_t length) {
  return bytes == nullptr ? nullptr : std::make_shared<std::string>(bytes, length);
}

}  // namespace

AscendString::AscendString(const char* name) : name_(Keep(name, name == nullptr ? 0 : std::strlen(name))) {}
AscendString::AscendString(const char* name, size_t length) : name_(Keep(name, length)) {}

const char* AscendString::GetString() const { return name_ == nullptr ? "" : name_->c_str(); }
size_t AscendString::GetLength() const { return name_ == nullptr ? 0 : name_->size(); }
size_t AscendString::Hash() const {
  return std::hash<std::string_view>()(name_ == nullptr ? std::string_view() : std::string_view(*name_));
}

size_t AscendString::Find(const AscendString& ascend_string) const {
  return name_ == nullptr || ascend_string.name_ == nullptr ? std::string::npos : name_->find(*ascend_string.name_);
}

bool AscendString::operator<(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) < 0; }
bool AscendString::operator>(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) > 0; }
bool AscendString::operator<=(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) <= 0; }
bool AscendString::operator>=(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) >= 0; }
bool AscendString::operator==(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) == 0; }
bool AscendString::operator!=(const AscendString& other) const { return Compare(name_.get(), other.name_.get()) != 0; }

bool AscendString::operator==(const char* other) const {
  return name_ == nullptr || other == nullptr ? name_ == nullptr && other == nullptr : std::strcmp(name_->c_str(), other) == 0;
}
bool AscendString::operator!=(const char* other) const { return !(*this == other); }

}  // namespace ge
