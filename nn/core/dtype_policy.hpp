#pragma once
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/ops/schema/config.hpp>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The dtypes in which layers compute and keep weights: mixed precision.
namespace ktape::nn {

/// The dtypes of a layer: the dtype in which the layer computes and the dtype of its weights. A policy has
/// the name of a dtype, for both, or the name of a mixed policy:
///
///   | name             | compute_dtype | variable_dtype |
///   | "mixed_float16"  | float16       | float32        |
///   | "mixed_bfloat16" | bfloat16      | float32        |
///   | "float32", ...   | float32, ...  | float32, ...   |
///
/// Under a mixed policy, floating inputs of a layer are converted to the compute dtype, and so are the
/// weights where `call` reads them. The weights themselves, their gradients and the state of optimizers stay
/// float32, and losses and metrics are computed in float32. Options of layers take a policy, or the name of
/// one, as `dtype`:
///
///     nn::set_dtype_policy("mixed_float16");
///     nn::Sequential model({nn::Dense(64, {.activation = "relu"}),
///                           nn::Dense(10, {.activation = "softmax", .dtype = "float32"})});
///
/// Throws ValueError, with the names that exist, for another name. Mirrors `keras.DTypePolicy`.
///
///     const nn::DTypePolicy policy("mixed_float16");
///     const nn::Dense hidden(4, {.dtype = policy}), scores(2, {.dtype = "float32"});
///     const Tensor h = hidden(K::ones({1, 3})), y = scores(h);
///     std::cout << hidden.dtype_policy() << ": computes in " << hidden.compute_dtype() << ", weights of "
///               << hidden.variable_dtype() << "\n"
///               << h.dtype() << " " << y.dtype();
class DTypePolicy {
 public:
  /// Returns a copy of the policy of the process, see `dtype_policy`.
  DTypePolicy();
  DTypePolicy(std::string_view name);
  DTypePolicy(const char* name) : DTypePolicy(std::string_view(name)) {}
  DTypePolicy(const std::string& name) : DTypePolicy(std::string_view(name)) {}
  DTypePolicy(DType dtype);
  DTypePolicy(DType::Kind dtype) : DTypePolicy(DType(dtype)) {}
  /// Makes a policy from its form in a config: a name, or a {class_name, config} of Keras 3's DTypePolicy and
  /// DTypePolicyMap or of Keras 2's Policy.
  explicit DTypePolicy(const Value& value);

  const std::string& name() const { return name_; }
  /// Returns the dtype of computations: floating inputs and weights are converted to this dtype.
  DType compute_dtype() const { return compute_; }
  /// Returns the dtype of weights.
  DType variable_dtype() const { return variable_; }
  /// Returns the kind of quantization: none.
  OptionalString quantization_mode() const { return {}; }
  /// Returns the policy of the layer at a path, such as "encoder/dense": this policy, or the entry of a
  /// DTypePolicyMap. Throws ValueError if several entries of the map match the path.
  DTypePolicy for_path(const std::string& path) const;
  /// Returns whether the policy is a DTypePolicyMap.
  bool is_map() const { return map_ != nullptr; }

  /// Returns the name of a dtype or, for other policies, {module, class_name, config} as in Keras 3.
  Value to_value() const;

  friend bool operator==(const DTypePolicy& a, const DTypePolicy& b);

 protected:
  struct Map;
  DTypePolicy(const DTypePolicy& defaults, std::shared_ptr<const Map> map);
  std::shared_ptr<const Map> map_;

 private:
  std::string name_;
  DType compute_, variable_;
};

/// A policy for each layer, by the layer's path: the names of the layers around the layer and its own name,
/// joined by '/'. An entry belongs to the layers whose path equals the key or matches the key, a regular
/// expression, as a whole: "encoder/.*" stands for all layers inside of "encoder". Other layers have the
/// default policy. The name is "map_" and the name of the default policy.
///
///     nn::set_dtype_policy(nn::DTypePolicyMap("mixed_float16", {{"scores", "float32"}}));
///
/// Copies of a map, and the policies that are made from the map, do not change with the map. Mirrors
/// `keras.dtype_policies.DTypePolicyMap`.
///
///     const nn::DTypePolicyMap policies("mixed_float16", {{"encoder/.*", "float32"}});
///     std::cout << policies["encoder/dense"] << " " << policies["dense"];
class DTypePolicyMap : public DTypePolicy {
 public:
  using Entry = std::pair<std::string, DTypePolicy>;
  /// The default policy is the policy of the process when the map is made.
  DTypePolicyMap() : DTypePolicyMap(DTypePolicy()) {}
  /// Throws ValueError for a default policy that is a map, a key that is no regular expression, and a key
  /// that occurs twice.
  DTypePolicyMap(const DTypePolicy& default_policy, const std::vector<Entry>& policy_map = {});
  DTypePolicyMap(const DTypePolicy& default_policy, std::initializer_list<Entry> policy_map)
      : DTypePolicyMap(default_policy, std::vector<Entry>(policy_map)) {}

  DTypePolicy default_policy() const;
  /// Returns the policy of a path, see `for_path`.
  DTypePolicy operator[](const std::string& path) const { return for_path(path); }
  template <std::integral T>
  DTypePolicy operator[](T) const = delete;  // 0 would be a null string
  /// Adds an entry. Throws ValueError for a key that the map has, and for a key that is no regular expression.
  void set(const std::string& key, const DTypePolicy& policy);
  /// Removes an entry. Throws ValueError for a key that the map lacks.
  void erase(const std::string& key);
  bool contains(const std::string& key) const;
  std::size_t size() const;
  std::vector<Entry> entries() const;
};

std::ostream& operator<<(std::ostream& out, const DTypePolicy& policy);

/// Sets the policy of layers, of this process and from now on, whose options have no `dtype`. None lets such
/// layers follow `K::floatx()` again, which is the initial state. `keras.config.set_dtype_policy`.
///
///     nn::set_dtype_policy("mixed_float16");
///     const nn::Dense hidden(4);
///     nn::set_dtype_policy(ktape::None);
///     std::cout << hidden.dtype_policy() << " " << nn::dtype_policy();
void set_dtype_policy(const DTypePolicy& policy);
void set_dtype_policy(NoneType);
/// Returns the policy of layers whose options have no `dtype`. `keras.config.dtype_policy`.
DTypePolicy dtype_policy();

}  // namespace ktape::nn
