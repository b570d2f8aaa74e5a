#include <ktape/nn/layers/arguments.hpp>

namespace ktape::nn {

void add_layers(Catalogue& catalogue) {
  add_core_layers(catalogue);
  add_merging_layers(catalogue);
  add_regularization_layers(catalogue);
  add_reshaping_layers(catalogue);
}

}  // namespace ktape::nn
