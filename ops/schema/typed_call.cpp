#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>
#include <string_view>

namespace ktape::nn::detail {

Parameters::Parameters(const OperationCall& call) : call_(&call) {
  for (const Operation::Parameter& each : call.operation().parameters())
    (each.is_plain ? values_ : operands_).push_back(each.name.c_str());
}

bool Parameters::given(const char* option) const {
  const auto known = [&](const std::vector<const char*>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* each) { return std::string_view(each) == option; });
  };
  return (known(operands_) || known(values_)) && call_->has(option);
}

}  // namespace ktape::nn::detail
