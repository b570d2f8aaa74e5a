#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/tfjs/tfjs_file.hpp>
#include <ktape/ops/inspection.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

namespace ktape::nn::saving {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the numbers of a file have the lowest byte first");

using NamedDType = std::pair<const char*, DType::Kind>;

constexpr NamedDType dtypes[] = {{"float32", DType::Float32},
                                 {"float16", DType::Float16},
                                 {"int32", DType::Int32},
                                 {"uint8", DType::UInt8},
                                 {"bool", DType::Bool}};
/// The dtypes of quantized numbers; uint16 is read as the bits of Int16.
constexpr NamedDType quantized_dtypes[] = {
    {"uint8", DType::UInt8}, {"uint16", DType::Int16}, {"float16", DType::Float16}};

/// Returns a + b, or the largest number if the sum overflows.
std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) { return std::min(a, ~b) + b; }

/// Returns the dtype with this name. Throws ValueError, with `what` in the message, for an unknown name.
template <std::size_t N>
DType known(const NamedDType (&dtypes)[N], const std::string& name, const std::string& what) {
  std::string names;
  for (const auto& [known, dtype] : dtypes) {
    if (name == known) return dtype;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  fail(what, " must be one of ", names, ": received '", name, '\'');
}

// --- Reading ----------------------------------------------------------------------------------------------

/// Several files that are read in order as one source.
class Shards final : public data::ByteSource {
 public:
  Shards(const char* op, const std::string& name, const std::vector<std::string>& paths)
      : ByteSource(op, name), paths_(paths) {
    try {
      for (const std::string& path : paths) left_ += data::RandomFile(op, path).size();
    } catch (const IOError& error) {
      fail("its shards must be complete", error.what());
    }
  }

  std::size_t read(void* out, std::size_t n) override {
    std::size_t done = 0;
    while (done < n && (section_ || next_ < paths_.size())) {
      if (!section_) open(paths_[next_++]);
      const std::size_t count = section_->read(static_cast<char*>(out) + done, n - done);
      done += count;
      if (section_->room() == 0) section_.reset();
    }
    left_ -= std::min<std::uint64_t>(left_, done);
    return done;
  }
  std::uint64_t room() const override { return left_; }

 private:
  void open(const std::string& path) {
    file_.emplace(op_, path);
    section_.emplace(op_, *file_, "the weights", 0, file_->size());
  }

  const std::vector<std::string>& paths_;
  std::size_t next_ = 0;
  std::optional<data::RandomFile> file_;
  std::optional<data::FileSection> section_;
  std::uint64_t left_ = 0;
};

template <class T, class F>
Tensor converted(const Tensor& stored, DType dtype, F f) {
  const Tensor out = Tensor::empty(stored.shape(), dtype);
  const T* from = stored.pointer<T>();
  for (std::int64_t i = 0; i < stored.size(); ++i)
    if (dtype == DType::Float32) out.pointer<float>()[i] = static_cast<float>(f(from[i]));
    else out.pointer<std::int32_t>()[i] = static_cast<std::int32_t>(std::floor(f(from[i]) + 0.5));
  return out;
}

template <class Weight>
Tensor dequantized(const Tensor& stored, const Weight& weight) {
  const auto affine = [&](double number) { return number * weight.scale + weight.min; };
  if (weight.stored == DType::Float16) return backend::cast(stored, weight.dtype);
  if (weight.stored == DType::UInt8) return converted<std::uint8_t>(stored, weight.dtype, affine);
  return converted<std::uint16_t>(stored, weight.dtype, affine);
}

}  // namespace

TfjsFile::TfjsFile(const char* op, const std::string& path) : op_(op), path_(path) {
  try {
    json_ = json_of(op, path).config("model.json");
    const Value manifest = json_.get("weightsManifest");
    if (manifest.is_null()) return;
    const Value::List& groups = manifest.list("weightsManifest");
    for (std::size_t i = 0; i < groups.size(); ++i)
      read_group(groups[i], "weightsManifest[" + std::to_string(i) + ']');
  } catch (const IOError&) {
    throw;
  } catch (const Error& error) {
    fail(reason_of(error));
  }
  check_names();
  check_lengths();
}

void TfjsFile::read_group(const Value& value, const std::string& what) {
  const Config& config = value.config(what);
  Group group;
  for (const Value& shard : config.at("paths").list(what + ".paths"))
    group.shards.push_back(shard_of(shard.string(what + ".paths"), what));
  std::uint64_t bytes = 0;
  for (const Value& weight : config.at("weights").list(what + ".weights")) {
    const std::string place = what + ".weights[" + std::to_string(group.weights.size()) + ']';
    group.weights.push_back(weight_of(weight.config(place), place));
    const Weight& added = group.weights.back();
    bytes = saturated_sum(bytes, data::tensor_bytes(added.shape, added.stored));
  }
  groups_.push_back(std::move(group));
  groups_.back().bytes = bytes;
}

/// Throws for a shard or a weight that is listed twice, because a small file must not fill the memory.
void TfjsFile::check_names() const {
  std::set<std::string> names, shards;
  for (const Group& group : groups_) {
    for (const Weight& weight : group.weights)
      if (!names.insert(weight.name).second) fail("the weight '", weight.name, "' is repeated");
    for (const std::string& shard : group.shards)
      if (!shards.insert(shard).second) fail("the shard ", shard, " is repeated");
  }
}

void TfjsFile::check_lengths() const {
  for (const Group& group : groups_) {
    const std::uint64_t there = Shards(op_, path_, group.shards).room();
    if (there == group.bytes) continue;
    const std::string first = group.weights.empty() ? "" : group.weights[0].name;
    fail("the weights from '", first, "' on take ", group.bytes, " bytes, and their shards have ", there);
  }
}

std::string TfjsFile::shard_of(const std::string& path, const std::string& what) const {
  const std::string inside = path_beside(path_, path);
  if (inside.empty()) fail("a shard must be a file in the folder: '", path, "' in ", what);
  return folder_of(path_) + inside;
}

TfjsFile::Weight TfjsFile::weight_of(const Config& config, const std::string& what) const {
  Weight weight;
  weight.name = config.at("name").string(what + ".name");
  weight.of_optimizer = config.get("group") == Value("optimizer");
  for (const Value& extent : config.at("shape").list(what + ".shape")) {
    if (weight.shape.rank() == Shape::max_rank)
      fail(what, ".shape has more than ", Shape::max_rank, " extents");
    weight.shape.push_back(extent.integer(what + ".shape"));
    if (weight.shape.back() < 0) fail(what, ".shape has a negative extent");
  }
  weight.dtype = weight.stored = known(dtypes, config.at("dtype").string(what + ".dtype"), what + ".dtype");
  if (const Value quantization = config.get("quantization"); !quantization.is_null())
    read_quantization(quantization.config(what + ".quantization"), what + ".quantization", weight);
  if (data::tensor_bytes(weight.shape, DType::Float64) >> 63)
    fail(what, ".shape is beyond all memory: ", weight.shape);
  return weight;
}

void TfjsFile::read_quantization(const Config& config, const std::string& what, Weight& weight) const {
  weight.stored = known(quantized_dtypes, config.at("dtype").string(what + ".dtype"), what + ".dtype");
  weight.quantized = true;
  const bool is_affine = weight.stored != DType::Float16;
  if (weight.dtype != DType::Float32 && !(is_affine && weight.dtype == DType::Int32))
    fail(what, " cannot be of a weight of ", weight.dtype.name());
  if (!is_affine) return;
  weight.scale = config.at("scale").number(what + ".scale");
  weight.min = config.at("min").number(what + ".min");
  const double last = weight.scale * (weight.stored == DType::UInt8 ? 255 : 65535) + weight.min;
  const double bound = weight.dtype == DType::Int32 ? std::numeric_limits<std::int32_t>::max()
                                                    : std::numeric_limits<float>::max();
  for (const double end : {weight.min, last})
    if (!(std::abs(end) <= bound)) fail(what, " leads beyond ", weight.dtype.name(), ": ", end);
}

std::int64_t TfjsFile::elements() const {
  std::uint64_t elements = 0;  // cannot overflow: at most the number of bytes of the shards
  for (const Group& group : groups_)
    for (const Weight& weight : group.weights)
      if (!weight.of_optimizer) elements += data::tensor_bytes(weight.shape, DType::UInt8);
  return static_cast<std::int64_t>(elements);
}

NamedTensors TfjsFile::weights() const {
  NamedTensors weights;
  for (const Group& group : groups_) {
    Shards shards(op_, path_, group.shards);
    for (const Weight& weight : group.weights) {
      const Tensor stored = shards.read_tensor(weight.shape, weight.stored, false);
      if (!weight.of_optimizer)
        weights.emplace_back(weight.name, weight.quantized ? dequantized(stored, weight) : stored);
    }
  }
  return weights;
}

// --- Writing ----------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t shard_size = 4 << 20;  // the largest size that browsers cache

void expect_int32(const char* op, const std::string& name, const Tensor& x) {
  using Limits = std::numeric_limits<std::int32_t>;
  const auto* numbers = x.pointer<std::int64_t>();
  for (std::int64_t i = 0; i < x.size(); ++i)
    if (numbers[i] < Limits::min() || numbers[i] > Limits::max())
      fail("[", op, "] TensorFlow.js has no integers beyond int32: received ", numbers[i], " in '", name,
           '\'');
}

/// Returns the weights with dtypes of TensorFlow.js.
NamedTensors for_tfjs(const char* op, const NamedTensors& weights) {
  NamedTensors converted;
  for (const auto& [name, value] : weights) {
    if (value.dtype() == DType::Int64) expect_int32(op, name, value);
    const DType dtype = value.dtype() == DType::Bool  ? DType::Bool
                        : value.dtype().is_floating() ? DType::Float32
                                                      : DType::Int32;
    converted.emplace_back(name, value.dtype() == dtype ? value : backend::cast(value, dtype));
  }
  return converted;
}

/// The names of a new model's shards, and of the shards of the model.json that the new model replaces.
class ShardNames {
 public:
  ShardNames(const char* op, const std::string& path) : folder_(folder_of(path)) {
    constexpr std::string_view suffix = "model.json";
    prefix_ = path.substr(folder_.size());
    prefix_.resize(prefix_.size() - suffix.size());
    try {
      const Config old = json_of(op, path).config();
      for (const Value& group : old.at("weightsManifest").list())
        for (const Value& shard : group.config().at("paths").list()) add_old(path_inside(shard.string()));
    } catch (const Error&) {
      // There is no old model.json, or it is not readable and no shards need to be kept.
    }
  }

  const std::string& folder() const { return folder_; }
  const std::vector<std::string>& old() const { return old_; }

  /// Returns names that the old model.json does not have.
  std::vector<std::string> unused(std::uint64_t count) const {
    int number = 1;
    while (numbers_.contains(number)) ++number;
    std::vector<std::string> names;
    for (std::uint64_t i = 1; i <= count; ++i)
      names.push_back(prefix_ + "group" + std::to_string(number) + "-shard" + std::to_string(i) + "of" +
                      std::to_string(count) + ".bin");
    return names;
  }

 private:
  void add_old(const std::string& name) {
    const int number = number_of(name);
    if (number == 0) return;
    old_.push_back(name);
    numbers_.insert(number);
  }

  /// Returns the number of the group in the name of a shard; 0 for other names.
  int number_of(const std::string& name) const {
    if (!name.starts_with(prefix_)) return 0;
    const std::string rest = name.substr(prefix_.size());
    int number = 0, shard = 0, count = 0, end = 0;
    std::sscanf(rest.c_str(), "group%9d-shard%9dof%9d.bin%n", &number, &shard, &count, &end);
    return end > 0 && static_cast<std::size_t>(end) == rest.size() ? number : 0;
  }

  std::string folder_, prefix_;
  std::vector<std::string> old_;
  std::set<int> numbers_;
};

Value manifest_of(const std::vector<std::string>& shards, const NamedTensors& weights) {
  Value::List described;
  for (const auto& [name, value] : weights)
    described.push_back(Config{{"name", name}, {"shape", value.shape()}, {"dtype", value.dtype().name()}});
  return Value::List{Config{{"paths", shards}, {"weights", described}}};
}

void make_folder(const char* op, const std::string& folder) {
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error)
    fail<IOError>("[", op, "] the folder must be writable: received ", folder, " (", error.message(), ')');
}

/// A lock that admits one writer at a time to a folder: a second writer would remove the shards of the first
/// as old shards.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // Some file systems have no locks: then there is no protection.
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  FolderLock(const FolderLock&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }

 private:
  const int file_;
};

void remove_all(const std::string& folder, const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const std::string& name : names) fs::remove(folder + name, ignored);
}

void write_shards(const char* op, const std::string& folder, const std::vector<std::string>& names,
                  const NamedTensors& weights) {
  std::optional<AtomicFile> file;
  auto name = names.begin();
  for (const auto& [weight, value] : weights) {
    const char* bytes = static_cast<const char*>(value.raw());
    for (std::uint64_t left = data::tensor_bytes(value); left > 0;) {
      if (!file) file.emplace(op, folder + *name++);
      const std::uint64_t count = std::min(left, shard_size - file->size());
      file->write(bytes, count);
      bytes += count, left -= count;
      if (file->size() < shard_size) continue;
      file->commit();
      file.reset();
    }
  }
  if (file) file->commit();
}

}  // namespace

void write_tfjs(const char* op, const std::string& path, const Config& given, const NamedTensors& weights) {
  const NamedTensors values = for_tfjs(op, weights);
  std::uint64_t bytes = 0;
  for (const auto& [name, value] : values) bytes += data::tensor_bytes(value);
  const auto text_of = [&](const std::vector<std::string>& shards) {
    Config json = given;
    // TensorFlow.js does not load a manifest without weights.
    if (!values.empty()) json.set("weightsManifest", manifest_of(shards, values));
    const std::string text = to_json(json);
    if (from_json(text) != Value(json))
      fail("[", op, "] the names of layers and of the file must be UTF-8: received path='", path, '\'');
    return text;
  };
  text_of({});  // throws, if at all, before a folder is created
  make_folder(op, folder_of(path));
  const FolderLock lock(folder_of(path));
  const ShardNames names(op, path);
  const std::vector<std::string> shards = names.unused((bytes + shard_size - 1) / shard_size);
  const std::string text = text_of(shards);
  AtomicFile file(op, path);
  file.write(text);
  try {
    write_shards(op, names.folder(), shards, values);
  } catch (...) {
    remove_all(names.folder(), shards);
    throw;
  }
  file.commit();
  remove_all(names.folder(), names.old());
}

}  // namespace ktape::nn::saving
