#pragma once

/// What saving and loading take.
namespace ktape::nn {

struct SaveOptions {
  bool overwrite = true;          ///< false: a file that is there is an error
  bool include_optimizer = true;  ///< the state of the optimizer, where the format has a place for it
};

struct LoadWeightsOptions {
  /// Layers take the weights that were saved under their name; others on either side are passed over. By
  /// default the file must have the weights of this very architecture.
  bool by_name = false;
  /// Passes over the layers whose weights have other shapes or another number.
  bool skip_mismatch = false;
};

}  // namespace ktape::nn
