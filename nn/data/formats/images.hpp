#pragma once
#include <ktape/nn/data/dataset.hpp>

#include <array>
#include <string>

/// Images from files: PNG, JPEG (also CMYK, which becomes RGB), PPM, PGM and PBM, of bytes or text. The first bytes of
/// a file determine its format.
namespace ktape::data {

struct ImageOptions {
  std::string color_mode = "rgb";                               ///< or "grayscale" (one channel), or "rgba"
  std::optional<std::array<std::int64_t, 2>> target_size = {};  ///< height, width; by default as in the file
  std::string interpolation = "nearest";  ///< the interpolation of the resizing, as in nn::Resizing
};

/// Returns the pixels of an image, (height, width, channels), uint8 from 0 to 255. Grayscale is 0.299 R +
/// 0.587 G + 0.114 B; transparency is dropped unless `color_mode` is "rgba". Throws IOError, naming the file,
/// for a file that is missing, truncated, damaged or of another format, or whose pixels take more than 64 MB
/// and 128 times the size of the file; ValueError for an unknown option. Mirrors `keras.utils.load_img`.
///
///     data::save_image("red.png", K::constant({{{255., 0., 0.}}}), {.scale = false});
///     std::cout << data::load_image("red.png") << "\n"
///               << data::load_image("red.png", {.color_mode = "grayscale"}) << "\n"
///               << data::load_image("red.png", {.target_size = {{2, 4}}}).shape();
Tensor load_image(const std::string& path, const ImageOptions& options = {});

/// The source of the labels of images: "inferred" from the names of folders, None for no labels, or a list of
/// labels in the order of the files' paths.
///
///     std::filesystem::create_directory("pictures");
///     for (const char* name : {"a.png", "b.png"})
///       data::save_image(std::string("pictures/") + name, K::ones({4, 4, 3}));
///     auto dataset = data::image_dataset_from_directory(
///         "pictures", {.labels = data::ImageLabels({7, 3}),
///                      .image_size = {4, 4},
///                      .shuffle = false});
///     for (const data::Element& batch : dataset)
///       std::cout << batch[0].shape() << " " << batch[1];
class ImageLabels {
 public:
  ImageLabels(const char* inferred);
  ImageLabels(NoneType) : inferred_(false) {}
  ImageLabels(std::vector<std::int32_t> list) : inferred_(false), list_(std::move(list)) {}
  bool inferred() const { return inferred_; }
  const std::optional<std::vector<std::int32_t>>& list() const { return list_; }

 private:
  bool inferred_ = true;
  std::optional<std::vector<std::int32_t>> list_;
};

struct ImageFolderOptions {
  ImageLabels labels = "inferred";
  std::string label_mode = "int";  ///< int32 classes; "categorical" or "binary" (float32); or "none"
  std::vector<std::string> class_names =
      {};  ///< the names of the folders in the order of the labels; sorted by default
  std::string color_mode = "rgb";
  std::optional<std::int64_t> batch_size = 32;          ///< the batch size; none for single images
  std::array<std::int64_t, 2> image_size = {256, 256};  ///< height, width
  bool shuffle = true;                                  ///< whether each iteration has a new random order
  std::optional<std::int64_t> seed = {};
  double validation_split = 0;  ///< the part of the files that the seed selects for validation
  std::string subset = {};      ///< "training", "validation" or "both", if `validation_split` is set
  std::string interpolation = "bilinear";
  bool follow_links = false;   ///< whether links to folders below the class's folder are followed
  int num_parallel_calls = 1;  ///< threads that read images; AUTOTUNE: one for each processor
};

/// A dataset of images in batches, with the files and the class names that were found.
class ImageDataset : public Dataset {
 public:
  ImageDataset(Dataset dataset, std::vector<std::string> class_names, std::vector<std::string> file_paths)
      : Dataset(std::move(dataset)), class_names(std::move(class_names)), file_paths(std::move(file_paths)) {}
  std::vector<std::string> class_names;
  std::vector<std::string> file_paths;
};

/// Returns the images below a folder, each in the folder of its class: float32 images (batch, height, width,
/// channels) from 0 to 255, and labels. Files (.png, .jpg, .jpeg, .ppm, .pgm, .pbm and .pnm) are found at any
/// depth below the class's folder, which may be a link to a folder, and are read when their batch is read; a
/// warning on std::cerr counts images of formats that the library does not read, such as .bmp, .gif and .webp.
/// Without labels, or with a list of labels, the dataset has all images below the directory, in the order of
/// their paths; class_names are then the different labels. Throws IOError for a folder that is missing or
/// without images, ValueError for an unknown option, for class_names that are not folders of the directory,
/// and for a list of labels whose length is not the number of images. Reading throws the errors of `load_image`.
/// Mirrors `keras.utils.image_dataset_from_directory`.
///
///     auto train = data::image_dataset_from_directory("flowers", {.image_size = {96, 96}, .seed = 1});
///
/// For example:
///
///     for (const char* name : {"cat", "dog"}) {
///       std::filesystem::create_directories(std::string("pets/") + name);
///       for (int i = 0; i < 3; ++i)
///         data::save_image(
///             std::string("pets/") + name + "/" + std::to_string(i) + ".png",
///             K::ones({8, 8, 3}));
///     };
///     auto [train, validation] = data::image_datasets_from_directory(
///         "pets", {.image_size = {4, 4}, .seed = 1, .validation_split = 0.34});
///     for (const data::Element& batch : train)
///       std::cout << batch[0].shape() << " " << batch[1].shape();
ImageDataset image_dataset_from_directory(const std::string& directory,
                                          const ImageFolderOptions& options = {});

struct ImageDatasets {
  ImageDataset training, validation;
};

/// Returns the two subsets of a validation_split: Keras's subset="both". The seed, or the global generator,
/// determines the order in which the files are divided.
///
///     auto [train, validation] = data::image_datasets_from_directory("flowers", {.validation_split = 0.2});
ImageDatasets image_datasets_from_directory(const std::string& directory, ImageFolderOptions options);

}  // namespace ktape::data
