#pragma once
#include <cstdint>
#include <string_view>

/// Logging to the error stream through a logger named "ktape". It is silent unless the environment variable
/// KTAPE_LOG is trace, debug, info, warn or error when the first message comes, or `set_level` says so. Any
/// other value means off.
namespace ktape::log {

enum class Level : std::uint8_t { Trace, Debug, Info, Warn, Error, Off };

/// Whether messages of this level are written. Ask before building a long text. False for Off.
bool enabled(Level level);

/// Writes one line with time, name and level when the level is enabled.
void write(Level level, std::string_view message);

/// Writes messages of this level and above from now on, whatever KTAPE_LOG says.
void set_level(Level level);

/// Writes the text as it is, at any level: for what was asked for, such as `print_tensor`.
void print(std::string_view text);

}  // namespace ktape::log
