// Each operation of the tables is exported and computed by others, or refused.
#include "../../../operations/keras_rows.hpp"

#include <set>

#include "onnx_runtime.hpp"

using namespace keras_rows;

namespace {

/// The operations of which a call is refused: no operators of ONNX compute them, or the export has no formula of operators.
const std::set<std::string>& refused() {
  static const std::set<std::string> names{"I0",
                                           "Erfinv",
                                           "Gcd",
                                           "Lcm",
                                           "Nextafter",
                                           "Gammainc",
                                           "CTCLoss",
                                           "CTCDecode",
                                           "ctc_batch_cost",
                                           "ctc_decode",
                                           "normalize_batch_in_training",
                                           "local_conv",
                                           "Norm",
                                           "Median",
                                           "Nanmedian",
                                           "Quantile",
                                           "Percentile",
                                           "Nanquantile",
                                           "Nanpercentile",
                                           "View",
                                           "Cholesky",
                                           "CholeskyInverse",
                                           "Inv",
                                           "Logdet",
                                           "Slogdet",
                                           "Solve",
                                           "SolveTriangular",
                                           "LuFactor",
                                           "Qr",
                                           "SVD",
                                           "Eigh",
                                           "Eig",
                                           "Lstsq",
                                           "Pinv",
                                           "MatrixPower",
                                           "MatrixRank",
                                           "AffineTransform",
                                           "PerspectiveTransform",
                                           "ElasticTransform"};
  return names;
}

}  // namespace

TEST_CASE("onnx: each operation is exported and computed by others, or refused") {
  exported::Cases cases;
  std::set<std::string> seen;
  const Tensor a = normal({2, 3, 4}, 5, "float32"), b = normal({2, 3, 4}, 6, "float32");
  int number = 0;
  for (const std::string row : rows()) {
    const Tensor x = nn::Input({3, 4}, {.name = "x"}), y = nn::Input({3, 4}, {.name = "y"});
    const auto [operation, call] = call_of(row, Tensors(x, y * 2.f));
    std::string reason;
    try {
      const nn::Model model({x, y}, call.operation().run(call));
      reason = cases.add(std::to_string(number++) + ' ' + operation->name, model, {a, b}, {}, 1e-4);
    } catch (const ktape::Error& error) {
      if (refused().contains(operation->name)) seen.insert(operation->name);
      else reason = error.what();
    }
    CHECK_MESSAGE(reason.empty(), row, ": ", reason);
  }
  for (const std::string& name : refused())
    CHECK_MESSAGE((seen.contains(name) || !nn::find_operation(name)), name, " is exported now");
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}
