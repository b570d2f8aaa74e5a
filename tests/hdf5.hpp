#pragma once
#include <doctest/doctest.h>

/// The decorator of test cases that read or write HDF5 files. A build without libhdf5 skips these cases.
#if defined(KTAPE_WITH_HDF5)
inline const doctest::skip needs_hdf5(false);
#else
inline const doctest::skip needs_hdf5(true);
#endif
