#include "check.hpp"

#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <set>
#include <sstream>

namespace golden {
namespace {

using ktape::Variable;
namespace K = ktape::backend;

/// Sets Keras's defaults at the begin and at the end of a run.
class Settings {
 public:
  explicit Settings(DType floatx) { K::set_floatx(floatx); }
  ~Settings() {
    K::set_floatx("float32");
    K::set_epsilon(1e-7);
    K::set_image_data_format("channels_last");
    K::set_learning_phase(0);
  }
  Settings(const Settings&) = delete;
};

Tensor make(const Array& array, DType dtype) {
  Tensor out = Tensor::empty(array.shape, dtype);
  ktape::convert(out.raw(), dtype, array.data.data(), "float64", out.size());
  return out;
}

DType dtype_in_run(const Array& array, DType floatx) {
  return !array.dtype || *array.dtype == "float32" ? floatx : DType(*array.dtype);
}

std::vector<double> values(const Tensor& tensor) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  ktape::convert(out.data(), "float64", tensor.raw(), tensor.dtype(), tensor.size());
  return out;
}

std::string index_text(std::int64_t offset, const Shape& shape) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return ktape::to_string(index);
}

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out << std::setprecision(12);
  (out << ... << parts);
  return out.str();
}

/// The form of the inputs of a run: tensors, variables (then gradients are checked), or placeholders of a
/// function with known shape, with an unknown first extent, or with known rank only.
enum class Inputs { Constants, Variables, Placeholders, UnknownBatch, UnknownExtents };

const char* to_text(Inputs inputs) {
  switch (inputs) {
    case Inputs::Constants:
      return " constants";
    case Inputs::Variables:
      return "";
    case Inputs::Placeholders:
      return " symbolic";
    case Inputs::UnknownBatch:
      return " symbolic with an unknown batch";
    default:
      return " symbolic with unknown extents";
  }
}

bool symbolic(Inputs inputs) { return inputs != Inputs::Constants && inputs != Inputs::Variables; }

/// Returns the part of a shape that a placeholder of this kind knows.
Shape known_part(Shape shape, Inputs inputs) {
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (inputs == Inputs::UnknownExtents || (inputs == Inputs::UnknownBatch && axis == 0))
      shape[axis] = ktape::None;
  return shape;
}

/// A run of a case in one precision.
class Run {
 public:
  Run(const Case& c, const Table& table, DType floatx, Inputs kind, std::vector<std::string>& problems)
      : case_(c), table_(table), floatx_(floatx), kind_(kind), problems_(problems) {
    const Expected& expected = floatx == "float32" && c.float32 ? *c.float32 : c.expected;
    outputs_ = &expected.outputs;
    rtol_ = floatx == "float64" ? 1e-9 : floatx == "float16" ? 1e-2 : expected.rtol;
    atol_ = floatx == "float64" ? 1e-10 : floatx == "float16" ? 2e-3 : expected.atol;
  }

  void go() {
    Settings settings(floatx_);
    try {
      if (case_.error) return must_fail();
      if (case_.returns) return check_setting();
      const Results results = call();
      check_outputs(results);
      if (kind_ != Inputs::Constants && !case_.gradients.empty()) check_gradients(results);
      run_function();
    } catch (const std::exception& error) {
      problem("threw: ", error.what());
    }
  }

 private:
  template <class... Parts>
  void problem(const Parts&... parts) {
    problems_.push_back(text(case_.id, ' ', floatx_, to_text(kind_), ' ', parts...));
  }

  Results call() {
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, array] : case_.inputs) {
      Tensor tensor = make(array, dtype_in_run(array, floatx_));
      if (kind_ == Inputs::Variables && tensor.dtype().is_floating()) tensor = Variable(tensor, name);
      if (symbolic(kind_) && !(name == "x" && table_.updates.count(case_.op))) {
        values_.push_back(tensor);
        tensor = placeholders_.emplace_back(
            ktape::make_placeholder(known_part(tensor.shape(), kind_), tensor.dtype(), name));
      }
      inputs_[name] = tensors[name] = tensor;
    }
    if (auto pre = plain_.attributes.extract("pre"); !pre.empty()) {
      Case square;
      tensors["x"] = table_.ops.at(pre.mapped().text)(Call(square, floatx_, {{"x", tensors["x"]}}))[0];
    }
    const auto only = plain_.attributes.extract("output_index");
    const Call& arguments = arguments_.emplace(plain_, floatx_, tensors);
    Results results = table_.ops.at(case_.op)(arguments);
    for (const std::string& name : arguments.unused_arguments())
      problem("the op's entry ignores the argument ", name);
    if (!only.empty()) results = {results.at(static_cast<std::size_t>(only.mapped().number))};
    return results;
  }

  void must_fail() {
    try {
      if (table_.settings.count(case_.op)) table_.settings.at(case_.op)(Call(case_, floatx_, {}));
      else
        for (const Tensor& result : call()) waiting_.push_back({"result", result, {}});
      run_function();
    } catch (const ktape::Error&) {
      return;
    }
    problem("must fail and does not");
  }

  void check_setting() {
    const Value got = table_.settings.at(case_.op)(Call(case_, floatx_, {}));
    if (!(got == *case_.returns)) problem("the getter returns ", got.text, got.number, " after the call");
  }

  void check_outputs(const Results& results) {
    if (results.size() != outputs_->size())
      return problem("must return ", outputs_->size(), " outputs, returns ", results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Array& want = (*outputs_)[i];
      if (!results[i].defined()) problem("output ", i, " is undefined");
      else if (results[i].dtype() != result_dtype(want) && !width_is_free())
        problem("output ", i, " must have dtype ", result_dtype(want), ", has ", results[i].dtype());
      else compare(text("output ", i), results[i], want);
    }
  }

  /// Returns the expected dtype of a result; tf.one_hot gives float32 for any floatx.
  DType result_dtype(const Array& want) const {
    return case_.op == "one_hot" ? DType(*want.dtype) : dtype_in_run(want, floatx_);
  }

  bool width_is_free() const {
    return case_.op == "shape" || case_.op == "int_shape" || case_.op == "ndim" || case_.op == "count_params";
  }

  void check_gradients(const Results& results) {
    std::vector<Tensor> losses, seeds;
    for (std::size_t i = 0; i < case_.cotangents.size(); ++i) {
      if (!case_.cotangents[i]) continue;
      losses.push_back(results.at(i));
      seeds.push_back(make(*case_.cotangents[i], floatx_));
    }
    std::vector<Tensor> wrt;
    for (const auto& [name, want] : case_.gradients) wrt.push_back(inputs_.at(name));
    const std::vector<Tensor> first = ktape::gradients(losses, wrt, seeds);
    for (std::size_t i = 0; i < first.size(); ++i)
      compare("grad " + case_.gradients[i].first, or_zeros(first[i], case_.gradients[i].second.shape),
              case_.gradients[i].second);
    if (!case_.hvp.empty()) check_second_order(first);
  }

  void check_second_order(const std::vector<Tensor>& first) {
    std::vector<Tensor> losses, seeds, wrt;
    for (const auto& [name, vector] : case_.vectors) {
      std::size_t i = 0;
      while (case_.gradients.at(i).first != name) ++i;
      if (!first[i].defined()) continue;
      losses.push_back(first[i]);
      seeds.push_back(make(vector, floatx_));
    }
    for (const auto& [name, want] : case_.hvp) wrt.push_back(inputs_.at(name));
    std::vector<Tensor> second(wrt.size());
    if (!losses.empty()) second = ktape::gradients(losses, wrt, seeds);
    for (std::size_t i = 0; i < second.size(); ++i)
      compare("hvp " + case_.hvp[i].first, or_zeros(second[i], case_.hvp[i].second.shape),
              case_.hvp[i].second);
  }

  Tensor or_zeros(const Tensor& gradient, const Shape& shape) const {
    if (gradient.defined()) return gradient;
    Array zeros;
    zeros.shape = shape;
    zeros.data.resize(static_cast<std::size_t>(shape.count()), 0);
    return make(zeros, floatx_);
  }

  /// Computes the symbolic results, and checks their shapes and dtypes.
  void run_function() {
    std::vector<Tensor> symbolic;
    for (const Waiting& entry : waiting_) symbolic.push_back(entry.got);
    if (symbolic.empty()) return;
    const std::vector<Tensor> results = K::function(placeholders_, symbolic)(values_);
    for (std::size_t i = 0; i < results.size(); ++i) {
      compare(waiting_[i].what, results[i], waiting_[i].want);
      const Shape &promised = symbolic[i].shape(), &shape = results[i].shape();
      bool kept = promised.rank() == shape.rank() && symbolic[i].dtype() == results[i].dtype();
      for (int axis = 0; kept && axis < shape.rank(); ++axis)
        kept = promised[axis] == shape[axis] || (promised[axis] == ktape::None && may_be_unknown());
      if (!kept)
        problem(waiting_[i].what, " was promised as ", promised, symbolic[i].dtype(), ", is ", shape,
                results[i].dtype());
    }
  }

  /// Returns whether shapes of results may be unknown: with unknown inputs, and for the length of decoded
  /// sequences.
  bool may_be_unknown() const { return kind_ != Inputs::Placeholders || case_.op == "ctc_decode"; }

  void compare(const std::string& what, const Tensor& got, const Array& want) {
    if (ktape::is_symbolic(got)) return waiting_.push_back({what, got, want});
    if (got.shape() != want.shape)
      return problem(what, " must have shape ", want.shape, ", has ", got.shape());
    const std::vector<double> numbers = values(got);
    const bool exact = !got.dtype().is_floating();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double a = numbers[i], b = want.data[i];
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      if (same || (!exact && std::isfinite(b) && std::fabs(a - b) <= atol_ + rtol_ * std::fabs(b))) continue;
      return problem(what, " at ", index_text(static_cast<std::int64_t>(i), want.shape), ": got ", a,
                     ", want ", b);
    }
  }

  const Case& case_;
  const Table& table_;
  DType floatx_;
  Inputs kind_;
  std::vector<std::string>& problems_;
  const std::vector<Array>* outputs_;
  double rtol_, atol_;
  std::map<std::string, Tensor> inputs_;

  /// A comparison that is made when the function has run.
  struct Waiting {
    std::string what;
    Tensor got;
    Array want;
  };
  Case plain_ = case_;
  std::optional<Call> arguments_;  // a step function reads it when the graph runs
  std::vector<Tensor> placeholders_, values_;
  std::vector<Waiting> waiting_;
};

/// Returns whether a case runs with this form of inputs: sparse tensors have special placeholders, and the
/// results
/// of some ops depend on the known part of a shape.
bool applies(Inputs kind, const Case& c) {
  if (!symbolic(kind)) return true;
  if (c.family == "sparse" || c.op == "ctc_label_dense_to_sparse") return false;
  if (c.op == "adam_update") return false;  // adam_update is never deferred
  if (kind == Inputs::Placeholders) return true;
  const std::set<std::string> know_extents = {"int_shape", "count_params", "unstack", "gather_nd",
                                              "scatter_nd"};
  return !know_extents.count(c.op);
}

/// Returns whether a case runs in half precision: no input may be rounded, and no result out of range.
bool fits_float16(const Case& c) {
  if (c.family != "elementwise" && c.family != "reductions" && c.family != "linalg" && c.family != "shape")
    return false;
  auto survives = [](double x) {
    const auto half = static_cast<double>(static_cast<float>(ktape::float16(static_cast<float>(x))));
    return half == x || std::isnan(x);
  };
  auto in_range = [](double x) { return !std::isfinite(x) || std::fabs(x) < 6e4; };
  for (const auto& [name, array] : c.inputs)
    if (!std::all_of(array.data.begin(), array.data.end(), survives)) return false;
  return std::all_of(c.expected.outputs.begin(), c.expected.outputs.end(), [&](const Array& array) {
    return std::all_of(array.data.begin(), array.data.end(), in_range);
  });
}

}  // namespace

std::vector<std::string> check_case(const Case& c, const Table& table) {
  std::vector<std::string> problems;
  for (const char* floatx : {"float64", "float32"})
    for (Inputs kind : {Inputs::Constants, Inputs::Variables, Inputs::Placeholders, Inputs::UnknownBatch,
                        Inputs::UnknownExtents})
      if (applies(kind, c)) Run(c, table, floatx, kind, problems).go();
  if (fits_float16(c)) Run(c, table, "float16", Inputs::Constants, problems).go();
  return problems;
}

}  // namespace golden
