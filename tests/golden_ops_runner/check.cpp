#include "check.hpp"

#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <cmath>
#include <iomanip>
#include <sstream>

#include "eig.hpp"

namespace golden_ops {
namespace {

namespace K = ktape::backend;

Tensor make(const Array& array, DType dtype) {
  Tensor out = Tensor::empty(array.shape, dtype);
  ktape::convert(out.raw(), dtype, array.data.data(), "float64", out.size());
  return out;
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out << std::setprecision(12);
  (out << ... << parts);
  return out.str();
}

/// Indices, counts and positions may be integers of any width.
const std::set<std::string> width_is_free = {
    "argmax",        "argmin",        "argsort",   "argpartition", "nanargmax", "nanargmin",
    "count_nonzero", "searchsorted",  "digitize",  "bincount",     "histogram", "nonzero",
    "where",         "unravel_index", "unique",    "top_k",        "shape",     "ndim",
    "size",          "categorical",   "lu_factor", "matrix_rank",  "ctc_decode"};

enum class Inputs { Variables, Placeholders };

class Run {
 public:
  Run(const Case& c, const Table& table, DType floatx, Inputs kind, std::vector<std::string>& problems)
      : case_(c), table_(table), floatx_(floatx), kind_(kind), problems_(problems) {
    rtol_ = floatx == "float64" ? 1e-9 : c.rtol;
    atol_ = floatx == "float64" ? 1e-10 : c.atol;
  }

  void go() {
    K::set_floatx(floatx_);
    try {
      if (case_.error) return must_fail();
      kind_ == Inputs::Variables ? check_values() : check_function();
    } catch (const std::exception& error) {
      problem("threw: ", error.what());
    }
    K::set_floatx("float32");
  }

 private:
  template <class... Parts>
  void problem(const Parts&... parts) {
    problems_.push_back(
        text(case_.id, ' ', floatx_, kind_ == Inputs::Variables ? " " : " symbolic ", parts...));
  }

  DType dtype_in_run(const Array& array) const {
    return *array.dtype == "float32" ? floatx_ : DType(*array.dtype);
  }

  Results call() {
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, array] : case_.inputs) {
      Tensor tensor = make(array, dtype_in_run(array));
      if (kind_ == Inputs::Placeholders) {
        values_.push_back(tensor);
        placeholders_.push_back(tensor = ktape::make_placeholder(tensor.shape(), tensor.dtype(), name));
      } else if (tensor.dtype().is_floating()) tensor = ktape::Variable(tensor, name);
      inputs_[name] = tensors[name] = tensor;
    }
    plain_.attributes = case_.attributes;
    const Call& arguments = arguments_.emplace(plain_, floatx_, tensors);
    Results results = table_.at(case_.op)(arguments);
    for (const std::string& name : arguments.unused_arguments())
      problem("the function's entry ignores the argument ", name);
    return results;
  }

  void must_fail() {
    try {
      call();
    } catch (const ktape::Error&) {
      return;
    }
    problem("must fail and does not");
  }

  void check_values() {
    const Results results = call();
    check_outputs(results);
    if (!case_.gradients.empty()) check_gradients(results);
  }

  /// Calls the function on placeholders, and compares shapes that were promised with those of the results.
  void check_function() {
    const Results results = call();
    std::vector<Tensor> waiting;
    for (const Tensor& result : results)
      if (ktape::is_symbolic(result)) waiting.push_back(result);
    Results computed = waiting.empty() ? Results() : K::function(placeholders_, waiting)(values_);
    for (std::size_t i = 0; i < computed.size(); ++i) {
      const Tensor &promised = waiting[i], &got = computed[i];
      bool kept = promised.ndim() == got.ndim() && promised.dtype() == got.dtype();
      for (int axis = 0; kept && axis < got.ndim(); ++axis)
        kept = promised.shape()[axis] == got.shape()[axis] || promised.shape()[axis] == ktape::None;
      if (!kept) problem("promised ", promised.shape(), promised.dtype(), ", is ", got.shape(), got.dtype());
    }
    Results all;
    for (std::size_t i = 0, next = 0; i < results.size(); ++i)
      all.push_back(ktape::is_symbolic(results[i]) ? computed[next++] : results[i]);
    check_outputs(all);
  }

  void check_outputs(const Results& results) {
    if (results.size() != case_.outputs.size())
      return problem("must return ", case_.outputs.size(), " outputs, returns ", results.size());
    std::vector<std::vector<double>> got;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Array& want = case_.outputs[i];
      if (!results[i].defined()) return problem("output ", i, " is undefined");
      if (!same_kind(results[i].dtype(), dtype_in_run(want)))
        problem("output ", i, " must have dtype ", dtype_in_run(want), ", has ", results[i].dtype());
      if (results[i].shape() != want.shape)
        return problem("output ", i, " must have shape ", want.shape, ", has ", results[i].shape());
      got.push_back(values(results[i]));
    }
    if (case_.tags.count("eig"))
      return check_eig(make(case_.inputs[0].second, "float64"), got, case_.outputs, rtol_, atol_,
                       [&](const std::string& what) { problem(what); });
    if (case_.tags.count("partition")) return check_partition(got[0]);
    for (const auto& group : case_.up_to_sign) align_signs(group, got);
    for (std::size_t i = 0; i < got.size(); ++i) compare(text("output ", i), got[i], case_.outputs[i]);
  }

  bool same_kind(DType got, DType want) const {
    if (got == want) return true;
    return got.is_integer() && want.is_integer() && width_is_free.count(case_.op);
  }

  void check_partition(const std::vector<double>& order) {
    const std::vector<double>& x = case_.inputs[0].second.data;
    const Shape& shape = case_.inputs[0].second.shape;
    const std::int64_t n = shape.back();
    const auto kth = static_cast<std::int64_t>(case_.attributes.at("kth").number);
    for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(n)) {
      std::set<double> seen;
      const auto at = [&](std::int64_t i) {
        return x[row + static_cast<std::size_t>(order[row + static_cast<std::size_t>(i)])];
      };
      for (std::int64_t i = 0; i < n; ++i) {
        seen.insert(order[row + static_cast<std::size_t>(i)]);
        if (i < kth ? at(i) > at(kth) : at(i) < at(kth)) problem("is no partition at ", i);
      }
      if (static_cast<std::int64_t>(seen.size()) != n) problem("is no permutation");
    }
  }

  /// Turns the signs of slices so that each group points along the expected slices.
  void align_signs(const std::vector<Slices>& group, std::vector<std::vector<double>>& got) const {
    std::int64_t most = 0;
    for (const Slices& s : group) most = std::max(most, case_.outputs[s.output].shape[s.axis]);
    const std::int64_t matrices =
        case_.outputs[group[0].output].shape.count() == 0
            ? 0
            : case_.outputs[group[0].output].shape.count(0, case_.outputs[group[0].output].shape.rank() - 2);
    for (std::int64_t m = 0; m < matrices; ++m)
      for (std::int64_t j = 0; j < most; ++j) {
        double along = 0;
        for (const Slices& s : group)
          each_of(s, m, j,
                  [&](std::size_t at) { along += got[s.output][at] * case_.outputs[s.output].data[at]; });
        if (along < 0)
          for (const Slices& s : group) each_of(s, m, j, [&](std::size_t at) { got[s.output][at] *= -1; });
      }
  }

  template <class F>
  void each_of(const Slices& s, std::int64_t matrix, std::int64_t j, F f) const {
    const Shape& shape = case_.outputs[s.output].shape;
    const std::int64_t rows = shape[-2], columns = shape[-1];
    if (j >= shape[s.axis]) return;
    for (std::int64_t i = 0; i < (s.axis == -1 ? rows : columns); ++i)
      f(static_cast<std::size_t>(matrix * rows * columns +
                                 (s.axis == -1 ? i * columns + j : j * columns + i)));
  }

  void check_gradients(const Results& results) {
    std::vector<Tensor> losses, seeds, wrt;
    for (std::size_t i = 0; i < case_.cotangents.size(); ++i) {
      if (!case_.cotangents[i]) continue;
      losses.push_back(case_.squared.count(i) ? K::square(results.at(i)) : results.at(i));
      seeds.push_back(make(*case_.cotangents[i], floatx_));
    }
    for (const auto& [name, want] : case_.gradients) wrt.push_back(inputs_.at(name));
    const std::vector<Tensor> got = ktape::gradients(losses, wrt, seeds);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto& [name, want] = case_.gradients[i];
      std::vector<double> numbers(want.data.size(), 0);
      if (got[i].defined()) {
        if (got[i].shape() != want.shape) problem("gradient ", name, " has shape ", got[i].shape());
        else numbers = values(case_.tags.count("symmetrized") ? symmetrized(got[i]) : got[i]);
      }
      compare("gradient " + name, numbers, want);
    }
  }

  static Tensor symmetrized(const Tensor& g) {
    Shape pattern = g.shape();
    for (int i = 0; i < g.ndim(); ++i) pattern[i] = i;
    std::swap(pattern[-1], pattern[-2]);
    return (g + K::permute_dimensions(g, pattern)) * 0.5;
  }

  void compare(const std::string& what, const std::vector<double>& got, const Array& want) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double a = got[i], b = want.data[i];
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      if (same || (std::isfinite(b) && std::fabs(a - b) <= atol_ + rtol_ * std::fabs(b))) continue;
      return problem(what, " at ", i, " of ", want.shape, ": got ", a, ", want ", b);
    }
  }

  const Case& case_;
  const Table& table_;
  DType floatx_;
  Inputs kind_;
  std::vector<std::string>& problems_;
  double rtol_, atol_;
  golden::Case plain_;
  std::optional<Call> arguments_;  // a callable reads it when the graph runs
  std::map<std::string, Tensor> inputs_;
  std::vector<Tensor> placeholders_, values_;
};

}  // namespace

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  ktape::convert(out.data(), "float64", tensor.raw(), tensor.dtype(), tensor.size());
  return out;
}

std::vector<std::string> check_case(const Case& c, const Table& table, DType floatx) {
  std::vector<std::string> problems;
  Run(c, table, floatx, Inputs::Variables, problems).go();
  if (!c.error && !c.inputs.empty()) Run(c, table, floatx, Inputs::Placeholders, problems).go();
  return problems;
}

}  // namespace golden_ops
