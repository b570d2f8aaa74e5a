#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/layers/base/shared_layers.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::TypeError;
using nn::Config, nn::SharedLayers, nn::Value;

namespace {

/// A dense layer inside two models, and another inside one of them, in a model of both.
struct Nested {
  const nn::Dense shared{2, {.name = "shared"}}, alone{2, {.name = "alone"}};
  const nn::Sequential left{{nn::Input({2}), shared, alone}, {.name = "left"}},
      right{{nn::Input({2}), shared}, {.name = "right"}};
  const nn::Sequential whole{{nn::Input({2}), left, right}, {.name = "whole"}};
};

Value described(const Value& number) {
  return Config{{"class_name", "Dense"}, {"config", Config{{"units", 2}}}, {"shared_object_id", number}};
}

}  // namespace

TEST_CASE_FIXTURE(Nested, "layers inside several layers have numbers while their root is written") {
  CHECK(SharedLayers::number_of(shared.impl()).is_null());
  {
    const SharedLayers of_whole(whole);
    CHECK(SharedLayers::number_of(shared.impl()) == Value(1));
    CHECK(SharedLayers::number_of(alone.impl()).is_null());
    {
      const SharedLayers of_part(left);
      CHECK(SharedLayers::number_of(shared.impl()).is_null());
    }
    CHECK(SharedLayers::number_of(shared.impl()) == Value(1));
  }
  CHECK(SharedLayers::number_of(shared.impl()).is_null());
}

TEST_CASE("a layer is found by the number for which it was read") {
  const nn::Dense layer(2), second(2);
  CHECK_FALSE(SharedLayers::find(described(3)).defined());
  const SharedLayers reading;
  CHECK_FALSE(SharedLayers::find(described(3)).defined());
  SharedLayers::remember(described(3), layer);
  SharedLayers::remember(described(3), second);
  CHECK(SharedLayers::find(described(3)).is(layer));
  CHECK_FALSE(SharedLayers::find(described(4)).defined());
  CHECK_FALSE(SharedLayers::find(Config{{"class_name", "Dense"}}).defined());
  CHECK_FALSE(SharedLayers::find("Dense").defined());
  SharedLayers::remember("Dense", layer);
  {
    const SharedLayers inner;
    CHECK_FALSE(SharedLayers::find(described(3)).defined());
  }
  CHECK(SharedLayers::find(described(3)).is(layer));
}

TEST_CASE("a shared_object_id that is not a number is an error") {
  const SharedLayers reading;
  CHECK_THROWS_WITH_AS(SharedLayers::find(described("one")),
                       "[layer] shared_object_id must be an integer: received \"one\"", TypeError);
  CHECK_THROWS_WITH_AS(SharedLayers::find(described(Value())),
                       "[layer] shared_object_id must be an integer: received null", TypeError);
}

TEST_CASE_FIXTURE(Nested, "a shared layer is one layer in a model that is read, and trains as one layer") {
  const nn::Model again = nn::model_from_json(whole.to_json());
  CHECK(again.weights().size() == 4);
  const nn::Model first(again.get_layer("left")), second(again.get_layer("right"));
  CHECK(first.get_layer("shared").is(second.get_layer("shared")));
  again.set_weights(whole.get_weights());
  const Tensor x = normal({3, 2}, 1, "float32");
  CHECK(values(again(x)) == values(whole(x)));
  again.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  again.train_on_batch(x, K::zeros({3, 2}));
  CHECK(values(first.get_layer("shared").get_weights()[0]) != values(shared.get_weights()[0]));
  CHECK(values(second.get_layer("shared").get_weights()[0]) ==
        values(first.get_layer("shared").get_weights()[0]));
}
