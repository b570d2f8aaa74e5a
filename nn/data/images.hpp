#pragma once
#include <ktape/nn/data/dataset.hpp>

#include <array>
#include <string>

/// Images from files: PNG, JPEG, and PPM or PGM in binary, told apart by how they begin.
namespace ktape::data {

struct ImageOptions {
  std::string color_mode = "rgb";                               ///< or "grayscale" (one channel) or "rgba"
  std::optional<std::array<std::int64_t, 2>> target_size = {};  ///< height, width; the image's own by default
  std::string interpolation = "bilinear";  ///< how it becomes that size, as in nn::Resizing
};

/// The pixels of an image, (height, width, channels), uint8 from 0 to 255. Grayscale is 0.299 R + 0.587 G +
/// 0.114 B; transparency is left out unless asked for. Throws IOError, naming the file, for one that is
/// missing, truncated, damaged or of another kind; ValueError for an unknown option. Mirrors
/// `keras.utils.load_img`.
Tensor load_image(const std::string& path, const ImageOptions& options = {});

struct ImageFolderOptions {
  std::string label_mode = "int";  ///< int32 classes; "categorical" or "binary" (float32); or "none"
  std::vector<std::string> class_names =
      {};  ///< the folders, in the order of their labels; by name by default
  std::string color_mode = "rgb";
  std::optional<std::int64_t> batch_size = 32;          ///< none: images one by one
  std::array<std::int64_t, 2> image_size = {256, 256};  ///< height, width
  bool shuffle = true;                                  ///< the files, in another order each time
  std::optional<std::int64_t> seed = {};
  double validation_split = 0;  ///< the part of the files, drawn by the seed, that is kept for validation
  std::string subset = {};      ///< with it: "training" or "validation"
  std::string interpolation = "bilinear";
  int num_parallel_calls = 1;  ///< threads that read images
};

/// Images in batches, with what they were found as.
class ImageDataset : public Dataset {
 public:
  ImageDataset(Dataset dataset, std::vector<std::string> class_names, std::vector<std::string> file_paths)
      : Dataset(std::move(dataset)), class_names(std::move(class_names)), file_paths(std::move(file_paths)) {}
  std::vector<std::string> class_names;
  std::vector<std::string> file_paths;
};

/// The images below a folder, each in the folder of its class: float32 images (batch, height, width,
/// channels) from 0 to 255, and labels. Files are read when their batch is: .png, .jpg, .jpeg, .ppm and .pgm,
/// in any depth below the class's folder; links to folders are not followed. Throws IOError for a folder that
/// is missing or without images, ValueError for an unknown option and for class_names that are no folders
/// there; reading throws as `load_image`. Mirrors `keras.utils.image_dataset_from_directory`.
///
///     auto train = data::image_dataset_from_directory("flowers", {.image_size = {96, 96}, .seed = 1});
ImageDataset image_dataset_from_directory(const std::string& directory,
                                          const ImageFolderOptions& options = {});

}  // namespace ktape::data
