#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

/// Returns the text that `f` writes to the error stream.
template <class F>
std::string written(F f) {
  std::FILE* file = std::tmpfile();
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string text(static_cast<std::size_t>(std::ftell(file) < 0 ? 0 : ::lseek(::fileno(file), 0, SEEK_END)),
                   ' ');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}
