#pragma once
#include <ktape/autograd/tensor.hpp>

#include <functional>
#include <span>

namespace ktape {

class Tape;

/// One input of a recorded op: the node that made the input, and the index of the input among the outputs of
/// that node.
struct Edge {
  Node* node = nullptr;
  std::uint32_t output = 0;
};

/// The shape and dtype of one output of a node; the gradient of the output has this shape and dtype.
struct OutputInfo {
  Shape shape;
  DType dtype = DType::Float32;
};

/// The arguments of a backward closure: the gradients of the outputs, and the destinations of the gradients
/// of the inputs.
class Grads {
 public:
  virtual ~Grads() = default;
  /// Returns whether the gradient of this input is needed; always false for an input that was not recorded.
  virtual bool wants(int input) const = 0;
  /// Returns the gradient of one output; undefined when no loss depends on that output. A closure with one
  /// input may overwrite the memory of the gradient when the tensor is exclusive().
  virtual const Tensor& output(int index) const = 0;
  /// Adds `gradient` to the gradient of the input. An undefined tensor adds nothing.
  virtual void add(int input, Tensor gradient) = 0;

  /// Returns whether a lookup may add only rows to the gradient of this input, because the whole gradient is
  /// never read.
  virtual bool takes_rows(int input) const = 0;
  /// Adds values[i] to slice rows[i] (int64) along axis 0 of the gradient of an input for which `takes_rows`
  /// is true.
  virtual void add_rows(int input, const Tensor& rows, const Tensor& values) = 0;

  /// Computes and adds the gradient of an input only when the gradient is needed.
  template <class F>
  void to(int input, F&& gradient) {
    if (wants(input)) add(input, gradient());
  }
};

/// An op on the tape: its name, its inputs and its backward function. Nodes are reference-counted: a node
/// lives as long as a tensor or a later node that could need the node. Chains of any length are destroyed
/// without recursion.
class Node {
 public:
  Node(const char* op, bool listed);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  virtual void backward(Grads& grads) = 0;
  /// Sets the inputs of a node that finds its inputs on demand; a backward pass calls `prepare` before it
  /// reads the inputs. Several threads may call `prepare` at once.
  virtual void prepare() {}

  const char* op() const { return op_; }
  /// Returns the sequence number of the node. Sequence numbers increase over time on each thread; the number
  /// of an input is less than the number of its consumer. (Inputs that are found on demand may have greater
  /// numbers than the node, but read no node that is newer than the node.)
  std::uint64_t sequence() const { return sequence_; }
  std::span<const Edge> inputs() const {
    const std::uint32_t count = input_count_.load(std::memory_order_acquire);
    return count == 0 ? std::span<const Edge>() : std::span<const Edge>(edges_, count);
  }
  int outputs() const { return static_cast<int>(1 + more_outputs_.size()); }
  const OutputInfo& output_info(int i) const {
    return i == 0 ? info_ : more_outputs_[static_cast<std::size_t>(i) - 1];
  }
  /// Returns whether the node is the leaf of a variable or watched tensor, at which gradients end.
  bool leaf() const { return !tape_; }
  /// Returns the size in bytes of the node and of the values that the op computed.
  std::size_t bytes() const;

  /// Sets the inputs. `set_inputs` takes the next sequence number; `set_edges` keeps the current number,
  /// which other threads may have read already.
  void set_inputs(std::span<const Tensor* const> inputs);
  void set_edges(std::span<const Tensor* const> inputs);
  void add_output(const OutputInfo& output);
  void add_output(const Tensor& output) { add_output(OutputInfo{output.shape(), output.dtype()}); }
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  static void* operator new(std::size_t bytes);
  static void operator delete(void* block, std::size_t bytes);

 protected:
  virtual ~Node();
  /// Takes the thread's next sequence number that is greater than `latest`.
  void take_sequence(std::uint64_t latest);

 private:
  friend class Tape;
  static constexpr std::uint32_t inline_inputs = 3;

  std::atomic<std::int32_t> refs_{1};
  std::atomic<std::uint32_t> input_count_{0};  // set last: a thread that reads the count sees the edges
  std::uint64_t sequence_ = 0;
  const char* op_;
  Edge* edges_ = inline_edges_;
  Edge inline_edges_[inline_inputs];
  OutputInfo info_;
  std::vector<OutputInfo> more_outputs_;
  Tape* tape_;                                  // null for a leaf
  Node *previous_ = nullptr, *next_ = nullptr;  // in the tape's list, then in the list of nodes to destroy
  bool described_ = false;
};

/// A node at which gradients end. Internal: for variables and watched tensors.
class LeafNode : public Node {
 public:
  explicit LeafNode(const char* op) : Node(op, false) {}
  void backward(Grads&) override {}
};

/// Returns whether ops are recorded on this thread (no NoGrad scope is open).
bool recording();

/// Returns whether an op on these tensors must be recorded.
template <class... T>
bool recording(const Tensor& first, const T&... rest) {
  return (first.node() || (... || rest.node())) && recording();
}
bool recording(std::span<const Tensor> tensors);

/// A node whose backward function is a closure: `f(g, grads)` for an op with one output, `f(grads)` for an op
/// with several outputs. Internal: for `record`.
template <class F>
class ClosureNode final : public Node {
 public:
  ClosureNode(const char* op, F f) : Node(op, true), f_(std::move(f)) {}
  void backward(Grads& grads) override {
    if constexpr (std::is_invocable_v<F&, const Tensor&, Grads&>) f_(grads.output(0), grads);
    else f_(grads);
  }

 private:
  F f_;
};

/// A node whose closure also reads the result y of the op: `f(g, y, grads)`. The node stores y without the
/// link to the node, because that link would be a cycle, and restores the link while gradients are being
/// recorded. Internal: for `record`.
template <class F>
class OutputClosureNode final : public Node {
 public:
  OutputClosureNode(const char* op, const Tensor& y, F f)
      : Node(op, true), f_(std::move(f)), y_(y.detach()) {}
  void backward(Grads& grads) override {
    if (!recording()) return f_(grads.output(0), y_, grads);
    Tensor y = y_.detach();
    y.get()->node = Ref<Node>(this);
    f_(grads.output(0), y, grads);
  }

 private:
  F f_;
  Tensor y_;
};

/// Puts a new op on the tape: links `outputs` to a node whose inputs are `inputs`. Call `link` only when
/// recording(inputs...). Internal: for `record`.
void link(Ref<Node> node, std::span<const Tensor* const> inputs, std::span<const Tensor> outputs);

/// An argument list of inputs that copies no tensor handles.
class Inputs {
 public:
  Inputs(std::initializer_list<std::reference_wrapper<const Tensor>> list) {
    for (const Tensor& t : list) inline_[count_++] = &t;
  }
  Inputs(std::span<const Tensor> list) {
    for (const Tensor& t : list) many_.push_back(&t);
  }
  std::span<const Tensor* const> span() const {
    return many_.empty() ? std::span<const Tensor* const>(inline_, count_)
                         : std::span<const Tensor* const>(many_.data(), many_.size());
  }

 private:
  const Tensor* inline_[8];
  std::size_t count_ = 0;
  std::vector<const Tensor*> many_;
};

/// Records an op of one output with its backward closure `f(g, grads)`, or `f(g, y, grads)` when the closure
/// reads the result y.
///
///     if (recording(x, y)) record("multiply", out, {x, y}, [x, y](const Tensor& g, Grads& grads) {
///       grads.to(0, [&] { return g * y; });
///       grads.to(1, [&] { return g * x; });
///     });
///
/// For example:
///
///     auto cube = [](const Tensor& x) {
///       Tensor y;
///       {
///         ktape::NoGrad values_only;
///         y = x * x * x;
///       }
///       if (ktape::recording(x))
///         ktape::record("cube", y, {x}, [x](const Tensor& g, ktape::Grads& grads) {
///           grads.to(0, [&] { return g * 3.f * x * x; });
///         });
///       return y;
///     };
///     Variable x = K::constant({1., 2.});
///     Tensor y = cube(x);
///     std::cout << y << "\n" << K::gradients(y, x)[0];
template <class F>
void record(const char* op, const Tensor& out, const Inputs& inputs, F f) {
  Node* node;
  if constexpr (std::is_invocable_v<F&, const Tensor&, const Tensor&, Grads&>) {
    node = new OutputClosureNode<F>(op, out, std::move(f));
  } else {
    node = new ClosureNode<F>(op, std::move(f));
  }
  link(Ref<Node>::adopt(node), inputs.span(), {&out, 1});
}

/// Records an op of several outputs with its backward closure `f(grads)`.
template <class F>
void record(const char* op, std::span<const Tensor> outs, const Inputs& inputs, F f) {
  link(Ref<Node>::adopt(new ClosureNode<F>(op, std::move(f))), inputs.span(), outs);
}

}  // namespace ktape
