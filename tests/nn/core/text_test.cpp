#include <ktape/nn/core/text.hpp>

#include "../../ops/check.hpp"

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
  CHECK(shortened("loss: 1", 1) == "…");
  CHECK(shortened("loss: 1", 0).empty());
}

TEST_CASE("escaped text can stand in SVG and HTML") {
  CHECK(escaped("a<b> & \"c\"") == "a&lt;b&gt; &amp; &quot;c&quot;");
  CHECK(escaped("é → 😀\n") == "é → 😀\n");
  // Control characters, a byte alone, one cut off, one too long, a surrogate, beyond Unicode, no character.
  for (const char* text : {"\x01", "\x7f", "\xff", "\x80", "\xc2\x85"})
    CHECK(escaped(text).starts_with("\uFFFD"));
  CHECK(escaped("\xe2\x82") == "\uFFFD\uFFFD");
  CHECK(escaped("\xc0\xaf") == "\uFFFD\uFFFD");
  CHECK(escaped("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");
  CHECK(escaped("\xf4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(escaped("\xef\xbf\xbf") == "\uFFFD");
}
