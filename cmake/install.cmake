# The install tree: the library, its public headers, and the files for find_package(ktape) and pkg-config. Its components, each a package
# of its own, are library, dev, repl, mpi, examples and doc.
include(CMakePackageConfigHelpers)

install(TARGETS ktape EXPORT ktape
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
if(KTAPE_WITH_HDF5)
  install(TARGETS ktape_hdf5 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ktape COMPONENT library)
endif()

# Public headers are ktape.hpp, the headers that a program may include beside it, and all headers that these include. Sources alone
# include the other headers.
set(unread ktape.hpp autograd/arguments.hpp autograd/base/interrupt.hpp ops/engine.h ops/kernels/kernel_calls.h)
set(public_headers)
while(unread)
  list(POP_FRONT unread header)
  list(APPEND public_headers ${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include <ktape/")
  list(TRANSFORM includes REPLACE "^#include <ktape/([^>]+)>.*" "\\1")
  list(APPEND unread ${includes})
  list(REMOVE_DUPLICATES unread)
  list(REMOVE_ITEM unread ${public_headers})
endwhile()
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers})

list(TRANSFORM public_headers PREPEND ktape/ OUTPUT_VARIABLE included_headers)
list(JOIN included_headers "\n" included_headers)
file(WRITE ${PROJECT_BINARY_DIR}/public_headers.txt "${included_headers}\n")  # a test compiles each header alone
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ktape/${folder} COMPONENT dev)
endforeach()

install(FILES ops/help/arguments.txt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ktape/ops/help COMPONENT dev)  # for K::help

# Headers for cling: a program includes the first by its path; the second has the paths of the installed library.
install(FILES interactive/cling.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ktape/interactive COMPONENT dev)
install(CODE "
  cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX)
  set(include_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  set(library_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/interactive/cling_paths.hpp.in\"
    \"\$ENV{DESTDIR}\${include_folder}/ktape/interactive/cling_paths.hpp\" @ONLY)
  set(version ${PROJECT_VERSION})
  configure_file(\"${CMAKE_CURRENT_LIST_DIR}/ktape.pc.in\"
    \"\$ENV{DESTDIR}\${library_folder}/pkgconfig/ktape.pc\" @ONLY)" COMPONENT dev)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ktape)
install(EXPORT ktape NAMESPACE ktape:: FILE ktapeTargets.cmake DESTINATION ${config_folder} COMPONENT dev)
export(EXPORT ktape NAMESPACE ktape:: FILE ${PROJECT_BINARY_DIR}/ktapeTargets.cmake)  # find_package finds the build folder, too
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ktapeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ktapeConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ktapeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ktapeConfig.cmake ${PROJECT_BINARY_DIR}/ktapeConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT dev)
