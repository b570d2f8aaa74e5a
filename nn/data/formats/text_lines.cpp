#include <ktape/nn/data/formats/text.hpp>
#include <ktape/nn/data/stream.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/ops/random/random.hpp>

#include <algorithm>

namespace ktape::data {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// A reader of the lines of a file.
class Lines {
 public:
  Lines(const char* op, const std::string& path) : file_(op, path) {
    fill();
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  bool next(std::string& line) {
    std::size_t end = text_.find('\n', at_);
    for (std::size_t seen = text_.size(); end == std::string::npos && fill(); seen = text_.size())
      end = text_.find('\n', seen - passed_);
    if (at_ == text_.size()) return false;
    line.assign(text_, at_, std::min(end, text_.size()) - at_);
    at_ = std::min(end, text_.size() - 1) + 1;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }

 private:
  /// Reads more of the file, and drops the lines that have been returned.
  bool fill() {
    constexpr std::size_t step = std::size_t{1} << 16;
    passed_ = at_;
    text_.erase(0, at_);
    at_ = 0;
    const std::size_t size = text_.size(), more = std::max(step, size);
    text_.resize(size + more);
    text_.resize(size + file_.read(&text_[size], more));
    return text_.size() > size;
  }

  InputFile file_;
  std::string text_;
  std::size_t at_ = 0, passed_ = 0;
};

using LineFunction = std::function<std::optional<Element>(const std::string&)>;

class LineDataset final : public DatasetImpl {
 public:
  LineDataset(std::string path, LineFunction function)
      : path_(std::move(path)),
        function_(std::make_shared<const LineFunction>(std::move(function))),
        key_(backend::random_key()) {}
  std::int64_t cardinality() const override { return unknown; }
  std::unique_ptr<Stream> open(std::uint64_t iteration) const override {
    return std::make_unique<Reading>(path_, function_, derived_key(key_, iteration));
  }

 private:
  class Reading final : public Stream {
   public:
    Reading(const std::string& path, std::shared_ptr<const LineFunction> function, std::uint64_t key)
        : lines_("text_line_dataset", path), function_(std::move(function)), key_(key) {}
    bool next(Element& out) override {
      bool taken = false;
      const auto make = [&] {
        std::optional<Element> made = (*function_)(line_);
        taken = made.has_value();
        return std::move(made).value_or(Element());
      };
      while (!taken && lines_.next(line_)) out = called(make, derived_key(key_, count_++));
      if (taken) expect_values("text_line_dataset", out);
      return taken;
    }

   private:
    Lines lines_;
    std::shared_ptr<const LineFunction> function_;
    std::uint64_t key_, count_ = 0;
    std::string line_;
  };

  std::string path_;
  std::shared_ptr<const LineFunction> function_;
  std::uint64_t key_;
};

}  // namespace

std::string load_text(const std::string& path) {
  std::string text = InputFile("load_text", path).rest();
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

std::vector<std::string> load_text_lines(const std::string& path) {
  Lines lines("load_text_lines", path);
  std::vector<std::string> all;
  for (std::string line; lines.next(line);) all.push_back(line);
  return all;
}

Dataset text_line_dataset(const std::string& path, LineFunction function) {
  if (!function) fail("[text_line_dataset] the function must be a callable: received none");
  return made<LineDataset>(path, std::move(function));
}

}  // namespace ktape::data
