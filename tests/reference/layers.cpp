#include "layers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <xtensor/xmath.hpp>
#include <xtensor/xstrided_view.hpp>

namespace reference {
namespace {

constexpr double epsilon = 1e-7;  // Keras's

Extents extents(const Array& x) { return Extents(x.shape().begin(), x.shape().end()); }

/// Calls f(index) for every index of a shape, in order.
void for_each_index(const Extents& shape, const std::function<void(const Extents&)>& f) {
  Extents index(shape.size(), 0);
  const auto count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  for (std::size_t i = 0; i < count; ++i) {
    f(index);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
}

/// The element at the concatenation of indices.
template <class A, class... Parts>
auto& at(A& x, const Parts&... parts) {
  Extents index;
  (index.insert(index.end(), parts.begin(), parts.end()), ...);
  return x.element(index.begin(), index.end());
}

using Place = Extents;

Extents places(const Extents& in, const Extents& size, const Windows& w) {
  Extents out;
  for (std::size_t d = 0; d < in.size(); ++d) {
    const std::size_t reach = (size[d] - 1) * w.rates[d] + 1;
    out.push_back(w.same ? (in[d] + w.strides[d] - 1) / w.strides[d] : (in[d] - reach) / w.strides[d] + 1);
  }
  return out;
}

/// Calls f(position of the window, cell of the window, position in the image) for all cells inside the image.
void for_each_tap(const Extents& in, const Extents& size, const Windows& w,
                  const std::function<void(const Place&, const Place&, const Place&)>& f) {
  const Extents out = places(in, size, w);
  for_each_index(out, [&](const Extents& place) {
    for_each_index(size, [&](const Extents& cell) {
      Place found(in.size());
      for (std::size_t d = 0; d < in.size(); ++d) {
        const auto reach = static_cast<long>((size[d] - 1) * w.rates[d] + 1),
                   missing =
                       static_cast<long>((out[d] - 1) * w.strides[d]) + reach - static_cast<long>(in[d]),
                   front = w.same ? std::max(missing, 0L) / 2 : 0;
        const long position = static_cast<long>(place[d] * w.strides[d] + cell[d] * w.rates[d]) - front;
        if (position < 0 || position >= static_cast<long>(in[d])) return;
        found[d] = static_cast<std::size_t>(position);
      }
      f(place, cell, found);
    });
  });
}

Extents spatial(const Extents& shape) { return Extents(shape.begin() + 1, shape.end() - 1); }

Extents with_ends(std::size_t first, Extents middle, std::size_t last) {
  middle.insert(middle.begin(), first), middle.push_back(last);
  return middle;
}

/// Returns combine(result so far, element) over the windows, from start.
template <class Combine>
Array pool(const Array& x, const Extents& size, const Windows& w, double start, Combine combine) {
  const Extents in = extents(x), space = spatial(in);
  Array out(with_ends(in[0], places(space, size, w), in.back()), start);
  for_each_tap(space, size, w, [&](const Place& place, const Place&, const Place& found) {
    for_each_index({in[0], in.back()}, [&](const Extents& i) {
      double& y = at(out, Extents{i[0]}, place, Extents{i[1]});
      y = combine(y, at(x, Extents{i[0]}, found, Extents{i[1]}));
    });
  });
  return out;
}

/// Returns f(row of a, row of b) over the last axes, for each row.
template <class F>
Array by_row(const Array& a, const Array& b, F f) {
  const Extents shape = extents(b);
  Array out(Extents(shape.begin(), shape.end() - 1));
  const std::size_t columns = shape.back(), width = out.size() ? a.size() / out.size() : 0;
  for (std::size_t row = 0; row < out.size(); ++row)
    out.data()[row] = f(a.data() + row * width, b.data() + row * columns, columns);
  return out;
}

double log_sum_exp(const double* x, std::size_t n) {
  const double most = *std::max_element(x, x + n);
  return most +
         std::log(std::accumulate(x, x + n, 0., [&](double s, double v) { return s + std::exp(v - most); }));
}

}  // namespace

Array conv(const Array& x, const Array& kernel, const Windows& w, std::size_t groups) {
  const Extents in = extents(x), shape = extents(kernel), size(shape.begin(), shape.end() - 2);
  const std::size_t rank = size.size(), ins = shape[rank], each = shape[rank + 1] / groups;
  Array out(with_ends(in[0], places(spatial(in), size, w), shape[rank + 1]), 0.);
  for_each_tap(spatial(in), size, w, [&](const Place& place, const Place& cell, const Place& found) {
    for_each_index({in[0], groups, each, ins}, [&](const Extents& i) {
      const std::size_t to = i[1] * each + i[2];
      at(out, Extents{i[0]}, place, Extents{to}) +=
          at(x, Extents{i[0]}, found, Extents{i[1] * ins + i[3]}) * at(kernel, cell, Extents{i[3], to});
    });
  });
  return out;
}

Array conv_transpose(const Array& x, const Array& kernel, const Extents& output_shape, const Windows& w) {
  const Extents shape = extents(kernel), size(shape.begin(), shape.end() - 2);
  const std::size_t rank = size.size();
  Array out(output_shape, 0.);
  for_each_tap(spatial(output_shape), size, w,
               [&](const Place& place, const Place& cell, const Place& found) {
                 for_each_index({output_shape[0], shape[rank], shape[rank + 1]}, [&](const Extents& i) {
                   at(out, Extents{i[0]}, found, Extents{i[1]}) +=
                       at(x, Extents{i[0]}, place, Extents{i[2]}) * at(kernel, cell, Extents{i[1], i[2]});
                 });
               });
  return out;
}

Array max_pool(const Array& x, const Extents& size, const Windows& w) {
  return pool(x, size, w, -std::numeric_limits<double>::infinity(),
              [](double most, double v) { return std::isnan(v) || v > most ? v : most; });
}

Array average_pool(const Array& x, const Extents& size, const Windows& w) {
  const auto add = [](double sum, double v) { return sum + v; };
  return pool(x, size, w, 0, add) / pool(xt::ones_like(x), size, w, 0, add);
}

Array attention(const Array& query, const Array& key, const Array& value, const Array& mask, bool causal) {
  const Extents q = extents(query), k = extents(key), v = extents(value);
  const Array seen = broadcast_to(mask, {q[0], q[1], q[2], k[2]});
  Array out({q[0], q[1], q[2], v[3]}, 0.);
  for_each_index({q[0], q[1], q[2]}, [&](const Extents& i) {
    double total = 0;
    for (std::size_t j = 0; j < k[2] && (!causal || j <= i[2]); ++j) {
      if (seen(i[0], i[1], i[2], j) == 0) continue;
      double score = 0;
      for (std::size_t d = 0; d < q[3]; ++d) score += query(i[0], i[1], i[2], d) * key(i[0], i[1], j, d);
      const double weight = std::exp(score / std::sqrt(static_cast<double>(q[3])));
      total += weight;
      for (std::size_t d = 0; d < v[3]; ++d) out(i[0], i[1], i[2], d) += weight * value(i[0], i[1], j, d);
    }
    for (std::size_t d = 0; d < v[3] && total > 0; ++d) out(i[0], i[1], i[2], d) /= total;
  });
  return out;
}

Array categorical_crossentropy(const Array& target, const Array& output, bool from_logits) {
  return by_row(target, output, [&](const double* t, const double* p, std::size_t n) {
    const double total = from_logits ? log_sum_exp(p, n) : std::accumulate(p, p + n, 0.);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum -= t[i] * (from_logits ? p[i] - total : std::log(std::clamp(p[i] / total, epsilon, 1 - epsilon)));
    return sum;
  });
}

Array sparse_categorical_crossentropy(const Array& target, const Array& output, bool from_logits) {
  return by_row(target, output, [&](const double* t, const double* p, std::size_t n) {
    std::vector<double> logits(p, p + n);
    if (!from_logits)
      for (double& v : logits) v = std::log(std::clamp(v, epsilon, 1 - epsilon));
    return log_sum_exp(logits.data(), n) - logits[static_cast<std::size_t>(*t)];
  });
}

Array binary_crossentropy(const Array& target, const Array& output, bool from_logits) {
  const auto of_logit = [](double t, double x) {
    return std::max(x, 0.) - x * t + std::log1p(std::exp(-std::fabs(x)));
  };
  const auto of_share = [](double t, double p) {
    p = std::clamp(p, epsilon, 1 - epsilon);
    return -t * std::log(p + epsilon) - (1 - t) * std::log(1 - p + epsilon);
  };
  return from_logits ? map(of_logit, target, output) : map(of_share, target, output);
}

Array gather_nd(const Array& params, const Array& indices) {
  const Extents shape = extents(params), rows = extents(indices);
  const Extents block(shape.begin() + static_cast<long>(rows.back()), shape.end());
  Extents out_shape(rows.begin(), rows.end() - 1), lead = out_shape;
  out_shape.insert(out_shape.end(), block.begin(), block.end());
  Array out(out_shape);
  for_each_index(lead, [&](const Extents& row) {
    Extents start;
    for (std::size_t d = 0; d < rows.back(); ++d)
      start.push_back(static_cast<std::size_t>(at(indices, row, Extents{d})));
    for_each_index(block, [&](const Extents& i) { at(out, row, i) = at(params, start, i); });
  });
  return out;
}

Array scatter_nd(const Array& indices, const Array& updates, const Extents& shape) {
  const Extents rows = extents(indices), lead(rows.begin(), rows.end() - 1),
                block(shape.begin() + static_cast<long>(rows.back()), shape.end());
  Array out(shape, 0.);
  for_each_index(lead, [&](const Extents& row) {
    Extents start;
    for (std::size_t d = 0; d < rows.back(); ++d)
      start.push_back(static_cast<std::size_t>(at(indices, row, Extents{d})));
    for_each_index(block, [&](const Extents& i) { at(out, start, i) += at(updates, row, i); });
  });
  return out;
}

Array argsort(const Array& x, bool descending) {
  Array out(extents(x));
  const std::size_t n = x.shape().back();
  for (std::size_t first = 0; first < x.size(); first += n) {
    const double* row = x.data() + first;
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    const auto less = [&](std::size_t i, std::size_t j) {
      return row[i] < row[j] || (std::isnan(row[j]) && !std::isnan(row[i]));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return descending ? less(j, i) : less(i, j); });
    std::copy(order.begin(), order.end(), out.data() + first);
  }
  return out;
}

}  // namespace reference
