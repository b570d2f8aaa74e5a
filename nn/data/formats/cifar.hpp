#pragma once
#include <ktape/nn/data/dataset.hpp>

#include <string>

namespace ktape::data {

/// Returns the images, (n, 32, 32, 3), and labels, (n,), of CIFAR-10 in its binary version: both uint8.
/// `path` is a file of it, plain or gzip-compressed, or the folder of all files, of which `part` says which
/// are read: "train" (data_batch_1.bin to data_batch_5.bin) or "test" (test_batch.bin). Throws IOError,
/// naming the file, for one that is missing, that is no whole number of images or that has a label above 9;
/// ValueError for another part.
Element load_cifar10(const std::string& path, const std::string& part = "train");

/// Reads CIFAR-100 (train.bin, test.bin) from a folder: images, fine labels below 100, coarse labels below
/// 20.
Element load_cifar100(const std::string& path, const std::string& part = "train");

}  // namespace ktape::data
