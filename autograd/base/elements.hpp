#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <xtensor/xadapt.hpp>
#include <xtensor/xnoalias.hpp>

namespace ktape {

/// Returns a one-dimensional xtensor array over the memory of the n elements that begin at p. The compiler
/// turns expressions of such arrays into plain vectorized loops. Internal: sources only.
template <class T>
auto elements(T* p, std::int64_t n) {
  const std::array<std::size_t, 1> shape{static_cast<std::size_t>(n)};
  return xt::adapt(std::move(p), shape[0], xt::no_ownership(), shape);
}

}  // namespace ktape
