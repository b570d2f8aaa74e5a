#include "../../../../hdf5.hpp"

#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include "../../../../ops/check.hpp"
#include "../trees.hpp"

using namespace hdf5_trees;

TEST_CASE("a damaged file is an error or a tree, whatever libhdf5 does with it" * needs_hdf5) {
  const std::string bytes = image_of(tree());
  for (std::size_t i = 0; i < bytes.size(); i += 61) {
    std::string other = bytes;
    other[i] = static_cast<char>(other[i] ^ 0xff);
    CAPTURE(i);
    try {
      hdf5::read_bytes("load", "damaged.h5", other);
    } catch (const IOError& error) {
      CHECK(std::string(error.what()).find("damaged.h5") != std::string::npos);
    }
  }
}

TEST_CASE("an error in the child process is the error of the program, with operation and file" * needs_hdf5) {
  try {
    hdf5::read_bytes("load_weights", "text.h5", "no HDF5 file");
    FAIL("there was no error");
  } catch (const IOError& error) {
    CHECK(std::string(error.what()) ==
          "[load_weights] the file must be an HDF5 file: received text.h5 (file signature not found)");
  }
  check_tree(hdf5::read_bytes("load_weights", "tree.h5", image_of(tree())).root);  // the next child works
}
