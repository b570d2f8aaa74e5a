#include <ktape/nn/saving/hdf5/hdf5.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/reductions.hpp>

#include <thread>

#include "../../memory.hpp"
#include "../../ops/check.hpp"
#include "python.hpp"

using doctest::Contains;
using ktape::IOError, ktape::Tensor;
namespace K = ktape::backend;
namespace hdf5 = ktape::nn::saving::hdf5;
using hdf5::Entry;

namespace {

Tensor numbers() { return K::constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}); }

/// A little of everything.
Entry tree() {
  Entry root;
  root.set_attribute("version", "3.5.0");
  root.set_attribute("names", std::vector<std::string>{"dense", "gr\xc3\xbcn"});
  root.set_attribute("none", std::vector<std::string>());
  root.set_attribute("count", K::constant(7, {.dtype = "int64"}));
  Entry& vars = root.group("layers/dense/vars");
  vars.members.emplace_back("0", Entry(numbers()));
  vars.members.emplace_back("1", Entry(K::constant(2.5)));
  vars.members.emplace_back("2", Entry(K::zeros({0, 3})));
  for (const char* dtype : {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64"})
    vars.members.emplace_back(dtype, Entry(K::cast(numbers(), dtype)));
  root.group("empty");
  return root;
}

void check_tree(const Entry& root) {
  CHECK(std::get<std::string>(*root.attribute("version")) == "3.5.0");
  CHECK(std::get<std::vector<std::string>>(*root.attribute("names")) ==
        std::vector<std::string>{"dense", "gr\xc3\xbcn"});
  CHECK(std::get<std::vector<std::string>>(*root.attribute("none")).empty());
  CHECK(std::get<Tensor>(*root.attribute("count")).item<std::int64_t>() == 7);
  const Entry& vars = *root.find("/layers/dense/vars");
  CHECK(values(vars.find("0")->value) == values(numbers()));
  CHECK(vars.find("1")->value.item<float>() == 2.5f);
  CHECK(vars.find("2")->value.shape() == ktape::Shape{0, 3});
  for (const char* dtype : {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float64"}) {
    CAPTURE(dtype);
    const Tensor value = vars.find(dtype)->value;
    CHECK(value.dtype() == dtype);
    CHECK(values(K::cast(value, "float32")) == values(K::cast(K::cast(numbers(), dtype), "float32")));
  }
  CHECK(root.find("empty")->is_group());
  CHECK(root.find("empty/more") == nullptr);
}

/// Returns the error of reading a file.
std::string refusal(const std::string& path) {
  try {
    hdf5::read_file("load", path);
  } catch (const IOError& error) {
    return error.what();
  }
  return "nothing";
}

/// The bytes of a file with this tree.
std::string image_of(const hdf5::Entry& root) {
  const hdf5::Image image = hdf5::to_image("save", "tree.h5", root);
  std::string bytes;
  for (const std::string_view piece : image.pieces()) bytes += piece;
  return bytes;
}

}  // namespace

TEST_CASE("large arrays go into an image in memory as they are, small ones with all the rest") {
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

TEST_CASE("a tree of values is written to a file, or to memory, and read again") {
  const Files files;
  const std::string path = files.write("tree.h5", image_of(tree()));
  check_tree(hdf5::read_file("load", path).root);
  check_tree(hdf5::read_bytes("load", "tree.h5", image_of(tree())).root);
}

TEST_CASE("threads write and read at once") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 3; ++k) check_tree(hdf5::read_bytes("load", "tree.h5", image_of(tree())).root);
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("h5py reads files of the library") {
  if (!has_python("h5py")) return;
  const Files files;
  const std::string path = files.write("tree.h5", image_of(tree()));
  const std::string said = python(files, R"(
f = h5py.File('tree.h5')
print(f.attrs['version'], [n.decode() for n in f.attrs['names']], len(f.attrs['none']), f.attrs['count'])
v = f['layers/dense/vars']
print(sorted(v), v['0'][()].tolist(), v['1'][()], v['2'].shape)
print([str(v[n].dtype) for n in ('bool', 'uint8', 'int16', 'int64', 'float16', 'float64')])
)");
  CHECK(said ==
        "3.5.0 ['dense', 'gr\xc3\xbcn'] 0 7\n"
        "['0', '1', '2', 'bool', 'float16', 'float64', 'int16', 'int32', 'int64', 'int8', 'uint8'] "
        "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] 2.5 (0, 3)\n"
        "['bool', 'uint8', 'int16', 'int64', 'float16', 'float64']\n");
}

TEST_CASE("files of h5py are read: compressed, chunked, in any byte order and of other types") {
  if (!has_python("h5py")) return;
  const Files files;
  python(files, R"(
f = h5py.File('x.h5', 'w')
a = np.arange(600, dtype='f4').reshape(20, 30)
f.create_dataset('packed', data=a, compression='gzip', shuffle=True, fletcher32=True, chunks=(7, 11))
f.create_dataset('growing', data=a, maxshape=(None, 30))
f['big'] = a.astype('>f8')
f['wide'] = np.array([4000000000], 'u4')
f['brain'] = np.array([0x3f80, 0xc000], 'u2').view('V2')
f['brain'].attrs['dtype'] = 'bfloat16'
f['texts'] = [b'a', b'bc']
f.attrs['variable'] = ['one', 'two']
f.attrs['bytes'] = b'{"x": 1}'
f.create_group('gr\u00fcn')
g = h5py.File('latest.h5', 'w', libver='latest')
for i in range(20): g.create_group('layer%d' % i)['kernel'] = a
for i in range(20): g.attrs['name%d' % i] = 'x' * 100
)");
  const hdf5::File file = hdf5::read_file("load", files.folder() + "/x.h5");
  const auto sum = [&](const char* name) {
    return K::sum(K::cast(file.root.find(name)->value, "float64")).item<double>();
  };
  CHECK(sum("packed") == 179700);
  CHECK(sum("growing") == 179700);
  CHECK(file.root.find("big")->value.dtype() == "float64");
  CHECK(sum("big") == 179700);
  CHECK(file.root.find("wide")->value.item<std::int64_t>() == 4000000000);
  CHECK(values(file.root.find("brain")->value) == Values{1, -2});
  CHECK(file.root.find("gr\xc3\xbcn")->is_group());
  CHECK(std::get<std::vector<std::string>>(*file.root.attribute("variable")) ==
        std::vector<std::string>{"one", "two"});
  CHECK(std::get<std::string>(*file.root.attribute("bytes")) == "{\"x\": 1}");
  CHECK_THROWS_WITH_AS(file.tensor(file.at("texts"), "texts"), Contains("arrays of numbers"), IOError);
  CHECK_THROWS_WITH_AS(file.at("no/where"), Contains("no/where: is not there"), IOError);
  CHECK(hdf5::read_file("load", files.folder() + "/latest.h5").root.members.size() == 20);
}

TEST_CASE("files that lead elsewhere, or claim more than they have, are refused") {
  if (!has_python("h5py")) return;
  const Files files;
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"f.create_group('a')['b'] = h5py.ExternalLink('/etc/passwd', '/x')", "/a/b: it is an external link"},
      {"f['b'] = h5py.SoftLink('/elsewhere')", "/b: it is a soft link"},
      {"f['a'] = np.zeros(3); f['b'] = f['a']", "/b: it has another one"},
      {"g = f.create_group('a'); g['up'] = f['/']", "/a/up: it has another one"},
      {"f.create_dataset('x', (4,), 'f4', external=[('raw.bin', 0, 16)])", "/x: they are in another file"},
      {"l = h5py.VirtualLayout((4,), 'f4'); l[:] = h5py.VirtualSource('y.h5', 'x', (4,)); "
       "f.create_virtual_dataset('x', l)",
       "/x: a virtual dataset"},
      {"f.create_dataset('x', data=np.zeros(400, 'f4'), compression='lzf')", "/x: it has the filter 32000"},
      {"f.create_dataset('x', (1 << 40,), 'f4')", "/x: (1099511627776,) of 0 bytes"},
      {"d = f.create_dataset('x', (1 << 40,), 'f4', chunks=(1 << 20,), compression='gzip'); d[0] = 1",
       "/x: (1099511627776,) of "},
      {"f.create_dataset('x', (4,), 'f4', maxshape=(None,), chunks=(1 << 28,), compression='gzip')",
       "/x: (4,) of 0 bytes"},
      {"f.create_dataset('x', (1,) * 9, 'f4')", "/x: 9 axes"},
      {"g = f\nfor i in range(200): g = g.create_group('g')", "more than 100 groups"},
      {"h5py.h5g.create(f.id, b'\\xff\\xfe')", "it is not"}};
  std::string script;
  for (std::size_t i = 0; i < refused.size(); ++i)
    script += "f = h5py.File('" + std::to_string(i) + ".h5', 'w')\n" + refused[i].first + "\nf.close()\n";
  python(files, script);
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const std::string path = files.folder() + '/' + std::to_string(i) + ".h5", text = refusal(path);
    CAPTURE(refused[i].first);
    CAPTURE(text);
    CHECK(text.find(path) != std::string::npos);
    CHECK(text.find(refused[i].second) != std::string::npos);
  }
}

TEST_CASE(
    "compressed arrays of a small file do not become hundreds of megabytes, unless these are expected") {
  if (!has_python("h5py")) return;
  const Files files;
  python(files, R"(
zeros = {'compression': 'gzip', 'compression_opts': 9}
f = h5py.File('one.h5', 'w')
f.create_dataset('x', data=np.zeros((96, 1 << 20), 'u1'), chunks=(1, 1 << 20), **zeros)
f = h5py.File('several.h5', 'w')
for i in range(4): f.create_dataset('x%d' % i, data=np.zeros((20, 1 << 20), 'u1'), chunks=(1, 1 << 20), **zeros)
f = h5py.File('some.h5', 'w')
f.create_dataset('x', data=np.zeros((60, 1 << 20), 'u1'), chunks=(1, 1 << 20), **zeros)
# A chunk that holds more than it says.
f = h5py.File('chunk.h5', 'w')
d = f.create_dataset('x', (1 << 20,), 'u1', chunks=(1 << 20,), **zeros)
import zlib
d.id.write_direct_chunk((0,), zlib.compress(bytes(400 << 20)))
)");
  const auto refused = [&](const std::string& name, const char* text) {
    CAPTURE(name);
    const std::string reason = refusal(files.folder() + '/' + name);
    CAPTURE(reason);
    CHECK(reason.find(name + text) != std::string::npos);
    CHECK(peak_growth([&] { refusal(files.folder() + '/' + name); }) < 700);
  };
  refused("one.h5", " (/x: to 100663296 bytes, more than 67108864 of the file's ");
  refused("several.h5", " (/x3: to 20971520 bytes, more than 4194304 of the file's ");
  CHECK(refusal(files.folder() + "/some.h5") == "nothing");
  CHECK(hdf5::read_file("load", files.folder() + "/one.h5", 100 << 20).root.elements() == 96 << 20);
  CHECK(peak_growth([&] { refusal(files.folder() + "/chunk.h5"); }) < 700);
}

TEST_CASE("a file that is no HDF5 file, or a part of one, is an error that names the file") {
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

TEST_CASE("a damaged file is an error or a tree, whatever libhdf5 does with it") {
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
