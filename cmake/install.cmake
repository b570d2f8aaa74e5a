# The install tree: the library, its public headers, and what find_package(ktape) reads.
include(CMakePackageConfigHelpers)

install(TARGETS ktape EXPORT ktape LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(KTAPE_WITH_HDF5)
  install(TARGETS ktape_hdf5 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# Headers of the sources' own use, which users neither see nor include.
set(internal_headers
  autograd/dispatch.hpp autograd/half.hpp autograd/interrupt_gate.hpp autograd/parallel.hpp autograd/thread_state.hpp autograd/walk.hpp
  ops/config_file.hpp ops/convolution_arguments.hpp ops/ctc_batch.hpp ops/random_scope.hpp nn/catalogue.hpp
  nn/callbacks/event_file.hpp nn/callbacks/folders.hpp nn/callbacks/monitor.hpp nn/callbacks/output_file.hpp
  nn/callbacks/progress.hpp nn/callbacks/protobuf.hpp nn/callbacks/python_format.hpp nn/data/bytes.hpp nn/data/image_files.hpp nn/data/stream.hpp nn/data/zip.hpp nn/layers/arguments.hpp nn/layers/layer_call.hpp nn/losses/functions.hpp
  nn/metrics/confusion_counts.hpp nn/metrics/reduction.hpp nn/models/feed.hpp nn/models/functional.hpp
  nn/models/graph.hpp nn/models/interrupt.hpp nn/models/trainer.hpp nn/optimizers/fields.hpp
  nn/optimizers/row_gradients.hpp nn/saving/hdf5/hdf5.hpp
  nn/saving/hdf5/library/handles.hpp nn/saving/hdf5/library/process.hpp nn/saving/keras2_weights.hpp nn/saving/keras_h5.hpp
  nn/saving/keras_layers.hpp nn/saving/keras_optimizer.hpp nn/saving/keras_state.hpp nn/saving/keras_weights_h5.hpp
  nn/saving/keras_zip.hpp)
list(APPEND internal_headers
  nn/layers/batch_normalization.hpp nn/models/replicas.hpp nn/models/together.hpp
  nn/callbacks/history_epochs.hpp nn/callbacks/report_html.hpp nn/callbacks/report_page.hpp nn/callbacks/review.hpp
  nn/models/summary_table.hpp nn/plot/cells.hpp nn/plot/chart.hpp nn/plot/frame.hpp nn/plot/pixels.hpp nn/plot/scale.hpp
  nn/plot/series.hpp nn/plot/svg.hpp)
list(APPEND internal_headers
  nn/data/crc32.hpp nn/layers/shared_layers.hpp nn/models/node_config.hpp nn/saving/atomic_file.hpp nn/saving/format.hpp
  nn/saving/keras_dialects.hpp nn/saving/keras_objects.hpp nn/saving/ktape_file.hpp nn/saving/model_config.hpp
  nn/saving/npz.hpp nn/saving/safetensors_file.hpp nn/saving/tfjs.hpp nn/saving/tfjs_file.hpp nn/saving/tfjs_names.hpp
  nn/saving/weights.hpp)
list(APPEND internal_headers nn/applications/frame.hpp nn/applications/layer_scale.hpp)
file(GLOB public_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ktape.hpp autograd/*.hpp ops/*.hpp ops/engine.h
  ops/kernels/engine/interface.h)
file(GLOB_RECURSE nn_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS nn/*.hpp)
list(FILTER nn_headers EXCLUDE REGEX nn/distributed/)  # a component of its own
list(APPEND public_headers ${nn_headers})
list(REMOVE_ITEM public_headers ${internal_headers})
list(TRANSFORM public_headers PREPEND ktape/ OUTPUT_VARIABLE included_headers)
list(JOIN included_headers "\n" included_headers)
file(WRITE ${PROJECT_BINARY_DIR}/public_headers.txt "${included_headers}\n")  # a test looks into each
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ktape/${folder})
endforeach()

# For cling, which takes it by its path and finds the rest by what stands in the second.
install(FILES interactive/cling.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ktape/interactive)
install(CODE "
  set(include_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")
  set(library_folder \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/interactive/cling_paths.hpp.in\"
    \"\$ENV{DESTDIR}\${include_folder}/ktape/interactive/cling_paths.hpp\" @ONLY)")

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ktape)
install(EXPORT ktape NAMESPACE ktape:: FILE ktapeTargets.cmake DESTINATION ${config_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ktapeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ktapeConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ktapeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ktapeConfig.cmake ${PROJECT_BINARY_DIR}/ktapeConfigVersion.cmake
  DESTINATION ${config_folder})
