#pragma once
#include <ktape/nn/data/stream.hpp>

namespace ktape::data {

/// Returns a stream whose elements `threads` threads read ahead, in order; up to `ahead` elements are in work
/// or wait. With a function, the threads call the function on each element. Ops of these threads use one
/// processor each. The threads end with the stream. Internal: sources only.
std::unique_ptr<Stream> read_ahead(std::unique_ptr<Stream> input, int threads, std::int64_t ahead,
                                   std::shared_ptr<const Dataset::Function> function, std::uint64_t key);

}  // namespace ktape::data
