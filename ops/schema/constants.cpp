#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/schema/operation.hpp>

#include <cmath>

/// Constant operands of operations as values of configs.
namespace ktape::nn {
namespace {

constexpr const char* array_class = "__numpy__";
constexpr std::int64_t most_elements = 1 << 16;

/// Returns a number as a value; a string for infinities and NaN, which JSON lacks and NumPy reads as such.
Value number_value(Scalar number) {
  const double real = number.real();
  if (std::isfinite(real)) return number;
  return std::isnan(real) ? "nan" : real > 0 ? "inf" : "-inf";
}

Scalar number_in(const Value& value, const std::string& what) {
  if (value.is_boolean()) return value.boolean();
  if (value.is_integer()) return value.integer();
  if (value.is_number()) return value.number();
  if (value == Value("inf") || value == Value("-inf")) return value == Value("inf") ? INFINITY : -INFINITY;
  if (value == Value("nan")) return NAN;
  fail<TypeError>(what, " must be numbers: received ", value);
}

/// Returns the elements as nested lists, from the element `next` of a flat tensor.
Value nested(const Tensor& flat, const Shape& shape, int axis, std::int64_t& next) {
  if (axis == shape.rank()) {
    const std::int64_t at = next++;
    return number_value(flat.element(&at, 1));
  }
  Value::List list;
  for (std::int64_t i = 0; i < shape[axis]; ++i) list.push_back(nested(flat, shape, axis + 1, next));
  return list;
}

Shape shape_of(const Value& value) {
  Shape shape;
  for (const Value* item = &value; item->is_list(); item = &item->list()[0]) {
    if (shape.rank() == Shape::max_rank)
      fail("[constant] the nesting must be at most ", Shape::max_rank, " deep");
    shape.push_back(static_cast<std::int64_t>(item->list().size()));
    if (item->list().empty()) break;
  }
  return shape;
}

void collect(const Value& value, const Shape& shape, int axis, const std::string& what,
             std::vector<Scalar>& numbers) {
  if (axis == shape.rank()) return numbers.push_back(number_in(value, what));
  if (!value.is_list() || static_cast<std::int64_t>(value.list().size()) != shape[axis])
    fail(what, " must be lists of one length each: received ", value);
  for (const Value& item : value.list()) collect(item, shape, axis + 1, what, numbers);
}

}  // namespace

bool is_constant(const Value& value) {
  if (!value.is_config()) return false;
  const Value name = value.config().get("class_name");
  return name == Value(array_class) || name == Value("__tensor__");
}

Value constant_value(const Tensor& constant, bool as_number) {
  if (constant.size() > most_elements)
    fail("[save] a constant between layers must have at most ", most_elements,
         " elements to be written in a config: received shape=", constant.shape(),
         "; make the constant a weight of a layer");
  std::int64_t next = 0;
  const Value numbers = nested(constant.alias(Shape{constant.size()}), constant.shape(), 0, next);
  if (as_number && !numbers.is_list() && !numbers.is_string()) return numbers;
  return Config{{"class_name", array_class},
                {"config", Config{{"value", numbers}, {"dtype", constant.dtype().name()}}}};
}

Tensor constant_from(const Value& value, DType dtype, const std::string& what) {
  if (is_constant(value)) {
    const Config& config = value.config().at("config").config(what);
    const std::string name = config.get("dtype", dtype.name()).string(what);
    return constant_from(config.at("value"), DType(name), what);
  }
  const Shape shape = shape_of(value);
  std::vector<Scalar> numbers;
  collect(value, shape, 0, what, numbers);
  Tensor constant = Tensor::empty(shape, dtype);
  dispatch(dtype, [&]<class T>() {
    for (std::size_t i = 0; i < numbers.size(); ++i) constant.pointer<T>()[i] = numbers[i].to<T>();
  });
  return constant;
}

}  // namespace ktape::nn
