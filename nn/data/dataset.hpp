#pragma once
#include <ktape/nn/core/named_tensors.hpp>
#include <ktape/nn/data/functions_of_parts.hpp>

#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace ktape::data {

class DatasetImpl;
class Stream;

/// An element of a dataset: some tensors, such as inputs and targets, which may have names.
///
///     data::Element element{K::ones({2}), K::zeros({1})};
///     std::cout << element.size() << " " << element[0];
using Element = nn::NamedTensors;

/// A value for a number of threads, or of prefetched elements, that lets the library choose. Mirrors
/// `tf.data.AUTOTUNE`.
///
///     auto squares = data::Dataset::range(4).map(
///         [](const data::Element& e) { return data::Element{e[0] * e[0]}; },
///         {.num_parallel_calls = data::AUTOTUNE});
///     for (const data::Element& e : squares) std::cout << e[0] << " ";
inline constexpr int AUTOTUNE = -1;

struct ShuffleOptions {
  std::optional<std::int64_t> seed =
      {};  ///< the seed; by default drawn from the global generator when `shuffle` is called
  bool reshuffle_each_iteration = true;  ///< whether each iteration has another order
};

/// Options of `Dataset::map`.
///
///     auto squares = data::Dataset::range(4).map(
///         [](const data::Element& e) { return data::Element{e[0] * e[0]}; },
///         {.num_parallel_calls = 2});
///     for (const data::Element& e : squares) std::cout << e[0].item<int>() << " ";
struct MapOptions {
  int num_parallel_calls = 1;  ///< threads that call the function, which must be thread-safe; AUTOTUNE:
                               ///< one for each processor
};

/// Options of `Dataset::interleave`.
///
///     auto mixed = data::Dataset::range(2).interleave(
///         [](const data::Element& e) {
///           return data::Dataset::from_tensors({e[0]}).repeat(2);
///         },
///         {.cycle_length = 2});
///     for (const data::Element& e : mixed) std::cout << e[0] << " ";
struct InterleaveOptions {
  std::int64_t cycle_length = 10;  ///< the number of datasets that are read in turn
  std::int64_t block_length = 1;   ///< the number of elements that are read from a dataset in its turn
  int num_parallel_calls = 1;      ///< the number of datasets that threads read ahead; AUTOTUNE:
                                   ///< one for each processor
};

/// Options of `Dataset::random`.
///
///     for (const data::Element& e : data::Dataset::random({.seed = 7}).take(1))
///       std::cout << e[0].dtype();
struct RandomOptions {
  std::optional<std::int64_t> seed = {};    ///< the seed; by default drawn from the global generator
  bool rerandomize_each_iteration = false;  ///< whether each iteration has other numbers
};

/// Options of `Dataset::batch`.
///
///     auto batches = data::Dataset::range(5).batch(2, {.drop_remainder = true});
///     for (const data::Element& batch : batches) std::cout << batch[0] << "\n";
struct BatchOptions {
  bool drop_remainder = false;  ///< whether a smaller last batch is left out
};

/// Options of `Dataset::padded_batch`.
///
///     auto rows = data::Dataset::range(1, 4).map([](const data::Element& e) {
///       return data::Element{K::ones({e[0].item<int>()})};
///     });
///     for (const data::Element& batch : rows.padded_batch(3, {.padding_values = {-1}}))
///       std::cout << batch[0];
struct PaddedBatchOptions {
  std::vector<Shape> padded_shapes =
      {};  ///< the shape of each tensor; None, the default, is the longest extent in the batch
  std::vector<Scalar> padding_values = {};  ///< for each tensor, or one for all tensors; 0 by default
  bool drop_remainder = false;
};

/// Options of `Dataset::window`.
///
///     for (const data::Element& window :
///          data::Dataset::range(5).window(3, {.shift = 1, .drop_remainder = true}))
///       std::cout << window[0] << " ";
struct WindowOptions {
  std::optional<std::int64_t> shift =
      {};                       ///< the distance between the first elements of windows; `size` by default
  std::int64_t stride = 1;      ///< the distance between the elements of a window
  bool drop_remainder = false;  ///< whether smaller windows at the end are left out
};

/// A sequence of elements, which need not fit into memory; each iteration reads the elements one after
/// another. Mirrors `tf.data.Dataset`.
///
///     data::Dataset train = data::Dataset::from_tensor_slices({x, y})
///                               .shuffle(10000, {.seed = 1})
///                               .batch(32)
///                               .map([](const data::Element& e) { return data::Element{e[0] / 255.f, e[1]}; })
///                               .prefetch(2);
///     for (const data::Element& batch : train) ...
///     model.fit(train, {.epochs = 5});
///
/// A transformation returns a new dataset and reads nothing yet. The elements depend on the seeds and on the
/// number of earlier iterations, never on threads. Functions of the user run without a tape and in inference;
/// random numbers that a function draws without a seed are determined by the position of the element. The
/// reader of an element gets the error that such a function throws. Transforming batches (`map` after
/// `batch`) is faster than transforming elements.
///
/// A Dataset is a handle: copies refer to one dataset. Any number of threads may read a dataset, each with
/// its iterators. All transformations throw ValueError for numbers out of range and functions that are empty.
///
///     auto batches =
///         data::Dataset::range(10)
///             .shuffle(10, {.seed = 1})
///             .map([](const data::Element& e) { return data::Element{e[0] * 10}; })
///             .batch(4);
///     for (const data::Element& batch : batches) std::cout << batch[0] << " ";
class Dataset {
 public:
  using Function = std::function<Element(const Element&)>;
  using Predicate = std::function<bool(const Element&)>;
  using Generator = std::function<std::optional<Element>()>;
  using ToDataset = std::function<Dataset(const Element&)>;
  using Reducer = std::function<Element(const Element& state, const Element& element)>;
  /// Returns the next state, and the element of the result.
  using Scanner = std::function<std::pair<Element, Element>(const Element& state, const Element& element)>;

  /// Makes a dataset of the rows of tensors with equal numbers of rows: x[0] and y[0], x[1] and y[1], ...
  /// Elements have the names of the tensors.
  static Dataset from_tensor_slices(const Element& tensors);
  /// Slices inputs, targets and, optionally, sample weights along their first axes. `fit` knows the roles of
  /// the tensors for any model.
  ///
  ///     Dataset::from_tensor_slices({left, right}, same)
  ///     Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}, {{"priority", priorities}})
  static Dataset from_tensor_slices(const Element& x, const Element& y, const Element& sample_weight = {});
  /// Makes a dataset of one element, the tensors.
  static Dataset from_tensors(const Element& tensors);
  /// Makes a dataset of the elements that a callable returns until it returns no element. Each iteration
  /// calls a copy of the callable, so that a counter in the callable begins again.
  static Dataset from_generator(Generator generator);
  /// Makes a dataset of the int64 scalars start, start + step, ... up to, not including, stop.
  static Dataset range(std::int64_t stop);
  static Dataset range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);
  /// Makes an infinite dataset of random int64 scalars from 0 up to, not including, 2^32.
  static Dataset random(const RandomOptions& options = {});
  /// Makes a dataset whose elements join the tensors of one element of each dataset, up to the end of the
  /// shortest dataset. The datasets become parts of the element, as in from_tensor_slices: two or three are inputs,
  /// targets and weights for the built-in steps of a model; see `nn::Batch` for overridden steps.
  static Dataset zip(const std::vector<Dataset>& datasets);

  /// Returns the elements of this dataset, followed by the elements of the other.
  Dataset concatenate(const Dataset& other) const;
  /// Applies the function to each element, in order. The function also determines the names of the tensors:
  ///
  ///     .map([](data::Element e) {
  ///       e["image"] = e["image"] / 255.f;
  ///       return e;
  ///     })
  ///
  /// A function of several arguments gets the parts of an element (of `zip`, of from_tensor_slices), or its
  /// tensors: each as a Tensor or an Element. A pair or a tuple that it returns becomes the parts of the result. So do
  /// functions of `filter`, `take_while`, `flat_map` and `interleave`.
  ///
  ///     .map([](const Tensor& image, const Tensor& label) { return std::pair(image / 255.f, label); })
  Dataset map(Function function, const MapOptions& options = {}) const;
  template <detail::TakesParts F>
  Dataset map(F function, const MapOptions& options = {}) const {
    return map(Function(detail::of_parts<Element>("Dataset.map", std::move(function))), options);
  }
  /// Calls the function with a state and each element, in order. The function returns the next state and an
  /// element of the result.
  Dataset scan(const TensorList& initial_state, Scanner function) const;
  /// Keeps the elements for which the predicate is true.
  Dataset filter(Predicate predicate) const;
  template <detail::TakesParts F>
  Dataset filter(F predicate) const {
    return filter(Predicate(detail::of_parts<bool>("Dataset.filter", std::move(predicate))));
  }
  /// Keeps the elements before the first element for which the predicate is false.
  Dataset take_while(Predicate predicate) const;
  template <detail::TakesParts F>
  Dataset take_while(F predicate) const {
    return take_while(Predicate(detail::of_parts<bool>("Dataset.take_while", std::move(predicate))));
  }
  /// Keeps the elements that differ from all earlier elements. All results are stored in memory.
  Dataset unique() const;
  /// Adds the number of the element, an int64 scalar, as the first tensor of each element.
  Dataset enumerate(std::int64_t start = 0) const;
  /// Calls the function for each element, and joins the datasets that the function returns.
  Dataset flat_map(ToDataset function) const;
  template <detail::TakesParts F>
  Dataset flat_map(F function) const;
  /// Calls the function for each element, as `flat_map` does, but reads `cycle_length` of the datasets in
  /// turn, `block_length` elements at a time. The dataset of the next element replaces a dataset that ends.
  ///
  ///     auto lines = data::Dataset::range(files.size()).interleave(
  ///         [=](const data::Element& i) { return data::text_line_dataset(files[i[0].item<int>()], number); },
  ///         {.cycle_length = 4, .num_parallel_calls = data::AUTOTUNE});
  Dataset interleave(ToDataset function, const InterleaveOptions& options = {}) const;
  template <detail::TakesParts F>
  Dataset interleave(F function, const InterleaveOptions& options = {}) const;
  /// Returns the elements in random order: each is drawn from a buffer, and the next element takes its place.
  /// The order is uniform if the buffer is as large as the dataset.
  Dataset shuffle(std::int64_t buffer_size, const ShuffleOptions& options = {}) const;
  /// Stacks batch_size elements of equal shape along a new first axis. Reading throws ValueError if shapes
  /// differ.
  Dataset batch(std::int64_t batch_size, const BatchOptions& options = {}) const;
  /// Stacks batch_size elements that may differ in shape: shorter axes are padded at the end.
  Dataset padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options = {}) const;
  /// Splits each element into its rows.
  Dataset unbatch() const;
  /// Repeats the dataset `count` times, or without end.
  Dataset repeat(std::optional<std::int64_t> count = {}) const;
  /// Keeps the first `count` elements; all elements with -1.
  Dataset take(std::int64_t count) const;
  /// Leaves out the first `count` elements; all elements with -1.
  Dataset skip(std::int64_t count) const;
  /// Keeps every num_shards-th element, beginning with element `index`: the part of one of num_shards
  /// processes. Random transformations before `shard` need a seed, so that all processes divide one sequence.
  /// Random numbers after `shard` differ between shards.
  Dataset shard(std::int64_t num_shards, std::int64_t index) const;
  /// Stores the elements in memory during the first complete iteration; later iterations read the memory.
  Dataset cache() const;
  /// Stacks the elements of each window of the sequence along a new first axis, as TensorFlow's `window`
  /// followed by `batch`.
  Dataset window(std::int64_t size, const WindowOptions& options = {}) const;
  /// Lets a thread read up to `buffer_size` elements ahead; a few elements with AUTOTUNE. The thread ends
  /// with the iterator.
  Dataset prefetch(std::int64_t buffer_size) const;

  /// Reads all elements and returns the last state. The function computes the next state from a state and an
  /// element.
  ///
  ///     Tensor sum = numbers.reduce(K::zeros({}), [](const data::Element& sum, const data::Element& e) {
  ///       return data::Element{sum[0] + e[0]};
  ///     })[0];
  Element reduce(const TensorList& initial_state, Reducer function) const;

  /// Returns the number of elements; none if the number is unknown or infinite.
  std::optional<std::int64_t> cardinality() const;
  /// Returns whether the dataset is known to have no end.
  bool infinite() const;

  class Iterator;
  /// Begins an iteration, whose number is at least `iteration`, for a training that is resumed.
  Iterator begin(std::int64_t iteration = 0) const;
  std::default_sentinel_t end() const { return {}; }

  explicit Dataset(std::shared_ptr<const DatasetImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const DatasetImpl>& shared() const { return impl_; }

 private:
  std::shared_ptr<const DatasetImpl> impl_;
};

template <detail::TakesParts F>
Dataset Dataset::flat_map(F function) const {
  return flat_map(ToDataset(detail::of_parts<Dataset>("Dataset.flat_map", std::move(function))));
}
template <detail::TakesParts F>
Dataset Dataset::interleave(F function, const InterleaveOptions& options) const {
  return interleave(ToDataset(detail::of_parts<Dataset>("Dataset.interleave", std::move(function))), options);
}

/// An iterator over a dataset, for one pass; equal to `end()` at the end.
class Dataset::Iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  using reference = const Element&;
  using pointer = const Element*;

  explicit Iterator(std::unique_ptr<Stream> stream);
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();

  const Element& operator*() const { return element_; }
  const Element* operator->() const { return &element_; }
  Iterator& operator++();
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& a, std::default_sentinel_t) { return !a.stream_; }

 private:
  std::unique_ptr<Stream> stream_;  ///< none at the end
  Element element_;
};

}  // namespace ktape::data
