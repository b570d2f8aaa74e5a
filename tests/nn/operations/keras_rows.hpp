#pragma once
#include <ktape/ktape.hpp>
#include <ktape/nn/operations/operations.hpp>

#include <string>
#include <utility>
#include <vector>

#include "../../ops/check.hpp"

/// A call of each operation of the tables, for tests that make models of them.
namespace keras_rows {

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::Tensor;

/// Calls as text: the name of the operation, then its arguments; "@x" is a tensor of `tensors`, the other values are
/// JSON.
// clang-format off
inline const std::vector<const char*>& rows() {
  static const std::vector<const char*> all{
      // element by element
      "Abs; x=@x", "Absolute; x=@x", "Angle; x=@x", "Arccos; x=@u", "Arccosh; x=@above", "Arcsin; x=@u", "Arcsinh; x=@x",
      "Arctan; x=@x", "Arctanh; x=@u", "Cbrt; x=@p", "Ceil; x=@x", "Conj; x=@x", "Conjugate; x=@x", "Cosh; x=@x", "Deg2rad; x=@x",
      "Exp2; x=@x", "Fabs; x=@x", "Floor; x=@x", "I0; x=@x", "Imag; x=@x", "Isneginf; x=@x", "Isposinf; x=@x", "Isreal; x=@x",
      "Log10; x=@p", "Log2; x=@p", "Rad2deg; x=@x", "Real; x=@x", "Signbit; x=@x", "Sinc; x=@x", "Sinh; x=@x", "Tan; x=@u",
      "Trunc; x=@x", "Erfc; x=@x", "Erfinv; x=@u", "Negative; x=@x", "Sqrt; x=@p", "Rsqrt; x=@p", "Square; x=@x",
      "Reciprocal; x=@p", "Exp; x=@x", "Expm1; x=@x", "Log; x=@p", "Log1p; x=@p", "Round; x=@x; decimals=1", "Sign; x=@x",
      "Sin; x=@x", "Cos; x=@x", "Tanh; x=@x", "Erf; x=@x", "Isnan; x=@x", "Isfinite; x=@x", "Isinf; x=@x", "LogicalNot; x=@b",
      "BitwiseNot; x=@ids", "BitwiseInvert; x=@ids", "Copy; x=@x", "identity; x=@x", "Cast; x=@x; dtype=\"float64\"",
      "OnesLike; x=@x", "ZerosLike; x=@x; dtype=\"int32\"", "Size; x=@x", "shape; x=@x",
      "Arctan2; x1=@x; x2=@y", "FloorDivide; x1=@x; x2=@p", "Fmax; x1=@x; x2=@y", "Fmin; x1=@x; x2=@y", "Fmod; x1=@x; x2=@p",
      "Gcd; x1=@ids; x2=@counts", "Heaviside; x1=@x; x2=0.5", "Hypot; x1=@x; x2=@y", "Lcm; x1=@ids; x2=@counts",
      "Logaddexp; x1=@x; x2=@y", "Logaddexp2; x1=@x; x2=@y", "Mod; x1=@x; x2=0.75", "Nextafter; x1=@x; x2=@y",
      "Gammainc; x1=@p; x2=@above", "BitwiseLeftShift; x=@ids; y=@counts", "BitwiseRightShift; x=@ids; y=@counts",
      "LeftShift; x=@ids; y=2", "RightShift; x=@ids; y=1", "Ldexp; x1=@x; x2=@ids",
      "NanToNum; x=@x; nan=1.0; posinf=2.0; neginf=-2.0", "SaturateCast; x=@x; dtype=\"int8\"",
      "Isclose; x1=@x; x2=@y; rtol=0.5; atol=0.5", "AllClose; x1=@x; x2=@y; rtol=0.5; atol=9.0",
      "Select; condlist=[@b, @b2]; choicelist=[@x, @y]; default=0.5",
      "Add; x1=@x; x2=@y", "Subtract; x1=1.5; x2=@x", "Multiply; x1=@x; x2=@y", "Divide; x1=@x; x2=@p", "TrueDivide; x1=@x; x2=@p",
      "DivideNoNan; x1=@x; x2=@whole", "Power; x1=@p; x2=@y", "Maximum; x1=@x; x2=@y", "Minimum; x1=@x; x2=0.25",
      "Equal; x1=@ids; x2=@counts", "NotEqual; x1=@x; x2=@y", "Greater; x1=@x; x2=@y", "GreaterEqual; x1=@x; x2=0.0",
      "Less; x1=@x; x2=@y", "LessEqual; x1=@x; x2=@y", "LogicalAnd; x1=@b; x2=@b2", "LogicalOr; x1=@b; x2=@b2",
      "LogicalXor; x1=@b; x2=@b2", "BitwiseAnd; x=@ids; y=@counts", "BitwiseOr; x=@ids; y=@counts", "BitwiseXor; x=@ids; y=@counts",
      "Clip; x=@x; x_min=-0.5; x_max=0.25", "Where; condition=@b; x1=@x; x2=@y",
      // activations
      "Relu; x=@x", "Relu6; x=@x", "LeakyRelu; x=@x; negative_slope=0.3", "relu; x=@x; alpha=0.1; max_value=2.0; threshold=0.5",
      "Elu; x=@x; alpha=0.5", "Celu; x=@x; alpha=0.5", "Selu; x=@x", "Gelu; x=@x; approximate=false", "Glu; x=@x; axis=2",
      "Silu; x=@x", "Sigmoid; x=@x", "HardSigmoid; x=@x", "hard_sigmoid; x=@x; slope=0.3", "HardSilu; x=@x", "HardTanh; x=@x",
      "HardShrink; x=@x; threshold=0.25", "SoftShrink; x=@x; threshold=0.25", "Threshold; x=@x; threshold=0.2; default_value=-1.0",
      "TanhShrink; x=@x", "LogSigmoid; x=@x", "Softplus; x=@x", "Softsign; x=@x", "SparsePlus; x=@x", "SparseSigmoid; x=@x",
      "Squareplus; x=@x; b=2.0", "Softmax; x=@x; axis=1", "LogSoftmax; x=@x; axis=-1", "Sparsemax; x=@x; axis=1",
      "l2_normalize; x=@x; axis=-1; epsilon=1e-6",
      // losses and layers
      "BinaryCrossentropy; target=@u; output=@u2; from_logits=false", "CategoricalCrossentropy; target=@u; output=@x; from_logits=true; axis=1",
      "SparseCategoricalCrossentropy; target=@row_ids; output=@x; from_logits=true",
      "LayerNorm; x=@x; gamma=@g; beta=@h; epsilon=0.01", "LayerNorm; x=@x; axis=1", "RMSNorm; x=@x; scale=@g; axis=-1",
      "BatchNorm; x=@x; mean=@h; variance=@positive; scale=@g; axis=2", "Normalize; x=@x; axis=-1; order=3", "Moments; x=@x; axes=[1]; keepdims=true",
      "DotProductAttention; query=@heads; key=@heads2; value=@heads; is_causal=true; scale=0.5",
      "DotProductAttention; query=@heads; key=@heads2; value=@heads; bias=@h22", "PSNR; x1=@u; x2=@u2; max_val=1.0",
      "DotProductAttention; query=@heads; key=@heads2; value=@heads; mask=@seen", "Polar; abs_=@p; angle=@x",
      "CTCLoss; target=@labels; output=@x; target_length=@one; output_length=@three; mask_index=0",
      "CTCDecode; inputs=@x; sequence_lengths=@three; strategy=\"beam_search\"; beam_width=8; top_paths=2",
      "CTCDecode; inputs=@x; sequence_lengths=@three", "StopGradient; variable=@x", "ConvertToTensor; x=@x; dtype=\"float64\"",
      "Conv; inputs=@x; kernel=@kernel; strides=2; padding=\"same\"", "DepthwiseConv; inputs=@img; kernel=@depthwise; strides=1",
      "SeparableConv; inputs=@x; depthwise_kernel=@deep; pointwise_kernel=@point; padding=\"same\"",
      "ConvTranspose; inputs=@x; kernel=@kernel_back; strides=2", "conv_transpose; x=@img; kernel=@image_kernel; output_shape=[-1, 12, 12, 2]; strides=[2, 2]; "
      "padding=\"same\"; data_format=\"channels_last\"; dilation_rate=[1, 1]",
      "MaxPool; inputs=@img; pool_size=[2, 2]", "AveragePool; inputs=@x; pool_size=2; strides=1; padding=\"same\"",
      "pool; inputs=@img; pool_size=[2, 2]; strides=[1, 1]; padding=\"valid\"; data_format=\"channels_last\"; pool_mode=\"avg\"",
      "AdaptiveMaxPool; inputs=@img; output_size=[2, 3]", "AdaptiveAveragePool; inputs=@img; output_size=4",
      "DepthToSpace; x=@deep_img; block_size=2", "SpaceToDepth; x=@img; block_size=3", "Unfold; x=@img_first; kernel_size=2; stride=2; padding=1",
      "Fold; x=@columns; output_size=[4, 4]; kernel_size=2; stride=2", "SegmentSum; data=@m; segment_ids=@segments; num_segments=4",
      "SegmentProd; data=@m; segment_ids=@segments", "SegmentMax; data=@m; segment_ids=@segments; num_segments=2; sorted=true",
      "SegmentMin; data=@m; segment_ids=@segments; num_segments=2", "ExtractSequences; x=@x; sequence_length=2; sequence_stride=1",
      "resize_images; x=@img; axis=1; factor=2", "bias_add; x=@x; bias=@g; data_format=\"channels_last\"", "prelu; x=@x; slope=@g",
      "batch_normalization; x=@img; mean=@c3; var=@p3; gamma=@p3; axis=-1; epsilon=0.01",
      "normalize_batch_in_training; x=@x; gamma=@g; reduction_axes=[0, 1]; epsilon=0.01",
      "scaled_dot_product_attention; query=@heads; key=@heads2; value=@heads; scale=null; causal=true; heads_last=false",
      "ctc_batch_cost; y_true=@labels; y_pred=@probabilities; input_length=@threes; label_length=@ones",
      "ctc_decode; y_pred=@probabilities; input_length=@three; greedy=false; beam_width=6; top_paths=2",
      "local_conv; inputs=@x; kernel=@local; kernel_size=[2]; strides=[1]; output_shape=[2]; data_format=\"channels_last\"",
      "print_tensor; x=@number; message=\"\"; summarize=0",
      // reductions
      "Sum; x=@x; axis=[1, 2]; keepdims=true", "Mean; x=@x; axis=-1", "Var; x=@x; axis=1", "Std; x=@x; axis=1", "Any; x=@b; axis=-1",
      "All; x=@b; axis=1; keepdims=true", "Logsumexp; x=@x; axis=2", "Amax; x=@x; axis=1", "Amin; x=@x", "Max; x=@x; axis=1; initial=0.0",
      "Min; x=@x; axis=1", "Prod; x=@x; axis=-1", "Norm; x=@x; ord=1; axis=1", "Norm; x=@m; ord=\"nuc\"", "Argmax; x=@x; axis=1; keepdims=true",
      "Argmin; x=@x", "Cumsum; x=@x; axis=1", "Cumprod; x=@x; axis=2; dtype=\"float64\"", "Ptp; x=@x; axis=1", "Nansum; x=@x; axis=1",
      "Nanprod; x=@x; axis=1", "Nanmean; x=@x; axis=1; keepdims=true", "Nanvar; x=@x; axis=1", "Nanstd; x=@x; axis=1", "Nanmax; x=@x; axis=1",
      "Nanmin; x=@x; axis=1", "Median; x=@x; axis=1", "Nanmedian; x=@x; axis=2; keepdims=true", "Nanargmax; x=@x; axis=1",
      "Nanargmin; x=@x; axis=1", "Nancumsum; x=@x; axis=1", "Nancumprod; x=@x; axis=1", "CountNonzero; x=@ids; axis=1",
      "Quantile; x=@x; q=@shares; axis=1; method=\"nearest\"", "Percentile; x=@x; q=@percents; axis=2; keepdims=true",
      "Nanquantile; x=@x; q=@shares; axis=[1, 2]", "Nanpercentile; x=@x; q=@percents; axis=1", "Average; x=@x; weights=@positive; axis=2",
      "Corrcoef; x=@m", "Correlate; x1=@v; x2=@w; mode=\"same\"", "Diff; a=@x; n=1; axis=1", "Trapezoid; y=@x; dx=0.5", "Trapezoid; y=@x; x=@h",
      "Sort; x=@x; axis=1", "Argsort; x=@x; axis=null", "sort; values=@x; axis=1; direction=\"DESCENDING\"",
      "argsort; values=@x; axis=1; direction=\"DESCENDING\"", "TopK; x=@x; k=2", "InTopK; targets=@row_ids0; predictions=@m; k=2",
      // shapes
      "Reshape; x=@x; newshape=[-1, 6, 2]", "Ravel; x=@x", "Transpose; x=@x; axes=[0, 2, 1]", "Moveaxis; x=@x; source=[1]; destination=[2]",
      "Swapaxes; x=@x; axis1=0; axis2=2", "ExpandDims; x=@x; axis=[1, 2]", "Squeeze; x=@unit; axis=1", "Concatenate; xs=[@x, @y]; axis=1",
      "Hstack; xs=[@x, @y]", "Vstack; xs=[@x, @y]", "Stack; x=[@x, @y]; axis=1", "Repeat; x=@x; repeats=2; axis=1", "Repeat; x=@x; repeats=[1, 0, 2]; axis=1",
      "Repeat; x=@v; repeats=3", "Tile; x=@x; repeats=[2, 1, 2]", "Flip; x=@x; axis=[1, 2]", "Slice; inputs=@x; start_indices=[0, 1, 1]; shape=[-1, 2, 2]",
      "Split; x=@x; indices_or_sections=[1, 3]; axis=2", "Unstack; x=@x; num=3; axis=1", "Pad; x=@x; pad_width=[[0, 0], [1, 2], [0, 1]]; constant_values=0.5",
      "BroadcastTo; x=@v; shape=[2, 3, 4]", "repeat_vector; x=@rows; n=2", "batch_flatten; x=@x", "sum_to; x=@m; shape=[1, 4]",
      "Rearrange; tensor=@x; pattern=\"b (h p) c -> b h (p c)\"; axes_lengths={\"p\": 3}", "Rearrange; tensor=@x; pattern=\"b t c -> t (b c)\"",
      "Fliplr; x=@x", "Flipud; x=@x", "Dstack; xs=[@x, @y]", "ColumnStack; xs=[@v, @w]", "Append; x1=@x; x2=@y; axis=1", "Append; x1=@x; x2=@y",
      "Roll; x=@x; shift=[1, -2]; axis=[1, 2]", "Roll; x=@x; shift=3", "Roll; x=@x; shift=1; axis=0", "Rot90; array=@x; k=1; axes=[1, 2]",
      "ArraySplit; x=@x; indices_or_sections=2; axis=1", "Hsplit; x=@x; indices_or_sections=[1]", "Vsplit; x=@m; indices_or_sections=3",
      "Dsplit; x=@x; indices_or_sections=2", "Diag; x=@v; k=1", "Diag; x=@m; k=-1", "Diagflat; x=@m; k=1", "Tril; x=@x; k=-1", "Triu; x=@x; k=1",
      "Triu; x=@open; k=0", "Diagonal; x=@x; offset=1; axis1=1; axis2=2", "Trace; x=@x; offset=0; axis1=1; axis2=2", "View; x=@x; dtype=\"int32\"",
      "EmptyLike; x=@x", "FullLike; x=@x; fill_value=2.5", "Array; x=@x; dtype=\"float64\"", "Linspace; start=@x; stop=@y; num=3; axis=-1",
      "Linspace; start=@v; stop=1.0; num=3; retstep=true", "Logspace; start=@u; stop=@u2; num=3", "Geomspace; start=@p; stop=@above; num=3; axis=1",
      "Meshgrid; x=[@v, @w]; indexing=\"ij\"", "Vander; x=@v; N=3; increasing=true", "Arange; start=@number", "Arange; start=1.0; stop=@number; step=0.5",
      "full; shape=@extents; value=1.5; dtype=\"float32\"", "eye; size=@extents; dtype=\"float32\"",
      // indices
      "GetItem; x=@x; key=[{\"start\": null, \"stop\": null, \"step\": -1}, 1, \"...\", null]", "Take; x=@x; indices=@places; axis=1", "Take; x=@x; indices=@places",
      "OneHot; x=@ids; num_classes=3; axis=1", "Scatter; indices=@multi; values=@v; shape=[5, 2]", "gather_nd; params=@x; indices=@multi",
      "boolean_mask; tensor=@x; mask=@b", "TakeAlongAxis; x=@x; indices=@ids; axis=1", "SliceUpdate; inputs=@m; start_indices=[1, 0]; updates=@block",
      "ScatterUpdate; inputs=@m; indices=@multi3; updates=@three_values; reduction=\"add\"", "ScatterUpdate; inputs=@m; indices=@multi3; updates=@three_values",
      "MultiHot; inputs=@ids; num_classes=4", "Nonzero; x=@b", "UnravelIndex; indices=@ids; shape=[2, 2]", "SearchSorted; sorted_sequence=@bounds; values=@x; side=\"right\"",
      "Digitize; x=@x; bins=@bounds", "Bincount; x=@vi; minlength=5", "Bincount; x=@vi; weights=@w", "Histogram; x=@v; bins=4; range=[-2.0, 2.0]", "Histogram; x=@v; bins=3",
      "Unique; x=@ids; return_index=true; return_inverse=true; return_counts=true", "Unique; x=@ids; size=5; fill_value=-1", "IsIn; x1=@ids; x2=@vi; invert=true",
      "Argpartition; x=@x; kth=1; axis=1",
      // linear algebra
      "Matmul; x1=@x; x2=@turned", "matmul; a=@x; b=@y; transpose_a=false; transpose_b=true", "Dot; x1=@x; x2=@square", "batch_dot; x=@x; y=@y; axes=[2, 2]",
      "Einsum; operands=[@x, @y]; subscripts=\"bij,bkj->bik\"", "Inner; x1=@v; x2=@w", "Outer; x1=@x; x2=@v", "Vdot; x1=@x; x2=@y", "Kron; x1=@x; x2=@square",
      "Cross; x1=@three_d; x2=@three_d2", "Cross; x1=@three_d; x2=@three_d2; axisc=1", "Tensordot; x1=@x; x2=@y; axes=[[1, 2], [1, 2]]", "Tensordot; x1=@x; x2=@square; axes=1", "CDist; x=@m; y=@square", "Cholesky; x=@spd", "Cholesky; x=@spd; upper=true",
      "CholeskyInverse; x=@lower", "Det; x=@spd", "Inv; x=@spd", "Logdet; x=@spd", "Slogdet; x=@spd", "Solve; a=@spd; b=@turned",
      "SolveTriangular; a=@lower; b=@turned; lower=true", "LuFactor; x=@spd", "Qr; x=@x; mode=\"complete\"", "SVD; x=@x; full_matrices=false", "SVD; x=@x; compute_uv=false",
      "Eigh; x=@spd", "Eig; x=@spd", "Lstsq; a=@turned; b=@w", "Pinv; x=@x; rcond=0.001", "MatrixPower; x=@spd; n=-2", "MatrixRank; x=@x; tol=0.01",
      // signals and images
      "FFT; x=[@x, @y]", "fourier_transform; x=[@x, @y]; inverse=true", "FFT2; x=[@x, @y]", "IFFT2; x=[@x, @y]", "RFFT; x=@x; fft_length=6", "IRFFT; x=[@x, @y]; fft_length=6",
      "STFT; x=@signal; sequence_length=6; sequence_stride=3; fft_length=8", "ISTFT; x=[@frames, @frames2]; sequence_length=6; sequence_stride=3; fft_length=6; window=\"hamming\"",
      "Full; fill_value=@number; shape=[2, 2]", "RGBToGrayscale; images=@img", "RGBToHSV; images=@img_u", "HSVToRGB; images=@img_u", "Resize; images=@img; size=[4, 3]; interpolation=\"bicubic\"; antialias=true",
      "GaussianBlur; images=@img; kernel_size=[3, 5]; sigma=[1.0, 2.0]", "SobelEdges; images=@img", "SobelEdges; images=@img; data_format=\"channels_first\"", "ExtractPatches; images=@img; size=2; strides=2", "ReconstructPatches; patches=@patches; size=2; output_size=[4, 4]", "ReconstructPatches; patches=@patches; size=2; output_size=[3, 4]; padding=\"same\"",
      "PadImages; images=@img; top_padding=1; left_padding=2; target_height=8; target_width=9", "CropImages; images=@img; top_cropping=1; left_cropping=1; target_height=3; target_width=4",
      "MapCoordinates; inputs=@m; coordinates=@coordinates; order=1; fill_mode=\"reflect\"", "AffineTransform; images=@img; transform=@transform; fill_mode=\"nearest\"",
      "PerspectiveTransform; images=@img; start_points=@corners; end_points=@corners2", "ElasticTransform; images=@img; alpha=2.0; sigma=1.0; seed=3",
      "ScaleAndTranslate; images=@image; output_shape=[5, 7, 3]; scale=@two; translation=@two; spatial_dims=[0, 1]; method=\"linear\"; antialias=false",
      "SSIM; image1=@img_u; image2=@img_u; filter_size=3"};
  return all;
}
// clang-format on

/// The tensors that the calls take, made of x and y, (batch, 3, 4), of which x depends on a weight.
class Tensors {
 public:
  Tensors(const Tensor& x, const Tensor& y) : x_(x), y_(y) {}
  Tensor operator[](const std::string& name) const;

 private:
  Tensor made(const std::string& name) const;
  Tensor image(const Tensor& x) const { return K::reshape(K::tile(x, {1, 3, 3}), {-1, 6, 6, 3}); }

  Tensor x_, y_;
};

/// Returns the operation and the arguments of a row.
std::pair<const nn::Operation*, nn::OperationCall> call_of(const std::string& row, const Tensors& tensors);

}  // namespace keras_rows
