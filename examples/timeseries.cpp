// Forecasts temperatures: hourly values of two years with a yearly and a daily cycle, random weather, and a
// second sensor that measures the weather six hours earlier.
// Expect the mean absolute error of the next 6 hours to be at most half that of the naive forecast, the
// temperature of 24 hours before.
// Try next: only the first sensor; nn::Conv1D in place of the LSTM; a longer window; the next 24 hours.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// 48 hours are read, the next 6 are forecast.
static constexpr std::int64_t window = 48, ahead = 6, day = 24;

/// Returns (hours, 2): the temperature, and a sensor that is 6 hours ahead of the temperature's weather.
/// The weather is a random walk that is pulled back to 0 (each hour keeps 0.97 of the last), so its future
/// is partly known from its past, and the second sensor knows the rest.
static Tensor weather(std::int64_t hours) {
  const double pi = std::acos(-1.0);
  const auto noise = K::get_value(K::random_normal({hours + ahead, 2}));
  xt::xarray<float> values = xt::zeros<float>({static_cast<std::size_t>(hours), std::size_t{2}});
  std::vector<double> front(static_cast<std::size_t>(hours + ahead));
  for (std::size_t t = 1; t < front.size(); ++t) front[t] = 0.97 * front[t - 1] + 0.7 * noise(t, 0);
  for (std::size_t t = 0; t < static_cast<std::size_t>(hours); ++t) {
    const double hour = static_cast<double>(t);
    values(t, 0) = static_cast<float>(10 + 8 * std::sin(2 * pi * hour / (365 * day)) +
                                      4 * std::sin(2 * pi * hour / day) + front[t] + 0.3 * noise(t, 1));
    values(t, 1) = static_cast<float>(front[t + ahead] + 0.3 * noise(t + ahead, 1));
  }
  return K::constant(values);
}

/// Returns batches of windows of both sensors, (batch, 48, 2), and the temperatures of the 6 hours after
/// each window, (batch, 6). `timeseries_from_array` gives a window the target at the place of its first
/// step, so the targets are shifted by the window's length. Windows are cut when a batch needs them, and
/// are never stored.
static data::Dataset windows(const Tensor& series, bool shuffle) {
  std::vector<Tensor> following;
  const std::int64_t rows = series.shape()[0] - window - ahead;
  for (std::int64_t i = 0; i < ahead; ++i)
    following.push_back(series[{Slice(window + i, window + i + rows), 0}]);
  return data::timeseries_from_array(series, K::stack(following, 1),
                                     {.sequence_length = window, .batch_size = 128, .shuffle = shuffle});
}

/// Returns the network: the LSTM reads the window, its last state gives all six hours at once.
static nn::Sequential forecaster() {
  return nn::Sequential({nn::Input({window, 2}), nn::LSTM(32), nn::Dense(ahead, {.dtype = "float32"})});
}

/// Trains on the past and forecasts the future: the last quarter of the two years is unseen.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 10, .quick_epochs = 3});
  K::set_random_seed(run.seed);

  // Mean and spread come from the training part alone; statistics of all values would let the future leak
  // into the training. Normalized, both sensors have the same range.
  const Tensor raw = weather(2 * 365 * day);
  const std::int64_t train = raw.shape()[0] * 3 / 4;
  const Tensor mean = K::mean(raw[{Slice(0, train)}], 0), spread = K::std(raw[{Slice(0, train)}], 0);
  const Tensor series = (raw - mean) / spread;
  const Tensor later = series[{Slice(train, ktape::None)}];
  const data::Dataset unseen = windows(later, false);

  // Windows overlap, so shuffling matters: consecutive windows are nearly equal and would make a one-sided
  // batch. The validation is not shuffled, and the drawing relies on its order.
  const nn::Sequential model = forecaster();
  model.compile({.optimizer = nn::Adam(0.003), .loss = "mse", .metrics = {"mae"}});
  model.fit(windows(series[{Slice(0, train)}], true),
            {.epochs = run.epochs, .verbose = 2, .validation_data = unseen});

  // The naive forecast: the temperature 24 hours before. A model that cannot beat such a rule is useless.
  // The errors are multiplied by the spread, which gives degrees again.
  const double degrees = spread.item<double>(0);
  const std::int64_t hours = later.shape()[0];
  const Tensor temperature = later[{All, 0}];
  const double naive =
      degrees *
      K::mean(K::abs(temperature[{Slice(day, hours)}] - temperature[{Slice(0, hours - day)}])).item();
  const double error = degrees * model.evaluate(unseen, {.verbose = 0})["mae"];

  // A week of measurements and of forecasts made six hours before, both in degrees.
  if (!run.out.empty()) {
    const Tensor forecast =
        model.predict(unseen, {.verbose = 0})[{Slice(0, 7 * day), ahead - 1}] * spread[{0}] + mean[{0}];
    const Tensor truth = raw[{Slice(train + window + ahead - 1, train + window + ahead - 1 + 7 * day), 0}];
    ktape::plot::lines({{"measured", truth}, {"forecast 6 hours before", forecast}},
                       {.title = "Temperature of a week", .x = {.label = "hour"}, .y = {.label = "°C"}})
        .save(run.out + "/week.svg");
  }

  // With the second sensor the next six hours are known but for noise, so the factor is large; without that
  // sensor much less is possible.
  const double factor = naive / error, expected = run.quick ? 1.5 : 2;
  std::printf("mean absolute error: %.2f degrees, of the naive forecast %.2f\n", error, naive);
  std::printf("better than the naive forecast by a factor of %.2f (expected: %.1f or more)\n", factor,
              expected);
  return factor >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "timeseries: %s\n", error.what());
  return 1;
}
