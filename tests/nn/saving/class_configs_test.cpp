#include <ktape/nn/core/class_registry.hpp>

#include "remade_models.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace remade_models;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using nn::Config, nn::Value;

namespace {

/// Returns the required arguments of a class.
Config arguments_of(const std::string& name) {
  static const Config all{
      {"IoU", Config{{"num_classes", 3}, {"target_class_ids", Value::List{0, 2}}}},
      {"BinaryIoU", Config{{"target_class_ids", Value::List{0, 1}}}},
      {"OneHotIoU", Config{{"num_classes", 3}, {"target_class_ids", Value::List{1}}}},
      {"MeanIoU", Config{{"num_classes", 3}}},
      {"OneHotMeanIoU", Config{{"num_classes", 3}}},
      {"SensitivityAtSpecificity", Config{{"specificity", 0.5}}},
      {"SpecificityAtSensitivity", Config{{"sensitivity", 0.5}}},
      {"PrecisionAtRecall", Config{{"recall", 0.5}}},
      {"RecallAtPrecision", Config{{"precision", 0.5}}},
      {"ExponentialDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}, {"decay_rate", 0.5}}},
      {"InverseTimeDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}, {"decay_rate", 0.5}}},
      {"PiecewiseConstantDecay",
       Config{{"boundaries", Value::List{2, 5}}, {"values", Value::List{0.3, 0.2, 0.1}}}},
      {"PolynomialDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}}},
      {"CosineDecay", Config{{"initial_learning_rate", 0.1}, {"decay_steps", 9}}},
      {"CosineDecayRestarts", Config{{"initial_learning_rate", 0.1}, {"first_decay_steps", 9}}},
  };
  return all.get(name, Config()).config();
}

/// Checks that each class of the kind is made again of its JSON, and then does what `same` looks at.
template <class H, class Same>
void check_kind(Same same) {
  const std::vector<std::string> names = nn::registered_names(H::Impl::kind);
  CHECK(!names.empty());
  for (const std::string& name : names) {
    CAPTURE(name);
    const H object{Value(Config{{"class_name", name}, {"config", arguments_of(name)}})};
    const Value value = nn::with_module(H::Impl::kind, object.to_value());
    if (value.is_config() && value.config().at("module").is_null()) continue;  // of another test
    const H again{nn::from_json(nn::to_json(value))};
    CHECK(again.class_name() == object.class_name());
    CHECK(again.get_config() == object.get_config());
    CHECK(same(object, again));
  }
}

}  // namespace

TEST_CASE("each loss, metric, optimizer, schedule, initializer and so on is made again of its JSON") {
  const Tensor t = K::constant({{0.f, 1.f, 0.f}, {1.f, 0.f, 0.f}}),
               p = K::constant({{.1f, .7f, .2f}, {.6f, .3f, .1f}});
  const Tensor classes = ints({1, 0});
  const auto equal = [](const Tensor& a, const Tensor& b) { return values(a) == values(b); };
  check_kind<nn::Loss>([&](const nn::Loss& a, const nn::Loss& b) {
    if (a.class_name() == "CTC") return true;  // of other shapes
    const bool sparse = a.class_name().starts_with("Sparse") || a.class_name() == "Circle" ||
                        a.class_name() == "CategoricalGeneralizedCrossEntropy";
    const Tensor& y = sparse ? classes : t;
    return equal(a(y, p), b(y, p));
  });
  check_kind<nn::Metric>([&](const nn::Metric& a, const nn::Metric& b) {
    if (a.class_name() == "Mean" || a.class_name() == "Sum") return equal(a(Tensor(), p), b(Tensor(), p));
    const bool of_classes = a.class_name() == "IoU" || a.class_name() == "MeanIoU";
    const bool sparse = a.class_name().starts_with("Sparse");
    const Tensor &y = sparse || of_classes ? classes : t, &z = of_classes ? classes : p;
    return equal(a(y, z), b(y, z)) && a.name() == b.name();
  });
  check_kind<nn::Optimizer>([&](const nn::Optimizer& a, const nn::Optimizer& b) {
    const ktape::Variable v = K::variable(p), w = K::variable(p);
    a.apply({t}, {v}), b.apply({t}, {w});
    return equal(v.value(), w.value());
  });
  check_kind<nn::Schedule>([](const nn::Schedule& a, const nn::Schedule& b) { return a(7) == b(7); });
  check_kind<nn::Regularizer>(
      [&](const nn::Regularizer& a, const nn::Regularizer& b) { return equal(a(p), b(p)); });
  check_kind<nn::Constraint>(
      [&](const nn::Constraint& a, const nn::Constraint& b) { return equal(a(p), b(p)); });
  check_kind<nn::ActivationFunction>([](const nn::ActivationFunction& a, const nn::ActivationFunction& b) {
    const Tensor x = normal({2, 4});
    return values(a(x)) == values(b(x));
  });
  check_kind<nn::Initializer>([](const nn::Initializer&, const nn::Initializer&) { return true; });
}

TEST_CASE("statistics and vocabularies that layers learned are restored") {
  const nn::StringLookup words;
  words.adapt({"cat", "dog", "cat"});
  const nn::StringLookup again(nn::Layer::from_value(nn::from_json(nn::to_json(words.to_value()))));
  CHECK(again.get_vocabulary() == words.get_vocabulary());
  CHECK(values(again({"dog", "owl"})) == values(words({"dog", "owl"})));

  const nn::TextVectorization texts({.output_mode = "tf_idf"});
  texts.adapt({"a cat", "a dog", "the cat"});
  const nn::TextVectorization texts_again(
      nn::Layer::from_value(nn::from_json(nn::to_json(texts.to_value()))));
  CHECK(values(texts_again({"the dog"})) == values(texts({"the dog"})));

  const nn::IntegerLookup numbers;
  numbers.adapt(ints({7, 7, 9}));
  const nn::Layer numbers_again = nn::Layer::from_value(nn::from_json(nn::to_json(numbers.to_value())));
  CHECK(values(numbers_again(ints({9, 1}))) == values(numbers(ints({9, 1}))));

  const nn::Discretization bins({.num_bins = 3});
  bins.adapt(normal({50}, 1, "float32"));
  const nn::Layer bins_again = nn::Layer::from_value(nn::from_json(nn::to_json(bins.to_value())));
  const Tensor x = normal({9}, 2, "float32");
  CHECK(values(bins_again(x)) == values(bins(x)));

  const nn::Normalization scaled;
  scaled.adapt(normal({50, 3}, 1, "float32"));
  const nn::Sequential model({nn::Input({3}, {.name = "in"}), scaled}, {.name = "scaled"});
  check_remade(model, {normal({4, 3}, 2, "float32")});  // which are weights

  const nn::TextVectorization own({.standardize = [](const std::string& text) { return text + "!"; }});
  CHECK_THROWS_WITH_AS(own.to_value(), Contains("received standardize of class TextVectorization"),
                       ValueError);
}
