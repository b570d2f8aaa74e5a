#include <ktape/nn/text.hpp>

#include "../ops/check.hpp"

using namespace ktape::nn;

TEST_CASE("the width of a text is the number of its characters, not of its bytes") {
  CHECK(text_width("") == 0);
  CHECK(text_width("abc") == 3);
  CHECK(text_width("━━ é → x") == 8);
}

TEST_CASE("a text is shortened only where it does not fit, between characters") {
  CHECK(shortened("loss: 1", 7) == "loss: 1");
  CHECK(shortened("loss: 1", 6) == "loss:…");
  CHECK(shortened("━━━━", 3) == "━━…");
}
