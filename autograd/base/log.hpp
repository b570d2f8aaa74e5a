#pragma once
#include <cstdint>
#include <string_view>

/// Logging to the error stream through a logger named "ktape". The logger is silent unless the environment
/// variable KTAPE_LOG is trace, debug, info, warn or error at the first message, or `set_level` sets a level.
/// Any other value means off.
namespace ktape::log {

enum class Level : std::uint8_t { Trace, Debug, Info, Warn, Error, Off };

/// Returns whether messages of this level are written; false for Off. Call `enabled` before building a long
/// text.
bool enabled(Level level);

/// Writes one line with time, name and level when the level is enabled.
void write(Level level, std::string_view message);

/// Writes messages of this level and above from now on; overrides KTAPE_LOG.
///
///     ktape::log::set_level(ktape::log::Level::Warn);
///     std::cout << ktape::log::enabled(ktape::log::Level::Info);
void set_level(Level level);

/// Writes the text unchanged, at any level: for output that the user requests, such as `print_tensor`.
///
///     ktape::log::set_level(ktape::log::Level::Warn);
///     ktape::log::write(ktape::log::Level::Info, "not shown");
///     ktape::log::print("shown at any level");
///     std::cout << "the error stream has the text of print alone";
void print(std::string_view text);

}  // namespace ktape::log
