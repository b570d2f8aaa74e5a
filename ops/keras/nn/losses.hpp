#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <string>

/// Crossentropies, connectionist temporal classification and rearrangements of channels of keras.ops. Differentiable to any order
/// with respect to the floating arguments unless a comment says otherwise; shapes and names that do not fit are a ValueError.
///
///     ops::categorical_crossentropy(target, output), ops::psnr(x, output, 1), ops::depth_to_space(x, 2);
///     ops::sparse_categorical_crossentropy(classes, output), ops::binary_crossentropy(target, output, true);
///     ops::ctc_loss(labels, logits, label_lengths, lengths), ops::ctc_decode(logits, lengths).decoded;
///     ops::space_to_depth(image, 2), ops::polar(x, output).real;
namespace ktape::ops {

/// Returns -sum(target * log(p)) along the axis, with p = output / sum(output) clipped to [epsilon(), 1 - epsilon()]; from
/// logits, p is the softmax of the output.
///
///     std::cout << ops::categorical_crossentropy(K::constant({{0., 1.}}),
///                                                K::constant({{0.2, 0.8}}));
Tensor categorical_crossentropy(const Tensor& target, const Tensor& output, bool from_logits = false,
                                int axis = -1);
/// Returns -log(p[target]), p as above; the target holds class numbers, with or without a last axis of extent 1. Throws
/// ValueError for a number that is no class.
///
///     std::cout << ops::sparse_categorical_crossentropy(
///         K::constant({1}, {.dtype = "int32"}), K::constant({{0.2, 0.8}}));
Tensor sparse_categorical_crossentropy(const Tensor& target, const Tensor& output, bool from_logits = false,
                                       int axis = -1);
/// Returns -(t log(p) + (1 - t) log(1 - p)) for each element, with p = output clipped to [epsilon(), 1 - epsilon()]; from logits,
/// p is the sigmoid of the output.
///
///     std::cout << ops::binary_crossentropy(K::constant({1., 0.}),
///                                           K::constant({0.9, 0.2}));
Tensor binary_crossentropy(const Tensor& target, const Tensor& output, bool from_logits = false);

/// Returns -log of the probability that the softmax of the output, (batch, time, classes), spells the target, (batch, labels),
/// for each sample, in at least float32; the class mask_index stands between labels. Lengths are (batch,). Too few steps give
/// infinity, with the slope 0.
///
///     Tensor labels = K::constant({{1, 2}}, {.dtype = "int32"}),
///            scores = ops::zeros({1, 4, 3});
///     std::cout << ops::ctc_loss(labels, scores, K::constant({2}, {.dtype = "int32"}),
///                                K::constant({4}, {.dtype = "int32"}));
Tensor ctc_loss(const Tensor& target, const Tensor& output, const Tensor& target_length,
                const Tensor& output_length, int mask_index = 0);

struct CtcDecodeOptions {
  std::string strategy = "greedy";  ///< "greedy" or "beam_search"
  int beam_width = 100, top_paths = 1;
  bool merge_repeated = true;  ///< greedy: equal neighbours are one label
  int mask_index = 0;
};

struct CtcPaths {
  Tensor decoded, scores;
};

/// Returns label sequences, (paths, batch, time) of int32 with -1 after the end, and their scores, (batch, paths). Greedy takes
/// the largest input of each step, and the score is minus the sum of these inputs; the beam search takes the softmax of the inputs,
/// and scores are logarithms of probabilities. No gradient.
///
///     Tensor scores =
///         K::constant({{{0., 5., 0.}, {0., 5., 0.}, {5., 0., 0.}, {0., 0., 5.}}});
///     ops::CtcPaths paths = ops::ctc_decode(
///         scores, K::constant({4}, {.dtype = "int32"}), {.mask_index = 0});
///     std::cout << paths.decoded << " " << paths.scores;
CtcPaths ctc_decode(const Tensor& inputs, const Tensor& sequence_lengths,
                    const CtcDecodeOptions& options = {});

/// Returns blocks of channels as blocks of pixels, or the inverse: channels are (row of the block, column, channel), with
/// "channels_first" (channel, row, column).
///
///     Tensor x = ops::reshape(ops::arange(0., 4.), {1, 1, 1, 4});
///     std::cout << ops::depth_to_space(x, 2).shape() << " "
///               << ops::space_to_depth(ops::depth_to_space(x, 2), 2).shape();
Tensor depth_to_space(const Tensor& x, std::int64_t block_size,
                      const std::string& data_format = "channels_last");
Tensor space_to_depth(const Tensor& x, std::int64_t block_size,
                      const std::string& data_format = "channels_last");
/// Returns abs_ cos(angle) and abs_ sin(angle).
///
///     auto [real, imag] = ops::polar(K::constant({2.}), K::constant({1.5707963}));
///     std::cout << real << " " << imag;
struct Complex {
  Tensor real, imag;
};
Complex polar(const Tensor& abs_, const Tensor& angle);
/// Returns the signal-to-noise ratio 20 log10(max_val) - 10 log10(mean((x1 - x2)^2)), one number.
///
///     Tensor a = ops::zeros({1, 16, 16, 1}), b = ops::full({1, 16, 16, 1}, 0.1);
///     std::cout << ops::psnr(a, b, 1) << " " << ops::ssim(a, a);
Tensor psnr(const Tensor& x1, const Tensor& x2, double max_val);

}  // namespace ktape::ops
