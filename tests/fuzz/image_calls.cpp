// Zeros around sequences, images and volumes, and their elements repeated.
#include "draws.hpp"

using namespace draws;

namespace {

/// Images (samples, space..., channels), or (samples, channels, space...).
struct Images {
  Shape shape;
  Axes space;
  std::string format;
};

Images images(Random& random, int rank, bool may_be_first = true) {
  const auto n = [&](int most) { return 1 + random.below(most); };
  const bool first = may_be_first && random.chance(0.3);
  Images out{{n(3)}, {}, first ? "channels_first" : "channels_last"};
  if (first) out.shape.push_back(n(9));
  for (int d = 0; d < rank; ++d) {
    out.space.push_back(static_cast<std::size_t>(out.shape.rank()));
    out.shape.push_back(n(rank == 3 ? 5 : 9));
  }
  if (!first) out.shape.push_back(n(9));
  return out;
}

OpCall padding(Random& random) {
  const int rank = static_cast<int>(1 + random.below(3));
  const Images at = images(random, rank, rank > 1);
  std::vector<ktape::backend::PaddingPair> given;
  std::vector<std::pair<std::size_t, std::size_t>> wanted(static_cast<std::size_t>(at.shape.rank()));
  std::vector<std::int64_t> ends;
  for (const std::size_t axis : at.space) {
    const std::int64_t before = random.below(4), after = random.below(4);
    given.push_back({before, after}), ends.push_back(before), ends.push_back(after);
    wanted[axis] = {static_cast<std::size_t>(before), static_cast<std::size_t>(after)};
  }
  static constexpr const char* ops[] = {"temporal_padding", "spatial_2d_padding", "spatial_3d_padding"};
  return {.op = ops[rank - 1],
          .arguments = text(ends) + ", " + at.format,
          .inputs = {tensor(random, at.shape, random.pick(floating))},
          .run =
              [=](In in) {
                if (rank == 1) return K::temporal_padding(in[0], {.padding = given[0]});
                const K::SpatialPaddingOptions options{.padding = given, .data_format = at.format};
                return rank == 2 ? K::spatial_2d_padding(in[0], options)
                                 : K::spatial_3d_padding(in[0], options);
              },
          .wanted = [=](Arrays in) { return reference::pad(in[0], wanted, 0); },
          .any_value = true};
}

/// Returns x with every element of an axis repeated `factor` times.
Array repeated(const Array& x, std::size_t axis, std::size_t factor) {
  std::vector<Array> parts;
  Extents start(x.dimension(), 0), size(x.shape().begin(), x.shape().end());
  size[axis] = 1;
  for (; start[axis] < x.shape(axis); ++start[axis])
    for (std::size_t k = 0; k < factor; ++k) parts.push_back(reference::slice(x, start, size));
  return reference::concatenate(parts, axis);
}

OpCall resizing(Random& random) {
  const int rank = static_cast<int>(2 + random.below(2));
  const Images at = images(random, rank);
  std::vector<std::int64_t> factors;
  for (int d = 0; d < rank; ++d) factors.push_back(1 + random.below(3));
  return {.op = rank == 2 ? "resize_images" : "resize_volumes",
          .arguments = text(factors) + ", " + at.format,
          .inputs = {tensor(random, at.shape, random.pick(floating))},
          .run =
              [=](In in) {
                if (rank == 2) return K::resize_images(in[0], factors[0], factors[1], at.format);
                return K::resize_volumes(in[0], factors[0], factors[1], factors[2], at.format);
              },
          .wanted =
              [=](Arrays in) {
                Array out = in[0];
                for (std::size_t d = 0; d < factors.size(); ++d)
                  out = repeated(out, at.space[d], static_cast<std::size_t>(factors[d]));
                return out;
              },
          .any_value = true};
}

}  // namespace

std::vector<MakeCall> image_calls() { return {padding, resizing}; }
