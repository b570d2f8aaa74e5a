#pragma once
#include <cstddef>
#include <cstdint>

namespace ktape::data {

/// Returns the checksum of zip archives and gzip files (zlib's `crc32_z`): `before` is the checksum of the
/// earlier bytes. Runs at the speed of memory on processors that multiply polynomials. Internal: sources
/// only.
std::uint32_t crc32(std::uint32_t before, const void* bytes, std::size_t n);

}  // namespace ktape::data
