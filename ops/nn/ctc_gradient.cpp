#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/ctc_batch.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::backend::ctc {
namespace {

constexpr double nothing = -1e30;  // stands for log(0); sums and differences stay finite

/// The states of the label sequences (blank, label 0, blank, label 1, ..., blank) as tensors.
struct Spelling {
  Tensor classes;     ///< (samples, classes, states): 1 for the class of each state
  Tensor skip;        ///< (samples, states): 0 where a path may come from two states before, else `nothing`
  Tensor start, end;  ///< (samples, states): 0 in the state before, or after, all paths
  Tensor inside;      ///< (samples, steps): 1 for the steps that count

  Spelling(const Batch& batch, DType dtype) {
    const std::int64_t samples = batch.samples, states = 2 * batch.width + 1, blank = batch.classes - 1;
    const auto each = [&](const Shape& shape, double otherwise, auto set) {
      const Tensor out = full(shape, otherwise, DType::Float64);
      for (std::int64_t i = 0; i < samples; ++i) set(out.pointer<double>() + i * shape.count(1), i);
      return cast(out, dtype);
    };
    classes = each({samples, batch.classes, states}, 0, [&](double* to, std::int64_t i) {
      for (std::int64_t s = 0; s < states; ++s)
        to[(s % 2 && s / 2 < batch.label_length[i] ? batch.labels_of(i)[s / 2] : blank) * states + s] = 1;
    });
    skip = each({samples, states}, nothing, [&](double* to, std::int64_t i) {
      const std::int64_t* labels = batch.labels_of(i);
      for (std::int64_t n = 1; n < batch.label_length[i]; ++n)
        if (labels[n] != labels[n - 1]) to[2 * n + 1] = 0;
    });
    start = each({samples, states}, nothing, [](double* to, std::int64_t) { to[0] = 0; });
    end = each({samples, states}, nothing,
               [&](double* to, std::int64_t i) { to[2 * batch.label_length[i]] = 0; });
    inside = each({samples, batch.steps}, 0,
                  [&](double* to, std::int64_t i) { std::fill_n(to, batch.input_length[i], 1); });
  }
};

/// Returns the logarithm of the sum over the paths to each state: from the state itself, from its neighbour,
/// or over a skipped state.
Tensor joined(const Tensor& paths, const Tensor& skip, bool forwards) {
  const Tensor none = full({paths.shape()[0], 2}, nothing, paths.dtype());
  const auto from = [&](const Tensor& x, int distance) {
    const Tensor padded = forwards ? concatenate({none, x}) : concatenate({x, none});
    return slice(padded, {0, forwards ? 2 - distance : distance}, {-1, x.shape()[1]});
  };
  const Tensor far = forwards ? from(paths, 2) + skip : from(paths + skip, 2);
  return logsumexp(stack({paths, from(paths, 1), far}), 0);
}

/// Returns the logarithms of the probabilities of all paths that end at each step and state, the emission
/// there included.
Tensor forwards(const std::vector<Tensor>& emissions, const Spelling& spelling) {
  std::vector<Tensor> out;
  for (const Tensor& emission : emissions)
    out.push_back(emission + joined(out.empty() ? spelling.start : out.back(), spelling.skip, true));
  return stack(out, 1);
}

Tensor backwards(const std::vector<Tensor>& emissions, const Spelling& spelling) {
  const std::vector<Tensor> inside = unstack(spelling.inside, 1);
  std::vector<Tensor> out;
  Tensor paths = spelling.end;
  for (std::size_t t = emissions.size(); t-- > 0;) {
    paths = where(expand_dims(inside[t]), emissions[t] + joined(paths, spelling.skip, false), paths);
    out.push_back(paths);
  }
  std::reverse(out.begin(), out.end());
  return stack(out, 1);
}

}  // namespace

Tensor composed_slope(const Batch& batch, const Tensor& y_pred) {
  if (y_pred.size() == 0) return zeros_like(y_pred);
  const Spelling spelling(batch, y_pred.dtype());
  const Tensor y = y_pred + batch.epsilon, sums = sum(y, -1, true), inside = expand_dims(spelling.inside);
  const Tensor emissions = batch_dot(log(y / sums), spelling.classes);
  const std::vector<Tensor> steps = unstack(emissions, 1);
  const Tensor paths = forwards(steps, spelling) + backwards(steps, spelling) - emissions;
  const Tensor total = logsumexp(slice(paths, {0, 0, 0}, {-1, 1, -1}), -1, true);
  // exp comes after where: after the last step exp could be infinite, and so could its derivative.
  const Tensor occupied = exp(where(inside, paths - total, full({}, nothing, y.dtype())));
  const Tensor slope = 1 / sums - batch_dot(occupied, spelling.classes, {2, 2}) / y;
  return where(inside, slope, full({}, 0, y.dtype()));
}

}  // namespace ktape::backend::ctc
