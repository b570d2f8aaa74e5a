#include <ktape/nn/data/transformations/transformation.hpp>

#include <mutex>

namespace ktape::data {
namespace {

/// The elements of a complete iteration, shared by all later streams.
struct CachedElements {
  std::mutex mutex;
  std::shared_ptr<const std::vector<Element>> elements;
};

class CachedStream final : public Stream {
 public:
  explicit CachedStream(std::shared_ptr<const std::vector<Element>> elements)
      : elements_(std::move(elements)) {}
  bool next(Element& out) override {
    if (at_ == elements_->size()) return false;
    out = (*elements_)[at_++];
    return true;
  }

 private:
  std::shared_ptr<const std::vector<Element>> elements_;
  std::size_t at_ = 0;
};

class CachingStream final : public Stream {
 public:
  CachingStream(std::unique_ptr<Stream> input, std::shared_ptr<CachedElements> cache)
      : input_(std::move(input)), cache_(std::move(cache)) {}
  bool next(Element& out) override {
    if (!cache_) return false;
    if (input_->next(out)) return elements_.push_back(out), true;
    const std::lock_guard lock(cache_->mutex);
    if (!cache_->elements)
      cache_->elements = std::make_shared<const std::vector<Element>>(std::move(elements_));
    cache_.reset();
    return false;
  }

 private:
  std::unique_ptr<Stream> input_;
  std::shared_ptr<CachedElements> cache_;  ///< null at the end
  std::vector<Element> elements_;
};

class CacheDataset final : public Transformation {
 public:
  using Transformation::Transformation;
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    {
      const std::lock_guard lock(cache_->mutex);
      if (cache_->elements) return std::make_unique<CachedStream>(cache_->elements);
    }
    return std::make_unique<CachingStream>(input_->open(iteration), cache_);
  }

 private:
  std::shared_ptr<CachedElements> cache_ = std::make_shared<CachedElements>();
};

}  // namespace

Dataset Dataset::cache() const { return made<CacheDataset>(*this); }

}  // namespace ktape::data
