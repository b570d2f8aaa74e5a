#include <ktape/nn/core/text.hpp>
#include <ktape/nn/saving/base/weight_names.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <set>

namespace ktape::nn::saving {
namespace {

constexpr const char* op = "load_weights";

class Rule {
 public:
  explicit Rule(const WeightName& rule) : rule_(rule), pattern_(pattern_of(op, "names", rule)) {}

  bool matches(const std::string& name) const { return pattern_.matches(name); }
  std::string rename(const std::string& name) const { return pattern_.replaced(name, rule_.name); }

  Tensor transposed(const std::string& path, const std::string& name, const Tensor& tensor) const {
    if (rule_.transpose.empty()) return tensor;
    std::set<int> axes(rule_.transpose.begin(), rule_.transpose.end());
    const int rank = static_cast<int>(rule_.transpose.size());
    if (rank != tensor.ndim() || static_cast<int>(axes.size()) != rank || *axes.begin() != 0 ||
        *axes.rbegin() != rank - 1)
      fail("[", op, "] transpose must have each axis of the tensor once: received '", printable(name),
           "' of shape=", tensor.shape(), " in ", path, " for the pattern '", rule_.pattern, '\'');
    return backend::permute_dimensions(tensor, Shape(rule_.transpose));
  }

 private:
  const WeightName& rule_;
  Pattern pattern_;
};

}  // namespace

Pattern pattern_of(const char* op, const char* option, const WeightName& rule) {
  try {
    return Pattern(rule.pattern);
  } catch (const std::runtime_error& error) {
    fail("[", op, "] ", option, " must have regular expressions: received pattern='", rule.pattern, "' (",
         error.what(), ')');
  }
}

NamedTensors renamed(const std::string& path, const NamedTensors& tensors,
                     const std::vector<WeightName>& names) {
  const std::vector<Rule> rules(names.begin(), names.end());
  std::set<std::string> taken;
  NamedTensors found;
  for (const auto& [name, tensor] : tensors) {
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&, &name = name](const Rule& r) { return r.matches(name); });
    if (rule == rules.end()) continue;
    const std::string weight = rule->rename(name);
    if (!taken.insert(weight).second)
      fail("[", op, "] names must give each tensor a different name: received '", printable(weight),
           "' for '", printable(name), "' and another of ", path);
    found.emplace_back(weight, rule->transposed(path, name, tensor));
  }
  return found;
}

}  // namespace ktape::nn::saving
