#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/nn/core/archive.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace ktape::nn {

void Archive::keep(const std::string& name, const Tensor& value) {
  entries_.emplace_back(prefix_ + name, value);
}

const Tensor* Archive::find(const std::string& name) const {
  const std::string whole = prefix_ + name;
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == whole; });
  return entry == entries_.end() ? nullptr : &entry->second;
}

const Tensor& Archive::at(const std::string& name) const {
  if (const Tensor* found = find(name)) return *found;
  fail("[Archive] the state of a training must be complete: received no '", prefix_, name, "'");
}

bool Archive::has_part(const std::string& name) const {
  const std::string prefix = prefix_ + name + '/';
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& e) { return e.first.starts_with(prefix); });
}

// --- Numbers ----------------------------------------------------------------------------------------------

template <class T>
std::span<const T> Archive::numbers(const std::string& name, int ndim) const {
  const Tensor& kept = at(name);
  if (kept.dtype() != dtype_of<T>() || kept.ndim() != ndim)
    fail("[Archive] '", prefix_, name, "' must be ", dtype_of<T>(), " with ", ndim, " axes: received ",
         kept.dtype(), " of shape ", kept.shape());
  return {kept.pointer<T>(), static_cast<std::size_t>(kept.size())};
}

namespace {

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  const Tensor out = Tensor::empty({std::ssize(values)}, dtype_of<T>());
  std::copy(values.begin(), values.end(), out.pointer<T>());
  return out;
}

/// Returns a recorded number as a T. Throws ValueError if the number does not fit.
template <class T, class Kept>
T converted(const std::string& name, Kept kept) {
  if constexpr (std::is_same_v<T, int>)
    if (kept < std::numeric_limits<int>::min() || kept > std::numeric_limits<int>::max())
      fail("[Archive] '", name, "' must fit into 32 bits: received ", kept);
  return static_cast<T>(kept);
}

}  // namespace

template <class Kept, class T>
void Archive::number(const std::string& name, T& value) {
  if (sets_) return void(value = converted<T>(name, numbers<Kept>(name, 0)[0]));
  const Tensor out = Tensor::empty({}, dtype_of<Kept>());
  *out.pointer<Kept>() = static_cast<Kept>(value);
  keep(name, out);
}

template <class Kept, class T>
void Archive::list(const std::string& name, std::vector<T>& values) {
  if (!sets_) return keep(name, vector_of(std::vector<Kept>(values.begin(), values.end())));
  std::vector<T> set;
  for (const Kept kept : numbers<Kept>(name, 1)) set.push_back(converted<T>(name, kept));
  values = std::move(set);
}

void Archive::operator()(const std::string& name, bool& value) { number<bool>(name, value); }
void Archive::operator()(const std::string& name, int& value) { number<std::int64_t>(name, value); }
void Archive::operator()(const std::string& name, std::int64_t& value) { number<std::int64_t>(name, value); }
void Archive::operator()(const std::string& name, double& value) { number<double>(name, value); }
void Archive::operator()(const std::string& name, std::uint64_t& value) {
  auto bits = std::bit_cast<std::int64_t>(value);
  number<std::int64_t>(name, bits);
  value = std::bit_cast<std::uint64_t>(bits);
}
void Archive::operator()(const std::string& name, std::vector<int>& values) {
  list<std::int64_t>(name, values);
}
void Archive::operator()(const std::string& name, std::vector<std::int64_t>& values) {
  list<std::int64_t>(name, values);
}
void Archive::operator()(const std::string& name, std::vector<double>& values,
                         std::optional<std::size_t> size) {
  if (sets_ && size && static_cast<std::size_t>(at(name).size()) != *size)
    fail("[Archive] '", prefix_, name, "' must have ", *size, " numbers: received ", at(name).size());
  list<double>(name, values);
}

// --- Text -------------------------------------------------------------------------------------------------

void Archive::operator()(const std::string& name, std::string& value) {
  if (!sets_) return keep(name, vector_of(std::vector<std::uint8_t>(value.begin(), value.end())));
  const std::span<const std::uint8_t> bytes = numbers<std::uint8_t>(name, 1);
  value.assign(bytes.begin(), bytes.end());
}

/// Stores texts in one tensor of bytes; each text ends with a zero.
void Archive::operator()(const std::string& name, std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += value + '\0';
  (*this)(name, all);
  if (!sets_) return;
  values.clear();
  for (std::size_t at = 0; at < all.size(); at += values.back().size() + 1)
    values.push_back(all.substr(at, all.find('\0', at) - at));
}

// --- Tensors ----------------------------------------------------------------------------------------------

void Archive::operator()(const std::string& name, Tensor& value) {
  if (!sets_) return value.defined() ? keep(name, value.detach()) : void();
  const Tensor* found = find(name);
  value = found ? *found : Tensor();
}

void Archive::count(const std::string& name, std::size_t& value) {
  auto kept = static_cast<std::int64_t>(value);
  (*this)(name, kept);
  if (sets_ && (kept < 0 || kept > std::ssize(entries_)))
    fail("[Archive] '", prefix_, name, "' must be a count of the saved entries: received ", kept);
  value = static_cast<std::size_t>(kept);
}

void Archive::operator()(const std::string& name, std::vector<Tensor>& values) {
  std::size_t size = values.size();
  count(name, size);
  values.resize(size);
  part(name, [&] {
    for (std::size_t i = 0; i < values.size(); ++i) (*this)(std::to_string(i), values[i]);
  });
}

void Archive::operator()(const std::string& name, const Variable& variable) {
  if (!sets_) return keep(name, variable.value().detach());
  const Tensor& value = at(name);
  if (value.shape() != variable.shape() || value.dtype() != variable.dtype())
    fail("[Archive] '", prefix_, name, "' must be ", variable.dtype(), " of shape ", variable.shape(),
         " as '", variable.name(), "': received ", value.dtype(), " of shape ", value.shape());
  Variable(variable).assign(value);
}

}  // namespace ktape::nn
