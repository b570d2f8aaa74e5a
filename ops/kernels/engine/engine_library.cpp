#include <ktape/autograd/base/error.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <memory>

namespace ktape::kernels {
namespace {

struct Close {
  void operator()(void* handle) const { dlclose(handle); }
};
using Handle = std::unique_ptr<void, Close>;

/// The faults of a library, as a list for one message.
class Faults {
 public:
  template <class... Parts>
  void add(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    text_ += (text_.empty() ? "" : "; ") + out.str();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string quoted(const char* name) {
  return name ? '"' + std::string(name) + '"' : "an entry without a name";
}

void check_entries(std::span<const ktape_engine_entry> entries, Faults& faults) {
  const auto is = [](const char* name) {
    return [name](const auto& entry) { return entry.name && std::string_view(entry.name) == name; };
  };
  for (const EntryInfo& wanted : table) {
    const auto count = std::count_if(entries.begin(), entries.end(), is(wanted.name));
    if (count == 0) faults.add(quoted(wanted.name), " is missing");
    if (count > 1) faults.add(quoted(wanted.name), " is listed ", count, " times");
  }
  for (const ktape_engine_entry& entry : entries) {
    const auto wanted = entry.name ? std::find_if(table.begin(), table.end(), is(entry.name)) : table.end();
    if (wanted == table.end()) faults.add(quoted(entry.name), " is unknown");
    else if (entry.version != wanted->version)
      faults.add(quoted(entry.name), " has version ", entry.version, " where ", wanted->version,
                 " is needed");
  }
}

void check(const ktape_engine* engine, Faults& faults) {
  if (!engine) return faults.add("ktape_get_engine returns NULL");
  if (engine->version != KTAPE_ENGINE_VERSION)  // the other fields of another version cannot be read
    return faults.add("the engine has version ", engine->version, " where ", KTAPE_ENGINE_VERSION,
                      " is needed");
  if (!engine->name || !*engine->name) faults.add("it has no name");
  if (engine->entry_count < 0 || (engine->entry_count > 0 && !engine->entries))
    return faults.add("it has no list of entries");
  check_entries({engine->entries, static_cast<std::size_t>(engine->entry_count)}, faults);
}

}  // namespace

bool is_library(std::string_view backend) {
  return backend.find('/') != backend.npos || backend.find(".so") != backend.npos;
}

EngineLibrary load_engine_library(const std::string& library) {
  Handle handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle)
    fail<IOError>("[backend] the library must be one that can be loaded: received '", library, "' (",
                  dlerror(), ")");
  const auto get = reinterpret_cast<const ktape_engine* (*)()>(dlsym(handle.get(), "ktape_get_engine"));
  if (!get) fail("[backend] an engine library must export ktape_get_engine: received '", library, "'");
  const ktape_engine* engine = get();
  Faults faults;
  check(engine, faults);
  if (!faults.text().empty())
    fail(
        "[backend] an engine library must list every kernel of ktape/ops/engine.h in its version: received '",
        library, "', where ", faults.text());

  EngineLibrary loaded{engine->name, {}};
  for (const ktape_engine_entry& entry :
       std::span(engine->entries, static_cast<std::size_t>(engine->entry_count))) {
    const auto same = [&](const EntryInfo& info) { return std::string_view(info.name) == entry.name; };
    loaded.kernels[std::find_if(table.begin(), table.end(), same) - table.begin()] = entry.function;
  }
  handle.release();  // stays loaded: its functions are in use until the program ends
  return loaded;
}

}  // namespace ktape::kernels
