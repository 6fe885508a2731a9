# The drop-in tree: what a client finds under ASCEND_HOME_PATH. `cmake --install --prefix X` writes it under X, and the
# target `cann` does the same into ROPEWAY_CANN_DIR, so the two cannot differ.

set(ROPEWAY_CANN_DIR ${CMAKE_BINARY_DIR}/cann CACHE PATH "Where the target cann assembles the drop-in tree")
set(CMAKE_INSTALL_MESSAGE NEVER)
set(packaging_dir ${PROJECT_SOURCE_DIR}/packaging)

# Names that clients link or open. All are links to one library, so all share one state.
set(library_links
  libacl_rt.so libruntime.so libacl_rt_impl.so libacl_tdt_channel.so libacl_tdt_queue.so libmsprofiler.so libprofapi.so
  libascend_dump.so libacl_op_compiler.so libnnopbase.so libopapi.so libascend_hal.so)
# Packages whose version.info clients read.
set(version_packages runtime bisheng-compiler hccl oam-tools ops-legacy)

set(staging_dir ${CMAKE_BINARY_DIR}/packaging)
file(MAKE_DIRECTORY ${staging_dir})
foreach(link IN LISTS library_links)
  file(CREATE_LINK libascendcl.so ${staging_dir}/${link} SYMBOLIC)
  install(FILES ${staging_dir}/${link} DESTINATION lib64)
endforeach()
file(CREATE_LINK libhccl.so ${staging_dir}/libhcomm.so SYMBOLIC)
install(FILES ${staging_dir}/libhcomm.so DESTINATION lib64)
configure_file(${packaging_dir}/version.info.in ${staging_dir}/version.info @ONLY)
foreach(package IN LISTS version_packages)
  install(FILES ${staging_dir}/version.info DESTINATION share/info/${package})
endforeach()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include FILES_MATCHING PATTERN "*.h")
install(TARGETS ascendcl hccl LIBRARY DESTINATION lib64)
if(TARGET ropeway_cuda)
  install(TARGETS ropeway_cuda LIBRARY DESTINATION lib64)
endif()
if(TARGET ropeway)
  install(TARGETS ropeway RUNTIME DESTINATION bin)
endif()
install(PROGRAMS ${packaging_dir}/bin/setenv.bash DESTINATION bin)
# set_env.sh carries the prefix as its last resort, for shells that do not tell a sourced file its name. The prefix is
# known at install time only.
install(CODE "
  set(ROPEWAY_PREFIX \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${packaging_dir}/set_env.sh.in\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/set_env.sh\" @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)")

file(GLOB_RECURSE tree_inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${packaging_dir}/*)
set(tree_stamp ${CMAKE_BINARY_DIR}/cann.stamp)
add_custom_command(OUTPUT ${tree_stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${ROPEWAY_CANN_DIR}/include ${ROPEWAY_CANN_DIR}/share
  COMMAND ${CMAKE_COMMAND} --install ${CMAKE_BINARY_DIR} --prefix ${ROPEWAY_CANN_DIR}
  COMMAND ${CMAKE_COMMAND} -E touch ${tree_stamp}
  DEPENDS ascendcl hccl $<TARGET_NAME_IF_EXISTS:ropeway> $<TARGET_NAME_IF_EXISTS:ropeway_cuda> ${tree_inputs}
  COMMENT "Assembling ${ROPEWAY_CANN_DIR}"
  VERBATIM)
add_custom_target(cann ALL DEPENDS ${tree_stamp})

if(BUILD_TESTING)
  ropeway_watched_test(dropin_tree bash ${PROJECT_SOURCE_DIR}/tests/dropin/build_clients.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
  ropeway_watched_test(dropin_tools bash ${PROJECT_SOURCE_DIR}/tests/dropin/run_under_tools.sh ${ROPEWAY_CANN_DIR}
                       ${PROJECT_SOURCE_DIR}/examples)
endif()
