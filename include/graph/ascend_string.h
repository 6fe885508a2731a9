/*
 * A string that crosses the borders of libraries, whichever std::string either side has: the bytes are made, read and freed
 * inside the library (libmetadef.so; libgraph.so and libgraph_base.so have it, too). Copies share them. C++.
 */
#ifndef RW_GRAPH_ASCEND_STRING_H
#define RW_GRAPH_ASCEND_STRING_H

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "graph/types.h"

namespace ge {

/* Without bytes ("empty pointer", also made from a null) it is not the same as "": it sorts before everything and equals nothing else. */
class AscendString {
   public:
    AscendString() = default;
    ~AscendString() = default;
    AscendString(const char* name); /* NOLINT: as documented, a literal converts */
    AscendString(const char* name, size_t length);

    const char* GetString() const; /* never null */
    size_t GetLength() const;
    size_t Find(const AscendString& ascend_string) const; /* the first place, or npos */
    size_t Hash() const;

    bool operator<(const AscendString& other) const;
    bool operator>(const AscendString& other) const;
    bool operator<=(const AscendString& other) const;
    bool operator>=(const AscendString& other) const;
    bool operator==(const AscendString& other) const;
    bool operator!=(const AscendString& other) const;
    bool operator==(const char* other) const;
    bool operator!=(const char* other) const;

   private:
    std::shared_ptr<std::string> name_;
};

}  // namespace ge

namespace std {
template <>
struct hash<ge::AscendString> {
    size_t operator()(const ge::AscendString& name) const { return name.Hash(); }
};
}  // namespace std

#endif /* RW_GRAPH_ASCEND_STRING_H */
