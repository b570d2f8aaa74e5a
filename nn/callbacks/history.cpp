#include <ktape/nn/callbacks/history.hpp>
#include <ktape/nn/names.hpp>
#include <ktape/nn/state.hpp>

namespace ktape::nn {
namespace {

struct HistoryImpl final : CallbackImpl {
  std::vector<int> epochs;
  std::vector<std::pair<std::string, std::vector<double>>> columns;

  std::string class_name() const override { return "History"; }

  void on_train_begin(const Logs&) override {
    epochs.clear();
    columns.clear();
  }

  void on_epoch_end(int epoch, const Logs& logs) override {
    epochs.push_back(epoch);
    for (const auto& [name, value] : logs) {
      std::vector<double>* values = find(name);
      if (!values) values = &columns.emplace_back(name, std::vector<double>()).second;
      values->push_back(value);
    }
  }

  void state(State& state) override {
    state("epochs", epochs);
    std::vector<std::string> names;
    for (const auto& [name, values] : columns) names.push_back(name);
    state("names", names);
    if (state.sets()) columns.clear();
    columns.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      columns[i].first = names[i];
      state.part("columns", [&] { state(std::to_string(i), columns[i].second); });
    }
  }

  std::vector<double>* find(const std::string& name) {
    for (auto& [known, values] : columns)
      if (known == name) return &values;
    return nullptr;
  }
};

HistoryImpl& columns_of(const History& history) { return static_cast<HistoryImpl&>(history.impl()); }

}  // namespace

History::History() : Callback(std::make_shared<HistoryImpl>()) {}

const std::vector<double>& History::operator[](const std::string& name) const {
  if (const std::vector<double>* values = columns_of(*this).find(name)) return *values;
  fail("[History] the name must be known: received '", name, "'", suggestion(name, names()));
}

bool History::contains(const std::string& name) const { return columns_of(*this).find(name) != nullptr; }

std::vector<std::string> History::names() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : columns_of(*this).columns) names.push_back(name);
  return names;
}

const std::vector<int>& History::epoch() const { return columns_of(*this).epochs; }

}  // namespace ktape::nn
