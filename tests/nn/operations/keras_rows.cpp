#include "keras_rows.hpp"

namespace keras_rows {
namespace {

Tensor floats(const ktape::ArrayLike& x) { return K::constant(x, {.dtype = "float32"}); }
Tensor random(const ktape::Shape& shape, int seed = 8) { return normal(shape, seed, "float32"); }

}  // namespace

Tensor Tensors::made(const std::string& name) const {
  const auto constants = [&]() -> Tensor {
    if (name == "g" || name == "h") return random({4}, name[0]);
    if (name == "positive") return floats({0.5, 1., 1.5, 2.});
    if (name == "c3") return floats({0.5, -1., 1.});
    if (name == "p3") return floats({0.5, 2., 1.});
    if (name == "h22") return random({2, 3, 3});
    if (name == "kernel") return random({2, 4, 3});
    if (name == "kernel_back") return random({2, 3, 4});
    if (name == "depthwise") return random({2, 2, 3, 2});
    if (name == "deep") return random({2, 4, 2});
    if (name == "point") return random({1, 8, 3});
    if (name == "image_kernel") return random({3, 3, 2, 3});
    if (name == "local") return random({2, 8, 3});
    if (name == "shares") return floats({0.25, 0.5});
    if (name == "percents") return floats({25., 75.});
    if (name == "bounds") return floats({-1., 0., 1.});
    if (name == "square") return random({4, 4});
    if (name == "segments") return ints({0, 1, 0});
    if (name == "places") return ints({2, 0, 1});
    if (name == "row_ids0") return ints({0, 3, 1});
    if (name == "multi") return ints({{0, 1}, {1, 0}, {1, 1}, {0, 1}});
    if (name == "multi3") return ints({{0, 1}, {2, 3}, {0, 1}});
    if (name == "transform") return floats({1., 0.1, 0., 0., 0.9, 0.5, 0., 0.});
    if (name == "corners") return floats({{{0., 0.}, {0., 5.}, {5., 0.}, {5., 5.}}});
    if (name == "corners2") return floats({{{1., 0.}, {0., 5.}, {5., 1.}, {5., 5.}}});
    if (name == "two") return floats({2., 1.5});
    return {};
  };
  if (const Tensor constant = constants(); constant.defined()) return constant;
  const Tensor &x = x_, &y = y_;
  const auto batch_of = [&](float value) { return K::sum(x, {1, 2}) * 0.f + value; };
  if (name == "x") return x;
  if (name == "y") return y;
  if (name == "p") return K::abs(x) + 0.5f;
  if (name == "above") return K::abs(y) + 1.5f;
  if (name == "u") return K::sigmoid(x) * 0.9f + 0.05f;
  if (name == "u2") return K::sigmoid(y) * 0.9f + 0.05f;
  if (name == "b") return x > 0.f;
  if (name == "b2") return y > 0.f;
  if (name == "ids") return K::cast(K::clip(K::abs(x) * 2.f, 0, 2), "int32");
  if (name == "counts") return K::cast(K::clip(K::abs(y) * 2.f, 0, 3), "int32");
  if (name == "whole") return K::round(y);
  if (name == "m") return x[0];
  if (name == "v") return x[{0, 1}];
  if (name == "w") return y[{0, 2}];
  if (name == "vi") return made("ids")[{0, 1}];
  if (name == "rows") return x[{All, 1}];
  if (name == "unit") return x[{All, ktape::Slice(0, 1)}];
  if (name == "open")
    return K::reshape(x, K::concatenate({K::shape(x)[ktape::Slice(0, 1)], ints({-1, 6})}, 0));
  if (name == "row_ids") return made("ids")[{All, All, 0}];
  if (name == "heads" || name == "heads2") return K::reshape(name == "heads" ? x : y, {-1, 3, 2, 2});
  if (name == "seen") return K::reshape(y[{All, All, 0}] > -1.f, {-1, 1, 1, 3});
  if (name == "labels") return K::cast(batch_of(1), "int32")[{All, ktape::NewAxis}];
  if (name == "one" || name == "three") return K::cast(batch_of(name == "one" ? 1 : 3), "int32");
  if (name == "ones" || name == "threes") return made(name.substr(0, name.size() - 1))[{All, ktape::NewAxis}];
  if (name == "probabilities") return K::softmax(x);
  if (name == "img") return image(x);
  if (name == "img_u") return K::sigmoid(image(x));
  if (name == "image") return image(x)[0];
  if (name == "img_first") return K::permute_dimensions(image(x), {0, 3, 1, 2});
  if (name == "deep_img") return K::reshape(K::tile(x, {1, 2, 2}), {-1, 2, 3, 8});
  if (name == "patches") return K::reshape(K::tile(x, {1, 2, 2}), {-1, 2, 2, 12});
  if (name == "columns") return K::reshape(K::tile(x, {1, 4, 1}), {-1, 12, 4});
  if (name == "signal") return K::reshape(K::tile(x, {1, 2, 1}), {-1, 24});
  if (name == "frames" || name == "frames2") return name == "frames" ? x : y;
  if (name == "coordinates") return K::stack({K::sigmoid(x[{0, 0}]) * 2.f, K::sigmoid(y[{0, 0}]) * 3.f}, 0);
  if (name == "number") return K::sum(K::abs(x)) * 0.f + 4.f;
  if (name == "extents") return K::stack({K::shape(x)[0], K::shape(x)[1]}, 0);
  if (name == "block") return y[{0, ktape::Slice(0, 2), ktape::Slice(1, 3)}];
  if (name == "three_values") return x[{0, All, 0}];
  if (name == "turned") return K::permute_dimensions(y, {0, 2, 1});
  if (name == "three_d") return K::permute_dimensions(x, {0, 2, 1});
  if (name == "three_d2") return K::permute_dimensions(y, {0, 2, 1});
  if (name == "spd")
    return K::matmul(K::permute_dimensions(x, {0, 2, 1}), x) +
           floats({{4., 0., 0., 0.}, {0., 5., 0., 0.}, {0., 0., 6., 0.}, {0., 0., 0., 7.}});
  if (name == "lower") return ops::tril(made("spd"));
  FAIL("no tensor has the name " << name);
  return {};
}

Tensor Tensors::operator[](const std::string& name) const { return made(name); }

std::pair<const nn::Operation*, nn::OperationCall> call_of(const std::string& row, const Tensors& tensors) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = row.find("; ", at);
    parts.push_back(row.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + 2;
  }
  const nn::Operation* const operation = nn::find_operation(parts[0]);
  REQUIRE_MESSAGE(operation, parts[0]);
  std::vector<std::pair<std::string, nn::OperationArgument>> arguments;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string name = parts[i].substr(0, equals), text = parts[i].substr(equals + 1);
    nn::OperationArgument argument;
    if (text.find('@') == std::string::npos) argument.value = nn::from_json(text);
    argument.is_list = text[0] == '[' && text.find('@') != std::string::npos;
    for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1))
      argument.tensors.push_back(tensors[text.substr(at + 1, text.find_first_of(",]", at) - at - 1)]);
    arguments.emplace_back(name, argument);
  }
  return {operation, nn::OperationCall::by_name(*operation, arguments, "[" + row + "]")};
}

}  // namespace keras_rows
