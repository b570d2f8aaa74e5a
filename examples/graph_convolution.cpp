// A graph convolutional network (Kipf and Welling) classifies the papers of a generated citation graph into
// fields. Its inputs are a few words of each paper and the citations as a sparse matrix; a few papers have
// labels.
// Expect 0.85 of the papers without a label; a model of the words alone gets less than half.
// Try next: one graph layer, or four; fewer labels; attention over the neighbours in place of their mean.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <set>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::SparseTensor, ktape::Tensor, ktape::Variable;

/// A thousand papers of five fields; ten papers of each field have a label, which is 5 %.
static constexpr int papers = 1000, fields = 5, words = 100, labels_of_a_field = 10;

/// The graph: features, classes and edges. A sparse matrix stores the few thousand edges, not a million
/// zeros.
struct Citations {
  Tensor words;             ///< (papers, words): 1 where a paper has a word
  Tensor field;             ///< (papers,): the class of each paper
  SparseTensor neighbours;  ///< (papers, papers): D^-1/2 (A + I) D^-1/2, of citations in both directions
};

/// Generates papers that mostly cite papers of their field, and have words of their field and of others.
/// Words alone are weak evidence: a quarter of them belongs to the field, the rest is random.
static Citations citations(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<int> any_paper(0, papers - 1), any_word(0, words - 1);
  std::bernoulli_distribution own_field(0.8), own_word(0.25);
  xt::xarray<float> occurs = xt::zeros<float>({papers, words});
  std::vector<int> field;
  std::set<std::pair<int, int>> edges;
  for (int i = 0; i < papers; ++i) {
    field.push_back(i % fields);
    edges.insert({i, i});
    for (int k = 0; k < 10; ++k)
      occurs(i, own_word(random) ? any_word(random) / fields * fields + field[static_cast<std::size_t>(i)]
                                 : any_word(random)) = 1;
    for (int k = 0; k < 2; ++k) {
      const int other = any_paper(random);
      const int cited = own_field(random) ? other / fields * fields + i % fields : other;
      edges.insert({i, cited}), edges.insert({cited, i});
    }
  }

  // The matrix is A + I, scaled by the root of both degrees: D^-1/2 (A + I) D^-1/2. The edge of a paper to
  // itself keeps its own words, and the scaling keeps papers with many citations from drowning the others.
  std::vector<double> degree(papers);
  for (const auto& [from, to] : edges) degree[static_cast<std::size_t>(from)] += 1;
  std::vector<std::vector<std::int64_t>> places;
  std::vector<float> values;
  for (const auto& [from, to] : edges) {
    places.push_back({from, to});
    values.push_back(static_cast<float>(
        1 / std::sqrt(degree[static_cast<std::size_t>(from)] * degree[static_cast<std::size_t>(to)])));
  }
  return {K::constant(occurs), K::constant(field, {.dtype = "int32"}),
          SparseTensor(places, values, {papers, papers})};
}

/// A layer that averages the features of each paper's neighbours and multiplies by a kernel: N x W + b. The
/// product x W comes first, since W makes the features fewer. Two such layers mix information of
/// neighbours' neighbours.
struct GraphConvolutionImpl : nn::LayerImpl {
  SparseTensor neighbours;
  std::int64_t units;
  Variable kernel, bias;
  GraphConvolutionImpl(const SparseTensor& neighbours, std::int64_t units)
      : nn::LayerImpl("GraphConvolution"), neighbours(neighbours), units(units) {}
  void build(const Shape& input) override {
    kernel = add_weight("kernel", {input[-1], units});
    bias = add_weight("bias", {units}, {.initializer = "zeros"});
  }
  Tensor call(const Tensor& x) override {
    // The edges are float32, while a mixed policy gives x and the kernel 16 bits.
    return K::dot(neighbours, K::cast(K::dot(x, kernel), "float32")) + K::cast(bias, "float32");
  }
};
using GraphConvolution = nn::LayerOf<GraphConvolutionImpl>;

/// Returns a network of two graph layers; dropout is strong, because fifty labels are easily learned by
/// heart.
static nn::Sequential convolutions(const SparseTensor& neighbours) {
  return nn::Sequential({
      nn::Dropout(0.5),
      GraphConvolution(neighbours, 32),
      nn::ReLU(),
      nn::Dropout(0.5),
      GraphConvolution(neighbours, fields),
  });
}

/// Trains on the papers with label (told = 1), all in one batch, and returns the accuracy on the others.
/// Papers cannot be split into batches, as the matrix joins them all. Sample weights of 0 hide the classes
/// of unlabelled papers from the loss, and `weighted_metrics` respects the weights, while `metrics` would
/// not. Shuffling is off, since rows must match the matrix.
static double trained(const nn::Sequential& model, const Citations& graph, const Tensor& told, int epochs) {
  model.compile({.optimizer = nn::Adam(0.01),
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .weighted_metrics = {"accuracy"}});
  model.fit(graph.words, graph.field,
            {.batch_size = papers, .epochs = epochs, .verbose = 0, .shuffle = false, .sample_weight = told});
  return model.evaluate(graph.words, graph.field,
                        {.batch_size = papers, .verbose = 0, .sample_weight = 1.f - told})["accuracy"];
}

/// Compares words alone with words and citations.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 200, .quick_epochs = 60});
  K::set_random_seed(run.seed);

  // Fields follow each other in turn, so the first fifty papers are ten of each field.
  const Citations graph = citations(run.seed);
  const Tensor told = K::cast(K::arange(0, papers) < fields * labels_of_a_field, "float32");

  // Both networks have the same widths. The gain of the second comes from the neighbours, whose words are
  // used without labels (semi-supervised learning).
  const nn::Sequential by_words(
      {nn::Dense(32, {.activation = "relu"}), nn::Dropout(0.5), nn::Dense(fields, {.dtype = "float32"})});
  const nn::Sequential by_graph = convolutions(graph.neighbours);
  const double words_alone = trained(by_words, graph, told, run.epochs);
  const double accuracy = trained(by_graph, graph, told, run.epochs), expected = run.quick ? 0.7 : 0.85;
  std::printf("%d papers, %lld citations in both directions\n", papers,
              static_cast<long long>((graph.neighbours.values().size() - papers) / 2));
  std::printf("accuracy of the words alone: %.4f\n", words_alone);
  std::printf("accuracy on papers of unknown field: %.4f (expected: %.2f or more)\n", accuracy, expected);
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "graph_convolution: %s\n", error.what());
  return 1;
}
