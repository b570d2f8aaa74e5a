#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

namespace ktape::backend {
namespace {

// A tensor with labels for its axes: letters, and for the axes of an ellipsis the digits '0' (the last axis),
// '1', ...
struct Labelled {
  Tensor tensor;
  std::string labels;
};

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

template <class... Parts>
[[noreturn]] void reject(const std::string& equation, const Parts&... rule) {
  fail("[einsum] ", rule..., ": received equation='", equation, "'");
}

std::string expand(const std::string& equation, const std::string& term, int ellipsis_rank) {
  std::string labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, "...") == 0) {
      for (int axis = ellipsis_rank - 1; axis >= 0; --axis) labels += static_cast<char>('0' + axis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(term[i]))) {
      labels += term[i];
    } else {
      reject(equation, "a term is made of letters and at most one '...', not '", term[i], "'");
    }
  }
  std::string sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    reject(equation, "a letter may occur once per term, not twice as in '", term, "'");
  return labels;
}

Equation parse(const std::string& equation, const TensorList& operands) {
  std::string text;
  std::copy_if(equation.begin(), equation.end(), std::back_inserter(text),
               [](unsigned char c) { return !std::isspace(c); });
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation result;
  std::vector<std::string> terms(1);
  for (char c : left)
    if (c == ',') terms.emplace_back();
    else terms.back() += c;
  if (terms.size() != operands.size())
    reject(equation, "there must be one term per operand, not ", terms.size(), " for ", operands.size());
  int most = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool ellipsis = terms[i].find("...") != std::string::npos;
    const int letters = static_cast<int>(terms[i].size()) - (ellipsis ? 3 : 0), rank = operands[i].ndim();
    if (ellipsis ? letters > rank : letters != rank)
      fail("[einsum] the term '", terms[i],
           "' must name each axis of its operand: received shape=", operands[i].shape());
    result.inputs.push_back(expand(equation, terms[i], rank - letters));
    if (ellipsis) most = std::max(most, rank - letters);
  }
  if (arrow != std::string::npos) {
    result.output = expand(equation, text.substr(arrow + 2), most);
  } else {  // letters that occur once, in alphabetical order
    for (int axis = most - 1; axis >= 0; --axis) result.output += static_cast<char>('0' + axis);
    std::string letters = left;
    std::sort(letters.begin(), letters.end());
    for (char c : letters)
      if (std::isalpha(static_cast<unsigned char>(c)) && std::count(letters.begin(), letters.end(), c) == 1)
        result.output += c;
  }
  return result;
}

bool contains(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

/// Returns the extent of a label. An axis of an ellipsis may broadcast, an axis with a letter may not.
std::int64_t extent(const Equation& equation, const std::string& text, const TensorList& operands,
                    char label) {
  std::optional<std::int64_t> found;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::size_t at = equation.inputs[i].find(label);
    if (at == std::string::npos) continue;
    const std::int64_t n = operands[i].shape()[static_cast<int>(at)];
    if (!found) found = n;
    const bool broadcasts = std::isdigit(static_cast<unsigned char>(label)) && (n == 1 || found == 1);
    if (!compatible(n, *found) && !broadcasts)
      fail("[einsum] a letter must stand for one extent: received ", *found, " and ", n, " for '", label,
           "' in '", text, "'");
    found = !broadcasts ? merged(*found, n) : found == 1 ? n : *found;
  }
  if (!found) reject(text, "a letter of the result must occur in an operand, not '", label, "'");
  return *found;
}

/// Returns the tensor with its axes in the order of `labels`; missing axes get extent 1.
Tensor arranged(const Labelled& x, const std::string& labels) {
  Shape pattern, shape;
  bool in_order = true;
  for (char label : labels) {
    const std::size_t at = x.labels.find(label);
    if (at == std::string::npos) {
      shape.push_back(1);
      continue;
    }
    in_order = in_order && static_cast<int>(at) == pattern.rank();
    pattern.push_back(static_cast<std::int64_t>(at));
    shape.push_back(x.tensor.shape()[static_cast<int>(at)]);
  }
  return reshape(in_order ? x.tensor : permute_dimensions(x.tensor, pattern), shape);
}

/// Sums x over the axes that `wanted` does not name.
Labelled summed(const Labelled& x, const std::string& wanted) {
  std::vector<int> axes;
  std::string kept;
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    if (contains(wanted, x.labels[i])) kept += x.labels[i];
    else axes.push_back(static_cast<int>(i));
  return axes.empty() ? x : Labelled{sum(x.tensor, axes), kept};
}

/// Multiplies two operands and sums over the labels that `wanted` (the labels of the result and of later
/// operands) does not name: one matrix product, whose batch consists of the shared labels that are kept.
Labelled contract(const Labelled& a, const Labelled& b, const std::string& wanted) {
  const Labelled x = summed(a, wanted + b.labels), y = summed(b, wanted + a.labels);
  std::string batch, rows, columns, inner;
  for (char label : x.labels)
    (!contains(y.labels, label) ? rows : contains(wanted, label) ? batch : inner) += label;
  for (char label : y.labels)
    if (!contains(x.labels, label)) columns += label;
  const auto size = [&](const Labelled& t, const std::string& labels) {
    std::int64_t n = 1;
    for (char label : labels) n *= t.tensor.shape()[static_cast<int>(t.labels.find(label))];
    return n;
  };
  expect_rank("einsum", static_cast<int>(batch.size() + rows.size() + columns.size()));
  Shape shape;
  for (char label : batch) shape.push_back(std::max(size(x, {label}), size(y, {label})));
  const Shape batch_shape = shape;
  for (char label : rows) shape.push_back(size(x, {label}));
  for (char label : columns) shape.push_back(size(y, {label}));
  const auto stacked = [&](const Labelled& t, const std::string& labels, std::int64_t m, std::int64_t n) {
    Tensor moved = arranged(t, batch + labels);
    Shape full = batch_shape;
    for (int i = batch_shape.rank(); i < moved.ndim(); ++i) full.push_back(moved.shape()[i]);
    return reshape(broadcast_to(moved, full), {batch_shape.count(), m, n});
  };
  const Tensor left = stacked(x, rows + inner, size(x, rows), size(x, inner));
  const Tensor right = stacked(y, inner + columns, size(y, inner), size(y, columns));
  return {reshape(matmul(left, right), shape), batch + rows + columns};
}

}  // namespace

Tensor einsum(const std::string& text, const TensorList& operands) {
  expect_defined("einsum", "operands", operands.vector());
  if (operands.empty()) fail("[einsum] there must be at least one operand: received none");
  const Equation equation = parse(text, operands);
  expect_rank("einsum", static_cast<int>(equation.output.size()));
  Shape shape;
  for (const std::string& labels : equation.inputs)
    for (char label : labels) extent(equation, text, operands, label);
  for (char label : equation.output) shape.push_back(extent(equation, text, operands, label));
  for (const Tensor& x : operands) {
    if (operands.size() > 1 && x.dtype().is_bool())
      fail<TypeError>("[einsum] operands must be numbers: received dtype=bool");
    op_helpers::expect_same_dtype("einsum", operands[0], x);
  }
  if (is_symbolic(operands.vector()))
    return defer_described("einsum", {shape, operands[0].dtype()}, einsum, text, operands);

  Labelled result{operands[0], equation.inputs[0]};
  for (std::size_t i = 1; i < operands.size(); ++i) {
    std::string wanted = equation.output;
    for (std::size_t later = i + 1; later < operands.size(); ++later) wanted += equation.inputs[later];
    result = contract(result, {operands[i], equation.inputs[i]}, wanted);
  }
  return broadcast_to(arranged(summed(result, equation.output), equation.output), shape);
}

}  // namespace ktape::backend
