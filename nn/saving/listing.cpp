#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/files/npy.hpp>
#include <ktape/nn/files/torch.hpp>
#include <ktape/nn/files/zip.hpp>
#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/hdf5/hdf5.hpp>
#include <ktape/nn/saving/listing.hpp>
#include <ktape/nn/saving/onnx/messages.hpp>
#include <ktape/nn/saving/safetensors/safetensors_file.hpp>

#include <algorithm>
#include <set>
#include <sstream>

namespace ktape::nn {
namespace saving {
namespace {

constexpr const char* op = "list_file";
constexpr int deepest = 50;

void add(FileListing& listing, const std::string& name, const Tensor& tensor) {
  listing.tensors.push_back({name, tensor.dtype().name(), tensor.shape(), data::tensor_bytes(tensor)});
}

// --- Layers -----------------------------------------------------------------------------------------------

std::string text(const Value& value) { return value.is_string() ? value.string() : std::string(); }

/// Adds the layers of a model's config, of any version of Keras.
void add_layers(FileListing& listing, const Value& model, const std::string& prefix, int depth) {
  if (!model.is_config() || depth > deepest) return;
  const Value inner = model.config().get("config");
  const Value layers = inner.is_config() ? inner.config().get("layers") : inner;
  if (!layers.is_list()) return;
  for (const Value& layer : layers.list()) {
    if (!layer.is_config()) continue;
    const Value config = layer.config().get("config");
    std::string name = text(layer.config().get("name"));
    if (name.empty() && config.is_config()) name = text(config.config().get("name"));
    listing.layers.emplace_back(prefix + name, text(layer.config().get("class_name")));
    add_layers(listing, layer, prefix + name + '/', depth + 1);
  }
}

void add_fact(FileListing& listing, const std::string& name, const Value& value) {
  if (!value.is_null()) listing.facts.emplace_back(name, value.is_string() ? value.string() : to_json(value));
}

// --- HDF5 -------------------------------------------------------------------------------------------------

void add_datasets(FileListing& listing, const hdf5::Entry& entry, const std::string& path) {
  if (entry.value.defined()) return add(listing, path, entry.value);
  if (!entry.fault.empty()) return listing.tensors.push_back({path, entry.fault, {}, 0});
  for (const auto& [name, member] : entry.members)
    add_datasets(listing, member, path.empty() ? name : path + '/' + name);
}

void list_hdf5(FileListing& listing, const hdf5::File& file) {
  for (const char* name : {"keras_version", "backend"})
    if (const auto* attribute = file.root.attribute(name))
      if (const auto* value = std::get_if<std::string>(attribute)) listing.facts.emplace_back(name, *value);
  if (const auto* attribute = file.root.attribute("model_config"))
    if (const auto* config = std::get_if<std::string>(attribute))
      add_layers(listing, json_part(op, file.name, "attribute model_config", *config), "", 0);
  add_datasets(listing, file.root, "");
}

FileListing list_h5(const std::string& path) {
  FileListing listing{.format = "HDF5 of Keras"};
  list_hdf5(listing, hdf5::read_file(op, path));
  return listing;
}

/// Lists the files that an index names, each by `list_file_into`.
template <class F>
void list_indexed(FileListing& listing, const std::string& path, const F& list_file_into) {
  std::set<std::string> files;
  const Config index = json_of(op, path).config("the index");
  for (const auto& [name, file] : index.at("weight_map").config("weight_map"))
    files.insert(file.string("weight_map"));
  for (const std::string& file : files) {
    const std::string inside = path_beside(path, file);
    if (inside.empty())
      fail<IOError>("[", op, "] the files of an index must be in its folder: received ", path);
    list_file_into(folder_of(path) + inside);
    listing.facts.emplace_back("file", inside);
  }
}

FileListing list_shards(const std::string& path) {
  FileListing listing{.format = "Keras 3, weights in several files"};
  list_indexed(listing, path,
               [&](const std::string& file) { list_hdf5(listing, hdf5::read_file(op, file)); });
  return listing;
}

FileListing list_keras(const std::string& path) {
  FileListing listing{.format = "Keras 3"};
  const data::ZipArchive archive(op, path);
  for (const data::ZipEntry& entry : archive.entries()) {
    if (entry.name == "metadata.json") {
      const Value metadata = json_part(op, path, entry.name, archive.text(entry));
      for (const auto& [name, value] : metadata.config(entry.name)) add_fact(listing, name, value);
    } else if (entry.name == "config.json") {
      add_layers(listing, json_part(op, path, entry.name, archive.text(entry)), "", 0);
    } else if (entry.name == "model.weights.h5") {
      const std::string name = path + ", entry " + entry.name;
      list_hdf5(listing, entry.deflated ? hdf5::read_bytes(op, name, archive.open(entry)->rest())
                                        : hdf5::read_part(op, name, path, entry.data, entry.size));
    } else {
      listing.facts.emplace_back("file", entry.name);
    }
  }
  return listing;
}

// --- The other formats ------------------------------------------------------------------------------------

/// Returns the name of a dtype for a code of safetensors.
std::string dtype_name(const std::string& code) {
  const std::pair<const char*, const char*> names[] = {
      {"F64", "float64"}, {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"}, {"I64", "int64"},
      {"I32", "int32"},   {"I16", "int16"},   {"I8", "int8"},     {"U8", "uint8"},      {"BOOL", "bool"}};
  for (const auto& [known, name] : names)
    if (code == known) return name;
  return code;
}

void list_safetensors_into(FileListing& listing, const std::string& path) {
  const SafetensorsFile file(op, path);
  for (const auto& [name, value] : file.metadata()) {
    if (name == "architecture") add_layers(listing, json_part(op, path, name, value), "", 0);
    else if (name != "compile" && name != "training" && name != "checksums")
      listing.facts.emplace_back(name, value);
  }
  for (const SafetensorsFile::Entry& entry : file.entries())
    listing.tensors.push_back({entry.name, dtype_name(entry.dtype), entry.shape, entry.end - entry.begin});
}

FileListing list_safetensors(const std::string& path) {
  FileListing listing{.format = path.ends_with(".ktape") ? "ktape" : "safetensors"};
  list_safetensors_into(listing, path);
  return listing;
}

FileListing list_safetensors_index(const std::string& path) {
  FileListing listing{.format = "safetensors, in several files"};
  list_indexed(listing, path, [&](const std::string& file) { list_safetensors_into(listing, file); });
  return listing;
}

FileListing list_npz(const std::string& path) {
  FileListing listing{.format = "NumPy"};
  for (const auto& [name, tensor] : data::load_npz(path)) add(listing, name, tensor);
  return listing;
}
FileListing list_npy(const std::string& path) {
  FileListing listing{.format = "NumPy"};
  add(listing, "array", data::load_npy(path));
  return listing;
}
FileListing list_torch(const std::string& path) {
  FileListing listing{.format = "PyTorch"};
  for (const auto& [name, tensor] : data::load_torch(path)) add(listing, name, tensor);
  return listing;
}

FileListing list_onnx(const std::string& path) {
  FileListing listing{.format = "ONNX"};
  const onnx::ModelProto model = onnx::read_model(op, path);
  for (const auto& [domain, version] : model.opsets)
    listing.facts.emplace_back("opset" + (domain.empty() ? "" : " of " + domain), std::to_string(version));
  listing.facts.emplace_back("graph", model.graph.name);
  for (const std::string& name : model.graph.inputs) listing.facts.emplace_back("input", name);
  for (const std::string& name : model.graph.outputs) listing.facts.emplace_back("output", name);
  for (const onnx::NodeProto& node : model.graph.nodes)
    listing.layers.emplace_back(node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name,
                                node.op);
  for (const auto& [name, tensor] : model.graph.initializers) add(listing, name, tensor);
  return listing;
}

FileListing list_tfjs(const std::string& path) {
  FileListing listing{.format = "TensorFlow.js"};
  const Config model = json_of(op, path).config("the model");
  add_fact(listing, "generatedBy", model.get("generatedBy"));
  const Value topology = model.get("modelTopology");
  if (topology.is_config()) {
    const Value config = topology.config().get("model_config");
    add_layers(listing, config.is_null() ? topology : config, "", 0);
  }
  const Value manifest = model.get("weightsManifest");
  if (!manifest.is_list()) return listing;
  for (const Value& group : manifest.list())
    for (const Value& weight : group.config("weightsManifest").at("weights").list("weights")) {
      const Config& facts = weight.config("weights");
      const std::string dtype = facts.at("dtype").string("dtype");
      const Shape shape = facts.at("shape").shape("shape");
      const std::uint64_t bytes = dtype == "string" ? 0 : data::tensor_bytes(shape, DType(dtype));
      listing.tensors.push_back({facts.at("name").string("name"), dtype, shape, bytes});
    }
  return listing;
}

struct Lister {
  const char* suffix;
  FileListing (*list)(const std::string& path);
};
/// The longest suffix that fits counts.
constexpr Lister listers[] = {{".keras", list_keras},
                              {".h5", list_h5},
                              {".hdf5", list_h5},
                              {".weights.json", list_shards},
                              {".ktape", list_safetensors},
                              {".safetensors", list_safetensors},
                              {".safetensors.index.json", list_safetensors_index},
                              {".npz", list_npz},
                              {".npy", list_npy},
                              {".onnx", list_onnx},
                              {".pt", list_torch},
                              {".pth", list_torch},
                              {"model.json", list_tfjs}};

/// Returns the columns side by side, each as wide as its widest text.
void print(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], text_width(row[i]));
    }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << (i == 0 ? "  " : "  ") << row[i];
      if (i + 1 < row.size()) out << std::string(widths[i] - text_width(row[i]), ' ');
    }
    out << '\n';
  }
}

}  // namespace
}  // namespace saving

FileListing list_file(const std::string& path) {
  const saving::Lister* found = nullptr;
  std::string suffixes;
  for (const saving::Lister& lister : saving::listers) {
    suffixes += (suffixes.empty() ? "" : ", ") + std::string(lister.suffix);
    if (path.ends_with(lister.suffix) &&
        (!found || std::string_view(lister.suffix).size() > std::string_view(found->suffix).size()))
      found = &lister;
  }
  if (!found)
    fail("[list_file] the name of the file must end in one of ", suffixes, ": received path='", path, "'");
  return saving::naming_file(path, [&] { return found->list(path); });
}

std::string to_string(const FileListing& listing) {
  std::ostringstream out;
  out << "format: " << listing.format << '\n';
  for (const auto& [name, value] : listing.facts) out << printable(name) << ": " << printable(value) << '\n';
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, class_name] : listing.layers)
    rows.push_back({printable(name), printable(class_name)});
  if (!rows.empty()) out << "\nlayers (" << rows.size() << ")\n";
  saving::print(out, rows);
  rows.clear();
  std::uint64_t bytes = 0, elements = 0;
  for (const ListedTensor& tensor : listing.tensors) {
    rows.push_back(
        {printable(tensor.name), to_string(tensor.shape), tensor.dtype, std::to_string(tensor.bytes) + " B"});
    bytes += tensor.bytes;
    elements += static_cast<std::uint64_t>(std::max<std::int64_t>(tensor.shape.count(), 0));
  }
  out << "\ntensors (" << rows.size() << ")\n";
  saving::print(out, rows);
  out << "\n" << elements << " numbers, " << bytes << " bytes\n";
  return out.str();
}

}  // namespace ktape::nn
