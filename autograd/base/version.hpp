#pragma once
/// The version of these headers, for `#if`; K::version() returns the version of the loaded library. The build,
/// the packages and find_package(ktape) read the three numbers from this file.
#define KTAPE_VERSION_MAJOR 0
#define KTAPE_VERSION_MINOR 1
#define KTAPE_VERSION_PATCH 0
