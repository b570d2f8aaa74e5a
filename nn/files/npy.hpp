#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

/// Reading and writing of NumPy's files.
namespace ktape::data {

/// Returns the array of a .npy file, plain or gzip-compressed, in either byte order and either order of axes:
/// bool, integers, float16 to float64, and bfloat16, for which NumPy has no type: ml_dtypes writes elements of two
/// bytes, `V2`, and `V2` is read as bfloat16. uint16 becomes int32, uint32 and uint64 int64. Throws IOError, naming
/// the file, for a file that is missing, truncated or not a .npy file, for other contents such as objects
/// (pickles), and for compressed data that inflate to more than 64 MB and 32 times their size, because a
/// small file must not fill the memory. Mirrors `numpy.load`.
///
///     data::save_npy("x.npy", K::constant({1., 2.}));
///     std::cout << data::load_npy("x.npy");
Tensor load_npy(const std::string& path);

/// Returns the arrays of a .npz file and their names, without ".npy", in the order of the file. Throws the
/// errors of `load_npy`, naming the entry, too, and IOError for a damaged archive: a wrong checksum, entries
/// that overlap or share a name, names that leave the folder, and arrays that inflate, in all, to more than
/// 64 MB and 32 times the size of the file. Mirrors `numpy.load`.
///
///     for (const auto& [name, array] : data::load_npz("weights.npz")) ...
///
/// For example:
///
///     data::save_npz("pair.npz", {{"x", K::ones({2})}, {"y", K::zeros({1})}});
///     for (const auto& [name, array] : data::load_npz("pair.npz"))
///       std::cout << name << " " << array << " ";
std::vector<std::pair<std::string, Tensor>> load_npz(const std::string& path);

/// Writes a tensor as a .npy file, bfloat16 as `V2` (in Python, `numpy.load(path).view(ml_dtypes.bfloat16)`); a
/// complete file replaces an older file at once. Throws IOError, naming the
/// file, for a file that cannot be written. Mirrors `numpy.save`.
void save_npy(const std::string& path, const Tensor& array);

/// Writes tensors as a .npz file, uncompressed, in their order. Throws the errors of `save_npy`, and
/// ValueError for names that occur twice or do not name files below a folder. `numpy.savez`.
///
///     data::save_npz("pair.npz", {{"x", x}, {"y", y}});
void save_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace ktape::data
