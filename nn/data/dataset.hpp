#pragma once
#include <ktape/nn/core/named_tensors.hpp>

#include <functional>
#include <iterator>
#include <optional>
#include <utility>

namespace ktape::data {

class DatasetImpl;
class Stream;

/// An element of a dataset: some tensors, such as inputs and targets, which may have names.
using Element = nn::NamedTensors;

/// A value for numbers of threads, and of elements made ahead, that lets the library choose. Mirrors
/// `tf.data.AUTOTUNE`.
inline constexpr int AUTOTUNE = -1;

struct ShuffleOptions {
  std::optional<std::int64_t> seed =
      {};  ///< drawn from the global generator, when `shuffle` is called, by default
  bool reshuffle_each_iteration = true;  ///< another order each time the dataset is read
};

struct MapOptions {
  int num_parallel_calls = 1;  ///< threads that call the function, which must be thread-safe; AUTOTUNE:
                               ///< one for each processor
};

struct InterleaveOptions {
  std::int64_t cycle_length = 10;  ///< how many datasets are read in turn
  std::int64_t block_length = 1;   ///< elements that are taken from a dataset in its turn
  int num_parallel_calls = 1;      ///< how many datasets are read ahead, each by a thread; AUTOTUNE:
                                   ///< one for each processor
};

struct RandomOptions {
  std::optional<std::int64_t> seed = {};    ///< drawn from the global generator by default
  bool rerandomize_each_iteration = false;  ///< other numbers each time the dataset is read
};

struct BatchOptions {
  bool drop_remainder = false;  ///< leaves out a last batch that is smaller
};

struct PaddedBatchOptions {
  std::vector<Shape> padded_shapes =
      {};  ///< the shape of each tensor; None is the longest extent in the batch; by default all are
  std::vector<Scalar> padding_values = {};  ///< for each tensor, or one for all; 0 by default
  bool drop_remainder = false;
};

struct WindowOptions {
  std::optional<std::int64_t> shift =
      {};                       ///< from a window's first element to that of the next; `size` by default
  std::int64_t stride = 1;      ///< from element to element in a window
  bool drop_remainder = false;  ///< leaves out the windows at the end that are smaller
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
/// A transformation returns a new dataset and reads nothing yet. The elements depend on the seeds and on how
/// often the dataset has been read before, never on threads: functions of the user run without a tape and in
/// inference, and random numbers that they draw without a seed follow from the place of the element. An error
/// in such a function is thrown to the reader, in place of the element. Transforming batches (`map` after
/// `batch`) is faster than transforming elements.
///
/// A Dataset is a handle: copies refer to one dataset. Any number of threads may read a dataset, each with
/// its iterators. All transformations throw ValueError for numbers out of range and functions that are empty.
class Dataset {
 public:
  using Function = std::function<Element(const Element&)>;
  using Predicate = std::function<bool(const Element&)>;
  using Generator = std::function<std::optional<Element>()>;
  using ToDataset = std::function<Dataset(const Element&)>;
  using Reducer = std::function<Element(const Element& state, const Element& element)>;
  /// Returns the next state, and the element of the result.
  using Scanner = std::function<std::pair<Element, Element>(const Element& state, const Element& element)>;

  /// The rows of the tensors, which have as many each: x[0] and y[0], x[1] and y[1], ... Elements have the
  /// names of the tensors.
  static Dataset from_tensor_slices(const Element& tensors);
  /// Slices inputs, targets and, perhaps, weights along their first axes. `fit` knows their roles for any
  /// model.
  ///
  ///     Dataset::from_tensor_slices({left, right}, same)
  ///     Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}, {{"priority", priorities}})
  static Dataset from_tensor_slices(const Element& x, const Element& y, const Element& sample_weight = {});
  /// Makes a dataset of one element, the tensors.
  static Dataset from_tensors(const Element& tensors);
  /// Gives the elements that the callable returns until it returns none. Each iteration calls a copy of the
  /// callable, so that a callable that keeps a counter begins again.
  static Dataset from_generator(Generator generator);
  /// start, start + step, ... up to, not including, stop: int64 scalars.
  static Dataset range(std::int64_t stop);
  static Dataset range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);
  /// Random numbers from 0 up to, not including, 2^32, without an end: int64 scalars.
  static Dataset random(const RandomOptions& options = {});
  /// The tensors of all datasets' elements, as long as each has one. Of two or three datasets they are in
  /// parts, see from_tensor_slices: inputs, targets and weights.
  static Dataset zip(const std::vector<Dataset>& datasets);

  /// Returns the elements of this dataset, then those of the other.
  Dataset concatenate(const Dataset& other) const;
  /// Gives the results of the function for each element, in order. The function also names the tensors:
  ///
  ///     .map([](data::Element e) {
  ///       e["image"] = e["image"] / 255.f;
  ///       return e;
  ///     })
  Dataset map(Function function, const MapOptions& options = {}) const;
  /// Calls the function with a state and each element in order; the function returns the next state and an
  /// element of the result.
  Dataset scan(const TensorList& initial_state, Scanner function) const;
  /// The elements for which the predicate is true.
  Dataset filter(Predicate predicate) const;
  /// The elements up to the first for which the predicate is not true.
  Dataset take_while(Predicate predicate) const;
  /// Returns the elements that differ from all before: each is kept in memory.
  Dataset unique() const;
  /// Puts the number of the element, an int64 scalar, before the tensors of each element.
  Dataset enumerate(std::int64_t start = 0) const;
  /// Returns the elements of the dataset that the function returns for each element, one dataset after
  /// another.
  Dataset flat_map(ToDataset function) const;
  /// As `flat_map`, but reads `cycle_length` datasets in turn, `block_length` elements at a time; the dataset
  /// of the next element replaces a dataset that ends.
  ///
  ///     auto lines = data::Dataset::range(files.size()).interleave(
  ///         [=](const data::Element& i) { return data::text_line_dataset(files[i[0].item<int>()], number); },
  ///         {.cycle_length = 4, .num_parallel_calls = data::AUTOTUNE});
  Dataset interleave(ToDataset function, const InterleaveOptions& options = {}) const;
  /// Returns the elements in random order: each is drawn from a buffer that the next ones fill. For a uniform
  /// order the buffer is as large as the dataset.
  Dataset shuffle(std::int64_t buffer_size, const ShuffleOptions& options = {}) const;
  /// Stacks batch_size elements of equal shape along a new first axis. Reading throws ValueError if shapes
  /// differ.
  Dataset batch(std::int64_t batch_size, const BatchOptions& options = {}) const;
  /// As `batch`, for elements that differ in shape: the end of every axis is filled up.
  Dataset padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options = {}) const;
  /// Returns the rows of every element.
  Dataset unbatch() const;
  /// Repeats the dataset `count` times, or without end.
  Dataset repeat(std::optional<std::int64_t> count = {}) const;
  /// Returns the first elements; all with -1.
  Dataset take(std::int64_t count) const;
  /// Gives all but the first `count` elements; -1 gives none.
  Dataset skip(std::int64_t count) const;
  /// Gives every num_shards-th element, from the index-th on: the part of one of num_shards processes. Random
  /// transformations before `shard` need a seed, so that all processes divide one sequence; random numbers
  /// after `shard` differ between shards.
  Dataset shard(std::int64_t num_shards, std::int64_t index) const;
  /// Keeps the elements in memory once all have been read.
  Dataset cache() const;
  /// Stacks the elements of each window of the sequence along a new first axis: the result of TensorFlow's
  /// `window` and then `batch` of each window.
  Dataset window(std::int64_t size, const WindowOptions& options = {}) const;
  /// Lets a thread make up to `buffer_size` elements ahead, with AUTOTUNE a few. The thread ends with the
  /// iterator.
  Dataset prefetch(std::int64_t buffer_size) const;

  /// Reads all elements and returns the last state: the function makes a state of the last state and an
  /// element.
  ///
  ///     Tensor sum = numbers.reduce(K::zeros({}), [](const data::Element& sum, const data::Element& e) {
  ///       return data::Element{sum[0] + e[0]};
  ///     })[0];
  Element reduce(const TensorList& initial_state, Reducer function) const;

  /// Returns how many elements there are; none where that is not known or there is no end.
  std::optional<std::int64_t> cardinality() const;
  /// Returns whether the dataset is known to have no end.
  bool infinite() const;

  class Iterator;
  /// Begins to read. `iteration` is how often the dataset has been read at least, for a training that is
  /// resumed.
  Iterator begin(std::int64_t iteration = 0) const;
  std::default_sentinel_t end() const { return {}; }

  explicit Dataset(std::shared_ptr<const DatasetImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const DatasetImpl>& shared() const { return impl_; }

 private:
  std::shared_ptr<const DatasetImpl> impl_;
};

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
