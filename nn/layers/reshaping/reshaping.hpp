#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that change the shape of the samples, or the order of the axes. The batch axis does not change.
namespace ktape::nn {

struct FlattenOptions {
  std::string data_format = {};  ///< "channels_first" moves the channels to the end before flattening
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that flattens each sample: (batch, ...) becomes (batch, features).
///
///     nn::Flatten layer, channels_first({.data_format = "channels_first"});
///     Tensor x = K::constant({{{1., 2., 3.}, {4., 5., 6.}}});
///     std::cout << layer(x) << "\n" << channels_first(x);
class Flatten : public Layer {
 public:
  explicit Flatten(const FlattenOptions& options = {});
};

struct ReshapeOptions {
  OptionalShape target_shape = {};  ///< required: the extents of a sample; one may be -1
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that reshapes each sample: (batch, ...) becomes (batch, target_shape...). One extent of
/// target_shape may be -1: the layer computes the extent from the size of a sample. Throws ValueError if the
/// number of elements of a sample would change.
///
///     nn::Reshape layer({.target_shape = {6, 2}});
///     std::cout << layer(K::random_normal({2, 3, 4})).shape()
///               << " weights: " << layer.count_params();
class Reshape : public Layer {
 public:
  explicit Reshape(const ReshapeOptions& options);
  template <class = void>
  explicit Reshape(const Shape& target_shape, const ReshapeOptions& options = {})
      : Reshape(internal::with("Reshape", "target_shape", options, &ReshapeOptions::target_shape,
                               target_shape)) {}
};

struct PermuteOptions {
  OptionalShape dims = {};  ///< required: the axes of a sample, counted from 1
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that permutes the axes of a sample: axis d of the output is axis dims[d - 1] of the input. Axes
/// count from 1, because axis 0 is the batch axis.
///
///     nn::Permute layer({.dims = {2, 1}});
///     std::cout << layer(K::random_normal({2, 3, 4})).shape()
///               << " weights: " << layer.count_params();
class Permute : public Layer {
 public:
  explicit Permute(const PermuteOptions& options);
  template <class = void>
  explicit Permute(const Shape& dims, const PermuteOptions& options = {})
      : Permute(internal::with("Permute", "dims", options, &PermuteOptions::dims, dims)) {}
};

struct RepeatVectorOptions {
  std::optional<std::int64_t> n = {};  ///< required: the number of repetitions
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that repeats each sample n times: (batch, features) becomes (batch, n, features).
///
///     nn::RepeatVector layer({.n = 3});
///     std::cout << layer(K::random_normal({2, 4})).shape()
///               << " weights: " << layer.count_params();
class RepeatVector : public Layer {
 public:
  explicit RepeatVector(const RepeatVectorOptions& options);
  explicit RepeatVector(std::int64_t n, const RepeatVectorOptions& options = {})
      : RepeatVector(internal::with("RepeatVector", "n", options, &RepeatVectorOptions::n, n)) {}
};

}  // namespace ktape::nn
