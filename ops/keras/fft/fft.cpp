#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/deferred.hpp>
#include <ktape/ops/keras/fft/fft.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/fourier/fft.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <numbers>

namespace ktape::ops {

namespace K = backend;

namespace {

using List = std::vector<Tensor>;

/// Returns the transform along the last axis, not normalized. Its adjoint is the transform in the other direction.
List transformed(const Tensor& re, const Tensor& im, bool inverse) {
  Tensor real = Tensor::empty_like(re), imag = Tensor::empty_like(im);
  const std::int64_t n = re.shape()[-1], rows = n == 0 ? 0 : re.size() / n;
  op_helpers::with_float_or_double(re.dtype(), [&]<class T>() {
    parallel_for(
        rows, std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(n, 1)),
        [&](std::int64_t begin, std::int64_t end) {
          kernels::FourierTransform<T> transform(n, inverse);
          std::vector<std::complex<T>> row(static_cast<std::size_t>(n));
          for (std::int64_t r = begin; r < end; ++r) {
            for (std::int64_t i = 0; i < n; ++i)
              row[static_cast<std::size_t>(i)] = {re.pointer<T>()[r * n + i], im.pointer<T>()[r * n + i]};
            transform.run(row.data());
            for (std::int64_t i = 0; i < n; ++i) {
              real.pointer<T>()[r * n + i] = row[static_cast<std::size_t>(i)].real();
              imag.pointer<T>()[r * n + i] = row[static_cast<std::size_t>(i)].imag();
            }
          }
        });
  });
  if (recording(re, im)) {
    const Tensor outs[] = {real, imag};
    record("fft", outs, {re, im}, [inverse, like = real.detach()](Grads& grads) {
      const auto or_zeros = [&](const Tensor& g) { return g.defined() ? g : K::zeros_like(like); };
      const List back = transformed(or_zeros(grads.output(0)), or_zeros(grads.output(1)), !inverse);
      grads.add(0, back[0]), grads.add(1, back[1]);
    });
  }
  return {real, imag};
}

/// Returns the parts of a complex tensor in one of the dtypes of the kernel.
ComplexPair parts(const char* op, const ComplexPair& given, int rank) {
  expect_defined(op, "real, imag", given.first, given.second);
  auto [re, im] = op_helpers::promoted_floating(op, given.first, given.second);
  if (!compatible(re.shape(), im.shape()) || re.ndim() < rank)
    fail("[", op, "] both parts must have one shape of rank ", rank, " or more: received real=", re.shape(),
         ", imag=", im.shape());
  const bool half = re.dtype() == DType::Float16;
  return {half ? K::cast(re, DType::Float32) : re, half ? K::cast(im, DType::Float32) : im};
}

ComplexPair along_last(const ComplexPair& x, bool inverse) {
  const OutputInfo info{x.first.shape(), x.first.dtype()};
  const auto of_parts = [](const List& parts, bool inverse) {
    return transformed(parts[0], parts[1], inverse);
  };
  const List parts{x.first, x.second};
  const List found = is_symbolic(parts) ? defer_described("fft", {info, info}, of_parts, parts, inverse)
                                        : of_parts(parts, inverse);
  return {found[0], found[1]};
}

ComplexPair each(const ComplexPair& x, const std::function<Tensor(const Tensor&)>& f) {
  return {f(x.first), f(x.second)};
}

ComplexPair along_last_two(const ComplexPair& x, bool inverse) {
  const auto turned = [](const Tensor& part) { return swapaxes(part, -1, -2); };
  return each(along_last(each(along_last(x, inverse), turned), inverse), turned);
}

/// Returns the last axis cut, or filled with zeros, to n elements.
Tensor fitted(const Tensor& x, std::int64_t n) {
  const std::int64_t given = x.shape()[-1];
  if (given == n) return x;
  if (given > n) return K::index(x, {Ellipsis, Slice(0, n)});
  std::vector<K::PaddingPair> paddings(static_cast<std::size_t>(x.ndim()), 0);
  paddings.back() = {0, given == None ? n : n - given};
  const Tensor padded = K::pad(x, paddings);
  return given == None ? K::index(padded, {Ellipsis, Slice(0, n)}) : padded;
}

std::int64_t length_of(const char* op, std::int64_t length) {
  if (length < 1) fail("[", op, "] fft_length must be known and at least 1: received fft_length=", length);
  return length;
}

}  // namespace

ComplexPair fft(const ComplexPair& x) { return along_last(parts("fft", x, 1), false); }
ComplexPair fft2(const ComplexPair& x) { return along_last_two(parts("fft2", x, 2), false); }

ComplexPair ifft2(const ComplexPair& given) {
  const ComplexPair x = parts("ifft2", given, 2), sums = along_last_two(x, true);
  const std::int64_t n = x.first.shape().count(x.first.ndim() - 2);
  if (n < 0) fail("[ifft2] the extents of the last two axes must be known: received real=", x.first.shape());
  return each(sums, [n](const Tensor& part) { return part / static_cast<double>(n); });
}

ComplexPair rfft(const Tensor& given, std::optional<std::int64_t> fft_length) {
  const Tensor x = op_helpers::floating("rfft", given);
  if (x.ndim() < 1) fail("[rfft] x must have rank 1 or more: received x=()");
  const std::int64_t n = length_of("rfft", fft_length.value_or(x.shape()[-1]));
  const Tensor real = fitted(x, n);
  return each(fft({real, K::zeros_like(real)}), [n](const Tensor& part) {
    return K::index(part, {Ellipsis, Slice(0, n / 2 + 1)});
  });
}

Tensor irfft(const ComplexPair& given, std::optional<std::int64_t> fft_length) {
  const ComplexPair x = parts("irfft", given, 1);
  const std::int64_t n = length_of("irfft", fft_length.value_or(2 * (x.first.shape()[-1] - 1))),
                     bins = n / 2 + 1;
  const Tensor re = fitted(x.first, bins), im = fitted(x.second, bins);
  // The other half of the transform of real numbers is the conjugate of this half, backwards.
  const auto mirrored = [&](const Tensor& part) {
    return K::reverse(K::index(part, {Ellipsis, Slice(1, (n + 1) / 2)}), -1);
  };
  const ComplexPair whole{K::concatenate({re, mirrored(re)}, -1), K::concatenate({im, -mirrored(im)}, -1)};
  // The imaginary parts of the first and the middle element do not reach the real part of the result.
  return along_last(whole, true).first / static_cast<double>(n);
}

Tensor StftWindow::of(const char* op, std::int64_t length, std::int64_t fft_length, DType dtype) const {
  Tensor window = vector_.defined() ? K::as_dtype(vector_, dtype) : K::ones({length}, {.dtype = dtype});
  if (window.shape() != Shape{length})
    fail("[", op, "] the window must have ", length, " points: received window=", window.shape());
  if (!name_.empty()) {
    if (name_ != "hann" && name_ != "hamming")
      fail("[", op, "] window must be \"hann\", \"hamming\", None or a vector: received window=\"", name_,
           '"');
    const double base = name_ == "hann" ? 0.5 : 0.54;
    std::vector<double> points;
    for (std::int64_t i = 0; i < length; ++i)
      points.push_back(base - (1 - base) * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                                    static_cast<double>(length)));
    window = K::constant(points, {.dtype = dtype});
  }
  const std::int64_t before = (fft_length - length) / 2;
  return K::pad(window, {{before, fft_length - length - before}});
}

namespace {

void expect_frames(const char* op, std::int64_t length, std::int64_t stride, std::int64_t fft_length) {
  if (length < 1 || stride < 1 || fft_length < length)
    fail("[", op,
         "] sequence_length and stride must be at least 1, fft_length at least sequence_length: received ",
         "sequence_length=", length, ", sequence_stride=", stride, ", fft_length=", fft_length);
}

}  // namespace

ComplexPair stft(const Tensor& given, std::int64_t sequence_length, std::int64_t sequence_stride,
                 std::int64_t fft_length, const StftOptions& o) {
  Tensor x = op_helpers::floating("stft", given);
  expect_frames("stft", sequence_length, sequence_stride, fft_length);
  if (x.ndim() < 1) fail("[stft] x must have rank 1 or more: received x=()");
  const Tensor window = o.window.of("stft", sequence_length, fft_length, x.dtype());
  if (o.center) {
    std::vector<K::PaddingPair> paddings(static_cast<std::size_t>(x.ndim()), 0);
    paddings.back() = fft_length / 2;
    x = K::pad(x, paddings, {.mode = "reflect"});
  }
  return rfft(extract_sequences(x, fft_length, sequence_stride) * window, fft_length);
}

Tensor istft(const ComplexPair& x, std::int64_t sequence_length, std::int64_t sequence_stride,
             std::int64_t fft_length, const StftOptions& o) {
  expect_frames("istft", sequence_length, sequence_stride, fft_length);
  Tensor frames = irfft(x, fft_length);
  if (frames.ndim() < 2) fail("[istft] x must be (..., frames, bins): received real=", x.first.shape());
  const std::int64_t count = frames.shape()[-2];
  if (count < 1)
    fail("[istft] the number of frames must be known and at least 1: received real=", x.first.shape());
  const Tensor window = o.window.of("istft", sequence_length, fft_length, frames.dtype());
  frames = frames * window;
  const std::int64_t whole = (count - 1) * sequence_stride + fft_length;
  const auto added = [&](const Tensor& parts) {
    Tensor sum;
    for (std::int64_t f = 0; f < count; ++f) {
      std::vector<K::PaddingPair> paddings(static_cast<std::size_t>(parts.ndim()) - 1, 0);
      paddings.back() = {f * sequence_stride, whole - fft_length - f * sequence_stride};
      const Tensor placed = K::pad(K::index(parts, {Ellipsis, f, All}), paddings);
      sum = sum.defined() ? sum + placed : placed;
    }
    return sum;
  };
  Tensor signal = added(frames);
  if (!o.window.none()) {
    const Tensor weights =
        added(K::square(window) + K::zeros({count, fft_length}, {.dtype = window.dtype()}));
    signal = K::where(weights > 1e-11, signal / K::where(weights > 1e-11, weights, 1), signal);
  }
  const std::int64_t edge = o.center ? fft_length / 2 : 0;
  const std::int64_t end = o.length ? std::min(whole, edge + *o.length) : whole - edge;
  return K::index(signal, {Ellipsis, Slice(edge, end)});
}

}  // namespace ktape::ops
