#pragma once

/// Structs of options whose members a function `fields(options, field)` lists, by their names. Internal: for ops and layers.
namespace ktape {

struct AnyField {
  template <class T>
  void operator()(const char*, const T&) const {}
};

template <class T>
concept Options = requires(T& options) {
  fields(options, AnyField());
};

}  // namespace ktape
