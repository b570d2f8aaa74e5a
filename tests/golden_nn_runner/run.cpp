#include "run.hpp"

#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/values.hpp>

#include <cmath>

namespace golden_nn {
namespace K = ktape::backend;
namespace {

double number(const Value& json) {
  if (json.is_boolean()) return json.boolean();
  if (!json.is_string()) return json.number();
  if (json.string() == "nan") return NAN;
  return json.string() == "inf" ? HUGE_VAL : -HUGE_VAL;
}

std::vector<double> numbers(const Value& json) {
  std::vector<double> out;
  for (const Value& item : json.list()) out.push_back(number(item));
  return out;
}

/// Returns whether the tolerance of a case also holds in float64, see tests/golden_nn/README.md.
bool keeps_tolerance(const Config& json) {
  if (json.contains("metric") || json.contains("initializer")) return true;
  const std::string function = json.get("function", "").string();
  return function == "normalize" || function == "Tokenizer";
}

}  // namespace

Run::Run(const Config& json, DType floatx)
    : json_(json), floatx_(floatx), seen_{"id", "tags", "oracles", "rtol", "atol", "float32", "error"} {
  const bool close = floatx == DType::Float64 && !keeps_tolerance(json);
  Config tolerance = json;
  if (floatx == DType::Float32 && json.contains("float32")) tolerance.update(json.at("float32").config());
  rtol_ = close ? 1e-9 : tolerance.get("rtol", 0).number();
  atol_ = close ? 1e-10 : tolerance.get("atol", 0).number();
}

const Value& Run::at(const std::string& key) const {
  seen_.insert(key);
  return json_.at(key);
}

Tensor Run::tensor(const Value& json) const {
  if (json.is_null()) return Tensor();
  const Config& parts = json.config();
  const DType given = dtype(parts.get("dtype", "float32").string());
  return K::reshape(K::constant(numbers(parts.at("data")), {.dtype = given}), parts.at("shape").shape());
}

Tensor Run::optional_tensor(const std::string& key) const { return has(key) ? tensor(at(key)) : Tensor(); }

Variable Run::variable(const Value& json, const std::string& name) const {
  return Variable(tensor(json), name);
}

void Run::compare(const std::string& what, const Tensor& got, const Value& want) {
  if (!got.defined()) return problem(what, " is None");
  const auto array = K::get_value<double>(got);
  compare(what, {array.begin(), array.end()}, got.shape(), want);
  const DType wanted = dtype(want.config().get("dtype", "float32").string());
  if (got.dtype() != wanted) problem(what, " must have the dtype ", wanted, ", has ", got.dtype());
}

void Run::compare(const std::string& what, const std::vector<double>& got, const Shape& shape,
                  const Value& want) {
  const Config& parts = want.config();
  if (shape != parts.at("shape").shape())
    return problem(what, " must have the shape ", parts.at("shape").shape(), ", has ", shape);
  const std::vector<double> wanted = numbers(parts.at("data"));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = got[i], b = wanted[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!std::isfinite(b) || !(std::fabs(a - b) <= atol_ + rtol_ * std::fabs(b)))
      return problem(what, " at ", i, ": got ", a, ", want ", b);
  }
}

void Run::compare_outputs(const std::vector<Tensor>& got) {
  const Value& outputs = at("outputs");
  const bool own =
      floatx_ == DType::Float32 && has("float32") && json_.at("float32").config().contains("outputs");
  const Value::List& want = (own ? json_.at("float32").config().at("outputs") : outputs).list();
  if (got.size() != want.size()) return problem("must have ", want.size(), " outputs, has ", got.size());
  for (std::size_t i = 0; i < want.size(); ++i) compare("output " + std::to_string(i), got[i], want[i]);
}

void Run::compare_gradients(const std::vector<Tensor>& outputs,
                            const std::vector<std::pair<std::string, Variable>>& sources) {
  if (!has("grads")) return;
  std::vector<Tensor> losses, seeds;
  const Value::List& cotangents = at("cotangents").list();
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (cotangents[i].is_null()) continue;
    losses.push_back(outputs.at(i));
    seeds.push_back(tensor(cotangents[i]));
  }
  std::set<std::string> compared;
  for (const auto& [name, source] : sources) {
    if (!at("grads").config().contains(name)) continue;
    compared.insert(name);
    const Tensor gradient = ktape::gradients(losses, {source}, seeds)[0];
    compare("gradient of " + name, gradient.defined() ? gradient : K::zeros_like(source),
            at("grads").config().at(name));
  }
  for (const std::string& name : at("grads").config().names())
    if (!compared.count(name)) problem("nobody computed the gradient of ", name);
}

std::vector<std::string> Run::finish() {
  if (!error())
    for (const std::string& key : json_.names())
      if (!seen_.count(key)) problem("nobody looked at ", key);
  return problems_;
}

}  // namespace golden_nn
