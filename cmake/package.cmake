# How others find an installed Ropeway (CMake, pkg-config), and the Debian packages.
#
# The packages put the tree under /opt/ropeway, where it takes no name away from a toolkit that is installed beside it:
#   ropeway, the libraries and the command; ropeway-dev, headers and what build systems look for; ropeway-python, the module acl;
#   ropeway-cuda, the engine for NVIDIA GPUs; ropeway-tests, the conformance tests; and -dbgsym of each.

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${staging_dir}/RopewayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${packaging_dir}/RopewayConfig.cmake ${packaging_dir}/RopewayTest.cmake ${staging_dir}/RopewayConfigVersion.cmake
        DESTINATION share/cmake/Ropeway)

# ropeway_pkg_config(NAME DESCRIPTION LIBRARIES [REQUIRED]): a file NAME.pc that is good wherever the tree lies.
function(ropeway_pkg_config name description libraries)
  set(requires ${ARGN})
  configure_file(${packaging_dir}/library.pc.in ${staging_dir}/${name}.pc @ONLY)
  install(FILES ${staging_dir}/${name}.pc DESTINATION share/pkgconfig)
endfunction()
ropeway_pkg_config(ascendcl "AscendCL on machines without an NPU" "-lascendcl")
ropeway_pkg_config(hccl "HCCL between threads, processes and hosts, on Ropeway's AscendCL" "-lhccl" ascendcl)
ropeway_pkg_config(hixl "The transfer engines HIXL and ADXL, on Ropeway's AscendCL" "-lllm_datadist -lcann_hixl -lmetadef" ascendcl)

if(BUILD_TESTING)
  set_target_properties(conformance_tests PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib64")
  install(TARGETS conformance_tests RUNTIME DESTINATION libexec/ropeway COMPONENT tests EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ropeway)
set(CPACK_PACKAGE_CONTACT "Ropeway")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "AscendCL's asynchronous copies on machines without an NPU")
set(CPACK_PACKAGING_INSTALL_PREFIX /opt/ropeway)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_SOURCE_DIR}/build/deb)
set(CPACK_COMPONENTS_ALL runtime dev)
foreach(component python cuda tests)
  if((component STREQUAL python AND TARGET acl_python) OR (component STREQUAL cuda AND TARGET ropeway_cuda) OR
     (component STREQUAL tests AND BUILD_TESTING))
    list(APPEND CPACK_COMPONENTS_ALL ${component})
  endif()
endforeach()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ropeway)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION devel)
  if(NOT component STREQUAL runtime)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "ropeway (= ${PROJECT_VERSION})")
  endif()
endforeach()
# What the libraries need of others, and debug information in packages of its own. The tree's own libraries are no package's.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR})
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
include(CPack)

if(BUILD_TESTING)
  ropeway_watched_test(dropin_packages bash ${PROJECT_SOURCE_DIR}/tests/dropin/find_packages.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR} ${PROJECT_VERSION})
endif()
