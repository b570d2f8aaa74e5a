#include "../reference/layers.hpp"
#include "draws.hpp"

using namespace draws;

namespace {

/// Draws positions of blocks of a tensor, some repeated, seldom one outside of the tensor.
Tensor positions(Random& random, const Shape& extents, std::int64_t depth, OpCall& call) {
  const std::int64_t rows = 1 + random.below(9);
  std::vector<double> ids;
  for (std::int64_t row = 0; row < rows; ++row)
    for (int d = 0; d < depth; ++d) ids.push_back(static_cast<double>(random.below(extents[d])));
  if (random.chance(0.1))
    call.fits = false, ids[0] = static_cast<double>(random.chance(0.5) ? extents[0] : -1);
  return K::constant(ids, {.dtype = random.chance(0.5) ? "int32" : "int64", .shape = Shape{rows, depth}});
}

OpCall gather_nd(Random& random) {
  const Shape extents = shape(random, 1, 3);
  OpCall call;
  const Tensor ids = positions(random, extents, 1 + random.below(extents.rank()), call);
  call.op = "gather_nd", call.inputs = {tensor(random, extents, random.pick(all_dtypes)), ids};
  call.run = [](In x) { return K::gather_nd(x[0], x[1]); };
  call.wanted = [](Arrays x) { return reference::gather_nd(x[0], x[1]); };
  call.any_value = true, call.least_known = Inputs::Placeholders;  // the depth makes the rank
  return call;
}

OpCall scatter_nd(Random& random) {
  const Shape extents = shape(random, 1, 3);
  OpCall call;
  const std::int64_t depth = 1 + random.below(extents.rank());
  const Tensor ids = positions(random, extents, depth, call);
  Shape updates{ids.shape()[0]};
  for (int d = static_cast<int>(depth); d < extents.rank(); ++d) updates.push_back(extents[d]);
  call.op = "scatter_nd", call.arguments = text(extents);
  call.inputs = {ids, tensor(random, updates, random.pick(wide))};
  call.run = [extents](In x) { return K::scatter_nd(x[0], x[1], extents); };
  call.wanted = [extents](Arrays x) { return reference::scatter_nd(x[0], x[1], as_extents(extents)); };
  call.terms = 64, call.least_known = Inputs::Placeholders;
  return call;
}

OpCall in_top_k(Random& random) {
  const std::int64_t rows = 1 + random.below(40), classes = 1 + random.below(30),
                     k = random.below(classes + 2);
  std::vector<double> targets;
  for (std::int64_t i = 0; i < rows; ++i)
    targets.push_back(static_cast<double>(random.below(classes + 2) - 1));
  return {.op = "in_top_k",
          .arguments = std::to_string(k),
          .inputs = {tensor(random, {rows, classes}, random.pick(wide)),
                     K::constant(targets,
                                 {.dtype = random.chance(0.5) ? "int32" : "int64", .shape = Shape{rows}})},
          .run = [k](In x) { return K::in_top_k(x[0], x[1], k); },
          .wanted =
              [k](Arrays x) {
                Array out(Extents{x[1].size()}, 0.);
                const auto classes = static_cast<std::ptrdiff_t>(x[0].shape(1));
                for (std::size_t i = 0; i < out.size(); ++i) {
                  const auto target = static_cast<std::ptrdiff_t>(x[1](i));
                  if (target < 0 || target >= classes) continue;
                  std::int64_t larger = 0;
                  for (std::ptrdiff_t c = 0; c < classes; ++c) larger += x[0](i, c) > x[0](i, target);
                  out(i) = larger < k;
                }
                return out;
              }};
}

OpCall order(Random& random) {
  const Shape extents = shape(random, 1, 3);
  const bool descending = random.chance(0.5), positions = random.chance(0.5);
  const K::SortOptions options{.direction = descending ? "DESCENDING" : "ASCENDING"};
  return {.op = positions ? "argsort" : "sort",
          .arguments = options.direction,
          .inputs = {tensor(random, extents, random.pick(signed_numbers))},
          .run = [=](In x) { return positions ? K::argsort(x[0], -1, options) : K::sort(x[0], -1, options); },
          .wanted =
              [=](Arrays x) {
                const Array found = reference::argsort(x[0], descending);
                if (positions) return found;
                Array out = found;
                const std::size_t n = x[0].shape().back();
                for (std::size_t i = 0; i < out.size(); ++i)
                  out.data()[i] = x[0].data()[i / n * n + static_cast<std::size_t>(found.data()[i])];
                return out;
              }};
}

OpCall top_k(Random& random) {
  const Shape extents = shape(random, 1, 3);
  const std::int64_t k = random.below(extents.back() + 1);
  return {.op = "top_k",
          .arguments = std::to_string(k),
          .inputs = {tensor(random, extents, random.pick(signed_numbers))},
          .run = [k](In x) { return K::top_k(x[0], k).indices; },
          .wanted =
              [k](Arrays x) {
                const Array found = reference::argsort(x[0], true);
                Extents size(found.shape().begin(), found.shape().end());
                size.back() = static_cast<std::size_t>(k);
                return reference::slice(found, Extents(size.size(), 0), size);
              }};
}

/// Draws x[start:, ::-1, position] for x of any rank.
OpCall index(Random& random) {
  const Shape extents = shape(random, 1, 3);
  OpCall call;
  std::vector<ktape::Index> picks;
  Axes reversed, removed;
  Extents start, size = as_extents(extents);
  for (int d = 0; d < extents.rank(); ++d) {
    const std::int64_t n = extents[d], from = random.below(n);
    start.push_back(0);
    if (random.chance(0.3)) {
      const bool outside = random.chance(0.05);
      const std::int64_t position = outside ? n : from;
      call.fits = call.fits && !outside;
      picks.emplace_back(random.chance(0.5) || outside ? position : position - n);
      removed.push_back(static_cast<std::size_t>(d));
      start.back() = static_cast<std::size_t>(from), size[start.size() - 1] = 1;
    } else if (random.chance(0.5)) {
      picks.emplace_back(ktape::Slice(ktape::None, ktape::None, -1));
      reversed.push_back(static_cast<std::size_t>(d));
    } else {
      picks.emplace_back(ktape::Slice(from, ktape::None));
      start.back() = static_cast<std::size_t>(from), size[start.size() - 1] -= start.back();
    }
    call.arguments += std::to_string(from) + ' ';
  }
  call.op = "index", call.inputs = {tensor(random, extents, random.pick(all_dtypes))};
  call.run = [picks](In x) { return K::index(x[0], ktape::Indices(picks)); };
  call.wanted = [=](Arrays x) {
    Array out = reference::reverse(reference::slice(x[0], start, size), reversed);
    Extents left;
    for (std::size_t d = 0; d < size.size(); ++d)
      if (!std::count(removed.begin(), removed.end(), d)) left.push_back(size[d]);
    out.reshape(left);
    return out;
  };
  call.any_value = true;
  return call;
}

OpCall clip(Random& random) {
  const double low = static_cast<double>(random.below(9) - 4),
               high = static_cast<double>(random.below(9) - 4);
  return {.op = "clip",
          .arguments = std::to_string(low) + ", " + std::to_string(high),
          .inputs = {tensor(random, shape(random), random.pick(signed_numbers))},
          .run = [=](In x) { return K::clip(x[0], low, high); },
          .wanted =
              [=](Arrays x) {
                return reference::map(
                    [=](double v) {
                      v = v > high ? high : v;
                      return v < low ? low : v;
                    },
                    x[0]);
              },
          .any_value = true};
}

OpCall repeat_elements(Random& random) {
  const Shape extents = shape(random, 1, 3);
  OpCall call;
  const int along = axis(random, extents.rank(), call), n = static_cast<int>(1 + random.below(4));
  call.op = "repeat_elements", call.arguments = std::to_string(n) + ", " + std::to_string(along);
  call.inputs = {tensor(random, extents, random.pick(all_dtypes))};
  call.run = [=](In x) { return K::repeat_elements(x[0], n, along); };
  call.wanted = [=](Arrays x) {
    const std::size_t front = from_front(along, static_cast<int>(x[0].dimension()));
    Extents shape(x[0].shape().begin(), x[0].shape().end()), wider = shape;
    wider.insert(wider.begin() + static_cast<long>(front) + 1, 1);
    Array out = x[0];
    out.reshape(wider);
    Extents times(wider.size(), 1);
    times[front + 1] = static_cast<std::size_t>(n), shape[front] *= static_cast<std::size_t>(n);
    out = reference::tile(out, times);
    out.reshape(shape);
    return out;
  };
  call.any_value = true;
  return call;
}

/// Draws a product of a sparse matrix, whose values are the input, and a dense matrix.
OpCall sparse_dot(Random& random) {
  const std::int64_t rows = 1 + random.below(20), columns = 1 + random.below(20), width = 1 + random.below(9);
  std::vector<double> places;
  std::vector<std::size_t> cells;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    if (random.chance(0.2)) {
      cells.push_back(static_cast<std::size_t>(i));
      places.push_back(static_cast<double>(i / columns)), places.push_back(static_cast<double>(i % columns));
    }
  const auto stored = static_cast<std::int64_t>(cells.size());
  const Tensor indices = K::constant(places, {.dtype = "int64", .shape = Shape{stored, 2}});
  const DType dtype = random.pick(wide);
  OpCall call{.op = "dot",
              .part = "SparseTensor",
              .arguments = "sparse " + text(Shape{rows, columns}),
              .inputs = {tensor(random, {stored}, dtype), tensor(random, {columns, width}, dtype)}};
  call.run = [=](In x) { return K::dot(ktape::SparseTensor(indices, x[0], {rows, columns}), x[1]); };
  call.wanted = [=](Arrays x) {
    Array dense(Extents{static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, 0.);
    for (std::size_t i = 0; i < cells.size(); ++i) dense.data()[cells[i]] = x[0](i);
    return reference::matmul(dense, x[1]);
  };
  call.terms = 16. * static_cast<double>(columns), call.least_known = Inputs::Variables;
  return call;
}

}  // namespace

std::vector<MakeCall> lookup_calls() {
  return {gather_nd, scatter_nd, in_top_k, order, top_k, index, clip, repeat_elements, sparse_dot};
}
