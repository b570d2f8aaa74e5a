#include <ktape/nn/callbacks/report/internal/report_page.hpp>
#include <ktape/nn/callbacks/report/report.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/folders.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace ktape::nn {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds between_pages(2);

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  char text[32] = "";
  if (localtime_r(&now, &date)) std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &date);
  return text;
}

class ReportImpl final : public CallbackImpl {
 public:
  ReportImpl(std::string path, ReportOptions options) : path_(std::move(path)), options_(std::move(options)) {
    if (!path_.ends_with(".html") && !path_.ends_with(".htm"))
      fail("[Report] the name of the file must end in .html or .htm: received '", path_, "'");
    if (options_.samples < 0)
      fail("[Report] samples must be at least 0: received samples=", options_.samples);
  }

  std::string class_name() const override { return "Report"; }
  bool writes_files() const override { return true; }

  void on_train_begin(const Logs&) override {
    run_ = {.title = options_.title.empty() ? model().name() : options_.title,
            .began = date_text(),
            .model = model(),
            .parameters = parameters(),
            .class_names = options_.class_names};
    check_class_names();
    make_folder_of("Report", path_);
    write();
  }

  void on_epoch_begin(int, const Logs&) override { epoch_began_ = Clock::now(); }

  void on_epoch_end(int epoch, const Logs& logs) override {
    run_.seconds.push_back(std::chrono::duration<double>(Clock::now() - epoch_began_).count());
    run_.history.impl().on_epoch_end(epoch, logs);
    if (Clock::now() - written_ >= between_pages) write();
  }

  void on_train_end(const Logs&) override {
    run_.ended = true;
    run_.reviews = review(model(), static_cast<std::size_t>(options_.samples));
    write();
    run_.reviews.clear();
  }

  void state(Archive& state) override {
    state.part("history", [&] { run_.history.impl().state(state); });
    state("seconds", run_.seconds, run_.history.epoch().size());
  }

 private:
  /// Checks the number of class names against the outputs, where these are known.
  void check_class_names() const {
    const auto names = static_cast<std::int64_t>(options_.class_names.size());
    const std::vector<Tensor> outputs = model().impl().outputs();
    for (const Tensor& output : outputs) {
      const std::int64_t last = output.ndim() > 0 ? output.shape()[-1] : None;
      if (names == 0 || last == None || names == std::max<std::int64_t>(last, 2)) return;
    }
    if (!outputs.empty())
      fail("[Report] class_names must name each class of an output: received ", names,
           " names for outputs of shape ", outputs.back().shape());
  }

  void write() {
    saving::AtomicFile file("Report", path_);
    file.write(report_page(run_));
    file.commit();
    written_ = Clock::now();
  }

  std::string path_;
  ReportOptions options_;
  Run run_;
  Clock::time_point epoch_began_, written_;
};

}  // namespace

Report::Report(const std::string& path, const ReportOptions& options)
    : Callback(std::make_shared<ReportImpl>(path, options)) {}

}  // namespace ktape::nn
