#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/training/history.hpp>
#include <ktape/nn/training/logs.hpp>
#include <ktape/ops/creation.hpp>

#include <cmath>
#include <sstream>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::ValueError;
using ktape::nn::Logs;

TEST_CASE("logs hold numbers under names, in order; tensors of one element are numbers") {
  const Logs logs{{"loss", 0.5}, {"step", 3}, {"mae", K::constant({{2.f}})}};
  CHECK(logs.size() == 3);
  CHECK(logs["loss"] == 0.5);
  CHECK(logs.at("step") == 3);
  CHECK(logs["mae"] == 2);
  CHECK(logs.contains("mae"));
  CHECK(logs.count("loss") == 1);
  CHECK(logs.count("acc") == 0);
  std::string names;
  for (const auto& [name, value] : logs) names += name + ' ';
  CHECK(names == "loss step mae ");
  CHECK_THROWS_AS(Logs({{"pair", K::ones({2})}}), ValueError);
}

template <class T>
constexpr bool takes_places = requires(const T& logs) {
  logs[0];
}
|| requires(const T& logs, int place) { logs[place]; };
static_assert(!takes_places<Logs> && !takes_places<ktape::nn::History> &&
                  !takes_places<ktape::nn::DTypePolicyMap>,
              "0 would be a null string");

TEST_CASE("a known name keeps its position, a new name is appended") {
  Logs logs{{"a", 1}, {"b", 2}};
  logs.set("a", 3);
  logs.set("c", 4);
  CHECK(logs == Logs{{"a", 3}, {"b", 2}, {"c", 4}});
  CHECK_FALSE(logs == Logs{{"b", 2}, {"a", 3}, {"c", 4}});
  CHECK(Logs{{"a", 1}, {"a", 2}} == Logs{{"a", 2}});
}

TEST_CASE("other logs are added with a prefix before the names") {
  Logs logs{{"loss", 1}};
  logs.update(Logs{{"loss", 2}, {"mae", 3}}, "val_");
  CHECK(logs == Logs{{"loss", 1}, {"val_loss", 2}, {"val_mae", 3}});
  logs.update(Logs{{"loss", 4}});
  CHECK(logs["loss"] == 4);
  logs.update(Logs());
  CHECK(logs.size() == 3);
}

TEST_CASE("an unknown name is an error with the nearest known names") {
  CHECK_THROWS_WITH_AS(
      (Logs{{"loss", 1}, {"accuracy", 2}}["acuracy"]),
      "[Logs] the name must be 'loss' or 'accuracy': received 'acuracy'; did you mean 'accuracy'?",
      ValueError);
  CHECK_THROWS_WITH_AS(Logs().at("loss"),
                       "[Logs] the name must be that of an entry, of which there are none: received 'loss'",
                       ValueError);
}

TEST_CASE("logs are written with dashes between the numbers") {
  std::ostringstream text;
  text << Logs{{"loss", 0.25}, {"mae", 3}} << '|' << Logs();
  CHECK(text.str() == "loss: 0.25 - mae: 3|");
}

TEST_CASE("not a number has no sign") {
  const double negative = std::copysign(std::nan(""), -1.0);
  std::ostringstream text;
  text << Logs{{"loss", negative}, {"mae", K::constant(negative)}};
  CHECK(text.str() == "loss: nan - mae: nan");
}
