#pragma once
#include <ktape/ops/schema/config.hpp>

#include <fstream>
#include <iterator>
#include <string>

/// Reads a file of JSON, such as "nn/serialization/mobilenet_block.json", from the folder of the tests.
inline ktape::nn::Value json_file(const std::string& path) {
  std::ifstream file("tests/" + path);
  if (!file) ktape::fail<ktape::IOError>("[json_file] the file must exist: received \"", path, '"');
  return ktape::nn::from_json(std::string(std::istreambuf_iterator<char>(file), {}));
}
