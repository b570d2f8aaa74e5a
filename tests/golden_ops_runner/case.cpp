#include "case.hpp"

#include <fstream>

#include "../golden_runner/json.hpp"

namespace golden_ops {
namespace {

using golden::Json;

std::vector<std::vector<Slices>> groups(const Json& json) {
  std::vector<std::vector<Slices>> out;
  for (const Json& group : json) {
    out.emplace_back();
    for (const Json& slices : group)
      out.back().push_back({slices.at(0).get<std::size_t>(), slices.at(1).get<int>()});
  }
  return out;
}

void read_part(const std::string& key, const Json& part, Case& out) {
  if (key == "id") out.id = part.get<std::string>();
  else if (key == "op") out.op = part.get<std::string>();
  else if (key == "inputs") {
    for (const Json& item : part)
      out.inputs.emplace_back(item.at("name").get<std::string>(), golden::array(item));
  } else if (key == "attrs") {
    for (const auto& [name, item] : part.items()) out.attributes[name] = golden::value(item);
  } else if (key == "outputs") {
    for (const Json& item : part) out.outputs.push_back(golden::array(item));
  } else if (key == "cotangents") {
    for (const Json& item : part)
      out.cotangents.push_back(item.is_null() ? std::nullopt : std::optional(golden::array(item)));
  } else if (key == "grads") out.gradients = golden::named(part);
  else if (key == "post") {
    for (const auto& [output, function] : part.items()) out.squared.insert(std::stoul(output));
  } else if (key == "up_to_sign") out.up_to_sign = groups(part);
  else if (key == "tags") out.tags = part.get<std::set<std::string>>();
  else if (key == "rtol") out.rtol = part.get<double>();
  else if (key == "atol") out.atol = part.get<double>();
  else if (key == "error") out.error = true;
  else if (key != "oracles" && key != "note") throw std::runtime_error("unknown key of a case: " + key);
}

}  // namespace

std::vector<Case> read_cases(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<Case> cases;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const Json all = Json::parse(stream);
    for (const Json& json : all) {
      Case& out = cases.emplace_back();
      out.family = file.stem().string();
      try {
        for (const auto& [key, part] : json.items()) read_part(key, part, out);
      } catch (const std::exception& error) {
        throw std::runtime_error(file.string() + ", case " + out.id + ": " + error.what());
      }
    }
  }
  return cases;
}

}  // namespace golden_ops
