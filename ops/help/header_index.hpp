#pragma once
#include <ktape/ops/help/source_text.hpp>

#include <map>
#include <set>

/// The declarations of the public headers, found in their text. Internal: sources only.
namespace ktape::help_text {

/// The places of all declarations that ktape.hpp has, directly or by its includes. The index relies on the form of the
/// headers: declarations begin at the first column, members and continued lines are indented.
class HeaderIndex {
 public:
  /// Reads the headers in a folder that has ktape/ktape.hpp.
  explicit HeaderIndex(const std::string& folder);

  /// Returns the namespace and name, such as `backend::conv2d`, that a name means: the name itself, or the first in
  /// the order of the namespaces that programs use. Empty for an unknown name.
  std::string resolved(const std::string& name) const;
  /// Returns the places of a name with its namespaces below ktape, and of a field: `nn::LayerOptions::name`.
  std::vector<Place> places(const std::string& name) const;
  /// Returns the option structs that the functions of this name, or the constructors of the class, take.
  std::vector<OptionStruct> options_of(const std::string& name) const;

 private:
  struct Declaration {
    Place place;
    std::string code;  ///< without comments
  };
  void read(const std::string& header);
  void add(const std::string& path, const std::vector<std::string>& lines, std::size_t first,
           std::size_t last, const std::string& space);
  /// Returns the declaration of a struct that a type means in a namespace; null if there is none.
  const Declaration* struct_of(const std::string& type, std::string space) const;

  /// Returns the name that a using-declaration repeats, from its namespace and the name in it.
  std::string used_name(const std::pair<std::string, std::string>& used) const;

  std::string folder_;
  std::set<std::string> read_;
  std::map<std::string, std::vector<Declaration>> declarations_;
  std::map<std::string, std::pair<std::string, std::string>>
      used_;  ///< by the name that a using-declaration adds
};

}  // namespace ktape::help_text
