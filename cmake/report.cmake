# What `ropeway report` is made of: the words and the page. A library, because the tests make traces of their own.

file(GLOB page_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/page/*)
set(page_template ${CMAKE_BINARY_DIR}/page_template.cpp)
set(page_script ${PROJECT_SOURCE_DIR}/cmake/page.cmake)
add_custom_command(OUTPUT ${page_template} DEPENDS ${page_files} ${page_script}
                   COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/cli/page -DOUTPUT=${page_template} -P ${page_script})

set(report_sources page_columns report_analysis report_index report_page report_patterns_host report_patterns_stream table
    progress timeline)
list(TRANSFORM report_sources REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/cli/\\1.cpp")
add_library(ropeway_report STATIC EXCLUDE_FROM_ALL ${report_sources} ${page_template})
target_include_directories(ropeway_report PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(ropeway_report PUBLIC ascendcl PRIVATE nlohmann_json::nlohmann_json)
if(NOT ROPEWAY_SANITIZE)
  target_compile_options(ropeway_report PRIVATE -O1 -g1)
endif()
ropeway_json_sources(${PROJECT_SOURCE_DIR}/cli/report_page.cpp)
if(NOT ROPEWAY_FILE_BY_FILE)  # as the other libraries: library.cmake
  set_target_properties(ropeway_report PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endif()
