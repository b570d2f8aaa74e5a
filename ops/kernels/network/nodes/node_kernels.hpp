#pragma once
#include <ktape/ops/kernels/network/network.hpp>

/// Kernels of ktape's own for the nodes of networks: what oneDNN has no primitive for.
namespace ktape::kernels {

/// Returns a kernel that normalizes each row of `n` numbers. Weights: gamma and beta, each of which may be
/// left out.
std::shared_ptr<const NodeKernel> layer_normalization_kernel(std::int64_t rows, std::int64_t n,
                                                             double epsilon, bool gamma, bool beta);

/// Returns a kernel of attention of each query over all keys. Inputs: queries, keys and values as (batch,
/// steps, heads, channels).
struct AttentionExtents {
  std::int64_t batch, heads, queries, keys, dim, value_dim;
  double scale;
  bool causal = false;
  bool paired = false;  ///< whether products round their operands to bfloat16, if has_pair_products
};
std::shared_ptr<const NodeKernel> attention_kernel(const AttentionExtents& extents);

/// A cell over whole sequences.
struct RecurrentDescription {
  enum class Cell { Simple, Lstm, Gru } cell;
  bool relu = false;  ///< of a simple cell: relu in place of tanh
  std::int64_t samples, steps, units;
  bool go_backwards = false, return_sequences = false;
};
/// Returns the columns of the product of inputs and kernel that `recurrent_kernel` reads.
std::shared_ptr<const std::vector<int>> recurrent_columns(RecurrentDescription::Cell cell,
                                                          std::int64_t units);
/// Returns a kernel that runs the cell. Input: the product of the inputs and the kernel, in the order of
/// `recurrent_columns`. Weights: the recurrent kernel (units, gates * units); the bias, which may be left out, with
/// a number for each column, and of Gru two such rows.
std::shared_ptr<const NodeKernel> recurrent_kernel(const RecurrentDescription& description);

/// Returns a kernel of x where x > 0, else of x times the weight of its channel: (rows, channels).
std::shared_ptr<const NodeKernel> prelu_kernel(std::int64_t rows, std::int64_t channels);

/// Returns a kernel that permutes axes: axis k of the result is axis `axes[k]` of the input.
std::shared_ptr<const NodeKernel> permute_kernel(const std::vector<std::int64_t>& shape,
                                                 const std::vector<int>& axes);

/// Returns a kernel that reverses the order of the steps: (samples, steps, n).
std::shared_ptr<const NodeKernel> reversal_kernel(std::int64_t samples, std::int64_t steps, std::int64_t n);

/// Replaces products of few multiplications, with the functions after them, by a kernel that starts faster than
/// a primitive of oneDNN. The last pass over a network.
void use_small_products(Network& network);

}  // namespace ktape::kernels
