#include "draws.hpp"

using namespace draws;

namespace {

OpCall unary(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&);
    double (*wanted)(double);
    bool positive = false;
    double error = 0;  ///< the allowed error, in units in the last place of 1
  };
  static const std::vector<Function> functions = {
      {"abs", K::abs, std::fabs},
      {"square", K::square, [](double x) { return x * x; }},
      {"sqrt", K::sqrt, [](double x) { return x < 0 ? 0 : std::sqrt(x); }},
      {"exp", K::exp, std::exp},
      {"expm1", K::expm1, std::expm1},
      {"log", K::log, std::log, true},
      {"log1p", K::log1p, std::log1p, true},
      {"sin", K::sin, std::sin},
      {"cos", K::cos, std::cos},
      {"tanh", K::tanh, std::tanh},
      {"erf", K::erf, std::erf, false, 32},
      {"round", K::round, std::nearbyint},
      {"sign", K::sign, [](double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }},
      {"sigmoid", K::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"softplus", K::softplus,
       [](double x) { return std::log1p(std::exp(-std::fabs(x))) + (x < 0 ? 0 : x); }},
      {"softsign", K::softsign, [](double x) { return x / (1 + std::fabs(x)); }},
      {"relu", [](const Tensor& x) { return K::relu(x); }, [](double x) { return x < 0 ? 0 : x; }},
      {"elu", [](const Tensor& x) { return K::elu(x); }, [](double x) { return x > 0 ? x : std::expm1(x); }},
  };
  const Function f = random.pick(functions);
  Tensor x = tensor(random, shape(random), random.pick(floating));
  if (f.positive) x = K::abs(x);
  return {.op = f.op,
          .arguments = "",
          .inputs = {x},
          .run = [f](In in) { return f.run(in[0]); },
          .wanted = [f](Arrays in) { return reference::map(f.wanted, in[0]); },
          .terms = f.error,
          .any_value = true};
}

OpCall binary(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&, const Tensor&);
    double (*wanted)(double, double);
    const std::vector<std::string>& dtypes;
  };
  static const std::vector<Function> functions = {
      {"add", [](const Tensor& x, const Tensor& y) { return x + y; },
       [](double x, double y) { return x + y; }, signed_numbers},
      {"subtract", [](const Tensor& x, const Tensor& y) { return x - y; },
       [](double x, double y) { return x - y; }, signed_numbers},
      {"multiply", [](const Tensor& x, const Tensor& y) { return x * y; },
       [](double x, double y) { return x * y; }, signed_numbers},
      {"divide", [](const Tensor& x, const Tensor& y) { return x / y; },
       [](double x, double y) { return x / y; }, floating},
      {"maximum", [](const Tensor& x, const Tensor& y) { return K::maximum(x, y); },
       [](double x, double y) { return x < y || std::isnan(y) ? y : x; }, signed_numbers},
      {"minimum", [](const Tensor& x, const Tensor& y) { return K::minimum(x, y); },
       [](double x, double y) { return y < x || std::isnan(y) ? y : x; }, signed_numbers},
      {"equal", [](const Tensor& x, const Tensor& y) { return K::equal(x, y); },
       [](double x, double y) { return double(x == y); }, all_dtypes},
      {"not_equal", [](const Tensor& x, const Tensor& y) { return K::not_equal(x, y); },
       [](double x, double y) { return double(x != y); }, all_dtypes},
      {"less", [](const Tensor& x, const Tensor& y) { return K::less(x, y); },
       [](double x, double y) { return double(x < y); }, all_dtypes},
      {"greater_equal", [](const Tensor& x, const Tensor& y) { return K::greater_equal(x, y); },
       [](double x, double y) { return double(x >= y); }, all_dtypes},
  };
  const Function& f = random.pick(functions);
  const DType dtype = random.pick(f.dtypes);
  const Shape whole = shape(random);
  return {.op = f.op,
          .arguments = "",
          .inputs = {tensor(random, broadcasting(random, whole), dtype),
                     tensor(random, broadcasting(random, whole), dtype)},
          .run = [&f](In in) { return f.run(in[0], in[1]); },
          .wanted = [&f](Arrays in) { return reference::map(f.wanted, in[0], in[1]); },
          .any_value = true};
}

OpCall where(Random& random) {
  const DType dtype = random.pick(all_dtypes);
  const Shape whole = shape(random);
  return {.op = "where",
          .arguments = "",
          .inputs = {tensor(random, broadcasting(random, whole), random.pick(all_dtypes)),
                     tensor(random, broadcasting(random, whole), dtype),
                     tensor(random, broadcasting(random, whole), dtype)},
          .run = [](In in) { return K::where(in[0], in[1], in[2]); },
          .wanted = [](Arrays in) { return reference::where(in[0], in[1], in[2]); },
          .any_value = true};
}

OpCall broadcast_to(Random& random) {
  const Shape whole = shape(random);
  return {.op = "broadcast_to",
          .arguments = text(whole),
          .inputs = {tensor(random, broadcasting(random, whole), random.pick(all_dtypes))},
          .run = [whole](In in) { return K::broadcast_to(in[0], whole); },
          .wanted = [whole](Arrays in) { return reference::broadcast_to(in[0], as_extents(whole)); },
          .any_value = true};
}

OpCall reduction(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&, const ktape::Axes&, bool);
    Array (*wanted)(const Array&, const Axes&, bool);
    const std::vector<std::string>& dtypes;
  };
  static const std::vector<Function> functions = {{"sum", K::sum, reference::sum, floating},
                                                  {"mean", K::mean, reference::mean, floating},
                                                  {"var", K::var, reference::var, floating},
                                                  {"max", K::max, reference::max, signed_numbers},
                                                  {"min", K::min, reference::min, signed_numbers},
                                                  {"logsumexp", K::logsumexp, reference::logsumexp, floating},
                                                  {"prod", K::prod, reference::prod, wide}};
  const Function& f = random.pick(functions);
  const Shape extents = shape(random);
  const DType dtype = random.pick(f.dtypes);
  const bool product = f.op == std::string("prod"), keepdims = random.chance(0.5);
  Axes axes = shuffled(random, extents.rank());
  axes.resize(static_cast<std::size_t>(random.below(extents.rank() + 1)));
  const std::vector<int> given = as_ints(axes);
  std::sort(axes.begin(), axes.end());  // as xtensor wants them
  return {.op = f.op,
          .arguments = text(given) + (keepdims ? ", keepdims" : ""),
          .inputs = {product ? powers_of_two(random, extents, dtype) : tensor(random, extents, dtype)},
          .run = [&f, given, keepdims](In in) { return f.run(in[0], ktape::Axes(given), keepdims); },
          .wanted = [&f, axes, keepdims](Arrays in) { return f.wanted(in[0], axes, keepdims); },
          .terms = product ? 0 : 16. * static_cast<double>(extents.count())};
}

OpCall along_axis(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&, int);
    Array (*wanted)(const Array&, std::size_t);
    const std::vector<std::string>& dtypes;
    bool adds = false, multiplies = false;
  };
  static const std::vector<Function> functions = {
      {"argmax", K::argmax, reference::argmax, signed_numbers},
      {"argmin", K::argmin, reference::argmin, signed_numbers},
      {"cumsum", K::cumsum, reference::cumsum, wide, true},
      {"cumprod", K::cumprod, reference::cumprod, wide, false, true},
      {"softmax", K::softmax, reference::softmax, floating, true},
      {"log_softmax", K::log_softmax, reference::log_softmax, floating, true}};
  const Function& f = random.pick(functions);
  const Shape extents = shape(random, f.op == std::string("softmax") ? 2 : 1);
  const DType dtype = random.pick(f.dtypes);
  OpCall call;
  const int along = axis(random, extents.rank(), call);
  call.op = f.op, call.arguments = std::to_string(along);
  call.inputs = {f.multiplies ? powers_of_two(random, extents, dtype) : tensor(random, extents, dtype)};
  call.run = [&f, along](In in) { return f.run(in[0], along); };
  call.wanted = [&f, along](Arrays in) {
    return f.wanted(in[0], from_front(along, static_cast<int>(in[0].dimension())));
  };
  if (f.adds) call.terms = 4. * static_cast<double>(extents.count());
  return call;
}

OpCall permutation(Random& random) {
  const Shape extents = shape(random, 0, 5);
  const Axes pattern = shuffled(random, extents.rank());
  const Shape given(std::vector<std::int64_t>(pattern.begin(), pattern.end()));
  return {.op = "permute_dimensions",
          .arguments = text(pattern),
          .inputs = {tensor(random, extents, random.pick(all_dtypes))},
          .run = [given](In in) { return K::permute_dimensions(in[0], given); },
          .wanted = [pattern](Arrays in) { return reference::permute(in[0], pattern); },
          .any_value = true};
}

OpCall reversal(Random& random) {
  const Shape extents = shape(random, 1);
  Axes axes = shuffled(random, extents.rank());
  axes.resize(static_cast<std::size_t>(1 + random.below(extents.rank())));
  return {.op = "reverse",
          .arguments = text(axes),
          .inputs = {tensor(random, extents, random.pick(all_dtypes))},
          .run = [given = as_ints(axes)](In in) { return K::reverse(in[0], ktape::Axes(given)); },
          .wanted = [axes](Arrays in) { return reference::reverse(in[0], axes); },
          .any_value = true};
}

OpCall concatenation(Random& random) {
  Shape extents = shape(random, 1, 3);
  const DType dtype = random.pick(all_dtypes);
  OpCall call;
  const int along = axis(random, extents.rank(), call);
  for (auto n = 1 + random.below(4); n > 0; --n) {
    if (call.fits) extents[static_cast<int>(from_front(along, extents.rank()))] = 1 + random.below(9);
    call.inputs.push_back(tensor(random, extents, dtype));
  }
  call.op = "concatenate", call.arguments = std::to_string(along);
  call.run = [along](In in) { return K::concatenate(in, along); };
  call.wanted = [along](Arrays in) {
    return reference::concatenate(in, from_front(along, static_cast<int>(in[0].dimension())));
  };
  call.any_value = true;
  return call;
}

OpCall slice(Random& random) {
  const Shape extents = shape(random, 1);
  OpCall call;
  Shape start, size;
  for (const std::int64_t n : extents) {
    start.push_back(random.below(n)), size.push_back(1 + random.below(n - start.back()));
    if (random.chance(0.02)) call.fits = false, size[size.rank() - 1] += n;
  }
  call.op = "slice", call.arguments = text(start) + ", " + text(size);
  call.inputs = {tensor(random, extents, random.pick(all_dtypes))};
  call.run = [start, size](In in) { return K::slice(in[0], start, size); };
  call.wanted = [start, size](Arrays in) {
    return reference::slice(in[0], as_extents(start), as_extents(size));
  };
  call.any_value = true;
  return call;
}

/// Draws a split, of which one part is the result.
OpCall split(Random& random) {
  Shape extents = shape(random, 1, 3);
  OpCall call;
  const int along = axis(random, extents.rank(), call), parts = static_cast<int>(1 + random.below(4)),
            taken = static_cast<int>(random.below(parts));
  const std::int64_t each = 1 + random.below(9);
  if (call.fits) extents[static_cast<int>(from_front(along, extents.rank()))] = parts * each;
  call.op = "split";
  call.arguments = std::to_string(parts) + ", " + std::to_string(along) + " [" + std::to_string(taken) + "]";
  call.inputs = {tensor(random, extents, random.pick(all_dtypes))};
  call.run = [=](In in) { return K::split(in[0], parts, along)[static_cast<std::size_t>(taken)]; };
  call.wanted = [=](Arrays in) {
    Extents start(in[0].dimension()), size(in[0].shape().begin(), in[0].shape().end());
    const std::size_t front = from_front(along, static_cast<int>(in[0].dimension()));
    start[front] = static_cast<std::size_t>(taken * each), size[front] = static_cast<std::size_t>(each);
    return reference::slice(in[0], start, size);
  };
  call.any_value = true;
  return call;
}

OpCall tiling(Random& random) {
  const Shape extents = shape(random, 1, 3);
  Shape n;
  for (int d = 0; d < extents.rank(); ++d) n.push_back(1 + random.below(3));
  return {.op = "tile",
          .arguments = text(n),
          .inputs = {tensor(random, extents, random.pick(all_dtypes))},
          .run = [n](In in) { return K::tile(in[0], n); },
          .wanted = [n](Arrays in) { return reference::tile(in[0], as_extents(n)); },
          .any_value = true};
}

OpCall padding(Random& random) {
  const Shape extents = shape(random, 1, 3);
  std::vector<std::pair<std::size_t, std::size_t>> widths;
  std::vector<K::PaddingPair> given;
  std::string arguments;
  for (int d = 0; d < extents.rank(); ++d) {
    const std::int64_t before = random.below(4), after = random.below(4);
    widths.emplace_back(before, after), given.push_back({before, after});
    arguments += text(std::vector{before, after});
  }
  return {.op = "pad",
          .arguments = arguments,
          .inputs = {tensor(random, extents, random.pick(all_dtypes))},
          .run = [given](In in) { return K::pad(in[0], given, {.constant_values = 1}); },
          .wanted = [widths](Arrays in) { return reference::pad(in[0], widths, 1); },
          .any_value = true};
}

OpCall gather(Random& random) {
  const Shape extents = shape(random, 1, 3), picked = shape(random, 0, 2);
  OpCall call;
  std::vector<double> ids(static_cast<std::size_t>(picked.count()));
  for (double& id : ids) id = static_cast<double>(random.below(extents[0]));
  if (random.chance(0.05))
    call.fits = false, ids[0] = static_cast<double>(random.chance(0.5) ? extents[0] : -1);
  call.op = "gather";
  call.inputs = {tensor(random, extents, random.pick(all_dtypes)),
                 K::constant(ids, {.dtype = random.chance(0.5) ? "int32" : "int64", .shape = picked})};
  call.run = [](In in) { return K::gather(in[0], in[1]); };
  call.wanted = [](Arrays in) { return reference::gather(in[0], in[1]); };
  call.any_value = true;
  return call;
}

OpCall one_hot(Random& random) {
  const std::int64_t classes = 1 + random.below(9);
  return {.op = "one_hot",
          .arguments = std::to_string(classes),
          .inputs = {tensor(random, shape(random, 0, 2), "int32")},
          .run = [classes](In in) { return K::one_hot(in[0], classes); },
          .wanted =
              [classes](Arrays in) { return reference::one_hot(in[0], static_cast<std::size_t>(classes)); }};
}

OpCall matmul(Random& random) {
  const std::int64_t m = 1 + random.below(40), k = 1 + random.below(40), n = 1 + random.below(40);
  const DType dtype = random.pick(floating);
  const Shape batch = shape(random, 0, 1).count() > 9 ? Shape{} : Shape{1 + random.below(4)};
  Shape a = broadcasting(random, batch), b = broadcasting(random, batch);
  a.push_back(m), a.push_back(k), b.push_back(k), b.push_back(n);
  return {.op = "matmul",
          .arguments = "",
          .inputs = {tensor(random, a, dtype), tensor(random, b, dtype)},
          .run = [](In in) { return K::matmul(in[0], in[1]); },
          .wanted = [](Arrays in) { return reference::matmul(in[0], in[1]); },
          .terms = 16. * static_cast<double>(k)};
}

OpCall layer_normalization(Random& random) {
  const Shape extents = shape(random, 1);
  const DType dtype = random.pick(floating);
  const Shape last{extents.back()};
  return {
      .op = "layer_normalization",
      .arguments = "",
      .inputs = {tensor(random, extents, dtype), tensor(random, last, dtype), tensor(random, last, dtype)},
      .run = [](In in) { return K::layer_normalization(in[0], in[1], in[2], {.epsilon = 0.125}); },
      .wanted = [](Arrays in) { return reference::layer_normalization(in[0], in[1], in[2], 0.125); },
      .terms = 256};
}

OpCall recurrence(Random& random) {
  struct Layer {
    const char* op;
    Tensor (*run)(In);
    Array (*wanted)(const Array&, const Array&, const Array&, const Array&);
    std::int64_t gates;
  };
  static const std::vector<Layer> layers = {
      {"simple_rnn", [](In in) { return K::simple_rnn(in[0], in[1], in[2], in[3]).outputs; },
       reference::simple_rnn, 1},
      {"lstm", [](In in) { return K::lstm(in[0], in[1], in[2], in[3]).outputs; }, reference::lstm, 4},
      {"gru", [](In in) { return K::gru(in[0], in[1], in[2], in[3]).outputs; }, reference::gru, 3}};
  const Layer& layer = random.pick(layers);
  const std::int64_t samples = 1 + random.below(9), steps = 1 + random.below(5),
                     features = 1 + random.below(9), units = 1 + random.below(17),
                     columns = layer.gates * units;
  const DType dtype = random.pick(wide);
  const auto small = [&](const Shape& shape) { return (tensor(random, shape, dtype) * 0.125).detach(); };
  return {.op = layer.op,
          .arguments = "",
          .inputs = {small({samples, steps, features}), small({features, columns}), small({units, columns}),
                     small(layer.gates == 3 ? Shape{2, columns} : Shape{columns})},
          .run = layer.run,
          .wanted = [&layer](Arrays in) { return layer.wanted(in[0], in[1], in[2], in[3]); },
          .terms = 64. * static_cast<double>(steps)};
}

/// Gives floating inputs NaN and infinities.
void make_odd(Random& random, OpCall& call) {
  for (Tensor& x : call.inputs)
    if (x.dtype().is_floating()) x = with_odd_values(random, x);
  call.fits = call.fits && call.any_value;
}

/// Returns a tensor like x, one extent of which is 0.
Tensor emptied(Random& random, const Tensor& x) {
  Shape shape = x.shape();
  if (shape.rank() == 0) shape.push_back(0);
  else shape[static_cast<int>(random.below(shape.rank()))] = 0;
  return Tensor::empty(shape, x.dtype());
}

/// Replaces an input with one of another shape or dtype.
void replace_input(Random& random, OpCall& call) {
  Tensor& x =
      call.inputs[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(call.inputs.size())))];
  if (random.chance(0.5)) x = tensor(random, shape(random, 0, 5), x.dtype());
  else if (random.chance(0.5)) x = emptied(random, x);
  else x = tensor(random, x.shape(), random.pick(all_dtypes));
  if (random.chance(0.3))
    for (Tensor& each : call.inputs) each = emptied(random, each);
  call.fits = false;
}

}  // namespace

OpCall random_call(Random& random) {
  static const std::vector<MakeCall> families = [] {
    std::vector<MakeCall> all = {unary,     binary,        binary,     where,      broadcast_to,
                                 reduction, reduction,     along_axis, along_axis, permutation,
                                 reversal,  concatenation, slice,      split,      tiling,
                                 padding,   gather,        one_hot,    matmul,     layer_normalization,
                                 recurrence};
    for (const auto& more : {image_calls(), layer_calls(), lookup_calls(), loop_calls(), more_calls()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  OpCall call = random.pick(families)(random);
  if (random.chance(0.15)) make_odd(random, call);
  if (random.chance(0.15)) replace_input(random, call);
  return call;
}
