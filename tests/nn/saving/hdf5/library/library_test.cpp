#include "../../../../hdf5.hpp"

#include <ktape/nn/saving/hdf5/hdf5.hpp>
#include <ktape/ops/random/random.hpp>

#include <thread>

#include "../../../../ops/check.hpp"
#include "../../../data/files.hpp"
#include "../trees.hpp"

using doctest::Contains;
using namespace hdf5_trees;

TEST_CASE("large arrays go into an image in memory as they are, small ones with all the rest" * needs_hdf5) {
  hdf5::Entry root;
  const Tensor large = K::random_normal({300, 200}), small = K::ones({3});
  root.members.emplace_back("first", hdf5::Entry(large));
  root.members.emplace_back("second", hdf5::Entry(small));
  root.group("inner").members.emplace_back("third", hdf5::Entry(K::cast(large, "float64")));
  const hdf5::Image image = hdf5::to_image("save", "tree.h5", root);
  REQUIRE(image.pieces().size() == 5);
  CHECK(image.pieces()[1].data() == static_cast<const char*>(large.raw()));

  const Files files;
  const std::string path = files.write("part.bin", "before" + image_of(root) + "behind");
  const hdf5::File file = hdf5::read_part("load", "part", path, 6, image_of(root).size());
  CHECK(values(file.at("first").value) == values(large));
  CHECK(values(file.at("second").value) == values(small));
  CHECK(values(K::cast(file.at("inner/third").value, "float32")) == values(large));
}

#ifndef __SANITIZE_ADDRESS__  // a child process waits forever if another thread allocated memory during the fork
TEST_CASE("threads write and read at once" * needs_hdf5) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 3; ++k) check_tree(hdf5::read_bytes("load", "tree.h5", image_of(tree())).root);
    });
  for (std::thread& thread : threads) thread.join();
}
#endif

TEST_CASE("a file that is no HDF5 file, or a part of one, is an error that names the file" * needs_hdf5) {
  const Files files;
  const std::string bytes = image_of(tree());
  CHECK_THROWS_WITH_AS(hdf5::read_file("load", files.folder() + "/missing.h5"), Contains("missing.h5"),
                       IOError);
  CHECK_THROWS_WITH_AS(hdf5::read_file("load", files.write("text.h5", "not a file")),
                       Contains("text.h5 (file signature not found)"), IOError);
  CHECK_THROWS_WITH_AS(hdf5::read_bytes("load", "none.h5", ""), Contains("none.h5 (it is empty)"), IOError);
  for (std::size_t size = 8; size < bytes.size(); size += 997) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(hdf5::read_bytes("load", "part.h5", std::string_view(bytes).substr(0, size)),
                         Contains("part.h5"), IOError);
  }
}
