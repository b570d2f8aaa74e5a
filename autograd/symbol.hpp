#pragma once
#include <ktape/autograd/node.hpp>
#include <ktape/autograd/variable.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

/// Symbolic tensors: tensors without a value, which are placeholders or results of ops on symbolic tensors. A
/// symbolic tensor has a dtype and a shape, in which dimensions may be unknown (None). The op that made the
/// tensor is stored as a Symbol, which a Graph runs later (graph.hpp).
namespace ktape {

/// An operand of a deferred op: a tensor, or a variable, whose value is read when the op runs.
struct Operand {
  Tensor tensor;
  Variable variable;
  /// Whether gradients flow from the results to the operand, if both are floating.
  bool differentiable = true;

  Operand(const Tensor& tensor, bool differentiable = true);
  explicit Operand(const Variable& variable) : variable(variable) {}
  /// Returns the value of an operand that is not symbolic.
  const Tensor& value() const { return variable.defined() ? variable.stored() : tensor; }
};

/// The values of the operands of a running symbol. A value lies in a slot of the run or is the current value
/// of a constant operand.
class OperandValues {
 public:
  /// The location of an operand's value: the index of a slot when at least 0, otherwise ~index of a constant.
  using Source = std::int32_t;
  OperandValues(std::span<const Source> sources, const Tensor* slots, const Operand* constants)
      : sources_(sources), slots_(slots), constants_(constants) {}

  std::size_t size() const { return sources_.size(); }
  const Tensor& operator[](std::size_t i) const {
    const Source source = sources_[i];
    return source >= 0 ? slots_[source] : constants_[~source].value();
  }

 private:
  std::span<const Source> sources_;
  const Tensor* slots_;
  const Operand* constants_;
};

/// The destination of the results of a symbol: an array of slots, or a list when the number of results is
/// unknown.
class Results {
 public:
  Results(Tensor* places, std::size_t count) : places_(places), count_(count) {}
  explicit Results(std::vector<Tensor>& list) : list_(&list) {}
  void set(Tensor&& only) {
    if (list_) list_->push_back(std::move(only));
    else places_[0] = std::move(only);
  }
  /// Throws ValueError when the number of results is not the number of slots.
  void set(std::vector<Tensor> all);

 private:
  Tensor* places_ = nullptr;
  std::size_t count_ = 0;
  std::vector<Tensor>* list_ = nullptr;
};

/// An op that is deferred: its name, and whether it is pure. The results of a pure op depend on its arguments alone,
/// so that equal calls have equal results: no random numbers, no state, no output.
struct Op {
  const char* name;
  bool pure;
  constexpr Op(const char* name, bool pure = true) : name(name), pure(pure) {}
};
constexpr Op impure(const char* name) { return {name, false}; }

/// A placeholder, or an op that runs when the values of its operands are known.
///
///     struct Halves : ktape::Symbol {
///       explicit Halves(const Tensor& x) : Symbol(ktape::impure("halves")) {
///         set_operands({ktape::Operand(x)});
///       }
///       void run(const ktape::OperandValues& values,
///                ktape::Results& results) const override {
///         results.set(std::vector{values[0] * 0.5f, values[0] * 0.5f});
///       }
///     };
///     Tensor x = K::placeholder({.shape = Shape{2}});
///     auto symbol = ktape::Ref<ktape::Symbol>::adopt(new Halves(x));
///     auto halves = ktape::defer(symbol, {ktape::info_of(x), ktape::info_of(x)});
///     std::cout << K::function({x}, {halves[0] + halves[1]})({K::ones({2})})[0];
class Symbol {
 public:
  /// Makes an impure symbol: equal calls may have different results, as far as the library knows.
  explicit Symbol(const char* op) : Symbol(impure(op)) {}
  explicit Symbol(const Op& op);
  Symbol(const Symbol&) = delete;
  Symbol& operator=(const Symbol&) = delete;

  /// Computes the results from the values of the operands.
  virtual void run(const OperandValues& values, Results& results) const = 0;
  /// Returns whether run() of both symbols does the same with equal values of the operands, as far as the
  /// functions and the arguments that are not tensors show.
  virtual bool same_call(const Symbol&) const { return false; }
  /// Returns whether the symbol changes a variable. A Graph runs such symbols last, and shape inference never
  /// runs them.
  virtual bool updates() const { return false; }
  /// Returns the index of the first operand with respect to which run() differentiates; that operand and all
  /// later operands are differentiated. Returns the number of operands when run() does not differentiate.
  virtual std::size_t first_differentiated() const { return operands_.size(); }

  const char* op() const { return op_.name; }
  /// Returns whether calls with equal operands that are the same_call have equal results.
  bool pure() const { return op_.pure && !updates(); }
  /// Returns the name of a placeholder; empty for an op.
  const std::string& name() const { return name_; }
  bool placeholder() const { return !name_.empty(); }
  /// Returns the sequence number, which increases over time: the number of an operand is always less than the
  /// number of the symbol that reads the operand.
  std::uint64_t sequence() const { return sequence_; }
  /// Returns the operands of run(), followed by the symbolic and recorded tensors that callables inside the
  /// op read.
  std::span<const Operand> operands() const { return operands_; }
  std::size_t captured() const { return captured_; }
  std::span<const OutputInfo> outputs() const { return outputs_; }

  /// Returns the object that made the symbol, set by code that uses the tape: a layer's call.
  const std::shared_ptr<void>& owner() const { return owner_; }
  void set_owner(std::shared_ptr<void> owner) { owner_ = std::move(owner); }
  void set_operands(std::vector<Operand> operands) { operands_ = std::move(operands); }
  void set_outputs(std::vector<OutputInfo> outputs) { outputs_ = std::move(outputs); }
  void set_captured(std::vector<Operand> captured);

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  /// Retains the symbol for a thread that has no reference. Returns false when another thread has begun to
  /// destroy the symbol.
  bool retain_if_alive();

 protected:
  virtual ~Symbol() = default;
  std::string name_;

 private:
  std::atomic<std::int32_t> refs_{1};
  Op op_;
  std::uint64_t sequence_;
  std::vector<Operand> operands_;
  std::size_t captured_ = 0;
  std::vector<OutputInfo> outputs_;
  std::shared_ptr<void> owner_;
};

/// Returns the sequence number of the newest symbol.
std::uint64_t newest_symbol();

/// Returns whether x is a defined tensor without a value.
///
///     std::cout << ktape::is_symbolic(K::placeholder({2})) << " "
///               << ktape::is_symbolic(K::zeros({2}));
inline bool is_symbolic(const Tensor& x) { return x.get() && x.get()->symbol; }
template <class... T>
requires(sizeof...(T) > 0) bool is_symbolic(const Tensor& first, const T&... rest) {
  return is_symbolic(first) || (... || is_symbolic(static_cast<const Tensor&>(rest)));
}
bool is_symbolic(const std::vector<Tensor>& tensors);

/// Returns one result of the symbol. Internal: for `defer`.
Tensor symbolic_tensor(const Ref<Symbol>& symbol, std::uint32_t output);
/// Returns a placeholder. Throws ValueError for an extent that is neither None nor at least 0.
Tensor make_placeholder(const Shape& shape, DType dtype, const std::string& name);

}  // namespace ktape
