#include <ktape/ktape.hpp>

#include <cmath>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

using List = std::vector<Tensor>;
using Result = K::RnnResult<Tensor>;

/// A layer: its op, and the step that describes it, of x, kernel, recurrent kernel, bias and states.
struct Layer {
  const char* name;
  int gates, states;
  Shape bias;
  std::function<Result(const List&, const K::RnnOptions&)> fused;
  std::function<std::pair<Tensor, List>(const Tensor&, const List&, const List&)> step;
};

template <class Options>
Options with(Options options, const K::RnnOptions& o) {
  options.go_backwards = o.go_backwards, options.mask = o.mask, options.time_major = o.time_major;
  options.zero_output_for_mask = o.zero_output_for_mask;
  return options;
}

List states_of(const List& in) { return List(in.begin() + 4, in.end()); }

Layer lstm(const std::string& gate) {
  return {"lstm",
          4,
          2,
          {4},
          [=](const List& in, const K::RnnOptions& o) {
            return K::lstm(in[0], in[1], in[2], in[3], states_of(in),
                           with(K::LstmOptions{.recurrent_activation = gate}, o));
          },
          [=](const Tensor& x, const List& p, const List& s) {
            const auto act = [&](const Tensor& t) {
              return gate == "sigmoid" ? K::sigmoid(t) : K::hard_sigmoid(t);
            };
            const List z = K::split(K::dot(x, p[1]) + K::dot(s[0], p[2]) + p[3], 4, 1);
            const Tensor c = act(z[1]) * s[1] + act(z[0]) * K::tanh(z[2]), h = act(z[3]) * K::tanh(c);
            return std::pair{h, List{h, c}};
          }};
}

Layer gru(bool reset_after) {
  return {"gru",
          3,
          1,
          reset_after ? Shape{2, 3} : Shape{3},
          [=](const List& in, const K::RnnOptions& o) {
            return K::gru(in[0], in[1], in[2], in[3], states_of(in),
                          with(K::GruOptions{.reset_after = reset_after}, o));
          },
          [=](const Tensor& x, const List& p, const List& s) {
            const Tensor b = reset_after ? K::unstack(p[3])[0] : p[3];
            const List u = K::split(p[2], 3, 1), a = K::split(K::dot(x, p[1]) + b, 3, 1);
            const List c =
                reset_after ? K::split(K::unstack(p[3])[1], 3, 0) : List(3, K::zeros_like(u[0])[0]);
            const Tensor z = K::sigmoid(a[0] + K::dot(s[0], u[0]) + c[0]),
                         r = K::sigmoid(a[1] + K::dot(s[0], u[1]) + c[1]);
            const Tensor n =
                K::tanh(a[2] + (reset_after ? r * (K::dot(s[0], u[2]) + c[2]) : K::dot(r * s[0], u[2])));
            const Tensor h = z * s[0] + (1 - z) * n;
            return std::pair{h, List{h}};
          }};
}

Layer simple(const std::string& activation) {
  return {"simple_rnn",
          1,
          1,
          {1},
          [=](const List& in, const K::RnnOptions& o) {
            return K::simple_rnn(in[0], in[1], in[2], in[3], states_of(in),
                                 with(K::SimpleRnnOptions{.activation = activation}, o));
          },
          [=](const Tensor& x, const List& p, const List& s) {
            const Tensor z = K::dot(x, p[1]) + K::dot(s[0], p[2]) + p[3],
                         h = activation == "relu" ? K::relu(z) : K::tanh(z);
            return std::pair{h, List{h}};
          }};
}

std::vector<Layer> layers() {
  return {lstm("sigmoid"), lstm("hard_sigmoid"), gru(true), gru(false), simple("tanh"), simple("relu")};
}

List arguments(const Layer& layer, std::int64_t samples, std::int64_t steps, std::int64_t features,
               std::int64_t units) {
  Shape bias = layer.bias;
  bias[bias.rank() - 1] *= units;
  List in{normal({samples, steps, features}), normal({features, layer.gates * units}, 2) * 0.5,
          normal({units, layer.gates * units}, 3) * (0.6 / std::sqrt(double(units))), normal(bias, 4)};
  for (int i = 0; i < layer.states; ++i) in.push_back(normal({samples, units}, 5 + i));
  return in;
}

Result stepwise(const Layer& layer, const List& in, const K::RnnOptions& options) {
  return K::rnn([&](const Tensor& x, const List& states) { return layer.step(x, in, states); }, in[0],
                states_of(in), options);
}

List all_of(const Result& r) {
  List out{r.last_output, r.outputs};
  out.insert(out.end(), r.new_states.begin(), r.new_states.end());
  return out;
}

Tensor weighted(const List& tensors) {
  Tensor total = K::constant(0, {.dtype = "float64"});
  for (std::size_t i = 0; i < tensors.size(); ++i)
    total = total + K::sum(K::square(tensors[i]) * normal(tensors[i].shape(), 20 + static_cast<int>(i)));
  return total;
}

void compare(const Layer& layer, const List& values, const K::RnnOptions& options) {
  List in;
  for (const Tensor& t : values) in.push_back(Variable(t));
  const List fused = all_of(layer.fused(in, options)), plain = all_of(stepwise(layer, in, options));
  REQUIRE(fused.size() == plain.size());
  for (std::size_t i = 0; i < fused.size(); ++i) CHECK(close(fused[i], plain[i], {.atol = 1e-12}));
  const List got = gradients(weighted(fused), in), wanted = gradients(weighted(plain), in);
  CHECK(close(got, wanted, {.atol = 1e-10}));
  if (values[0].size() > 100) return;
  const List got_second = gradients(weighted(got), in), wanted_second = gradients(weighted(wanted), in);
  for (std::size_t i = 0; i < in.size(); ++i) CHECK(close(got_second[i], wanted_second[i], {.atol = 1e-7}));
}

}  // namespace

TEST_CASE("simple_rnn is tanh of the input, the state before and the bias") {
  const double first = std::tanh(0.5 * 1 + 0.125), second = std::tanh(0.5 * 2 + 0.25 * first + 0.125);
  const Tensor x = doubles({{{1}, {2}}}), kernel = doubles({{0.5}}), recurrent = doubles({{0.25}});
  CHECK(close(K::simple_rnn(x, kernel, recurrent, doubles({0.125})).outputs, doubles({{{first}, {second}}})));
}

TEST_CASE("recurrent layers are rnn with their step, in values and gradients of both orders") {
  for (const Layer& layer : layers()) {
    CAPTURE(layer.name);
    for (const bool go_backwards : {false, true})
      for (const bool time_major : {false, true}) {
        compare(layer, arguments(layer, time_major ? 3 : 2, time_major ? 2 : 3, 3, 2),
                {.go_backwards = go_backwards});
        List in = arguments(layer, 3, 2, 2, 3);
        in[0] = K::permute_dimensions(in[0], {1, 0, 2});
        compare(layer, in, {.go_backwards = go_backwards, .time_major = true});
      }
  }
}

TEST_CASE("recurrent layers are rnn with their step for every number of samples and units") {
  for (const Layer& layer : layers()) {
    CAPTURE(layer.name);
    for (const std::int64_t samples : {1, 2, 5, 7, 11})
      for (const std::int64_t units : {1, 8, 13, 40, 70}) {
        CAPTURE(samples);
        CAPTURE(units);
        compare(layer, arguments(layer, samples, 21, 5, units), {});
      }
  }
}

TEST_CASE("masked steps keep the states and repeat the output") {
  const Tensor mask =
      K::constant({{true, false, true, false}, {false, false, true, true}, {true, true, false, false}});
  for (const Layer& layer : layers())
    for (const bool go_backwards : {false, true})
      for (const bool zero : {false, true}) {
        CAPTURE(layer.name);
        CAPTURE(go_backwards);
        CAPTURE(zero);
        compare(layer, arguments(layer, 3, 4, 2, 3),
                {.go_backwards = go_backwards, .mask = mask, .zero_output_for_mask = zero});
        compare(layer, arguments(layer, 3, 4, 2, 3),
                {.go_backwards = go_backwards,
                 .mask = K::expand_dims(K::cast(mask, "float64")),
                 .zero_output_for_mask = zero});
      }
}

TEST_CASE("bias and initial states may be left out, and one tensor may be several arguments") {
  const List in = arguments(lstm("sigmoid"), 2, 3, 2, 2);
  const Tensor zeros = K::zeros({2, 2}, {.dtype = "float64"});
  CHECK(close(K::lstm(in[0], in[1], in[2], Tensor()).outputs,
              K::lstm(in[0], in[1], in[2], K::zeros({8}, {.dtype = "float64"}), {zeros, zeros}).outputs,
              exactly));
  check_gradients(
      [&](In v) {
        return List{K::lstm(v[0], v[1], v[1], Tensor(), {v[2], v[2]}).outputs};
      },
      {normal({2, 2, 2}), normal({2, 8}, 2), normal({2, 2}, 3)});
  check_gradients([&](In v) { return List{K::gru(v[0], v[1], v[2], Tensor()).last_output}; },
                  {normal({1, 2, 1}), normal({1, 6}, 2), normal({2, 6}, 3)});
}

TEST_CASE("float32 and float16 are close to float64") {
  for (const Layer& layer : layers()) {
    const List in = arguments(layer, 5, 6, 7, 20);
    const Result wanted = layer.fused(in, {});
    for (const char* dtype : {"float32", "float16"}) {
      List narrow;
      for (const Tensor& t : in) narrow.push_back(K::cast(t, dtype));
      const Result got = layer.fused(narrow, {});
      CHECK(got.outputs.dtype() == dtype);
      CHECK(close(got.outputs, wanted.outputs, {.atol = DType(dtype) == DType::Float16 ? 3e-2 : 1e-5}));
    }
  }
}

TEST_CASE("a gradient may be taken twice from one run") {
  const List in = arguments(lstm("sigmoid"), 2, 3, 2, 2);
  const Variable w = in[1];
  const Tensor loss = K::sum(K::lstm(in[0], w, in[2], in[3], states_of(in)).outputs);
  CHECK(close(gradients(loss, {w})[0], gradients(loss, {w})[0], exactly));
}

TEST_CASE("recurrent layers name the op and what was expected") {
  const Tensor x = K::zeros({2, 3, 4}), w = K::zeros({4, 8}), u = K::zeros({2, 8}), b = K::zeros({8});
  CHECK_THROWS_WITH_AS(K::lstm(K::zeros({2, 3}), w, u, b), "[lstm] x must have rank 3: received x=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, u, u, b),
                       "[lstm] kernel must have the shape (4, 8): received kernel=(2, 8)", ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, w, b), Contains("recurrent_kernel must be (units, 4 * units)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, u, w), Contains("bias must have the shape (8,)"), ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, u, b, {K::zeros({2, 2})}),
                       Contains("initial_states must be 2 or none: received 1"), ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, u, b, {u, u}), Contains("must have the shape (2, 2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(K::zeros({2, 0, 4}), w, u, b), Contains("there must be a time step"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, u, b, {}, {.recurrent_activation = "relu"}),
                       Contains("received recurrent_activation=\"relu\""), ValueError);
  CHECK_THROWS_WITH_AS(K::lstm(x, w, u, b, {}, {.mask = K::ones({3, 2})}),
                       Contains("the mask must have the shape (2, 3)"), ValueError);
  CHECK_THROWS_WITH_AS(K::gru(x, K::zeros({4, 6}), K::zeros({2, 6}), K::zeros({6})),
                       Contains("bias must have the shape (2, 6)"), ValueError);
  CHECK_THROWS_WITH_AS(
      K::simple_rnn(x, K::zeros({4, 2}), K::zeros({2, 2}), Tensor(), {}, {.activation = "elu"}),
      Contains("\"tanh\" or \"relu\""), ValueError);
  CHECK_THROWS_AS(K::lstm(x, w, K::cast(u, "float64"), b), TypeError);
  CHECK_THROWS_AS(K::lstm(K::cast(x, "int32"), K::cast(w, "int32"), K::cast(u, "int32"), K::cast(b, "int32")),
                  TypeError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"lstm", [](In in) { return K::lstm(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 8}, 2), normal({2, 8}, 3), normal({8}, 4)}},
      {"gru", [](In in) { return K::gru(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 6}, 2), normal({2, 6}, 3), normal({2, 6}, 4)}},
      {"simple_rnn", [](In in) { return K::simple_rnn(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 2}, 2), normal({2, 2}, 3), normal({2}, 4)}},
  };
});
// clang-format on

}  // namespace
