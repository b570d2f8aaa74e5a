#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <string>
#include <utility>

/// Fourier transforms of keras.ops over the last axis, or the last two. A complex tensor is a pair of its real and imaginary
/// parts, of one shape (ValueError otherwise). Integers are converted to floatx(); float16 and bfloat16 are computed in float32.
/// Differentiable to any order.
///
///     auto [real, imag] = ops::rfft(signal);
///     Tensor same = ops::irfft({real, imag}), spectrum = ops::stft(signal, 256, 128, 256).first;
///     ops::fft({real, imag}), ops::fft2({real, imag}), ops::ifft2({real, imag}).first;
///     ops::istft(ops::stft(signal, 256, 128, 256), 256, 128, 256);
namespace ktape::ops {

/// Complex numbers: a tensor of their real parts, and a tensor of their imaginary parts.
///
///     ops::ComplexPair spectrum = ops::rfft(K::constant({1., 2., 3., 4.}));
///     std::cout << spectrum.second;
using ComplexPair = std::pair<Tensor, Tensor>;

/// Returns sum over j of x[j] exp(-2 pi i j k / n), along one or two axes; the inverse divides by the number of elements.
///
///     Tensor real = K::constant({1., 0., 0., 0.}), zero = ops::zeros({4});
///     std::cout << ops::fft({real, zero}).first;
ComplexPair fft(const ComplexPair& x);
ComplexPair fft2(const ComplexPair& x);
ComplexPair ifft2(const ComplexPair& x);
/// Returns the first n / 2 + 1 elements of the transform of real numbers, which are cut, or filled with zeros, to fft_length;
/// `irfft` returns the fft_length real numbers (by default 2 (bins - 1)) with these elements.
///
///     auto spectrum = ops::rfft(K::constant({1., 2., 3., 4.}));
///     std::cout << spectrum.first << "\n" << ops::irfft(spectrum);
ComplexPair rfft(const Tensor& x, std::optional<std::int64_t> fft_length = {});
Tensor irfft(const ComplexPair& x, std::optional<std::int64_t> fft_length = {});

/// The window of a short-time transform: "hann" or "hamming" (periodic), None for ones, or a vector.
///
///     std::cout << ops::stft(ops::ones({64}), 16, 8, 16,
///                            {.window = "hamming", .center = false})
///                      .first.shape();
class StftWindow {
 public:
  StftWindow(NoneType) {}
  StftWindow(const char* name) : name_(name) {}
  StftWindow(const std::string& name) : name_(name) {}
  StftWindow(const Tensor& vector) : vector_(vector) {}
  bool none() const { return name_.empty() && !vector_.defined(); }
  /// Returns the window of `length` points, with zeros on both sides up to `fft_length`; for None, `fft_length` ones.
  Tensor of(const char* op, std::int64_t length, std::int64_t fft_length, DType dtype) const;

 private:
  std::string name_;
  Tensor vector_;
};

struct StftOptions {
  std::optional<std::int64_t> length = {};  ///< `istft`: the length of the result
  StftWindow window = "hann";
  bool center = true;  ///< the signal is reflected by fft_length / 2 at each end
};

/// Returns the transforms of windows of the signal, sequence_length long and sequence_stride apart: (..., frames, bins). The inverse
/// adds up the frames; with a window, it divides by the sum of the squares of the windows.
///
///     Tensor signal = ops::sin(ops::arange(0., 64.));
///     auto spectrum = ops::stft(signal, 16, 8, 16);
///     std::cout << spectrum.first.shape() << " "
///               << ops::istft(spectrum, 16, 8, 16).shape() << "\n"
///               << ops::istft(spectrum, 16, 8, 16, {.length = 50}).shape();
ComplexPair stft(const Tensor& x, std::int64_t sequence_length, std::int64_t sequence_stride,
                 std::int64_t fft_length, const StftOptions& options = {});
Tensor istft(const ComplexPair& x, std::int64_t sequence_length, std::int64_t sequence_stride,
             std::int64_t fft_length, const StftOptions& options = {});

}  // namespace ktape::ops
