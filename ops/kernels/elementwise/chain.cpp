#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/elementwise/broadcast_reader.hpp>
#include <ktape/ops/kernels/elementwise/chain.hpp>

#include <bit>
#include <memory>

namespace ktape::kernels {
namespace {

/// Writes the elements of a source to a buffer, block by block.
class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual void read(char* to, std::int64_t begin, std::int64_t n) = 0;
};

template <class U>
class SourceReaderOf final : public SourceReader {
 public:
  explicit SourceReaderOf(const ChainSource& source)
      : elements_(static_cast<const U*>(source.at), source.from, source.to) {}
  void read(char* to, std::int64_t begin, std::int64_t n) override {
    U* out = reinterpret_cast<U*>(to);
    for_blocks(begin, begin + n,
               [&](std::int64_t i, std::int64_t m) { std::copy_n(elements_(i, m), m, out + (i - begin)); });
  }

 private:
  BroadcastReader<U> elements_;
};

std::unique_ptr<SourceReader> reader_of(const ChainSource& source) {
  switch (source.bytes) {
    case 1:
      return std::make_unique<SourceReaderOf<std::uint8_t>>(source);
    case 2:
      return std::make_unique<SourceReaderOf<std::uint16_t>>(source);
    case 4:
      return std::make_unique<SourceReaderOf<std::uint32_t>>(source);
    default:
      return std::make_unique<SourceReaderOf<std::uint64_t>>(source);
  }
}

/// Returns the number of elements of a block: all arrays and buffers of a block fit in the first cache where
/// the chain is short, and a block is long enough to make the calls of its loops cheap.
std::int64_t block_size(const Chain& chain) {
  constexpr std::int64_t cache = 32 << 10, shortest = 512, longest = 4096;
  std::int64_t bytes = std::int64_t{4} * chain.buffers;
  for (const ChainStep& step : chain.steps) {
    if (step.out.array) bytes += step.out.bytes;
    for (const ChainPlace& x : step.x)
      if (x.array) bytes += x.bytes;
  }
  const auto fitting = static_cast<std::uint64_t>(cache / std::max<std::int64_t>(1, bytes));
  return std::clamp(static_cast<std::int64_t>(std::bit_floor(fitting)), shortest, longest);
}

/// The part of a chain that one thread runs.
class ChainRun {
 public:
  ChainRun(const Chain& chain, std::int64_t block)
      : chain_(chain), stride_(block * 8 + 64), buffers_(static_cast<std::size_t>(chain.buffers * stride_)) {
    for (const ChainSource& source : chain.sources) {
      readers_.push_back(source.from.count() == 1 ? nullptr : reader_of(source));
      if (!readers_.back()) reader_of(source)->read(buffer(source.buffer), 0, std::min(block, chain.size));
    }
  }

  void run(std::int64_t begin, std::int64_t n) {
    for (std::size_t i = 0; i < readers_.size(); ++i)
      if (readers_[i]) readers_[i]->read(buffer(chain_.sources[i].buffer), begin, n);
    for (const ChainStep& step : chain_.steps) {
      const void* x[4];
      ElementLoop::Step steps[4];
      for (int k = 0; k < step.loop.inputs; ++k) {
        x[k] = at(step.x[k], begin);
        steps[k] = {step.x[k].repeats ? 0 : step.loop.lanes, 0};
      }
      if (step.loop.halves != Half::None) map_halves(step.loop, n, at(step.out, begin), x);
      else step.loop.run(step.loop.f, 1, n, at(step.out, begin), x, steps);
    }
  }

 private:
  char* buffer(int index) { return buffers_.data() + index * stride_; }
  char* at(const ChainPlace& place, std::int64_t begin) {
    return place.array ? place.array + begin * place.bytes : buffer(place.buffer);
  }

  const Chain& chain_;
  std::int64_t stride_;
  WorkVector<char> buffers_;
  std::vector<std::unique_ptr<SourceReader>> readers_;  ///< null for a single element, which is read once
};

}  // namespace

void run_chain(const Chain& chain) {
  const std::int64_t block = block_size(chain), blocks = (chain.size + block - 1) / block;
  // As many threads as a single loop has: while the processors are contended, a chain would wait as long.
  const auto threads = std::min<std::int64_t>(blocks, team_size(chain.size, map_grain));
  parallel_ranges(blocks, static_cast<int>(threads), [&](std::int64_t begin, std::int64_t end) {
    ChainRun part(chain, block);
    for (std::int64_t i = begin; i < end; ++i) part.run(i * block, std::min(block, chain.size - i * block));
  });
}

}  // namespace ktape::kernels
