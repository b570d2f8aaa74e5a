#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

/// Reading of PyTorch's files.
namespace ktape::data {

/// Returns the tensors of a file that `torch.save` wrote (PyTorch 1.6 or later), and their names: the keys of a
/// state_dict, in its order. Keys of nested dicts and the numbers of items in lists are joined by dots,
/// "model.layer.weight"; other values (numbers, texts, None) are left out. A file of one tensor gives the name "".
///
/// Floats, doubles, halves, bfloat16, integers and bools keep their dtype. A tensor that is a
/// view of another one, in any order of axes, is copied; equal views share memory. Nothing in the file is executed:
/// the pickle may only name storages, tensors, parameters, OrderedDict, torch.Size, dtypes and devices.
///
/// Throws IOError, naming the file, for a file that is missing or damaged, a file in the older format of PyTorch,
/// TorchScript, any other name in the pickle (which the message tells), types such as complex and quantized
/// numbers, views beyond their storage, and tensors that together have more than 64 MB and 32 times the bytes of the
/// file, because a small file must not fill the memory.
///
///     for (const auto& [name, tensor] : data::load_torch("model.pt")) ...
///
/// For example:
///
///     for (const auto& [name, tensor] : data::load_torch("linear.pt"))
///       std::cout << name << " " << tensor << "\n";
std::vector<std::pair<std::string, Tensor>> load_torch(const std::string& path);

}  // namespace ktape::data
