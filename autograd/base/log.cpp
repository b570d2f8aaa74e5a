#include <ktape/autograd/base/log.hpp>

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace ktape::log {
namespace {

constexpr std::array names = {"trace", "debug", "info", "warn", "error"};
constexpr std::array levels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                               spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};

spdlog::level::level_enum spdlog_level(Level level) { return levels[static_cast<std::size_t>(level)]; }

Level level_from_environment() {
  const char* value = std::getenv("KTAPE_LOG");
  for (std::size_t i = 0; value && i < names.size(); ++i)
    if (std::string_view(value) == names[i]) return static_cast<Level>(i);
  return Level::Off;
}

spdlog::logger* make_logger(const char* pattern, Level level) {
  auto* logger = new spdlog::logger("ktape", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(pattern);
  logger->set_level(spdlog_level(level));
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// The logger is never destroyed, because static objects may log in their destructors. The logger is not
// registered with spdlog, so that it does not mix with the loggers of the program.
spdlog::logger& logger() {
  static spdlog::logger* logger =
      make_logger("[%Y-%m-%d %H:%M:%S.%e] [%n] [%l] %v", level_from_environment());
  return *logger;
}

spdlog::logger& printer() {
  static spdlog::logger* logger = make_logger("%v", Level::Trace);
  return *logger;
}

}  // namespace

bool enabled(Level level) { return level != Level::Off && logger().should_log(spdlog_level(level)); }

void write(Level level, std::string_view message) {
  if (enabled(level))
    logger().log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

void set_level(Level level) { logger().set_level(spdlog_level(level)); }

void print(std::string_view text) { printer().info(spdlog::string_view_t(text.data(), text.size())); }

}  // namespace ktape::log
