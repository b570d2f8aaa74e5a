# Variants of libktape.so for newer x86-64 processors, in glibc-hwcaps/PROCESSOR/ beside the library. The loader takes the newest variant
# that the processor can run, and the library itself on processors that can run none.
if(KTAPE_NATIVE)
  message(FATAL_ERROR "KTAPE_HWCAPS needs KTAPE_NATIVE=OFF: the library itself must run on any x86-64 processor")
endif()

# Only the sources in op_sources, which are compiled for each processor, may depend on the width of its vectors.
foreach(processor x86-64-v3 x86-64-v4)
  ktape_objects(${processor} <ktape/autograd/variable.hpp> ${op_sources})
  target_compile_options(ktape_${processor}_objects PRIVATE -march=${processor})
  # g++ makes instructions of bfloat16 from intrinsics only, and the library tests the processor before each call of them.
  if(processor STREQUAL "x86-64-v4")
    target_compile_options(ktape_${processor}_objects PRIVATE -mavx512bf16)
  endif()
  ktape_group_sources(ktape_${processor}_objects 40000 kernels/engine/)
  add_library(ktape_${processor} SHARED $<TARGET_OBJECTS:ktape_${processor}_objects> $<TARGET_OBJECTS:ktape_step_objects>
    $<TARGET_OBJECTS:ktape_nn_objects>)
  set_target_properties(ktape_${processor} PROPERTIES
    OUTPUT_NAME ktape LIBRARY_OUTPUT_DIRECTORY $<TARGET_FILE_DIR:ktape>/glibc-hwcaps/${processor}
    LINKER_LANGUAGE CXX LINK_OPTIONS $<TARGET_PROPERTY:ktape,LINK_OPTIONS> LINK_LIBRARIES $<TARGET_PROPERTY:ktape,LINK_LIBRARIES>
    VERSION ${PROJECT_VERSION} SOVERSION ${KTAPE_SOVERSION} INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS ktape_${processor}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${processor} COMPONENT library NAMELINK_SKIP)
endforeach()
