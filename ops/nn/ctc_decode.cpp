#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/nn/ctc.hpp>
#include <ktape/ops/nn/ctc_batch.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ktape::backend {

template <class F>
void fields(CtcDecodeOptions& options, F&& field) {
  field("greedy", options.greedy);
  field("beam_width", options.beam_width);
  field("top_paths", options.top_paths);
}
namespace {

constexpr double log_zero = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double top = std::max(a, b);
  return top == log_zero ? log_zero : top + std::log1p(std::exp(std::min(a, b) - top));
}

/// The label sequences that a beam search has met, as a tree, and the best of them.
///
/// The updates run in TensorFlow's order, because the order decides which paths a full beam drops.
class Beam {
 public:
  Beam(std::int64_t classes, std::size_t width) : blank_(classes - 1), width_(width), child_(classes) {
    nodes_.push_back({-1, -1, -1, -1, {}, {log_zero, 0, 0}});
    leaves_.push_back({0, 0});
  }

  /// Takes the logarithms of the probabilities of the classes at the next step.
  void step(const double* input) {
    std::vector<int> branches = best_first();
    leaves_.clear();
    for (int b : branches) nodes_[b].before = nodes_[b].now;
    for (int b : branches) keep(b, input);
    for (int b : branches)
      if (enters(nodes_[b].before.total)) extend(b, input);
  }

  /// Returns the sequences in the beam.
  std::vector<int> best_first() const {
    std::vector<Leaf> order = leaves_;
    std::sort(order.begin(), order.end(), better);
    std::vector<int> nodes;
    for (const Leaf& leaf : order) nodes.push_back(leaf.node);
    return nodes;
  }
  double log_probability(int node) const { return nodes_[node].now.total; }
  /// Returns the labels, equal neighbours merged.
  std::vector<std::int64_t> labels(int node) const {
    std::vector<std::int64_t> out;
    for (; nodes_[node].parent >= 0; node = nodes_[node].parent)
      if (out.empty() || out.back() != nodes_[node].label) out.push_back(nodes_[node].label);
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  /// The logarithms of the probabilities of the paths to a sequence: of the paths that end with a label, of
  /// the paths that end with a blank, and of all paths.
  struct Probability {
    double label = log_zero, blank = log_zero, total = log_zero;
  };
  struct Node {
    int parent;
    std::int64_t label;
    int first_child, sibling;
    Probability before, now;  ///< at the previous step and at the current step
    bool active() const { return now.total != log_zero; }
  };

  struct Leaf {
    double total;
    int node;
  };
  static bool better(const Leaf& a, const Leaf& b) {
    return a.total != b.total ? a.total > b.total : a.node < b.node;
  }
  /// Returns whether a sequence of this probability enters the beam. The front of the heap is the worst
  /// sequence.
  bool enters(double total) const {
    return total > log_zero && (leaves_.size() < width_ || total > leaves_.front().total);
  }
  void push(int node) {
    if (leaves_.size() == width_) {
      std::pop_heap(leaves_.begin(), leaves_.end(), better);
      nodes_[leaves_.back().node].now = {};
      leaves_.pop_back();
    }
    leaves_.push_back({nodes_[node].now.total, node});
    std::push_heap(leaves_.begin(), leaves_.end(), better);
  }

  /// Updates the probabilities of the label sequence b: paths that add a blank or repeat the last label, and
  /// paths of the parent sequence that add this label.
  void keep(int b, const double* input) {
    Node& node = nodes_[b];
    if (node.parent >= 0) {
      const Node& parent = nodes_[node.parent];
      if (parent.active())
        node.now.label =
            log_sum(node.now.label, node.label == parent.label ? parent.before.blank : parent.before.total);
      node.now.label += input[node.label];
    }
    node.now.blank = node.before.total + input[blank_];
    node.now.total = log_sum(node.now.blank, node.now.label);
    push(b);
  }

  /// Adds the sequences that extend b by one label and are not in the beam yet.
  void extend(int b, const double* input) {
    std::fill(child_.begin(), child_.end(), -1);
    for (int c = nodes_[b].first_child; c >= 0; c = nodes_[c].sibling) child_[nodes_[c].label] = c;
    const Probability before = nodes_[b].before;
    const std::int64_t last = nodes_[b].label;
    for (std::int64_t label = 0; label < blank_; ++label) {
      const double total = input[label] + (label == last ? before.blank : before.total);
      if (!enters(total)) continue;
      int c = child_[label];
      if (c >= 0 && nodes_[c].active()) continue;
      if (c < 0) c = add_child(b, label);
      nodes_[c].now = {total, log_zero, total};
      push(c);
    }
  }
  int add_child(int b, std::int64_t label) {
    const int c = static_cast<int>(nodes_.size());
    nodes_.push_back({b, label, -1, nodes_[b].first_child, {}, {}});
    return nodes_[b].first_child = c;
  }

  std::int64_t blank_;
  std::size_t width_;
  std::vector<Node> nodes_;
  std::vector<Leaf> leaves_;
  std::vector<int> child_;
};

/// The predictions as float64 and the lengths of a batch.
struct Sequences {
  std::int64_t samples, steps, classes;
  Tensor y;
  std::vector<std::int64_t> length;

  const double* step(std::int64_t sample, std::int64_t t) const {
    return y.pointer<double>() + (sample * steps + t) * classes;
  }
};

Tensor unlabelled(const Sequences& in) { return full({in.samples, in.steps}, -1, DType::Int64); }

CtcDecoded decode_greedily(const Sequences& in) {
  const Tensor labels = unlabelled(in), log_prob = Tensor::empty({in.samples, 1}, DType::Float64);
  const double small = epsilon();
  kernels::parallel_rows(in.samples, in.steps * in.classes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t *to = labels.pointer<std::int64_t>() + i * in.steps, last = in.classes - 1;
      double cost = 0;
      for (std::int64_t t = 0; t < in.length[static_cast<std::size_t>(i)]; ++t) {
        const double* y = in.step(i, t);
        const std::int64_t best = std::max_element(y, y + in.classes) - y;
        cost -= std::log(y[best] + small);
        if (best != last && best != in.classes - 1) *to++ = best;
        last = best;
      }
      log_prob.pointer<double>()[i] = cost;
    }
  });
  return {{labels}, log_prob};
}

/// Writes the logarithms of a step's probabilities. When one is not a probability, all results are NaN,
/// because a beam cannot be ordered by a mixture of numbers and NaN.
void normalize(const double* y, std::int64_t classes, double small, double* out) {
  double sum = 0;
  for (std::int64_t k = 0; k < classes; ++k) sum += y[k] + small < 0 ? HUGE_VAL : y[k] + small;
  if (std::isinf(sum)) sum = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t k = 0; k < classes; ++k) out[k] = std::log((y[k] + small) / sum);
}

CtcDecoded search_beams(const Sequences& in, std::size_t width, std::size_t top_paths) {
  CtcDecoded out{{}, Tensor::empty({in.samples, static_cast<std::int64_t>(top_paths)}, DType::Float64)};
  for (std::size_t path = 0; path < top_paths; ++path) out.decoded.push_back(unlabelled(in));
  std::vector<std::size_t> found(in.length.size());
  const double small = epsilon();
  const auto search = [&](std::int64_t sample) {
    const auto at = static_cast<std::size_t>(sample);
    Beam beam(in.classes, width);
    std::vector<double> input(static_cast<std::size_t>(in.classes));
    for (std::int64_t t = 0; t < in.length[at]; ++t) {
      normalize(in.step(sample, t), in.classes, small, input.data());
      beam.step(input.data());
    }
    const std::vector<int> best = beam.best_first();
    found[at] = best.size();
    for (std::size_t path = 0; path < std::min(best.size(), top_paths); ++path) {
      const std::vector<std::int64_t> labels = beam.labels(best[path]);
      std::copy(labels.begin(), labels.end(), out.decoded[path].pointer<std::int64_t>() + sample * in.steps);
      out.log_prob.pointer<double>()[at * top_paths + path] = beam.log_probability(best[path]);
    }
  };
  kernels::parallel_rows(in.samples, in.steps * in.classes * 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = begin; sample < end; ++sample) search(sample);
  });
  for (std::size_t sample = 0; sample < found.size(); ++sample)
    if (found[sample] < top_paths)
      fail("[ctc_decode] the beam of sample ", sample, " holds ", found[sample],
           " label sequences: received top_paths=", top_paths);
  return out;
}

}  // namespace

CtcDecoded ctc_decode(const Tensor& y_pred, const Tensor& input_length, const CtcDecodeOptions& options) {
  expect_defined("ctc_decode", "y_pred, input_length", y_pred, input_length);
  ctc::check_predictions("ctc_decode", y_pred);
  if (!options.greedy && (options.top_paths < 1 || options.beam_width < options.top_paths))
    fail("[ctc_decode] 1 <= top_paths <= beam_width must hold: received top_paths=", options.top_paths,
         ", beam_width=", options.beam_width);
  if (is_symbolic(y_pred, input_length)) {
    const auto later = [](const auto&... a) {
      CtcDecoded found = ctc_decode(a...);
      found.decoded.push_back(found.log_prob);
      return found.decoded;
    };
    const std::int64_t samples = input_length.ndim() == 0
                                     ? y_pred.shape()[0]
                                     : merged(y_pred.shape()[0], input_length.shape()[0]),
                       paths = options.greedy ? 1 : options.top_paths;
    std::vector<OutputInfo> outputs(static_cast<std::size_t>(paths),
                                    {{samples, y_pred.shape()[1]}, DType::Int64});
    outputs.push_back({{samples, paths}, y_pred.dtype()});
    std::vector<Tensor> results = defer_described("ctc_decode", outputs, later, WithoutGradient{y_pred},
                                                  WithoutGradient{input_length}, options);
    const Tensor log_prob = results.back();
    results.pop_back();
    return {results, log_prob};
  }
  const Shape& shape = y_pred.shape();
  const Sequences in{shape[0], shape[1], shape[2], converted(y_pred, DType::Float64),
                     ctc::lengths("ctc_decode", "input_length", input_length, {shape[0]}, shape[1])};
  if (options.greedy) {
    CtcDecoded out = decode_greedily(in);
    return {out.decoded, converted(out.log_prob, y_pred.dtype())};
  }
  CtcDecoded out = search_beams(in, static_cast<std::size_t>(options.beam_width),
                                static_cast<std::size_t>(options.top_paths));
  return {out.decoded, converted(out.log_prob, y_pred.dtype())};
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

std::vector<Tensor> ctc_decode(const OperationCall& call) {
  auto [paths, log_prob] = backend::ctc_decode(call.tensor("y_pred"), call.tensor("input_length"),
                                               {.greedy = call.flag("greedy"),
                                                .beam_width = call.axis("beam_width"),
                                                .top_paths = call.axis("top_paths")});
  paths.push_back(log_prob);
  return paths;
}

}  // namespace

Operations ctc_decode_operations() {
  static constexpr Operation rows[] = {
      {"ctc_decode", "", "y_pred, input_length; greedy, beam_width, top_paths", ctc_decode},
  };
  return rows;
}

}  // namespace ktape::nn
