#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/ops/schema/config.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
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
  Json::object_t object;
  // The names of a config differ from each other, so a search for equal names can be skipped.
  for (const auto& [name, item] : value.config()) object.Container::emplace_back(name, json_of(item));
  return object;
}

bool finite(const Value& value) {
  if (value.is_list()) return std::all_of(value.list().begin(), value.list().end(), finite);
  if (value.is_config())
    return std::all_of(value.config().begin(), value.config().end(),
                       [](const Config::Entry& entry) { return finite(entry.second); });
  return !value.is_number() || std::isfinite(value.number());
}

/// A parser that makes a Value from a JSON text.
class ValueReader final : public nlohmann::json_sax<Json> {
 public:
  Value result() { return std::move(result_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value > INT64_MAX) return add(static_cast<double>(value));
    return add(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }  // JSON text has no binary values

  bool start_array(std::size_t) override { return open({.list = Value::List()}); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open({.config = Config()}); }
  bool key(std::string& name) override {
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    fail("[from_json] the text must be JSON: ", error.what());
  }

 private:
  /// A list or a config whose end has not been parsed.
  struct Open {
    std::optional<Value::List> list = {};
    Config config = {};
    std::string key = {};  ///< the key of the next value
  };

  void expect_depth() const {
    constexpr std::size_t deepest = 200;
    if (open_.size() > deepest)
      fail("[from_json] values may be nested ", deepest, " deep: received a deeper text");
  }

  bool open(Open opened) {
    expect_depth();
    open_.push_back(std::move(opened));
    return true;
  }

  bool close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    return add(closed.list ? Value(std::move(*closed.list)) : Value(closed.config));
  }

  bool add(Value value) {
    expect_depth();
    if (open_.empty()) result_ = std::move(value);
    else if (open_.back().list) open_.back().list->push_back(std::move(value));
    else open_.back().config.set(open_.back().key, std::move(value));
    return true;
  }

  std::vector<Open> open_;
  Value result_;
};

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

std::int64_t Value::integer_between(std::int64_t least, std::int64_t most, const std::string& what) const {
  const std::int64_t value = integer(what);
  if (value < least || value > most)
    fail(what, " must be an integer from ", least, " to ", most, ": received ", value);
  return value;
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
  if (!places_.empty()) {
    const auto place = places_.find(name);
    return place == places_.end() ? nullptr : &entries_[place->second].second;
  }
  for (const auto& [known, value] : entries_)
    if (known == name) return &value;
  return nullptr;
}

const Value& Config::at(const std::string& name) const {
  const Value* found = find(name);
  if (!found)
    fail("[Config] the name must be that of a value: received name='", name, "'", suggestion(name, names()));
  return *found;
}

Value Config::get(const std::string& name, const Value& otherwise) const {
  const Value* found = find(name);
  return found ? *found : otherwise;
}

void Config::set(const std::string& name, Value value) {
  if (const Value* found = find(name)) {
    *const_cast<Value*>(found) = std::move(value);
    return;
  }
  entries_.emplace_back(name, std::move(value));
  note_last();
}

void Config::note_last() {
  constexpr std::size_t few = 32;
  if (entries_.size() <= few) return;
  for (std::size_t i = places_.size(); i < entries_.size(); ++i) places_.emplace(entries_[i].first, i);
}

void Config::update(const Config& other) {
  for (const auto& [name, value] : other.entries_) set(name, value);
}

void Config::erase(const std::string& name) {
  if (std::erase_if(entries_, [&](const Entry& entry) { return entry.first == name; }) == 0) return;
  places_.clear();
  note_last();
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
  ValueReader reader;
  Json::sax_parse(text, &reader);
  return reader.result();
}

std::ostream& operator<<(std::ostream& out, const Value& value) {
  return out << json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ktape::nn
