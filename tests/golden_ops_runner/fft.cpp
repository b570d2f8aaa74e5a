#include <ktape/ops/keras/fft/fft.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;

ops::ComplexPair complex(const Call& c) { return {c["x/0"], c["x/1"]}; }
Results both(const ops::ComplexPair& x) { return {x.first, x.second}; }
std::optional<std::int64_t> fft_length(const Call& c) {
  return get_or(c, "fft_length", std::optional<std::int64_t>());
}

ops::StftOptions frames(const Call& c) {
  ops::StftOptions o;
  if (c.given("window")) o.window = c["window"];
  else if (c.has("window"))
    o.window =
        c.none("window") ? ops::StftWindow(ktape::None) : ops::StftWindow(c.get<std::string>("window"));
  c.set("center", o.center), c.set("length", o.length);
  return o;
}

}  // namespace

void add_fft(Table& table) {
  table["fft"] = [](const Call& c) { return both(ops::fft(complex(c))); };
  table["fft2"] = [](const Call& c) { return both(ops::fft2(complex(c))); };
  table["ifft2"] = [](const Call& c) { return both(ops::ifft2(complex(c))); };
  table["rfft"] = [](const Call& c) { return both(ops::rfft(c["x"], fft_length(c))); };
  table["irfft"] = [](const Call& c) -> Results { return {ops::irfft(complex(c), fft_length(c))}; };
  table["stft"] = [](const Call& c) {
    return both(ops::stft(c["x"], c.get<int>("sequence_length"), c.get<int>("sequence_stride"),
                          c.get<int>("fft_length"), frames(c)));
  };
  table["istft"] = [](const Call& c) -> Results {
    return {ops::istft(complex(c), c.get<int>("sequence_length"), c.get<int>("sequence_stride"),
                       c.get<int>("fft_length"), frames(c))};
  };
}

}  // namespace golden_ops
