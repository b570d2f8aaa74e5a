#include "../../../../hdf5.hpp"

#include <ktape/nn/saving/hdf5/hdf5.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../../../memory.hpp"
#include "../../../../ops/check.hpp"
#include "../../python.hpp"
#include "../trees.hpp"

using doctest::Contains;
using namespace hdf5_trees;

TEST_CASE("files of h5py are read: compressed, chunked, in any byte order and of other types" * needs_hdf5) {
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
  CHECK(file.root.find("brain")->value.dtype() == "bfloat16");
  CHECK(values(file.root.find("brain")->value) == Values{1, -2});
  CHECK(file.root.find("gr\xc3\xbcn")->is_group());
  CHECK(std::get<std::vector<std::string>>(*file.root.attribute("variable")) ==
        std::vector<std::string>{"one", "two"});
  CHECK(std::get<std::string>(*file.root.attribute("bytes")) == "{\"x\": 1}");
  CHECK_THROWS_WITH_AS(file.tensor(file.at("texts"), "texts"), Contains("arrays of numbers"), IOError);
  CHECK_THROWS_WITH_AS(file.at("no/where"), Contains("no/where: is missing"), IOError);
  CHECK(hdf5::read_file("load", files.folder() + "/latest.h5").root.members.size() == 20);
}

TEST_CASE("files that lead elsewhere, or claim more than they have, are refused" * needs_hdf5) {
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

TEST_CASE("compressed arrays of a small file do not become hundreds of megabytes, unless these are expected" *
          needs_hdf5) {
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
