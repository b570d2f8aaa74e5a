#pragma once
#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include "../../../ops/check.hpp"

/// Helpers for the tests of HDF5 files: a tree, its file, and readers.
namespace hdf5_trees {

namespace K = ktape::backend;
namespace hdf5 = ktape::nn::saving::hdf5;
using hdf5::Entry;
using ktape::IOError, ktape::Tensor;

inline Tensor numbers() { return K::constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}); }

/// Returns a tree with entries of all kinds.
inline Entry tree() {
  Entry root;
  root.set_attribute("version", "3.5.0");
  root.set_attribute("names", std::vector<std::string>{"dense", "gr\xc3\xbcn"});
  root.set_attribute("none", std::vector<std::string>());
  root.set_attribute("count", K::constant(7, {.dtype = "int64"}));
  Entry& vars = root.group("layers/dense/vars");
  vars.members.emplace_back("0", Entry(numbers()));
  vars.members.emplace_back("1", Entry(K::constant(2.5)));
  vars.members.emplace_back("2", Entry(K::zeros({0, 3})));
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"})
    vars.members.emplace_back(dtype, Entry(K::cast(numbers(), dtype)));
  root.group("empty");
  return root;
}

inline void check_tree(const Entry& root) {
  CHECK(std::get<std::string>(*root.attribute("version")) == "3.5.0");
  CHECK(std::get<std::vector<std::string>>(*root.attribute("names")) ==
        std::vector<std::string>{"dense", "gr\xc3\xbcn"});
  CHECK(std::get<std::vector<std::string>>(*root.attribute("none")).empty());
  CHECK(std::get<Tensor>(*root.attribute("count")).item<std::int64_t>() == 7);
  const Entry& vars = *root.find("/layers/dense/vars");
  CHECK(values(vars.find("0")->value) == values(numbers()));
  CHECK(vars.find("1")->value.item<float>() == 2.5f);
  CHECK(vars.find("2")->value.shape() == ktape::Shape{0, 3});
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"}) {
    CAPTURE(dtype);
    const Tensor value = vars.find(dtype)->value;
    CHECK(value.dtype() == dtype);
    CHECK(values(K::cast(value, "float32")) == values(K::cast(K::cast(numbers(), dtype), "float32")));
  }
  CHECK(root.find("empty")->is_group());
  CHECK(root.find("empty/more") == nullptr);
}

/// Returns the error of reading a file.
inline std::string refusal(const std::string& path) {
  try {
    hdf5::read_file("load", path);
  } catch (const IOError& error) {
    return error.what();
  }
  return "nothing";
}

/// Returns the bytes of a file with this tree.
inline std::string image_of(const hdf5::Entry& root) {
  const hdf5::Image image = hdf5::to_image("save", "tree.h5", root);
  std::string bytes;
  for (const std::string_view piece : image.pieces()) bytes += piece;
  return bytes;
}

}  // namespace hdf5_trees
