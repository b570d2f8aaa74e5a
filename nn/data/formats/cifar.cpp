#include <ktape/nn/data/formats/cifar.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/nn/files/bytes.hpp>

#include <filesystem>

namespace ktape::data {
namespace {

constexpr std::int64_t side = 32, pixels = side * side, channels = 3;

struct Labels {
  const char* name;
  int below;
};

/// Reads a file of records, each with labels and an image, channel by channel. The result is the images,
/// followed by the labels in the order of the record.
Element load_records(const char* op, const std::string& path, const std::vector<Labels>& labels) {
  InputFile file(op, path);
  const std::string bytes = file.rest();
  const std::int64_t count = std::ssize(labels), record = count + pixels * channels;
  const std::int64_t n = std::ssize(bytes) / record;
  if (bytes.empty() || n * record != std::ssize(bytes))
    file.fail("the file must be a whole number of images", bytes.size(), " bytes in records of ", record);
  Element out{Tensor::empty({n, side, side, channels}, DType::UInt8)};
  for (std::int64_t i = 0; i < count; ++i) out.push_back(Tensor::empty({n}, DType::UInt8));
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  auto* image = out[0].pointer<std::uint8_t>();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < count; ++k, ++at) {
      const Labels& kind = labels[static_cast<std::size_t>(k)];
      if (*at >= kind.below)
        file.fail("labels must be below the number of classes", kind.name, " label ", int{*at}, " of image ",
                  i, " must be below ", kind.below);
      out[static_cast<std::size_t>(k) + 1].pointer<std::uint8_t>()[i] = *at;
    }
    for (std::int64_t p = 0; p < pixels; ++p)
      for (std::int64_t c = 0; c < channels; ++c) *image++ = at[c * pixels + p];
    at += pixels * channels;
  }
  return out;
}

Element load(const char* op, const std::string& path, const std::string& part,
             const std::vector<Labels>& labels, const std::vector<std::string>& train,
             const std::string& test) {
  if (part != "train" && part != "test")
    fail("[", op, "] part must be 'train' or 'test': received part='", part, "'");
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return load_records(op, path, labels);
  std::vector<Element> files;
  for (const std::string& name : part == "train" ? train : std::vector{test})
    files.push_back(load_records(op, std::filesystem::path(path) / name, labels));
  return joined(files);
}

}  // namespace

Element load_cifar10(const std::string& path, const std::string& part) {
  const std::vector<std::string> train{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                       "data_batch_4.bin", "data_batch_5.bin"};
  return load("load_cifar10", path, part, {{"the", 10}}, train, "test_batch.bin");
}

Element load_cifar100(const std::string& path, const std::string& part) {
  Element all =
      load("load_cifar100", path, part, {{"the coarse", 20}, {"the fine", 100}}, {"train.bin"}, "test.bin");
  std::swap(all[1], all[2]);
  return all;
}

}  // namespace ktape::data
