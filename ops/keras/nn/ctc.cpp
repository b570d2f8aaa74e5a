#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

/// Connectionist temporal classification.
namespace ktape::ops {

template <class F>
void fields(CtcDecodeOptions& options, F&& field) {
  field("strategy", options.strategy);
  field("beam_width", options.beam_width);
  field("top_paths", options.top_paths);
  field("merge_repeated", options.merge_repeated);
  field("mask_index", options.mask_index);
}

namespace K = backend;
using op_helpers::int64_vector;

namespace {

constexpr double impossible = -1e30;  // stands for log(0); finite, so that differences are not NaN

struct Batch {
  std::int64_t samples, steps, classes, labels;
};

void expect_lengths(const char* name, const std::vector<std::int64_t>& lengths, std::int64_t most) {
  for (std::size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] < 0 || lengths[i] > most)
      fail("[ctc_loss] ", name, " of sample ", i, " must be in [0, ", most, "]: received ", lengths[i]);
}

/// The labels with blanks around each: class numbers, and whether a path may come from the label before the blank.
struct Extended {
  Tensor classes, skips;
};

Extended extended(const std::vector<std::int64_t>& labels, const Batch& b, std::int64_t blank) {
  const std::int64_t states = 2 * b.labels + 1;
  Tensor classes = Tensor::empty({b.samples, 1, states}, DType::Int64),
         skips = Tensor::empty({b.samples, states}, DType::Bool);
  for (std::int64_t i = 0; i < b.samples; ++i)
    for (std::int64_t s = 0; s < states; ++s) {
      const auto label = [&](std::int64_t l) { return labels[static_cast<std::size_t>(i * b.labels + l)]; };
      classes.pointer<std::int64_t>()[i * states + s] = s % 2 == 0 ? blank : label(s / 2);
      skips.pointer<bool>()[i * states + s] = s % 2 == 1 && s > 1 && label(s / 2) != label(s / 2 - 1);
    }
  return {classes, skips};
}

/// Returns x moved by n states to the right, with `impossible` on the left.
Tensor delayed(const Tensor& x, std::int64_t n) {
  const std::int64_t states = x.shape()[1];
  if (n >= states) return K::full(x.shape(), impossible, x.dtype());
  return K::pad(K::slice(x, {0, 0}, {x.shape()[0], states - n}), {{0, 0}, {n, 0}},
                {.constant_values = impossible});
}

Tensor column(const std::vector<std::int64_t>& numbers) {
  return K::reshape(op_helpers::int64_tensor(numbers), {static_cast<std::int64_t>(numbers.size()), 1});
}

Tensor loss_of_values(const Tensor& target, const Tensor& output, const Tensor& target_length,
                      const Tensor& output_length, int mask_index) {
  const Batch b{output.shape()[0], output.shape()[1], output.shape()[2], target.shape()[1]};
  const std::vector<std::int64_t> labels = int64_vector(target), lengths = int64_vector(target_length),
                                  steps = int64_vector(output_length);
  expect_lengths("target_length", lengths, b.labels);
  expect_lengths("output_length", steps, b.steps);
  for (const std::int64_t label : labels)
    if (label < 0 || label >= b.classes)
      fail("[ctc_loss] labels must be in [0, ", b.classes, "): received label=", label);
  const auto [classes, skips] = extended(labels, b, mask_index);
  const Tensor logs = K::maximum(take_along_axis(K::log_softmax(output), classes, 2),
                                 K::full({}, impossible, output.dtype()));
  const Tensor state = K::arange(2 * b.labels + 1, {.dtype = DType::Int64});
  const auto at = [&](std::int64_t t) { return K::index(logs, {All, t}); };
  // Before the first step, all paths stand in the first blank: a path without steps spells no label.
  const Tensor start = K::cast(K::where(state < 1, 0., impossible), output.dtype());
  Tensor alpha = start + K::zeros({b.samples, 1}, {.dtype = output.dtype()});
  for (std::int64_t t = 0; t < b.steps; ++t) {
    const Tensor stay = logaddexp(alpha, delayed(alpha, 1));
    const Tensor next = logaddexp(stay, K::where(skips, delayed(alpha, 2), impossible)) + at(t);
    alpha = K::where(K::greater(column(steps), t), next, alpha);
  }
  const Tensor last = column(lengths) * 2;
  const Tensor ends = K::where(K::equal(state, last) | (K::equal(state, last - 1)), alpha, impossible);
  const Tensor total = K::logsumexp(ends, 1);
  return K::where(total > impossible / 2, -total, std::numeric_limits<double>::infinity());
}

}  // namespace

Tensor ctc_loss(const Tensor& target, const Tensor& given, const Tensor& target_length,
                const Tensor& output_length, int mask_index) {
  const CalledOp called("ctc_loss");
  expect_defined("ctc_loss", "target, output, target_length, output_length", target, given, target_length,
                 output_length);
  const Tensor output = op_helpers::floating("ctc_loss", given, "output");
  if (target.ndim() != 2 || output.ndim() != 3 || target_length.ndim() != 1 || output_length.ndim() != 1)
    fail(
        "[ctc_loss] target must be (batch, labels), output (batch, time, classes), lengths (batch,): "
        "received target=",
        target.shape(), ", output=", output.shape(), ", target_length=", target_length.shape(),
        ", output_length=", output_length.shape());
  const std::int64_t samples = output.shape()[0];
  for (const Tensor* x : {&target, &target_length, &output_length})
    if (!compatible(x->shape()[0], samples))
      fail("[ctc_loss] all tensors must have one batch size: received output=", output.shape(), " and ",
           x->shape());
  if (output.shape()[2] != None && (mask_index < 0 || mask_index >= output.shape()[2]))
    fail("[ctc_loss] mask_index must be in [0, ", output.shape()[2], "): received mask_index=", mask_index);
  // Half precision has too few digits, and too small a range, for the logarithms of impossible paths.
  if (output.dtype().is_half())
    return ctc_loss(target, K::cast(output, DType::Float32), target_length, output_length, mask_index);
  if (is_symbolic(target, output, target_length, output_length))
    return defer_described("ctc_loss", {{samples}, output.dtype()}, ctc_loss, target, output, target_length,
                           output_length, mask_index);
  return loss_of_values(target, output, target_length, output_length, mask_index);
}

namespace {

using Labels = std::vector<std::int32_t>;

double add_logs(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -HUGE_VAL ? a : a + std::log1p(std::exp(b - a));
}

/// The logarithms of the probabilities of the paths for one label sequence that end in a blank, and in a label.
struct Beam {
  double blank = -HUGE_VAL, label = -HUGE_VAL;
  double total() const { return add_logs(blank, label); }
};

using Beams = std::vector<std::pair<Labels, Beam>>;

/// Returns the most probable sequences, best first.
Beams best(const std::map<Labels, Beam>& beams, std::size_t width) {
  Beams out(beams.begin(), beams.end());
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second.total() > b.second.total(); });
  if (out.size() > width) out.resize(width);
  return out;
}

Beams beam_search(const double* logs, std::int64_t steps, std::int64_t classes, const CtcDecodeOptions& o) {
  Beams beams{{{}, {0, -HUGE_VAL}}};
  for (std::int64_t t = 0; t < steps; ++t, logs += classes) {
    std::map<Labels, Beam> next;
    for (const auto& [labels, beam] : beams) {
      Beam& same = next[labels];
      same.blank = add_logs(same.blank, beam.total() + logs[o.mask_index]);
      if (!labels.empty()) same.label = add_logs(same.label, beam.label + logs[labels.back()]);
      for (std::int32_t c = 0; c < classes; ++c) {
        if (c == o.mask_index) continue;
        Labels longer = labels;
        longer.push_back(c);
        Beam& grown = next[longer];
        const double from = !labels.empty() && labels.back() == c ? beam.blank : beam.total();
        grown.label = add_logs(grown.label, from + logs[c]);
      }
    }
    beams = best(next, static_cast<std::size_t>(o.beam_width));
  }
  return beams;
}

/// Returns the labels of the largest inputs, and minus the sum of these inputs.
std::pair<Labels, double> greedy(const double* inputs, std::int64_t steps, std::int64_t classes,
                                 const CtcDecodeOptions& o) {
  Labels out;
  double sum = 0;
  std::int64_t before = -1;
  for (std::int64_t t = 0; t < steps; ++t, inputs += classes) {
    const std::int64_t c = std::max_element(inputs, inputs + classes) - inputs;
    sum += inputs[c];
    if (c != o.mask_index && !(o.merge_repeated && c == before)) out.push_back(static_cast<std::int32_t>(c));
    before = c;
  }
  return {out, -sum};
}

std::vector<Tensor> decoded_values(const Tensor& inputs, const Tensor& lengths, const CtcDecodeOptions& o) {
  const std::int64_t samples = inputs.shape()[0], steps = inputs.shape()[1], classes = inputs.shape()[2];
  const bool search = o.strategy == "beam_search";
  const std::int64_t paths = search ? o.top_paths : 1;
  const Tensor values = converted(
      search ? K::log_softmax(K::stop_gradient(K::cast(inputs, DType::Float64))) : inputs, DType::Float64);
  const std::vector<std::int64_t> used = int64_vector(lengths);
  Tensor decoded = K::full({paths, samples, steps}, -1, DType::Int32),
         scores = K::zeros({samples, paths}, {.dtype = DType::Float64});
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t n = used[static_cast<std::size_t>(i)];
    if (n < 0 || n > steps)
      fail("[ctc_decode] the length of sample ", i, " must be in [0, ", steps, "]: received ", n);
    const double* from = values.pointer<double>() + i * steps * classes;
    std::vector<std::pair<Labels, double>> found;
    if (!search) found.push_back(greedy(from, n, classes, o));
    else
      for (const auto& [labels, beam] : beam_search(from, n, classes, o))
        found.emplace_back(labels, beam.total());
    if (static_cast<std::int64_t>(found.size()) < paths)
      fail("[ctc_decode] sample ", i, " must have ", paths, " label sequences: received ", found.size());
    for (std::int64_t p = 0; p < paths; ++p) {
      const auto& [labels, score] = found[static_cast<std::size_t>(p)];
      std::copy(labels.begin(), labels.end(), decoded.pointer<std::int32_t>() + (p * samples + i) * steps);
      scores.pointer<double>()[i * paths + p] = score;
    }
  }
  return {decoded, converted(scores, inputs.dtype())};
}

}  // namespace

CtcPaths ctc_decode(const Tensor& given, const Tensor& lengths, const CtcDecodeOptions& o) {
  expect_defined("ctc_decode", "inputs, sequence_lengths", given, lengths);
  const Tensor inputs = op_helpers::floating("ctc_decode", given, "inputs");
  if (inputs.ndim() != 3 || lengths.ndim() != 1 || !compatible(inputs.shape()[0], lengths.shape()[0]))
    fail("[ctc_decode] inputs must be (batch, time, classes), sequence_lengths (batch,): received inputs=",
         inputs.shape(), ", sequence_lengths=", lengths.shape());
  if (o.strategy != "greedy" && o.strategy != "beam_search")
    fail("[ctc_decode] strategy must be \"greedy\" or \"beam_search\": received strategy=\"", o.strategy,
         '"');
  const std::int64_t classes = inputs.shape()[2];
  if (classes != None && (o.mask_index < 0 || o.mask_index >= classes))
    fail("[ctc_decode] mask_index must be in [0, ", classes, "): received mask_index=", o.mask_index);
  if (o.top_paths < 1 || o.beam_width < o.top_paths)
    fail("[ctc_decode] top_paths must be in [1, beam_width]: received top_paths=", o.top_paths,
         ", beam_width=", o.beam_width);
  const std::int64_t paths = o.strategy == "greedy" ? 1 : o.top_paths, samples = inputs.shape()[0];
  const auto found =
      is_symbolic(inputs, lengths)
          ? defer_described(
                "ctc_decode",
                {{{paths, samples, inputs.shape()[1]}, DType::Int32}, {{samples, paths}, inputs.dtype()}},
                [](const Tensor& inputs, const Tensor& lengths, const CtcDecodeOptions& o) {
                  const CtcPaths paths = ctc_decode(inputs, lengths, o);
                  return std::vector{paths.decoded, paths.scores};
                },
                inputs, lengths, o)
          : decoded_values(inputs, lengths, o);
  return {found[0], found[1]};
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations keras_ctc_operations() {
  static constexpr Operation rows[] = {
      {"CTCLoss", "nn", "target, output, target_length, output_length; mask_index=0", calls<ops::ctc_loss>},
      {"CTCDecode", "nn",
       "inputs, sequence_lengths; strategy=\"greedy\", beam_width=100, top_paths=1, merge_repeated=true, "
       "mask_index=0",
       calls<ops::ctc_decode>},
  };
  return rows;
}

}  // namespace ktape::nn
