#include <ktape/nn/compiled/explanation.hpp>
#include <ktape/ops/compiled/machine_rates.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace ktape::nn {

namespace {

std::string name_of(const PlannedCall& call) {
  return call.layer.defined() ? call.layer.name() + " (" + call.layer.class_name() + ")" : "op";
}

double largest_time(const ExplainedPlan& plan) {
  double largest = 1e-6;
  for (const ExplainedStep& step : plan.steps) largest = std::max({largest, step.measured, step.estimated});
  return largest;
}

/// Returns the text with the characters escaped that have a meaning in XML.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else out += c;
  }
  return out;
}

}  // namespace

ExplainedPlan explained(const Plan& plan, const std::vector<PlannedCall>& calls, const std::string& inputs) {
  const backend::MachineRates rates = backend::machine_rates();
  ExplainedPlan out{inputs, {}, 0};
  for (const PlanItem& item : plan.items) {
    if (!item.network) {
      out.steps.push_back({name_of(calls[item.calls[0]]), "called"});
      continue;
    }
    out.arena_bytes = std::max(out.arena_bytes, item.network->arena_bytes());
    for (const kernels::ProgramStep& step : item.network->steps()) {
      const double estimated = rates.products_per_ms > 0
                                   ? std::max(double(step.products) / rates.products_per_ms,
                                              double(step.bytes) / rates.bytes_per_ms)
                                   : 0;
      out.steps.push_back({step.what, step.implementation, estimated, step.milliseconds});
    }
  }
  return out;
}

std::string as_table(const ExplainedPlan& plan) {
  std::ostringstream out;
  out << "Plan for inputs of shape " << plan.inputs << '\n' << std::fixed << std::setprecision(3);
  const auto row = [&](const std::string& what, const std::string& kernel) -> std::ostream& {
    return out << std::left << std::setw(48) << what << ' ' << std::setw(28) << kernel << std::right;
  };
  row("step", "kernel") << std::setw(13) << "estimated ms" << std::setw(13) << "measured ms" << '\n';
  double estimated = 0, measured = 0;
  for (const ExplainedStep& step : plan.steps) {
    row(step.what, step.kernel);
    if (step.kernel != "called") out << std::setw(13) << step.estimated << std::setw(13) << step.measured;
    out << '\n';
    estimated += step.estimated, measured += step.measured;
  }
  row("all measured steps", "") << std::setw(13) << estimated << std::setw(13) << measured << '\n';
  out << "arena: " << plan.arena_bytes << " bytes\n";
  return out.str();
}

std::string as_svg(const ExplainedPlan& plan) {
  constexpr double width = 900, text = 420, line = 18;
  const double height = line * (static_cast<double>(plan.steps.size()) + 2),
               per_ms = (width - text - 90) / largest_time(plan);
  std::ostringstream out;
  out << std::fixed << std::setprecision(2) << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << width
      << R"(" height=")" << height << R"(" font-family="sans-serif" font-size="12">)" << '\n';
  const auto label = [&](double x, double y, const std::string& words) {
    out << "<text x=\"" << x << "\" y=\"" << y << "\">" << escaped(words) << "</text>\n";
  };
  const auto bar = [&](double y, double milliseconds, double thickness, const char* colour) {
    out << "<rect x=\"" << text << "\" y=\"" << y << "\" width=\"" << milliseconds * per_ms << "\" height=\""
        << thickness << "\" fill=\"" << colour << "\"/>\n";
  };
  label(4, line - 5,
        "Plan for inputs of shape " + plan.inputs + ": measured (light) and estimated (dark) ms");
  double y = line;
  for (const ExplainedStep& step : plan.steps) {
    label(4, y + line - 5, step.what + ", " + step.kernel);
    bar(y + 2, step.measured, line - 4, "#9ecae1");
    bar(y + 6, step.estimated, line - 12, "#3182bd");
    std::ostringstream time;
    time << std::fixed << std::setprecision(3) << step.measured;
    if (step.kernel != "called")
      label(text + std::max(step.measured, step.estimated) * per_ms + 4, y + line - 5, time.str());
    y += line;
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace ktape::nn
