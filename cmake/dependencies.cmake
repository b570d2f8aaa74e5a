# The packages that the library is compiled with. Users of the installed library need xtensor only.
find_package(xtensor 0.24 REQUIRED)
find_package(xsimd 8 REQUIRED)
find_path(XTENSOR_BLAS_INCLUDE_DIR xtensor-blas/xlinalg.hpp REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)

# The OpenMP build of OpenBLAS: the threads of the pthread build compete with OpenMP for the cores.
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-openmp REQUIRED)
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp REQUIRED)
add_library(openblas SHARED IMPORTED)
set_target_properties(openblas PROPERTIES
  IMPORTED_LOCATION ${OPENBLAS_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES "${OPENBLAS_INCLUDE_DIR};${XTENSOR_BLAS_INCLUDE_DIR}")

# The CMake package of Debian's oneDNN requires OpenCL's development files, which ktape does not need.
set(KTAPE_WITH_ONEDNN OFF)
if(NOT KTAPE_ONEDNN STREQUAL "OFF")
  find_library(DNNL_LIBRARY dnnl)
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
  if(DNNL_LIBRARY AND DNNL_INCLUDE_DIR)
    set(KTAPE_WITH_ONEDNN ON)
    add_library(dnnl SHARED IMPORTED)
    set_target_properties(dnnl PROPERTIES
      IMPORTED_LOCATION ${DNNL_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
  elseif(KTAPE_ONEDNN STREQUAL "ON")
    message(FATAL_ERROR "KTAPE_ONEDNN is ON and oneDNN (libdnnl-dev) is not found")
  endif()
endif()

# The serial C library; Debian has a folder for each of its builds.
set(KTAPE_WITH_HDF5 OFF)
if(NOT KTAPE_HDF5 STREQUAL "OFF")
  find_library(HDF5_C_LIBRARY NAMES hdf5_serial hdf5)
  find_path(HDF5_C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  if(HDF5_C_LIBRARY AND HDF5_C_INCLUDE_DIR)
    set(KTAPE_WITH_HDF5 ON)
    add_library(hdf5 SHARED IMPORTED)
    set_target_properties(hdf5 PROPERTIES
      IMPORTED_LOCATION ${HDF5_C_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${HDF5_C_INCLUDE_DIR})
  elseif(KTAPE_HDF5 STREQUAL "ON")
    message(FATAL_ERROR "KTAPE_HDF5 is ON and the C library of HDF5 (libhdf5-dev) is not found")
  endif()
endif()
message(STATUS "ktape: oneDNN ${KTAPE_WITH_ONEDNN}, HDF5 ${KTAPE_WITH_HDF5}, OpenBLAS ${OPENBLAS_LIBRARY}")
