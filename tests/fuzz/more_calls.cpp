// Calls of functions that are composed of other ops, or only move elements.
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "../reference/layers.hpp"
#include "draws.hpp"

using namespace draws;

namespace {

Array reshaped(Array x, const Extents& shape) {
  x.reshape(shape);
  return x;
}
Extents extents_of(const Array& x) { return {x.shape().begin(), x.shape().end()}; }

OpCall more_unary(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&);
    double (*wanted)(double);
    const std::vector<std::string>& dtypes;
    double error = 0;  ///< the allowed error, in units in the last place of 1
  };
  static const std::vector<Function> functions = {
      {"hard_sigmoid", K::hard_sigmoid,
       [](double x) { return std::isnan(x) ? x : std::clamp(0.2 * x + 0.5, 0., 1.); }, floating, 8},
      {"gelu", [](const Tensor& x) { return K::gelu(x); },
       [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.))); }, floating, 64},
      {"is_nan", K::is_nan, [](double x) { return double(std::isnan(x)); }, floating},
      {"is_finite", K::is_finite, [](double x) { return double(std::isfinite(x)); }, floating},
      {"identity", [](const Tensor& x) { return K::identity(x); }, [](double x) { return x; }, all_dtypes},
      {"stop_gradient", [](const Tensor& x) { return K::stop_gradient(x); }, [](double x) { return x; },
       floating},
      {"zeros_like", [](const Tensor& x) { return K::zeros_like(x); }, [](double) { return 0.; }, all_dtypes},
      {"ones_like", [](const Tensor& x) { return K::ones_like(x); }, [](double) { return 1.; }, all_dtypes},
      {"dropout", [](const Tensor& x) { return K::dropout(x, 0); }, [](double x) { return x; }, floating},
      {"pow", [](const Tensor& x) { return K::pow(x, 3); }, [](double x) { return x * x * x; }, floating, 64},
      {"in_train_phase", [](const Tensor& x) { return K::in_train_phase(x, K::square(x), true); },
       [](double x) { return x; }, floating},
      {"switch", [](const Tensor& x) { return K::switch_(x > 0, x, x * 0.5f); },
       [](double x) { return x > 0 ? x : x / 2; }, floating}};
  const Function& f = random.pick(functions);
  return {.op = f.op,
          .part = f.op == std::string("switch") ? "multiply" : "square",
          .arguments = "",
          .inputs = {tensor(random, shape(random), random.pick(f.dtypes))},
          .run = [&f](In in) { return f.run(in[0]); },
          .wanted = [&f](Arrays in) { return reference::map(f.wanted, in[0]); },
          .terms = f.error};
}

OpCall comparison(Random& random) {
  const bool greater = random.chance(0.5);
  const Shape whole = shape(random);
  const DType dtype = random.pick(all_dtypes);
  return {
      .op = greater ? "greater" : "less_equal",
      .arguments = "",
      .inputs = {tensor(random, broadcasting(random, whole), dtype),
                 tensor(random, broadcasting(random, whole), dtype)},
      .run = [greater](In in) { return greater ? K::greater(in[0], in[1]) : K::less_equal(in[0], in[1]); },
      .wanted =
          [greater](Arrays in) {
            return reference::map([greater](double x, double y) { return double(greater ? x > y : x <= y); },
                                  in[0], in[1]);
          },
      .any_value = true};
}

OpCall norms(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&, const ktape::Axes&, bool);
    Array (*wanted)(const Array&, const Axes&, bool);
    const std::vector<std::string>& dtypes;
  };
  static const auto truth = [](const Array& x) {
    return reference::map([](double v) { return double(v != 0); }, x);
  };
  static const std::vector<Function> functions = {
      {"std", K::std,
       [](const Array& x, const Axes& axes, bool keep) {
         return Array(xt::sqrt(reference::var(x, axes, keep)));
       },
       floating},
      {"norm", K::norm,
       [](const Array& x, const Axes& axes, bool keep) {
         return Array(xt::sqrt(reference::sum(x * x, axes, keep)));
       },
       floating},
      {"any", K::any,
       [](const Array& x, const Axes& axes, bool keep) { return reference::max(truth(x), axes, keep); },
       all_dtypes},
      {"all", K::all,
       [](const Array& x, const Axes& axes, bool keep) { return reference::min(truth(x), axes, keep); },
       all_dtypes}};
  const Function& f = random.pick(functions);
  const Shape extents = shape(random, 1);
  const bool keepdims = random.chance(0.5);
  Axes axes = shuffled(random, extents.rank());
  axes.resize(static_cast<std::size_t>(1 + random.below(extents.rank())));
  const std::vector<int> given = as_ints(axes);
  std::sort(axes.begin(), axes.end());
  return {.op = f.op,
          .arguments = text(given) + (keepdims ? ", keepdims" : ""),
          .inputs = {tensor(random, extents, random.pick(f.dtypes))},
          .run = [&f, given, keepdims](In in) { return f.run(in[0], ktape::Axes(given), keepdims); },
          .wanted = [&f, axes, keepdims](Arrays in) { return f.wanted(in[0], axes, keepdims); },
          .terms = 64. * static_cast<double>(extents.count())};
}

/// Draws ops that give the elements another shape.
OpCall shaping(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&);
    Array (*wanted)(const Array&);
    int least = 0;
  };
  static const std::vector<Function> functions = {
      {"flatten", K::flatten, [](const Array& x) { return reshaped(x, {x.size()}); }},
      {"reshape",
       [](const Tensor& x) {
         return K::reshape(x, {-1, 1});
       },
       [](const Array& x) {
         return reshaped(x, {x.size(), 1});
       }},
      {"transpose", K::transpose,
       [](const Array& x) {
         Axes back = counting(static_cast<int>(x.dimension()));
         std::reverse(back.begin(), back.end());
         return reference::permute(x, back);
       }},
      {"batch_flatten", K::batch_flatten,
       [](const Array& x) {
         return reshaped(x, {x.shape(0), x.size() / x.shape(0)});
       },
       2},
      {"squeeze", [](const Tensor& x) { return K::squeeze(K::expand_dims(x, 1), 1); },
       [](const Array& x) { return x; }, 1},
      {"repeat", [](const Tensor& x) { return K::flatten(K::repeat(K::batch_flatten(x), 1)); },
       [](const Array& x) { return reshaped(x, {x.size()}); }, 2}};
  const Function& f = random.pick(functions);
  OpCall call{.op = f.op,
              .arguments = "",
              .inputs = {tensor(random, shape(random, f.least), random.pick(all_dtypes))},
              .run = [&f](In in) { return f.run(in[0]); },
              .wanted = [&f](Arrays in) { return f.wanted(in[0]); },
              .any_value = true};
  if (f.op == std::string("squeeze")) call.part = "expand_dims";
  if (f.op == std::string("repeat")) call.part = "batch_flatten";
  return call;
}

OpCall stack(Random& random) {
  const Shape extents = shape(random, 0, 3);
  const DType dtype = random.pick(all_dtypes);
  const auto along = static_cast<std::size_t>(random.below(extents.rank() + 1));
  OpCall call;
  for (auto n = 1 + random.below(4); n > 0; --n) call.inputs.push_back(tensor(random, extents, dtype));
  call.op = "stack", call.arguments = std::to_string(along);
  call.run = [along](In in) { return K::stack(in, static_cast<int>(along)); };
  call.wanted = [along](Arrays in) {
    std::vector<Array> parts;
    for (const Array& x : in) {
      Extents longer = extents_of(x);
      longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(along), 1);
      parts.push_back(reshaped(x, longer));
    }
    return reference::concatenate(parts, along);
  };
  call.any_value = true;
  return call;
}

OpCall l2_normalize(Random& random) {
  OpCall call;
  const Shape extents = shape(random, 1);
  const int along = axis(random, extents.rank(), call);
  call.op = "l2_normalize", call.arguments = std::to_string(along);
  call.inputs = {tensor(random, extents, random.pick(floating))};
  call.run = [along](In in) { return K::l2_normalize(in[0], along); };
  call.wanted = [along](Arrays in) {
    const Axes axes{from_front(along, static_cast<int>(in[0].dimension()))};
    return Array(in[0] / xt::sqrt(xt::maximum(reference::sum(in[0] * in[0], axes, true), 1e-12)));
  };
  call.terms = 64;
  return call;
}

OpCall bias_add(Random& random) {
  const Shape extents = shape(random, 2, 4);
  const DType dtype = random.pick(floating);
  return {.op = "bias_add",
          .arguments = "",
          .inputs = {tensor(random, extents, dtype), tensor(random, {extents.back()}, dtype)},
          .run = [](In in) { return K::bias_add(in[0], in[1]); },
          .wanted = [](Arrays in) { return Array(in[0] + in[1]); },
          .least_known = Inputs::Placeholders};
}

/// Draws products of samples, by batch_dot and by einsum.
OpCall products(Random& random) {
  const std::int64_t samples = 1 + random.below(4), m = 1 + random.below(20), k = 1 + random.below(20),
                     n = 1 + random.below(20);
  const bool einsum = random.chance(0.5);
  const DType dtype = random.pick(floating);
  return {.op = einsum ? "einsum" : "batch_dot",
          .arguments = "",
          .inputs = {tensor(random, {samples, m, k}, dtype), tensor(random, {samples, k, n}, dtype)},
          .run =
              [einsum](In in) {
                return einsum ? K::einsum("bij,bjk->bik", {in[0], in[1]}) : K::batch_dot(in[0], in[1]);
              },
          .wanted = [](Arrays in) { return reference::matmul(in[0], in[1]); },
          .terms = 16. * static_cast<double>(k)};
}

OpCall sum_to(Random& random) {
  const Shape whole = shape(random), to = broadcasting(random, whole);
  return {.op = "sum_to",
          .arguments = text(to),
          .inputs = {tensor(random, whole, random.pick(wide))},
          .run = [to](In in) { return K::sum_to(in[0], to); },
          .wanted =
              [to](Arrays in) {
                const std::size_t rank = in[0].dimension(), more = rank - static_cast<std::size_t>(to.rank());
                Axes axes;
                for (std::size_t d = 0; d < rank; ++d)
                  if (d < more || to[static_cast<int>(d - more)] == 1) axes.push_back(d);
                return reshaped(reference::sum(in[0], axes, true), as_extents(to));
              },
          .terms = 16. * static_cast<double>(whole.count()),
          .least_known = Inputs::Placeholders};
}

OpCall batch_normalization(Random& random) {
  const Shape extents = shape(random, 2, 4);
  const Shape last{extents.back()};
  const DType dtype = random.pick(wide);
  const auto one = [&] { return tensor(random, last, dtype); };
  return {
      .op = "batch_normalization",
      .arguments = "",
      .inputs = {tensor(random, extents, dtype), one(), K::abs(one()).detach(), one(), one()},
      .run =
          [](In in) { return K::batch_normalization(in[0], in[1], in[2], in[3], in[4], {.epsilon = 0.125}); },
      .wanted = [](Arrays in) { return Array((in[0] - in[1]) / xt::sqrt(in[2] + 0.125) * in[4] + in[3]); },
      .terms = 1024};
}

/// Draws CTC costs of samples of one length, whose labels repeat only as often as the steps allow.
OpCall ctc(Random& random) {
  const std::int64_t samples = 1 + random.below(3), classes = 2 + random.below(6),
                     labels = random.below(4) + 1, steps = 2 * labels + random.below(6);
  const DType dtype = random.pick(wide);
  std::vector<double> spelled;
  for (std::int64_t i = 0; i < samples * labels; ++i)
    spelled.push_back(static_cast<double>(random.below(classes - 1)));
  const auto lengths = [&](std::int64_t n) { return K::full({samples, 1}, static_cast<double>(n), "int32"); };
  return {.op = "ctc_batch_cost",
          .arguments = "",
          .inputs = {K::constant(spelled, {.dtype = "int32", .shape = Shape{samples, labels}}),
                     ((K::abs(tensor(random, {samples, steps, classes}, dtype)) + 1. / 16) / 8).detach(),
                     lengths(steps), lengths(labels)},
          .run = [](In in) { return K::ctc_batch_cost(in[0], in[1], in[2], in[3]); },
          .wanted =
              [](Arrays in) {
                Array out(Extents{in[0].shape(0), 1});
                for (std::size_t i = 0; i < in[0].shape(0); ++i) {
                  const Array y = xt::view(in[1], i), path = xt::view(in[0], i);
                  out(i, 0) = reference::ctc(y, {path.begin(), path.end()}, K::epsilon()).cost;
                }
                return out;
              },
          .terms = 64};
}

/// Draws a normalization with the moments over all axes but the last.
OpCall normalize_batch(Random& random) {
  const Shape extents = shape(random, 2, 4);
  const DType dtype = random.pick(wide);
  Axes axes = counting(extents.rank() - 1);
  const std::vector<int> given = as_ints(axes);
  return {.op = "normalize_batch_in_training",
          .arguments = text(given),
          .inputs = {tensor(random, extents, dtype), tensor(random, {extents.back()}, dtype),
                     tensor(random, {extents.back()}, dtype)},
          .run =
              [given](In in) {
                return K::normalize_batch_in_training(in[0], in[1], in[2], ktape::Axes(given),
                                                      {.epsilon = 0.125})
                    .normalized;
              },
          .wanted =
              [axes](Arrays in) {
                const Array scale = xt::sqrt(reference::var(in[0], axes, true) + 0.125);
                return Array((in[0] - reference::mean(in[0], axes, true)) / scale * in[1] + in[2]);
              },
          .terms = 4096};
}

OpCall updates(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(ktape::Variable&, const Tensor&);
    double (*wanted)(double, double);
  };
  static const Function functions[] = {
      {"update", [](ktape::Variable& x, const Tensor& y) { return K::update(x, y); },
       [](double, double y) { return y; }},
      {"update_add", [](ktape::Variable& x, const Tensor& y) { return K::update_add(x, y); },
       [](double x, double y) { return x + y; }},
      {"update_sub", [](ktape::Variable& x, const Tensor& y) { return K::update_sub(x, y); },
       [](double x, double y) { return x - y; }},
      {"moving_average_update",
       [](ktape::Variable& x, const Tensor& y) { return K::moving_average_update(x, y, 0.75); },
       [](double x, double y) { return 0.75 * x + 0.25 * y; }}};
  const Function& f = functions[random.below(4)];
  const Shape extents = shape(random);
  const DType dtype = random.pick(floating);
  return {.op = f.op,
          .arguments = "",
          .inputs = {tensor(random, extents, dtype), tensor(random, extents, dtype)},
          .run =
              [&f](In in) {
                ktape::Variable x(in[0]);
                f.run(x, in[1]);
                return x + 0;
              },
          .wanted = [&f](Arrays in) { return reference::map(f.wanted, in[0], in[1]); },
          .terms = 16,
          .least_known = Inputs::Constants};
}

}  // namespace

std::vector<MakeCall> more_calls() {
  return {more_unary, comparison,          norms, shaping,         stack,  l2_normalize, bias_add, products,
          sum_to,     batch_normalization, ctc,   normalize_batch, updates};
}
