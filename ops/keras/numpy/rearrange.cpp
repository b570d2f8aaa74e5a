#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>
#include <cctype>

/// The function `rearrange` of shape.hpp.
namespace ktape::ops {

namespace K = backend;

namespace {

/// One side of a pattern: the names of each axis; a group in parentheses has several.
using Side = std::vector<std::vector<std::string>>;

[[noreturn]] void refuse(const std::string& pattern, const std::string& rule) {
  fail("[rearrange] ", rule, ": received pattern=\"", pattern, '"');
}

Side side_of(const std::string& pattern, const std::string& text) {
  Side out;
  bool grouped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) continue;
    if (text[i] == '(' || text[i] == ')') {
      if (grouped == (text[i] == '(')) refuse(pattern, "parentheses must be pairs that are not nested");
      grouped = text[i] == '(';
      if (grouped) out.emplace_back();
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (end == i) refuse(pattern, "an axis must be a name");
    const std::string name = text.substr(i, end - i);
    if (!grouped) out.emplace_back();
    if (name != "1") out.back().push_back(name);
    i = end - 1;
  }
  if (grouped) refuse(pattern, "parentheses must be pairs that are not nested");
  return out;
}

std::vector<std::string> names_of(const std::string& pattern, const Side& side) {
  std::vector<std::string> names;
  for (const auto& axis : side)
    for (const std::string& name : axis) {
      if (std::find(names.begin(), names.end(), name) != names.end())
        refuse(pattern, "an axis must stand once on each side");
      names.push_back(name);
    }
  return names;
}

/// Finds the lengths of the names of one axis, of which one length may be missing.
void find_lengths(const std::string& pattern, const std::vector<std::string>& axis, std::int64_t extent,
                  std::map<std::string, std::int64_t>& lengths) {
  std::int64_t known = 1;
  std::string missing;
  for (const std::string& name : axis) {
    if (lengths.count(name)) known *= lengths[name];
    else if (missing.empty()) missing = name;
    else refuse(pattern, "of the axes in parentheses all lengths but one must be given");
  }
  if (extent == None) {
    if (!missing.empty()) lengths[missing] = None;
    return;
  }
  if (missing.empty() ? known != extent : known == 0 || extent % known != 0)
    fail("[rearrange] the lengths of the axes must multiply to the extent ", extent, ": received ", known);
  if (!missing.empty()) lengths[missing] = extent / known;
}

/// Returns the extents, with -1 in the place of one that is unknown.
K::ShapeLike extents(const std::vector<std::int64_t>& list) {
  Shape shape;
  for (const std::int64_t extent : list) shape.push_back(extent == None ? -1 : extent);
  return shape;
}

}  // namespace

Tensor rearrange(const Tensor& tensor, const std::string& pattern,
                 const std::map<std::string, std::int64_t>& axes_lengths) {
  expect_defined("rearrange", "tensor", tensor);
  const std::size_t arrow = pattern.find("->");
  if (arrow == std::string::npos) refuse(pattern, "the pattern must hold \"->\"");
  const Side from = side_of(pattern, pattern.substr(0, arrow)),
             to = side_of(pattern, pattern.substr(arrow + 2));
  const std::vector<std::string> before = names_of(pattern, from), after = names_of(pattern, to);
  if (!std::is_permutation(before.begin(), before.end(), after.begin(), after.end()))
    refuse(pattern, "both sides must name the same axes");
  if (static_cast<int>(from.size()) != tensor.ndim())
    fail("[rearrange] the pattern must have an axis for each axis of ", tensor.shape(),
         ": received pattern=\"", pattern, '"');
  std::map<std::string, std::int64_t> lengths = axes_lengths;
  for (int d = 0; d < tensor.ndim(); ++d)
    find_lengths(pattern, from[static_cast<std::size_t>(d)], tensor.shape()[d], lengths);
  std::vector<std::int64_t> split, merged;
  for (const std::string& name : before) split.push_back(lengths[name]);
  Shape order;
  for (const std::string& name : after)
    order.push_back(std::find(before.begin(), before.end(), name) - before.begin());
  for (const auto& axis : to) {
    std::int64_t extent = 1;
    for (const std::string& name : axis)
      extent = extent == None || lengths[name] == None ? std::int64_t{None} : extent * lengths[name];
    merged.push_back(extent);
  }
  if (std::max(std::count(split.begin(), split.end(), None), std::count(merged.begin(), merged.end(), None)) >
      1)
    return defer_described("rearrange", {Shape(merged), tensor.dtype()}, rearrange, tensor, pattern,
                           axes_lengths);
  return K::reshape(K::permute_dimensions(K::reshape(tensor, extents(split)), order), extents(merged));
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations rearrange_operations() {
  static constexpr Operation rows[] = {
      {"Rearrange", "einops", "tensor, pattern!, axes_lengths**={};", calls<ops::rearrange>},
  };
  return rows;
}

}  // namespace ktape::nn
