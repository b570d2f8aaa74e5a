#include <ktape/nn/core/terminal.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/training/internal/progress.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace ktape::nn {
namespace {

constexpr int bar_width = 20, least_bar_width = 6;
constexpr std::chrono::milliseconds redraw_after(50);

/// Returns a duration as text: "4s", "2:05", "1:02:03".
std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  std::ostringstream text;
  if (whole < 60) {
    text << whole << 's';
  } else {
    if (whole >= 3600) text << whole / 3600 << ':' << std::setfill('0') << std::setw(2);
    text << whole / 60 % 60 << ':' << std::setfill('0') << std::setw(2) << whole % 60;
  }
  return text.str();
}

std::string rate_text(double seconds_per_step) {
  std::ostringstream text;
  if (seconds_per_step >= 1) text << std::lround(seconds_per_step) << "s/step";
  else if (seconds_per_step >= 1e-3) text << std::lround(seconds_per_step * 1e3) << "ms/step";
  else text << std::lround(seconds_per_step * 1e6) << "us/step";
  return text.str();
}

std::string number_text(double value) {
  std::ostringstream text;
  const double size = std::abs(value);
  if (size > 1e-3 || value == 0) text << std::fixed << std::setprecision(4) << value;
  else text << std::scientific << std::setprecision(4) << value;
  return text.str();
}

/// Breaks a line before the separators " - ", so that each part fits into `room` if possible.
std::string broken(const std::string& line, std::size_t room) {
  constexpr std::string_view separator = " - ";
  std::string out, part;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(separator, at + separator.size()), line.size());
    const std::string piece = line.substr(at, end - at);
    if (!part.empty() && text_width(part + piece) > room) {
      out += part + '\n';
      part = ' ';
    }
    part += piece;
    at = end;
  }
  return out + part;
}

}  // namespace

int ProgressImpl::terminal_columns() { return static_cast<int>(nn::terminal_columns().value_or(80)); }

void ProgressImpl::on_epoch_begin(int epoch, const Logs&) {
  if (parameters().epochs > 1) out_ << "Epoch " << epoch + 1 << '/' << parameters().epochs << '\n';
  begin();
}

void ProgressImpl::begin() {
  done_ = 0;
  width_ = 0;
  started_ = drawn_ = Clock::now();
}

void ProgressImpl::step(std::int64_t batch, const Logs& logs) {
  done_ = batch + 1;
  if (!moves() || Clock::now() - drawn_ < redraw_after) return;
  write(logs, false);
}

void ProgressImpl::finish(const Logs& logs) {
  write(logs, true);
  out_ << std::endl;
}

std::string ProgressImpl::line(const Logs& logs, bool last, int bar_width) const {
  const double seconds = std::chrono::duration<double>(drawn_ - started_).count();
  const std::optional<std::int64_t> steps = parameters().steps;
  const double per_step = done_ > 0 ? seconds / static_cast<double>(done_) : 0;
  std::ostringstream line;
  line << done_ << '/' << (steps ? std::to_string(*steps) : last ? std::to_string(done_) : "?");
  if (moves()) {
    const double part = steps && *steps > 0 ? static_cast<double>(done_) / static_cast<double>(*steps) : last;
    line << ' ';
    for (int place = 0; place < bar_width; ++place) line << (place < part * bar_width ? "━" : "╌");
    line << ' ' << duration_text(last || !steps ? seconds : per_step * static_cast<double>(*steps - done_))
         << ' ';
  } else {
    line << " - " << duration_text(seconds) << " - ";
  }
  line << rate_text(per_step);
  for (const auto& [name, value] : logs) line << " - " << name << ": " << number_text(value);
  return line.str();
}

/// Overwrites the line of the progress bar. A line that will be overwritten must fit into the terminal, so
/// the bar and then the text are shortened. The last line is written in full, in several lines if necessary.
void ProgressImpl::write(const Logs& logs, bool last) {
  drawn_ = Clock::now();
  std::string text = line(logs, last, bar_width);
  if (moves()) {
    const auto room = static_cast<std::size_t>(std::max(columns_() - 1, 20));
    if (text_width(text) > room) {
      const auto excess = static_cast<int>(text_width(text) - room);
      text = line(logs, last, std::max(bar_width - excess, least_bar_width));
      text = last ? broken(text, room) : shortened(text, room);
    }
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t width = text_width(text.substr(0, end));
    out_ << '\r' << text.substr(0, end);
    if (width < width_) out_ << std::string(width_ - width, ' ');
    out_ << text.substr(end);
    width_ = width;
  } else {
    out_ << text;
  }
  if (!last) out_.flush();
}

}  // namespace ktape::nn
