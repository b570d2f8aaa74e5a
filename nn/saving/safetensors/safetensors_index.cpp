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
      const std::string inside = path_beside(path, file.string("weight_map." + printable(name)));
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

namespace {

/// Calls f(file, entry) with each tensor of a file, or of all files of an index.
template <class F>
void for_each_tensor(const char* op, const std::string& path, bool memory_map, const F& f) {
  if (!path.ends_with(suffix)) {
    const SafetensorsFile file(op, path, memory_map);
    for (const SafetensorsFile::Entry& entry : file.entries()) f(file, entry);
    return;
  }
  for (const auto& [file, names] : shards_of(op, path)) {
    const SafetensorsFile shard(op, folder_of(path) + file, memory_map);
    for (const SafetensorsFile::Entry& entry : shard.entries())
      if (!names.contains(entry.name))
        fail_for(op, path, '\'', printable(entry.name), "' is in ", file, ", and not in the index");
    if (shard.entries().size() != names.size())
      fail_for(op, path, file, " has ", shard.entries().size(), " tensors, and ", names.size(),
               " in the index");
    for (const SafetensorsFile::Entry& entry : shard.entries()) f(shard, entry);
  }
}

}  // namespace

NamedTensors read_safetensors(const char* op, const std::string& path, bool memory_map) {
  NamedTensors tensors;
  for_each_tensor(op, path, memory_map,
                  [&](const SafetensorsFile& file, const SafetensorsFile::Entry& entry) {
                    tensors.emplace_back(entry.name, file.read(entry));
                  });
  return tensors;
}

NamedTensors read_safetensors(const char* op, const std::string& path,
                              const std::vector<std::string>& names) {
  std::map<std::string, Tensor> wanted;
  for (const std::string& name : names) wanted[name];
  for_each_tensor(op, path, false, [&](const SafetensorsFile& file, const SafetensorsFile::Entry& entry) {
    if (const auto found = wanted.find(entry.name); found != wanted.end()) found->second = file.read(entry);
  });
  NamedTensors tensors;
  for (const std::string& name : names) {
    if (!wanted[name].defined())
      fail("[", op, "] names must be those of tensors: received '", printable(name), "', which is not in ",
           path);
    tensors.emplace_back(name, wanted[name]);
  }
  return tensors;
}

const Format safetensors_index = {suffix, nullptr, nullptr, nullptr, load_weights};

}  // namespace ktape::nn::saving
