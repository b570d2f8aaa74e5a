#include <ktape/nn/data/transformations/transformation.hpp>

#include <string>
#include <unordered_set>

namespace ktape::data {
namespace {

/// Returns a string that identifies the element: dtypes, shapes and bytes.
std::string identity_of(const Element& element) {
  std::string identity;
  for (const Tensor& x : element) {
    identity += x.dtype().name();
    for (const std::int64_t extent : x.shape()) identity += '/' + std::to_string(extent);
    identity += ':';
    identity.append(static_cast<const char*>(x.raw()), static_cast<std::size_t>(x.size()) * x.dtype().size());
  }
  return identity;
}

class UniqueStream final : public Stream {
 public:
  explicit UniqueStream(std::unique_ptr<Stream> input) : input_(std::move(input)) {}
  bool next(Element& out) override {
    while (input_->next(out)) {
      expect_values("Dataset.unique", out);
      if (seen_.insert(identity_of(out)).second) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::unordered_set<std::string> seen_;
};

class UniqueDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::int64_t cardinality() const override { return empty_or_unknown(); }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<UniqueStream>(input_->open(iteration));
  }
};

}  // namespace

Dataset Dataset::unique() const { return made<UniqueDataset>(*this); }

}  // namespace ktape::data
