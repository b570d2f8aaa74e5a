#pragma once
/// The libtorch side of the comparison: equal workloads of equal sizes, one line "name median_ms" each.
#include <torch/torch.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace peer {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

/// The workload that was asked for, or all if it is empty.
extern std::string only;

/// Reports the median of at least 5 and at most 2000 runs within about 3 seconds, after three warm-up runs.
void report(const std::string& name, const std::function<void()>& run);

std::vector<Tensor> parameters(std::initializer_list<std::shared_ptr<nn::Module>> modules);
void channels_last(nn::Module& module);

// Run the workloads of a subject. `nhwc` has the channels of images last in memory.
void models();                // mlp, cnn, resnet20, lstm, transformer
void kernels();               // elementwise, reductions, copies, tiny and small tensors
void layers();                // layer normalization and attention
void images(bool nhwc);       // convolutions, batch normalization, pooling
void classifiers(bool nhwc);  // resnet50, mobilenet_v2
void arrays();                // sorting, searching, factorizations
void transforms();            // Fourier transforms

}  // namespace peer
