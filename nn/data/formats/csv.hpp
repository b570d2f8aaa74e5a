#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>

namespace ktape::data {

struct CsvOptions {
  std::optional<bool> header =
      {};  ///< whether the first line is a header; by default, if the line has a field that is no number
  char delimiter = ',';
  DType dtype = DType::Float32;
};

/// Reads the numbers of a text file, plain or gzip-compressed, as a tensor of shape (rows, fields in a row).
///
///     Tensor table = load_csv("digits.csv.gz");     load_csv("wine.csv", {.header = true, .delimiter = ';'})
///
/// Every row has as many fields as the first. Fields may be padded with blanks and quoted with ", in which a
/// delimiter is a part of the field. Numbers are read as C++ writes them, with "inf" and "nan", whatever the
/// locale; for an integer dtype numbers must be whole and in its range, for bool 0 or 1. An empty field is a
/// missing value: nan, as in `numpy.genfromtxt`, or an error for dtypes without nan. Lines end in LF or CR
/// LF; blank lines at the end are ignored. Lines at the beginning that start with # are comments, as
/// `numpy.savetxt` writes a header: after such comments a line of numbers is data even where `header` is set.
///
/// Throws IOError, naming the file, the line and the text of the line, for a file that is missing, not a
/// regular file, unreadable, truncated or without a row of numbers, for rows of different lengths, for a
/// field that is no number of the dtype, and for a gzip file that inflates to more than 64 MB and 32 times
/// its size; ValueError for a delimiter that could be part of a number.
///
///     std::ofstream("table.csv") << "a;b\n1;2\n3;4\n";
///     std::cout << data::load_csv("table.csv", {.header = true, .delimiter = ';'})
///               << "\n"
///               << data::load_text_lines("table.csv").size();
Tensor load_csv(const std::string& path, const CsvOptions& options = {});

}  // namespace ktape::data
