#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/core/named_tensors.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::nn {
namespace {

template <class Pairs>
std::vector<std::string> names_of(const Pairs& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

template <class Pairs>
std::vector<Tensor> tensors_of(const Pairs& tensors) {
  std::vector<Tensor> list;
  for (const auto& [name, tensor] : tensors) list.push_back(tensor);
  return list;
}

}  // namespace

NamedTensors::NamedTensors(std::vector<Tensor> tensors, std::vector<std::string> names)
    : std::vector<Tensor>(std::move(tensors)) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (!name->empty() && std::find(names.begin(), name, *name) != name)
      fail("[NamedTensors] names must be different: received '", *name, "' twice");
  if (std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); }))
    layout_ = std::make_shared<const Layout>(Layout{std::move(names)});
}
NamedTensors::NamedTensors(std::initializer_list<Named> tensors)
    : NamedTensors(tensors_of(tensors), names_of(tensors)) {}
NamedTensors::NamedTensors(const std::map<std::string, Tensor>& tensors)
    : NamedTensors(tensors_of(tensors), names_of(tensors)) {}

std::vector<std::string> NamedTensors::names() const {
  std::vector<std::string> names = layout_ ? layout_->names : std::vector<std::string>();
  names.resize(size());
  return names;
}

bool NamedTensors::named() const {
  if (!layout_) return false;
  const std::vector<std::string> all = names();
  return std::any_of(all.begin(), all.end(), [](const std::string& name) { return !name.empty(); });
}

bool NamedTensors::contains(const std::string& name) const {
  const std::vector<std::string> all = names();
  return !name.empty() && std::find(all.begin(), all.end(), name) != all.end();
}

std::size_t NamedTensors::place_of(const std::string& name) const {
  std::vector<std::string> all = names();
  if (contains(name)) return static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin());
  std::erase(all, "");
  fail("[NamedTensors] the name must be that of a tensor: received '", name, "'",
       all.empty() ? "; none has a name" : suggestion(name, all));
}

void NamedTensors::set(const std::string& name, const Tensor& tensor) {
  if (contains(name)) {
    (*this)[name] = tensor;
    return;
  }
  std::vector<std::string> all = names();
  all.push_back(name);
  push_back(tensor);
  layout_ = std::make_shared<const Layout>(Layout{std::move(all)});
}

NamedTensors NamedTensors::of_parts(const std::vector<NamedTensors>& parts) {
  NamedTensors all;
  Layout layout;
  for (const NamedTensors& part : parts) {
    const std::vector<std::string> names = part.names();
    layout.names.insert(layout.names.end(), names.begin(), names.end());
    layout.parts.push_back(part.size());
    all.insert(all.end(), part.begin(), part.end());
  }
  all.layout_ = std::make_shared<const Layout>(std::move(layout));
  return all;
}

std::vector<std::size_t> NamedTensors::parts() const {
  if (!layout_ || std::accumulate(layout_->parts.begin(), layout_->parts.end(), std::size_t{0}) != size())
    return {};
  return layout_->parts;
}

NamedTensors NamedTensors::part(std::size_t number) const {
  const std::vector<std::size_t> all = parts();
  if (number >= all.size()) return {};
  const auto first =
      std::accumulate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(number), std::ptrdiff_t{0});
  const auto last = first + static_cast<std::ptrdiff_t>(all[number]);
  const std::vector<std::string> names = this->names();
  return {{begin() + first, begin() + last}, {names.begin() + first, names.begin() + last}};
}

}  // namespace ktape::nn
