#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/interrupt.hpp>
#include <ktape/autograd/base/thread_state.hpp>
#include <ktape/autograd/environment.hpp>
#include <ktape/autograd/graph/reach.hpp>
#include <ktape/autograd/graph/trace.hpp>
#include <ktape/autograd/shape_rules.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/autograd/variable.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace ktape {

std::vector<Operand> joined(std::vector<Operand> captured, const std::vector<Operand>& more) {
  captured.insert(captured.end(), more.begin(), more.end());
  return captured;
}

namespace {

/// A search for the tensors from outside on which the results depend.
class Outside {
 public:
  explicit Outside(std::uint64_t start) : start_(start) {}

  void visit(const std::vector<Tensor>& results) {
    for (const Tensor& x : results) meet(x);
    while (!inside_.empty()) {
      const Ref<Symbol> symbol = inside_.back();
      inside_.pop_back();
      for (const Operand& operand : symbol->operands()) meet(operand);
    }
  }

  std::vector<Operand> found;

 private:
  void meet(const Operand& x) {
    const Origin origin = origin_of(x);
    if (!origin.first) return;  // a constant
    const bool inside = is_symbolic(x.tensor) && x.tensor.get()->symbol->sequence() > start_;
    if (!seen_.insert(inside ? Origin{origin.first, 0} : origin).second) return;
    if (inside) inside_.push_back(x.tensor.get()->symbol);
    else found.push_back(x);
  }

  std::uint64_t start_;
  std::set<Origin> seen_;
  std::vector<Ref<Symbol>> inside_;
};

void expect_results(const char* op, const std::vector<Tensor>& results) {
  for (const Tensor& x : results)
    if (!x.defined()) fail("[", op, "] a callable must return a tensor: received an undefined tensor (None)");
}

Trace trace_symbols(const char* op, const std::vector<OutputInfo>& arguments, const Callable& f) {
  const InferenceScope scope;
  std::vector<Tensor> placeholders;
  const std::uint64_t start = newest_symbol();
  for (const OutputInfo& info : arguments)
    placeholders.push_back(make_placeholder(info.shape, info.dtype, std::string("an argument of ") + op));
  const std::vector<Tensor> results = f(placeholders);
  expect_results(op, results);
  Trace out;
  for (const Tensor& x : results) out.results.push_back(info_of(x));
  Outside outside(start);
  outside.visit(results);
  out.captured = std::move(outside.found);
  const GradientReach reach(results, start);
  for (Operand& operand : out.captured) operand.differentiable = reach.contains(operand);
  return out;
}

/// An Environment in which symbolic tensors have small values. Unknown dimensions get extents in the order in
/// which a callable reads the dimensions: one extent for all dimensions, or successive extents of a list.
class SmallValues final : public Environment {
 public:
  SmallValues(std::size_t first, std::size_t step, bool ones) : next_(first), step_(step), ones_(ones) {}

  Tensor value(const Tensor& symbolic) override {
    for (std::size_t i = 0; i < asked_for.size(); ++i)
      if (origin_of(asked_for[i]) == origin_of(symbolic)) return values_[i];
    asked_for.push_back(symbolic);
    return values_.emplace_back(value_of(info_of(symbolic)));
  }

  Tensor value_of(OutputInfo info) {
    constexpr std::int64_t extents[] = {2, 3, 5, 24, 1, 48, 7};
    for (std::int64_t& extent : info.shape)
      if (extent == None) extent = extents[std::exchange(next_, next_ + step_) % std::size(extents)];
    Tensor out = Tensor::empty(info.shape, info.dtype);
    dispatch(info.dtype, [&]<class T>() { std::fill_n(out.pointer<T>(), out.size(), T(ones_ ? 1 : 0)); });
    return out;
  }

  static constexpr std::size_t extents_tried = 7;
  std::vector<Tensor> asked_for;

 private:
  std::size_t next_, step_;
  bool ones_;
  std::vector<Tensor> values_;
};

/// Returns the variables from which recorded results were computed by nodes newer than `oldest`.
std::vector<Variable> variables_of(const std::vector<Tensor>& results, std::uint64_t oldest) {
  std::vector<Variable> found;
  std::set<const Node*> seen;
  std::vector<Node*> nodes;
  const auto meet = [&](Node* node) {
    if (node && (node->leaf() || node->sequence() > oldest) && seen.insert(node).second)
      nodes.push_back(node);
  };
  for (const Tensor& x : results)
    if (!is_symbolic(x)) meet(x.node());
  while (!nodes.empty()) {
    Node* const node = nodes.back();
    nodes.pop_back();
    if (const auto* leaf = dynamic_cast<const VariableLeaf*>(node)) {
      if (const Variable variable = leaf->variable(); variable.defined()) found.push_back(variable);
      continue;
    }
    node->prepare();
    for (const Edge& edge : node->inputs()) meet(edge.node);
  }
  return found;
}

/// Returns the trace on which the runs of `f` on small values agree, with the symbolic tensors and variables
/// that any of the runs reads. Runs in which `f` throws are ignored. When `f` throws in all runs with one
/// message, which then does not depend on an extent, the error is rethrown; so is an interrupt.
std::optional<Trace> trace_values(const char* op, const std::vector<OutputInfo>& arguments,
                                  const Callable& f) {
  const InferenceScope scope;
  const EnableGrad on;  // the nodes of the results lead to the variables
  Trace out;
  std::set<Origin> captured;
  const auto capture = [&](const Operand& x) {
    if (captured.insert(origin_of(x)).second) out.captured.push_back(x);
  };
  const std::uint64_t oldest = thread_state().sequence;
  std::size_t runs = 0;
  std::exception_ptr refused;
  std::set<std::string> reasons;
  for (std::size_t step : {0u, 1u, 3u})
    for (std::size_t run = 0; run < 2 * SmallValues::extents_tried; ++run) {
      SmallValues small(run / 2, step, run % 2 == 1);
      std::vector<Tensor> values, results;
      for (const OutputInfo& info : arguments) values.push_back(small.value_of(info));
      try {
        results = f(values);
        expect_results(op, results);
        for (const Variable& variable : variables_of(results, oldest)) capture(Operand(variable));
        for (Tensor& x : results)
          if (is_symbolic(x)) x = small.value(x);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error& error) {
        refused = std::current_exception();
        reasons.insert(error.what());
        continue;
      }
      if (runs++ == 0)
        for (const Tensor& x : results) out.results.push_back(info_of(x));
      if (results.size() != out.results.size())
        fail("[", op, "] the number of results must not depend on an unknown dimension: received ",
             out.results.size(), " and ", results.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        out.results[i] = either(op, out.results[i], info_of(results[i]));
      for (const Tensor& x : small.asked_for) capture(x);
    }
  if (runs == 0 && reasons.size() == 1) std::rethrow_exception(refused);
  return runs > 0 ? std::optional(out) : std::nullopt;
}

}  // namespace

Trace trace(const char* op, const std::vector<OutputInfo>& arguments, const Callable& f) {
  std::exception_ptr refused;
  try {
    return trace_symbols(op, arguments, f);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    refused = std::current_exception();
  }
  if (const std::optional<Trace> traced = trace_values(op, arguments, f)) return *traced;
  std::rethrow_exception(refused);
}

}  // namespace ktape
