#pragma once
#include <ktape/nn/data/stream.hpp>

namespace ktape::data {

/// Returns a stream whose elements `threads` threads read ahead, in order. Up to `ahead` elements are being
/// read or wait in the buffer. With a function, the threads call the function on each element. Ops on these
/// threads use one processor each. The threads end with the stream. Internal: sources only.
std::unique_ptr<Stream> read_ahead(std::unique_ptr<Stream> input, int threads, std::int64_t ahead,
                                   std::shared_ptr<const Dataset::Function> function, std::uint64_t key);

}  // namespace ktape::data
