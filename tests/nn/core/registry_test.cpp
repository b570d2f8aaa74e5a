#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

struct FillImpl : nn::InitializerImpl {
  double by;
  explicit FillImpl(double by) : by(by) {}
  std::string class_name() const override { return "Fill"; }
  nn::Config get_config() const override { return {{"by", by}}; }
  Tensor call(const Shape& shape, DType dtype) const override { return K::full(shape, by, dtype); }
};
using Fill = nn::InitializerOf<FillImpl>;

Fill make_fill(const nn::Config& config) { return Fill(config.at("by").number()); }

nn::Value described(const char* class_name, const nn::Config& config) {
  return nn::Config{{"class_name", class_name}, {"config", config}};
}

template <class Handle>
void check_round_trip() {
  for (const std::string& name : nn::registered_names(Handle::Impl::kind)) {
    CAPTURE(name);
    const Handle object{name};
    CHECK(object.class_name() == name);
    const Handle again{nn::from_json(nn::to_json(object.to_value()))};
    CHECK(again.to_value() == object.to_value());
    CHECK(Handle{described(name.c_str(), object.get_config())}.get_config() == object.get_config());
  }
}

}  // namespace

TEST_CASE("every class is made again from its name and from its config") {
  check_round_trip<nn::ActivationFunction>();
  check_round_trip<nn::Initializer>();
  check_round_trip<nn::Regularizer>();
  check_round_trip<nn::Constraint>();
}

TEST_CASE("names are found in any of Keras's spellings") {
  for (const char* name : {"glorot_uniform", "GlorotUniform", "glorotuniform"})
    CHECK(nn::Initializer(name).class_name() == "GlorotUniform");
  CHECK(nn::Initializer("normal").class_name() == "RandomNormal");
  CHECK(nn::Initializer("identity").class_name() == "Identity");
  CHECK(nn::ActivationFunction("swish").class_name() == "silu");
  CHECK(nn::Regularizer("l1_l2").class_name() == "L1L2");
  CHECK(nn::Constraint("nonneg").class_name() == "NonNeg");
}

TEST_CASE("an unknown name is an error with the nearest known ones") {
  CHECK_THROWS_WITH_AS(nn::Initializer("gorot_uniform"),
                       "[initializer] the name must be one of nn::registered_names(\"initializer\"): "
                       "received 'gorot_uniform'; did you mean "
                       "'GlorotUniform'?",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::ActivationFunction("rellu"),
                       "[activation] the name must be one of nn::registered_names(\"activation\"): received "
                       "'rellu'; did you mean 'relu', 'relu6' "
                       "or 'elu'?",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::Constraint("l2"),
                       "[constraint] the name must be one of nn::registered_names(\"constraint\"): received "
                       "'l2'; known are 'MaxNorm', 'NonNeg', "
                       "'UnitNorm' and 'MinMaxNorm'",
                       ValueError);
}

TEST_CASE("an unknown class in a config is an error that tells how to register the class") {
  CHECK_THROWS_WITH_AS(
      nn::Initializer(described("Blend", {})),
      doctest::Contains(
          "[initializer] the name must be one of nn::registered_names(\"initializer\"): received 'Blend'"),
      ValueError);
  CHECK_THROWS_WITH_AS(
      nn::Initializer(described("Blend", {})),
      doctest::Contains("; register a class of the program before the config is read: "
                        "nn::register_object(\"Blend\", [](const nn::Config& config) { return "
                        "Blend(...); })"),
      ValueError);
}

TEST_CASE("an unknown name is compared with short names, too") {
  CHECK_THROWS_WITH_AS(nn::Loss("mes"), doctest::Contains("'mse'"), ValueError);
}

TEST_CASE("an unknown or wrong argument in a config is an error that names class and argument") {
  CHECK_THROWS_WITH_AS(nn::Initializer(described("RandomNormal", {{"stdev", 2}})),
                       "[RandomNormal] an argument must be 'mean', 'stddev' or 'seed': received stdev=2; did "
                       "you mean 'stddev'?",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::Initializer(described("RandomNormal", {{"stddev", "wide"}})),
                       "[RandomNormal] stddev must be a number: received \"wide\"", TypeError);
  CHECK_THROWS_AS(nn::ActivationFunction(described("tanh", {{"alpha", 1}})), ValueError);
  CHECK_THROWS_AS(nn::Initializer(nn::Value(3)), TypeError);
}

TEST_CASE("users register classes, also for one scope") {
  CHECK_FALSE(nn::is_registered("initializer", "Fill"));
  {
    nn::custom_object_scope scope({{"Fill", make_fill}});
    const nn::Initializer fill{described("Fill", {{"by", 2}})};
    CHECK(values(fill({2}, "float64")) == Values{2, 2});
    CHECK(fill.to_value() == described("Fill", {{"by", 2}}));
    CHECK_FALSE(nn::is_registered("constraint", "Fill"));
  }
  CHECK_THROWS_AS(nn::Initializer{"Fill"}, ValueError);

  nn::register_object("Filled", make_fill);
  CHECK(values(nn::Initializer(described("filled", {{"by", 3}}))({1})) == Values{3});
  nn::register_object("Filled", [](const nn::Config&) { return Fill(4); });
  CHECK(values(nn::Initializer("Filled")({1})) == Values{4});
  const std::vector<std::string> names = nn::registered_names("initializer");
  CHECK(std::count(names.begin(), names.end(), "Filled") == 1);
}

TEST_CASE("handles share their object; callables and None are objects, too") {
  const Fill fill(1.5);
  const nn::Initializer same = fill;
  CHECK(same.is(fill));
  fill->by = 2;
  CHECK(values(same({1})) == Values{2});
  CHECK_FALSE(nn::Regularizer(None).defined());
  CHECK_FALSE(nn::Regularizer(nullptr).defined());
  CHECK(nn::Constraint().to_value().is_null());
  CHECK(nn::ActivationFunction().to_value() == nn::Value("linear"));
  const nn::Constraint half = [](const Tensor& w) { return w * 0.5; };
  CHECK(values(half(doubles({2, 4}))) == Values{1, 2});
  CHECK(values(half.function()(doubles({2, 4}))) == Values{1, 2});
  CHECK_FALSE(nn::Constraint().function());
  CHECK_THROWS_WITH_AS(nn::Regularizer()(doubles(1)),
                       "[regularizer] the regularizer must be defined: received None", ValueError);
}
