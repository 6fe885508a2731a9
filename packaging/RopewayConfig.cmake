# find_package(Ropeway [VERSION] [COMPONENTS ascendcl hccl hixl adxl]) gives the targets Ropeway::ascendcl, Ropeway::hccl (HCCL), Ropeway::hixl and
# Ropeway::adxl (the transfer engines), all of them where no components are named, and ropeway_add_test (RopewayTest.cmake).
get_filename_component(_ropeway_root ${CMAKE_CURRENT_LIST_DIR}/../../.. ABSOLUTE)

set(_ropeway_library_ascendcl ascendcl)
set(_ropeway_library_hccl hccl)
set(_ropeway_library_hixl cann_hixl)
set(_ropeway_library_adxl llm_datadist)

if(NOT Ropeway_FIND_COMPONENTS)
  set(Ropeway_FIND_COMPONENTS ascendcl hccl hixl adxl)
endif()
foreach(_ropeway_component IN LISTS Ropeway_FIND_COMPONENTS ITEMS ascendcl)
  set(_ropeway_file ${_ropeway_root}/lib64/lib${_ropeway_library_${_ropeway_component}}.so)
  if(NOT _ropeway_library_${_ropeway_component} OR NOT EXISTS ${_ropeway_file})
    set(Ropeway_${_ropeway_component}_FOUND FALSE)
    continue()
  endif()
  set(Ropeway_${_ropeway_component}_FOUND TRUE)
  if(NOT TARGET Ropeway::${_ropeway_component})
    add_library(Ropeway::${_ropeway_component} SHARED IMPORTED)
    set_target_properties(Ropeway::${_ropeway_component} PROPERTIES IMPORTED_LOCATION ${_ropeway_file}
                          INTERFACE_INCLUDE_DIRECTORIES ${_ropeway_root}/include)
    if(NOT _ropeway_component STREQUAL ascendcl)
      target_link_libraries(Ropeway::${_ropeway_component} INTERFACE Ropeway::ascendcl)
    endif()
    if(_ropeway_component MATCHES "^(hixl|adxl)$")  # whose AscendString programs use by themselves
      target_link_libraries(Ropeway::${_ropeway_component} INTERFACE ${_ropeway_root}/lib64/libmetadef.so)
    endif()
  endif()
endforeach()

foreach(_ropeway_component IN LISTS Ropeway_FIND_COMPONENTS)
  if(Ropeway_FIND_REQUIRED_${_ropeway_component} AND NOT Ropeway_${_ropeway_component}_FOUND)
    set(Ropeway_FOUND FALSE)
    set(Ropeway_NOT_FOUND_MESSAGE "Ropeway in ${_ropeway_root} has no component '${_ropeway_component}': there are ascendcl, hccl, hixl, adxl")
  endif()
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/RopewayTest.cmake)
