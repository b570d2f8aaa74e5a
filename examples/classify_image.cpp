// Classifies a picture with a network of nn::applications and the weights that Keras publishes.
//
// Download weights and the names of the classes, for MobileNetV2:
//   https://storage.googleapis.com/tensorflow/keras-applications/mobilenet_v2/
//     mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224.h5
//   https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json
//
// Usage: classify_image --data PICTURE --weights FILE --labels imagenet_class_index.json
//                       [--model MobileNetV2] [--top 5], and the other options of all pages
// Expect the animal or thing in the middle of a photo among the first five classes. --quick needs no
// downloads: it writes a picture and weights that favour a class, and checks that this class is predicted.
// Try next: --model ResNet50 with its weights; the mean of the scores of a picture and of its mirror image;
// Grad-CAM. `--out FOLDER` draws the picture and the best classes.
#include <ktape/ktape.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace applications = nn::applications;
namespace plot = ktape::plot;
using ktape::Tensor;

/// The command line: options of this program beside those of all programs.
struct Arguments {
  std::string model = "MobileNetV2", weights, labels;
  int top = 5;
  nn::ProgramOptions run;  // the options of all pages; `data` is the picture
};

/// Reads the command line: own options are taken out, the rest is left to `nn::program_options`, which
/// refuses unknown names. Missing options are reported before the network is built.
static Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  std::string top;
  std::vector<const char*> others{argv[0]};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    std::string* own = name == "--model"     ? &arguments.model
                       : name == "--weights" ? &arguments.weights
                       : name == "--labels"  ? &arguments.labels
                       : name == "--top"     ? &top
                                             : nullptr;
    if (own != nullptr && i + 1 < argc) *own = argv[++i];
    else others.push_back(argv[i]);
  }
  if (!top.empty()) arguments.top = std::stoi(top);
  arguments.run = nn::program_options(static_cast<int>(others.size()), others.data());
  const std::string& picture = arguments.run.data;
  if (!arguments.run.quick && (picture.empty() || arguments.weights.empty() || arguments.labels.empty()))
    throw std::invalid_argument(
        "--data, --weights and --labels must name files; the first lines of classify_image.cpp say where "
        "they are");
  return arguments;
}

/// Returns the picture as a preprocessed batch of one, (1, size, size, 3). Each published network was
/// trained with its own scaling of pixels, for example to -1..1, so `preprocess_input` belongs to the
/// network; a wrong scaling gives no error, only wrong classes.
static Tensor load_picture(const std::string& path, const applications::Application& application) {
  const std::int64_t size = application.image_size;
  const Tensor pixels =
      ktape::data::load_image(path, {.target_size = {{size, size}}, .interpolation = "bilinear"});
  return application.preprocess_input(K::expand_dims(pixels, 0), "");
}

/// Classifies the picture as Keras does: `make` builds the architecture and loads the published weights
/// into the layers, `decode_predictions` turns 1000 scores into names, best first.
static std::vector<applications::DecodedPrediction> classify(const Arguments& arguments) {
  const applications::Application& application = applications::application(arguments.model);
  const nn::Model model = application.make({.weights = arguments.weights});
  const Tensor scores = model.predict_on_batch(load_picture(arguments.run.data, application))[0];
  return applications::decode_predictions(scores, arguments.labels, {.top = arguments.top})[0];
}

/// Writes the files for `--quick`: a picture of one colour, and weights that favour class 7 for every
/// picture. All weights are random but the bias of the last layer, 10 for class 7 and 0 elsewhere, and the
/// softmax makes a probability near 1 of such a lead.
static Arguments prepare(const std::filesystem::path& folder, Arguments arguments) {
  std::filesystem::create_directories(folder);
  arguments.weights = folder / "weights.h5";
  arguments.labels = folder / "labels.json";
  arguments.run.data = folder / "picture.ppm";
  const nn::Model model = applications::application(arguments.model).make({});
  const std::vector<ktape::Variable> all = model.weights();
  std::vector<float> bias(1000, 0.f);
  bias[7] = 10.f;
  ktape::Variable(all.back()).assign(K::constant(bias));
  model.save_weights(arguments.weights);

  // The names of the classes in the format of Keras's file, `{"0": ["n0", "class 0"], ...}`, and a picture
  // in the simplest of all formats, a PPM: a header, then bytes.
  std::ofstream labels(arguments.labels);
  for (int i = 0; i < 1000; ++i)
    labels << (i ? ", " : "{") << '"' << i << "\": [\"n" << i << "\", \"class " << i << "\"]";
  labels << '}';
  std::ofstream(arguments.run.data, std::ios::binary) << "P6 32 32 255\n" << std::string(32 * 32 * 3, '\x80');
  return arguments;
}

/// Draws the picture beside its best classes. A second class of nearly equal score tells that the network
/// is in doubt.
static void draw(const Arguments& arguments, const std::vector<applications::DecodedPrediction>& best) {
  std::vector<std::string> names;
  std::vector<double> scores;
  for (const auto& [name, description, score] : best) names.push_back(description), scores.push_back(score);
  const Tensor pixels = ktape::data::load_image(arguments.run.data, {.target_size = {{224, 224}}});
  plot::grid({plot::image_grid(pixels, {.title = "Picture", .width = 240}),
              plot::bars(names, scores, {.title = arguments.model, .y = {.label = "score", .max = 1}})},
             {.columns = 2})
      .save(arguments.run.out + "/classes.svg");
}

/// Classifies a picture without any training: reading, predicting and naming is all that a published
/// network needs.
int main(int argc, char** argv) try {
  Arguments arguments = read_arguments(argc, argv);
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "classify_image-quick";
  K::set_random_seed(arguments.run.seed);
  if (arguments.run.quick) arguments = prepare(folder, arguments);

  // The scores are the outputs of a softmax over 1000 classes, here as percentages.
  const std::vector<applications::DecodedPrediction> best = classify(arguments);
  for (const auto& [name, description, score] : best)
    std::printf("%6.2f %%  %s (%s)\n", 100 * score, description.c_str(), name.c_str());
  if (!arguments.run.out.empty()) draw(arguments, best);

  // A picture of the user has no known class, so only the files of `--quick` are checked.
  if (!arguments.run.quick) return 0;
  std::filesystem::remove_all(folder);
  const bool right = best[0].class_name == "n7" && best[0].score > 0.9;
  std::printf("expected class 7 above 90 %%: %s\n", right ? "yes" : "no");
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "classify_image: %s\n", error.what());
  return 1;
}
