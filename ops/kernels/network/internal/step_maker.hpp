#pragma once
#include <ktape/ops/kernels/network/network_steps.hpp>

#include <cstring>

/// The construction of the steps of a network. For the sources of this folder only.
namespace ktape::kernels {

/// A node for which oneDNN has no fast primitive.
struct Unsupported {};

constexpr auto float_type = dnnl::memory::data_type::f32;
constexpr auto inference = dnnl::prop_kind::forward_inference;

/// Returns oneDNN's type of elements.
dnnl::memory::data_type onednn_type(NumberType numbers);
/// Returns the layout of an array in row-major order. oneDNN wants the channels in the second axis.
dnnl::memory::desc plain_layout(const std::vector<std::int64_t>& shape, NumberType = NumberType::Float32);
/// Returns a layout that a primitive may choose.
dnnl::memory::desc any_layout(const std::vector<std::int64_t>& shape, NumberType);
/// Returns the layout of the elements as rows of channels.
dnnl::memory::desc row_layout(const std::vector<std::int64_t>& shape, NumberType);
/// Returns a layout with elements of another type in the same order.
dnnl::memory::desc with_numbers(dnnl::memory::desc layout, NumberType numbers);
/// Returns the layout of `size` numbers of float32, or of `bytes` bytes.
dnnl::memory::desc vector_layout(std::int64_t size);
dnnl::memory::desc byte_layout(std::size_t bytes);

struct OnednnFunction {
  dnnl::algorithm kind;
  const char* name;
  float alpha, beta;
};
OnednnFunction onednn_function(const ElementFunction& f);
/// Returns the attributes of a primitive with these post-ops.
dnnl::primitive_attr attributes(const dnnl::post_ops& after = {});

class StepMaker {
 public:
  explicit StepMaker(const Network& network);
  NetworkSteps take() { return std::move(made_); }

 private:
  using Place = ArgumentPlace;
  /// The value of a node.
  struct Value {
    Place place;
    int last = -1;    ///< the last node that reads the value
    int output = -1;  ///< the index among the outputs of the network
  };
  /// What follows in a step: the post-ops and the text of its primitive, and the functions for which steps of their own
  /// follow.
  struct After {
    dnnl::post_ops after;
    std::string what;
    std::vector<ElementFunction> apart = {};
  };

  void find_last_readers();
  void add(std::size_t i);

  // step_maker.cpp: places of values
  Place new_block(const dnnl::memory::desc& layout, int last);
  Place result(std::size_t i, const dnnl::memory::desc& layout);
  /// Returns the place of the result of a step that may compute in place: the place of x where x has no other
  /// reader, otherwise a new one.
  Place result_over(std::size_t i, const Place& x);
  const std::vector<std::int64_t>& shape_of(int node) const {
    return made_.network.nodes[static_cast<std::size_t>(node)].shape;
  }
  const Place& input(const NetworkNode& node, std::size_t i = 0) const {
    return values_[static_cast<std::size_t>(node.inputs[i])].place;
  }
  /// Returns whether a step may overwrite a value: the value is in the arena, and no later node reads it.
  bool is_free(const Place& place) const {
    return place.in == Place::In::Arena && made_.blocks[place.index].last <= node_;
  }
  /// Returns the layout of a result that a primitive may choose; plain for an output.
  dnnl::memory::desc free_layout(std::size_t i) const;
  Place weight(PackedWeight::Part part, std::size_t node, const dnnl::memory::desc& plain,
               const dnnl::memory::desc& packed);
  /// Returns a value in a layout: the value itself, or a copy.
  Place in_layout(const Place& value, const dnnl::memory::desc& layout);
  /// Returns x in the layout for a result of equal shape: plain if node i is an output, otherwise as x is.
  Place in_layout_of_output(std::size_t i, const Place& x);
  void reorder(const Place& from, const Place& to, const char* what = "reorder");
  /// Returns where a step that computes in float32 writes the result of node i: `finish` brings the numbers to
  /// the node's type. The step may overwrite `over`, if given.
  Place float_result(std::size_t i, const dnnl::memory::desc& layout, const Place* over = nullptr);
  void finish(std::size_t i, const Place& computed);

  void push(dnnl::primitive primitive, std::vector<std::pair<int, Place>> arguments,
            const dnnl::memory::desc& scratchpad, std::string what, const char* implementation);
  void push_own(std::shared_ptr<const NodeKernel> kernel, KernelArguments arguments, std::string what);
  template <class Description>
  static void expect_fast(const Description& description) {
    if (std::strstr(description.impl_info_str(), "ref")) throw Unsupported();
  }
  /// Adds the functions of a node to what follows in a step.
  static void append(const NetworkNode& node, After& to);
  /// Adds a step for each function. The first reads `from`, the others and the results are in `to`.
  void add_each(const std::vector<ElementFunction>& functions, Place from, const Place& to);
  void add_each(const std::vector<ElementFunction>& functions, const Place& value) {
    add_each(functions, value, value);
  }

  // product_steps.cpp
  After multiplication(const char* name, const NetworkNode& node) const;
  Place sum_result(std::size_t i, const NetworkNode& node, const dnnl::memory::desc& layout, const Place& x);
  template <class Primitive, class Description>
  void push_multiplication(std::size_t i, const NetworkNode& node, const Description& description,
                           const dnnl::memory::desc& plain_kernel, const Place& x, const Place& y,
                           const std::string& what);
  template <class Primitive, class Description>
  void push_product(std::size_t i, const NetworkNode& node, const Description& description,
                    const dnnl::memory::desc& plain_kernel, const After& after, bool one_thread = false);
  bool add_in_place(std::size_t i, const NetworkNode& node);
  void add_convolution(std::size_t i, const NetworkNode& node);
  void add_product(std::size_t i, const NetworkNode& node);

  // element_steps.cpp
  void add_normalization(std::size_t i, const NetworkNode& node);
  void add_functions(std::size_t i, const NetworkNode& node);
  void add_binary(std::size_t i, const NetworkNode& node, BinaryFunction function);
  bool add_scaling(std::size_t i, const NetworkNode& node);
  void add_softmax(std::size_t i, const NetworkNode& node);

  // shape_steps.cpp
  void add_concatenation(std::size_t i, const NetworkNode& node);
  void add_pooling(std::size_t i, const NetworkNode& node);
  void add_padding(std::size_t i, const NetworkNode& node);
  void add_reshape(std::size_t i, const NetworkNode& node);
  void add_cast(std::size_t i, const NetworkNode& node);
  void add_own(std::size_t i, const NetworkNode& node);

  NetworkSteps made_;
  std::vector<Value> values_;
  int node_ = 0;  ///< the node for which steps are made
};

}  // namespace ktape::kernels
