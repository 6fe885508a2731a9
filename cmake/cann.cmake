# The drop-in tree: what a client finds under ASCEND_HOME_PATH. `cmake --install --prefix X` writes it under X, and the
# target `cann` does the same into ROPEWAY_CANN_DIR, so the two cannot differ.

set(ROPEWAY_CANN_DIR ${CMAKE_BINARY_DIR}/cann CACHE PATH "Where the target cann assembles the drop-in tree")
set(CMAKE_INSTALL_MESSAGE NEVER)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)  # of the packages (package.cmake)
set(packaging_dir ${PROJECT_SOURCE_DIR}/packaging)

# Names that clients link or open. All are links to one library, so all share one state.
set(library_links
  libacl_rt.so libruntime.so libacl_rt_impl.so libacl_tdt_channel.so libacl_tdt_queue.so libmsprofiler.so libprofapi.so
  libms_tools_ext.so libmspti.so libascend_dump.so libacl_op_compiler.so libnnopbase.so libopapi.so libascend_hal.so libascendsk.so
  libdrvdsmi_host.so libdcmi.so libplatform.so)
# Names that stand in link lines by habit. Programs that use what the vendor has in them do not link.
list(APPEND library_links
  libmmpa.so libslog.so libascendalog.so libregister.so libtiling_api.so libexe_graph.so liberror_manager.so libge_common_base.so)
# Packages whose version.info clients read, and the folder that ASCEND_OPP_PATH names.
set(version_folders share/info/runtime share/info/bisheng-compiler share/info/hccl share/info/oam-tools share/info/ops-legacy opp)

set(staging_dir ${CMAKE_BINARY_DIR}/packaging)
# ropeway_tree_link(PATH TARGET): a symbolic link of the tree.
function(ropeway_tree_link path target)
  cmake_path(GET path PARENT_PATH folder)
  file(MAKE_DIRECTORY ${staging_dir}/${folder})
  file(CREATE_LINK ${target} ${staging_dir}/${path} SYMBOLIC)
  install(FILES ${staging_dir}/${path} DESTINATION ${folder})
endfunction()

set(tree_libraries ascendcl ropeway_c_sec hccl ropeway_metadef ropeway_graph ropeway_graph_base cann_hixl llm_datadist ropeway_check)
if(TARGET ropeway_tls)
  list(APPEND tree_libraries ropeway_tls)
endif()
install(TARGETS ${tree_libraries} LIBRARY DESTINATION lib64)
if(TARGET ropeway_cuda)
  install(TARGETS ropeway_cuda LIBRARY DESTINATION lib64 COMPONENT cuda)
  list(APPEND tree_libraries ropeway_cuda)
endif()
foreach(link IN LISTS library_links)
  ropeway_tree_link(lib64/${link} libascendcl.so)
endforeach()
ropeway_tree_link(lib64/libhcomm.so libhccl.so)
# On Debian CMake looks into lib, not into lib64. A folder of links, since a prefix such as /usr/local has a lib already.
foreach(library IN LISTS tree_libraries)
  get_target_property(name ${library} OUTPUT_NAME)
  if(NOT name)
    set(name ${library})
  endif()
  list(APPEND library_files lib${name}.so)
endforeach()
# Linkers of older projects look into stub.
foreach(file IN LISTS library_files library_links ITEMS libhcomm.so)
  ropeway_tree_link(lib/${file} ../lib64/${file})
  ropeway_tree_link(lib64/stub/${file} ../${file})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include COMPONENT dev FILES_MATCHING PATTERN "*.h")
# The toolkit's own place for the same, by machine. Clients look for their own, for any, or for the one that they are mostly used on.
configure_file(${packaging_dir}/ascend_toolkit_install.info.in ${staging_dir}/ascend_toolkit_install.info @ONLY)
foreach(folder x86_64-linux aarch64-linux)
  ropeway_tree_link(${folder}/include ../include)
  ropeway_tree_link(${folder}/lib64 ../lib64)
  ropeway_tree_link(${folder}/devlib ../lib64)
  install(FILES ${staging_dir}/ascend_toolkit_install.info DESTINATION ${folder})
endforeach()

# What kernel projects include, in the folders where they look for it.
install(FILES ${packaging_dir}/tikcpp/ascendc.cmake DESTINATION tikcpp/ascendc_kernel_cmake)
foreach(folder tools compiler x86_64-linux aarch64-linux)
  ropeway_tree_link(${folder}/tikcpp ../tikcpp)
endforeach()

# Where older releases had them, and where the vendor's own projects look for headers of the runtime.
foreach(part runtime acllib)
  ropeway_tree_link(${part}/include ../include)
  ropeway_tree_link(${part}/lib64 ../lib64)
endforeach()
ropeway_tree_link(include/experiment/runtime ../runtime)
ropeway_tree_link(pkg_inc/runtime/runtime ../../include/runtime)
file(GLOB runtime_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include/runtime ${PROJECT_SOURCE_DIR}/include/runtime/*.h)
foreach(header IN LISTS runtime_headers)
  ropeway_tree_link(pkg_inc/runtime/${header} ../../include/runtime/${header})
endforeach()

configure_file(${packaging_dir}/version.info.in ${staging_dir}/version.info @ONLY)
foreach(folder IN LISTS version_folders)
  install(FILES ${staging_dir}/version.info DESTINATION ${folder})
endforeach()

if(TARGET ropeway)
  install(TARGETS ropeway RUNTIME DESTINATION bin)
  # Written by the command itself, which therefore has to run here.
  if(NOT CMAKE_CROSSCOMPILING AND NOT ROPEWAY_SANITIZE)
    add_custom_command(TARGET ropeway POST_BUILD
      COMMAND $<TARGET_FILE:ropeway> manual > ${staging_dir}/ropeway.1
      COMMAND $<TARGET_FILE:ropeway> completion > ${staging_dir}/ropeway.bash
      VERBATIM)
    install(FILES ${staging_dir}/ropeway.1 DESTINATION share/man/man1)
    install(FILES ${staging_dir}/ropeway.bash DESTINATION share/bash-completion/completions RENAME ropeway)
  endif()
endif()
install(PROGRAMS ${packaging_dir}/bin/setenv.bash DESTINATION bin)
install(FILES ${packaging_dir}/check_findings.schema.json DESTINATION share/ropeway)
# Found by gdb beside the library, where it trusts the folder, and by `source`.
install(FILES ${packaging_dir}/ropeway_gdb.py DESTINATION share/ropeway)
install(FILES ${packaging_dir}/ropeway_gdb.py DESTINATION lib64 RENAME libascendcl.so-gdb.py)
install(PROGRAMS ${packaging_dir}/set_env.sh DESTINATION .)

file(GLOB_RECURSE tree_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${packaging_dir}/*)
set(tree_stamp ${CMAKE_BINARY_DIR}/cann.stamp)
add_custom_command(OUTPUT ${tree_stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${ROPEWAY_CANN_DIR}/include ${ROPEWAY_CANN_DIR}/share
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${ROPEWAY_CANN_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${tree_stamp}
  DEPENDS ${tree_libraries} $<TARGET_NAME_IF_EXISTS:ropeway> ${tree_inputs}
  COMMENT "Assembling ${ROPEWAY_CANN_DIR}"
  VERBATIM)
add_custom_target(cann ALL DEPENDS ${tree_stamp})

if(BUILD_TESTING)
  ropeway_watched_test(dropin_tree bash ${PROJECT_SOURCE_DIR}/tests/dropin/build_clients.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
  ropeway_watched_test(dropin_names bash ${PROJECT_SOURCE_DIR}/tests/dropin/library_names.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
  ropeway_watched_test(dropin_functions bash ${PROJECT_SOURCE_DIR}/tests/headers/family_functions.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/tests/headers/family_functions.inc)
  ropeway_watched_test(dropin_tools bash ${PROJECT_SOURCE_DIR}/tests/dropin/run_under_tools.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
  ropeway_watched_test(dropin_kernels bash ${PROJECT_SOURCE_DIR}/tests/dropin/kernel_project.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
  ropeway_watched_test(dropin_environment bash ${PROJECT_SOURCE_DIR}/tests/dropin/environment.sh ${ROPEWAY_CANN_DIR})
endif()
