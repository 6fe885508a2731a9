// A list through its members: nothing is allocated, and each is in one such list at a time. Callers serialise.
#pragma once

namespace ropeway {

template <typename T, T* T::*kNext>
class FifoList {
 public:
  T* first() const { return first_; }
  void PushBack(T* item) {
    item->*kNext = nullptr;
    (last_ != nullptr ? last_->*kNext : first_) = item;
    last_ = item;
  }
  void PushFront(T* item) {
    item->*kNext = first_;
    first_ = item;
    if (last_ == nullptr) last_ = item;
  }
  // Null when it is empty.
  T* PopFront() {
    T* item = first_;
    if (item == nullptr) return nullptr;
    first_ = item->*kNext;
    if (first_ == nullptr) last_ = nullptr;
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace ropeway
