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
target_link_libraries(ropeway_report PRIVATE nlohmann_json::nlohmann_json)
if(NOT ROPEWAY_SANITIZE)
  target_compile_options(ropeway_report PRIVATE -O1 -g1)
endif()
ropeway_json_sources(${PROJECT_SOURCE_DIR}/cli/report_page.cpp)

if(BUILD_TESTING AND NOT ROPEWAY_SANITIZE STREQUAL "thread")  # there is one thread
  find_package(GTest REQUIRED)
  file(GLOB report_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/report/*_test.cpp)
  add_executable(report_tests ${report_tests})
  add_executable(make_page ${PROJECT_SOURCE_DIR}/tests/report/make_page.cpp)
  foreach(program report_tests make_page)
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${program} PRIVATE -O0 -Wno-dangling-else)
    target_link_libraries(${program} PRIVATE ropeway_report ascendcl Threads::Threads)
  endforeach()
  target_link_libraries(report_tests PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)
endif()
