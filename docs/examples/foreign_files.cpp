#include "examples.hpp"

// Files of other programs. linear.pt is from `torch.save(torch.nn.Sequential(fc=Linear(3, 2)).state_dict(), ...)`.

EXAMPLE("data::load_torch") {
  for (const auto& [name, tensor] : data::load_torch("linear.pt"))
    std::cout << name << " " << tensor << "\n";
}

EXAMPLE("nn::load_torch_weights nn::TorchWeightsReport") {
  nn::Sequential model({nn::Dense(2, {.input_shape = {3}, .name = "scores"})});
  auto report = nn::load_torch_weights(model, "linear.pt");
  for (const auto& [weight, tensor] : report.matched)
    std::cout << weight << " <- " << tensor << "\n";
  std::cout << model.get_layer("scores").weight("kernel");
}

EXAMPLE("nn::TorchWeightsOptions") {
  nn::Sequential model(
      {nn::Dense(2, {.use_bias = false, .input_shape = {3}, .name = "scores"})});
  auto report = nn::load_torch_weights(
      model, "linear.pt",
      {.rename = {{"fc\\.weight", "scores/kernel"}, {"fc\\.bias"}}});
  std::cout << report.matched.size() << " of " << model.weights().size();
}

EXAMPLE("nn::list_file nn::FileListing nn::ListedTensor nn::to_string") {
  nn::FileListing listing = nn::list_file("linear.pt");
  std::cout << nn::to_string(listing);
  for (const nn::ListedTensor& tensor : listing.tensors)
    std::cout << tensor.name << " has " << tensor.bytes << " bytes\n";
}

EXAMPLE("nn::onnx::load") {
  nn::Sequential model(
      {nn::Dense(2, {.kernel_initializer = "ones", .input_shape = {3}})});
  model.export_to("model.onnx");  // or a file that PyTorch wrote
  nn::Model loaded = nn::onnx::load("model.onnx");
  std::cout << loaded.predict(K::ones({1, 3}), {.verbose = 0});
}

EXAMPLE("data::load_cifar10") {
  // Two images in the format of cifar-10-batches-bin/test_batch.bin: a label, and 3 * 32 * 32 bytes.
  std::filesystem::create_directory("cifar-10-batches-bin");
  std::ofstream file("cifar-10-batches-bin/test_batch.bin", std::ios::binary);
  for (char label : {3, 8}) file << label << std::string(3072, '\x40');
  file.close();
  auto test = data::load_cifar10("cifar-10-batches-bin", "test");
  std::cout << test[0].shape() << " " << test[1];
}

EXAMPLE("data::load_cifar100") {
  // An image in the format of cifar-100-binary/test.bin: the coarse label, the fine label, and the bytes.
  std::ofstream file("test.bin", std::ios::binary);
  file << '\x04' << '\x1e' << std::string(3072, '\x40');
  file.close();
  auto test = data::load_cifar100("test.bin");
  std::cout << test[0].shape() << " fine " << test[1] << " coarse " << test[2];
}

EXAMPLE(
    "nn::applications::decode_predictions nn::applications::DecodeOptions "
    "nn::applications::DecodedPrediction") {
  // Keras's imagenet_class_index.json has 1000 of these.
  std::ofstream("classes.json") << R"({"0": ["n01440764", "tench"],
      "1": ["n01443537", "goldfish"], "2": ["n01484850", "great_white_shark"]})";
  Tensor scores = K::constant({{0.2, 0.7, 0.1}});
  auto best =
      nn::applications::decode_predictions(scores, "classes.json", {.top = 2});
  for (const nn::applications::DecodedPrediction& found : best[0])
    std::cout << found.class_name << " " << found.class_description << " "
              << found.score << "\n";
}
