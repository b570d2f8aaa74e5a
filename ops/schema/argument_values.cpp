#include <ktape/ops/schema/argument_values.hpp>

namespace ktape {
namespace {

using nn::Value;

Value bound_value(const Slice::Bound& bound) { return bound.given() ? Value(bound.value_or(0)) : Value(); }

Value entry_value(const Index& entry) {
  if (entry.kind() == Index::Position) return entry.position();
  if (entry.kind() == Index::New) return {};
  if (entry.kind() == Index::Rest) return "...";
  const Slice& slice = entry.slice();
  return nn::Config{{"start", bound_value(slice.start)},
                    {"stop", bound_value(slice.stop)},
                    {"step", bound_value(slice.step)}};
}

}  // namespace

Value value_of(const std::map<std::string, std::int64_t>& numbers) {
  nn::Config config;
  for (const auto& [name, number] : numbers) config.set(name, number);
  return config;
}

Value value_of(const Indices& indices) {
  Value::List key;
  for (const Index& entry : indices.entries()) key.push_back(entry_value(entry));
  return key;
}

}  // namespace ktape
