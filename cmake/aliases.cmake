# The names that other projects link, whether they find an installed Ropeway or have its sources in a folder of theirs.
set(ropeway_component_ascendcl ascendcl)
set(ropeway_component_hccl hccl)
set(ropeway_component_hixl cann_hixl)
set(ropeway_component_adxl llm_datadist)
foreach(component ascendcl hccl hixl adxl)
  add_library(Ropeway::${component} ALIAS ${ropeway_component_${component}})
endforeach()
