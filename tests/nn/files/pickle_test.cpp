#include <doctest/doctest.h>
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/files/pickle.hpp>

using doctest::Contains;
using ktape::IOError;
using ktape::data::PickleValue;
using ktape::data::Unpickler;

namespace {

/// A world that knows the function "m.twice", which doubles an integer, and persistent ids that are texts.
Unpickler::World world() {
  return {[](const std::string& name) { return name == "m.twice"; },
          [](const std::string&, const PickleValue& arguments, PickleValue& result) {
            if (arguments.items.size() != 1) return false;
            result.kind = PickleValue::Int, result.integer = 2 * arguments.items[0]->integer;
            return true;
          },
          [](const PickleValue& id, PickleValue& result) {
            result.kind = PickleValue::Made;
            return id.kind == PickleValue::Text;
          }};
}

void check_refused(const std::string& bytes, const char* reason) {
  Unpickler unpickler("read", "f.pkl", bytes, world());
  CHECK_THROWS_WITH_AS(unpickler.read(), Contains(reason), IOError);
}

}  // namespace

TEST_CASE("pickle: numbers, texts, containers, the memo and calls") {
  std::string whole = std::string("\x80\x02", 2) + "}(";
  const auto text = [](const std::string& t) {
    return 'X' + std::string{static_cast<char>(t.size()), 0, 0, 0} + t;
  };
  whole += text("a") + "K\x07" + text("b") + "J\xff\xff\xff\xff" + text("c") + "](\x88Ne" + text("d") +
           std::string("\x8a\x02\x00\x80", 4) + text("e") + "cm\ntwice\nK\x15\x85Rq\x01" + text("f") +
           "h\x01\x85" + text("g") + text("id") + "Q" + text("h") + std::string("G\x3f\xe0\0\0\0\0\0\0", 9) +
           "u.";
  Unpickler unpickler("read", "f.pkl", whole, world());
  const PickleValue& value = unpickler.read();
  REQUIRE(value.kind == PickleValue::Dict);
  REQUIRE(value.items.size() == 16);
  CHECK(value.items[1]->integer == 7);
  CHECK(value.items[3]->integer == -1);
  CHECK(value.items[5]->items.size() == 2);
  CHECK(value.items[7]->integer == -32768);
  CHECK(value.items[9]->integer == 42);
  CHECK(value.items[11]->items[0] == value.items[9]);
  CHECK(value.items[13]->kind == PickleValue::Made);
  CHECK(value.items[15]->real == 0.5);
}

TEST_CASE("pickle: damage and other names are refused") {
  check_refused("", "cut off");
  check_refused("\x80\x02", "cut off");
  check_refused("\x80\x09.", "the protocol of the pickle is 9");
  check_refused("\x80\x02.", "the stack of the pickle is empty");
  check_refused("cos\nsystem\n.", "the pickle asks for 'os.system', which is never run");
  check_refused("cm\ntwice\n)R.", "the arguments of 'm.twice' do not fit");
  check_refused("K\x01K\x02\x85R.", "calls a value that is no function");
  check_refused("t.", "the pickle has no mark");
  check_refused(
      "K\x01K\x02"
      "a.",
      "adds items to a value that is no container");
  check_refused("h\x05.", "the memo of the pickle has no such value");
  check_refused("c\x1b[1m\nx\ty\n.", "the pickle asks for '?[1m.x?y', which is never run");
  check_refused(
      "\x8a\x09"
      "123456789.",
      "an integer has more than 64 bits");
  check_refused(
      "\x8b\xff\xff\xff\x7f"
      "1234.",
      "an integer has more than 64 bits");
  check_refused("]r\xff\xff\xff\xff.", "the memo of the pickle has more than a million values");
  check_refused("I1\n.", "the opcode 73");
  check_refused("}(K\x01u.", "a key has no value");
  check_refused(std::string(1'100'000, ')') + '.', "more than a million values");
}
