# libropeway_check.so: the layer that `ropeway check` puts in front of any AscendCL. It knows the public headers only, and links nothing of
# ours; of src/ it is compiled with the reader of fault rules, which the command has, too. Names of source files come from libdw, which is loaded when something was found; without its headers, functions are named.

# The sanitizer builds are for what runs beside it.
if(ROPEWAY_SANITIZE)
  return()
endif()

file(GLOB_RECURSE check_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/check/*.cpp)
add_library(ropeway_check SHARED ${check_sources} ${PROJECT_SOURCE_DIR}/src/base/fault_rules.cpp)
target_include_directories(ropeway_check PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(ropeway_check PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
set(check_exports ${PROJECT_SOURCE_DIR}/check/exports.map)  # nothing of the C++ library may come before the program's own
target_link_options(ropeway_check PRIVATE -Wl,--no-undefined -Wl,--version-script=${check_exports})
set_target_properties(ropeway_check PROPERTIES LINK_DEPENDS ${check_exports})
target_precompile_headers(ropeway_check PRIVATE ${PROJECT_SOURCE_DIR}/check/books.h)
if(NOT ROPEWAY_FILE_BY_FILE)  # as the other libraries: library.cmake
  set_target_properties(ropeway_check PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endif()
ropeway_own_results(ropeway_check)
target_sources(ropeway_check PRIVATE $<TARGET_OBJECTS:ropeway_symbols>)

if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  file(GLOB model_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/check/model/*.cpp)
  add_executable(check_model_tests ${PROJECT_SOURCE_DIR}/tests/check/model_test.cpp ${model_sources})
  target_include_directories(check_model_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(check_model_tests PRIVATE -O0 -g0 -Wno-dangling-else)
  target_link_libraries(check_model_tests PRIVATE GTest::gtest GTest::gtest_main Threads::Threads)
  ropeway_program(check_one_wrong_test ${PROJECT_SOURCE_DIR}/tests/check/one_wrong_test.cpp)
  target_link_libraries(check_one_wrong_test PRIVATE GTest::gtest)
  ropeway_program(check_crowd ${PROJECT_SOURCE_DIR}/tests/check/crowd.cpp)
endif()
