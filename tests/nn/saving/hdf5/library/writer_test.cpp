#include "../../../../hdf5.hpp"

#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include "../../../../ops/check.hpp"
#include "../../python.hpp"
#include "../trees.hpp"

using namespace hdf5_trees;

TEST_CASE("a tree of values is written to a file, or to memory, and read again" * needs_hdf5) {
  const Files files;
  const std::string path = files.write("tree.h5", image_of(tree()));
  check_tree(hdf5::read_file("load", path).root);
  check_tree(hdf5::read_bytes("load", "tree.h5", image_of(tree())).root);
}

TEST_CASE("h5py reads files of the library" * needs_hdf5) {
  if (!has_python("h5py")) return;
  const Files files;
  const std::string path = files.write("tree.h5", image_of(tree()));
  const std::string said = python(files, R"(
f = h5py.File('tree.h5')
print(f.attrs['version'], [n.decode() for n in f.attrs['names']], len(f.attrs['none']), f.attrs['count'])
v = f['layers/dense/vars']
print(sorted(v), v['0'][()].tolist(), v['1'][()], v['2'].shape)
print([str(v[n].dtype) for n in ('bool', 'uint8', 'int16', 'int64', 'float16', 'float64')])
b = v['bfloat16']
print(b.dtype, b.attrs['dtype'], (b[()].view('u2').astype('u4') << 16).view('f4').tolist())
)");
  CHECK(
      said ==
      "3.5.0 ['dense', 'gr\xc3\xbcn'] 0 7\n"
      "['0', '1', '2', 'bfloat16', 'bool', 'float16', 'float64', 'int16', 'int32', 'int64', 'int8', 'uint8'] "
      "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] 2.5 (0, 3)\n"
      "['bool', 'uint8', 'int16', 'int64', 'float16', 'float64']\n"
      "|V2 bfloat16 [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
}
