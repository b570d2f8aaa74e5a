#include <doctest/doctest.h>
#include <ktape/autograd/base/log.hpp>

#include <string>

#include "../written.hpp"

using namespace ktape;

TEST_CASE("logging is silent until a level is set") {
  log::set_level(log::Level::Off);
  CHECK(!log::enabled(log::Level::Error));
  CHECK(written([] { log::write(log::Level::Error, "lost"); }) == "");
}

TEST_CASE("messages of the level and above are written, with the logger's name") {
  log::set_level(log::Level::Info);
  CHECK(log::enabled(log::Level::Warn));
  CHECK(!log::enabled(log::Level::Debug));
  CHECK(!log::enabled(log::Level::Off));
  const std::string text = written([] {
    log::write(log::Level::Debug, "too fine");
    log::write(log::Level::Warn, "the {} is 100% literal");
  });
  CHECK(text.find("[ktape] [warning] the {} is 100% literal\n") != std::string::npos);
  CHECK(text.find("too fine") == std::string::npos);
  log::set_level(log::Level::Off);
}

TEST_CASE("requested output is printed at any level, unchanged") {
  log::set_level(log::Level::Off);
  CHECK(written([] { log::print("x = {1}"); }) == "x = {1}\n");
}
