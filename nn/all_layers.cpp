#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/normalization/layer_scale.hpp>

namespace ktape::nn {

void add_layers(ClassRegistry& catalogue) {
  add_activation_layers(catalogue);
  add_application_layers(catalogue);
  add_attention_layers(catalogue);
  add_augmentation_layers(catalogue);
  add_convolution_layers(catalogue);
  add_convolutional_recurrent_layers(catalogue);
  add_core_layers(catalogue);
  add_einsum_dense(catalogue);
  add_encoding_layers(catalogue);
  add_image_layers(catalogue);
  add_input_layer(catalogue);
  add_locally_connected_layers(catalogue);
  add_lookup_layers(catalogue);
  add_merging_layers(catalogue);
  add_multi_head_attention_layers(catalogue);
  add_normalization_layers(catalogue);
  add_numeric_layers(catalogue);
  add_operation_layer(catalogue);
  add_padding_layers(catalogue);
  add_pooling_layers(catalogue);
  add_recurrent_cells(catalogue);
  add_recurrent_layers(catalogue);
  add_regularization_layers(catalogue);
  add_reshaping_layers(catalogue);
  add_text_layers(catalogue);
  add_wrappers(catalogue);
}

}  // namespace ktape::nn
