// Reading and writing of files against the time that the system takes for the bytes. The files are in a
// folder for temporary files, and in memory after the first run.
#include <fcntl.h>
#include <png.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include <ktape/nn/saving/safetensors/safetensors.hpp>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;
namespace nn = ktape::nn;
namespace data = ktape::data;
namespace fs = std::filesystem;

/// A folder that is removed at the end.
struct Folder {
  std::string path = (fs::temp_directory_path() / "ktape-bench-XXXXXX").string();
  Folder() {
    if (!mkdtemp(path.data())) throw std::runtime_error("there must be a folder for temporary files");
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return path + '/' + name; }
};

/// Reads the whole file into new memory, as a tensor needs.
void read_file(const std::string& path) {
  const std::size_t size = fs::file_size(path);
  const std::unique_ptr<char[]> bytes(new char[size]);
  const int file = open(path.c_str(), O_RDONLY);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = read(file, bytes.get() + done, size - done);
    if (count <= 0) throw std::runtime_error("the file must be readable");
    done += static_cast<std::size_t>(count);
  }
  close(file);
}

void copy(const std::string& from, const std::string& to, bool sync) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  if (!sync) return;
  const int file = open(to.c_str(), O_RDONLY);
  fsync(file);
  close(file);
}

// --- ResNet-50 --------------------------------------------------------------------------------------------

Tensor convolved(const Tensor& x, int filters, int size, int stride) {
  const Tensor h = nn::Conv2D(filters, {size, size}, {.strides = {stride, stride}, .padding = "same"})(x);
  return nn::BatchNormalization()(h);
}

Tensor bottleneck(const Tensor& x, int filters, int stride, bool first) {
  Tensor h = nn::ReLU()(convolved(x, filters, 1, stride));
  h = nn::ReLU()(convolved(h, filters, 3, 1));
  h = convolved(h, 4 * filters, 1, 1);
  return nn::ReLU()(nn::Add()({first ? convolved(x, 4 * filters, 1, stride) : x, h}));
}

nn::Model resnet50() {
  const Tensor in = nn::Input({224, 224, 3});
  Tensor h = nn::MaxPooling2D(2)(nn::ReLU()(convolved(in, 64, 7, 2)));
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block)
      h = bottleneck(h, 64 << stage, stage > 0 && block == 0 ? 2 : 1, block == 0);
  return nn::Model(in, nn::Dense(1000, {.activation = "softmax"})(nn::GlobalAveragePooling2D()(h)));
}

const bench::Group weights([] {
  if (!bench::wanted({"read_by_hand", "load_npz", "load_safetensors", "copy_by_hand", "copy_synced_by_hand",
                      "save_ktape", "load_ktape"}))
    return;
  const Folder folder;
  const nn::Model model = resnet50();
  const std::string npz = folder / "w.npz", tensors = folder / "w.safetensors", whole = folder / "w.ktape";
  model.save_weights(npz);
  model.save_weights(tensors);
  model.save(whole);
  bench::report("read_by_hand", [&] { read_file(npz); });
  bench::report("load_npz", [&] { data::load_npz(npz); });
  bench::report("load_safetensors", [&] { nn::load_safetensors(tensors); });
  bench::report("copy_by_hand", [&] { copy(whole, folder / "copy", false); });
  bench::report("copy_synced_by_hand", [&] { copy(whole, folder / "copy", true); });
  bench::report("save_ktape", [&] { model.save(whole); });
  bench::report("load_ktape", [&] { nn::load_model(whole); });
});

// --- Tables and images ------------------------------------------------------------------------------------

const bench::Group csv([] {
  if (!bench::wanted({"load_csv"})) return;
  const Folder folder;
  const std::string path = folder / "table.csv";
  const Tensor numbers = K::random_normal({50000, 40}, {.dtype = "float32"});
  std::FILE* file = std::fopen(path.c_str(), "wb");
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    std::fprintf(file, "%.6f%c", static_cast<double>(numbers.pointer<float>()[i]), i % 40 == 39 ? '\n' : ',');
  std::fclose(file);
  bench::report("load_csv", [&] { data::load_csv(path); });
});

/// Writes a smooth picture with some noise, similar to a photograph.
void write_png(const std::string& path, int size) {
  std::vector<unsigned char> pixels;
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < 3 * size; ++x)
      pixels.push_back(static_cast<unsigned char>(x / 9 + y / 4 + x * y % 7));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = static_cast<png_uint_32>(size);
  image.format = PNG_FORMAT_RGB;
  if (!png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr))
    throw std::runtime_error(image.message);
}

/// Reads the pixels row by row, as in libpng's manual.
void read_png(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_read_info(png, info);
  const std::size_t bytes = png_get_rowbytes(png, info), rows = png_get_image_height(png, info);
  const std::unique_ptr<png_byte[]> pixels(new png_byte[bytes * rows]);
  for (std::size_t row = 0; row < rows; ++row) png_read_row(png, pixels.get() + bytes * row, nullptr);
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  std::fclose(file);
}

const bench::Group png([] {
  if (!bench::wanted({"png_by_hand", "load_png"})) return;
  const Folder folder;
  const std::string path = folder / "picture.png";
  write_png(path, 512);
  bench::report("png_by_hand", [&] { read_png(path); });
  bench::report("load_png", [&] { data::load_image(path); });
});

}  // namespace
