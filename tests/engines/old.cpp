// An engine made for another version of the table.
#include <ktape/ops/engine.h>

extern "C" const ktape_engine* ktape_get_engine(void) {
  static const ktape_engine engine{KTAPE_ENGINE_VERSION - 1, "old", nullptr, 0};
  return &engine;
}
