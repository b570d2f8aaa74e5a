#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/fft/fft.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>

/// Fourier transforms, whose complex tensors are pairs of a real and an imaginary part, eigenvalues, and tensors that follow from
/// numbers.
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
  options.length = optional_integer(call, "length");
  return ops::istft(complex(call), call.integer("sequence_length"), call.integer("sequence_stride"),
                    call.integer("fft_length"), options);
}

Tensor full(const OperationCall& call) {
  const Tensor value = call.tensor("fill_value");
  const Tensor typed = call.has("dtype") ? backend::cast(value, *call.dtype()) : value;
  return ops::broadcast_to(typed, call.shape("shape"));
}

}  // namespace

void add_signal_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"FFT", "math", "x;", transform<ops::fft>, "-"},
      {"fourier_transform", "", "x; inverse", fourier_transform, "fft", "", written_transform},
      {"FFT2", "math", "x;", transform<ops::fft2>, "-"},
      {"IFFT2", "math", "x;", transform<ops::ifft2>, "-"},
      {"RFFT", "math", "x; fft_length=null",
       [](const OperationCall& call) {
         return parts(ops::rfft(call.tensor("x"), optional_integer(call, "fft_length")));
       },
       "rfft"},
      {"IRFFT", "math", "x; fft_length=null",
       [](const OperationCall& call) {
         return ops::irfft(complex(call), optional_integer(call, "fft_length"));
       },
       "irfft"},
      {"STFT", "math", "x; sequence_length, sequence_stride, fft_length, window=\"hann\", center=true", stft,
       "-"},
      {"ISTFT", "math",
       "x; sequence_length, sequence_stride, fft_length, length=null, window=\"hann\", center=true", istft,
       "-"},
      {"Eig", "linalg", "x;",
       [](const OperationCall& call) {
         const ops::Eig found = ops::eig(call.tensor("x"));
         return std::vector{found.w_real, found.w_imag, found.v_real, found.v_imag};
       },
       "eig"},
      {"Ndim", "numpy", "x;",
       [](const OperationCall& call) {
         return backend::constant(call.tensor("x").ndim(), {.dtype = DType::Int32});
       },
       "-"},
      {"Full", "numpy", "fill_value; shape, dtype=null", full, "-"},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
