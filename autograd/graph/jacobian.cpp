#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/graph/graph.hpp>
#include <ktape/autograd/tape.hpp>

#include <algorithm>
#include <cstring>

/// The jacobians of GradientTape.
namespace ktape {
namespace {

using Tensors = std::vector<Tensor>;

std::size_t bytes(const Tensor& x) { return static_cast<std::size_t>(x.size()) * x.dtype().size(); }

Tensor zeros(const char* op, const Shape& shape, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype, op);
  std::memset(out.raw(), 0, bytes(out));
  return out;
}

/// A rule that computes the shape of a derivative from the shapes of the target and of the source.
using ShapeRule = Shape (*)(const Shape& target, const Shape& source);

Shape source_shape(const Shape&, const Shape& source) { return source; }

Shape joined_shape(const Shape& target, const Shape& source) {
  Shape shape = target;
  for (const std::int64_t extent : source) shape.push_back(extent);
  return shape;
}

Shape batch_shape(const Shape& target, const Shape& source) {
  Shape shape = target;
  for (int d = 1; d < source.rank(); ++d) shape.push_back(source[d]);
  return shape;
}

/// Returns zeros in the shape of a derivative.
Tensor no_derivative(const char* op, ShapeRule rule, const Tensor& target, const Tensor& source) {
  const Shape shape = rule(target.shape(), source.shape());
  if (is_symbolic(target, source))
    return defer(op, {shape, source.dtype()}, no_derivative, op, rule, WithoutGradient{target},
                 WithoutGradient{source});
  return zeros(op, shape, source.dtype());
}

bool zeros_wanted(const char* op, const std::string& unconnected_gradients) {
  if (unconnected_gradients != "none" && unconnected_gradients != "zero")
    fail("[", op, "] unconnected_gradients must be \"none\" or \"zero\": received unconnected_gradients=\"",
         unconnected_gradients, '"');
  return unconnected_gradients == "zero";
}

Tensors with_zeros(const char* op, ShapeRule rule, const Tensor& target, const Tensors& sources,
                   Tensors derivatives) {
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (!derivatives[i].defined()) derivatives[i] = no_derivative(op, rule, target, sources[i]);
  return derivatives;
}

Tensors split_interleaved(const Tensor& x, std::size_t count, std::int64_t blocks, const Shape& shape);

/// Joins the first blocks of all parts, then the second blocks of all parts, and so on.
Tensor interleaved(const Tensors& parts, std::int64_t blocks, const Shape& shape) {
  Tensor out = Tensor::empty(shape, parts[0].dtype(), "jacobian");
  const std::size_t size = blocks == 0 ? 0 : bytes(parts[0]) / static_cast<std::size_t>(blocks);
  auto* to = static_cast<char*>(out.raw());
  for (std::size_t block = 0; bytes(out) > 0 && block < static_cast<std::size_t>(blocks); ++block)
    for (const Tensor& part : parts)
      std::memcpy(std::exchange(to, to + size), static_cast<const char*>(part.raw()) + block * size, size);
  if (recording(std::span(parts)))
    record("jacobian", out, std::span(parts),
           [count = parts.size(), blocks, shape = parts[0].shape()](const Tensor& g, Grads& grads) {
             const Tensors found = split_interleaved(g, count, blocks, shape);
             for (std::size_t i = 0; i < count; ++i) grads.to(static_cast<int>(i), [&] { return found[i]; });
           });
  return out;
}

/// Splits a tensor into `count` parts of the given shape: the inverse of `interleaved`.
Tensors split_interleaved(const Tensor& x, std::size_t count, std::int64_t blocks, const Shape& shape) {
  Tensors parts;
  for (std::size_t i = 0; i < count; ++i) parts.push_back(Tensor::empty(shape, x.dtype(), "jacobian"));
  const std::size_t size = blocks == 0 ? 0 : bytes(parts[0]) / static_cast<std::size_t>(blocks);
  const auto* from = static_cast<const char*>(x.raw());
  for (std::size_t block = 0; bytes(x) > 0 && block < static_cast<std::size_t>(blocks); ++block)
    for (const Tensor& part : parts)
      std::memcpy(static_cast<char*>(part.raw()) + block * size, std::exchange(from, from + size), size);
  if (recording(x))
    record("jacobian", std::span<const Tensor>(parts), {x},
           [count, blocks, shape, whole = x.shape(), dtype = x.dtype()](Grads& grads) {
             Tensors found;
             for (std::size_t i = 0; i < count; ++i) {
               const Tensor& g = grads.output(static_cast<int>(i));
               found.push_back(g.defined() ? g : zeros("jacobian", shape, dtype));
             }
             grads.to(0, [&] { return interleaved(found, blocks, whole); });
           });
  return parts;
}

/// Returns zeros with a 1 at one place of each block of a tensor.
Tensor ones_at(const Tensor& like, std::int64_t blocks, std::int64_t place) {
  Tensor out = zeros("jacobian", like.shape(), like.dtype());
  const std::int64_t size = blocks == 0 ? 0 : like.size() / blocks;
  const std::int64_t one = 1;
  const std::size_t element = like.dtype().size();
  for (std::int64_t at = place; at < out.size(); at += size)
    convert(static_cast<char*>(out.raw()) + static_cast<std::size_t>(at) * element, like.dtype(), &one,
            DType::Int64, 1);
  return out;
}

/// A kind of derivative: its name in errors, the rule for its shape, and whether each sample has a
/// derivative.
struct Kind {
  const char* op;
  ShapeRule rule;
  bool by_sample;
};
constexpr Kind whole{"jacobian", joined_shape, false}, by_sample{"batch_jacobian", batch_shape, true};

void expect_fitting(const Kind& kind, const Tensor& target, const Tensor& source) {
  const bool samples =
      target.ndim() >= 2 && source.ndim() >= 2 && compatible(target.shape()[0], source.shape()[0]);
  if (kind.by_sample && !samples)
    fail("[", kind.op,
         "] target and source must have rank 2 or more and the same number of samples: received target=",
         target.shape(), ", source=", source.shape());
  expect_rank(kind.op, target.ndim() + source.ndim() - (kind.by_sample ? 1 : 0));
  check_extents(kind.op, kind.rule(target.shape(), source.shape()), source.dtype().size(), true);
}

/// Runs one backward pass for each element of a sample of the target, or of the whole target.
Tensors derivatives_now(const Kind& kind, const Tensor& target, const Tensors& sources) {
  for (const Tensor& source : sources) expect_fitting(kind, target, source);
  const std::int64_t blocks = kind.by_sample ? target.shape()[0] : 1;
  const std::int64_t places = target.shape().count(kind.by_sample ? 1 : 0);
  std::vector<Tensors> rows(sources.size());
  for (std::int64_t place = 0; place < std::max<std::int64_t>(places, 1); ++place) {
    const Tensors found = gradients(target, sources, ones_at(target, blocks, place));
    for (std::size_t i = 0; i < sources.size(); ++i) rows[i].push_back(found[i]);
  }
  Tensors out(sources.size(), Tensor::no_gradient());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto found =
        std::find_if(rows[i].begin(), rows[i].end(), [](const Tensor& row) { return row.defined(); });
    if (found == rows[i].end()) continue;
    for (Tensor& row : rows[i])
      if (!row.defined()) row = zeros(kind.op, sources[i].shape(), sources[i].dtype());
    const Shape shape = kind.rule(target.shape(), sources[i].shape());
    out[i] = places == 0 ? zeros(kind.op, shape, sources[i].dtype()) : interleaved(rows[i], blocks, shape);
  }
  return out;
}

/// Returns the derivatives; defers the computation for a symbolic target.
Tensors derivatives(const Kind& kind, const Tensor& target, const TensorList& sources) {
  expect_defined(kind.op, "target", target);
  expect_defined(kind.op, "sources", sources.vector());
  if (!target.dtype().is_floating())
    fail<TypeError>("[", kind.op, "] the target must be floating: received dtype=", target.dtype());
  for (const Tensor& source : sources) expect_fitting(kind, target, source);
  if (!is_symbolic(target)) return derivatives_now(kind, target, sources.vector());
  const auto later = [kind](const Tensors& targets, const Tensors& sources, const Tensors&) {
    return with_zeros(kind.op, kind.rule, targets[0], sources, derivatives_now(kind, targets[0], sources));
  };
  const auto info = [&](const Tensor& source) {
    return OutputInfo{kind.rule(target.shape(), source.shape()), source.dtype()};
  };
  Tensors found = symbolic_derivatives(kind.op, later, info, {target}, sources.vector());
  for (Tensor& derivative : found)
    if (!derivative.defined()) derivative = Tensor::no_gradient();
  return found;
}

TensorList seeds(const GradientOptions& options) {
  return options.output_gradients.defined() ? TensorList(options.output_gradients) : TensorList();
}

}  // namespace

Tensors GradientTape::gradient(const Tensor& target, const Tensors& sources,
                               const GradientOptions& options) const {
  const bool filled = zeros_wanted("gradient", options.unconnected_gradients);
  Tensors found = gradients(target, sources, seeds(options));
  return filled ? with_zeros("gradient", source_shape, target, sources, std::move(found)) : found;
}

Tensors GradientTape::gradient_of(const Tensor& target, const std::vector<Variable>& sources,
                                  const GradientOptions& options) const {
  if (zeros_wanted("gradient", options.unconnected_gradients))
    return gradient(target, TensorList(sources).vector(), options);
  return gradients(target, sources, seeds(options));
}

Tensor GradientTape::gradient(const Tensor& target, const Tensor& source,
                              const GradientOptions& options) const {
  return gradient(target, TensorList(source).vector(), options)[0];
}

Tensors GradientTape::jacobian(const Tensor& target, const Tensors& sources,
                               const JacobianOptions& options) const {
  const bool filled = zeros_wanted("jacobian", options.unconnected_gradients);
  Tensors found = derivatives(whole, target, sources);
  return filled ? with_zeros("jacobian", joined_shape, target, sources, std::move(found)) : found;
}

Tensor GradientTape::jacobian(const Tensor& target, const Tensor& source,
                              const JacobianOptions& options) const {
  return jacobian(target, TensorList(source).vector(), options)[0];
}

Tensor GradientTape::batch_jacobian(const Tensor& target, const Tensor& source,
                                    const JacobianOptions& options) const {
  constexpr const char* op = "batch_jacobian";
  zeros_wanted(op, options.unconnected_gradients);
  const TensorList sources(source);
  return with_zeros(op, batch_shape, target, sources.vector(), derivatives(by_sample, target, sources))[0];
}

}  // namespace ktape
