#include "case.hpp"

#include <fstream>
#include <stdexcept>

#include "json.hpp"

namespace golden {
namespace {

/// Returns the parts of a sparse tensor, or the tensor alone.
Named tensors(const std::string& name, const Json& json) {
  if (!json.value("sparse", false)) return {{name, array(json)}};
  const std::vector<double> indices = numbers(json.at("indices")), values = numbers(json.at("values")),
                            shape = numbers(json.at("shape"));
  const auto count = static_cast<std::int64_t>(values.size()), rank = static_cast<std::int64_t>(shape.size());
  return {{name + ".indices", {{count, rank}, indices, "int64"}},
          {name + ".values", {{count}, values, json.at("dtype").get<std::string>()}},
          {name + ".shape", {{rank}, shape, "int64"}}};
}

void read_expected(const Json& json, Expected& out) {
  if (json.contains("outputs")) {
    out.outputs.clear();
    for (const Json& item : json["outputs"])
      for (const auto& [name, output] : tensors("", item)) out.outputs.push_back(output);
  }
  out.rtol = json.value("rtol", out.rtol);
  out.atol = json.value("atol", out.atol);
}

void read_part(const std::string& key, const Json& part, Case& out) {
  if (key == "id") out.id = part.get<std::string>();
  else if (key == "op") out.op = part.get<std::string>();
  else if (key == "inputs") {
    for (const Json& item : part)
      for (const auto& input : tensors(item.at("name").get<std::string>(), item)) out.inputs.push_back(input);
  } else if (key == "attrs") {
    for (const auto& [name, item] : part.items()) out.attributes[name] = value(item);
  } else if (key == "cotangents") {
    for (const Json& item : part)
      out.cotangents.push_back(item.is_null() ? std::nullopt : std::optional(array(item)));
  } else if (key == "grads") out.gradients = named(part);
  else if (key == "vectors") out.vectors = named(part);
  else if (key == "hvp") out.hvp = named(part);
  else if (key == "error") out.error = true;
  else if (key == "returns") out.returns = value(part);
  else if (key != "outputs" && key != "rtol" && key != "atol" && key != "float32" && key != "tags" &&
           key != "oracles")
    throw std::runtime_error("unknown key of a case: " + key);
}

Case read_case(const std::string& family, const Json& json) {
  Case out;
  out.family = family;
  for (const auto& [key, part] : json.items()) read_part(key, part, out);
  read_expected(json, out.expected);
  if (json.contains("float32")) read_expected(json["float32"], out.float32.emplace(out.expected));
  return out;
}

}  // namespace

std::vector<Case> read_cases(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const auto& file : files) {
    std::ifstream stream(file);
    const Json all = Json::parse(stream);
    for (const Json& json : all) {
      try {
        cases.push_back(read_case(file.stem().string(), json));
      } catch (const std::exception& error) {
        throw std::runtime_error(file.string() + ", case " + json.value("id", "without id") + ": " +
                                 error.what());
      }
    }
  }
  return cases;
}

}  // namespace golden
