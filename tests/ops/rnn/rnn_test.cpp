#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/rnn/rnn.hpp>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

using States = std::vector<Tensor>;

/// Returns the running sum of the inputs; the output is twice the sum.
std::pair<Tensor, States> running_sum(const Tensor& x, const States& states) {
  const Tensor sum = states[0] + x;
  return {2 * sum, {sum}};
}

Tensor flags(const ArrayLike& value) { return K::constant(value, {.dtype = "bool"}); }
/// Returns two samples of three steps of one feature: 1, 2, 3 and 4, 5, 6.
Tensor sequences() { return counted({2, 3, 1}) + 1; }
Tensor zero_state() { return K::zeros({2, 1}, {.dtype = "float64"}); }

}  // namespace

TEST_CASE("rnn runs the step over time") {
  const auto [last, outputs, states] = K::rnn(running_sum, sequences(), {zero_state()});
  CHECK(outputs.shape() == Shape{2, 3, 1});
  CHECK(values(outputs) == Values{2, 6, 12, 8, 18, 30});
  CHECK(values(last) == Values{12, 30});
  CHECK(values(states[0]) == Values{6, 15});
  const auto unrolled = K::rnn(running_sum, sequences(), {zero_state()}, {.unroll = true});
  CHECK(values(unrolled.outputs) == values(outputs));
}

TEST_CASE("rnn goes backwards and returns the outputs in the order of processing") {
  const auto back = K::rnn(running_sum, sequences(), {zero_state()}, {.go_backwards = true});
  CHECK(values(back.outputs) == Values{6, 10, 12, 12, 22, 30});
  CHECK(values(back.last_output) == Values{12, 30});
}

TEST_CASE("rnn takes time first") {
  const Tensor x = K::permute_dimensions(sequences(), {1, 0, 2});
  const Tensor mask = flags({{1, 1}, {1, 0}, {1, 1}});
  const auto result = K::rnn(running_sum, x, {zero_state()}, {.mask = mask, .time_major = true});
  CHECK(result.outputs.shape() == Shape{3, 2, 1});
  CHECK(values(result.outputs) == Values{2, 8, 6, 8, 12, 20});
}

TEST_CASE("a masked step repeats the output and keeps the states") {
  const Tensor mask = flags({{1, 0, 1}, {0, 1, 0}});
  const auto held = K::rnn(running_sum, sequences(), {zero_state()}, {.mask = mask});
  CHECK(values(held.outputs) == Values{2, 2, 8, 0, 10, 10});
  CHECK(values(held.last_output) == Values{8, 10});
  CHECK(values(held.new_states[0]) == Values{4, 5});
  const auto zeroed =
      K::rnn(running_sum, sequences(), {zero_state()}, {.mask = mask, .zero_output_for_mask = true});
  CHECK(values(zeroed.outputs) == Values{2, 0, 8, 0, 10, 0});
  CHECK(values(zeroed.last_output) == Values{8, 0});
  CHECK(values(zeroed.new_states[0]) == Values{4, 5});
  const Tensor columns = K::expand_dims(ints({{7, 0, -1}, {0, 1, 0}}));
  for (bool unroll : {false, true}) {
    const auto same = K::rnn(running_sum, sequences(), {zero_state()}, {.mask = columns, .unroll = unroll});
    CHECK(values(same.outputs) == values(held.outputs));
  }
  const auto back = K::rnn(running_sum, sequences(), {zero_state()},
                           {.go_backwards = true, .mask = flags({{0, 1, 1}, {1, 1, 0}})});
  CHECK(values(back.outputs) == Values{6, 10, 10, 0, 10, 18});
}

TEST_CASE("input_length masks the later steps") {
  const K::RnnOptions lengths{.input_length = ints({1, 2})};
  const auto result = K::rnn(running_sum, sequences(), {zero_state()}, lengths);
  CHECK(values(result.outputs) == Values{2, 2, 2, 8, 18, 18});
  CHECK(values(result.new_states[0]) == Values{1, 9});
  // Backwards it masks the first steps, as many as the sample is shorter than the longest.
  const auto back =
      K::rnn(running_sum, sequences(), {zero_state()}, {.go_backwards = true, .input_length = ints({1, 2})});
  CHECK(values(back.outputs) == Values{0, 4, 6, 12, 22, 30});
  // With a mask, with unrolling, and with one length for all, the length is ignored.
  const auto plain = K::rnn(running_sum, sequences(), {zero_state()});
  for (const K::RnnOptions& options :
       {K::RnnOptions{.mask = K::ones({2, 3}), .input_length = ints({1, 2})},
        K::RnnOptions{.unroll = true, .input_length = ints({1, 2})}, K::RnnOptions{.input_length = 3}})
    CHECK(values(K::rnn(running_sum, sequences(), {zero_state()}, options).outputs) == values(plain.outputs));
}

TEST_CASE("rnn carries several states of any rank, and constants") {
  const auto step = [](const Tensor& x, const States& s) {
    CHECK(s.size() == 3);
    const Tensor count = s[0] + 1, sum = s[1] + x * s[2];
    return std::pair{sum, States{count, sum}};
  };
  const Tensor x = counted({2, 3, 2, 2});
  const K::RnnOptions options{.mask = flags({{1, 1, 0}, {0, 0, 0}}),
                              .constants = {K::constant(10., {.dtype = "float64"})}};
  const States initial{K::zeros({2}, {.dtype = "int32"}), K::zeros({2, 2, 2}, {.dtype = "float64"})};
  const auto result = K::rnn(step, x, initial, options);
  CHECK(result.outputs.shape() == Shape{2, 3, 2, 2});
  CHECK(values(result.new_states[0]) == Values{2, 0});
  CHECK(result.new_states[0].dtype() == "int32");
  CHECK(values(result.last_output) == Values{40, 60, 80, 100, 0, 0, 0, 0});
  int steps = 0;
  const auto counting = K::rnn(
      [steps](const Tensor& e, const States& s) mutable {
        return std::pair{e * ++steps, s};
      },
      sequences(), {});
  CHECK(values(counting.outputs) == Values{1, 4, 9, 4, 10, 18});
  const auto stateless = [](const Tensor& e, const States&) { return std::pair{e * 2, States{}}; };
  CHECK(values(K::rnn(stateless, sequences(), {}).outputs) == Values{2, 4, 6, 8, 10, 12});
}

TEST_CASE("rnn takes several inputs and returns several outputs") {
  const auto step = [](const States& x, const States& s) {
    const Tensor sum = s[0] + x[0] * x[1];
    return std::pair{States{sum, x[1]}, sum};
  };
  const Variable y = K::variable(K::ones({2, 3, 1}, {.dtype = "float64"}) * 2);
  const auto result = K::rnn(step, {sequences(), y}, zero_state(), {.mask = flags({{1, 1, 1}, {1, 0, 0}})});
  CHECK(values(result.outputs[0]) == Values{2, 6, 12, 8, 8, 8});
  CHECK(values(result.outputs[1]) == Values{2, 2, 2, 2, 2, 2});
  CHECK(values(result.last_output[0]) == Values{12, 8});
  CHECK(values(K::gradients(result.outputs[0], {y})[0]) == Values{3, 4, 3, 12, 0, 0});
  CHECK_THROWS_WITH_AS(K::rnn(running_sum, {sequences(), y}, {zero_state()}),
                       "[rnn] a step that takes one tensor needs one input: received 2 inputs", ValueError);
}

TEST_CASE("the inputs are cut by one node of the tape") {
  const Variable x = K::variable(sequences());
  const std::size_t before = tape().size();
  const auto result = K::rnn(
      [](const Tensor&, const States& s) {
        return std::pair{s[0], s};
      },
      x, {zero_state()});
  CHECK(tape().size() - before <= 1);
}

TEST_CASE("rnn names arguments that do not fit") {
  const auto run = [](const Tensor& x, const States& initial, const K::RnnOptions& options = {}) {
    K::rnn(running_sum, x, initial, options);
  };
  const Tensor x = sequences();
  CHECK_THROWS_WITH_AS(run(K::ones({2, 3}), {zero_state()}),
                       "[rnn] inputs must have at least rank 3: received inputs=(2, 3)", ValueError);
  CHECK_THROWS_WITH_AS(run(K::ones({2, 0, 1}), {zero_state()}),
                       "[rnn] there must be a time step: received inputs=(2, 0, 1)", ValueError);
  CHECK_THROWS_WITH_AS(run(x, {}, {.mask = K::ones({2, 3})}),
                       "[rnn] a mask needs states to keep: received a mask and no initial_states",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      run(x, {zero_state()}, {.mask = K::ones({3, 2})}),
      "[rnn] the mask must have an entry for each of 2 samples and 3 time steps: received mask=(3, 2)",
      ValueError);
  CHECK_THROWS_WITH_AS(
      run(x, {zero_state()}, {.mask = K::ones({2, 3, 4})}),
      "[rnn] the mask of a step must broadcast to its output and states: received mask=(2, 4) and (2, 1)",
      ValueError);
  CHECK_THROWS_WITH_AS(
      run(x, {zero_state()}, {.input_length = ints({1, 2, 3})}),
      "[rnn] input_length must have one entry for each of 2 samples: received input_length=(3,)", ValueError);
  CHECK_THROWS_AS(run(x, {zero_state()}, {.input_length = K::ones({2})}), TypeError);
  CHECK_THROWS_WITH_AS(
      run(x, {K::zeros({1}, {.dtype = "float64"})}),
      "[rnn] the step must keep the shapes of the states: received (2, 1) for state 0 of (1,)", ValueError);
  CHECK_THROWS_WITH_AS(run(x, {zero_state(), zero_state()}),
                       "[rnn] the step must return 2 states: received 1", ValueError);
  const auto first_of_two = [](const States& e, const States& s) { return std::pair{e[0], s}; };
  CHECK_THROWS_WITH_AS(
      K::rnn(first_of_two, {x, K::ones({2, 4, 1})}, {zero_state()}),
      "[rnn] the inputs must agree in samples and time steps: received (2, 3, 1) and (2, 4, 1)", ValueError);
}

TEST_CASE("rnn names undefined arguments, and shows an unknown extent as None") {
  const Tensor x = K::ones({2, 4, 3}), state = K::zeros({2, 3}), none;
  const auto no_output = [&](const Tensor&, const std::vector<Tensor>& s) { return std::pair{none, s}; };
  const auto no_state = [&](const Tensor& e, const std::vector<Tensor>&) {
    return std::pair{e, std::vector{none}};
  };
  const auto same = [](const Tensor& e, const std::vector<Tensor>& s) { return std::pair{e, s}; };
  for (const Tensor& in : {x, K::placeholder({None, 4, 3})}) {
    CHECK_THROWS_WITH_AS(K::rnn(no_output, in, {state}),
                         doctest::Contains("[rnn] outputs of step[0] must be a tensor"), ValueError);
    CHECK_THROWS_WITH_AS(K::rnn(no_state, in, {state}),
                         doctest::Contains("[rnn] states of step[0] must be a tensor"), ValueError);
    CHECK_THROWS_WITH_AS(K::rnn(same, in, {state}, {.constants = {none}}),
                         doctest::Contains("[rnn] constants[0] must be"), ValueError);
  }
  CHECK_THROWS_WITH_AS(K::rnn(same, K::placeholder({None, 4, 3}), {state}, {.mask = K::ones({2, 9})}),
                       doctest::Contains("each of None samples and 4 time steps"), ValueError);
}

TEST_CASE("gradients flow to inputs, states, weights and constants, around masked steps") {
  const Tensor x = normal({2, 3, 2}), h = normal({2, 2}, 2), u = normal({2, 2}, 3), c = normal({2, 2}, 4);
  const auto through = [](const K::RnnOptions& given) {
    return [given](In in) {
      K::RnnOptions options = given;
      options.constants = {in[3]};
      const auto step = [&](const Tensor& e, const States& s) {
        const Tensor next = K::tanh(e + K::dot(s[0], in[2]) + s[1]);
        return std::pair{next * next, States{next}};
      };
      const auto [last, outputs, states] = K::rnn(step, in[0], {in[1]}, options);
      return States{last, outputs, states[0]};
    };
  };
  const Tensor mask = flags({{1, 0, 1}, {0, 1, 0}});
  check_gradients(through({}), {x, h, u, c});
  check_gradients(through({.mask = mask}), {x, h, u, c});
  check_gradients(through({.go_backwards = true, .mask = mask, .zero_output_for_mask = true}), {x, h, u, c});
  check_gradients(through({.input_length = ints({1, 3})}), {x, h, u, c});
}

TEST_CASE("a step of any number of inputs, outputs and states is an RnnStep") {
  const K::RnnStep step = [](const std::vector<Tensor>& x, const std::vector<Tensor>& states) {
    const auto [output, next] = running_sum(x[0], states);
    return std::pair{std::vector{output}, next};
  };
  const K::RnnResult<std::vector<Tensor>> result = K::rnn(step, sequences(), {zero_state()});
  CHECK(values(result.outputs[0]) == values(K::rnn(running_sum, sequences(), {zero_state()}).outputs));
  CHECK(values(result.last_output[0]) == Values{12, 30});
  CHECK(values(result.new_states[0]) == Values{6, 15});
  K::RnnStep changing = step;
  CHECK(K::rnn(changing, {sequences(), sequences()}, {zero_state()}, {.go_backwards = true}).outputs.size() ==
        1);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"rnn",
       [](In in) {
         const auto step = [&](const Tensor& x, In s) { return std::pair{K::tanh(K::dot(x, in[2]) + s[0]), std::vector<Tensor>{s[0] * x}}; };
         return K::rnn(step, in[0], {in[1]}, {.mask = K::constant({{1, 0, 1}, {1, 1, 0}})}).outputs;
       },
       {normal({2, 3, 2}), normal({2, 2}, 2), normal({2, 2}, 3)}},
  };
});
// clang-format on

}  // namespace
