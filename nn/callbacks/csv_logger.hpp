#pragma once
#include <ktape/nn/callbacks/callback.hpp>

namespace ktape::nn {

struct CSVLoggerOptions {
  std::string separator = ",";
  bool append = false;  ///< goes on with a file that is there
};

/// Writes what every epoch reports as a row of a CSV file, which is complete after each epoch. The columns
/// are "epoch", which counts from 0, and the names that the first epoch reports, in alphabetical order; a
/// number that is missing in a later one is NA. Folders that are missing are made. Throws ValueError for a
/// separator that is not one character, or a quote or line break, and when the file that is to be gone on
/// with has other columns; IOError where it cannot be written. Mirrors `keras.callbacks.CSVLogger`.
class CSVLogger : public Callback {
 public:
  explicit CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {});
};

}  // namespace ktape::nn
