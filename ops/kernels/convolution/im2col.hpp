#pragma once
#include <ktape/ops/kernels/kernel_calls.h>

#include <algorithm>
#include <cstdint>

namespace ktape::kernels {

/// The windows of a convolution's input as the rows of a matrix, one for each output position: (window...,
/// channels of a group). Rows are made for some positions at a time, so that they stay in the caches whatever
/// the size of the input.
class Patches {
 public:
  explicit Patches(const ktape_convolution& c)
      : c_(c),
        channels_(c.input_channels / c.groups),
        line_(c.window[2] * channels_),
        joined_(c.dilation[2] == 1 && c.groups == 1) {}

  /// Returns the number of output positions of an image, and the numbers of elements of an image, of its
  /// result and of a row.
  std::int64_t positions() const { return c_.output[0] * c_.output[1] * c_.output[2]; }
  std::int64_t image() const { return c_.input[0] * c_.input[1] * c_.input[2] * c_.input_channels; }
  std::int64_t result() const { return positions() * c_.output_channels; }
  std::int64_t taps() const { return c_.window[0] * c_.window[1] * c_.window[2]; }
  std::int64_t row() const { return c_.window[0] * c_.window[1] * line_; }

  /// Returns whether the rows are the input itself.
  bool pointwise() const {
    bool same = c_.groups == 1;
    for (int d = 0; d < 3; ++d)
      same = same && c_.window[d] == 1 && c_.strides[d] == 1 && c_.padding[d] == 0 &&
             c_.input[d] == c_.output[d];
    return same;
  }

  /// Returns the number of rows, of elements of this size, that are made at a time.
  std::int64_t block(std::int64_t element_size) const {
    constexpr std::int64_t bytes = 256 << 10, fewest = 32;
    const std::int64_t rows = bytes / std::max<std::int64_t>(1, row() * element_size) / fewest * fewest;
    return std::min(std::max(rows, fewest), positions());
  }

  /// Calls f(offset in the row, offset in the image, elements) for the parts of one row; the offset in the
  /// image is -1 for a part outside the image.
  template <class F>
  void for_parts(std::int64_t position, F&& f) const {
    const std::int64_t w = position % c_.output[2], h = position / c_.output[2] % c_.output[1],
                       d = position / c_.output[2] / c_.output[1];
    std::int64_t at = 0;
    for (std::int64_t kd = 0; kd < c_.window[0]; ++kd)
      for (std::int64_t kh = 0; kh < c_.window[1]; ++kh, at += line_) {
        const std::int64_t id = source(0, d, kd), ih = source(1, h, kh);
        if (id < 0 || id >= c_.input[0] || ih < 0 || ih >= c_.input[1]) f(at, std::int64_t{-1}, line_);
        else for_line(at, (id * c_.input[1] + ih) * c_.input[2], source(2, w, 0), f);
      }
  }

  /// Copies `count` rows from row `first` on; `image` points to the group's first channel.
  template <class T>
  void gather(const T* image, std::int64_t first, std::int64_t count, T* rows) const {
    for (std::int64_t i = 0; i < count; ++i, rows += row())
      for_parts(first + i, [&](std::int64_t at, std::int64_t from, std::int64_t n) {
        if (from < 0) std::fill_n(rows + at, n, T(0));
        else std::copy_n(image + from, n, rows + at);
      });
  }

  /// Adds rows to the elements from which `gather` reads them.
  template <class T>
  void scatter(const T* rows, std::int64_t first, std::int64_t count, T* image) const {
    for (std::int64_t i = 0; i < count; ++i, rows += row())
      for_parts(first + i, [&](std::int64_t at, std::int64_t to, std::int64_t n) {
        if (to < 0) return;
        for (std::int64_t k = 0; k < n; ++k) image[to + k] += rows[at + k];
      });
  }

 private:
  std::int64_t source(int d, std::int64_t out, std::int64_t tap) const {
    return out * c_.strides[d] + tap * c_.dilation[d] - c_.padding[d];
  }

  /// Calls f, as `for_parts` does, for the parts of a line of taps. `base` is the index of the first pixel of
  /// the image's line, `w` the position of the first tap in this line.
  template <class F>
  void for_line(std::int64_t at, std::int64_t base, std::int64_t w, F& f) const {
    const std::int64_t taps = c_.window[2], extent = c_.input[2];
    if (!joined_) {
      for (std::int64_t k = 0; k < taps; ++k, at += channels_, w += c_.dilation[2])
        f(at, w < 0 || w >= extent ? -1 : (base + w) * c_.input_channels, channels_);
      return;
    }
    const std::int64_t begin = std::clamp<std::int64_t>(-w, 0, taps),
                       end = std::clamp(extent - w, begin, taps);
    if (begin > 0) f(at, std::int64_t{-1}, begin * channels_);
    if (end > begin) f(at + begin * channels_, (base + w + begin) * channels_, (end - begin) * channels_);
    if (end < taps) f(at + end * channels_, std::int64_t{-1}, (taps - end) * channels_);
  }

  const ktape_convolution& c_;
  std::int64_t channels_, line_;
  bool joined_;  // whether neighbours in a line of the image are neighbours in the row
};

}  // namespace ktape::kernels
