#include <ktape/nn/data/transformations/transformation.hpp>

namespace ktape::data {
namespace {

class UnbatchStream final : public Stream {
 public:
  explicit UnbatchStream(std::unique_ptr<Stream> input) : input_(std::move(input)) {}
  bool next(Element& out) override {
    if (!more()) return false;
    out = sliced_rows(batch_, at_, at_ + 1);
    for (Tensor& x : out) x = x.alias(Shape(x.shape().begin() + 1, x.ndim() - 1));
    ++at_;
    return true;
  }

 private:
  bool more() {
    while (at_ == rows_) {
      if (!input_->next(batch_)) return false;
      rows_ = expect_rows("Dataset.unbatch", batch_);
      at_ = 0;
    }
    return true;
  }

  std::unique_ptr<Stream> input_;
  Element batch_;
  std::int64_t at_ = 0, rows_ = 0;
};

class UnbatchDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::int64_t cardinality() const override { return empty_or_unknown(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<UnbatchStream>(input_->open(iteration));
  }
};

}  // namespace

Dataset Dataset::unbatch() const { return made<UnbatchDataset>(*this); }

}  // namespace ktape::data
