#include <ktape/nn/data/formats/images.hpp>

#include <set>

#include "../../../ops/check.hpp"
#include "../../captured_stderr.hpp"
#include "../files.hpp"
#include "../image_bytes.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("load_image: another size") {
  const Files files;
  const std::string path = files.write("x.pgm", std::string("P5 2 2 255\n") + "\x0a\x14\x1e\x28");
  const auto sized = [&](std::int64_t height, std::int64_t width, const char* interpolation) {
    return values(data::load_image(
        path, {.color_mode = "grayscale", .target_size = {{height, width}}, .interpolation = interpolation}));
  };
  CHECK(sized(1, 1, "bilinear") == Values{25});
  CHECK(sized(1, 4, "bilinear") == Values{20, 23, 28, 30});  // 20, 22.5, 27.5, 30
  CHECK(sized(2, 4, "nearest") == Values{10, 10, 20, 20, 30, 30, 40, 40});
  CHECK(sized(2, 2, "bilinear") == Values{10, 20, 30, 40});
  CHECK(values(data::load_image(path, {.color_mode = "grayscale", .target_size = {{2, 4}}})) ==
        sized(2, 4, "nearest"));  // Keras's default
  CHECK_THROWS_WITH_AS(sized(0, 1, "bilinear"), Contains("target_size"), ValueError);
  CHECK_THROWS_WITH_AS(sized(1, 1, "cubic"), Contains("interpolation"), ValueError);
  CHECK_THROWS_WITH_AS(data::load_image(path, {.color_mode = "hsv"}), Contains("color_mode"), ValueError);
}

TEST_CASE("image_dataset_from_directory: classes are folders") {
  const Files files;
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    files.write("cats/deep/" + number + ".png",
                png(std::string(12, static_cast<char>(i)), 2, 2, PNG_FORMAT_RGB));
    files.write("dogs/" + number + ".PPM", "P6 1 1 255\n" + std::string(3, static_cast<char>(100 + i)));
  }
  files.write("dogs/notes.txt", "no image");
  files.write(".hidden/x.png", "no image");
  const auto all = data::image_dataset_from_directory(
      files.folder(), {.batch_size = 5, .image_size = {4, 3}, .shuffle = false, .num_parallel_calls = 2});
  CHECK(all.class_names == std::vector<std::string>{"cats", "dogs"});
  CHECK(all.file_paths.size() == 12);
  CHECK(all.cardinality() == 3);
  const data::Element first = *all.begin();
  CHECK(first[0].shape() == Shape{5, 4, 3, 3});
  CHECK(first[0].dtype() == "float32");
  CHECK(first[0].item(3, 1, 1, 1) == 3.f);
  CHECK(first[1].dtype() == "int32");

  std::multiset<double> labels, other;
  const auto shuffled =
      data::image_dataset_from_directory(files.folder(), {.batch_size = {}, .image_size = {1, 1}, .seed = 2});
  for (const data::Element& e : shuffled) {
    labels.insert(e[1].item<double>());
    CHECK((e[0].item(0, 0, 0) >= 100) == (e[1].item<int>() == 1));  // the label is the image's
  }
  CHECK(labels.count(1) == 6);

  const auto part = [&](const char* subset) {
    return data::image_dataset_from_directory(files.folder(), {.label_mode = "categorical",
                                                               .image_size = {1, 1},
                                                               .seed = 3,
                                                               .validation_split = 0.25,
                                                               .subset = subset});
  };
  const auto train = part("training"), validation = part("validation");
  CHECK(train.file_paths.size() == 9);
  CHECK(validation.file_paths.size() == 3);
  for (const std::string& path : validation.file_paths)
    CHECK(std::find(train.file_paths.begin(), train.file_paths.end(), path) == train.file_paths.end());
  CHECK((*train.begin())[1].shape() == Shape{9, 2});

  const auto [training, held_out] =
      data::image_datasets_from_directory(files.folder(), {.seed = 3, .validation_split = 0.25});
  CHECK(training.file_paths == train.file_paths);
  CHECK(held_out.file_paths == validation.file_paths);

  const auto one = data::image_dataset_from_directory(
      files.folder(), {.class_names = {"dogs"}, .color_mode = "grayscale", .image_size = {1, 1}});
  CHECK((*one.begin())[0].shape() == Shape{6, 1, 1, 1});

  const auto error = [&](const data::ImageFolderOptions& options, const char* text) {
    CHECK_THROWS_WITH_AS(data::image_dataset_from_directory(files.folder(), options), Contains(text),
                         ValueError);
  };
  error({.label_mode = "some"}, "label_mode");
  error({.class_names = {"birds"}}, "received 'birds'");
  error({.class_names = {"cats/../.hidden"}}, "must be folders");
  error({.batch_size = 0}, "batch_size");
  error({.image_size = {0, 1}}, "image_size");
  error({.validation_split = 0.5}, "subset");
  error({.validation_split = 0.5, .subset = "training"}, "needs a seed");
  error({.subset = "training"}, "subset");
  error({.validation_split = 0.5, .subset = "both"}, "see image_datasets_from_directory");
  CHECK_THROWS_WITH_AS(data::image_datasets_from_directory(files.folder(), {}),
                       Contains("validation_split must be in (0, 1)"), ValueError);
  CHECK_THROWS_WITH_AS(
      data::image_datasets_from_directory(files.folder(), {.validation_split = 0.5, .subset = "training"}),
      Contains("subset must be 'both'"), ValueError);
  CHECK_THROWS_WITH_AS(data::image_dataset_from_directory("none"), Contains("received none"), IOError);
  CHECK_THROWS_WITH_AS(data::image_dataset_from_directory(files.folder() + "/dogs"), Contains("no folders"),
                       IOError);
  files.write("cats/broken.png", "no image");
  CHECK_THROWS_WITH_AS(
      [&] {
        for (const auto& e : data::image_dataset_from_directory(files.folder(), {.num_parallel_calls = 2}))
          static_cast<void>(e);
      }(),
      Contains("broken.png"), IOError);
}

TEST_CASE("image_dataset_from_directory: a class's folder may be a link, links below are asked for") {
  const Files files, elsewhere;
  const std::string pixel = png(std::string(3, 'c'), 1, 1, PNG_FORMAT_RGB);
  for (const char* name : {"cats/1.png", "cats/deep/2.png", "more/3.png"}) elsewhere.write(name, pixel);
  files.write("dogs/4.png", pixel);
  std::filesystem::create_symlink(elsewhere.folder() + "/cats", files.folder() + "/cats");
  std::filesystem::create_symlink(elsewhere.folder() + "/more", files.folder() + "/dogs/more");
  std::filesystem::create_symlink(elsewhere.folder() + "/more/3.png", files.folder() + "/dogs/5.png");
  const auto count = [&](const data::ImageFolderOptions& options) {
    return data::image_dataset_from_directory(files.folder(), options).file_paths.size();
  };
  CHECK(count({}) == 4);
  CHECK(count({.follow_links = true}) == 5);
  CHECK(count({.label_mode = "none"}) == 2);  // as Keras, from the folder on
  CHECK(count({.label_mode = "none", .follow_links = true}) == 5);
  CHECK(data::image_dataset_from_directory(files.folder()).class_names ==
        std::vector<std::string>{"cats", "dogs"});
}

TEST_CASE("image_dataset_from_directory: a warning counts images of other formats") {
  const Files files;
  const std::string pixel = png(std::string(3, 'c'), 1, 1, PNG_FORMAT_RGB);
  files.write("cats/1.png", pixel);
  files.write("cats/2.BMP", "BM");
  files.write("dogs/3.gif", "GIF89a");
  files.write("dogs/4.pbm", "P1 1 1 1");
  files.write("dogs/notes.txt", "no image");
  std::string log;
  std::size_t found = 0;
  {
    const CapturedStderr captured;
    found = data::image_dataset_from_directory(files.folder()).file_paths.size();
    log = captured.text();
  }
  CHECK(found == 2);
  CHECK(log.find("[image_dataset_from_directory] images must be PNG, JPEG, PPM, PGM or PBM files: 2 of other "
                 "formats, the first " +
                 files.folder() + "/cats/2.BMP, are left out") != std::string::npos);
  {
    const CapturedStderr captured;
    data::image_datasets_from_directory(files.folder(), {.validation_split = 0.5});
    log = captured.text();
  }
  CHECK(log.find("are left out") != std::string::npos);
  CHECK(log.find("are left out") == log.rfind("are left out"));
  const Files others;
  others.write("cats/1.webp", "RIFF");
  CHECK_THROWS_WITH_AS(data::image_dataset_from_directory(others.folder()),
                       Contains("no PNG, JPEG, PPM, PGM or PBM images, 1 of other formats, the first "),
                       IOError);
}

TEST_CASE("image_dataset_from_directory: labels that are given, and none") {
  const Files files;
  for (const char* name : {"a.png", "b.png", "deep/c.png"})
    files.write(name, png(std::string(3, name[0]), 1, 1, PNG_FORMAT_RGB));
  const auto labels = [&](const data::ImageLabels& labels, const char* mode) {
    return data::image_dataset_from_directory(
        files.folder(), {.labels = labels, .label_mode = mode, .image_size = {1, 1}, .shuffle = false});
  };
  const auto given = labels(std::vector<std::int32_t>{4, 7, 4}, "int");
  CHECK(given.class_names == std::vector<std::string>{"4", "7"});
  CHECK(values((*given.begin())[1]) == Values{4, 7, 4});
  CHECK((*given.begin())[0].item(2, 0, 0, 0) == 'd');
  const auto hot = labels(std::vector<std::int32_t>{1, 0, 2}, "categorical");
  CHECK(values((*hot.begin())[1]) == Values{0, 1, 0, 1, 0, 0, 0, 0, 1});
  for (const auto& images : {labels(ktape::None, "int"), labels("inferred", "none")}) {
    CHECK((*images.begin()).size() == 1);
    CHECK((*images.begin())[0].shape() == Shape{3, 1, 1, 3});
    CHECK(images.class_names.empty());
  }
  CHECK_THROWS_WITH_AS(labels("guessed", "int"), Contains("received labels='guessed'"), ValueError);
  CHECK_THROWS_WITH_AS(labels(std::vector<std::int32_t>{1}, "int"),
                       Contains("received 1 labels for 3 images"), ValueError);
  CHECK_THROWS_WITH_AS(labels(std::vector<std::int32_t>{4, 7, 4}, "categorical"),
                       Contains("labels must be from 0 to 1 for label_mode 'categorical': received 4"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      data::image_dataset_from_directory(files.folder(), {.labels = ktape::None, .class_names = {"deep"}}),
      Contains("class_names must go with labels that are inferred"), ValueError);
}
