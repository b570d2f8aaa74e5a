#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>
#include <ktape/nn/saving/safetensors/safetensors_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors_index.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

namespace ktape::nn {
namespace saving {
namespace {

static_assert(std::endian::native == std::endian::little, "the numbers of a file have the lowest byte first");

using Json = nlohmann::json;

constexpr const char* rule = "the file must be a safetensors file";
constexpr const char* metadata_name = "__metadata__";
constexpr std::uint64_t length_size = 8, longest_header = 100'000'000;

constexpr std::pair<const char*, DType::Kind> dtypes[] = {
    {"F64", DType::Float64}, {"F32", DType::Float32},  {"F16", DType::Float16}, {"I64", DType::Int64},
    {"I32", DType::Int32},   {"I16", DType::Int16},    {"I8", DType::Int8},     {"U8", DType::UInt8},
    {"BOOL", DType::Bool},   {"BF16", DType::BFloat16}};

const char* code_of(DType dtype) {
  for (const auto& [code, known] : dtypes)
    if (dtype == known) return code;
  return nullptr;
}

/// Returns the dtype for a code of the format.
DType dtype_of(std::string_view code) {
  for (const auto& [known, dtype] : dtypes)
    if (code == known) return dtype;
  return DType::Int16;
}

}  // namespace

// --- Reading ----------------------------------------------------------------------------------------------

namespace {

/// Receives the parts of a header from the parser.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const data::ByteSource& file, std::vector<SafetensorsFile::Entry>& entries, Metadata& metadata)
      : file_(file), entries_(entries), metadata_(metadata) {}

  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_list_) unexpected("an object");
    ++depth_;
    if (depth_ == 2 && !in_metadata()) {
      entries_.emplace_back().name = name_;
      seen_.clear();
    }
    return true;
  }
  bool key(std::string& key) override {
    if (depth_ == 1) {
      name_ = key;
      if (in_metadata() && std::exchange(has_metadata_, true)) fail(metadata_name, " is repeated");
    } else {
      key_ = key;
      if (!in_metadata() && !seen_.insert(key).second) fail("'", key, "' is repeated", place());
    }
    return true;
  }
  bool end_object() override {
    if (depth_ == 2 && !in_metadata() && seen_.size() != 3)
      fail("dtype, shape or data_offsets is missing", place());
    --depth_;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata()) metadata_.emplace_back(key_, text);
    else if (depth_ == 2 && key_ == "dtype" && !in_list_) entries_.back().dtype = known(text);
    else unexpected("a string");
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata() || in_list_ || (key_ != "shape" && key_ != "data_offsets"))
      unexpected("a list");
    in_list_ = true;
    count_ = 0;
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (!in_list_) unexpected("a number");
    SafetensorsFile::Entry& entry = entries_.back();
    ++count_;
    if (key_ == "shape") {
      if (count_ > Shape::max_rank) fail("a shape has more than ", Shape::max_rank, " extents", place());
      if (number >> 63) fail("an extent is too large", place());
      entry.shape.push_back(static_cast<std::int64_t>(number));
    } else {
      (count_ == 1 ? entry.begin : entry.end) = number;
    }
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (key_ == "data_offsets" && count_ != 2) fail("data_offsets are not two", place());
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a bool"); }
  bool number_integer(std::int64_t) override { unexpected("a negative number"); }
  bool number_float(double, const std::string&) override { unexpected("a number that is no integer"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    fail("its header is not JSON at ", at - 1);
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    file_.fail(rule, reason...);
  }
  [[noreturn]] void unexpected(const char* what) const {
    fail("its header has ", what, " where there must be none", place());
  }
  const char* known(const std::string& dtype) const {
    for (const auto& entry : dtypes)
      if (dtype == entry.first) return entry.first;
    fail("the dtype '", printable(dtype), "' is not known", place());
  }
  std::string place() const { return depth_ == 0 ? "" : " in '" + printable(name_) + '\''; }
  bool in_metadata() const { return name_ == metadata_name; }

  const data::ByteSource& file_;
  std::vector<SafetensorsFile::Entry>& entries_;
  Metadata& metadata_;
  int depth_ = 0, count_ = 0;
  bool in_list_ = false, has_metadata_ = false;
  std::string name_, key_;
  std::set<std::string> seen_;
};

}  // namespace

SafetensorsFile::SafetensorsFile(const char* op, const std::string& path, bool memory_map)
    : op_(op), file_(op, path) {
  data::FileSection file(op, file_, "header", 0, file_.size());
  unsigned char length[length_size];
  file.read_exactly(length, length_size, "its length");
  const auto size = data::little_endian<std::uint64_t>(length);
  if (size > longest_header) file.fail(rule, "a header of ", size, " bytes");
  file.expect_room(size, "JSON");
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read_exactly(text.data(), text.size(), "JSON");
  if (text.empty() || text[0] != '{') file.fail(rule, "its header does not begin with {");
  HeaderReader reader(file, entries_, metadata_);
  Json::sax_parse(text, &reader);
  begin_ = length_size + size;
  check_names();
  check_places();
  if (memory_map) mapped_ = data::MappedFile::map(op, file_);
}

void SafetensorsFile::check_names() const {
  std::vector<const std::string*> names, keys;
  for (const Entry& entry : entries_) names.push_back(&entry.name);
  for (const auto& [key, text] : metadata_) keys.push_back(&key);
  for (auto* list : {&names, &keys}) {
    std::sort(list->begin(), list->end(), [](const auto* a, const auto* b) { return *a < *b; });
    const auto same =
        std::adjacent_find(list->begin(), list->end(), [](const auto* a, const auto* b) { return *a == *b; });
    if (same != list->end())
      fail<IOError>("[", op_, "] ", rule, ": received ", file_.path(), " (the name '", printable(**same),
                    "' is repeated)");
  }
}

/// Throws unless each byte after the header belongs to one tensor, and each tensor has the bytes of its
/// shape.
void SafetensorsFile::check_places() const {
  std::vector<const Entry*> in_order;
  for (const Entry& entry : entries_) in_order.push_back(&entry);
  std::sort(in_order.begin(), in_order.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t at = 0;
  for (const Entry* entry : in_order) {
    const auto wrong = [&](const auto&... reason) {
      fail<IOError>("[", op_, "] ", rule, ": received ", file_.path(), " (the data of '",
                    printable(entry->name), "', ", entry->begin, " to ", entry->end, ", ", reason..., ')');
    };
    if (entry->begin != at) wrong("must begin at ", at, ", where those before end");
    const std::uint64_t bytes = data::tensor_bytes(entry->shape, dtype_of(entry->dtype));
    if (entry->end < at || entry->end - at != bytes)
      wrong("must be ", entry->dtype, " of the shape ", entry->shape);
    at = entry->end;
  }
  if (const std::uint64_t there = file_.size() - begin_; at != there)
    fail<IOError>("[", op_, "] ", rule, ": received ", file_.path(),
                  " (its data must end with the file: they end at ", at, " of ", there, ')');
}

Tensor SafetensorsFile::read(const Entry& entry) const {
  const DType dtype = dtype_of(entry.dtype);
  const std::uint64_t at = begin_ + entry.begin;
  if (mapped_ && !dtype.is_bool() && at % dtype.size() == 0 && entry.end > entry.begin)
    return Tensor::borrowed(entry.shape, dtype, mapped_->data() + at, *mapped_);
  data::FileSection file(op_, file_, '\'' + printable(entry.name) + '\'', at, entry.end - entry.begin);
  return file.read_tensor(entry.shape, dtype, false);
}

NamedTensors SafetensorsFile::read_all() const {
  NamedTensors tensors;
  for (const Entry& entry : entries_) tensors.emplace_back(entry.name, read(entry));
  return tensors;
}

// --- Writing ----------------------------------------------------------------------------------------------

namespace {

/// Returns the text as JSON writes it.
std::string quoted(const char* op, const std::string& text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception&) {
    fail("[", op, "] names and texts must be UTF-8: received '", printable(text), '\'');
  }
}

/// Returns the order of the tensors' bytes: large numbers first, so that all are aligned.
std::vector<std::size_t> data_order(const NamedTensors& tensors) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensors[a].second.dtype().size() > tensors[b].second.dtype().size();
  });
  return order;
}

std::string metadata_json(const char* op, const Metadata& metadata) {
  std::string text;
  std::set<std::string> names;
  for (const auto& [name, value] : metadata) {
    if (!names.insert(name).second)
      fail("[", op, "] metadata must have different names: received '", printable(name), "' twice");
    text += (text.empty() ? "" : ",") + quoted(op, name) + ':' + quoted(op, value);
  }
  return text.empty() ? "" : quoted(op, metadata_name) + ":{" + text + '}';
}

std::string header_of(const char* op, const NamedTensors& tensors, const std::vector<std::size_t>& order,
                      const Metadata& metadata) {
  std::vector<std::uint64_t> places(tensors.size());
  std::uint64_t at = 0;
  for (const std::size_t i : order) places[i] = std::exchange(at, at + data::tensor_bytes(tensors[i].second));
  std::string text = metadata_json(op, metadata);
  std::set<std::string> names{metadata_name};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    if (!names.insert(name).second)
      fail("[", op, "] names of tensors must be different: received '", printable(name), '\'');
    std::string shape;
    for (const std::int64_t extent : tensor.shape())
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    text += (text.empty() ? "" : ",") + quoted(op, name) + R"(:{"dtype":")" + code_of(tensor.dtype()) +
            R"(","shape":[)" + shape + R"(],"data_offsets":[)" + std::to_string(places[i]) + ',' +
            std::to_string(places[i] + data::tensor_bytes(tensor)) + "]}";
  }
  text = '{' + text + '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data after the header
  if (text.size() > longest_header)
    fail("[", op, "] names and metadata must be below ", longest_header, " bytes: received ", text.size());
  return text;
}

}  // namespace

void write_safetensors(const char* op, const std::string& path, const NamedTensors& tensors,
                       const Metadata& metadata) {
  for (const auto& [name, tensor] : tensors) {
    expect_defined(op, name.c_str(), tensor);
    expect_value(op, tensor);
  }
  const std::vector<std::size_t> order = data_order(tensors);
  const std::string header = header_of(op, tensors, order, metadata);
  const std::uint64_t size = header.size();
  AtomicFile file(op, path);
  file.write(&size, sizeof(size));
  file.write(header);
  for (const std::size_t i : order)
    file.write(tensors[i].second.raw(), data::tensor_bytes(tensors[i].second));
  file.commit();
}

namespace {

void save_weights(const Model& model, const std::string& path) {
  write_safetensors("save_weights", path, flat_weights(model), {});
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  assign_flat_weights(model, path, SafetensorsFile("load_weights", path).read_all(), options);
}

}  // namespace

const Format safetensors = {".safetensors", nullptr, nullptr, save_weights, load_weights};

}  // namespace saving

std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string& path) {
  return saving::read_safetensors("load_safetensors", path);
}

std::vector<std::pair<std::string, Tensor>> map_safetensors(const std::string& path) {
  return saving::read_safetensors("map_safetensors", path, true);
}

std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string& path,
                                                             const std::vector<std::string>& names) {
  return saving::read_safetensors("load_safetensors", path, names);
}

std::vector<std::pair<std::string, std::string>> load_safetensors_metadata(const std::string& path) {
  return saving::SafetensorsFile("load_safetensors_metadata", path).metadata();
}

void save_safetensors(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const std::vector<std::pair<std::string, std::string>>& metadata) {
  saving::write_safetensors("save_safetensors", path, tensors, metadata);
}

}  // namespace ktape::nn
