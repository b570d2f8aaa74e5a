#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// Compares the code in comments of public headers with the sources in header_examples, which compile.
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the line without white space and comments.
std::string bare(const std::string& line) {
  std::string text;
  for (const char c : line.substr(0, line.find("  //")))
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
  return text;
}

/// Returns the parts of a line of an example: expressions that stand beside each other are separated by three
/// blanks, and `...` stands for code that the example leaves out.
std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  const std::regex gap("   +|\\.\\.\\. *\\}?$");
  const std::string code = line.substr(0, line.find("  //"));
  for (std::sregex_token_iterator part(code.begin(), code.end(), gap, -1), end; part != end; ++part) {
    std::string text = bare(*part);
    while (text.ends_with(';') || text.ends_with(',')) text.pop_back();
    if (!text.empty()) parts.push_back(text);
  }
  return parts;
}

/// Returns the headers that ktape.hpp includes.
std::set<std::string> public_headers() {
  std::set<std::string> unread{"ktape.hpp"}, read;
  const std::regex include("#include <ktape/([^>]+)>");
  while (!unread.empty()) {
    const std::string path = unread.extract(unread.begin()).value();
    read.insert(path);
    const std::string text = content_of(path);
    for (std::sregex_iterator found(text.begin(), text.end(), include), end; found != end; ++found)
      if (!read.contains((*found)[1])) unread.insert((*found)[1]);
  }
  return read;
}

/// Returns the lines of code in the comments of a header, without the blocks that print: these are the examples that
/// docs/ compiles and runs.
std::vector<std::string> lines_of_fragments(const std::string& header) {
  const std::regex code("\\s*///     (\\s*\\S.*)"), formula("\\s*///   \\S.*"), blank("\\s*///\\s*");
  std::vector<std::string> lines, block;
  bool in_formula = false;  // formulas and tables are indented by three blanks, code by five
  std::istringstream source(header);
  std::smatch found;
  for (std::string line; std::getline(source, line);) {
    const bool matches = std::regex_match(line, found, code);
    in_formula = std::regex_match(line, formula) || (in_formula && matches);
    if (matches && !in_formula) block.push_back(found[1]);
    else if (block.empty() || !std::regex_match(line, blank)) {
      const bool prints = std::any_of(block.begin(), block.end(), [](const std::string& each) {
        return each.find("std::cout") != std::string::npos;
      });
      if (!prints) lines.insert(lines.end(), block.begin(), block.end());
      block.clear();
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("the code in comments of public headers compiles") {
  std::string all;
  for (const auto& entry : std::filesystem::directory_iterator("tests/header_examples")) {
    std::istringstream source(content_of(entry.path()));
    for (std::string line; std::getline(source, line);) all += bare(line);
  }
  int examples = 0;
  for (const std::string& path : public_headers()) {
    for (const std::string& line : lines_of_fragments(content_of(path)))
      for (const std::string& part : parts_of(line)) {
        ++examples;
        CHECK_MESSAGE(all.find(part) != std::string::npos, path, " has code that stands in no test: ", line);
      }
  }
  CHECK(examples > 200);
}
