#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/normalization/layer_scale.hpp>

namespace ktape::nn {

void add_layers(ClassRegistry& registry) {
  add_activation_layers(registry);
  add_application_layers(registry);
  add_attention_layers(registry);
  add_augmentation_layers(registry);
  add_convolution_layers(registry);
  add_convolutional_recurrent_layers(registry);
  add_core_layers(registry);
  add_einsum_dense(registry);
  add_encoding_layers(registry);
  add_image_layers(registry);
  add_input_layer(registry);
  add_locally_connected_layers(registry);
  add_lookup_layers(registry);
  add_merging_layers(registry);
  add_multi_head_attention_layers(registry);
  add_normalization_layers(registry);
  add_numeric_layers(registry);
  add_padding_layers(registry);
  add_pooling_layers(registry);
  add_recurrent_cells(registry);
  add_recurrent_layers(registry);
  add_regularization_layers(registry);
  add_reshaping_layers(registry);
  add_text_layers(registry);
  add_wrappers(registry);
}

}  // namespace ktape::nn
