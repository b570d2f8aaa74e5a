#include <doctest/doctest.h>
#include <ktape/ops/kernels/normalization/batch_norm.hpp>

#include "../references.hpp"

TEST_CASE_TEMPLATE("kernels: statistics of channels and maps over them agree with their formulas", T, float,
                   double) {
  using A = k::compute_type<T>;
  const reference::Axes group{0, 2};
  for (const k::ChannelLayout at : {k::ChannelLayout{1, 1, 1},
                                    {5, 3, 1},
                                    {300, 17, 1},
                                    {1000, 70, 1},
                                    {2, 3, 7},
                                    {3, 5, 64},
                                    {4, 2, 1500},
                                    {1, 33, 33}}) {
    INFO(at.outer, ", ", at.channels, ", ", at.inner);
    const std::vector<i64> shape{at.outer, at.channels, at.inner}, channel{1, at.channels, 1};
    const i64 n = at.group() * at.channels;
    const Array<T> x = numbers<T>(n), g = numbers<T>(n), out(n);
    const Array<A> centre = numbers<A>(at.channels), scale = numbers<A>(at.channels),
                   slope = numbers<A>(at.channels), offset = numbers<A>(at.channels);
    const auto xs = as_reference(x, shape), gs = as_reference(g, shape);
    const auto centres = as_reference(centre, channel), scales = as_reference(scale, channel),
               slopes = as_reference(slope, channel), offsets = as_reference(offset, channel);

    const auto moments = k::channel_moments(at, x.data());
    const auto sums = k::channel_slopes(at, g.data(), x.data(), centre.data());
    std::vector<double> means, variances, first, second;
    for (const k::Moments& each : moments) means.push_back(each.mean), variances.push_back(each.variance());
    for (const k::Slopes& each : sums) first.push_back(each.g), second.push_back(each.gx);
    const double terms = static_cast<double>(at.group());
    const Tolerance one = rounding<A>(16), many = rounding<A>(16 * terms);
    CHECK(close(means, reference::mean(xs, group, false), one));
    CHECK(close(variances, reference::var(xs, group, false), one));
    CHECK(close(first, reference::sum(gs, group, false), many));
    CHECK(close(second, reference::sum(gs * (xs - centres), group, false), many));

    k::channel_affine(at, x.data(), centre.data(), scale.data(), offset.data(), out.data());
    CHECK(close(as_list(out), reference::Array((xs - centres) * scales + offsets), rounding<T>(16)));
    k::channel_affine(at, g.data(), x.data(), centre.data(), scale.data(), slope.data(), offset.data(),
                      out.data());
    CHECK(close(as_list(out), reference::Array(gs * scales + (xs - centres) * slopes + offsets),
                rounding<T>(16)));
    k::channel_scale(at, g.data(), scale.data(), out.data());
    CHECK(close(as_list(out), reference::Array(gs * scales), rounding<T>(16)));
  }
}
