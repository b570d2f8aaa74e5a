#pragma once
#include <ktape/ops/kernels/network/network.hpp>

/// Rewrites of a network, each of which leaves the results as they are, up to rounding.
namespace ktape::kernels {

/// Makes zeros around images the padding of the convolution that reads the images. Padding before max pooling
/// is absorbed where the images hold no negative number.
void absorb_padding(Network& network);
/// Moves the normalization of a convolution's or product's results into the convolution or product.
void fold_normalization(Network& network);
/// Moves a sum into a convolution or product that makes one of the summands.
void fuse_sums(Network& network);
/// Moves functions into the convolution, product, normalization or function that makes their argument.
void fuse_functions(Network& network);
/// Removes nodes on which no output depends. Inputs stay.
void remove_unused(Network& network);

/// Runs all passes.
void optimize(Network& network);

/// Returns, for each node, the number of its readers; an output has one reader more.
std::vector<int> count_readers(const Network& network);
/// Makes the readers of node `from` read node `to`.
void redirect(Network& network, int from, int to);

}  // namespace ktape::kernels
