// The page without its data, as cmake/page.cmake makes it of the files in page/.
#pragma once

#include <string_view>

namespace ropeway::cli {

extern const std::string_view kPageBeforeMeta;  // up to the words and the tables, as JSON
extern const std::string_view kPageBeforeData;  // from there to the columns, as base64
extern const std::string_view kPageEnd;

}  // namespace ropeway::cli
