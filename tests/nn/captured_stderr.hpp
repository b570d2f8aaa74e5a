#pragma once
#include <iostream>
#include <sstream>
#include <string>

/// A scope that captures the output to std::cerr and std::cout: warnings, and the output of a run.
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
