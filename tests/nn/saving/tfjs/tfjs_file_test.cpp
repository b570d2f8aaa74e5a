#include "../tfjs_models.hpp"

using namespace tfjs_models;
using doctest::Contains;
using ktape::DType, ktape::IOError, ktape::Shape;

TEST_CASE("tfjs: dtypes that TensorFlow.js lacks become those that it has") {
  const Files files;
  const std::string path = files.folder() + "/model.json";
  nn::saving::write_tfjs("save", path, {},
                         {{"a", counted({3}, "bool")},
                          {"b", counted({2}, "float64")},
                          {"c", counted({2}, "int64")},
                          {"d", counted({2}, "uint8")},
                          {"e", counted({2}, "float16")},
                          {"f", counted({0, 2})}});
  const auto weights = load(path);
  const char* dtypes[] = {"bool", "float32", "int32", "int32", "float32", "float32"};
  REQUIRE(weights.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(weights[i].second.dtype() == dtypes[i]);
  CHECK(values(weights[2].second) == values(counted({2}, "int64")));
  CHECK(weights[5].second.shape() == Shape{0, 2});
}

TEST_CASE("tfjs: groups, shards and quantized weights that others wrote") {
  const Files files;
  files.write("a.bin", std::string("\x00\x80\xff", 3) + little<std::uint16_t>(0x3e00));
  files.write("deep/b.bin", little<std::uint16_t>(0xc000) + little<std::uint16_t>(0xffff) + '\x01');
  files.write("c.bin", std::string("\x00", 1) + floats({1.5f}) + std::string("\x02\x00\xc8", 3) + little(-7));
  const std::string path = files.write(
      "model.json",
      R"({"weightsManifest":[{"paths":["./a.bin","deep//b.bin"],"weights":[)" +
          weight("u8", "[3]", "float32", R"(,"quantization":{"dtype":"uint8","scale":0.5,"min":-1})") + ',' +
          weight("f16", "[2,1]", "float32",
                 R"(,"quantization":{"dtype":"float16","original_dtype":"float32"})") +
          ',' + weight("u16", "[]", "float32", R"(,"quantization":{"dtype":"uint16","scale":2,"min":0.25})") +
          ',' + weight("i", "[1]", "int32", R"(,"quantization":{"dtype":"uint8","scale":-2.5,"min":0})") +
          R"(]},{"paths":["c.bin"],"weights":[)" + weight("no", "[1]", "bool") + ',' +
          weight("f", "[]", "float32") + ',' + weight("yes", "[2]", "bool", ",\"quantization\":null") + ',' +
          weight("b", "[1]", "uint8") + ',' + weight("n", "[1]", "int32") + "]}]}");
  const nn::saving::TfjsFile file("load_weights", path);
  CHECK(file.elements() == 3 + 2 + 1 + 1 + 1 + 1 + 2 + 1 + 1);
  const auto weights = file.weights();
  const std::tuple<const char*, DType, Values> expected[] = {{"u8", "float32", {-1, 63, 126.5}},
                                                             {"f16", "float32", {1.5, -2}},
                                                             {"u16", "float32", {131070.25}},
                                                             {"i", "int32", {-2}},
                                                             {"no", "bool", {0}},
                                                             {"f", "float32", {1.5}},
                                                             {"yes", "bool", {1, 0}},
                                                             {"b", "uint8", {200}},
                                                             {"n", "int32", {-7}}};
  REQUIRE(weights.size() == std::size(expected));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto& [given_name, dtype, numbers] = expected[i];
    const auto& name = given_name;
    CAPTURE(name);
    CHECK(weights[i].first == name);
    CHECK(weights[i].second.dtype() == dtype);
    CHECK(values(weights[i].second) == numbers);
  }
}

TEST_CASE("tfjs: invalid files are errors") {
  const Files files;
  files.write("w.bin", "12345678");
  files.write("v.bin", "1234");
  const auto error = [&](const std::string& json, const char* reason) {
    CAPTURE(json);
    const std::string path = files.write("model.json", json);
    CHECK_THROWS_WITH_AS(load(path), Contains(reason), IOError);
    CHECK_THROWS_WITH_AS(load(path), Contains(files.folder().c_str()), IOError);
  };
  error("", "must hold JSON");
  error(R"({"weightsManifest":[)", "must hold JSON");
  error(std::string(100'000, '['), "model.json (");
  error("[]", "model.json must be");
  error(R"({"weightsManifest":{}})", "weightsManifest must be a list");
  error(R"({"weightsManifest":[1]})", "weightsManifest[0] must be");
  error(R"({"weightsManifest":[{"weights":[]}]})", "paths");
  error(R"({"weightsManifest":[{"paths":[]}]})", "weights");
  error(manifest("1"), "weightsManifest[0].weights[0] must be");
  const std::string two = weight("a", "[2]", "float32");
  for (const char* path :
       {"\"../w.bin\"", "\"a/../../w.bin\"", "\"/etc/passwd\"", "\"\"", "\"w\\u0000.bin\""})
    error(manifest(two, path), "a shard must be a file in the folder");
  error(manifest(two, "\"./\""), "a shard must be a file in the folder");
  error(manifest(two, "1"), "weightsManifest[0].paths must be a string");
  error(manifest(two, "\"none.bin\""), "none.bin (No such file");
  error(manifest(two, "\".\\u002f..\""), "a shard must be a file in the folder");
  error(manifest(weight("a", "[4]", "float32"), R"("w.bin","./w.bin")"), "w.bin is repeated");
  error(manifest(two + ',' + weight("a", "[1]", "float32"), R"("w.bin","v.bin")"),
        "the weight 'a' is repeated");
  error(manifest(two, R"("w.bin","v.bin")"),
        "the weights from 'a' on take 8 bytes, and their shards have 12");
  error(manifest(weight("a", "[3]", "float32")), "take 12 bytes, and their shards have 8");
  error(manifest(""), "take 0 bytes, and their shards have 8");
  error(manifest(two, ""), "take 8 bytes, and their shards have 0");
  error(manifest(weight("a", "[-1]", "float32")),
        "weightsManifest[0].weights[0].shape has a negative extent");
  error(manifest(weight("a", "[null]", "float32")), "weights[0].shape must be an integer");
  error(manifest(weight("a", "[1,1,1,1,1,1,1,1,2]", "float32")), "more than 8 extents");
  error(manifest(weight("a", "[4294967296,4294967296]", "float32")), "beyond all memory");
  error(manifest(weight("a", "[0,9223372036854775807]", "float32")), "beyond all memory");
  error(manifest(weight("a", "[1152921504606846975]", "uint8") + ',' +
                 weight("b", "[1152921504606846975]", "uint8")),
        "and their shards have 8");
  error(manifest(weight("a", "[1]", "complex64")),
        "weights[0].dtype must be one of float32, float16, int32, uint8, bool: received 'complex64'");
  error(manifest(weight("a", "[1]", "string")), "received 'string'");
  error(manifest(R"({"name":1,"shape":[2],"dtype":"float32"})"), "weights[0].name must be a string");
  error(manifest(R"({"shape":[2],"dtype":"float32"})"), "name");
  const auto quantized = [&](const char* dtype, const char* quantization, const char* reason) {
    error(manifest(weight("a", "[8]", dtype, (std::string(",\"quantization\":") + quantization).c_str())),
          reason);
  };
  quantized("float32", "1", "quantization must be");
  quantized("float32", "{}", "dtype");
  quantized("float32", R"({"dtype":"int8"})", "must be one of uint8, uint16, float16: received 'int8'");
  quantized("float32", R"({"dtype":"uint8","min":0})", "scale");
  quantized("float32", R"({"dtype":"uint8","scale":1})", "min");
  quantized("bool", R"({"dtype":"uint8","scale":1,"min":0})", "cannot be of a weight of bool");
  quantized("int32", R"({"dtype":"float16"})", "cannot be of a weight of int32");
  quantized("int32", R"({"dtype":"uint8","scale":1e8,"min":0})", "leads beyond int32");
  quantized("float32", R"({"dtype":"uint8","scale":1e308,"min":0})", "leads beyond float32");
  quantized("float32", R"({"dtype":"uint8","scale":0,"min":-1e39})", "leads beyond float32");
  CHECK_THROWS_WITH_AS(load(files.folder() + "/none/model.json"), Contains("No such file"), IOError);
}

TEST_CASE("tfjs: every damaged file is an error or a model") {
  const Files shards;
  shards.write("w.bin", "12345678");
  const std::string json =
      manifest(weight("a", "[2]", "uint8") + ',' +
               weight("b", "[3]", "float32", R"(,"quantization":{"dtype":"uint16","scale":1,"min":2})"));
  check_damage("model.json", json, [&](const std::string& path) {
    fs::copy_file(shards.folder() + "/w.bin", fs::path(path).parent_path() / "w.bin",
                  fs::copy_options::skip_existing);
    return load(path);
  });
}
