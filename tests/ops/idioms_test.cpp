// Uses of the backend in Keras programs; the comments have the original Python lines.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "check.hpp"

#include <cmath>

namespace K = ktape::backend;
using ktape::All, ktape::Ellipsis, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor, ktape::Variable;

namespace {

/// A small classifier of images: features, then scores.
struct Network {
  Variable kernel = K::random_normal_variable({3, 3, 3, 4}, 0, 0.3, {.seed = 1});
  Variable weights = K::random_normal_variable({4 * 6 * 6, 5}, 0, 0.3, {.seed = 2});
  Tensor input = K::placeholder({None, 8, 8, 3});
  Tensor features = K::relu(K::conv2d(input, kernel));
  Tensor output = K::softmax(K::dot(K::batch_flatten(features), weights));
};

float sum_of(const Tensor& x) { return K::get_value(K::sum(x))(); }

}  // namespace

TEST_CASE("Grad-CAM gives a heatmap from the gradients of a layer's output") {
  const Network model;
  // class_output = model.output[:, 2]
  // grads = K.gradients(class_output, last_conv_layer.output)[0]
  // pooled_grads = K.mean(grads, axis=(0, 1, 2))
  // iterate = K.function([model.input], [pooled_grads, last_conv_layer.output[0]])
  const Tensor class_output = model.output[{All, 2}];
  const Tensor grads = K::gradients(class_output, {model.features})[0];
  const Tensor pooled_grads = K::mean(grads, {0, 1, 2});
  const auto iterate = K::function({model.input}, {pooled_grads, model.features[{0}]});

  const auto results = iterate({normal({1, 8, 8, 3}, 3, "float32")});
  const Tensor weights = results[0], conv_output = results[1];
  const Tensor heatmap = K::maximum(K::mean(conv_output * weights, -1), K::constant(0.f));
  CHECK(K::int_shape(weights) == Shape{4});
  CHECK(K::int_shape(heatmap) == Shape{6, 6});
  CHECK(sum_of(K::abs(weights)) > 0);
}

TEST_CASE("saliency: the gradient of the winning score with respect to the pixels") {
  const Network model;
  // saliency = K.gradients(K.sum(K.max(model.output, axis=1)), model.input)[0]
  // fn = K.function([model.input], [K.max(K.abs(saliency), axis=-1)])
  const Tensor saliency = K::gradients(K::sum(K::max(model.output, 1)), {model.input})[0];
  const auto fn = K::function({model.input}, {K::max(K::abs(saliency), -1)});
  const Tensor map = fn({normal({2, 8, 8, 3}, 4, "float32")})[0];
  CHECK(K::int_shape(map) == Shape{2, 8, 8});
  CHECK(K::get_value(K::max(map))() > 0);
}

TEST_CASE("deep dream: gradient ascent on the input, with the gradient normalized inside the graph") {
  const Network model;
  // loss = K.mean(model.features[:, :, :, 0])
  // grads = K.gradients(loss, model.input)[0]
  // grads /= (K.sqrt(K.mean(K.square(grads))) + 1e-5)
  // iterate = K.function([model.input], [loss, grads])
  const Tensor loss = K::mean(model.features[{Ellipsis, 0}]);
  Tensor grads = K::gradients(loss, {model.input})[0];
  grads /= K::sqrt(K::mean(K::square(grads))) + 1e-5f;
  const auto iterate = K::function({model.input}, {loss, grads});

  Tensor image = normal({1, 8, 8, 3}, 5, "float32");
  const float before = iterate({image})[0].item();
  for (int i = 0; i < 10; ++i) image = image + iterate({image})[1] * 0.1f;
  CHECK(iterate({image})[0].item() > before);
}

TEST_CASE("gradient penalty (WGAN-GP): gradients() inside a loss") {
  // gradients = K.gradients(y_pred, averaged_samples)[0]
  // gradient_l2_norm = K.sqrt(K.sum(K.square(gradients), axis=[1, 2]))
  // return K.mean(K.square(1 - gradient_l2_norm))
  const auto gradient_penalty_loss = [](const Tensor& y_pred, const Tensor& averaged_samples) {
    const Tensor gradients = K::gradients(y_pred, {averaged_samples})[0];
    const Tensor gradient_l2_norm = K::sqrt(K::sum(K::square(gradients), {1, 2}));
    return K::mean(K::square(1.f - gradient_l2_norm));
  };
  const auto critic = [](const Tensor& samples, const Tensor& kernel) {
    return K::sum(K::tanh(K::dot(samples, kernel)), {1, 2});
  };

  // Its own gradient, with respect to the critic's weights, agrees with central differences.
  const auto penalty = [&](const std::vector<Tensor>& in) {
    Variable samples(normal({2, 3, 4}, 6));
    return gradient_penalty_loss(critic(samples, in[0]), samples);
  };
  const auto report = ktape::gradcheck(penalty, {normal({4, 2}, 7)}, {.op = "gradient penalty"});
  CHECK_MESSAGE(report.ok, report.message);

  // And as a symbolic graph it has the same value.
  const Tensor x = K::placeholder({.shape = {None, 3, 4}, .dtype = "float64"}), kernel = normal({4, 2}, 7);
  const auto f = K::function({x}, {gradient_penalty_loss(critic(x, kernel), x)});
  CHECK(close(f({normal({2, 3, 4}, 6)})[0].item<double>(), penalty({kernel}).item<double>()));

  // An input on which the output does not depend has no gradient: a testable None.
  CHECK(!K::gradients(K::sum(x), {K::placeholder({3})})[0].defined());
}

TEST_CASE("Monte Carlo dropout: the learning phase as an input of a function") {
  const Network model;
  // f = K.function([model.input, K.learning_phase()], [model.output])
  // predictions = [f([x, 1])[0] for _ in range(20)]
  const Tensor dropped = K::in_train_phase([&] { return K::dropout(model.features, 0.5); }, model.features);
  const Tensor output = K::softmax(K::dot(K::batch_flatten(dropped), model.weights));
  const auto f = K::function({model.input, K::learning_phase()}, {output});
  const Tensor x = normal({1, 8, 8, 3}, 8, "float32");

  K::set_random_seed(1);
  std::vector<Tensor> predictions;
  for (int i = 0; i < 20; ++i) predictions.push_back(f({x, 1})[0]);
  CHECK(sum_of(K::std(K::stack(predictions), 0)) > 0.01f);
  CHECK(values(f({x, 0})[0]) == values(f({x, 0})[0]));
}

TEST_CASE("DDPG: the actor follows the gradient of the critic with respect to the actions") {
  Variable actor = K::variable({{0.1f}, {-0.2f}});
  const Tensor states = K::placeholder({None, 2});
  const Tensor actions = K::tanh(K::dot(states, actor));
  // Q(s, a) = -(a - 0.5)^2: the best action is 0.5
  const Tensor q = -K::square(actions - 0.5f);
  // action_grads = K.gradients(Q, actions); get_action_grad = K.function([states], action_grads)
  const Tensor action_grads = K::gradients(q, {actions})[0];
  const Tensor actor_grads = K::gradients({actions}, {actor}, {-action_grads})[0];
  const auto train = K::function({states}, {K::mean(q)}, {K::update_sub(actor, actor_grads * 0.1f)});
  const Tensor batch = K::abs(normal({16, 2}, 9, "float32"));
  const float first = train({batch})[0].item();
  for (int i = 0; i < 50; ++i) train({batch});
  CHECK(train({batch})[0].item() > first);
}

TEST_CASE("CTC for text recognition: skip the first steps, labels padded with -1") {
  // y_pred = y_pred[:, 2:, :]
  // return K.ctc_batch_cost(labels, y_pred, input_length, label_length)
  const auto ctc_lambda = [](const Tensor& y_pred, const Tensor& labels, const Tensor& input_length,
                             const Tensor& label_length) {
    return K::ctc_batch_cost(labels, y_pred[{All, Slice(2, None), All}], input_length, label_length);
  };
  Variable logits(normal({2, 8, 5}, 10, "float32"));
  const Tensor labels = K::constant({{0, 1, 2}, {3, -1, -1}}, {.dtype = "int32"});
  const Tensor input_length = K::constant({{6}, {6}}, {.dtype = "int32"}),
               label_length = K::constant({{3}, {1}}, {.dtype = "int32"});
  const Tensor cost = ctc_lambda(K::softmax(logits), labels, input_length, label_length);
  CHECK(K::int_shape(cost) == Shape{2, 1});
  const auto slope = values<float>(K::gradients(K::sum(cost), {logits})[0]);
  for (int i = 0; i < 2 * 5; ++i) CHECK(slope[static_cast<std::size_t>(i)] == 0);  // the skipped steps

  // Minimized, the greedy decoder reads the labels.
  for (int i = 0; i < 300; ++i)
    K::update_sub(logits,
                  K::gradients(K::sum(ctc_lambda(K::softmax(logits), labels, input_length, label_length)),
                               {logits})[0]);
  const auto decoded =
      K::ctc_decode(K::softmax(logits)[{All, Slice(2, None), All}], K::flatten(input_length)).decoded[0];
  CHECK(values<int>(decoded[{All, Slice(0, 3)}]) == std::vector<int>{0, 1, 2, 3, -1, -1});
}

TEST_CASE("switch by element: smooth L1, and no NaN from the branch that is not taken") {
  // x = K.abs(y_true - y_pred)
  // return K.sum(K.switch(x < d, 0.5 * x ** 2, d * (x - 0.5 * d)))
  const auto smooth_l1 = [](const Tensor& y_true, const Tensor& y_pred, float d) {
    const Tensor x = K::abs(y_true - y_pred);
    return K::sum(K::switch_(x < d, 0.5f * K::square(x), d * (x - 0.5f * d)));
  };
  Variable y_pred = K::variable({0.f, 0.5f, 4.f});
  CHECK(close(smooth_l1(K::zeros({3}), y_pred, 1.f).item(), 0.125 + 3.5));
  CHECK(values(K::gradients(smooth_l1(K::zeros({3}), y_pred, 1.f), {y_pred})[0]) == Values{0, 0.5, 1});

  Variable x = K::variable({-1.f, 0.f, 4.f});
  const Tensor root = K::switch_(x > 0.f, K::sqrt(x), K::zeros({3}));
  const Tensor logarithm = K::switch_(x > 0.f, K::log(x), x);
  CHECK(values(root) == Values{0, 0, 2});
  for (double g : values(K::gradients({root, logarithm}, {x})[0])) CHECK(std::isfinite(g));
}

TEST_CASE("a custom cell under K.rnn: mask, constants, backwards") {
  Variable W(normal({3, 4}, 11, "float32")), U(normal({4, 4}, 12, "float32"));
  // def step(x, states): h = K.tanh(K.dot(x, W) + K.dot(states[0], U) + states[1]); return h, [h]
  const auto step = [&](const Tensor& x, const std::vector<Tensor>& states) {
    const Tensor h = K::tanh(K::dot(x, W) + K::dot(states[0], U) + states[1]);
    return std::pair{h, std::vector{h}};
  };
  const Tensor context = normal({2, 4}, 13, "float32"), x = normal({2, 5, 3}, 14, "float32");
  const Tensor mask = K::constant({{1, 1, 1, 0, 0}, {1, 1, 1, 1, 1}}, {.dtype = "bool"});
  const auto [last, outputs, states] =
      K::rnn(step, x, {K::zeros({2, 4})}, {.go_backwards = true, .mask = mask, .constants = {context}});
  CHECK(K::int_shape(outputs) == Shape{2, 5, 4});
  CHECK(values(last) == values(states[0]));
  CHECK(values(outputs[{0, 0}]) == Values(4, 0));  // masked steps come first here: zeros until one is not
  CHECK(K::gradients(K::sum(last), {W, U})[1].defined());
}

TEST_CASE("debugging: eval, get_value, int_shape, print_tensor, clear_session, float64") {
  const Tensor x = K::print_tensor(K::constant({{1.f, 2.f}}), "x = ");
  CHECK(K::eval(x)(0, 1) == 2.f);
  CHECK(K::get_value(K::dot(x, K::transpose(x)))(0, 0) == 5.f);
  CHECK(K::int_shape(x) == Shape{1, 2});
  K::get_uid("dense");
  K::clear_session();
  CHECK(K::get_uid("dense") == 1);
  K::set_floatx("float64");
  CHECK(K::dtype(K::zeros({1})) == "float64");
  K::set_floatx("float32");
  K::clear_session();
}
