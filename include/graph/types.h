/*
 * Numbers that headers of the graph library share. C++.
 */
#ifndef RW_GRAPH_TYPES_H
#define RW_GRAPH_TYPES_H

#include <cstddef>
#include <cstdint>

namespace ge {

using char_t = char;

}  // namespace ge

#endif /* RW_GRAPH_TYPES_H */
