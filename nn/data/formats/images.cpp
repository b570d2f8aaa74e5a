#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/data/formats/images.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/images/resampling.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/random/random.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <random>
#include <set>

namespace ktape::data {
namespace K = backend;
namespace files = std::filesystem;
namespace {

int channels_of(const char* op, const std::string& color_mode) {
  if (color_mode == "grayscale") return 1;
  if (color_mode == "rgb") return 3;
  if (color_mode == "rgba") return 4;
  fail("[", op, "] color_mode must be 'grayscale', 'rgb' or 'rgba': received color_mode='", color_mode, "'");
}

void expect_size(const char* op, const char* name, const std::array<std::int64_t, 2>& size) {
  constexpr std::int64_t most = 1 << 20;
  if (size[0] < 1 || size[1] < 1 || size[0] > most || size[1] > most)
    fail("[", op, "] ", name, " must be from 1 to ", most, " in height and width: received ", name, "=(",
         size[0], ", ", size[1], ')');
}

/// Returns the image converted to this number of channels.
Tensor with_channels(const Tensor& image, std::int64_t channels) {
  const std::int64_t given = image.shape()[2];
  if (given == channels) return image;
  const Tensor out = Tensor::empty({image.shape()[0], image.shape()[1], channels}, DType::UInt8);
  const std::uint8_t* from = image.pointer<std::uint8_t>();
  std::uint8_t* to = out.pointer<std::uint8_t>();
  for (std::int64_t i = image.size() / given; i > 0; --i, from += given, to += channels) {
    if (channels == 1) {
      to[0] = static_cast<std::uint8_t>((299 * from[0] + 587 * from[1] + 114 * from[2] + 500) / 1000);
      continue;
    }
    for (int c = 0; c < 3; ++c) to[c] = from[given == 1 ? 0 : c];
    if (channels == 4) to[3] = 255;
  }
  return out;
}

Tensor decoded(const char* op, const std::string& path, std::int64_t channels) {
  InputFile file(op, path);
  return with_channels(decode_image(file, file.rest()), channels);
}

/// Returns the image in another size, float32.
Tensor resized(const Tensor& image, const std::array<std::int64_t, 2>& size,
               const std::string& interpolation) {
  return op_helpers::resampled(K::cast(image, DType::Float32), {0, 1}, size, interpolation, false);
}

}  // namespace

Tensor load_image(const std::string& path, const ImageOptions& options) {
  constexpr const char* op = "load_image";
  const int channels = channels_of(op, options.color_mode);
  op_helpers::expect_interpolation(op, options.interpolation);
  if (options.target_size) expect_size(op, "target_size", *options.target_size);
  const Tensor image = decoded(op, path, channels);
  if (!options.target_size) return image;
  const Tensor reals = resized(image, *options.target_size, options.interpolation);
  const Tensor out = Tensor::empty(reals.shape(), DType::UInt8);
  for (std::int64_t i = 0; i < out.size(); ++i)
    out.pointer<std::uint8_t>()[i] =
        static_cast<std::uint8_t>(std::clamp(std::lround(reals.pointer<float>()[i]), 0l, 255l));
  return out;
}

// --- Folders of images ------------------------------------------------------------------------------------

namespace {

constexpr const char* op = "image_dataset_from_directory";

[[noreturn]] void fail_folder(const std::string& folder, const std::string& reason) {
  fail<IOError>("[", op, "] the folder must be readable, with a folder of images for each class: received ",
                folder, " (", reason, ')');
}

bool is_hidden(const files::path& path) { return path.filename().string().starts_with('.'); }

bool ends_in(const files::path& path, std::initializer_list<const char*> suffixes) {
  std::string end = path.extension();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return std::find(suffixes.begin(), suffixes.end(), end) != suffixes.end();
}

std::vector<std::string> class_folders(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (files::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (std::error_code none; at->is_directory(none) && !is_hidden(at->path()))
      names.push_back(at->path().filename());
  if (error) fail_folder(directory, error.message());
  if (names.empty()) fail_folder(directory, "no folders");
  std::sort(names.begin(), names.end());
  return names;
}

/// The image files of a folder, and their labels.
struct Found {
  std::vector<std::string> class_names, paths;
  std::vector<std::int32_t> labels;
  std::vector<std::string> left_out;  ///< images of formats that cannot be read
};

/// Returns the images below a folder, in the order of their names.
std::vector<std::string> images_below(const files::path& folder, bool follow_links,
                                      std::vector<std::string>& left_out) {
  const auto links =
      follow_links ? files::directory_options::follow_directory_symlink : files::directory_options::none;
  std::vector<std::string> paths;
  std::error_code error;
  for (files::recursive_directory_iterator at(folder, links, error), end; !error && at != end;
       at.increment(error))
    if (std::error_code none; at->is_regular_file(none) && !is_hidden(at->path())) {
      if (ends_in(at->path(), {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".pbm", ".pnm"}))
        paths.push_back(at->path());
      if (ends_in(at->path(), {".bmp", ".gif", ".webp", ".tif", ".tiff", ".avif", ".heic"}))
        left_out.push_back(at->path());
    }
  if (error) fail_folder(folder, error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns how many images cannot be read, and the first of them; empty if there are none.
std::string left_out(const Found& found) {
  if (found.left_out.empty()) return "";
  return std::to_string(found.left_out.size()) + " of other formats, the first " +
         *std::min_element(found.left_out.begin(), found.left_out.end());
}

void expect_images(const Found& found, const std::string& directory) {
  const std::string others = left_out(found);
  if (found.paths.empty())
    fail_folder(directory, "no PNG, JPEG, PPM, PGM or PBM images" + (others.empty() ? "" : ", " + others));
}

void warn_of_left_out(const Found& found) {
  if (const std::string others = left_out(found); !others.empty())
    std::cerr << "Warning: [" << op << "] images must be PNG, JPEG, PPM, PGM or PBM files: " << others
              << ", are left out\n";
}

/// Finds all images below the directory, with the given labels or without labels.
Found find_all_images(const std::string& directory, bool follow_links,
                      const std::optional<std::vector<std::int32_t>>& labels) {
  Found found;
  found.paths = images_below(directory, follow_links, found.left_out);
  expect_images(found, directory);
  found.labels = labels ? *labels : std::vector<std::int32_t>(found.paths.size());
  if (found.labels.size() != found.paths.size())
    fail("[", op, "] labels must have one entry for each image in ", directory, ": received ",
         found.labels.size(), " labels for ", found.paths.size(), " images");
  if (labels)
    for (const std::int32_t label : std::set(labels->begin(), labels->end()))
      found.class_names.push_back(std::to_string(label));
  return found;
}

Found find_images(const std::string& directory, const ImageFolderOptions& options) {
  const bool labelled = options.label_mode != "none";
  if (!options.labels.inferred() || !labelled)
    return find_all_images(directory, options.follow_links, labelled ? options.labels.list() : std::nullopt);
  Found found;
  const std::vector<std::string> folders = class_folders(directory);
  found.class_names = options.class_names.empty() ? folders : options.class_names;
  for (std::size_t i = 0; i < found.class_names.size(); ++i) {
    const std::string& name = found.class_names[i];
    if (std::find(folders.begin(), folders.end(), name) == folders.end())
      fail("[", op, "] class_names must be folders in ", directory, ": received '", name, "'");
    for (std::string& path :
         images_below(files::path(directory) / name, options.follow_links, found.left_out)) {
      found.paths.push_back(std::move(path));
      found.labels.push_back(static_cast<std::int32_t>(i));
    }
  }
  expect_images(found, directory);
  return found;
}

/// Removes the files that belong to the other subset.
void split(Found& found, const ImageFolderOptions& options) {
  if (options.validation_split == 0) return;
  std::vector<std::size_t> order(found.paths.size());
  std::iota(order.begin(), order.end(), 0);
  if (options.shuffle) {
    std::mt19937_64 generator(K::random_key(options.seed));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
  }
  const auto kept = static_cast<std::ptrdiff_t>(options.validation_split * static_cast<double>(order.size()));
  if (options.subset == "training") order.erase(order.end() - kept, order.end());
  else order.erase(order.begin(), order.end() - kept);
  if (order.empty())
    fail("[", op,
         "] validation_split must leave images: received validation_split=", options.validation_split, " of ",
         found.paths.size());
  Found part{found.class_names, {}, {}, {}};
  for (std::size_t i : order) {
    part.paths.push_back(found.paths[i]);
    part.labels.push_back(found.labels[i]);
  }
  found = std::move(part);
}

void check_options(const ImageFolderOptions& o) {
  const bool splits = o.validation_split != 0;
  if (o.label_mode != "int" && o.label_mode != "categorical" && o.label_mode != "binary" &&
      o.label_mode != "none")
    fail("[", op, "] label_mode must be 'int', 'categorical', 'binary' or 'none': received label_mode='",
         o.label_mode, "'");
  if (!(o.validation_split >= 0 && o.validation_split < 1))
    fail("[", op, "] validation_split must be in [0, 1): received validation_split=", o.validation_split);
  if (!o.labels.inferred() && !o.class_names.empty())
    fail("[", op, "] class_names must go with labels that are inferred: received ", o.class_names.size(),
         " names");
  if (o.subset == "both")
    fail("[", op,
         "] subset must be 'training' or 'validation', for 'both' are two datasets: received "
         "subset='both'; see image_datasets_from_directory");
  if (splits ? o.subset != "training" && o.subset != "validation" : !o.subset.empty())
    fail("[", op,
         "] subset must be 'training' or 'validation' with a validation_split, and empty without: received ",
         "subset='", o.subset, "'");
  if (splits && o.shuffle && !o.seed)
    fail("[", op,
         "] a validation_split of shuffled files needs a seed, so that both subsets differ: received "
         "seed=None");
  if (o.batch_size && *o.batch_size < 1)
    fail("[", op, "] batch_size must be at least 1: received batch_size=", *o.batch_size);
  expect_size(op, "image_size", o.image_size);
}

/// Returns the label of a class in the form that the label mode asks for.
Tensor label_of(std::int32_t label, const std::string& mode, std::int64_t classes) {
  if (mode == "int") return K::constant(label, {.dtype = DType::Int32});
  if (mode == "binary") return K::constant({label}, {.dtype = DType::Float32});
  const Tensor out = K::zeros({classes}, {.dtype = DType::Float32});
  out.pointer<float>()[label] = 1;
  return out;
}

}  // namespace

ImageLabels::ImageLabels(const char* inferred) {
  if (std::string(inferred) != "inferred")
    fail("[", op, "] labels must be 'inferred', None or a list of classes: received labels='", inferred, "'");
}

namespace {

ImageDataset dataset_of(const std::string& directory, ImageFolderOptions options, bool warns) {
  if (!options.labels.inferred() && !options.labels.list()) options.label_mode = "none";
  check_options(options);
  const int channels = channels_of(op, options.color_mode);
  op_helpers::expect_interpolation(op, options.interpolation);
  auto found = std::make_shared<Found>(find_images(directory, options));
  if (warns) warn_of_left_out(*found);
  const std::int64_t classes = std::ssize(found->class_names);
  if (options.label_mode == "binary" && classes != 2)
    fail("[", op, "] label_mode 'binary' needs two classes: received ", classes);
  if (options.label_mode != "int" && options.label_mode != "none")
    for (const std::int32_t label : found->labels)
      if (label < 0 || label >= classes)
        fail("[", op, "] labels must be from 0 to ", classes - 1, " for label_mode '", options.label_mode,
             "': received ", label);
  split(*found, options);
  const std::int64_t count = std::ssize(found->paths);
  Dataset dataset = Dataset::range(count);
  if (options.shuffle) dataset = dataset.shuffle(count, {.seed = options.seed});
  dataset = dataset.map(
      [=, found = std::shared_ptr<const Found>(found), size = options.image_size,
       interpolation = options.interpolation, mode = options.label_mode](const Element& element) {
        const auto i = static_cast<std::size_t>(*element[0].data<std::int64_t>());
        Element out{resized(decoded(op, found->paths[i], channels), size, interpolation)};
        if (mode != "none") out.push_back(label_of(found->labels[i], mode, classes));
        return out;
      },
      {.num_parallel_calls = options.num_parallel_calls});
  if (options.batch_size) dataset = dataset.batch(*options.batch_size);
  return {dataset, found->class_names, found->paths};
}

}  // namespace

ImageDataset image_dataset_from_directory(const std::string& directory, const ImageFolderOptions& options) {
  return dataset_of(directory, options, true);
}

ImageDatasets image_datasets_from_directory(const std::string& directory, ImageFolderOptions options) {
  if (options.validation_split == 0)
    fail("[image_datasets_from_directory] validation_split must be in (0, 1): received validation_split=0");
  if (!options.subset.empty() && options.subset != "both")
    fail("[image_datasets_from_directory] subset must be 'both', or be left out: received subset='",
         options.subset, "'");
  if (!options.seed) options.seed = static_cast<std::int64_t>(K::random_key());
  const auto part = [&](const char* subset) {
    options.subset = subset;
    return dataset_of(directory, options, options.subset == "training");
  };
  ImageDataset training = part("training");
  return {std::move(training), part("validation")};
}

}  // namespace ktape::data
