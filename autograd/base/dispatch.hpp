#pragma once
#include <ktape/autograd/base/dtype.hpp>

#include <utility>

namespace ktape {

/// Calls `f.template operator()<T>()` with the element type of a floating dtype and returns the result of f.
template <class F>
decltype(auto) dispatch_floating(DType dtype, F&& f) {
  switch (dtype.kind()) {
    case DType::Float16:
      return f.template operator()<float16>();
    case DType::BFloat16:
      return f.template operator()<bfloat16>();
    case DType::Float64:
      return f.template operator()<double>();
    default:
      return f.template operator()<float>();
  }
}

/// Calls f with float or double: the element type of a floating dtype other than float16 and bfloat16. Kernels
/// that compute much are compiled for the types that processors compute in; half precision is converted first.
template <class F>
decltype(auto) dispatch_native_floating(DType dtype, F&& f) {
  if (dtype == DType::Float64) return f.template operator()<double>();
  return f.template operator()<float>();
}

/// Calls f with the element type of an integer dtype.
template <class F>
decltype(auto) dispatch_integer(DType dtype, F&& f) {
  switch (dtype.kind()) {
    case DType::UInt8:
      return f.template operator()<std::uint8_t>();
    case DType::Int8:
      return f.template operator()<std::int8_t>();
    case DType::Int16:
      return f.template operator()<std::int16_t>();
    case DType::Int32:
      return f.template operator()<std::int32_t>();
    default:
      return f.template operator()<std::int64_t>();
  }
}

/// Calls f with the element type of any dtype but bool.
template <class F>
decltype(auto) dispatch_number(DType dtype, F&& f) {
  return dtype.is_floating() ? dispatch_floating(dtype, f) : dispatch_integer(dtype, f);
}

/// Calls f with the element type of any dtype but bool, float16 and bfloat16.
template <class F>
decltype(auto) dispatch_native_number(DType dtype, F&& f) {
  return dtype.is_floating() ? dispatch_native_floating(dtype, f) : dispatch_integer(dtype, f);
}

/// Calls f with the element type of any dtype but float16 and bfloat16.
template <class F>
decltype(auto) dispatch_native(DType dtype, F&& f) {
  if (dtype == DType::Bool) return f.template operator()<bool>();
  return dispatch_native_number(dtype, f);
}

/// Calls f with the element type of any dtype.
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  if (dtype == DType::Bool) return f.template operator()<bool>();
  return dispatch_number(dtype, f);
}

}  // namespace ktape
