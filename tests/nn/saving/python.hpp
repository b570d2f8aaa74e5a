#pragma once
#include <cstdio>

#include "../data/files.hpp"

/// Returns whether Python has a module; prints a message if it has not.
inline bool has_python(const std::string& module) {
  const bool there =
      std::system(("/usr/bin/python3 -c 'import " + module + "' >/dev/null 2>&1").c_str()) == 0;
  if (!there) MESSAGE("skipped: Python has no module ", module);
  return there;
}

/// Runs a script in the folder of a test, and returns its output.
inline std::string python(const Files& files, const std::string& script) {
  const std::string path = files.write("script.py", "import h5py, json, numpy as np\n" + script);
  std::FILE* pipe = popen(("cd " + files.folder() + " && /usr/bin/python3 script.py 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, n);
  CAPTURE(output);
  REQUIRE(pclose(pipe) == 0);
  return output;
}
