#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>

namespace ktape::data {

struct CsvOptions {
  std::optional<bool> header =
      {};  ///< whether the first line is skipped; when not given, whether it has a field that is no number
  char delimiter = ',';
  DType dtype = DType::Float32;
};

/// The numbers of a text file, plain or gzip-compressed, as a tensor of shape (rows, fields in a row).
///
///     Tensor table = load_csv("digits.csv.gz");     load_csv("wine.csv", {.header = true, .delimiter = ';'})
///
/// Every row has as many fields as the first. Fields may be padded with blanks and quoted with ". Numbers are
/// read as C++ writes them, with "inf" and "nan", whatever the locale; for an integer dtype they are whole
/// and in its range, for bool 0 or 1. Lines end in LF or CR LF; blank lines at the end are ignored.
///
/// Throws IOError, naming the file, the line and what was found there, for a file that is missing,
/// unreadable, truncated or without a row of numbers, for rows of different lengths and for a field that is
/// no such number; ValueError for a delimiter that could be part of a number.
Tensor load_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace ktape::data
