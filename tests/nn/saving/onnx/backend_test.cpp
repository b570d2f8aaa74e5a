#include "../../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "../../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using ktape::Tensor;

/// The ONNX project's own test data, in Debian's package libonnx-testdata: models with inputs and outputs.
namespace {

const fs::path root = "/usr/share/libonnx-testdata/data";

std::vector<Tensor> tensors(const fs::path& folder, const std::string& prefix) {
  std::vector<Tensor> all;
  for (int i = 0; fs::exists(folder / (prefix + std::to_string(i) + ".pb")); ++i)
    all.push_back(nn::onnx::read_tensor("test", (folder / (prefix + std::to_string(i) + ".pb")).string()));
  return all;
}

/// Returns why two tensors differ; an empty text if they do not.
std::string difference(const Tensor& got, const Tensor& wanted) {
  if (!(got.shape() == wanted.shape()))
    return "shape " + to_string(got.shape()) + " for " + to_string(wanted.shape());
  if (got.dtype() != wanted.dtype())
    return std::string("dtype ") + got.dtype().name() + " for " + wanted.dtype().name();
  const auto a = values<double>(K::cast(got, "float64")), b = values<double>(K::cast(wanted, "float64"));
  double largest = 1;  // numbers that cancel each other leave the rounding of the larger ones
  for (const double x : b)
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= 1e-6 * largest + 1e-3 * std::abs(b[i])))
      return "element " + std::to_string(i) + ": " + std::to_string(a[i]) + " for " + std::to_string(b[i]);
  }
  return "";
}

/// Runs all data sets of a model. Returns why one fails; an empty text if none does.
std::string failure(const nn::Model& model, const fs::path& folder) {
  for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const fs::path data = folder / ("test_data_set_" + std::to_string(set));
    const std::vector<Tensor> inputs = tensors(data, "input_"), wanted = tensors(data, "output_");
    const std::vector<Tensor> got = inputs.empty() ? std::vector<Tensor>() : model.apply(inputs);
    if (inputs.empty()) return "a model without inputs";
    if (got.size() != wanted.size()) return "the number of outputs";
    for (std::size_t i = 0; i < got.size(); ++i)
      if (const std::string text = difference(got[i], wanted[i]); !text.empty()) return text;
  }
  return "";
}

/// Returns the cases that do not pass, with their reasons: "node/test_adam: the opset must be in".
std::map<std::string, std::string> exceptions() {
  std::map<std::string, std::string> cases;
  std::ifstream file("tests/nn/saving/onnx/exceptions.txt");
  REQUIRE(file);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with('#') && colon != std::string::npos)
      cases[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return cases;
}

/// Returns why a case does not pass; an empty text if it does.
std::string result(const fs::path& folder) {
  try {
    return failure(nn::onnx::load((folder / "model.onnx").string()), folder);
  } catch (const ktape::Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("onnx: the ONNX project's test data" * needs_hdf5) {
  if (!fs::exists(root)) {
    MESSAGE("skipped: there is no ", root.string(), " (Debian's package libonnx-testdata)");
    return;
  }
  const std::map<std::string, std::string> known = exceptions();
  std::size_t passed = 0, operators_missing = 0;
  std::set<std::string> seen;
  for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const auto& entry : fs::directory_iterator(root / group)) {
      const std::string name = std::string(group) + '/' + entry.path().filename().string();
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      const std::string reason = result(entry.path());
      const auto exception = known.find(name);
      seen.insert(name);
      passed += reason.empty();
      operators_missing += reason.find("operators must be among") != std::string::npos ||
                           reason.find("opset must be") != std::string::npos;
      if (exception == known.end()) {
        CHECK_MESSAGE(reason.empty(), name, ": ", reason);
      } else {
        CHECK_MESSAGE(!reason.empty(), name, " passes, and stands in exceptions.txt");
        CHECK_MESSAGE(reason.find(exception->second) != std::string::npos, name, ": ", reason);
      }
    }
  for (const auto& exception : known)
    CHECK_MESSAGE(seen.contains(exception.first), exception.first, " is no case");
  MESSAGE(passed, " pass, ", operators_missing, " need other operators or opsets, of ", seen.size());
  CHECK(static_cast<double>(passed) >= 0.95 * static_cast<double>(seen.size() - operators_missing));
}
