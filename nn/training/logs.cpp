#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/training/logs.hpp>

#include <cmath>
#include <ostream>

namespace ktape::nn {

Logs::Logs(std::initializer_list<std::pair<std::string, Number>> entries) {
  for (const auto& [name, number] : entries) set(name, number);
}

const double* Logs::find(const std::string& name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return &entry.second;
  return nullptr;
}

double Logs::at(const std::string& name) const {
  if (const double* value = find(name)) return *value;
  std::vector<std::string> known;
  for (const Entry& entry : entries_) known.push_back(entry.first);
  fail("[Logs] the name must be ",
       known.empty() ? "that of an entry, of which there are none" : in_quotes(known, " or "), ": received '",
       name, "'", near_names(name, known));
}

void Logs::set(const std::string& name, double value) {
  if (std::isnan(value)) value = std::abs(value);  // of a diverged loss, whose sign would be printed
  for (Entry& entry : entries_)
    if (entry.first == name) return void(entry.second = value);
  entries_.emplace_back(name, value);
}

void Logs::update(const Logs& other, const std::string& prefix) {
  for (const auto& [name, value] : other) set(prefix + name, value);
}

std::ostream& operator<<(std::ostream& out, const Logs& logs) {
  const char* separator = "";
  for (const auto& [name, value] : logs) out << std::exchange(separator, " - ") << name << ": " << value;
  return out;
}

}  // namespace ktape::nn
