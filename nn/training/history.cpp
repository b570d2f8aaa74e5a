#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/training/history.hpp>
#include <ktape/nn/training/history_epochs.hpp>

namespace ktape::nn {
namespace {

struct HistoryImpl final : CallbackImpl {
  std::vector<int> epochs;
  struct Column {
    std::string name;
    std::vector<double> values = {};
    std::vector<int> epochs = {};  ///< the epochs that reported the number
  };
  std::vector<Column> columns;

  std::string class_name() const override { return "History"; }

  void on_train_begin(const Logs&) override {
    epochs.clear();
    columns.clear();
  }

  void on_epoch_end(int epoch, const Logs& logs) override {
    epochs.push_back(epoch);
    for (const auto& [name, value] : logs) {
      Column* column = find(name);
      if (!column) column = &columns.emplace_back(Column{name});
      column->values.push_back(value);
      column->epochs.push_back(epoch);
    }
  }

  void state(Archive& state) override {
    auto own_epochs = epochs;  // replaced at the end, as the columns are: a failure changes nothing
    state("epochs", own_epochs);
    std::vector<std::string> names;
    for (const Column& column : columns) names.push_back(column.name);
    state("names", names);
    auto own = columns;
    if (state.sets()) own.clear();
    own.resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      own[i].name = names[i];
      state.part("columns_epochs", [&] { state(std::to_string(i), own[i].epochs); });
      state.part("columns", [&] { state(std::to_string(i), own[i].values, own[i].epochs.size()); });
    }
    epochs.swap(own_epochs), columns.swap(own);
  }

  Column* find(const std::string& name) {
    for (Column& column : columns)
      if (column.name == name) return &column;
    return nullptr;
  }
};

HistoryImpl& columns_of(const History& history) { return static_cast<HistoryImpl&>(history.impl()); }

const HistoryImpl::Column& column_of(const History& history, const std::string& name) {
  if (const HistoryImpl::Column* column = columns_of(history).find(name)) return *column;
  const std::vector<std::string> names = history.names();
  fail("[History] the name must be ",
       names.empty() ? "that of a column, of which there are none" : in_quotes(names, " or "), ": received '",
       name, "'", near_names(name, names));
}

}  // namespace

History::History() : Callback(std::make_shared<HistoryImpl>()) {}

const std::vector<double>& History::operator[](const std::string& name) const {
  return column_of(*this, name).values;
}

bool History::contains(const std::string& name) const { return columns_of(*this).find(name) != nullptr; }

std::vector<std::string> History::names() const {
  std::vector<std::string> names;
  for (const HistoryImpl::Column& column : columns_of(*this).columns) names.push_back(column.name);
  return names;
}

const std::vector<int>& History::epoch() const { return columns_of(*this).epochs; }

const std::vector<int>& epochs_of(const History& history, const std::string& name) {
  return column_of(history, name).epochs;
}

}  // namespace ktape::nn
