# The Python module acl: python/site-packages/acl.abi3.so of the drop-in tree, with type stubs. It is built against the limited API
# of Python 3.7, so the one file that any headers from there on make serves every python3.

set(ROPEWAY_PYTHON /usr/bin/python3 CACHE FILEPATH "The python3 whose headers build the module acl, and which runs its tests")
set(Python3_EXECUTABLE ${ROPEWAY_PYTHON})
find_package(Python3 3.7 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python3_FOUND OR NOT Python3_Development.Module_FOUND)
  ropeway_part("Python module acl" "no: ${ROPEWAY_PYTHON} is not there, or has no headers of Python 3.7 or later (Debian: python3-dev)")
  return()
endif()
ropeway_part("Python module acl" "yes, by ${ROPEWAY_PYTHON}")

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.cpp)
add_library(acl_python MODULE ${python_sources} ${PROJECT_SOURCE_DIR}/check/python_frame.cpp)
target_include_directories(acl_python PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(acl_python PRIVATE Py_LIMITED_API=0x03070000)
target_compile_options(acl_python PRIVATE -g1)  # hundreds of small functions made by templates: full debug data is 7 MB
target_include_directories(acl_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_link_libraries(acl_python PRIVATE ascendcl Threads::Threads ${CMAKE_DL_LIBS})
target_precompile_headers(acl_python PRIVATE ${PROJECT_SOURCE_DIR}/python/src/tables.h)
ropeway_own_results(acl_python)
set_target_properties(acl_python PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 9)
# The library is found in the tree, from site-packages itself and from the folder acl in it.
set_target_properties(acl_python PROPERTIES PREFIX "" OUTPUT_NAME acl SUFFIX .abi3.so
  INSTALL_RPATH "$ORIGIN/../../lib64:$ORIGIN/../../../lib64")

# Scripts put site-packages/acl on PYTHONPATH, or pyACL/python/site-packages/acl: the folder that holds the module. So it is there
# under those names, too. The folder has no __init__.py, which is why the file beside it wins; it also holds the stubs,
# and py.typed, without which type checkers pass them over.
set(site_packages python/site-packages)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME python)
file(CREATE_LINK ../acl.abi3.so ${staging_dir}/acl.abi3.so SYMBOLIC)
file(CREATE_LINK ../python ${staging_dir}/python SYMBOLIC)
install(TARGETS acl_python LIBRARY DESTINATION ${site_packages})
install(FILES ${PROJECT_SOURCE_DIR}/python/ropeway_check.py DESTINATION ${site_packages})
install(FILES ${staging_dir}/acl.abi3.so DESTINATION ${site_packages}/acl)
install(FILES ${staging_dir}/python DESTINATION pyACL)
set(python_stubs ${CMAKE_BINARY_DIR}/python_stubs)
add_custom_command(OUTPUT ${python_stubs}/acl/py.typed
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python/stubs.py ${python_stubs}/acl ${python_sources}
  DEPENDS ${PROJECT_SOURCE_DIR}/python/stubs.py ${python_sources}
  COMMENT "Writing the type stubs of the Python module"
  VERBATIM)
install(DIRECTORY ${python_stubs}/acl DESTINATION ${site_packages})
add_custom_command(OUTPUT ${tree_stamp} DEPENDS acl_python ${python_stubs}/acl/py.typed APPEND)

if(BUILD_TESTING)
  execute_process(COMMAND ${ROPEWAY_PYTHON} -c "import numpy, pytest" RESULT_VARIABLE python_status ERROR_QUIET)
  if(NOT python_status EQUAL 0)
    message(WARNING "The test 'python' will FAIL: ${ROPEWAY_PYTHON} lacks numpy or pytest. "
                    "On Debian: apt-get install python3-numpy python3-pytest")
  endif()
  ropeway_watched_test(python ${ROPEWAY_PYTHON} -m pytest -q -ra -p no:cacheprovider ${PROJECT_SOURCE_DIR}/tests/python)
  set_property(TEST python APPEND PROPERTY ENVIRONMENT PYTHONPATH=${ROPEWAY_CANN_DIR}/${site_packages}
                                                       PYTHONDONTWRITEBYTECODE=1 ROPEWAY_TEST_TREE=${ROPEWAY_CANN_DIR})
  ropeway_watched_test(check_listeners bash ${PROJECT_SOURCE_DIR}/tests/check/listeners.sh $<TARGET_FILE:ropeway>
                       $<TARGET_FILE:check_one_wrong_test> ${ROPEWAY_CANN_DIR} ${ROPEWAY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/check)
  set(check_corpus ${PROJECT_SOURCE_DIR}/tests/check/corpus)
  ropeway_watched_test(check_corpus_python python3 ${check_corpus}/corpus_test.py ${ROPEWAY_CANN_DIR}/bin/ropeway ${ROPEWAY_PYTHON}
                       ${check_corpus}/pyacl_programs.py)
  set_property(TEST check_corpus_python APPEND PROPERTY ENVIRONMENT PYTHONPATH=${ROPEWAY_CANN_DIR}/${site_packages} PYTHONDONTWRITEBYTECODE=1)
  ropeway_watched_test(doc_examples ${ROPEWAY_PYTHON} ${PROJECT_SOURCE_DIR}/tests/docs/examples_test.py ${ROPEWAY_CANN_DIR} ${CMAKE_BINARY_DIR})
endif()
