#pragma once
#include <ktape/ktape.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "../../../data/files.hpp"

/// Models that are exported and then computed by others: by `nn::onnx::load`, and by ONNX Runtime if npm can
/// install the package onnxruntime-node.
namespace exported {

namespace nn = ktape::nn;
namespace K = ktape::backend;
using ktape::Tensor;

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Returns the folder node_modules with onnxruntime-node, installed at the first call; empty where npm is missing
/// or cannot install the package. The scripts of the package, which fetch more files, do not run. Tests that run at
/// the same time wait for the one that installs: npm replaces files that another test may have mapped.
inline const std::string& node_modules() {
  static const std::string folder = [] {
    const std::string home = std::string(KTAPE_TEST_ENGINES) + "/onnxruntime";
    const std::string modules = home + "/node_modules";
    const auto works = [&] {
      return std::system(
                 ("node -e \"require('" + modules + "/onnxruntime-node')\" >/dev/null 2>&1").c_str()) == 0;
    };
    std::filesystem::create_directories(home);
    const std::string install = "cd '" + home +
                                "' && flock lock sh -c 'test -e installed || npm install --prefix . "
                                "--ignore-scripts --no-audit --no-fund onnxruntime-node@1 >npm.log 2>&1 && "
                                "touch installed'";
    return std::system(install.c_str()) == 0 && works() ? modules : std::string();
  }();
  return folder;
}

/// Returns why two tensors differ by more than the tolerance, relative to the largest number; empty if they do not.
inline std::string difference(const Tensor& got, const Tensor& wanted, double tolerance) {
  if (!(got.shape() == wanted.shape()))
    return "shape " + to_string(got.shape()) + " for " + to_string(wanted.shape());
  if (got.dtype() != wanted.dtype())
    return std::string("dtype ") + got.dtype().name() + " for " + wanted.dtype().name();
  const Tensor a = K::cast(got, "float64"), b = K::cast(wanted, "float64");
  double largest = 0;
  for (std::int64_t i = 0; i < b.size(); ++i) largest = std::max(largest, std::abs(b.pointer<double>()[i]));
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.pointer<double>()[i], y = b.pointer<double>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::abs(x - y) <= tolerance * std::max(largest, 1.)))
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " for " + std::to_string(y);
  }
  return "";
}

/// A folder with exported models, their inputs and the outputs that the library computes.
class Cases {
 public:
  /// Exports a model, and compares what `nn::onnx::load` computes from the file, called and by a plan, with the model's
  /// outputs. Returns why they differ.
  std::string add(const std::string& name, const nn::Model& model, const std::vector<Tensor>& inputs,
                  const nn::ExportOptions& options = {}, double tolerance = 1e-5) {
    const std::string folder = files_.folder() + '/' + name;
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/model.onnx";
    model.export_to(path, options);
    Case one{name, model.apply(inputs), tolerance};
    const nn::Model again = nn::onnx::load(path);
    write_inputs(folder, again.impl().input_names(), inputs);
    cases_.push_back(one);
    const auto distance = [&](const char* how, const std::vector<Tensor>& outputs) -> std::string {
      if (outputs.size() != one.outputs.size()) return "the number of outputs";
      for (std::size_t i = 0; i < outputs.size(); ++i)
        if (const std::string text = difference(outputs[i], one.outputs[i], tolerance); !text.empty())
          return how + text;
      return "";
    };
    const std::string called = distance("called: ", again.apply(inputs));
    return called.empty() ? distance("planned: ", again.predict_on_batch(inputs)) : called;
  }

  /// Runs all models with ONNX Runtime, and calls report(name, reason) for each; the reason is empty for equal
  /// outputs. Returns false where ONNX Runtime cannot be had.
  bool run(const std::function<void(const std::string& name, const std::string& reason)>& report) const {
    if (node_modules().empty()) {
      MESSAGE("skipped: npm cannot install onnxruntime-node");
      return false;
    }
    const std::string command =
        "node tests/nn/saving/onnx/writing/run_onnx.js '" + node_modules() + "' '" + files_.folder() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    for (const Case& one : cases_) report(one.name, failure(one));
    return true;
  }

  std::string path(const std::string& name) const { return files_.folder() + '/' + name + "/model.onnx"; }

 private:
  struct Case {
    std::string name;
    std::vector<Tensor> outputs;
    double tolerance;
  };

  static void write_inputs(const std::string& folder, const std::vector<std::string>& names,
                           const std::vector<Tensor>& inputs) {
    nn::Value::List list;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& x = inputs[i];
      list.push_back(nn::Config{{"name", names.at(i)},
                                {"dtype", x.dtype().name()},
                                {"dims", nn::Value::List(x.shape().begin(), x.shape().end())}});
      std::ofstream(folder + "/input_" + std::to_string(i), std::ios::binary)
          .write(static_cast<const char*>(x.raw()),
                 static_cast<std::streamsize>(static_cast<std::size_t>(x.size()) * x.dtype().size()));
    }
    std::ofstream(folder + "/case.json") << nn::to_json(list);
  }

  std::string failure(const Case& one) const {
    const std::string folder = files_.folder() + '/' + one.name;
    const nn::Config result = nn::from_json(content_of(folder + "/result.json")).config();
    if (const nn::Value error = result.get("error"); !error.is_null()) return error.string();
    const nn::Value::List& outputs = result.at("outputs").list();
    if (outputs.size() != one.outputs.size()) return "the number of outputs";
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const nn::Config& output = outputs[i].config();
      const std::string bytes = content_of(folder + "/output_" + std::to_string(i));
      const Tensor got = Tensor::from_buffer(bytes.data(), bytes.size(), output.at("dims").shape(),
                                             ktape::DType(output.at("dtype").string()));
      if (std::string text = difference(got, one.outputs[i], one.tolerance); !text.empty()) return text;
    }
    return "";
  }

  Files files_;
  std::vector<Case> cases_;
};

/// Exports models of ops and layers, and compares what others compute from the files.
class Checks {
 public:
  /// Checks a function of symbolic tensors with an open batch.
  template <class F>
  void operator()(const std::string& name, const std::vector<Tensor>& inputs, F f) {
    std::vector<Tensor> in;
    for (const Tensor& x : inputs)
      in.push_back(nn::Input(ktape::Shape(x.shape().begin() + 1, x.ndim() - 1), {.dtype = x.dtype()}));
    std::string reason;
    try {
      reason = cases_.add(name, nn::Model(in, ktape::TensorList(f(in))), inputs);
    } catch (const ktape::Error& error) {
      reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  }
  void run() const {
    cases_.run([](const std::string& name, const std::string& reason) {
      CHECK_MESSAGE(reason.empty(), name, ": ", reason);
    });
  }

 private:
  Cases cases_;
};

}  // namespace exported
