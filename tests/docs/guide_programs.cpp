// Turns a guide into a source: guide_programs GUIDE.md SOURCE.cpp
//
// A guide is Markdown. The line before a block of C++ says how the block is tested:
//
//   <!-- run -->                a program, or the body of its main(); the next ```text block is what the program prints
//   <!-- run: continued -->     more of the program before, with the text that this part prints
//   <!-- run: N processes -->   a program that mpirun starts
//   <!-- ..., numbers vary -->  after each of these words: numbers in the text depend on the machine and are not compared
//   <!-- given: PARAMETERS -->  a snippet that uses these variables, which is compiled and not run
//   <!-- no test: REASON -->    a block that is not compiled
//   (nothing)                   a snippet that is compiled and not run
//
// Each block becomes a function. `#line` lets the compiler name lines of the guide.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Block {
  std::string directive;  ///< the text of the comment before the block; empty without a comment
  int line = 0;           ///< the line of the fence
  std::vector<std::string> code;
  int text_line = 0;  ///< the line of the fence of the printed text; 0 without such a text
  std::string text = {};

  bool runs() const { return directive.rfind("run", 0) == 0; }
  bool continues() const { return directive.rfind("run: continued", 0) == 0; }
  int processes() const { return directive.find(" processes") == std::string::npos ? 1 : directive[5] - '0'; }
  bool numbers_vary() const { return runs() && directive.find(", numbers vary") != std::string::npos; }
  bool left_out() const { return directive.rfind("no test: ", 0) == 0; }
};

struct Guide {
  std::string path, name;
  std::vector<Block> blocks;
};

[[noreturn]] void fail(const Guide& guide, int line, const std::string& rule) {
  throw std::runtime_error(guide.path + ":" + std::to_string(line) + ": " + rule);
}

std::string directive_of(const std::string& line) {
  static const std::regex comment(
      "<!-- (run(: continued|: [2-8] processes)?(, numbers vary)?|given: .*|no test: .*) -->");
  std::smatch match;
  return std::regex_match(line, match, comment) ? match[1].str() : "";
}

void check(const Guide& guide, const Block& block) {
  const bool shows_text = block.text_line > 0;
  if (block.runs() && !shows_text)
    fail(guide, block.line, "a program that runs needs a ```text block after it");
}

Guide read(const std::string& path) {
  Guide guide{path, path.substr(path.rfind('/') + 1), {}};
  guide.name.erase(guide.name.rfind('.'));
  std::ifstream file(path);
  std::string line, before;
  int number = 0;
  enum { Prose, Code, Text, Other } within = Prose;
  while (std::getline(file, line)) {
    ++number;
    const bool fence = line.rfind("```", 0) == 0;
    if (within != Prose && fence) within = Prose, before.clear();
    else if (within == Code) guide.blocks.back().code.push_back(line);
    else if (within == Text) guide.blocks.back().text += line + "\n";
    else if (within == Prose && line == "```cpp") {
      guide.blocks.push_back({before, number, {}});
      within = Code;
    } else if (within == Prose && line == "```text" && !guide.blocks.empty() && guide.blocks.back().runs() &&
               guide.blocks.back().text_line == 0) {
      guide.blocks.back().text_line = number;
      within = Text;
    } else if (within == Prose && fence) {
      within = Other;
    } else if (within == Prose) {
      before = directive_of(line);
    }
  }
  if (guide.blocks.empty()) throw std::runtime_error(path + ": the guide has no block of C++");
  for (const Block& block : guide.blocks) check(guide, block);
  return guide;
}

bool is_include(const std::string& line) { return line.rfind("#include", 0) == 0; }

bool has_main(const Block& block) {
  for (const std::string& line : block.code)
    if (line.rfind("int main(", 0) == 0) return true;
  return false;
}

void write_line_directive(std::ostream& out, const Guide& guide, int line) {
  out << "#line " << line << " \"" << guide.path << "\"\n";
}

/// Writes the code. The name of `main` is replaced, and a value returned, as only the real main() may leave it out.
void write_code(std::ostream& out, const Guide& guide, const Block& block) {
  write_line_directive(out, guide, block.line + 1);
  bool in_main = false;
  for (std::string line : block.code) {
    if (is_include(line)) line.clear();
    if (line.rfind("int main(", 0) == 0) line.replace(4, 4, "guide_main"), in_main = true;
    if (in_main && line == "}") line = "return 0; }", in_main = false;
    out << line << "\n";
  }
}

std::string function_of(const Block& block) { return "block_" + std::to_string(block.line); }

void write_snippet(std::ostream& out, const Guide& guide, const Block& block) {
  const bool given = block.directive.rfind("given: ", 0) == 0;
  if (has_main(block)) {
    out << "namespace " << function_of(block) << " {\n";
    write_code(out, guide, block);
    out << "}\n";
    return;
  }
  out << "[[maybe_unused]] void " << function_of(block) << "(" << (given ? block.directive.substr(7) : "")
      << ") {\n";
  write_code(out, guide, block);
  out << "}\n";
}

/// Writes the block at `first` and the blocks that continue its program, and returns the position after them.
std::size_t write_program(std::ostream& out, const Guide& guide, std::size_t first) {
  const Block& head = guide.blocks[first];
  const bool whole = has_main(head);
  std::string parts;
  std::size_t next = first;
  if (whole) out << "namespace " << function_of(head) << " {\n";
  else out << "void " << function_of(head) << "() {\n";
  do {
    const Block& block = guide.blocks[next];
    write_code(out, guide, block);
    parts += "{" + std::to_string(block.text_line) + (block.numbers_vary() ? ", true" : ", false") +
             ", R\"text(" + block.text + ")text\"},\n";
    ++next;
    if (next < guide.blocks.size() && guide.blocks[next].continues()) {
      if (whole) fail(guide, guide.blocks[next].line, "a program with main() cannot be continued");
      out << "docs::end_part();\n";
    } else {
      break;
    }
  } while (true);
  out << "}\nconst docs::Program program_" << head.line << "(\"" << guide.name << "\", " << head.line << ", "
      << head.processes() << ", "
      << (whole ? function_of(head) + "::guide_main" : "[] { " + function_of(head) + "(); return 0; }")
      << ", {\n"
      << parts << "});\n";
  return next;
}

void write(const Guide& guide, std::ostream& out) {
  std::set<std::string> includes{"#include \"guides.hpp\""};
  for (const Block& block : guide.blocks)
    if (!block.left_out())
      std::copy_if(block.code.begin(), block.code.end(), std::inserter(includes, includes.end()), is_include);
  for (const std::string& include : includes) out << include << "\n";
  out << "namespace {\n";
  for (std::size_t i = 0; i < guide.blocks.size();) {
    const Block& block = guide.blocks[i];
    if (block.continues()) fail(guide, block.line, "there is no program before that could be continued");
    if (block.runs()) {
      i = write_program(out, guide, i);
      continue;
    }
    if (!block.left_out()) write_snippet(out, guide, block);
    ++i;
  }
  out << "}\n";
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: guide_programs GUIDE.md SOURCE.cpp");
  const Guide guide = read(argv[1]);
  std::ofstream out(argv[2]);
  write(guide, out);
  out.close();
  return out ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
