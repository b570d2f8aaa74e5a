#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/safetensors/safetensors_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors_index.hpp>

#include <map>
#include <set>

namespace ktape::nn::saving {
namespace {

constexpr const char* suffix = ".safetensors.index.json";

/// The names of the tensors in each file, which are in the folder of the index.
using Shards = std::map<std::string, std::set<std::string>>;

template <class... Parts>
[[noreturn]] void fail_for(const char* op, const std::string& path, const Parts&... reason) {
  fail<IOError>("[", op, "] the file must be an index of safetensors files: received ", path, " (", reason...,
                ')');
}

Shards shards_of(const char* op, const std::string& path) {
  Shards shards;
  const Value json = json_of(op, path);
  try {
    for (const auto& [name, file] : json.config("the index").at("weight_map").config("weight_map")) {
      const std::string inside = path_inside(file.string("weight_map." + printable(name)));
      if (inside.empty()) fail("the file of '", printable(name), "' must be in the folder of the index");
      shards[inside].insert(name);
    }
  } catch (const Error& error) {
    fail_for(op, path, reason_of(error));
  }
  return shards;
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  assign_flat_weights(model, path, read_safetensors("load_weights", path), options);
}

}  // namespace

NamedTensors read_safetensors(const char* op, const std::string& path) {
  if (!path.ends_with(suffix)) return SafetensorsFile(op, path).read_all();
  NamedTensors tensors;
  for (const auto& [file, names] : shards_of(op, path)) {
    const SafetensorsFile shard(op, folder_of(path) + file);
    for (const SafetensorsFile::Entry& entry : shard.entries())
      if (!names.contains(entry.name))
        fail_for(op, path, '\'', printable(entry.name), "' is in ", file, ", and not in the index");
    if (shard.entries().size() != names.size())
      fail_for(op, path, file, " has ", shard.entries().size(), " tensors, and ", names.size(),
               " in the index");
    for (auto& tensor : shard.read_all()) tensors.push_back(std::move(tensor));
  }
  return tensors;
}

const Format safetensors_index = {suffix, nullptr, nullptr, nullptr, load_weights};

}  // namespace ktape::nn::saving
