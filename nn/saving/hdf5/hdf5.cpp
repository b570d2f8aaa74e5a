#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <filesystem>

namespace ktape::nn::saving::hdf5 {
namespace {

constexpr const char* file_name = "libktape_hdf5.so";

/// Returns the folder that libktape.so is installed in, with a slash at the end. The library's variants for
/// newer processors are in glibc-hwcaps/PROCESSOR/ of that folder.
std::string library_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&library_folder), &info) || !info.dli_fname) return "";
  const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
  const bool variant = folder.parent_path().filename() == "glibc-hwcaps";
  return ((variant ? folder.parent_path().parent_path() : folder) / "").string();
}

const Library* load(std::string& reason) {
  void* handle = dlopen((library_folder() + "ktape/" + file_name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* text = dlerror();
    reason = text ? text : "unknown";
    return nullptr;
  }
  const auto get = reinterpret_cast<const Library* (*)()>(dlsym(handle, "ktape_hdf5"));
  if (!get) reason = "it does not export ktape_hdf5";
  return get ? get() : nullptr;  // the library is never unloaded
}

const Library& library(const char* op, const std::string& path) {
  static std::string reason;
  static const Library* const loaded = load(reason);
  if (!loaded)
    fail<IOError>("[", op, "] HDF5 files need ", file_name,
                  ", which is built where libhdf5-dev is installed: received ", path, " (", reason, ')');
  return *loaded;
}

std::pair<std::string_view, std::string_view> first_part(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::size_t end = std::min(path.find('/'), path.size());
  return {path.substr(0, end), path.substr(end)};
}

template <class List>
auto named(List& list, std::string_view name) -> decltype(&list.begin()->second) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == name; });
  return found == list.end() ? nullptr : &found->second;
}

}  // namespace

const Attribute* Entry::attribute(std::string_view name) const { return named(attributes, name); }

void Entry::set_attribute(std::string name, Attribute value) {
  attributes.emplace_back(std::move(name), std::move(value));
}

std::int64_t Entry::elements() const {
  std::int64_t sum = value.defined() ? value.size() : 0;
  for (const auto& [name, member] : members) sum += member.elements();
  return sum;
}

const Entry* Entry::find(std::string_view path) const {
  const auto [name, rest] = first_part(path);
  if (name.empty()) return this;
  const Entry* member = named(members, name);
  return member ? member->find(rest) : nullptr;
}

Entry& Entry::group(std::string_view path) {
  const auto [name, rest] = first_part(path);
  if (name.empty()) return *this;
  Entry* member = named(members, name);
  if (!member) member = &members.emplace_back(name, Entry()).second;
  return member->group(rest);
}

Image::Image(void* begin, std::size_t size, const std::vector<Gap>& gaps) : begin_(begin), size_(size) {
  const std::string_view frame(static_cast<const char*>(begin), size);
  std::size_t at = 0;
  for (const auto& [offset, tensor] : gaps) {
    pieces_.push_back(frame.substr(at, offset - at));
    pieces_.push_back(bytes_of(*tensor));
    tensors_.push_back(*tensor);
    at = offset + pieces_.back().size();
  }
  pieces_.push_back(frame.substr(at));
}

Image::~Image() { munmap(begin_, size_); }

const Entry& File::at(const std::string& path) const {
  const Entry* found = root.find(path);
  if (!found) fail("the file must be complete, as Keras writes it", path, ": is missing");
  return *found;
}

const Tensor& File::tensor(const Entry& node, const std::string& path) const {
  if (!node.value.defined())
    fail("weights must be arrays of numbers", path, ": ", node.fault.empty() ? "a group" : node.fault);
  return node.value;
}

File read_file(const char* op, const std::string& path, std::uint64_t expected) {
  return {op, path, library(op, path).read_file(op, path, expected)};
}
File read_bytes(const char* op, const std::string& name, std::string_view bytes, std::uint64_t expected) {
  return {op, name, library(op, name).read_bytes(op, name, bytes, expected)};
}
File read_part(const char* op, const std::string& name, const std::string& path, std::uint64_t begin,
               std::uint64_t size, std::uint64_t expected) {
  return {op, name, library(op, name).read_part(op, name, path, begin, size, expected)};
}
Image to_image(const char* op, const std::string& name, const Entry& root) {
  return library(op, name).to_image(op, name, root);
}

}  // namespace ktape::nn::saving::hdf5
