#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

/// NumPy's files, read and written.
namespace ktape::data {

/// Returns the array of a .npy file, plain or gzip-compressed, in either byte order and either order of axes:
/// bool, integers, float16 to float64; uint16 becomes int32, uint32 and uint64 int64. Throws IOError, naming
/// the file, if it is missing, truncated, no such file or holds something else, as objects (pickles), or is
/// compressed further than to a 32nd of more than 64 MB: a few kilobytes must not fill the memory.
/// `numpy.load`.
Tensor load_npy(const std::string& path);

/// Returns the arrays of a .npz file and their names, without ".npy", in the order of the file. Throws
/// IOError, naming the file and the entry, as `load_npy`, and for an archive that is damaged: a wrong
/// checksum, entries that overlap or have one name, names that leave the folder, and for arrays of more than
/// 64 MB together that are compressed further than to a 32nd of it (as only arrays of zeros are:
/// `numpy.savez` stores them). `numpy.load`.
///
///     for (const auto& [name, array] : data::load_npz("weights.npz")) ...
std::vector<std::pair<std::string, Tensor>> load_npz(const std::string& path);

/// Writes a tensor as a .npy file, which replaces one that is there when it is whole. Throws IOError, naming
/// the file, where it cannot be written. `numpy.save`.
void save_npy(const std::string& path, const Tensor& array);

/// Writes tensors as a .npz file, uncompressed, in their order. Throws IOError as `save_npy`, and ValueError
/// for names that occur twice or are no names of files below a folder. `numpy.savez`.
///
///     data::save_npz("pair.npz", {{"x", x}, {"y", y}});
void save_npz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays);

}  // namespace ktape::data
