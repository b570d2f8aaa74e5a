# Debian packages, made by cpack in the build tree of the preset "package": one for each component of the install tree. cmake/debian has a
# folder for the control files of each.
set(KTAPE_MAINTAINER "The ktape authors <ktape@authors.invalid>" CACHE STRING "Name and address of who makes the Debian packages")
foreach(target ktape_hdf5 ktape_distributed ktape_prompt ktape_kernel)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "The packages need ${target}, which is not built: the messages above name what it needs")
  endif()
endforeach()
set(version "${PROJECT_VERSION}-1")
set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library dev repl examples mpi doc)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE ktape)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${KTAPE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})

# Adds a package: its name, section and what it depends on beside the libraries that its programs load; the first line of its
# description, and the rest.
function(ktape_package component name section depends title text)
  string(TOUPPER ${component} id)
  set(CPACK_DEBIAN_${id}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${id}_DESCRIPTION "${title}\n${about}\n${text}" PARENT_SCOPE)
  file(GLOB templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/debian/${component}/*)
  set(folder ${PROJECT_BINARY_DIR}/control/${component})
  set(control "")
  foreach(template IN LISTS templates)
    cmake_path(GET template FILENAME file)
    configure_file(${template} ${folder}/${file} @ONLY)
    list(APPEND control ${folder}/${file})
  endforeach()
  if(component MATCHES "^(library|mpi)$")
    # Scripts of these names, also if there are none, keep cpack from adding its own, which call ldconfig once more.
    list(APPEND control ${folder}/postinst ${folder}/postrm)
  endif()
  set(CPACK_DEBIAN_${id}_PACKAGE_CONTROL_EXTRA "${control}" PARENT_SCOPE)
  set(documents ${PROJECT_BINARY_DIR}/documents)
  install(FILES ${documents}/copyright ${documents}/changelog.gz ${documents}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian/${component}.overrides OPTIONAL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${name} COMPONENT ${component})
endfunction()

set(same_library "libktape${KTAPE_SOVERSION} (= ${version})")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # would stand before the first line of each description
set(about [[
ktape is the Keras backend API, with Keras's layers, models, training and
files, as a C++20 library: eager ops on xtensor arrays, which a tape records
for gradients of any order.
]])
ktape_package(library libktape${KTAPE_SOVERSION} libs "libopenblas0-openmp" "Keras for C++: shared library" [[
This package has the library. The loader takes its variant for AVX2 or AVX-512
where the processor has these instructions.]])
ktape_package(dev libktape-dev libdevel "${same_library}, libxtensor-dev (>= 0.24)" "Keras for C++: headers" [[
This package has the headers, the files for CMake and pkg-config, and
ktape-files, which lists what a file of a model holds.]])
ktape_package(repl ktape-repl devel "libktape-dev (= ${version}), libclang-common-19-dev, libstdc++-12-dev"
  "Keras for C++: prompt and Jupyter kernel" [[
This package has a prompt that runs each line of C++ and shows its value, and
a kernel for Jupyter notebooks. Both use clang's interpreter.]])
ktape_package(examples ktape-examples doc "" "Keras for C++: example programs and notebooks" [[
This package has programs, one file each, their data, and notebooks.]])
ktape_package(mpi libktape-mpi libdevel "${same_library}" "Keras for C++: training over MPI" [[
This package has the library, and its header, that trains a model on several
processes or machines.]])
ktape_package(doc libktape-doc doc "" "Keras for C++: documentation" [[
This package has guides, a page for each function, class and option with an
example, and the example programs explained, for a browser without a network.]])
set(CPACK_DEBIAN_REPL_PACKAGE_SUGGESTS "jupyter-notebook")
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_RECOMMENDS "libktape-dev")
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "libktape-dev, openmpi-bin")
foreach(id LIBRARY DEV REPL MPI)
  set(CPACK_DEBIAN_${id}_PACKAGE_SHLIBDEPS ON)
endforeach()

# The documents of each package.
set(documents ${PROJECT_BINARY_DIR}/documents)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/changelog.in ${documents}/changelog.Debian @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${documents}/copyright COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${documents}/changelog COPYONLY)
foreach(document changelog changelog.Debian)
  execute_process(COMMAND gzip -9nkf ${documents}/${document} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# The zoo, as a folder that compiles alone.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/ktape COMPONENT examples PATTERN pictures EXCLUDE)

# The site, which `./run docs` makes.
install(DIRECTORY build/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libktape-doc/html COMPONENT doc
  PATTERN .buildinfo EXCLUDE PATTERN .doctrees EXCLUDE)

# Debian finds the libraries of its own folders, and lintian refuses to find them in another way.
set_target_properties(ktape_hdf5 ktape_distributed ktape_prompt ktape_kernel ktape-files PROPERTIES
  INSTALL_RPATH "" INSTALL_RPATH_USE_LINK_PATH OFF)

include(CPack)
