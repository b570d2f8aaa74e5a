#include <ktape/nn/data/transformations/transformation.hpp>

#include <algorithm>

namespace ktape::data {
namespace {

class ZipStream final : public Stream {
 public:
  explicit ZipStream(std::vector<std::unique_ptr<Stream>> inputs) : inputs_(std::move(inputs)) {}
  bool next(Element& out) override {
    std::vector<Element> parts(inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (ended_ || !inputs_[i]->next(parts[i])) return ended_ = true, false;
    out = Element::of_parts(parts);
    return true;
  }
  std::int64_t next_batch(std::int64_t n, Element& out) override {
    std::vector<Element> parts(inputs_.size());
    std::vector<std::int64_t> counts;
    for (std::size_t i = 0; i < inputs_.size() && !ended_; ++i)
      counts.push_back(inputs_[i]->next_batch(n, parts[i]));
    if (ended_) return 0;
    const std::int64_t least = *std::min_element(counts.begin(), counts.end());
    ended_ = least < n;
    if (least == 0) return 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (counts[i] > least) parts[i] = sliced_rows(parts[i], 0, least);
    out = Element::of_parts(parts);
    return least;
  }
  void skip(std::int64_t n) override {
    for (const auto& input : inputs_) input->skip(n);
  }

 private:
  std::vector<std::unique_ptr<Stream>> inputs_;
  bool ended_ = false;
};

class Zip final : public DatasetImpl {
 public:
  explicit Zip(std::vector<DatasetPointer> inputs) : inputs_(std::move(inputs)) {}
  std::uint64_t shard() const override {
    for (const DatasetPointer& input : inputs_)
      if (input->shard() != 0) return input->shard();
    return 0;
  }
  std::int64_t cardinality() const override {
    std::int64_t least = endless;
    for (const DatasetPointer& input : inputs_) {
      const std::int64_t count = input->cardinality();
      if (count == unknown) return unknown;
      if (count >= 0) least = least < 0 ? count : std::min(least, count);
    }
    return least;
  }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    std::vector<std::unique_ptr<Stream>> streams;
    for (const DatasetPointer& input : inputs_) streams.push_back(input->open(iteration));
    return std::make_unique<ZipStream>(std::move(streams));
  }

 private:
  std::vector<DatasetPointer> inputs_;
};

}  // namespace

Dataset Dataset::zip(const std::vector<Dataset>& datasets) {
  if (datasets.empty()) fail("[Dataset.zip] there must be datasets: received none");
  if (datasets.size() == 1) return datasets[0];
  std::vector<DatasetPointer> inputs;
  for (const Dataset& dataset : datasets) inputs.push_back(dataset.shared());
  return made<Zip>(std::move(inputs));
}

}  // namespace ktape::data
