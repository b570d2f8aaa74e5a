#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/graph/gradcheck.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>

namespace ktape {
namespace {

using Values = std::vector<double>;
using Indices = std::vector<int>;

/// Returns a number in +-[0.5, 1.5) that depends on the tensor and element numbers only.
double direction(std::uint64_t tensor, std::uint64_t element) {
  std::uint64_t z = (tensor + 1) * 0x9e3779b97f4a7c15u + element * 0xd1b54a32d192ed03u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  const double magnitude = 0.5 + static_cast<double>(z >> 12) * 0x1p-52;
  return z & 1 ? magnitude : -magnitude;
}

/// Returns a tensor of the shape and dtype of `x` with numbers of `direction`; `stream` is the tensor number,
/// so that different tensors get different numbers.
Tensor directions_like(const Tensor& x, std::uint64_t stream) {
  Tensor out = Tensor::empty(x.shape(), x.dtype());
  dispatch_floating(x.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < x.size(); ++i)
      out.pointer<T>()[i] =
          static_cast<T>(static_cast<float>(direction(stream, static_cast<std::uint64_t>(i))));
  });
  return out;
}

Values values_of(const Tensor& x, std::int64_t size) {
  Values values(static_cast<std::size_t>(size), 0.0);  // an undefined gradient counts as zeros
  if (x.defined()) convert(values.data(), DType::Float64, x.raw(), x.dtype(), size);
  return values;
}

Shape index_of(std::int64_t offset, const Shape& shape) {
  Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return index;
}

/// Returns the difference of two values divided by the tolerance.
double disagreement(double analytic, double numeric, const GradcheckOptions& options) {
  if (analytic == numeric) return 0;
  if (options.equal_nan && std::isnan(analytic) && std::isnan(numeric)) return 0;
  if (!std::isfinite(analytic) || !std::isfinite(numeric)) return HUGE_VAL;
  return std::fabs(analytic - numeric) / (options.atol + options.rtol * std::fabs(numeric));
}

class Check {
 public:
  Check(const CheckedFunction& f, const TensorList& inputs, const GradcheckOptions& options)
      : f_(f), inputs_(inputs.vector()), options_(options) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) add_input(static_cast<int>(i));
    for (int input : options_.inputs)
      if (std::find(floating_.begin(), floating_.end(), input) == floating_.end())
        fail("[gradcheck] an input to check must be the position of a float64 input: received input=", input,
             " of ", inputs_.size());
    if (!options_.inputs.empty()) floating_ = options_.inputs;
    if (floating_.empty()) fail("[gradcheck] there must be a float64 input: received none");
    if (!(options_.epsilon > 0) || !std::isfinite(options_.epsilon))
      fail("[gradcheck] epsilon must be a positive number: received epsilon=", options_.epsilon);
    if (!recording()) fail("[gradcheck] ops must be recorded: received a call inside NoGrad");
  }

  GradcheckReport run() {
    const std::map<int, Values> numeric = first_differences();
    std::map<int, std::vector<Values>> second;
    if (options_.second_order) second = second_differences();
    for (const Indices& subset : subsets()) {
      std::vector<Values> gradients, seconds;
      analytic(subset, gradients, options_.second_order ? &seconds : nullptr);
      for (std::size_t k = 0; k < subset.size(); ++k) {
        compare("gradient", subset, subset[k], gradients[k], numeric.at(subset[k]));
        if (options_.second_order)
          compare("second-order gradient", subset, subset[k], seconds[k],
                  sum_over(subset, second.at(subset[k])));
      }
    }
    return report();
  }

 private:
  struct Worst {
    double disagreement;
    std::string text;
  };

  void add_input(int i) {
    const Tensor& x = inputs_[static_cast<std::size_t>(i)];
    if (!x.defined())
      fail("[gradcheck] the inputs must be defined: received an undefined tensor as input ", i);
    expect_value("gradcheck", x);
    if (x.dtype().is_floating() && x.dtype() != DType::Float64)
      fail<TypeError>("[gradcheck] floating inputs must be float64: received dtype=", x.dtype(), " as input ",
                      i);
    if (x.dtype() == DType::Float64) floating_.push_back(i);
    inputs_[static_cast<std::size_t>(i)] = x.detach();
  }

  std::vector<Indices> subsets() const {
    if (!options_.inputs.empty()) return {floating_};
    std::vector<Indices> subsets;
    for (std::size_t bits = (std::size_t{1} << floating_.size()) - 1; bits > 0; --bits) {
      Indices& subset = subsets.emplace_back();
      for (std::size_t i = 0; i < floating_.size(); ++i)
        if (bits >> i & 1) subset.push_back(floating_[i]);
    }
    return subsets;
  }

  /// Returns the floating results; other results have no gradient.
  std::vector<Tensor> results(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> floating;
    for (Tensor& result : f_(inputs)) {
      if (result.defined()) expect_value("gradcheck", result);
      if (result.defined() && result.dtype().is_floating()) floating.push_back(std::move(result));
    }
    if (floating.empty())
      fail("[gradcheck] the function must return a floating tensor: received none from ", options_.op);
    return floating;
  }

  std::vector<Tensor> first_gradients(const std::vector<Tensor>& results,
                                      const std::vector<Tensor>& wrt) const {
    std::vector<Tensor> seeds;
    for (std::size_t i = 0; i < results.size(); ++i) seeds.push_back(directions_like(results[i], i));
    return gradients(results, wrt, seeds);
  }

  /// Returns the direction along which the gradient of input `i` is contracted before it is differentiated
  /// again.
  Tensor second_direction(int i) const {
    return directions_like(inputs_[static_cast<std::size_t>(i)], 1000 + static_cast<std::uint64_t>(i));
  }

  void analytic(const Indices& subset, std::vector<Values>& firsts, std::vector<Values>* seconds) const {
    std::vector<Tensor> inputs = inputs_, wrt;
    for (int i : subset)
      wrt.push_back(inputs[static_cast<std::size_t>(i)] = Variable(inputs_[static_cast<std::size_t>(i)]));
    const std::vector<Tensor> found = first_gradients(results(inputs), wrt);
    for (std::size_t k = 0; k < subset.size(); ++k) firsts.push_back(values_of(found[k], wrt[k].size()));
    if (!seconds) return;
    std::vector<Tensor> losses, seeds, again(subset.size());
    for (std::size_t k = 0; k < subset.size(); ++k) {
      if (!found[k].defined()) continue;
      losses.push_back(found[k]);
      seeds.push_back(second_direction(subset[k]));
    }
    if (!losses.empty()) again = gradients(losses, wrt, seeds);
    for (std::size_t k = 0; k < subset.size(); ++k) seconds->push_back(values_of(again[k], wrt[k].size()));
  }

  /// Calls `visit` for each element of input `i` with the central differences of the results of `measure`, or
  /// with an empty list for an element that is not finite.
  template <class Measure, class Visit>
  void differences(int i, Measure&& measure, Visit&& visit) const {
    std::vector<Tensor> inputs = inputs_;
    Tensor& x = inputs[static_cast<std::size_t>(i)];
    const Tensor original = x;
    x = Tensor::empty(original.shape(), original.dtype());
    const double* from = original.pointer<double>();
    std::copy_n(from, original.size(), x.pointer<double>());
    for (std::int64_t e = 0; e < original.size(); ++e) {
      if (!std::isfinite(from[e])) {
        visit(Values());
        continue;
      }
      const double step = options_.epsilon * std::max(1.0, std::fabs(from[e]));
      double& at = x.pointer<double>()[e];
      const double above = at = from[e] + step;
      Values upper = measure(inputs);
      const double below = at = from[e] - step;
      const Values lower = measure(inputs);
      at = from[e];
      if (upper.size() != lower.size())
        fail("[gradcheck] the function must return the same shapes at every call");
      for (std::size_t k = 0; k < upper.size(); ++k)
        upper[k] = upper[k] == lower[k] ? 0 : (upper[k] - lower[k]) / (above - below);
      visit(upper);
    }
  }

  std::map<int, Values> first_differences() const {
    auto measure = [&](const std::vector<Tensor>& inputs) {  // recorded: f may take gradients itself
      Values all;
      for (const Tensor& result : results(inputs)) {
        const Values values = values_of(result, result.size());
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    };
    const Values weights = [&] {
      Values all;
      for (std::uint64_t k = 0; const Tensor& result : results(inputs_)) {
        const Values values = values_of(directions_like(result, k++), result.size());
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    }();
    std::map<int, Values> out;
    for (int i : floating_) {
      Values& sums = out[i];
      differences(i, measure, [&](const Values& difference) {
        double& sum = sums.emplace_back(0);
        for (std::size_t k = 0; k < difference.size(); ++k)
          if (difference[k] != 0) sum += weights[k] * difference[k];
      });
    }
    return out;
  }

  /// Returns, for each input and element, one difference per input whose gradient was contracted.
  std::map<int, std::vector<Values>> second_differences() const {
    auto measure = [&](const std::vector<Tensor>& at) {
      std::vector<Tensor> inputs = at, wrt;
      for (int i : floating_)
        wrt.push_back(inputs[static_cast<std::size_t>(i)] = Variable(at[static_cast<std::size_t>(i)]));
      const std::vector<Tensor> at_inputs = results(inputs);
      NoGrad off;
      const std::vector<Tensor> found = first_gradients(at_inputs, wrt);
      Values sums;
      for (std::size_t k = 0; k < found.size(); ++k) {
        const Values g = values_of(found[k], wrt[k].size()),
                     v = values_of(second_direction(floating_[k]), wrt[k].size());
        double sum = 0;
        for (std::size_t e = 0; e < g.size(); ++e) sum += g[e] * v[e];
        sums.push_back(sum);
      }
      return sums;
    };
    std::map<int, std::vector<Values>> out;
    for (int i : floating_) {
      std::vector<Values>& all = out[i];
      differences(i, measure, [&](const Values& difference) { all.push_back(difference); });
    }
    return out;
  }

  Values sum_over(const Indices& subset, const std::vector<Values>& differences) const {
    Values sums;
    for (const Values& difference : differences) {
      double& sum = sums.emplace_back(0);
      for (std::size_t k = 0; k < difference.size(); ++k)
        if (std::find(subset.begin(), subset.end(), floating_[k]) != subset.end()) sum += difference[k];
    }
    return sums;
  }

  void compare(const char* what, const Indices& subset, int input, const Values& analytic,
               const Values& numeric) {
    const Tensor& x = inputs_[static_cast<std::size_t>(input)];
    for (std::size_t e = 0; e < analytic.size(); ++e) {
      if (!std::isfinite(x.pointer<double>()[e])) continue;
      const double apart = disagreement(analytic[e], numeric[e], options_);
      Worst& worst = worst_[{input, what}];
      if (apart <= std::max(1.0, worst.disagreement)) continue;
      std::ostringstream text;
      text << std::setprecision(9) << '[' << options_.op << "] " << what << " of input " << input << " at "
           << index_of(static_cast<std::int64_t>(e), x.shape()) << ": analytic " << analytic[e]
           << ", numeric " << numeric[e];
      if (subset.size() < floating_.size()) {
        text << ", recorded inputs";
        for (int i : subset) text << ' ' << i;
      }
      worst = {apart, text.str()};
    }
  }

  GradcheckReport report() const {
    GradcheckReport report;
    for (const auto& [key, worst] : worst_) {
      if (worst.text.empty()) continue;
      report.message += (report.ok ? "" : "\n") + worst.text;
      report.ok = false;
    }
    return report;
  }

  const CheckedFunction& f_;
  std::vector<Tensor> inputs_;
  GradcheckOptions options_;
  Indices floating_;
  std::map<std::pair<int, std::string>, Worst> worst_;
};

}  // namespace

GradcheckReport gradcheck(const CheckedFunction& f, const TensorList& inputs,
                          const GradcheckOptions& options) {
  return Check(f, inputs, options).run();
}

}  // namespace ktape
