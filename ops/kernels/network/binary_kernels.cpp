#include <ktape/ops/kernels/network/binary_kernels.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <algorithm>

namespace ktape::kernels {

namespace {

using Shape = std::vector<std::int64_t>;

/// Calls f with the function of two numbers.
template <class F>
void with_function(BinaryFunction function, const F& f) {
  switch (function) {
    case BinaryFunction::Add:
      return f([](float a, float b) { return a + b; });
    case BinaryFunction::Subtract:
      return f([](float a, float b) { return a - b; });
    case BinaryFunction::Multiply:
      return f([](float a, float b) { return a * b; });
    case BinaryFunction::Maximum:
      return f([](float a, float b) { return std::max(a, b); });
    case BinaryFunction::Minimum:
      return f([](float a, float b) { return std::min(a, b); });
  }
}

class BroadcastKernel final : public NodeKernel {
 public:
  BroadcastKernel(BinaryFunction function, const Shape& a, const Shape& b)
      : function_(function), a_(a), strides_(b.size()), repeats_(b.back() == 1 && a.back() != 1) {
    std::int64_t step = 1;
    for (std::size_t axis = b.size(); axis-- > 0; step *= b[axis]) strides_[axis] = b[axis] == 1 ? 0 : step;
  }
  const char* name() const override { return "broadcast"; }

  void run(const Arrays& arrays) const override {
    const std::int64_t n = a_.back();
    std::int64_t rows = 1;
    for (std::size_t axis = 0; axis + 1 < a_.size(); ++axis) rows *= a_[axis];
    with_function(function_, [&](auto f) {
      parallel_rows(rows, n, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
          const float *a = arrays.inputs[0] + row * n, *b = arrays.inputs[1] + offset_of(row);
          float* const out = arrays.output + row * n;
          if (repeats_)
            for (std::int64_t j = 0; j < n; ++j) out[j] = f(a[j], b[0]);
          else
            for (std::int64_t j = 0; j < n; ++j) out[j] = f(a[j], b[j]);
        }
      });
    });
  }

 private:
  /// Returns the offset in b of a row of a.
  std::int64_t offset_of(std::int64_t row) const {
    std::int64_t offset = 0;
    for (std::size_t axis = a_.size() - 1; axis-- > 0; row /= a_[axis])
      offset += row % a_[axis] * strides_[axis];
    return offset;
  }

  const BinaryFunction function_;
  const Shape a_;
  Shape strides_;
  const bool repeats_;  ///< whether one element of b serves a whole row
};

class ScalingKernel final : public NodeKernel {
 public:
  explicit ScalingKernel(const ScalingExtents& extents) : at_(extents) {}
  const char* name() const override { return "scaling"; }

  void run(const Arrays& arrays) const override {
    const std::int64_t pixels = at_.pixels, channels = at_.channels;
    parallel_rows(at_.groups * pixels, channels, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const float* const a = arrays.inputs[0] + row * channels;
        const float* const b = arrays.inputs[1] + row / pixels * channels;
        float* const out = arrays.output + row * channels;
        for (std::int64_t c = 0; c < channels; ++c) out[c] = a[c] * b[c];
      }
    });
  }

 private:
  const ScalingExtents at_;
};

}  // namespace

std::shared_ptr<const NodeKernel> broadcast_kernel(BinaryFunction function, const Shape& a, const Shape& b) {
  return std::make_shared<BroadcastKernel>(function, a, b);
}
std::shared_ptr<const NodeKernel> scaling_kernel(const ScalingExtents& extents) {
  return std::make_shared<ScalingKernel>(extents);
}

}  // namespace ktape::kernels
