// Calls that run a callable on slice after slice, and slicing itself.
#include <xtensor/xview.hpp>

#include "draws.hpp"

using namespace draws;

namespace {

OpCall map_fn(Random& random) {
  return {.op = "map_fn",
          .part = "multiply",
          .arguments = "",
          .inputs = {tensor(random, shape(random, 1, 3), random.pick(wide))},
          .run = [](In in) { return K::map_fn([](const Tensor& e) { return e * e; }, in[0]); },
          .wanted = [](Arrays in) { return Array(in[0] * in[0]); },
          .least_known = Inputs::Placeholders};
}

OpCall fold(Random& random) {
  const Shape extents = shape(random, 1, 3);
  const bool from_last = random.chance(0.5);
  return {.op = from_last ? "foldr" : "foldl",
          .part = "subtract",
          .arguments = "",
          .inputs = {tensor(random, extents, random.pick(wide))},
          .run =
              [from_last](In in) {
                const auto step = [](const Tensor& a, const Tensor& e) { return a - e; };
                return from_last ? K::foldr(step, in[0]) : K::foldl(step, in[0]);
              },
          .wanted =
              [from_last](Arrays in) {
                const std::size_t n = in[0].shape(0);
                Array sum = xt::view(in[0], from_last ? n - 1 : 0);
                for (std::size_t i = 1; i < n; ++i) sum -= xt::view(in[0], from_last ? n - 1 - i : i);
                return sum;
              },
          .terms = 16. * static_cast<double>(extents.count()),
          .least_known = Inputs::Placeholders};
}

OpCall unstack(Random& random) {
  OpCall call;
  const Shape extents = shape(random, 1);
  const int along = axis(random, extents.rank(), call);
  const std::int64_t n = call.fits ? extents[static_cast<int>(from_front(along, extents.rank()))] : 1;
  const auto part = static_cast<std::size_t>(random.below(n));
  call.op = "unstack", call.arguments = std::to_string(along) + ", part " + std::to_string(part);
  call.inputs = {tensor(random, extents, random.pick(all_dtypes))};
  call.run = [along, part](In in) {
    const std::vector<Tensor> parts = K::unstack(in[0], along);
    return part < parts.size() ? parts[part] : in[0];  // of another shape than was meant
  };
  call.wanted = [along, part](Arrays in) {
    const std::size_t at = from_front(along, static_cast<int>(in[0].dimension()));
    Extents start(in[0].dimension(), 0), size(in[0].shape().begin(), in[0].shape().end());
    start[at] = part, size[at] = 1;
    Array out = reference::slice(in[0], start, size);
    size.erase(size.begin() + static_cast<std::ptrdiff_t>(at));
    out.reshape(size);
    return out;
  };
  call.any_value = true, call.least_known = Inputs::Placeholders;
  return call;
}

/// Draws a loop with some masked steps, in either direction.
OpCall rnn(Random& random) {
  const std::int64_t samples = 1 + random.below(5), steps = 1 + random.below(6), units = 1 + random.below(20);
  const bool backwards = random.chance(0.5), zeros = random.chance(0.5);
  const DType dtype = random.pick(wide);
  std::vector<double> mask;
  for (std::int64_t i = 0; i < samples * steps; ++i) mask.push_back(random.chance(0.7));
  OpCall call;
  call.op = "rnn", call.part = "subtract";
  call.arguments = std::string(backwards ? "backwards" : "forwards") + (zeros ? ", masked by zeros" : "");
  call.inputs = {tensor(random, {samples, steps, units}, dtype), tensor(random, {samples, units}, dtype),
                 K::constant(mask, {.dtype = "bool", .shape = Shape{samples, steps}})};
  call.run = [=](In in) {
    const auto step = [](const Tensor& x, const std::vector<Tensor>& states) {
      const Tensor h = x - states[0];
      return std::pair{h, std::vector{h}};
    };
    return K::rnn(step, in[0], {in[1]},
                  {.go_backwards = backwards, .mask = in[2], .zero_output_for_mask = zeros})
        .outputs;
  };
  call.wanted = [=](Arrays in) {
    const auto cell = [](const Array& x, const std::vector<Array>& states) {
      return std::vector<Array>{x - states[0]};
    };
    const auto ordered = [&](const Array& x) { return backwards ? reference::reverse(x, {1}) : x; };
    return reference::recurrence(ordered(in[0]), {in[1]}, ordered(in[2]), zeros, cell).outputs;
  };
  call.terms = 64, call.least_known = Inputs::Placeholders;
  return call;
}

}  // namespace

std::vector<MakeCall> loop_calls() { return {map_fn, fold, unstack, rnn}; }
