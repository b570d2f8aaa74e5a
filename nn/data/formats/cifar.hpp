#pragma once
#include <ktape/nn/data/dataset.hpp>

#include <string>

namespace ktape::data {

/// Returns the images, (n, 32, 32, 3), and labels, (n,), of CIFAR-10 in its binary version: both uint8.
/// `path` is one of the files, plain or gzip-compressed, or the folder of the files; `part` selects files of
/// the folder: "train" (data_batch_1.bin to data_batch_5.bin) or "test" (test_batch.bin). Throws IOError,
/// naming the file, for a file that is missing, has a part of an image at its end, or has a label above 9;
/// ValueError for an unknown part.
///
///     // Two images in the format of cifar-10-batches-bin/test_batch.bin: a label, and 3 * 32 * 32 bytes.
///     std::filesystem::create_directory("cifar-10-batches-bin");
///     std::ofstream file("cifar-10-batches-bin/test_batch.bin", std::ios::binary);
///     for (char label : {3, 8}) file << label << std::string(3072, '\x40');
///     file.close();
///     auto test = data::load_cifar10("cifar-10-batches-bin", "test");
///     std::cout << test[0].shape() << " " << test[1];
Element load_cifar10(const std::string& path, const std::string& part = "train");

/// Reads CIFAR-100 (train.bin, test.bin) from a folder: images, fine labels below 100, coarse labels below
/// 20.
///
///     // An image in the format of cifar-100-binary/test.bin: the coarse label, the fine label, and the bytes.
///     std::ofstream file("test.bin", std::ios::binary);
///     file << '\x04' << '\x1e' << std::string(3072, '\x40');
///     file.close();
///     auto test = data::load_cifar100("test.bin");
///     std::cout << test[0].shape() << " fine " << test[1] << " coarse " << test[2];
Element load_cifar100(const std::string& path, const std::string& part = "train");

}  // namespace ktape::data
