#include <ktape/nn/core/names.hpp>
#include <ktape/nn/operations/operations.hpp>

#include <unordered_map>

/// The list of all operations: the rows of each source.
namespace ktape::nn {

Operations function_operations();
Operations elementwise_operations();
Operations arithmetic_operations();
Operations division_operations();
Operations binary_function_operations();
Operations incomplete_gamma_operations();
Operations integer_operations();
Operations logic_operations();
Operations reduction_operations();
Operations scan_operations();
Operations numpy_reduction_operations();
Operations statistics_operations();
Operations numpy_shape_operations();
Operations joining_operations();
Operations rearrange_operations();
Operations diagonal_operations();
Operations numpy_creation_operations();
Operations set_operations();
Operations numpy_indexing_operations();
Operations product_operations();
Operations factor_operations();
Operations linalg_operations();
Operations spectrum_operations();
Operations image_operations();
Operations image_patch_operations();
Operations image_scaling_operations();
Operations image_transform_operations();
Operations activation_operations();
Operations loss_operations();
Operations keras_ctc_operations();
Operations patch_operations();
Operations keras_layer_operations();
Operations math_operations();
Operations fourier_operations();
Operations creation_operations();
Operations inspection_operations();
Operations control_flow_operations();
Operations backend_activation_operations();
Operations backend_loss_operations();
Operations backend_product_operations();
Operations bias_operations();
Operations convolution_operations();
Operations pooling_operations();
Operations backend_image_operations();
Operations local_convolution_operations();
Operations ctc_operations();
Operations ctc_decode_operations();
Operations attention_operations();
Operations normalization_operations();
Operations prelu_operations();
Operations part_operations();
Operations indexing_operations();
Operations shape_operations();
Operations broadcasting_operations();
Operations layer_operations();

const std::vector<Operation>& all_operations() {
  static const std::vector<Operation> all = [] {
    std::vector<Operation> all;
    for (const auto rows : {function_operations,
                            elementwise_operations,
                            arithmetic_operations,
                            division_operations,
                            binary_function_operations,
                            incomplete_gamma_operations,
                            integer_operations,
                            logic_operations,
                            reduction_operations,
                            scan_operations,
                            numpy_reduction_operations,
                            statistics_operations,
                            numpy_shape_operations,
                            joining_operations,
                            rearrange_operations,
                            diagonal_operations,
                            numpy_creation_operations,
                            set_operations,
                            numpy_indexing_operations,
                            product_operations,
                            factor_operations,
                            linalg_operations,
                            spectrum_operations,
                            image_operations,
                            image_patch_operations,
                            image_scaling_operations,
                            image_transform_operations,
                            activation_operations,
                            loss_operations,
                            keras_ctc_operations,
                            patch_operations,
                            keras_layer_operations,
                            math_operations,
                            fourier_operations,
                            creation_operations,
                            inspection_operations,
                            control_flow_operations,
                            backend_activation_operations,
                            backend_loss_operations,
                            backend_product_operations,
                            bias_operations,
                            convolution_operations,
                            pooling_operations,
                            backend_image_operations,
                            local_convolution_operations,
                            ctc_operations,
                            ctc_decode_operations,
                            attention_operations,
                            normalization_operations,
                            prelu_operations,
                            part_operations,
                            indexing_operations,
                            shape_operations,
                            broadcasting_operations,
                            layer_operations})
      for (const Operation& operation : rows()) all.push_back(operation);
    return all;
  }();
  return all;
}

const Operation* find_operation(const std::string& name) {
  static const std::unordered_map<std::string, const Operation*> by_name = [] {
    std::unordered_map<std::string, const Operation*> by_name;
    for (const Operation& operation : all_operations()) by_name.emplace(operation.name, &operation);
    return by_name;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string snake_name(const Operation& operation) { return to_snake_case(operation.name); }

}  // namespace ktape::nn
