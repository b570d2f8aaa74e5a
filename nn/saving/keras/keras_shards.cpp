#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/keras/keras_shards.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

namespace ktape::nn::saving {
namespace {

using hdf5::Entry;

constexpr const char* suffix = ".weights.json";
/// The limit of Keras: 5 GB.
constexpr std::uint64_t usual_size = std::uint64_t{5} << 30;

// --- Writing ----------------------------------------------------------------------------------------------

/// A file with a part of the weights.
struct Shard {
  Entry root;
  std::uint64_t bytes = 0;
};

std::uint64_t bytes_of(const Entry& vars) {
  std::uint64_t bytes = 0;
  for (const auto& [name, member] : vars.members)
    if (member.value.defined()) bytes += data::tensor_bytes(member.value);
  return bytes;
}

/// Divides the groups of weights among files, in order.
class Division {
 public:
  explicit Division(std::uint64_t most) : most_(most) {}

  void visit(const Entry& entry, const std::string& path) {
    const bool has_weights = std::any_of(entry.members.begin(), entry.members.end(),
                                         [](const auto& member) { return member.second.value.defined(); });
    if (has_weights) add(entry, path);
    for (const auto& [name, member] : entry.members)
      if (member.is_group()) visit(member, path + '/' + name);
  }

  std::vector<Shard> shards{1};
  std::vector<std::pair<std::string, std::size_t>> places;  ///< of each group the number of its file
  std::uint64_t total = 0;

 private:
  void add(const Entry& vars, const std::string& path) {
    const std::uint64_t bytes = bytes_of(vars);
    if (bytes > most_)
      fail("[save_weights] max_shard_size must be at least the size of the weights of one layer: received ",
           most_, " bytes, and ", bytes, " bytes for ", path);
    if (shards.back().bytes + bytes > most_) shards.emplace_back();
    shards.back().bytes += bytes, total += bytes;
    shards.back().root.group(path.substr(1)) = vars;
    places.emplace_back(path, shards.size() - 1);
  }

  std::uint64_t most_;
};

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.size() - std::string_view(suffix).size());
}

std::string shard_name(const std::string& stem, std::size_t number) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "_%05zu", number);
  return stem + digits + ".weights.h5";
}

std::string index_of(const Division& division, const std::string& stem) {
  Config map;
  for (const auto& [path, number] : division.places) map.set(path, shard_name(stem, number));
  return to_json(Config{{"metadata", Config{{"total_size", static_cast<std::int64_t>(division.total)}}},
                        {"weight_map", map}},
                 4);
}

void save_weights(const Model& model, const std::string& path) { save_shards(model, path, usual_size); }

// --- Reading ----------------------------------------------------------------------------------------------

template <class... Parts>
[[noreturn]] void fail_for(const std::string& path, const Parts&... reason) {
  fail<IOError>("[load_weights] the file must be Keras's index of weights: received ", path, " (", reason...,
                ')');
}

/// Returns the files that the index names, which are in its folder.
std::set<std::string> files_of(const std::string& path) {
  std::set<std::string> files;
  const Value index = json_of("load_weights", path);
  try {
    for (const auto& [name, file] : index.config("the index").at("weight_map").config("weight_map")) {
      // Newer versions list the files of a group that is divided.
      const Value::List list = file.is_list() ? file.list() : Value::List{file};
      for (const Value& one : list) {
        const std::string inside = path_beside(path, one.string("weight_map." + printable(name)));
        if (inside.empty()) fail("the file of '", printable(name), "' must be in the folder of the index");
        files.insert(inside);
      }
    }
  } catch (const Error& error) {
    fail_for(path, reason_of(error));
  }
  return files;
}

/// Adds the members of a group to those of another one.
void merge(Entry& into, Entry from) {
  for (auto& attribute : from.attributes)
    if (!into.attribute(attribute.first)) into.set_attribute(attribute.first, attribute.second);
  for (auto& [name, member] : from.members) {
    const auto same = std::find_if(into.members.begin(), into.members.end(),
                                   [&, &name = name](const auto& other) { return other.first == name; });
    if (same == into.members.end()) into.members.emplace_back(name, std::move(member));
    else merge(same->second, std::move(member));
  }
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  hdf5::File whole{"load_weights", path, {}};
  for (const std::string& file : files_of(path))
    merge(whole.root, hdf5::read_file("load_weights", folder_of(path) + file, expected_bytes(model)).root);
  separate_names(whole.root);
  assign_weights(model, path, keras_weights(whole, model, options.by_name), options);
}

}  // namespace

void save_shards(const Model& model, const std::string& path, std::uint64_t most) {
  const Entry root = keras_state(model, false);
  Division division(most);
  division.visit(root, "");
  const std::string stem = stem_of(path);
  std::vector<std::unique_ptr<AtomicFile>> files;
  for (std::size_t i = 0; i < division.shards.size(); ++i) {
    const std::string shard = folder_of(path) + shard_name(stem, i);
    files.push_back(std::make_unique<AtomicFile>("save_weights", shard));
    const hdf5::Image image = hdf5::to_image("save_weights", shard, division.shards[i].root);
    for (const std::string_view piece : image.pieces()) files.back()->write(piece);
  }
  AtomicFile index("save_weights", path);
  index.write(index_of(division, stem));
  for (const auto& file : files) file->commit();
  index.commit();
}

const Format keras_shards = {suffix, nullptr, nullptr, save_weights, load_weights};

}  // namespace ktape::nn::saving
