# Every page of the zoo, copied into an empty folder with a few lines of CMake, compiles without warnings.
cmake_minimum_required(VERSION 3.25)
file(GLOB pages ${project}/examples/*.cpp)
if(distributed)
  list(APPEND pages ${project}/examples/distributed/digits_distributed.cpp)
else()
  message("skipped: digits_distributed.cpp, for there is no MPI")
endif()

file(GLOB copies ${folder}/*.cpp)  # of the pages of an earlier run
foreach(copy IN LISTS copies)
  cmake_path(GET copy FILENAME name)
  if(NOT pages MATCHES "/${name}(;|$)")
    file(REMOVE ${copy})
  endif()
endforeach()
file(COPY ${pages} ${project}/tests/install/pages/CMakeLists.txt DESTINATION ${folder})

execute_process(COMMAND ${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${generator} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${compiler} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/build --parallel 2 COMMAND_ERROR_IS_FATAL ANY)
list(LENGTH pages count)
foreach(page IN LISTS pages)
  cmake_path(GET page STEM name)
  if(NOT EXISTS ${folder}/build/${name})
    message(FATAL_ERROR "${name} was not built")
  endif()
endforeach()

message("${count} pages compiled without warnings")
