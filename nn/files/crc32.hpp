#pragma once
#include <cstddef>
#include <cstdint>

namespace ktape::data {

/// Returns the checksum of zip archives and gzip files, of what came before and these bytes: zlib's
/// `crc32_z`, at the speed of memory on processors that multiply polynomials. Internal: sources only.
std::uint32_t crc32(std::uint32_t before, const void* bytes, std::size_t n);

}  // namespace ktape::data
