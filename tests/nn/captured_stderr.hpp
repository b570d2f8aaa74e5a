#pragma once
#include <iostream>
#include <sstream>
#include <string>

/// Keeps what is written to std::cerr, and to std::cout, while it lives: warnings beside what a run prints.
class CapturedStderr {
 public:
  CapturedStderr() : cerr_(std::cerr.rdbuf(text_.rdbuf())), cout_(std::cout.rdbuf(printed_.rdbuf())) {}
  ~CapturedStderr() {
    std::cerr.rdbuf(cerr_);
    std::cout.rdbuf(cout_);
  }
  CapturedStderr(const CapturedStderr&) = delete;

  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_, printed_;
  std::streambuf *cerr_, *cout_;
};
