#include <ktape/autograd/base/called_op.hpp>
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
#include <ktape/ops/kernels/fourier/real_fft.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <numbers>

namespace ktape::ops {

namespace K = backend;

namespace {

using List = std::vector<Tensor>;

template <class T>
kernels::Parts<T> parts_of(const Tensor& re, const Tensor& im) {
  return {re.pointer<T>(), im.pointer<T>()};
}

/// Returns the rows of n elements for which a second thread pays.
std::int64_t rows_for_a_thread(std::int64_t n) {
  return std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(n, 1));
}

template <class T>
void transform_rows(std::int64_t n, std::int64_t rows, kernels::Parts<const T> x, kernels::Parts<T> out) {
  const auto transform = kernels::FourierTransform<T>::of(n);
  parallel_for(rows, rows_for_a_thread(n), [&](std::int64_t begin, std::int64_t end) {
    transform->rows(end - begin, x + begin * n, out + begin * n);
  });
}

/// Transforms the columns of matrices, n x width.
template <class T>
void transform_columns(std::int64_t n, std::int64_t width, std::int64_t matrices, kernels::Parts<const T> x,
                       kernels::Parts<T> out) {
  const auto transform = kernels::FourierTransform<T>::of(n);
  constexpr std::int64_t block = 64;
  const std::int64_t blocks = (width + block - 1) / block;
  parallel_for(matrices * blocks, rows_for_a_thread(n * block), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % blocks * block, at = i / blocks * n * width + first;
      transform->columns(std::min(block, width - first), {x.re + at, x.im + at, width},
                         {out.re + at, out.im + at, width});
    }
  });
}

enum class Along { Rows, Columns };

/// Returns the transform along the last axis, or along the axis before the last one, not normalized. Its adjoint is the
/// transform in the other direction.
List transformed(const Tensor& re, const Tensor& im, bool inverse, Along along) {
  Tensor real = Tensor::empty_like(re), imag = Tensor::empty_like(im);
  if (re.size() > 0)
    dispatch_native_floating(re.dtype(), [&]<class T>() {
      const auto given = parts_of<const T>(re, im);
      const auto result = parts_of<T>(real, imag);
      const auto x = inverse ? given.exchanged() : given;
      const auto out = inverse ? result.exchanged() : result;
      const std::int64_t last = re.shape()[-1], n = along == Along::Rows ? last : re.shape()[-2];
      if (along == Along::Rows) transform_rows<T>(n, re.size() / n, x, out);
      else transform_columns<T>(n, last, re.size() / n / last, x, out);
    });
  if (recording(re, im)) {
    const Tensor outs[] = {real, imag};
    record("fft", outs, {re, im}, [inverse, along, like = real.detach()](Grads& grads) {
      const auto or_zeros = [&](const Tensor& g) { return g.defined() ? g : K::zeros_like(like); };
      const List back = transformed(or_zeros(grads.output(0)), or_zeros(grads.output(1)), !inverse, along);
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
  const bool half = re.dtype().is_half();
  return {half ? K::cast(re, DType::Float32) : re, half ? K::cast(im, DType::Float32) : im};
}

List transformed_rows(const List& parts, bool inverse) {
  if (!is_symbolic(parts)) return transformed(parts[0], parts[1], inverse, Along::Rows);
  return defer_described("fft", {info_of(parts[0]), info_of(parts[0])}, transformed_rows, parts, inverse);
}

ComplexPair along_last(const ComplexPair& x, bool inverse) {
  const List found = transformed_rows({x.first, x.second}, inverse);
  return {found[0], found[1]};
}

ComplexPair each(const ComplexPair& x, const std::function<Tensor(const Tensor&)>& f) {
  return {f(x.first), f(x.second)};
}

ComplexPair along_last_two(const ComplexPair& x, bool inverse) {
  if (!is_symbolic(x.first, x.second)) {
    const List rows = transformed(x.first, x.second, inverse, Along::Rows);
    const List both = transformed(rows[0], rows[1], inverse, Along::Columns);
    return {both[0], both[1]};
  }
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

ComplexPair fft(const ComplexPair& x) {
  const CalledOp called("fft");
  return along_last(parts("fft", x, 1), false);
}
ComplexPair fft2(const ComplexPair& x) { return along_last_two(parts("fft2", x, 2), false); }

ComplexPair ifft2(const ComplexPair& given) {
  const CalledOp called("ifft2");
  const ComplexPair x = parts("ifft2", given, 2), sums = along_last_two(x, true);
  const std::int64_t n = x.first.shape().count(x.first.ndim() - 2);
  if (n < 0) fail("[ifft2] the extents of the last two axes must be known: received real=", x.first.shape());
  return each(sums, [n](const Tensor& part) { return part / static_cast<double>(n); });
}

namespace {

/// Returns 1 for the first element and, if n is even, for the last one, 2 for the others: how often each of the n / 2 + 1
/// elements stands in the transform of n real numbers.
Tensor multiplicity(std::int64_t n, DType dtype) {
  std::vector<double> times(static_cast<std::size_t>(n / 2 + 1), 2);
  times[0] = 1;
  if (n % 2 == 0) times.back() = 1;
  return K::constant(times, {.dtype = dtype});
}

List real_transform(const Tensor& x, std::int64_t n);

/// Returns the n real numbers whose transform has the given first n / 2 + 1 elements, times n.
Tensor real_numbers(const List& bins, std::int64_t n) {
  const Tensor &re = bins[0], &im = bins[1];
  Shape shape = re.shape();
  shape[-1] = n;
  Tensor out = Tensor::empty(shape, re.dtype(), "irfft");
  if (out.size() > 0)
    dispatch_native_floating(re.dtype(), [&]<class T>() {
      const auto transform = kernels::RealTransform<T>::of(n);
      parallel_for(out.size() / n, rows_for_a_thread(n), [&](std::int64_t begin, std::int64_t end) {
        transform->backward(end - begin, parts_of<const T>(re, im) + begin * (n / 2 + 1),
                            out.pointer<T>() + begin * n);
      });
    });
  if (recording(re, im))
    record("irfft", out, {re, im}, [n](const Tensor& g, Grads& grads) {
      const List back = real_transform(g, n);
      const Tensor times = multiplicity(n, g.dtype());
      grads.to(0, [&] { return back[0] * times; });
      grads.to(1, [&] { return back[1] * times; });
    });
  return out;
}

/// Returns the first n / 2 + 1 elements of the transform of n real numbers.
List real_transform(const Tensor& x, std::int64_t n) {
  Shape shape = x.shape();
  shape[-1] = n / 2 + 1;
  const OutputInfo info{shape, x.dtype()};
  if (is_symbolic(x)) return defer_described("rfft", {info, info}, real_transform, x, n);
  Tensor real = Tensor::empty(shape, x.dtype(), "rfft"), imag = Tensor::empty(shape, x.dtype());
  if (x.size() > 0)
    dispatch_native_floating(x.dtype(), [&]<class T>() {
      const auto transform = kernels::RealTransform<T>::of(n);
      parallel_for(x.size() / n, rows_for_a_thread(n), [&](std::int64_t begin, std::int64_t end) {
        transform->forward(end - begin, x.pointer<const T>() + begin * n,
                           parts_of<T>(real, imag) + begin * (n / 2 + 1));
      });
    });
  if (recording(x)) {
    const Tensor outs[] = {real, imag};
    record("rfft", outs, {x}, [n, like = real.detach()](Grads& grads) {
      grads.to(0, [&] {
        const Tensor times = multiplicity(n, like.dtype());
        const auto shared = [&](const Tensor& g) { return g.defined() ? g / times : K::zeros_like(like); };
        return real_numbers({shared(grads.output(0)), shared(grads.output(1))}, n);
      });
    });
  }
  return {real, imag};
}

Tensor scaled_real_numbers(const List& bins, std::int64_t n) {
  Shape shape = bins[0].shape();
  shape[-1] = n;
  if (is_symbolic(bins))
    return defer_described("irfft", {shape, bins[0].dtype()}, scaled_real_numbers, bins, n);
  return real_numbers(bins, n) / static_cast<double>(n);
}

}  // namespace

ComplexPair rfft(const Tensor& given, std::optional<std::int64_t> fft_length) {
  const CalledOp called("rfft");
  const Tensor floats = op_helpers::floating("rfft", given);
  if (floats.ndim() < 1) fail("[rfft] x must have rank 1 or more: received x=()");
  const std::int64_t n = length_of("rfft", fft_length.value_or(floats.shape()[-1]));
  const Tensor x = fitted(floats.dtype().is_half() ? K::cast(floats, DType::Float32) : floats, n);
  const List found = real_transform(x, n);
  return {found[0], found[1]};
}

Tensor irfft(const ComplexPair& given, std::optional<std::int64_t> fft_length) {
  const CalledOp called("irfft");
  const ComplexPair x = parts("irfft", given, 1);
  const std::int64_t n = length_of("irfft", fft_length.value_or(2 * (x.first.shape()[-1] - 1)));
  return scaled_real_numbers({fitted(x.first, n / 2 + 1), fitted(x.second, n / 2 + 1)}, n);
}

Tensor StftWindow::of(const char* op, std::int64_t length, std::int64_t fft_length, DType dtype) const {
  if (none()) return K::ones({fft_length}, {.dtype = dtype});
  Tensor window = vector_.defined() ? K::as_dtype(vector_, dtype) : K::ones({length}, {.dtype = dtype});
  if (window.shape() != Shape{length})
    fail("[", op, "] the window must have ", length, " points: received window=", window.shape());
  if (!name_.empty()) {
    if (name_ != "hann" && name_ != "hamming")
      fail("[", op, "] window must be \"hann\", \"hamming\", None or a vector: received window=\"", name_,
           '"');
    const double base = length == 1       ? 1
                        : name_ == "hann" ? 0.5
                                          : 0.54;  // one point is 1, not the start of the wave
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
  const CalledOp called("stft");
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
  const CalledOp called("istft");
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

namespace ktape::nn {
namespace {

std::vector<Tensor> parts(const ops::ComplexPair& pair) { return {pair.first, pair.second}; }

ops::ComplexPair complex(const OperationCall& call) {
  const std::vector<Tensor>& x = call.tensors("x");
  if (x.size() != 2)
    fail(call.what("x"), " must be a real and an imaginary part: received ", x.size(), " tensors");
  return {x[0], x[1]};
}

template <ops::ComplexPair (*f)(const ops::ComplexPair&)>
std::vector<Tensor> transform(const OperationCall& call) {
  return parts(f(complex(call)));
}

/// Returns the transform, or the inverse transform times the number of elements.
std::vector<Tensor> fourier_transform(const OperationCall& call) {
  const ops::ComplexPair x = complex(call);
  if (!call.flag("inverse")) return parts(ops::fft(x));
  const auto [imaginary, real] = ops::fft({x.second, x.first});  // as the op, so that the bits are equal
  return {real, imaginary};
}

const char* written_transform(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("inverse") == Value(true)) return nullptr;
  attributes = {};
  return "FFT";
}

ops::StftOptions window_options(const OperationCall& call) {
  ops::StftOptions options{.window = None, .center = call.flag("center")};
  if (call.has("window")) options.window = call.text("window");
  return options;
}

std::vector<Tensor> stft(const OperationCall& call) {
  return parts(ops::stft(call.tensor("x"), call.integer("sequence_length"), call.integer("sequence_stride"),
                         call.integer("fft_length"), window_options(call)));
}

Tensor istft(const OperationCall& call) {
  ops::StftOptions options = window_options(call);
  options.length = call.value("length").as<std::optional<std::int64_t>>(call.what("length"));
  return ops::istft(complex(call), call.integer("sequence_length"), call.integer("sequence_stride"),
                    call.integer("fft_length"), options);
}

Tensor irfft(const OperationCall& call) {
  return ops::irfft(complex(call),
                    call.value("fft_length").as<std::optional<std::int64_t>>(call.what("fft_length")));
}

}  // namespace

Operations fourier_operations() {
  static constexpr Operation rows[] = {
      {"FFT", "math", "x;", transform<ops::fft>, "-"},
      {"fourier_transform", "", "x; inverse", fourier_transform, "fft", "", written_transform},
      {"FFT2", "math", "x;", transform<ops::fft2>, "-"},
      {"IFFT2", "math", "x;", transform<ops::ifft2>, "-"},
      {"RFFT", "math", "x; fft_length=null", calls<ops::rfft>, "rfft"},
      {"IRFFT", "math", "x; fft_length=null", irfft, "irfft"},
      {"STFT", "math", "x; sequence_length, sequence_stride, fft_length, window=\"hann\", center=true", stft,
       "-"},
      {"ISTFT", "math",
       "x; sequence_length, sequence_stride, fft_length, length=null, window=\"hann\", center=true", istft,
       "-"},
  };
  return rows;
}

}  // namespace ktape::nn
