#pragma once
#include <doctest/doctest.h>

/// Whether the build has libhdf5.
#if defined(KTAPE_WITH_HDF5)
inline constexpr bool has_hdf5 = true;
#else
inline constexpr bool has_hdf5 = false;
#endif

/// The decorator of test cases that read or write HDF5 files.
inline const doctest::skip needs_hdf5(!has_hdf5);
