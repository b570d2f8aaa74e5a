# A page that runs with too few epochs prints its metric, and exits with 0, or with 1 if the metric is too low.
execute_process(COMMAND ${program} --quick --epochs 1 RESULT_VARIABLE status OUTPUT_VARIABLE said)
if(NOT status MATCHES "^[01]$" OR NOT said MATCHES "\\(expected: ")
  message(FATAL_ERROR "it must print what it reached: ${status} ${said}")
endif()
