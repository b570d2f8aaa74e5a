#pragma once
#include <ktape/nn/models/model.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// Arranges data in the order of a model's inputs and outputs: by names, or in the given order.
class Arrangement {
 public:
  /// Makes the arrangement for a model; `op` is the name of the called function, for messages.
  Arrangement(const char* op, const Model& model);

  /// Makes a batch of arrays. Throws ValueError for names that the model does not have, a missing name, and
  /// another number of inputs.
  Batch of_arrays(const NamedTensors& x, const NamedTensors& y = {},
                  const NamedTensors& sample_weight = {}) const;
  /// Makes a batch of an element of a dataset: inputs, targets and weights, or, with `inputs_only`, the
  /// inputs.
  Batch of_element(const NamedTensors& element, bool inputs_only = false) const;

  /// Makes a batch of any element, for the steps of a model class of the user: see Batch.
  static Batch as_it_is(const NamedTensors& element);

  /// Multiplies the weight of each sample by the weight of its class.
  void weigh_classes(Batch& batch, const ClassWeight& class_weight) const;

 private:
  /// The inputs or the outputs of the model.
  struct Side {
    const char *argument, *kind;
    NamedTensors named;  ///< undefined tensors with the names by which tensors may be given
  };

  NamedTensors by_name(const Side& side, const NamedTensors& given, const std::string& argument) const;
  NamedTensors inputs(const NamedTensors& given) const;
  NamedTensors targets(const NamedTensors& given) const;
  NamedTensors weights(const NamedTensors& given) const;
  Batch by_parts(const NamedTensors& element, bool inputs_only) const;
  Batch by_names(const NamedTensors& element, bool inputs_only) const;
  Batch by_counts(const NamedTensors& element, bool inputs_only) const;
  bool in_parts(const NamedTensors& element) const;
  std::optional<std::size_t> input_count() const;
  std::size_t output_count() const;
  Tensor class_weights(const Tensor& y, const ClassWeight::ByClass& weights) const;

  const char* op_;
  Model model_;
  Side inputs_, outputs_;
};

}  // namespace ktape::nn
