#include <ktape/nn/data/formats/idx.hpp>
#include <ktape/nn/files/bytes.hpp>

#include <bit>
#include <filesystem>

namespace ktape::data {
namespace {

DType dtype_of_code(const ByteSource& file, unsigned char code) {
  switch (code) {
    case 0x08:
      return DType::UInt8;
    case 0x09:
      return DType::Int8;
    case 0x0b:
      return DType::Int16;
    case 0x0c:
      return DType::Int32;
    case 0x0d:
      return DType::Float32;
    case 0x0e:
      return DType::Float64;
  }
  file.fail("the numbers of an IDX file must be of a known type", "type ", static_cast<int>(code));
}

/// Returns the path of a file of the folder, which is compressed, as published, or decompressed.
std::string find_file(const std::string& folder, const std::string& name, char rank) {
  for (const char* dot : {"-", "."})
    for (const char* end : {"", ".gz"}) {
      const std::filesystem::path path =
          std::filesystem::path(folder) / (name + dot + "idx" + rank + "-ubyte" + end);
      std::error_code none;
      if (std::filesystem::exists(path, none)) return path;
    }
  return std::filesystem::path(folder) / (name + "-idx" + rank + "-ubyte.gz");
}

}  // namespace

Tensor load_idx(const std::string& path) {
  InputFile file("load_idx", path);
  unsigned char head[4];
  file.read_exactly(head, sizeof(head), "header");
  if (head[0] != 0 || head[1] != 0) file.fail("the file must be an IDX file", "it begins with other bytes");
  const DType dtype = dtype_of_code(file, head[2]);
  const int rank = head[3];
  if (rank < 1 || rank > Shape::max_rank) file.fail("an IDX file must have 1 to 8 dimensions", rank);
  Shape shape;
  for (int d = 0; d < rank; ++d) {
    unsigned char extent[4];
    file.read_exactly(extent, sizeof(extent), "header");
    shape.push_back(big_endian<std::uint32_t>(extent));
  }
  Tensor out = file.read_tensor(shape, dtype, std::endian::native == std::endian::little);
  file.expect_end("the numbers");
  return out;
}

Element load_mnist(const std::string& folder, const std::string& part) {
  if (part != "train" && part != "test")
    fail("[load_mnist] part must be 'train' or 'test': received part='", part, "'");
  const std::string prefix = part == "train" ? "train" : "t10k";
  const std::string path = find_file(folder, prefix + "-images", '3');
  Element both{load_idx(path), load_idx(find_file(folder, prefix + "-labels", '1'))};
  if (both[0].ndim() != 3 || both[1].ndim() != 1 || both[0].shape()[0] != both[1].shape()[0])
    fail<IOError>("[load_mnist] there must be one label for each image: received ", path,
                  " (images of shape ", both[0].shape(), ", labels of shape ", both[1].shape(), ')');
  return both;
}

}  // namespace ktape::data
