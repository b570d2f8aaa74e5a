// Every public name of keras.ops and keras.random, as keras_names.py reads them from the sources of Keras.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <string>

namespace {

// A name that is not declared fails to compile.
#define KERAS_NAME(space, name) using ktape::space::name;
#define KERAS_MISSING(name, reason)
namespace declared {
#include "keras_names.inc"
}  // namespace declared
#undef KERAS_NAME
#undef KERAS_MISSING

}  // namespace

TEST_CASE("keras.ops has 355 names and keras.random 11: a name that is missing has a reason") {
  int ops = 0, random = 0;
#define KERAS_NAME(space, name) ++space;
#define KERAS_MISSING(name, reason) \
  ++ops;                            \
  CHECK_MESSAGE(!std::string(reason).empty(), #name);
#include "keras_names.inc"
#undef KERAS_NAME
#undef KERAS_MISSING
  CHECK(ops == 355);
  CHECK(random == 11);
}
