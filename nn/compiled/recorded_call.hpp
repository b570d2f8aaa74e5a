#pragma once
#include <ktape/nn/compiled/planned_operations.hpp>
#include <ktape/nn/operations/operations.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <string_view>

/// The arguments of an op between layers, for the plans of ops. Internal: sources only.
namespace ktape::nn {

/// Returns the variable that a symbol reads and no more; undefined for other tensors.
inline Variable variable_read_by(const Tensor& x) {
  if (!is_symbolic(x)) return {};
  const Symbol& symbol = *x.get()->symbol;
  const std::string_view op = symbol.op();
  return op == "variable" || op == "identity" ? symbol.operands()[0].variable : Variable();
}

/// The call that a symbol records: some arguments are symbols, others are known or variables.
class RecordedCall {
 public:
  RecordedCall(const Symbol& symbol, const OperationCall& call) : symbol_(&symbol), call_(&call) {}
  const OperationCall* operator->() const { return call_; }
  std::string_view name() const { return call_->operation().name; }
  const Shape& result() const { return symbol_->outputs()[0].shape; }
  const Symbol& symbol() const { return *symbol_; }

  /// Returns a known argument as a weight of networks; an undefined variable for none, nothing for a symbol, and for a
  /// value that several operands share.
  std::optional<Variable> weight(const char* argument) const {
    if (!call_->has(argument)) return Variable();
    const Tensor x = call_->tensor(argument);
    if (is_symbolic(x)) {
      const Variable read = variable_read_by(x);
      return read.defined() ? std::optional(read) : std::nullopt;
    }
    std::vector<Operand> same;
    for (const Operand& operand : symbol_->operands())
      if (!is_symbolic(operand.tensor) && operand.value().defined() &&
          operand.value().get()->storage.get() == x.get()->storage.get())
        same.push_back(operand);
    const auto variable =
        std::find_if(same.begin(), same.end(), [](const Operand& each) { return each.variable.defined(); });
    if (variable == same.end()) return Variable(x);
    return same.size() == 1 ? std::optional(variable->variable) : std::nullopt;
  }
  /// Returns a known argument that is one number and no variable.
  std::optional<double> number(const char* argument) const {
    if (call_->is_number(argument)) return call_->number(argument);
    const std::optional<Variable> one = weight(argument);
    if (!one || !one->defined() || one->size() != 1 || !one->dtype().is_floating() || is_variable(*one))
      return {};
    return backend::reshape(one->stored(), {}).element(nullptr, 0).real();
  }
  /// Returns a known argument that has a number for each position along an axis of x, as a vector.
  std::optional<Variable> channel_weight(const char* argument, const Tensor& x, int axis) const {
    const std::optional<Variable> given = weight(argument);
    if (!given || !given->defined() || x.shape()[axis] == None || given->size() != x.shape()[axis]) return {};
    const int at = axis - (x.ndim() - given->ndim());
    if (at < 0 || given->shape()[at] != given->size()) return {};
    if (given->ndim() == 1) return given;
    if (is_variable(*given)) return {};
    return Variable(backend::reshape(given->stored(), {given->size()}));
  }
  std::vector<std::int64_t> extents(const char* argument, int axes) const {
    return call_->value(argument).as<backend::PerAxis<std::int64_t>>(call_->what(argument)).over(axes);
  }
  bool channels_last() const {
    return (call_->has("data_format") ? call_->text("data_format") : backend::image_data_format()) ==
           "channels_last";
  }
  /// Returns the order in which the axis of the call is the last one; none where another axis than 1 would have to move.
  std::optional<AxisOrder> order_of_axis(const Tensor& x) const {
    const Axes axes = call_->axes("axis");
    if (axes.all() || axes.list().size() != 1) return {};
    const int axis = axes.list()[0] < 0 ? axes.list()[0] + x.ndim() : axes.list()[0];
    if (axis == x.ndim() - 1) return AxisOrder::Own;
    return axis == 1 ? std::optional(AxisOrder::ChannelsLast) : std::nullopt;
  }
  AxisOrder order_of_format() const { return channels_last() ? AxisOrder::Own : AxisOrder::ChannelsLast; }

  bool is_variable(const Variable& weight) const {
    return std::any_of(symbol_->operands().begin(), symbol_->operands().end(), [&](const Operand& operand) {
      const Variable variable =
          operand.variable.defined() ? operand.variable : variable_read_by(operand.tensor);
      return variable.defined() && variable.is(weight);
    });
  }

 private:
  const Symbol* symbol_;
  const OperationCall* call_;
};

}  // namespace ktape::nn
