#include <ktape/nn/core/loading.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace ktape::nn {
namespace {

constexpr std::int64_t unlimited = -1;
thread_local std::int64_t elements_left = unlimited;
thread_local weight_loading_scope* current = nullptr;

/// Fills a block with zeros. The whole pages of the block are returned to the system, which provides zeros
/// when the pages are read.
void clear(char* block, std::size_t size) {
  void* begin = block;
  std::size_t room = size;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (!std::align(page, page, begin, room)) {
    std::memset(block, 0, size);
    return;
  }
  const std::size_t pages = room / page * page;
  char* const end = static_cast<char*>(begin) + pages;
  if (madvise(begin, pages, MADV_DONTNEED) != 0) std::memset(begin, 0, pages);
  std::memset(block, 0, static_cast<std::size_t>(static_cast<char*>(begin) - block));
  std::memset(end, 0, static_cast<std::size_t>(block + size - end));
}

}  // namespace

weight_limit_scope::weight_limit_scope(std::int64_t elements)
    : outer_(std::exchange(elements_left, elements)) {}
weight_limit_scope::~weight_limit_scope() { elements_left = outer_; }

void weight_limit_scope::count(const std::string& layer, const std::string& weight, const Shape& shape) {
  if (elements_left == unlimited || std::count(shape.begin(), shape.end(), 0) > 0) return;
  std::int64_t left = elements_left;
  for (const std::int64_t extent : shape) left /= extent;
  if (left == 0)
    fail("[", layer, "] the weights must not be larger than the file that they are to come from: received '",
         weight, "' of shape=", shape);
  elements_left -= shape.count();
}

weight_loading_scope::weight_loading_scope(std::int64_t elements)
    : limit_(elements), outer_(std::exchange(current, this)) {}
weight_loading_scope::~weight_loading_scope() { current = outer_; }

Tensor weight_loading_scope::zeros(const Shape& shape, DType dtype) {
  if (!current) return {};
  Tensor& block = current->block_;
  const std::int64_t size = shape.count(), bytes = size * static_cast<std::int64_t>(dtype.size());
  if (!block.defined() || block.size() < bytes) {
    block = Tensor::empty({bytes}, DType::UInt8);
    clear(static_cast<char*>(block.raw()), static_cast<std::size_t>(bytes));
  }
  return Tensor(Ref<TensorImpl>::adopt(new TensorImpl(shape, size, dtype, block.get()->storage)));
}

}  // namespace ktape::nn
