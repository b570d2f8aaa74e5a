#include <ktape/nn/callbacks/csv_logger.hpp>
#include <ktape/nn/callbacks/internal/python_format.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/output_file.hpp>

#include <algorithm>

namespace ktape::nn {
namespace {

class CSVLoggerImpl final : public CallbackImpl {
 public:
  CSVLoggerImpl(const std::string& filename, const CSVLoggerOptions& options)
      : filename_(filename), options_(options) {
    const std::string& separator = options.separator;
    if (separator.size() != 1 || separator.find_first_of("\"\r\n") != std::string::npos)
      fail("[CSVLogger] separator must be one character, no quote and no line break: received separator=\"",
           separator, '"');
  }

  std::string class_name() const override { return "CSVLogger"; }
  bool writes_files() const override { return true; }

  void on_train_begin(const Logs&) override {
    file_.emplace("CSVLogger", filename_);
    begun_ = options_.append ? file_->size() : 0;
    names_.clear();
  }

  void on_epoch_end(int epoch, const Logs& logs) override {
    std::string text;
    if (names_.empty()) text = begin(logs);
    text += std::to_string(epoch);
    for (const std::string& name : names_)
      text += options_.separator + (logs.contains(name) ? python_repr(logs.at(name)) : "NA");
    file_->append(text + '\n');
  }

  void on_train_end(const Logs&) override { file_.reset(); }

  /// Saves the size of the file, so that a resumed training cuts off the rows that were written after the
  /// backup.
  void state(Archive& state) override {
    if (file_ && !names_.empty() && !state.sets()) begun_ = file_->size();
    state("size", begun_);
    state("names", names_);
    if (file_ && state.sets() && !names_.empty()) file_->cut(begun_);
  }

 private:
  /// Returns the header, or an empty text for a file that has a header.
  std::string begin(const Logs& logs) {
    for (const auto& [name, value] : logs) names_.push_back(name);
    std::sort(names_.begin(), names_.end());
    std::string header = "epoch";
    for (const std::string& name : names_) header += options_.separator + quoted(name);
    file_->cut(begun_);
    if (begun_ == 0) return header + '\n';
    expect_header(header);
    return {};
  }

  void expect_header(const std::string& header) const {
    const data::RandomFile file("CSVLogger", filename_);
    std::string line(std::min<std::uint64_t>(header.size() + 1, file.size()), '\0');
    file.read(0, line.data(), line.size());
    if (line != header + '\n' && line != header + '\r')
      fail("[CSVLogger] the columns must be those of the file that is continued: received ", header, " for '",
           filename_, "', which begins ", line);
  }

  std::string quoted(const std::string& text) const {
    if (text.find_first_of(options_.separator + "\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
  }

  std::string filename_;
  CSVLoggerOptions options_;
  std::optional<OutputFile> file_;
  std::uint64_t begun_ = 0;  ///< offset of this training's first row in the file
  std::vector<std::string> names_;
};

}  // namespace

CSVLogger::CSVLogger(const CSVLoggerOptions& options)
    : Callback(std::make_shared<CSVLoggerImpl>(internal::given("CSVLogger", "filename", options.filename),
                                               options)) {}

}  // namespace ktape::nn
