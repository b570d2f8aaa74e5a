#pragma once
#include <ktape/nn/data/dataset.hpp>

#include <string>

namespace ktape::data {

/// Reads an IDX file, plain or gzip-compressed, with its shape and dtype: uint8, int8, int16, int32, float32
/// or float64. MNIST, Fashion-MNIST and EMNIST are published as IDX files. Throws IOError, naming the file,
/// for a file that is missing, truncated or no IDX file, and for a gzip file that inflates to more than 64 MB
/// and 32 times its size.
///
///     Tensor images = data::load_idx("t10k-images-idx3-ubyte.gz");       // (10000, 28, 28), uint8
///
/// For example:
///
///     std::ofstream file("t10k-labels-idx1-ubyte", std::ios::binary);
///     file << std::string("\0\0\x08\x01\0\0\0\x03\x07\x02\x01", 11);
///     file.close();
///     std::cout << data::load_idx("t10k-labels-idx1-ubyte");
Tensor load_idx(const std::string& path);

/// Returns the images, (n, 28, 28) or of another size, and labels, (n,), of MNIST, or of a data set in the
/// format of MNIST, from a folder: both uint8. The part is "train" or "test"; the files have their published
/// names, such as `train-images-idx3-ubyte.gz` or `t10k-labels.idx1-ubyte`. Throws the errors of `load_idx`,
/// IOError for different numbers of labels and images, and ValueError for an unknown part.
///
///     // Two images of one pixel and their labels, in the format of MNIST.
///     std::filesystem::create_directory("mnist");
///     std::ofstream("mnist/t10k-labels-idx1-ubyte", std::ios::binary)
///         << std::string("\0\0\x08\x01\0\0\0\x02\x07\x02", 10);
///     std::ofstream("mnist/t10k-images-idx3-ubyte", std::ios::binary)
///         << std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01\xff\x40", 18);
///     data::Element test = data::load_mnist("mnist", "test");
///     std::cout << test[0].shape() << " " << test[1];
Element load_mnist(const std::string& folder, const std::string& part = "train");

}  // namespace ktape::data
