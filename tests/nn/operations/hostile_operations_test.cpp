// Calls of all operations in which arguments are exchanged for wrong ones: each call gives a result, or an error with a
// text of the form "[op] rule: received name=value". Builds with sanitizers see what the calls read and write.
#include "keras_rows.hpp"

#include <limits>
#include <random>

using namespace keras_rows;
using nn::OperationArgument, nn::Value;

namespace {

class Mutations {
 public:
  explicit Mutations(unsigned seed) : random_(seed) {}

  /// Exchanges an argument, or two.
  void change(std::vector<OperationArgument>& arguments) {
    for (std::size_t times = 1 + below(2); times > 0; --times) {
      OperationArgument& argument = arguments[below(arguments.size())];
      if (argument.is_list && argument.tensors.empty()) continue;
      if (!argument.has_tensors()) argument.value = other(argument.value);
      else if (argument.is_list && below(4) == 0)
        argument.tensors.resize(below(3) * argument.tensors.size() / 2);
      else if (Tensor& x = argument.tensors[below(argument.tensors.size())]; true) x = other(x);
    }
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  std::int64_t integer(std::int64_t now) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const auto bits = static_cast<std::uint64_t>(now);  // arithmetic that wraps
    const auto as_signed = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    return one_of<std::int64_t>({0, -1, 1, as_signed(-bits), as_signed(bits + 1), as_signed(bits - 1), 7, -9,
                                 100, std::int64_t{1} << 50, -(std::int64_t{1} << 33), std::int64_t{1} << 62,
                                 most, -most - 1});
  }

  Value other(const Value& value) {
    if (below(8) == 0)
      return one_of<Value>(
          {{}, true, "nonsense", "", 0.5, Value::List{}, Value::List{1, -1}, nn::Config{{"a", 1}}, -3});
    if (value.is_boolean()) return !value.boolean();
    if (value.is_integer()) return integer(value.integer());
    if (value.is_number())
      return one_of<Value>({0., -1., 1e300, -1e-300, double(INFINITY), double(NAN), value.number() * -2});
    if (value.is_string())
      return one_of<Value>(
          {"", "valid", "same", "channels_first", "reflect", value.string() + "x", "float16", "bool"});
    if (value.is_list()) {
      Value::List list = value.list();
      if (list.empty() || below(4) == 0) list.push_back(integer(2));
      else if (below(4) == 0) list.pop_back();
      else if (Value& item = list[below(list.size())]; true) item = other(item);
      return list;
    }
    return integer(1);
  }

  Tensor other(const Tensor& x) {
    switch (below(12)) {
      case 0:
        return K::zeros(one_of<ktape::Shape>({{0}, {0, 3}, {3, 0, 4}, {2, 0}, {1, 1, 1, 0}}),
                        {.dtype = x.dtype()});
      case 1:
        return K::zeros({}, {.dtype = x.dtype()});
      case 2:
        return K::cast(
            x, one_of<ktape::DType>({"bool", "int64", "uint8", "int8", "float16", "float64", "int32"}));
      case 3:
        return x.dtype().is_floating() ? x * one_of<float>({NAN, INFINITY, 0.f, -1.f, 1e30f})
                                       : K::cast(K::cast(x, "float64") * -1e15, x.dtype());
      case 4:
        return x.ndim() > 0 ? x[ktape::Slice(0, 1)] : x;
      case 5:
        return x.ndim() > 0 ? x[ktape::Slice(0, 0)] : x;
      case 6:
        return K::expand_dims(x, static_cast<int>(below(static_cast<std::size_t>(x.ndim()) + 1)));
      case 7:
        return x.ndim() > 1 ? K::transpose(x) : x;
      case 8:
        return x.ndim() > 0 ? x[0] : x;
      case 9:
        return K::zeros({2, 1, 1, 1, 1, 1, 2, 1}, {.dtype = x.dtype()});
      case 10:
        return K::concatenate({K::reshape(x, {-1}), K::reshape(x, {-1})}, 0);
      default:
        return {};
    }
  }

  std::mt19937 random_;
};

bool is_clear(const std::string& text) {
  return text.starts_with('[') && text.find("received") != std::string::npos;
}

/// Makes a call, which returns results or throws a clear error.
template <class Call>
void expect_clear(const Call& call) {
  try {
    call();
  } catch (const ktape::Error& error) {
    CHECK_MESSAGE(is_clear(error.what()), error.what());
  } catch (const std::exception& error) {
    FAIL_CHECK("an exception that is no ktape::Error: " << error.what());
  }
}

/// Calls all operations with some wrong arguments.
void call_all(const Tensor& x, const Tensor& y, int times) {
  unsigned seed = 0;
  for (const std::string row : rows()) {
    if (row.starts_with("print_tensor")) continue;
    for (int i = 0; i < times; ++i) {
      ++seed;
      CAPTURE(row);
      CAPTURE(seed);
      const auto made = call_of(row, Tensors(x, y));
      const nn::Operation& operation = *made.first;
      const nn::OperationCall& call = made.second;
      std::vector<OperationArgument> arguments = call.arguments();
      Mutations mutations(seed);
      expect_clear([&] {
        mutations.change(arguments);
        operation.run(nn::OperationCall(operation, arguments));
      });
    }
  }
}

}  // namespace

TEST_CASE("wrong arguments of operations give results or clear errors") {
  call_all(normal({2, 3, 4}, 5, "float32"), normal({2, 3, 4}, 6, "float32"), 60);
}

TEST_CASE("wrong arguments of operations give results or clear errors where tensors are symbolic") {
  const Tensor x = K::placeholder({.shape = ktape::Shape{ktape::None, 3, 4}}),
               y = K::placeholder({.shape = ktape::Shape{ktape::None, 3, 4}});
  call_all(x, y, 30);
}

TEST_CASE("null for an argument of an operation gives results or a clear error") {
  const Tensor x = normal({2, 3, 4}, 5, "float32"), y = normal({2, 3, 4}, 6, "float32");
  for (const std::string row : rows()) {
    CAPTURE(row);
    const auto made = call_of(row, Tensors(x, y));
    const nn::Operation& operation = *made.first;
    const nn::OperationCall& call = made.second;
    for (std::size_t i = 0; i < call.arguments().size(); ++i) {
      std::vector<OperationArgument> arguments = call.arguments();
      arguments[i] = {};
      expect_clear([&] { operation.run(nn::OperationCall(operation, arguments)); });
    }
  }
}
