#include <ktape/nn/config.hpp>
#include <ktape/nn/names.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace ktape::nn {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Value& value) {
  if (value.is_null()) return nullptr;
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  if (value.is_string()) return value.string();
  if (value.is_list()) {
    Json list = Json::array();
    for (const Value& item : value.list()) list.push_back(json_of(item));
    return list;
  }
  Json object = Json::object();
  for (const auto& [name, item] : value.config()) object[name] = json_of(item);
  return object;
}

bool finite(const Value& value) {
  if (value.is_list()) return std::all_of(value.list().begin(), value.list().end(), finite);
  if (value.is_config())
    return std::all_of(value.config().begin(), value.config().end(),
                       [](const Config::Entry& entry) { return finite(entry.second); });
  return !value.is_number() || std::isfinite(value.number());
}

constexpr int deepest = 200;

Value value_of(const Json& json, int depth) {
  if (depth > deepest) fail("[from_json] values may be nested ", deepest, " deep: received a deeper text");
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX))
    return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    Value::List list;
    for (const Json& item : json) list.push_back(value_of(item, depth + 1));
    return list;
  }
  Config config;
  for (const auto& [name, item] : json.items()) config.set(name, value_of(item, depth + 1));
  return config;
}

}  // namespace

Value::Value() noexcept = default;
Value::Value(const Value& other) = default;
Value::Value(Value&& other) noexcept = default;
Value& Value::operator=(const Value& other) = default;
Value& Value::operator=(Value&& other) noexcept = default;
Value::~Value() = default;

Value::Value(const Scalar& number) {
  if (number.kind() == Scalar::Bool) data_ = number.to<bool>();
  else if (number.kind() == Scalar::Integer) data_ = number.integer();
  else data_ = number.real();
}

Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(List values) : data_(std::move(values)) {}
Value::Value(const Config& config) : data_(std::make_shared<const Config>(config)) {}

Value::Value(const Shape& shape) {
  List list;
  for (std::int64_t extent : shape) list.push_back(extent == None ? Value() : Value(extent));
  data_ = std::move(list);
}

Value::Value(const Axes& axes) {
  if (axes.all()) return;
  *this = axes.list().size() == 1 ? Value(axes.list()[0]) : Value(axes.list());
}

void Value::mismatch(const std::string& what, const char* rule) const {
  fail<TypeError>(what, " must be ", rule, ": received ", *this);
}

bool Value::boolean(const std::string& what) const {
  if (!is_boolean()) mismatch(what, "true or false");
  return std::get<bool>(data_);
}

std::int64_t Value::integer(const std::string& what) const {
  if (is_integer()) return std::get<std::int64_t>(data_);
  if (!is_number() || number() != std::trunc(number()) || std::fabs(number()) > 9e15)
    mismatch(what, "an integer");
  return static_cast<std::int64_t>(number());
}

double Value::number(const std::string& what) const {
  if (is_integer()) return static_cast<double>(std::get<std::int64_t>(data_));
  if (!is_number()) mismatch(what, "a number");
  return std::get<double>(data_);
}

const std::string& Value::string(const std::string& what) const {
  if (!is_string()) mismatch(what, "a string");
  return std::get<std::string>(data_);
}

const Value::List& Value::list(const std::string& what) const {
  if (!is_list()) mismatch(what, "a list");
  return std::get<List>(data_);
}

const Config& Value::config(const std::string& what) const {
  if (!is_config()) mismatch(what, "a config");
  return *std::get<std::shared_ptr<const Config>>(data_);
}

Shape Value::shape(const std::string& what) const {
  Shape out;
  if (is_integer()) return {integer()};
  for (const Value& extent : list(what)) out.push_back(extent.is_null() ? None : extent.integer(what));
  return out;
}

Axes Value::axes(const std::string& what) const {
  if (is_null()) return {};
  if (is_list()) return Axes(as<std::vector<int>>(what));
  return Axes(as<int>(what));
}

bool operator==(const Value& a, const Value& b) {
  if (a.is_config() && b.is_config()) return a.config() == b.config();
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  return a.data_ == b.data_;
}

Config::Config(std::initializer_list<Entry> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

const Value* Config::find(const std::string& name) const {
  for (const auto& [known, value] : entries_)
    if (known == name) return &value;
  return nullptr;
}

const Value& Config::at(const std::string& name) const {
  const Value* found = find(name);
  if (!found)
    fail("[Config] there must be a value of the name: received name='", name, "'", suggestion(name, names()));
  return *found;
}

Value Config::get(const std::string& name, const Value& otherwise) const {
  const Value* found = find(name);
  return found ? *found : otherwise;
}

void Config::set(const std::string& name, Value value) {
  if (const Value* found = find(name)) *const_cast<Value*>(found) = std::move(value);
  else entries_.emplace_back(name, std::move(value));
}

void Config::update(const Config& other) {
  for (const auto& [name, value] : other.entries_) set(name, value);
}

void Config::erase(const std::string& name) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; });
}

std::vector<std::string> Config::names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : entries_) names.push_back(name);
  return names;
}

bool operator==(const Config& a, const Config& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const Config::Entry& entry) {
           const Value* other = b.find(entry.first);
           return other && *other == entry.second;
         });
}

std::string to_json(const Value& value, int indent) {
  if (!finite(value)) fail("[to_json] numbers must be finite: received one that is not");
  return json_of(value).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Value from_json(const std::string& text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    fail("[from_json] the text must be JSON: ", error.what());
  }
  return value_of(json, 0);
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ktape::nn
