#include "hdf5_bomb.hpp"

#include <hdf5.h>
#include <zlib.h>

#include <fstream>
#include <iterator>

namespace {

constexpr hsize_t megabyte = 1 << 20;

/// Returns zeros compressed as by the filter of HDF5.
std::string compressed(std::size_t zeros) {
  const std::string bytes(zeros, '\0');
  uLongf size = compressBound(zeros);
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), zeros,
            9);
  out.resize(size);
  return out;
}

/// Adds an array of chunks of a megabyte, each of which is stored as these bytes.
void add(hid_t file, const std::string& name, hsize_t chunks, const std::string& chunk) {
  const hsize_t extents[] = {chunks, megabyte}, one[] = {1, megabyte};
  const hid_t space = H5Screate_simple(2, extents, nullptr), list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 2, one);
  H5Pset_deflate(list, 9);
  const hid_t set = H5Dcreate2(file, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  for (hsize_t i = 0; i < chunks; ++i) {
    const hsize_t place[] = {i, 0};
    H5Dwrite_chunk(set, H5P_DEFAULT, 0, place, chunk.size(), chunk.data());
  }
  H5Dclose(set);
  H5Pclose(list);
  H5Sclose(space);
}

template <class F>
std::string written(const std::string& path, F f) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  f(file);
  H5Fclose(file);
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool hdf5_is_built() { return true; }

std::vector<std::string> hdf5_bombs(const std::string& path) {
  const std::string chunk = compressed(megabyte), large = compressed(400 * megabyte);
  return {written(path, [&](hid_t file) { add(file, "one", 400, chunk); }),
          written(path,
                  [&](hid_t file) {
                    for (int i = 0; i < 20; ++i) add(file, std::to_string(i), 20, chunk);
                  }),
          written(path, [&](hid_t file) { add(file, "small", 1, large); })};
}
