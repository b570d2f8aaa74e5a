#include <ktape/ktape.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
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
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!(std::abs(a[i] - b[i]) <= 1e-6 + 1e-3 * std::abs(b[i])))
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

/// Cases of operators that the library has and that do not pass, by reason.
const std::map<std::string, std::set<std::string>> exceptions{
    {"bfloat16 becomes float32; the data hold its bits as uint16",
     {"cast_BFLOAT16_to_FLOAT", "cast_FLOAT_to_BFLOAT16", "castlike_BFLOAT16_to_FLOAT",
      "castlike_BFLOAT16_to_FLOAT_expanded", "castlike_FLOAT_to_BFLOAT16",
      "castlike_FLOAT_to_BFLOAT16_expanded"}},
    {"tensors of strings",
     {"cast_FLOAT_to_STRING", "cast_STRING_to_FLOAT", "castlike_FLOAT_to_STRING",
      "castlike_FLOAT_to_STRING_expanded", "castlike_STRING_to_FLOAT", "castlike_STRING_to_FLOAT_expanded"}},
    {"sequences and optional values", {"identity_opt", "identity_sequence"}},
    {"random numbers: dropout runs as in inference",
     {"training_dropout", "training_dropout_default", "training_dropout_default_mask",
      "training_dropout_mask"}},
    {"a model without inputs cannot be called", {"constant"}},
    {"peepholes", {"lstm_with_peepholes"}},
    {"Scan of opset 8", {"scan_sum"}}};

bool is_exception(const std::string& name) {
  return std::any_of(exceptions.begin(), exceptions.end(), [&](const auto& reason) {
    return name.starts_with("node/test_") && reason.second.contains(name.substr(10));
  });
}

}  // namespace

TEST_CASE("onnx: the ONNX project's test data") {
  if (!fs::exists(root)) {
    MESSAGE("skipped: there is no ", root.string(), " (Debian's package libonnx-testdata)");
    return;
  }
  int passed = 0, without_operator = 0;
  std::map<std::string, std::string> failed;
  for (const char* group : {"node", "simple", "pytorch-operator", "pytorch-converted"})
    for (const auto& entry : fs::directory_iterator(root / group)) {
      const std::string name = std::string(group) + '/' + entry.path().filename().string();
      if (!fs::exists(entry.path() / "model.onnx")) continue;
      std::string reason;
      try {
        reason = failure(nn::onnx::load((entry.path() / "model.onnx").string()), entry.path());
      } catch (const ktape::Error& error) {
        reason = error.what();
      }
      if (reason.find("operators must be known") != std::string::npos ||
          reason.find("opset must be") != std::string::npos)
        ++without_operator;
      else if (reason.empty()) ++passed;
      else failed[name] = reason;
    }
  for (const auto& [name, reason] : failed) CHECK_MESSAGE(is_exception(name), name, ": ", reason);
  MESSAGE(passed, " pass, ", failed.size(), " fail, ", without_operator, " need other operators");
  CHECK(passed >= 0.95 * static_cast<double>(passed + static_cast<int>(failed.size())));
}
