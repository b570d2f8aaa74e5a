#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/training/callback.hpp>

namespace ktape::nn {

struct CSVLoggerOptions {
  std::string filename = {};  ///< required: the path of the file
  std::string separator = ",";
  bool append = false;  ///< whether to append to an existing file
};

/// Writes the logs of every epoch as a row of a CSV file, which is complete after each epoch. The columns are
/// "epoch", which counts from 0, and the names in the first epoch's logs, in alphabetical order; a value that
/// is missing in a later epoch is NA. Missing folders are created. Throws ValueError for a separator that is
/// not one character, or is a quote or line break, and for appending to a file with other columns; IOError if
/// the file cannot be written. Mirrors `keras.callbacks.CSVLogger`.
///
///     model.fit(x, y, {.epochs = 50, .callbacks = {nn::CSVLogger("log.csv")}});
///
/// For example:
///
///     nn::Sequential model({nn::Dense(1, {.kernel_initializer = "ones"})});
///     model.compile({.optimizer = nn::SGD(0.), .loss = "mse"});
///     model.fit(K::ones({4, 2}), K::ones({4, 1}),
///               {.epochs = 2,
///                .verbose = 0,
///                .callbacks = {nn::CSVLogger("log.csv", {.separator = ";"})}});
///     std::cout << data::load_text("log.csv");
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(const CSVLoggerOptions& options);
  template <class = void>
  explicit CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {})
      : CSVLogger(internal::with("CSVLogger", "filename", options, &CSVLoggerOptions::filename, filename)) {}
};

}  // namespace ktape::nn
