// A masked element has no influence on values and gradients, whatever it is: each layer that uses masks gives what it
// gives when the masked elements are ordinary numbers.
#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor, ktape::Variable;

namespace masked_elements {

using Tensors = std::vector<Tensor>;

constexpr int batch = 2, steps = 4, features = 3;

struct Row {
  std::string name;
  std::function<nn::Layer()> make;
  /// Calls the layer on x, (batch, steps, features), and returns the numbers that must not depend on masked steps.
  std::function<Tensors(const nn::Layer& layer, const Tensor& x, const Tensor& mask)> call;
  bool plans = true;        ///< whether the call can be part of a model for predict
  bool last_alone = false;  ///< whether the last steps alone are masked
};

class FloatxScope {
 public:
  explicit FloatxScope(ktape::DType dtype) : before_(K::floatx()) { K::set_floatx(dtype); }
  ~FloatxScope() { K::set_floatx(before_); }

 private:
  const ktape::DType before_;
};

/// Returns y with zeros at the masked steps.
Tensor shown(const Tensor& y, const Tensor& mask) {
  Tensor seen = mask;
  while (seen.ndim() < y.ndim()) seen = K::expand_dims(seen);
  return K::where(seen, y, 0);
}

using Call = decltype(Row::call);

Call by_steps(const nn::CallArguments& options = {}) {
  return [options](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    nn::CallArguments own = options;
    own.mask = mask;
    return Tensors{shown(layer(x, own), mask)};
  };
}
/// Masked steps are no part of these outputs.
Call whole(const nn::CallArguments& options = {}) {
  return [options](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    nn::CallArguments own = options;
    own.mask = mask;
    return layer.apply({x}, own);
  };
}
Call statistics(const nn::Layer& of = {}) {
  return [of](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    Tensors out{shown(layer(x, {.training = true, .mask = mask}), mask)};
    for (const Variable& weight : (of.defined() ? of : layer).non_trainable_weights())
      out.push_back(K::identity(weight));
    return out;
  };
}
Call twice() {
  return [](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    layer(x, {.mask = mask});
    return Tensors{layer(x, {.mask = mask})};
  };
}
/// Attention of x to x, and of x to the keys with other values.
Call attention(const nn::CallArguments& options = {}, bool three = false) {
  return [=](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    nn::CallArguments own = options;
    own.mask = three ? ktape::TensorList{mask, mask, mask} : ktape::TensorList{mask, mask};
    Tensors out = layer.apply(three ? Tensors{x, x * 2, x * 3} : Tensors{x, x}, own);
    for (Tensor& y : out)
      y = y.ndim() == 4 ? K::where(K::expand_dims(K::expand_dims(mask, 1)), y, 0) : shown(y, mask);
    return out;
  };
}
/// The masks come with the input, as from an Embedding.
Call carried() {
  return [](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    const Tensor y = layer.apply({nn::with_mask(x, mask), nn::with_mask(x, mask)})[0];
    return Tensors{shown(y, mask)};
  };
}
/// A mask of pairs hides the masked steps from all queries.
Call pairs(const nn::CallArguments& options = {}) {
  return [options](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
    nn::CallArguments own = options;
    own.attention_mask =
        K::expand_dims(mask, 1) & K::constant(std::vector<bool>(steps, true), {.shape = Shape{1, steps, 1}});
    const Tensor y = layer.apply({x, x}, own)[0];
    return Tensors{shown(y, mask)};
  };
}
/// Only the last step is masked, and only causal attention hides it.
Call past(const nn::CallArguments& options = {}) {
  return [options](const nn::Layer& layer, const Tensor& x, const Tensor&) {
    nn::CallArguments own = options;
    own.use_causal_mask = true;
    Tensors out;
    for (const Tensor& y : layer.apply({x, x}, own))
      out.push_back(y.ndim() == 4 ? y[{ktape::All, ktape::All, ktape::Slice(0, steps - 1)}]
                                  : y[{ktape::All, ktape::Slice(0, steps - 1)}]);
    return out;
  };
}

std::vector<Row> normalizing_rows() {
  return {
      {"Softmax", [] { return nn::Softmax({.axis = 1}); },
       [](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
         return Tensors{layer(x, {.mask = K::expand_dims(mask)})};
       }},
      {"Softmax of axes",
       [] {
         return nn::Softmax({.axis = {1, 2}});
       },
       [](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
         return Tensors{layer(x, {.mask = K::expand_dims(mask)})};
       }},
      {"BatchNormalization", [] { return nn::BatchNormalization(); }, statistics(), false},
      {"BatchNormalization in inference", [] { return nn::BatchNormalization(); }, by_steps()},
      {"LayerNormalization", [] { return nn::LayerNormalization(); }, by_steps()},
      {"RMSNormalization", [] { return nn::RMSNormalization(); }, by_steps()},
      {"UnitNormalization", [] { return nn::UnitNormalization(); }, by_steps()},
      {"Dense", [] { return nn::Dense(2, {.activation = "tanh"}); }, by_steps()},
      {"Activation", [] { return nn::Activation("gelu"); }, by_steps()},
      {"PReLU", [] { return nn::PReLU({.shared_axes = {1}}); }, by_steps()},
      {"Dropout", [] { return nn::Dropout(0.4, {.seed = 3}); }, by_steps({.training = true}), false},
      {"GlobalAveragePooling1D", [] { return nn::GlobalAveragePooling1D(); }, whole()},
      {"GlobalAveragePooling1D keepdims", [] { return nn::GlobalAveragePooling1D({.keepdims = true}); },
       whole()},
      {"TimeDistributed", [] { return nn::TimeDistributed(nn::Dense(2)); }, by_steps()},
      {"TimeDistributed normalization", [] { return nn::TimeDistributed(nn::BatchNormalization()); },
       statistics(), false},
  };
}

std::vector<Row> recurrent_rows() {
  std::vector<Row> rows;
  for (const bool backwards : {false, true})
    for (const bool zeros : {false, true}) {
      const nn::RNNOptions loop{.return_sequences = true,
                                .return_state = true,
                                .go_backwards = backwards,
                                .zero_output_for_mask = zeros};
      rows.push_back(
          {"SimpleRNN",
           [=] {
             return nn::SimpleRNN(
                 3, {.return_sequences = true, .go_backwards = backwards, .zero_output_for_mask = zeros});
           },
           whole()});
      rows.push_back({"LSTM",
                      [=] {
                        return nn::LSTM(3, {.return_sequences = true,
                                            .return_state = true,
                                            .go_backwards = backwards,
                                            .zero_output_for_mask = zeros});
                      },
                      whole(), false});
      rows.push_back(
          {"GRU",
           [=] {
             return nn::GRU(
                 3, {.return_sequences = true, .go_backwards = backwards, .zero_output_for_mask = zeros});
           },
           whole()});
      rows.push_back({"RNN of two cells",
                      [=] {
                        return nn::RNN(std::vector<nn::Layer>{nn::LSTMCell(2), nn::GRUCell(2)}, loop);
                      },
                      whole(), false});
    }
  rows.push_back({"LSTM, last", [] { return nn::LSTM(3); }, whole()});
  rows.push_back({"LSTM, relu", [] { return nn::LSTM(3, {.activation = "relu"}); }, whole()});
  rows.push_back({"GRU, reset before", [] { return nn::GRU(3, {.reset_after = false}); }, whole()});
  rows.push_back({"LSTM, dropout",
                  [] { return nn::LSTM(3, {.dropout = 0.3, .recurrent_dropout = 0.2, .seed = 5}); },
                  whole({.training = true}), false});
  rows.push_back({"LSTM, stateful", [] { return nn::LSTM(3, {.stateful = true}); }, twice(), false});
  rows.push_back(
      {"Bidirectional", [] { return nn::Bidirectional(nn::LSTM(2, {.return_sequences = true})); }, whole()});
  rows.push_back(
      {"Bidirectional, sum", [] { return nn::Bidirectional(nn::GRU(2), {.merge_mode = "sum"}); }, whole()});
  rows.push_back({"ConvLSTM1D", [] { return nn::ConvLSTM1D(2, 2, {.return_sequences = true}); },
                  [](const nn::Layer& layer, const Tensor& x, const Tensor& mask) {
                    return Tensors{layer(K::expand_dims(x), {.mask = mask})};
                  }});
  return rows;
}

std::vector<Row> attention_rows() {
  const nn::CallArguments scores{.return_attention_scores = true}, training{.training = true};
  const auto dot = [] { return nn::Attention({.use_scale = true}); };
  const auto concat = [] { return nn::Attention({.score_mode = "concat"}); };
  const auto additive = [] { return nn::AdditiveAttention(); };
  const auto heads = [] { return nn::MultiHeadAttention(2, 2); };
  const auto groups = [] { return nn::GroupQueryAttention(2, 4, 2); };
  const auto dropout = [] { return nn::MultiHeadAttention(2, 2, {.dropout = 0.3, .seed = 7}); };
  std::vector<Row> rows;
  for (const auto& [name, make] :
       std::vector<std::pair<const char*, std::function<nn::Layer()>>>{{"Attention", dot},
                                                                       {"Attention concat", concat},
                                                                       {"AdditiveAttention", additive},
                                                                       {"MultiHeadAttention", heads},
                                                                       {"GroupQueryAttention", groups}}) {
    rows.push_back({name, make, attention()});
    rows.push_back({name, make, attention({}, true)});
    rows.push_back({name, make, attention(scores), false});
    rows.push_back({name, make, attention({.use_causal_mask = true}), false});
    rows.push_back({name, make, carried(), false});
    rows.push_back({name, make, past(), false, true});
    rows.push_back({name, make, past(scores), false, true});
  }
  rows.push_back({"Attention dropout", [] { return nn::Attention({.dropout = 0.3, .seed = 7}); },
                  attention(training), false});
  rows.push_back({"MultiHeadAttention dropout", dropout, attention(training), false});
  rows.push_back({"MultiHeadAttention dropout", dropout, past(training), false, true});
  for (const auto& make : {std::function<nn::Layer()>(heads), std::function<nn::Layer()>(groups)}) {
    rows.push_back({"attention_mask", make, pairs()});
    rows.push_back({"attention_mask, scores", make, pairs(scores), false});
  }
  rows.push_back({"attention_mask, gate", [] { return nn::MultiHeadAttention(2, 2, {.use_gate = true}); },
                  pairs(), false});
  rows.push_back({"sliding window", [] { return nn::MultiHeadAttention(2, 2, {.sliding_window = 2}); },
                  past(), false, true});
  return rows;
}

struct Found {
  Tensors outputs, gradients = {}, second = {};
};

double largest(ktape::DType dtype) {
  return dtype == "float16" ? 65504 : dtype == "bfloat16" ? 3.3895313892515355e38 : 3.4028234663852886e38;
}

/// Calls a new layer, and returns the outputs, the gradients of x and of the weights, and those of the gradients.
Found found(const Row& row, const Tensor& input, const Tensor& mask, bool second) {
  K::set_random_seed(11);
  const nn::Layer layer = row.make();
  const Variable x = K::variable(input, {.dtype = input.dtype()});
  Found out{row.call(layer, x, mask)};
  const auto weighed = [](const Tensors& all) {
    Tensor sum;
    int seed = 20;
    for (const Tensor& y : all)
      if (y.defined()) {
        const Tensor part = K::sum(K::cast(y, "float64") * normal(y.shape(), seed++));
        sum = sum.defined() ? sum + part : part;
      }
    return sum;
  };
  std::vector<Variable> variables = layer.trainable_weights();
  variables.insert(variables.begin(), x);
  out.gradients = ktape::gradients(weighed(out.outputs), variables);
  if (second) out.second = ktape::gradients(weighed(out.gradients), variables);
  return out;
}

/// Compares tensors of which both or none are None.
Closeness alike(const Tensors& got, const Tensors& want, const Tolerance& allowed) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!got[i].defined() && !want[i].defined()) continue;
    if (!got[i].defined() || !want[i].defined()) return {"None"};
    if (const Closeness found = close(got[i], want[i], allowed); !found)
      return {std::to_string(i) + ": " + found.wrong};
  }
  return {};
}

/// The last step is masked in each sample, and in one of them another step.
Tensor mask_of_steps(bool last_alone) {
  const std::vector<bool> both{true, true, true, false, true, last_alone, true, false};
  return K::constant(both, {.dtype = "bool", .shape = Shape{batch, steps}});
}

/// Returns the outputs of a model of the call, as it predicts.
Tensor predicted(const Row& row, const Tensor& x, const Tensor& mask) {
  K::set_random_seed(11);
  const Tensor in = nn::Input({steps, features}, {.dtype = x.dtype()}),
               seen = nn::Input({steps}, {.dtype = "bool"});
  const nn::Model model({in, seen}, row.call(row.make(), in, seen));
  return model.predict({x, mask}, {.verbose = 0});
}

void check(const Row& row, int number) {
  for (const std::string dtype : {"float32", "float16", "bfloat16"}) {
    const FloatxScope scope(dtype);
    const bool half = dtype != "float32";
    const Tolerance allowed =
        half ? Tolerance{.rtol = 0.05, .atol = 0.02} : Tolerance{.rtol = 1e-5, .atol = 1e-6};
    const Tensor mask = mask_of_steps(row.last_alone),
                 ordinary = K::cast(normal({batch, steps, features}, 3), dtype);
    const Found want = found(row, ordinary, mask, !half);
    for (const double masked :
         std::vector<double>{NAN, INFINITY, -INFINITY, largest(dtype), -largest(dtype)}) {
      CAPTURE(row.name);
      CAPTURE(number);
      CAPTURE(dtype);
      CAPTURE(masked);
      const Tensor x = K::where(K::expand_dims(mask), ordinary, masked);
      const Found got = found(row, x, mask, !half);
      CHECK(alike(got.outputs, want.outputs, allowed));
      CHECK(alike(got.gradients, want.gradients, allowed));
      CHECK(alike(got.second, want.second, {.rtol = 1e-4, .atol = 1e-4}));
      if (row.plans) CHECK(close(predicted(row, x, mask), want.outputs[0], allowed));
      CHECK(close(K::sum(K::abs(K::where(K::expand_dims(mask), 0 * ordinary, got.gradients[0]))).item(), 0));
    }
  }
}

}  // namespace masked_elements

using namespace masked_elements;

TEST_CASE("masked elements do not matter to normalizing layers and to layers of steps") {
  int number = 0;
  for (const Row& row : normalizing_rows()) check(row, ++number);
}
TEST_CASE("masked elements do not matter to recurrent layers") {
  int number = 0;
  for (const Row& row : recurrent_rows()) check(row, ++number);
}
TEST_CASE("masked elements do not matter to attention layers") {
  int number = 0;
  for (const Row& row : attention_rows()) check(row, ++number);
}
TEST_CASE("a softmax and batch statistics count what the mask leaves") {
  const Tensor seen = K::constant({{true, true, false}}, {.dtype = "bool"});
  for (const std::string dtype : {"float32", "float16", "bfloat16"})
    for (const double masked : std::vector<double>{NAN, INFINITY, -INFINITY, 0, 4e4, largest(dtype)}) {
      CAPTURE(dtype);
      CAPTURE(masked);
      const FloatxScope scope(dtype);
      for (const double same : {1., -4e4, -largest(dtype)}) {
        const Tensor x = K::cast(
            K::constant(std::vector<double>{same, same, masked}, {.dtype = "float64", .shape = {1, 3}}),
            dtype);
        CHECK(values(nn::Softmax()(x, {.mask = seen})) == Values{.5, .5, 0});
        CHECK(values(nn::Softmax()(x, {.mask = seen & false})) == Values{0, 0, 0});
      }
      const Tensor x = K::cast(
          K::constant(std::vector<double>{1, 3, masked}, {.dtype = "float64", .shape = {1, 3, 1}}), dtype);
      nn::BatchNormalization normalization({.momentum = 0});
      normalization(x, {.training = true, .mask = seen});
      CHECK(normalization.moving_mean().value().item() == 2);
      CHECK(normalization.moving_variance().value().item() == 1);
    }
  CHECK(values(nn::GlobalAveragePooling1D()(K::ones({1, 3, 2}), {.mask = seen & false})) == Values{0, 0});
  CHECK(values(nn::Masking(INFINITY)(K::constant({{{INFINITY, INFINITY}, {1.f, 2.f}}}))) ==
        Values{0, 0, 1, 2});
}
