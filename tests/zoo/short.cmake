# A page whose epochs are too few tells its metric all the same, and exits with 0 or, where that is too low, with 1.
execute_process(COMMAND ${program} --quick --epochs 1 RESULT_VARIABLE status OUTPUT_VARIABLE said)
if(NOT status MATCHES "^[01]$" OR NOT said MATCHES "\\(expected: ")
  message(FATAL_ERROR "it must print what it reached: ${status} ${said}")
endif()
