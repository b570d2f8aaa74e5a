#include <ktape/nn/data/internal/read_ahead.hpp>
#include <ktape/nn/data/transformations/transformation.hpp>

namespace ktape::data {
namespace {

class PrefetchDataset final : public Transformation {
 public:
  PrefetchDataset(const Dataset& input, std::int64_t size) : Transformation(input), size_(size) {}
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return read_ahead(input_->open(iteration), 1, size_, nullptr, 0);
  }

 private:
  std::int64_t size_;
};

}  // namespace

Dataset Dataset::prefetch(std::int64_t buffer_size) const {
  if (buffer_size == AUTOTUNE) buffer_size = autotune_ahead;
  expect_at_least("prefetch", "buffer_size", buffer_size, 1);
  return made<PrefetchDataset>(*this, buffer_size);
}

}  // namespace ktape::data
