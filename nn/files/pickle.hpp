#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Reading of Python's pickles, as far as files of tensors need them. Internal: sources only.
namespace ktape::data {

/// A value of a pickle. Values refer to each other and live as long as their Unpickler.
struct PickleValue {
  enum Kind : std::uint8_t { None, Bool, Int, Real, Text, Tuple, List, Dict, Global, Made };

  Kind kind = None;
  std::int64_t integer = 0;  ///< an Int or a Bool; the number that `make` gave to a Made value
  double real = 0;
  std::string text;                 ///< a Text; a Global as "module.name"
  std::vector<PickleValue*> items;  ///< of a Tuple or List; keys and values of a Dict in turn
};

/// Reads a pickle of the protocols 2 to 5. Nothing is executed: a pickle asks for functions of Python by name, and
/// `make` decides what a call of such a function gives. Throws IOError, naming the file, for a damaged pickle, an
/// opcode beyond the subset (numbers, texts, tuples, lists, dicts, calls), a name that `knows` refuses, and for more
/// than a million values.
class Unpickler {
 public:
  struct World {
    /// Returns whether a name "module.name" may occur.
    std::function<bool(const std::string& name)> knows;
    /// Fills the result of the call of `function` with the items of a tuple; false for a call that is refused.
    std::function<bool(const std::string& function, const PickleValue& arguments, PickleValue& result)> make;
    /// Fills the value of a persistent id; false for an id that is refused.
    std::function<bool(const PickleValue& id, PickleValue& result)> persistent;
  };

  Unpickler(const char* op, std::string file, std::string_view bytes, World world)
      : op_(op), file_(std::move(file)), bytes_(bytes), world_(std::move(world)) {}

  /// Returns the value of the pickle.
  const PickleValue& read();
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  std::string_view take(std::uint64_t n);
  template <class T>
  T number();
  std::string_view line();
  PickleValue& push(PickleValue::Kind kind);
  void push_integer(std::int64_t value);
  void push_text(std::string_view text);
  void push_global(const std::string& name);
  PickleValue& top();
  PickleValue* pop();
  std::vector<PickleValue*> pop_to_mark();
  PickleValue& container(PickleValue::Kind kind);
  void make_tuple(std::size_t count);
  void call();
  void memoize(std::uint64_t at);
  void recall(std::uint64_t at);
  bool run(unsigned char opcode);
  bool run_number(unsigned char opcode);
  bool run_text(unsigned char opcode);
  bool run_container(unsigned char opcode);
  bool run_memo(unsigned char opcode);

  const char* op_;
  std::string file_;
  std::string_view bytes_;
  World world_;
  std::deque<PickleValue> values_;
  std::vector<PickleValue*> stack_, memo_;
  std::vector<std::size_t> marks_;
};

}  // namespace ktape::data
