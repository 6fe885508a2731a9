# The test programs and their ctest entries. A Google Test program is one entry, not one per test: starting a process
# is costly under TSan. Entries labelled "static" look at the sources, not at this build; one preset is enough for them.

set(tests_dir ${PROJECT_SOURCE_DIR}/tests)
set(tools_dir ${PROJECT_SOURCE_DIR}/tools)

# ropeway_test(NAME COMMAND...) with the time limit that everything has; the watchdog inside fires earlier.
function(ropeway_test name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 1500 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# ropeway_long_test(NAME...) are begun first, so that none of them is left over when the others are done.
function(ropeway_long_test)
  set_tests_properties(${ARGN} PROPERTIES COST 100)
endfunction()

# ropeway_static_test(NAME SCRIPT ARGUMENT...) for scripts that read the sources; skipped while the script is not there, and where it says
# by 77 that this machine lacks what it needs.
function(ropeway_static_test name script)
  if(EXISTS ${script})
    ropeway_test(${name} bash ${script} ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS static SKIP_RETURN_CODE 77)
  endif()
endfunction()

# What a shell may carry that says which chip, which devices and which log: not the tests'.
set(ropeway_shell_settings SOC_VERSION ASCEND_RT_VISIBLE_DEVICES ASCEND_GLOBAL_LOG_LEVEL ASCEND_SLOG_PRINT_TO_STDOUT)

# ropeway_watched_test(NAME COMMAND...) runs a program of this build under the watchdog. Google Test prints failures only: what a
# log shows of a failed entry is then the failure, and not the thousand tests in front of it. The libraries of this build come first,
# also where the shell has sourced the set_env.sh of some tree.
function(ropeway_watched_test name)
  ropeway_test(${name} bash ${tools_dir}/with_watchdog.sh 120 ${ARGN})
  set(environment GTEST_BRIEF=1)
  if(ROPEWAY_SANITIZE STREQUAL "address")
    # The leak checker crashes on threads that libraries such as UCX start when it follows their thread-local memory this way.
    list(APPEND environment UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=intercept_tls_get_addr=0
         "LSAN_OPTIONS=print_suppressions=0:suppressions=\"${tests_dir}/support/leaks_of_others.txt\"")
  elseif(ROPEWAY_SANITIZE STREQUAL "thread")
    # It sleeps for a second at the end of every process, in case a thread is still up to something; the tests start hundreds.
    # Its look at the thread's variables of libraries that are loaded later (libdw's) takes a block that begins 16 bytes into a page for one of
    # glibc 2.19, and reads its size from what lies in front of it.
    list(APPEND environment ROPEWAY_FIXED_LAYOUT=1 "TSAN_OPTIONS=second_deadlock_stack=1 atexit_sleep_ms=50 intercept_tls_get_addr=0")
  endif()
  list(TRANSFORM ropeway_shell_settings APPEND "=unset:" OUTPUT_VARIABLE changes)
  list(APPEND changes LD_LIBRARY_PATH=path_list_prepend:$<TARGET_FILE_DIR:ascendcl>)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" ENVIRONMENT_MODIFICATION "${changes}")
endfunction()

# How tests are compiled. Hundreds of short files would each spend seconds on the same headers and on optimising assertions:
# parse the headers once for all programs, optimise nothing, and write line tables only where a sanitizer prints them. Undefined behaviour
# is looked for in the library; doing the same to the tests would cost a third of their compile time. GCC takes the if inside EXPECT_EQ
# for the start of a dangling else.
set(ropeway_test_flags -O0 -Wno-dangling-else)
if(ROPEWAY_SANITIZE STREQUAL "address")
  list(APPEND ropeway_test_flags -g1 -fno-sanitize=undefined)
elseif(ROPEWAY_SANITIZE STREQUAL "thread")
  list(APPEND ropeway_test_flags -g1)
elseif(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  list(APPEND ropeway_test_flags -g0)
endif()
function(ropeway_test_compile program headers)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR} ${tests_dir} ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${program} PRIVATE ${ropeway_test_flags})
  target_precompile_headers(${program} REUSE_FROM ${headers})
endfunction()

# ropeway_test_headers(NAME HEADER...) is what precompiled headers belong to.
function(ropeway_test_headers name)
  set(source ${CMAKE_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE ${ropeway_test_flags})
  target_precompile_headers(${name} PRIVATE ${ARGN} <atomic> <functional> <memory> <mutex> <string> <thread> <vector>
                            ${PROJECT_SOURCE_DIR}/include/acl/acl.h)
endfunction()

# ropeway_gtest(PROGRAM LIBRARY SOURCE...) builds one Google Test program on the shared library or on its objects.
function(ropeway_gtest program library)
  file(GLOB support CONFIGURE_DEPENDS ${tests_dir}/support/*.cpp)
  add_executable(${program} ${ARGN} ${support})
  target_link_libraries(${program} PRIVATE ${library} GTest::gmock GTest::gtest GTest::gtest_main Threads::Threads
                        ${CMAKE_DL_LIBS})
  ropeway_test_compile(${program} gtest_headers)
  # Many files at a time: assertions make the same templates in each. That is why every test file has a namespace of its own.
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# What reads a trace as the command does.
function(ropeway_reads_traces program)
  set(reader ${PROJECT_SOURCE_DIR}/cli/trace_reader.cpp ${PROJECT_SOURCE_DIR}/cli/trace_order.cpp
      ${PROJECT_SOURCE_DIR}/cli/trace_parts.cpp)
  target_sources(${program} PRIVATE ${reader} $<TARGET_OBJECTS:ropeway_symbols>)
  set_source_files_properties(${reader} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  if(ROPEWAY_SANITIZE STREQUAL "thread")  # it reads millions of records, on one thread
    set_source_files_properties(${reader} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=thread;-O2")
  endif()
endfunction()

function(ropeway_unit_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/unit/*_test.cpp)
  # These are about the public headers themselves: they want them untouched, and a sanitizer has nothing to see in them.
  if(NOT ROPEWAY_SANITIZE)
    file(GLOB header_sources CONFIGURE_DEPENDS ${tests_dir}/headers/*_test.cpp)
    set_source_files_properties(${header_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    list(APPEND sources ${header_sources})
  endif()
  # What walks through all states of a model, or checks arithmetic, does so on one thread: there is no race to find, at great cost.
  if(ROPEWAY_SANITIZE STREQUAL "thread")
    list(FILTER sources EXCLUDE REGEX
         "/(byte_claims|copy_descriptor|copy_methods|direction|gpu_kernels|ipc_number|kernels|machine|managed_advice|plan|product|range_allocator|reduce|securec|settings)_test\\.cpp$")
  endif()
  # The source of GPU kernels, with its pragmas for another compiler.
  set_source_files_properties(${tests_dir}/unit/gpu_kernels_test.cpp PROPERTIES COMPILE_OPTIONS -Wno-unknown-pragmas
                              SKIP_UNITY_BUILD_INCLUSION ON)
  ropeway_gtest(unit_tests "${ropeway_objects};ropeway_c_sec" ${sources})
  ropeway_reads_traces(unit_tests)
  set(one_thread "")
  if(ROPEWAY_SANITIZE)
    set(one_thread "--gtest_filter=-*ModelTest.*:*BlocksNeverOverlap*:*FreedAddressesComeBack")
  endif()
  ropeway_watched_test(unit_tests $<TARGET_FILE:unit_tests> ${one_thread})
  ropeway_long_test(unit_tests)
endfunction()

function(ropeway_conformance_tests)
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${tests_dir}/conformance/*_test.cpp)
  # Functions that only refuse have no memory and no threads for a sanitizer to watch.
  if(ROPEWAY_SANITIZE)
    list(FILTER sources EXCLUDE REGEX "^tests/conformance/refused/")
  endif()
  # As in ropeway_unit_tests: what checks arguments, names and books, and gives a lane nothing that others of these tests do not.
  if(ROPEWAY_SANITIZE STREQUAL "thread")
    list(FILTER sources EXCLUDE REGEX "/copy/(CopyRange|Memcpy2d|MemcpyBatchChecks|MemcpyBatchLocations|MemcpyBatchLong|MemcpyDescGarbage|MemsetD32)_")
    list(FILTER sources EXCLUDE REGEX "/graph/(CaptureGetInfo|ModelNames|TaskParams)_")
    list(FILTER sources EXCLUDE REGEX "/memory/(CacheCalls|Check|GetMem|Host|Malloc|MemAllocManaged|MemGet|MemManaged|MemPoolAttr|MemPoolCreate|Peer|Pointer)")
    list(FILTER sources EXCLUDE REGEX "/runtime/(DeviceCount|DeviceQueries|FileErrorText|GetSetting|Handle|LastError|StreamProperties|SysParamOpt|Version)")
    list(FILTER sources EXCLUDE REGEX "/vmm/(MallocPhysical|MapMem|MemAccess|ReserveMemAddress)_")
  endif()
  ropeway_gtest(conformance_tests ascendcl ${sources})
  set(fewer "")
  if(ROPEWAY_SANITIZE STREQUAL "thread")  # more of the same, at great cost
    set(fewer "--gtest_filter=-*TenThousand*:*Checks.*:Memory/*")
  endif()
  foreach(schedule fast earliest latest random:20261115)
    string(REGEX REPLACE ":.*" "" word ${schedule})
    ropeway_watched_test(conformance_${word} $<TARGET_FILE:conformance_tests> ${fewer})
    set_property(TEST conformance_${word} APPEND PROPERTY ENVIRONMENT ROPEWAY_SCHEDULE=${schedule})
    ropeway_long_test(conformance_${word})
  endforeach()
endfunction()

function(ropeway_stress_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/stress/*_test.cpp)
  ropeway_gtest(stress_tests ascendcl ${sources})
  ropeway_watched_test(stress $<TARGET_FILE:stress_tests>)
  # Above they run on the schedule `fast`.
  foreach(schedule earliest latest random:20261115)
    string(REGEX REPLACE ":.*" "" word ${schedule})
    ropeway_watched_test(random_programs_${word} $<TARGET_FILE:stress_tests> --gtest_filter=RandomProgram.*)
    set_property(TEST random_programs_${word} APPEND PROPERTY ENVIRONMENT ROPEWAY_SCHEDULE=${schedule})
  endforeach()
endfunction()

# Programs that need a process of their own; run_all.sh gets the folder they are built in.
function(ropeway_process_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/process/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    ropeway_program(process_${name} ${source})
    ropeway_test_compile(process_${name} program_headers)
    target_link_libraries(process_${name} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(process_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/process)
  endforeach()
  ropeway_reads_traces(process_trace_file)
  # It asks for its own lines, of which the precompiled headers know nothing.
  target_compile_options(process_call_sites PRIVATE -g1)
  set_target_properties(process_call_sites PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  foreach(program process_fork_calls process_settings)
    add_dependencies(${program} hccl)  # opened at run time
  endforeach()
  if(sources AND EXISTS ${tests_dir}/process/run_all.sh)
    # In two parts: together they take minutes under a sanitizer.
    foreach(part single sharing)
      ropeway_watched_test(process_${part} bash ${tests_dir}/process/run_all.sh ${CMAKE_BINARY_DIR}/process)
      set_property(TEST process_${part} APPEND PROPERTY ENVIRONMENT ROPEWAY_TEST_LIBRARY=$<TARGET_FILE:ascendcl>
                   ROPEWAY_PROCESS_PART=${part})
      ropeway_long_test(process_${part})
    endforeach()
  endif()
endfunction()

# No schedule and no engine changes what has no stream: it runs once.
set(hccl_without_streams "CollectivePlan*:ReduceKernels*:RankTableText*:Network/Link*:TcpPeer*:UcxL*")

function(ropeway_hccl_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/hccl/*_test.cpp ${tests_dir}/hccl_ranks/*_test.cpp)
  if(ROPEWAY_SANITIZE STREQUAL "thread")  # as in ropeway_unit_tests
    list(FILTER sources EXCLUDE REGEX "/(CollectivePlan|HandleNumbers|Layout|ReduceKernel|Refused|RuntimeNames)_test\\.cpp$")
  endif()
  ropeway_gtest(hccl_tests hccl_objects ${sources})
  if(TARGET ropeway_tls)
    add_dependencies(hccl_tests ropeway_tls)  # opened at run time
  endif()
  foreach(schedule fast earliest latest random:20261115)
    string(REGEX REPLACE ":.*" "" word ${schedule})
    ropeway_watched_test(hccl_${word} $<TARGET_FILE:hccl_tests>)
    set_property(TEST hccl_${word} APPEND PROPERTY ENVIRONMENT ROPEWAY_SCHEDULE=${schedule})
    if(NOT schedule STREQUAL "fast")
      set_property(TEST hccl_${word} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-${hccl_without_streams}")
    endif()
  endforeach()
  # Ranks as processes: the program starts itself again for each.
  file(GLOB process_sources CONFIGURE_DEPENDS ${tests_dir}/hccl_ranks/process/*.cpp)
  ropeway_gtest(hccl_process_tests hccl_objects ${process_sources})
  if(TARGET ropeway_tls)
    add_dependencies(hccl_process_tests ropeway_tls)
  endif()
  ropeway_watched_test(hccl_processes $<TARGET_FILE:hccl_process_tests>)
endfunction()

# Transfer engines in this process, in others and behind the network: the program starts itself again as the other engine.
function(ropeway_hixl_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/hixl/*_test.cpp)
  ropeway_gtest(hixl_tests cann_hixl ${sources} ${tests_dir}/hccl_ranks/process/rank_process.cpp)
  target_link_libraries(hixl_tests PRIVATE llm_datadist ascendcl)
  ropeway_watched_test(hixl_fast $<TARGET_FILE:hixl_tests>)
  # Most of it is checks; what has an order is transfers.
  foreach(schedule latest random:20261115)
    string(REGEX REPLACE ":.*" "" word ${schedule})
    ropeway_watched_test(hixl_${word} $<TARGET_FILE:hixl_tests> --gtest_filter=*Transfer*)
    set_property(TEST hixl_${word} APPEND PROPERTY ENVIRONMENT ROPEWAY_SCHEDULE=${schedule})
  endforeach()
endfunction()

# Ranks on different hosts, which are network namespaces: run_all.sh makes and removes them, and says so when it may not.
function(ropeway_hccl_host_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/hccl_hosts/*.cpp)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    ropeway_program(hosts_${name} ${source})
    ropeway_test_compile(hosts_${name} program_headers)
    target_link_libraries(hosts_${name} PRIVATE hccl)
    if(TARGET ropeway_tls)
      add_dependencies(hosts_${name} ropeway_tls)
    endif()
    if(name STREQUAL "killed_engine")
      target_link_libraries(hosts_${name} PRIVATE cann_hixl)
    endif()
    set_target_properties(hosts_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/hccl_hosts)
  endforeach()
  # Most of the time goes to bad paths and to ranks that are killed, which have little new code for a sanitizer to see.
  set(parts "")
  if(ROPEWAY_SANITIZE)
    set(parts storm collectives strangers kill_send encrypted_storm)
  endif()
  ropeway_watched_test(hccl_hosts bash ${tests_dir}/hccl_hosts/run_all.sh ${CMAKE_BINARY_DIR}/hccl_hosts ${parts})
  set_tests_properties(hccl_hosts PROPERTIES SKIP_RETURN_CODE 77)
  if(NOT ROPEWAY_UCX_INCLUDE OR ROPEWAY_SANITIZE STREQUAL "thread")  # libhccl.so has no UCX then
    set_property(TEST hccl_hosts APPEND PROPERTY ENVIRONMENT RW_LINKS=tcp)
  endif()
  ropeway_long_test(hccl_hosts)
endfunction()

# ropeway_example_test(ENGINE) runs all examples on an engine.
function(ropeway_example_test engine)
  ropeway_watched_test(examples_${engine} bash ${tests_dir}/dropin/run_examples.sh ${PROJECT_SOURCE_DIR}/examples
                       ${CMAKE_BINARY_DIR}/examples ${engine})
endfunction()

# The checking layer: its model, how programs are started under it, and what it has to live through.
function(ropeway_check_tests)
  set(programs ${CMAKE_CXX_COMPILER} $<TARGET_FILE:ropeway> ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE_DIR:ropeway_check> ${tests_dir}/check)
  ropeway_watched_test(check_model $<TARGET_FILE:check_model_tests>)
  ropeway_watched_test(check_launch bash ${tests_dir}/check/launch.sh ${programs})
  ropeway_watched_test(check_explore bash ${tests_dir}/check/explore.sh ${programs})
  ropeway_watched_test(check_host_access bash ${tests_dir}/check/host_access.sh ${programs})
  set_tests_properties(check_host_access PROPERTIES SKIP_RETURN_CODE 77)
  ropeway_watched_test(check_address_sanitizer bash ${tests_dir}/check/address_sanitizer.sh ${programs})
  set_tests_properties(check_address_sanitizer PROPERTIES SKIP_RETURN_CODE 77)
  ropeway_watched_test(check_host_pages bash ${tests_dir}/check/host_pages.sh ${programs})
  ropeway_watched_test(check_crowd $<TARGET_FILE:ropeway> check -- $<TARGET_FILE:check_crowd>)
endfunction()

# The corpus of `ropeway check`: wrong programs and their right twins, those of the pages docs/check/ among them.
function(ropeway_check_corpus)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/check/RW-*.md)
  set(page_programs ${CMAKE_BINARY_DIR}/check_pages.cpp)
  set(generator ${tools_dir}/check_pages_corpus.py)
  add_custom_command(OUTPUT ${page_programs} DEPENDS ${generator} ${pages}
                     COMMAND python3 ${generator} ${PROJECT_SOURCE_DIR}/docs/check ${page_programs})
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/check/corpus/*.cpp)
  ropeway_program(check_corpus ${sources} ${page_programs})
  ropeway_test_compile(check_corpus program_headers)
  target_link_libraries(check_corpus PRIVATE hccl)
  ropeway_watched_test(check_examples bash ${tests_dir}/check/examples.sh $<TARGET_FILE:ropeway> ${PROJECT_SOURCE_DIR}/examples
                       ${CMAKE_BINARY_DIR}/examples)
  ropeway_watched_test(check_corpus python3 ${tests_dir}/check/corpus/corpus_test.py $<TARGET_FILE:ropeway> $<TARGET_FILE:check_corpus>)
  ropeway_long_test(check_corpus)
  ropeway_watched_test(check_schema python3 ${tests_dir}/check/schema_test.py $<TARGET_FILE:ropeway> $<TARGET_FILE:check_corpus>
                       ${PROJECT_SOURCE_DIR}/packaging/check_findings.schema.json ${PROJECT_SOURCE_DIR}/check/rules.inc)
endfunction()

# The report: its words, and its page as a browser shows it. Screenshots are left in the build folder.
function(ropeway_report_tests)
  file(GLOB sources CONFIGURE_DEPENDS ${tests_dir}/report/*_test.cpp)
  ropeway_gtest(report_tests ropeway_report ${sources})
  ropeway_watched_test(report_words $<TARGET_FILE:report_tests>)
  if(NOT ROPEWAY_SANITIZE)
    ropeway_program(make_page ${tests_dir}/report/make_page.cpp)
    ropeway_test_compile(make_page program_headers)
    target_link_libraries(make_page PRIVATE ropeway_report)
    ropeway_watched_test(report_browser python3 ${tests_dir}/report/page_test.py $<TARGET_FILE:make_page> ${CMAKE_BINARY_DIR}/report)
    set_tests_properties(report_browser PROPERTIES SKIP_RETURN_CODE 77)
    ropeway_program(slow_programs ${tests_dir}/report/slow_programs.cpp)
    target_compile_options(slow_programs PRIVATE -O0 -g1)
    ropeway_watched_test(report_slow_programs python3 ${tests_dir}/report/slow_programs_test.py $<TARGET_FILE:ropeway> $<TARGET_FILE:slow_programs>
                         ${CMAKE_BINARY_DIR}/report)
    ropeway_watched_test(report_demo bash ${tests_dir}/report/demo.sh $<TARGET_FILE:ropeway> ${CMAKE_BINARY_DIR}/report)
  endif()
endfunction()

# The CUDA engine on a stand-in for the driver: what its host side does needs no GPU, and the same suite judges it.
function(ropeway_cuda_tests)
  file(GLOB stand_ins CONFIGURE_DEPENDS ${tests_dir}/fake_cuda/*.cpp)
  add_library(fake_cuda SHARED ${stand_ins})
  target_include_directories(fake_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(fake_cuda SYSTEM PRIVATE ${ROPEWAY_CUDA_INCLUDE})
  set(folder ${CMAKE_BINARY_DIR}/fake_cuda)
  set_target_properties(fake_cuda PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1 CXX_VISIBILITY_PRESET default
                        LIBRARY_OUTPUT_DIRECTORY ${folder})
  set(environment LD_LIBRARY_PATH=${folder} ROPEWAY_ENGINE=cuda ROPEWAY_DEVICE_MEMORY=8GiB)
  ropeway_watched_test(conformance_cuda $<TARGET_FILE:conformance_tests>)
  set_property(TEST conformance_cuda APPEND PROPERTY ENVIRONMENT ${environment})
  # Tasks that decide what runs next, and host functions in the place of kernels, in other orders, too.
  foreach(schedule earliest latest random:20261115)
    string(REGEX REPLACE ":.*" "" word ${schedule})
    ropeway_watched_test(conformance_cuda_${word} $<TARGET_FILE:conformance_tests>
                         "--gtest_filter=*HandBuilt*:*Label*:*Condition*:*Task*:*Kernel*:*Operator*:*Overflow*")
    set_property(TEST conformance_cuda_${word} APPEND PROPERTY ENVIRONMENT ${environment} ROPEWAY_SCHEDULE=${schedule})
  endforeach()
  ropeway_watched_test(process_cuda bash ${tests_dir}/process/run_all.sh ${CMAKE_BINARY_DIR}/process)
  set_property(TEST process_cuda APPEND PROPERTY ENVIRONMENT ${environment} ROPEWAY_DEVICES=8 ROPEWAY_PROCESS_PART=sharing)
  # UCX moves no memory of this engine.
  set(filter_of_hccl "--gtest_filter=-${hccl_without_streams}:*ucx*:Ucx*:Ways/OneSidedKinds.*/12:Ways/OneSidedKinds.*/13:Ways/OneSidedKinds.*/14:Ways/OneSidedKinds.*/15")
  foreach(library hccl hccl_process hixl)
    ropeway_watched_test(${library}_cuda $<TARGET_FILE:${library}_tests> ${filter_of_${library}})
    set_property(TEST ${library}_cuda APPEND PROPERTY ENVIRONMENT ${environment})
    ropeway_long_test(${library}_cuda)
  endforeach()
  ropeway_example_test(cuda)
  set_property(TEST examples_cuda APPEND PROPERTY ENVIRONMENT LD_LIBRARY_PATH=${folder})
endfunction()

ropeway_static_test(layering ${tests_dir}/toolchain/layers.sh ${CMAKE_CXX_COMPILER})
ropeway_static_test(locks ${tests_dir}/toolchain/locks.sh)
ropeway_static_test(pages ${tests_dir}/toolchain/pages.sh)
ropeway_test(errors_doc python3 ${tools_dir}/errors_page.py --check)
ropeway_test(site /usr/bin/python3 ${tools_dir}/site.py ${CMAKE_BINARY_DIR}/site)
set_tests_properties(errors_doc site PROPERTIES LABELS static SKIP_RETURN_CODE 77)
ropeway_static_test(changelog ${tests_dir}/toolchain/changelog.sh)
ropeway_static_test(headers_compile ${tests_dir}/headers/compile_matrix.sh ${PROJECT_SOURCE_DIR}/include)
ropeway_static_test(format ${tools_dir}/format.sh --check)
ropeway_static_test(coverage_doc ${tools_dir}/coverage.sh --check)
ropeway_static_test(demo_build ${tests_dir}/toolchain/demo_build.sh)
ropeway_static_test(packages ${tests_dir}/toolchain/packages.sh)
ropeway_static_test(cross_build ${tests_dir}/toolchain/cross_build.sh)
ropeway_static_test(other_compilers ${tests_dir}/toolchain/other_compilers.sh ${CMAKE_CXX_COMPILER})

if(TARGET ascendcl)
  find_package(GTest REQUIRED)
  ropeway_test_headers(gtest_headers <gtest/gtest.h>)
  target_link_libraries(gtest_headers PRIVATE GTest::gmock GTest::gtest Threads::Threads)
  ropeway_test_headers(program_headers <iostream>)
  target_link_libraries(program_headers PRIVATE Threads::Threads)
  ropeway_unit_tests()
  ropeway_conformance_tests()
  ropeway_stress_tests()
  ropeway_hccl_tests()
  ropeway_hixl_tests()
  ropeway_hccl_host_tests()
  ropeway_process_tests()
  if(NOT ROPEWAY_SANITIZE)
    ropeway_example_test(cpu)
    ropeway_watched_test(cli_command bash ${tests_dir}/cli/command.sh $<TARGET_FILE:ropeway>)
    ropeway_watched_test(cli_flags bash ${tests_dir}/cli/flags.sh $<TARGET_FILE:ropeway> ${CMAKE_BINARY_DIR}/examples)
    ropeway_program(ps_target ${tests_dir}/cli/ps_target.cpp)
    ropeway_test_compile(ps_target program_headers)
    ropeway_watched_test(cli_ps bash ${tests_dir}/cli/ps.sh $<TARGET_FILE:ropeway> $<TARGET_FILE:ps_target> ${PROJECT_SOURCE_DIR}/packaging/ropeway_gdb.py)
    set_tests_properties(cli_ps PROPERTIES SKIP_RETURN_CODE 77)
    ropeway_watched_test(cli_completion bash ${tests_dir}/cli/completion.sh $<TARGET_FILE:ropeway>)
    ropeway_watched_test(cli_ranks bash ${tests_dir}/cli/ranks.sh $<TARGET_FILE:ropeway> ${CMAKE_BINARY_DIR}/examples)
    ropeway_watched_test(cli_doctor bash ${tests_dir}/cli/doctor.sh $<TARGET_FILE:ropeway> ${PROJECT_SOURCE_DIR})
    ropeway_watched_test(cli_trace bash ${tests_dir}/cli/trace.sh $<TARGET_FILE:ropeway> ${CMAKE_BINARY_DIR}/examples ${tests_dir})
    ropeway_watched_test(cli_tune bash ${tests_dir}/cli/tune.sh $<TARGET_FILE:ropeway>)
    ropeway_watched_test(cli_bench bash ${tests_dir}/cli/bench.sh $<TARGET_FILE:ropeway> ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
  endif()
  if(NOT ROPEWAY_SANITIZE STREQUAL "thread")  # there is one thread
    ropeway_report_tests()
  endif()
  if(TARGET ropeway_check)
    ropeway_check_tests()
    ropeway_check_corpus()
  endif()
  if(TARGET ropeway_cuda AND NOT ROPEWAY_SANITIZE)
    ropeway_cuda_tests()
  endif()
  if(NOT ROPEWAY_SANITIZE)  # python3 opens the library
    ropeway_test(abi python3 ${tools_dir}/abi_list.py ${CMAKE_BINARY_DIR} --check)
    set_tests_properties(abi PROPERTIES SKIP_RETURN_CODE 77)
    ropeway_test(config_doc python3 ${tools_dir}/settings_page.py $<TARGET_FILE:ascendcl> --check)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    ropeway_test(tidy_sample bash ${tools_dir}/tidy.sh --sample)
  endif()
  ropeway_static_test(exports ${tests_dir}/headers/exports_test.sh $<TARGET_FILE:ascendcl>
                      ${tests_dir}/headers/public_functions.txt)
  ropeway_static_test(exports_securec ${tests_dir}/headers/exports_test.sh $<TARGET_FILE:ropeway_c_sec>
                      ${tests_dir}/headers/securec_functions.txt "^_(init|fini)$")
  # Mangled names: the classes of namespace hccl, and C++ functions whose names start with HCCL's prefixes.
  ropeway_static_test(exports_hccl ${tests_dir}/headers/exports_test.sh $<TARGET_FILE:hccl>
                      ${tests_dir}/headers/hccl_functions.txt "^(_ZNK?4hccl|_ZT[ISV]N4hccl|_Z[0-9]+(Hccl|hccl|hrt))")
  set(include_dir ${PROJECT_SOURCE_DIR}/include)
  file(GLOB_RECURSE acl_headers CONFIGURE_DEPENDS ${include_dir}/acl/*.h ${include_dir}/aclnn/*.h ${include_dir}/driver/*.h
       ${include_dir}/runtime/*.h ${include_dir}/mspti/*.h ${include_dir}/mstx/*.h ${include_dir}/ropeway/*.h)
  list(APPEND acl_headers ${include_dir}/dcmi_interface_api.h ${include_dir}/dsmi_common_interface.h)
  file(GLOB hccl_headers CONFIGURE_DEPENDS ${include_dir}/*.h ${include_dir}/hccl/*.h ${include_dir}/hcomm/*.h)
  ropeway_static_test(declared ${tests_dir}/headers/declared_test.sh $<TARGET_FILE:ascendcl> ${acl_headers})
  list(FILTER hccl_headers EXCLUDE REGEX "/(dcmi_interface_api|dsmi_common_interface|securec)\\.h$")
  ropeway_static_test(declared_securec ${tests_dir}/headers/declared_test.sh $<TARGET_FILE:ropeway_c_sec> ${include_dir}/securec.h)
  ropeway_static_test(declared_hccl ${tests_dir}/headers/declared_test.sh $<TARGET_FILE:hccl> ${hccl_headers})
endif()
