#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/pickle.hpp>
#include <ktape/nn/files/torch.hpp>
#include <ktape/nn/files/zip.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <set>

namespace ktape::data {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

constexpr const char* op = "load_torch";
constexpr int deepest = 100;
constexpr std::int64_t most_visits = 4'000'000;
/// The begin of files that PyTorch wrote before 1.6: a pickle of a number.
constexpr std::string_view older_magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);
/// The mark of a tar archive, the format of the first PyTorch, and its place.
constexpr std::string_view tar_magic("ustar");
constexpr std::size_t tar_place = 257;

struct StorageType {
  const char* name;
  DType::Kind dtype;
};
constexpr StorageType storage_types[] = {
    {"torch.FloatStorage", DType::Float32}, {"torch.DoubleStorage", DType::Float64},
    {"torch.HalfStorage", DType::Float16},  {"torch.LongStorage", DType::Int64},
    {"torch.IntStorage", DType::Int32},     {"torch.ShortStorage", DType::Int16},
    {"torch.CharStorage", DType::Int8},     {"torch.ByteStorage", DType::UInt8},
    {"torch.BoolStorage", DType::Bool},     {"torch.BFloat16Storage", DType::BFloat16}};

const StorageType* storage_type(const std::string& name) {
  for (const StorageType& type : storage_types)
    if (name == type.name) return &type;
  return nullptr;
}

bool is_list_of_integers(const PickleValue& value) {
  if (value.kind != PickleValue::Tuple && value.kind != PickleValue::List) return false;
  for (const PickleValue* item : value.items)
    if (item->kind != PickleValue::Int) return false;
  return true;
}

/// The tensors of a file, made while its pickle is read.
class TorchFile {
 public:
  explicit TorchFile(const std::string& path) : path_(path), archive_(op, checked(path)) {
    for (const ZipEntry& entry : archive_.entries()) {
      entries_[entry.name] = &entry;
      stored_ += entry.compressed;
      if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl"))
        prefix_ = entry.name.substr(0, entry.name.size() - 8), pickle_ = &entry;
    }
    if (!pickle_) fail("there is no data.pkl");
    if (entries_.contains(prefix_ + "constants.pkl")) fail("it is a TorchScript model; save its state_dict");
    if (const auto order = entries_.find(prefix_ + "byteorder"); order != entries_.end())
      swapped_ = archive_.text(*order->second) == "big";
  }

  Named read() {
    const std::string bytes = archive_.open(*pickle_)->rest();
    Unpickler unpickler(op, path_, bytes,
                        {[](const std::string& name) { return knows(name); },
                         [this](const std::string& function, const PickleValue& arguments,
                                PickleValue& result) { return make(function, arguments, result); },
                         [this](const PickleValue& id, PickleValue& result) { return storage(id, result); }});
    Named named;
    collect(unpickler.read(), "", 0, named);
    std::set<std::string> names;
    for (const auto& [name, tensor] : named)
      if (!names.insert(name).second) fail("the name '" + nn::printable(name) + "' occurs twice");
    return named;
  }

 private:
  struct Storage {
    std::string key;
    const StorageType* type;
    std::int64_t count;
  };

  [[noreturn]] void fail(const std::string& reason) const {
    ktape::fail<IOError>("[", op, "] the file must hold tensors that torch.save wrote: received ", path_,
                         " (", reason, ')');
  }

  /// Throws for the formats of PyTorch before 1.6.
  static const std::string& checked(const std::string& path) {
    const RandomFile file(op, path);
    std::string begin(
        static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), tar_place + tar_magic.size())), 0);
    file.read(0, begin.data(), begin.size());
    const char* const older = begin.starts_with(older_magic) ? "the format of PyTorch before 1.6"
                              : begin.substr(std::min(begin.size(), tar_place)) == tar_magic
                                  ? "a tar archive, the format of PyTorch before 0.2"
                                  : nullptr;
    if (older)
      ktape::fail<IOError>("[", op, "] the file must hold tensors that torch.save wrote: received ", path,
                           " (", older, "; save the file with a newer PyTorch)");
    return path;
  }

  static bool knows(const std::string& name) {
    static const std::set<std::string> names{"collections.OrderedDict",
                                             "torch._utils._rebuild_tensor_v2",
                                             "torch._utils._rebuild_tensor",
                                             "torch._utils._rebuild_parameter",
                                             "torch.Size",
                                             "torch.device"};
    // A checkpoint may tell dtypes among its options.
    static const std::set<std::string> dtypes{
        "torch.float32", "torch.float64", "torch.float16", "torch.bfloat16", "torch.uint8",
        "torch.int8",    "torch.int16",   "torch.int32",   "torch.int64",    "torch.bool"};
    return names.contains(name) || dtypes.contains(name) || storage_type(name);
  }

  bool make(const std::string& function, const PickleValue& arguments, PickleValue& result) {
    const std::vector<PickleValue*>& items = arguments.items;
    if (function == "collections.OrderedDict") return ordered_dict(items, result);
    if (function == "torch.device") return true;  // None: no tensor
    if (function == "torch.Size") {
      result.kind = PickleValue::Tuple;
      if (items.size() == 1) result.items = items[0]->items;
      return items.size() <= 1;
    }
    if (function == "torch._utils._rebuild_parameter") {
      if (items.empty() || items[0]->kind != PickleValue::Made || !is_tensor(items[0]->integer)) return false;
      result.kind = PickleValue::Made, result.integer = items[0]->integer;
      return true;
    }
    return function.starts_with("torch._utils._rebuild_tensor") && tensor(items, result);
  }

  static bool ordered_dict(const std::vector<PickleValue*>& items, PickleValue& result) {
    result.kind = PickleValue::Dict;
    if (items.empty()) return true;
    if (items.size() != 1 || items[0]->kind != PickleValue::List) return false;
    for (const PickleValue* pair : items[0]->items) {
      if (pair->items.size() != 2) return false;
      result.items.insert(result.items.end(), pair->items.begin(), pair->items.end());
    }
    return true;
  }

  /// Reads an id ('storage', type, key, device, number of elements).
  bool storage(const PickleValue& id, PickleValue& result) {
    if (id.kind != PickleValue::Tuple || id.items.size() < 5 || id.items[0]->text != "storage" ||
        id.items[1]->kind != PickleValue::Global || id.items[2]->kind != PickleValue::Text ||
        id.items[4]->kind != PickleValue::Int || id.items[4]->integer < 0)
      return false;
    const StorageType* const type = storage_type(id.items[1]->text);
    if (!type) return false;
    made_.push_back({{id.items[2]->text, type, id.items[4]->integer}, Tensor()});
    result.kind = PickleValue::Made;
    result.integer = static_cast<std::int64_t>(made_.size()) - 1;
    return true;
  }

  bool is_tensor(std::int64_t number) const {
    return made_[static_cast<std::size_t>(number)].tensor.defined();
  }

  /// Makes a tensor from (storage, offset, extents, strides, ...).
  bool tensor(const std::vector<PickleValue*>& items, PickleValue& result) {
    if (items.size() < 4 || items[0]->kind != PickleValue::Made || is_tensor(items[0]->integer) ||
        items[1]->kind != PickleValue::Int || !is_list_of_integers(*items[2]) ||
        !is_list_of_integers(*items[3]) || items[2]->items.size() != items[3]->items.size() ||
        items[2]->items.size() > Shape::max_rank)
      return false;
    Shape shape, strides;
    for (const PickleValue* extent : items[2]->items) shape.push_back(extent->integer);
    for (const PickleValue* stride : items[3]->items) strides.push_back(stride->integer);
    const Storage from = made_[static_cast<std::size_t>(items[0]->integer)].storage;
    made_.push_back({from, view(from, items[1]->integer, shape, strides)});
    result.kind = PickleValue::Made;
    result.integer = static_cast<std::int64_t>(made_.size()) - 1;
    return true;
  }

  /// Returns the elements of a storage, which is read once.
  const Tensor& elements(const Storage& storage) {
    Tensor& tensor = storages_[storage.key];
    if (tensor.defined()) {
      if (tensor.dtype() != DType(storage.type->dtype) || tensor.size() != storage.count)
        fail("the storage '" + nn::printable(storage.key) + "' has two types");
      return tensor;
    }
    const auto entry = entries_.find(prefix_ + "data/" + storage.key);
    if (entry == entries_.end()) fail("the storage '" + nn::printable(storage.key) + "' is missing");
    const std::uint64_t bytes = tensor_bytes({storage.count}, storage.type->dtype);
    if (bytes != entry->second->size)
      fail("the storage '" + nn::printable(storage.key) + "' has " + std::to_string(entry->second->size) +
           " bytes in place of " + std::to_string(bytes));
    const std::unique_ptr<ByteSource> source = archive_.open(*entry->second);
    tensor = source->read_tensor({storage.count}, storage.type->dtype, swapped_);
    source->expect_end("the storage");
    return tensor;
  }

  Tensor view(const Storage& storage, std::int64_t offset, const Shape& shape, const Shape& strides) {
    std::int64_t last = offset;
    bool inside = offset >= 0;
    std::int64_t packed = 1;
    bool contiguous = true;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      std::int64_t reach = 0;
      inside = inside && shape[axis] >= 0 && strides[axis] >= 0 &&
               !__builtin_mul_overflow(std::max<std::int64_t>(shape[axis] - 1, 0), strides[axis], &reach) &&
               !__builtin_add_overflow(last, reach, &last);
      if (!inside) break;
      contiguous = contiguous && (shape[axis] == 1 || strides[axis] == packed);
      if (__builtin_mul_overflow(packed, shape[axis], &packed)) packed = 0, contiguous = false;
    }
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (!inside || (!empty && last >= storage.count)) fail("a tensor lies beyond its storage");
    const DType stored = storage.type->dtype;
    made_bytes_ += std::min<std::uint64_t>(tensor_bytes(shape, DType::Float64), ~std::uint64_t{0} >> 8);
    if (made_bytes_ > 8 * most_inflated(stored_, arrays_inflation))
      fail("the tensors have more than 64 MB and 32 times the bytes of the file");
    const Tensor all = elements(storage);
    const bool whole = contiguous && offset == 0 && shape.count() == storage.count;
    return whole ? all.alias(shape) : copied(all, offset, shape, strides, stored);
  }

  static Tensor copied(const Tensor& all, std::int64_t offset, const Shape& shape, const Shape& strides,
                       DType dtype) {
    const Tensor out = Tensor::empty(shape, dtype);
    const std::size_t size = dtype.size();
    const auto* from = static_cast<const char*>(all.raw());
    auto* to = static_cast<char*>(out.raw());
    std::array<std::int64_t, Shape::max_rank> at{};
    for (std::int64_t i = 0, place = offset; i < out.size(); ++i) {
      std::memcpy(to + static_cast<std::size_t>(i) * size, from + static_cast<std::size_t>(place) * size,
                  size);
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        std::int64_t& index = at[static_cast<std::size_t>(axis)];
        place += strides[axis];
        if (++index < shape[axis]) break;
        place -= index * strides[axis];
        index = 0;
      }
    }
    return out;
  }

  void collect(const PickleValue& value, const std::string& name, int depth, Named& named) {
    // Containers may occur in each other many times over.
    if (++visits_ > most_visits) fail("the values are nested too often");
    if (depth > deepest) fail("the values are nested more deeply than 100");
    const std::string prefix = name.empty() ? "" : name + '.';
    if (value.kind == PickleValue::Made) {
      if (!is_tensor(value.integer)) fail("there is a storage in place of a tensor");
      add(named, name, made_[static_cast<std::size_t>(value.integer)].tensor);
    } else if (value.kind == PickleValue::Dict) {
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
        const PickleValue& key = *value.items[i];
        const bool number = key.kind == PickleValue::Int;
        if (!number && key.kind != PickleValue::Text) fail("a key is neither a text nor an integer");
        collect(*value.items[i + 1], prefix + (number ? std::to_string(key.integer) : key.text), depth + 1,
                named);
      }
    } else if (value.kind == PickleValue::List || value.kind == PickleValue::Tuple) {
      for (std::size_t i = 0; i < value.items.size(); ++i)
        collect(*value.items[i], prefix + std::to_string(i), depth + 1, named);
    }
  }

  void add(Named& named, const std::string& name, const Tensor& tensor) const {
    if (named.size() == 1'000'000) fail("there are more than a million tensors");
    named.emplace_back(name, tensor);
  }

  struct Made {
    Storage storage;
    Tensor tensor;  ///< undefined for a storage
  };

  const std::string path_;
  ZipArchive archive_;
  std::map<std::string, const ZipEntry*> entries_;
  std::string prefix_;
  const ZipEntry* pickle_ = nullptr;
  bool swapped_ = false;
  std::uint64_t stored_ = 0, made_bytes_ = 0;
  std::int64_t visits_ = 0;
  std::map<std::string, Tensor> storages_;
  std::vector<Made> made_;
};

}  // namespace

std::vector<std::pair<std::string, Tensor>> load_torch(const std::string& path) {
  return TorchFile(path).read();
}

}  // namespace ktape::data
