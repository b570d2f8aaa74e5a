#include "../../hdf5.hpp"

// Models with each operation of the tables, made by the function and read from a file: saved, loaded and cloned.
#include "keras_rows.hpp"

#include "../data/files.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <set>

using namespace keras_rows;
using nn::OperationCall;

namespace {

using MakeOutputs = std::vector<Tensor> (*)(const OperationCall&, const std::string& name);

std::vector<Tensor> by_function(const OperationCall& call, const std::string&) {
  return call.operation().run(call);
}
std::vector<Tensor> by_operation(const OperationCall& call, const std::string& name) {
  return nn::apply_operation(call, name);
}

nn::Model model_of(const std::string& row, MakeOutputs make) {
  const Tensor x = nn::Input({3, 4}, {.name = "x"}), y = nn::Input({3, 4}, {.name = "y"});
  const Tensor a = nn::Dense(4, {.kernel_initializer = "orthogonal", .name = "a"})(x);
  const auto [operation, call] = call_of(row, Tensors(a, y * 2.f));
  return nn::Model({x, y}, make(call, "op"), {.name = "m"});
}

/// Returns a model that calls the model.
nn::Model nested(const nn::Model& inner) {
  const Tensor x = nn::Input({3, 4}, {.name = "x"}), y = nn::Input({3, 4}, {.name = "y"});
  return nn::Model({x, y}, inner.apply({x, y}), {.name = "around_" + inner.name()});
}

std::vector<Tensor> outputs_of(const nn::Model& model) {
  const Tensor x = normal({2, 3, 4}, 5, "float32"), y = normal({2, 3, 4}, 6, "float32");
  return model.apply({x, y});
}

/// Returns whether the elements are equal, within `tolerance` relative to 1 and to the element.
bool same(const Tensor& a, const Tensor& b, double tolerance) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const std::vector<double> x = values(K::cast(a, "float64")), y = values(K::cast(b, "float64"));
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])) &&
        !(std::fabs(x[i] - y[i]) <= tolerance * (1 + std::fabs(y[i]))))
      return false;
  return true;
}

/// Returns 0 for operations that give equal bits in each run, and a rounding for those of LAPACK, whose bits depend on the
/// places of arrays in memory.
double tolerance_of(const std::string& row) {
  static const std::set<std::string> of_lapack{
      "Cholesky", "CholeskyInverse", "Det",  "Eig",  "Eigh", "Inv",     "Logdet", "Lstsq",
      "LuFactor", "MatrixPower",     "Norm", "Pinv", "Qr",   "Slogdet", "Solve",  "SVD"};
  return of_lapack.contains(row.substr(0, row.find(';'))) ? 1e-4 : 0;
}

void check_same(const nn::Model& again, const std::vector<Tensor>& wanted, double tolerance) {
  const std::vector<Tensor> got = outputs_of(again);
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], wanted[i], tolerance));
}

/// The operations that no model between layers has, by the reason.
const std::map<std::string, std::string> without_model{
    {"Ndim", "the rank is known, so that the result is a constant"},
    {"mask_of", "a tensor has a mask behind a layer that makes masks alone"},
};

void check_model(const std::string& row, MakeOutputs make, const std::string& folder) {
  const nn::Model model = model_of(row, make);
  const std::vector<Tensor> wanted = outputs_of(model);
  const auto copied = [&](const nn::Model& again) {
    again.set_weights(model.get_weights());
    check_same(again, wanted, tolerance_of(row));
  };
  copied(nn::clone_model(model));
  copied(nn::model_from_json(model.to_json()));
  for (const char* name : {"/m.keras", "/m.ktape"}) {
    model.save(folder + name);
    check_same(nn::load_model(folder + name), wanted, tolerance_of(row));
  }
}

}  // namespace

TEST_CASE("each operation has a row with a call") {
  std::set<std::string> called;
  for (const std::string row : rows()) called.insert(row.substr(0, row.find(';')));
  for (const nn::Operation& operation : nn::all_operations())
    CHECK_MESSAGE(called.count(operation.name) + without_model.count(operation.name) == 1, operation.name);
}

TEST_CASE("models with a call of each function are saved, loaded and cloned" * needs_hdf5) {
  const Files files;
  for (const std::string row : rows()) {
    CAPTURE(row);
    CHECK_NOTHROW(check_model(row, by_function, files.folder()));
  }
}

TEST_CASE("models with each operation as files have them are saved, loaded and cloned" * needs_hdf5) {
  const Files files;
  for (const std::string row : rows()) {
    CAPTURE(row);
    CHECK_NOTHROW(check_model(row, by_operation, files.folder()));
  }
}

TEST_CASE(
    "a model with a call of each function is called in another model, which is saved, loaded and cloned" *
    needs_hdf5) {
  const Files files;
  for (const std::string row : rows()) {
    CAPTURE(row);
    const nn::Model inner = model_of(row, by_function);
    const std::vector<Tensor> wanted = outputs_of(inner);
    std::optional<nn::Model> outer;
    CHECK_NOTHROW(outer = nested(inner));
    if (!outer) continue;
    check_same(*outer, wanted, tolerance_of(row));
    const auto copied = [&](const nn::Model& again) {
      again.set_weights(inner.get_weights());
      check_same(again, wanted, tolerance_of(row));
    };
    CHECK_NOTHROW(copied(nn::clone_model(*outer)));
    CHECK_NOTHROW(copied(nn::model_from_json(outer->to_json())));
    CHECK_NOTHROW(copied(nested(*outer)));
    outer->save(files.folder() + "/m.keras");
    CHECK_NOTHROW(copied(nn::load_model(files.folder() + "/m.keras")));
  }
}
