#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/data/formats/images.hpp>

#include <set>

#include "../../../ops/check.hpp"
#include "../files.hpp"
#include "../image_bytes.hpp"

namespace K = ktape::backend;
namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

const std::string colors = "\xff\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\xfe";  // 2 x 2 pixels

Tensor load(const std::string& path) { return data::load_image(path); }

}  // namespace

TEST_CASE("load_image: PNG, PPM and PGM keep every pixel") {
  const Files files;
  for (const std::string& bytes :
       {png(colors, 2, 2, PNG_FORMAT_RGB), "P6\n# a comment\n2 2\n255\n" + colors}) {
    const Tensor x = data::load_image(files.write("x", bytes));
    CHECK(x.shape() == Shape{2, 2, 3});
    CHECK(x.dtype() == "uint8");
    CHECK(values(x) == Values{255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 254});
  }
  for (const std::string& bytes :
       {png("\x01\x02\x03\xff", 4, 1, PNG_FORMAT_GRAY), std::string("P5 4 1 255\n\x01\x02\x03\xff")}) {
    CHECK(data::load_image(files.write("x", bytes), {.color_mode = "grayscale"}).shape() == Shape{1, 4, 1});
    CHECK(values(load(files.write("x", bytes))) == Values{1, 1, 1, 2, 2, 2, 3, 3, 3, 255, 255, 255});
  }
  CHECK(values(load(files.write("x", std::string("P5 2 1 1000\n\x01\xf4\x03\xe8")))) ==
        Values{128, 128, 128, 255, 255, 255});
}

TEST_CASE("load_image: transparency and gray") {
  const Files files;
  const std::string path = files.write("x.png", png("\x64\x96\xc8\x80", 1, 1, PNG_FORMAT_RGBA));
  CHECK(values(data::load_image(path)) == Values{100, 150, 200});
  CHECK(values(data::load_image(path, {.color_mode = "rgba"})) == Values{100, 150, 200, 128});
  CHECK(values(data::load_image(path, {.color_mode = "grayscale"})) == Values{141});  // 140.75
  const std::string plain = files.write("x.png", png(colors, 2, 2, PNG_FORMAT_RGB));
  CHECK(data::load_image(plain, {.color_mode = "rgba"}).item<int>(1, 1, 3) == 255);
}

TEST_CASE("load_image: JPEG, also progressive and gray") {
  const Files files;
  const std::string flat = [] {
    std::string pixels;
    for (int i = 0; i < 20 * 10; ++i) pixels += "\xc8\x64\x32";
    return pixels;
  }();
  for (bool progressive : {false, true}) {
    const Tensor x = load(files.write("x.jpg", jpeg(flat, 20, 10, 3, progressive)));
    CHECK(x.shape() == Shape{10, 20, 3});
    CHECK(std::abs(x.item<int>(5, 5, 0) - 200) < 4);
    CHECK(std::abs(x.item<int>(9, 19, 2) - 50) < 4);
  }
  const std::string gray = files.write("x.jpg", jpeg(std::string(64, 'd'), 8, 8, 1));
  CHECK(values(data::load_image(gray, {.color_mode = "grayscale"}))[0] == 'd');
  CHECK(load(gray).shape() == Shape{8, 8, 3});
  CHECK_THROWS_WITH_AS(load(files.write("cmyk.jpg", jpeg(std::string(256, 'd'), 8, 8, 4))),
                       Contains("cmyk.jpg"), IOError);
}

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

TEST_CASE("load_image: files that are no images, or claim too many pixels, are errors") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains(text), IOError);
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains("bad"), IOError);
  };
  error("GIF89a", "it begins otherwise");
  error("", "it begins otherwise");
  error("P6 2 2", "three numbers");
  error("P6 0 2 255\n", "must hold its image");
  error("P6 999999999 999999999 255\nabc", "must hold its image");
  error("P6 2 2 70000\nabc", "from 1 to 65535");
  std::string huge = png(colors, 2, 2, PNG_FORMAT_RGB);
  huge[18] = '\x0f', huge[22] = '\x0f';  // a million pixels in each direction
  const auto checksum = crc32(0, reinterpret_cast<const Bytef*>(huge.data()) + 12, 17);
  huge.replace(29, 4, big(static_cast<std::uint32_t>(checksum)));
  error(huge, "must hold its image");
  std::string wide = jpeg(std::string(64, 'd'), 8, 8, 1);
  const std::size_t frame = wide.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  wide.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  error(wide, "must hold its image");
  CHECK_THROWS_WITH_AS(load("none.png"), Contains("No such file"), IOError);
}

TEST_CASE("load_image: no damage does harm") {
  check_damage("x.png", png(colors, 2, 2, PNG_FORMAT_RGB), load);
  check_damage("x.ppm", "P6 2 2 255\n" + colors, load);
  const Files files;
  for (bool progressive : {false, true}) {
    const std::string bytes = jpeg(std::string(3 * 20 * 20, 'x') + colors, 20, 20, 3, progressive);
    // The last two bytes say that the image ends.
    for (std::size_t size = 0; size + 2 < bytes.size(); ++size)
      CHECK_THROWS_AS(load(files.write("x.jpg", bytes.substr(0, size))), IOError);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (const char flip : {'\x01', '\xff'}) {
        std::string other = bytes;
        other[i] = static_cast<char>(other[i] ^ flip);
        try {
          load(files.write("x.jpg", other));
        } catch (const IOError&) {
        }
      }
  }
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

TEST_CASE("encode_png writes pixels that are read again") {
  const Files files;
  for (const auto& [given_channels, mode] :
       std::vector<std::pair<std::int64_t, std::string>>{{1, "grayscale"}, {3, "rgb"}, {4, "rgba"}}) {
    const auto& channels = given_channels;
    CAPTURE(channels);
    const Tensor pixels = ints(K::arange(0, 30 * channels), "uint8");
    const Tensor image = K::reshape(pixels, {5, 6, channels});
    const std::string path = files.write("image.png", data::encode_png(image));
    const Tensor read = data::load_image(path, {.color_mode = mode});
    CHECK(read.shape() == image.shape());
    CHECK(values(read) == values(image));
  }
  CHECK_THROWS_WITH_AS(
      data::encode_png(K::ones({5, 6, 3})),
      Contains("[encode_png] pixels must be uint8 of shape (height, width, 1 to 4 channels): "
               "received float32 of shape (5, 6, 3)"),
      ValueError);
  for (const Shape& shape : {Shape{5, 6}, Shape{5, 6, 5}, Shape{0, 6, 1}})
    CHECK_THROWS_AS(data::encode_png(K::zeros(shape, {.dtype = "uint8"})), ValueError);
}
