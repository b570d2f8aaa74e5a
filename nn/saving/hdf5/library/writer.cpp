#include <ktape/nn/saving/hdf5/library/handles.hpp>

#include <algorithm>

namespace ktape::nn::saving::hdf5 {
namespace {

bool ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

/// Returns the properties of new objects, which declare names as UTF-8.
Handle naming(hid_t kind, const std::string& name) {
  Handle list(H5Pcreate(kind), H5Pclose);
  if (!ascii(name)) H5Pset_char_encoding(list, H5T_CSET_UTF8);
  return list;
}

class TreeWriter {
 public:
  TreeWriter(const char* op, const std::string& name, Gaps& gaps) : op_(op), name_(name), gaps_(gaps) {
    H5Pset_alloc_time(room_only_, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(room_only_, H5D_FILL_TIME_NEVER);
  }

  void write(hid_t object, const Entry& node, const std::string& path) const {
    for (const auto& [name, value] : node.attributes)
      std::visit([&, &name = name](const auto& held) { write_attribute(object, name, held, path); }, value);
    for (const auto& [name, member] : node.members) {
      const std::string there = path + '/' + name;
      write(member.is_group() ? group(object, name, there) : dataset(object, name, member, there), member,
            there);
    }
  }

 private:
  void expect(bool success, const std::string& path) const {
    if (!success)
      fail<IOError>("[", op_, "] the file must be writable: received ", name_, " (",
                    path.empty() ? "/" : path, ": ", last_error(), ')');
  }

  Handle group(hid_t parent, const std::string& name, const std::string& path) const {
    Handle made(H5Gcreate2(parent, name.c_str(), naming(H5P_LINK_CREATE, name), H5P_DEFAULT, H5P_DEFAULT),
                H5Gclose);
    expect(made.valid(), path);
    return made;
  }

  static Handle space_of(const Shape& shape) {
    if (shape.rank() == 0) return Handle(H5Screate(H5S_SCALAR), H5Sclose);
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    return Handle(H5Screate_simple(shape.rank(), extents.data(), nullptr), H5Sclose);
  }

  Handle dataset(hid_t parent, const std::string& name, const Entry& entry, const std::string& path) const {
    constexpr std::size_t large = 1 << 16;
    const Tensor& value = entry.value;
    const Handle type = stored_type(value.dtype()), memory = memory_type(value.dtype());
    const bool gap = bytes_of(value).size() >= large && H5Tequal(type, memory) > 0;
    Handle made(H5Dcreate2(parent, name.c_str(), type, space_of(value.shape()), naming(H5P_LINK_CREATE, name),
                           gap ? static_cast<hid_t>(room_only_) : H5P_DEFAULT, H5P_DEFAULT),
                H5Dclose);
    expect(made.valid(), path);
    const bool marked = std::any_of(entry.attributes.begin(), entry.attributes.end(),
                                    [](const auto& attribute) { return attribute.first == "dtype"; });
    if (value.dtype() == DType::BFloat16 && !marked)  // Keras's mark
      write_attribute(made, "dtype", std::string("bfloat16"), path);
    if (gap) {
      const haddr_t place = H5Dget_offset(made);
      expect(place != HADDR_UNDEF, path);
      gaps_.push_back({place, &value});
    } else if (value.size() > 0) {
      expect(H5Dwrite(made, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.raw()) >= 0, path);
    }
    return made;
  }

  void write_attribute(hid_t object, const std::string& name, hid_t type, hid_t memory, hid_t space,
                       const void* bytes, const std::string& path) const {
    const Handle made(
        H5Acreate2(object, name.c_str(), type, space, naming(H5P_ATTRIBUTE_CREATE, name), H5P_DEFAULT),
        H5Aclose);
    expect(made.valid() && (!bytes || H5Awrite(made, memory, bytes) >= 0), path + ", attribute " + name);
  }

  /// Writes a text attribute of variable length, as h5py does, because Keras reads no other form.
  void write_attribute(hid_t object, const std::string& name, const std::string& text,
                       const std::string& path) const {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, ascii(text) ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    const char* begin = text.c_str();
    write_attribute(object, name, type, type, space, &begin, path);
  }

  /// Writes a list of texts as h5py does: texts of equal length, padded with zeros.
  void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts,
                       const std::string& path) const {
    std::size_t longest = 1;
    for (const std::string& text : texts) longest = std::max(longest, text.size());
    std::string bytes;
    for (const std::string& text : texts) bytes += text + std::string(longest - text.size(), '\0');
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, longest);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const Handle space = space_of({static_cast<std::int64_t>(texts.size())});
    write_attribute(object, name, type, type, space, texts.empty() ? nullptr : bytes.data(), path);
  }

  void write_attribute(hid_t object, const std::string& name, const Tensor& value,
                       const std::string& path) const {
    write_attribute(object, name, stored_type(value.dtype()), memory_type(value.dtype()),
                    space_of(value.shape()), value.size() > 0 ? value.raw() : nullptr, path);
  }

  const char* op_;
  const std::string& name_;
  Gaps& gaps_;
  Handle room_only_{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
};

}  // namespace

void write_root(const char* op, const std::string& name, hid_t file, const Entry& root, Gaps& gaps) {
  const Handle group(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  TreeWriter(op, name, gaps).write(group, root, "");
}

}  // namespace ktape::nn::saving::hdf5
