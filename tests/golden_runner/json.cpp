#include "json.hpp"

#include <cmath>
#include <stdexcept>

namespace golden {
namespace {

double number(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (!json.is_string()) return json.get<double>();
  const auto text = json.get<std::string>();
  if (text == "nan") return NAN;
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  throw std::runtime_error("a number is expected: " + text);
}

}  // namespace

std::vector<double> numbers(const Json& json) {
  std::vector<double> out;
  for (const Json& item : json) out.push_back(number(item));
  return out;
}

Value value(const Json& json) {
  Value out;
  if (json.is_null()) return out;
  if (json.is_boolean()) out.kind = Value::Bool, out.number = json.get<bool>();
  else if (json.is_number_integer()) out.kind = Value::Integer, out.number = json.get<double>();
  else if (json.is_number()) out.kind = Value::Real, out.number = json.get<double>();
  else if (json.is_string()) out.kind = Value::Text, out.text = json.get<std::string>();
  else if (json.is_array()) {
    out.kind = Value::List;
    for (const Json& item : json) out.list.push_back(value(item));
  } else if (json.is_object()) {
    out.kind = Value::Object;
    for (const auto& [key, item] : json.items()) out.keys.push_back(key), out.list.push_back(value(item));
  } else throw std::runtime_error("an attribute of unknown kind: " + json.dump());
  return out;
}

Array array(const Json& json) {
  Array out;
  for (const auto& [key, part] : json.items()) {
    if (key == "shape") out.shape = ktape::Shape(part.get<std::vector<std::int64_t>>());
    else if (key == "data") out.data = numbers(part);
    else if (key == "dtype") out.dtype = part.get<std::string>();
    else if (key != "name") throw std::runtime_error("unknown key of a tensor: " + key);
  }
  if (static_cast<std::int64_t>(out.data.size()) != out.shape.count())
    throw std::runtime_error("the shape does not fit the data: " + ktape::to_string(out.shape));
  return out;
}

Named named(const Json& json) {
  Named out;
  for (const auto& [key, part] : json.items()) out.emplace_back(key, array(part));
  return out;
}

}  // namespace golden
