#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/hdf5/library/handles.hpp>
#include <ktape/nn/saving/hdf5/library/process.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace ktape::nn::saving::hdf5 {
namespace {

using data::saturated_product;

constexpr int deepest = 100;  ///< the largest depth of nested groups

struct Link {
  std::string name;
  H5L_type_t type;
};

/// The items that a listing function of HDF5 has found, at most `most`.
template <class T>
struct Listing {
  std::vector<T> found;
  std::uint64_t most;
};

template <class T>
herr_t add(void* list, T item) {
  auto& listing = *static_cast<Listing<T>*>(list);
  if (listing.found.size() >= listing.most) return -1;
  listing.found.push_back(std::move(item));
  return 0;
}

/// The number of elements and the shape of a dataspace.
struct Extents {
  std::vector<hsize_t> list;
  std::uint64_t count = 1;

  explicit Extents(hid_t space) {
    const int rank = H5Sget_simple_extent_ndims(space);
    list.resize(rank > 0 ? static_cast<std::size_t>(rank) : 0);
    if (rank > 0) H5Sget_simple_extent_dims(space, list.data(), nullptr);
    for (const hsize_t extent : list)
      if (extent == 0) count = 0;
    for (const hsize_t extent : list) count = saturated_product(count, extent);
  }
  Shape shape() const {
    Shape shape;
    for (const hsize_t extent : list) shape.push_back(static_cast<std::int64_t>(extent));
    return shape;
  }
};

/// A reader that sends the contents of a file. The bytes that objects use are counted, so that objects which
/// share bytes are refused.
class TreeReader {
 public:
  TreeReader(const Source& source, Sender& out)
      : source_(source),
        op_(source.op),
        name_(source.name),
        size_(source.size),
        room_(source.size),
        most_inflated_(source.inflated),
        inflated_room_(source.inflated),
        out_(out) {}

  void send(hid_t object, const std::string& path, int depth) {
    H5O_info_t info;
    expect(H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0, path);
    if (!seen_.insert(info.addr).second) fail("every object must have one name", path, "it has another one");
    brain_ = false;
    send_attributes(object, path);
    if (info.type == H5O_TYPE_GROUP) {
      if (depth == deepest)
        fail("groups must not be nested so deeply", path, "more than ", deepest, " groups");
      send_members(object, path, depth);
    } else if (info.type == H5O_TYPE_DATASET) {
      send_dataset(object, path);
    } else {
      send_fault("a named type");
    }
  }

 private:
  static constexpr const char* intact = "the file must be intact";

  template <class... Parts>
  [[noreturn]] void fail(const char* rule, const std::string& path, const Parts&... reason) const {
    ktape::fail<IOError>("[", op_, "] ", rule, ": received ", name_, " (", path.empty() ? "/" : path, ": ",
                         reason..., ')');
  }
  void expect(bool success, const std::string& path) const {
    if (!success) fail(intact, path, last_error());
  }
  /// Subtracts the bytes of an object from the bytes of the file. Throws if the objects take more bytes than
  /// the file has.
  void take(std::uint64_t bytes, const std::string& path) {
    if (bytes > room_) fail(intact, path, bytes, " bytes where the file has ", room_);
    room_ -= bytes;
  }

  /// Subtracts the inflated bytes of an object from the limit for compressed data. Throws beyond the limit.
  void take_inflated(std::uint64_t bytes, const std::string& path) {
    if (bytes > inflated_room_)
      fail("compressed data must not inflate beyond the limit", path, "to ", bytes, " bytes, more than ",
           inflated_room_, " of the file's ", size_);
    inflated_room_ -= bytes;
  }

  // --- Groups ----------------------------------------------------------------------------------------------

  void send_members(hid_t group, const std::string& path, int depth) {
    const auto list = [](hid_t, const char* name, const H5L_info_t* info, void* links) {
      return add(links, Link{name, info->type});
    };
    out_.tag(Tag::Group);
    Listing<Link> links{{}, size_ / 8};
    expect(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, list, &links) >= 0, path);
    for (const auto& [name, type] : links.found) {
      const std::string there = path + '/' + shown(name);
      if (!is_utf8(name)) fail("names must be UTF-8", there, "it is not");
      if (type != H5L_TYPE_HARD)
        fail("a name must stand for an object of the file itself", there,
             type == H5L_TYPE_EXTERNAL ? "it is an external link"
             : type == H5L_TYPE_SOFT   ? "it is a soft link"
                                       : "it is a user-defined link");
      const Handle member(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      expect(member.valid(), there);
      out_.tag(Tag::Member);
      out_.text(name);
      send(member, there, depth + 1);
    }
    out_.tag(Tag::End);
  }

  static std::string shown(std::string name) {
    if (name.size() > 100) name.resize(100);
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    return name;
  }

  // --- Attributes ------------------------------------------------------------------------------------------

  void send_attributes(hid_t object, const std::string& path) {
    const auto list = [](hid_t, const char* name, const H5A_info_t*, void* names) {
      return add(names, std::string(name));
    };
    Listing<std::string> names{{}, size_ / 8};
    expect(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, list, &names) >= 0, path);
    for (const std::string& name : names.found) {
      const std::string there = path + ", attribute " + shown(name);
      const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
      expect(attribute.valid(), there);
      send_attribute(attribute, name, there);
    }
  }

  /// Sends an attribute of texts or numbers. Other and empty attributes, which Keras does not write, are left
  /// out.
  void send_attribute(hid_t attribute, const std::string& name, const std::string& path) {
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    expect(type.valid() && space.valid(), path);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return;
    const Extents extents(space);
    take(saturated_product(extents.count, H5Tget_size(type)), path);
    if (H5Tget_class(type) == H5T_STRING) {
      send_texts(name,
                 H5Tis_variable_str(type) > 0 ? read_variable(attribute, type, space, extents.count, path)
                                              : read_fixed(attribute, type, extents.count, path),
                 extents.list.empty());
    } else if (extents.count == 0) {
      send_texts(name, {}, false);  // h5py stores an empty list as an array of numbers
    } else if (const auto dtype = dtype_of(type); dtype && extents.list.size() <= Shape::max_rank) {
      const Tensor value = Tensor::empty(extents.shape(), *dtype);
      expect(H5Aread(attribute, memory_type(*dtype), value.raw()) >= 0, path);
      out_.tag(Tag::Numbers);
      out_.text(name);
      out_.array(*dtype, value.shape(), value.raw());
    }
  }

  void send_texts(const std::string& name, const std::vector<std::string>& texts, bool one) {
    out_.tag(one ? Tag::Text : Tag::Texts);
    out_.text(name);
    if (!one) out_.number(texts.size());
    for (const std::string& text : texts) out_.text(text);
    // HDF5 has no type for bfloat16; Keras marks such datasets by this attribute.
    if (one && name == "dtype") brain_ = texts[0] == "bfloat16";
  }

  std::vector<std::string> read_fixed(hid_t attribute, hid_t type, std::uint64_t count,
                                      const std::string& path) {
    const std::size_t size = H5Tget_size(type);
    std::string bytes(count * size, '\0');
    if (count > 0) expect(H5Aread(attribute, type, bytes.data()) >= 0, path);
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string text = bytes.substr(i * size, size);
      if (H5Tget_strpad(type) == H5T_STR_SPACEPAD) text.resize(text.find_last_not_of(' ') + 1);
      else text.resize(std::min(text.find('\0'), text.size()));
      texts.push_back(std::move(text));
    }
    return texts;
  }

  std::vector<std::string> read_variable(hid_t attribute, hid_t type, hid_t space, std::uint64_t count,
                                         const std::string& path) {
    // All texts may refer to one long text of the file, and libhdf5 copies them before their sizes are known.
    constexpr std::uint64_t few = 64, most = 256 * data::megabyte;
    if (count > few && saturated_product(count, size_) > most &&
        saturated_product(count, largest_heap()) > most)
      fail("a list of texts must be short", path, count, " texts of up to ", largest_heap(), " bytes");
    std::vector<char*> begins(count, nullptr);
    if (count > 0) expect(H5Aread(attribute, type, begins.data()) >= 0, path);
    std::vector<std::string> texts;
    std::uint64_t bytes = 0;
    for (const char* begin : begins) {
      texts.emplace_back(begin ? begin : "");
      bytes += texts.back().size();
    }
    if (count > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, begins.data());
    take(bytes, path);
    return texts;
  }

  /// Returns the size of the file's largest global heap, which no text of variable length exceeds. A heap
  /// begins with "GCOL", its version and three zeros; its size follows.
  std::uint64_t largest_heap() {
    if (largest_heap_) return *largest_heap_;
    constexpr std::string_view signature("GCOL\1\0\0\0", 8);
    constexpr std::size_t header = 16;
    std::string block(data::megabyte, '\0');
    std::uint64_t largest = 0;
    for (std::uint64_t begin = 0; begin + header <= size_; begin += block.size() - header + 1) {
      block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), size_ - begin)));
      source_.read(begin, block.data(), block.size());
      for (std::size_t at = block.find(signature); at <= block.size() - header;
           at = block.find(signature, at + 1)) {
        std::uint64_t heap = 0;
        std::memcpy(&heap, block.data() + at + signature.size(), sizeof(heap));
        largest = std::max(largest, std::min(heap, size_));
      }
    }
    return *(largest_heap_ = largest);
  }

  // --- Datasets --------------------------------------------------------------------------------------------

  void send_dataset(hid_t dataset, const std::string& path) {
    const Handle type(H5Dget_type(dataset), H5Tclose), space(H5Dget_space(dataset), H5Sclose);
    expect(type.valid() && space.valid(), path);
    const bool brain = brain_ && H5Tget_class(type) == H5T_OPAQUE && H5Tget_size(type) == 2;
    const std::optional<DType> dtype = brain ? DType::BFloat16 : dtype_of(type);
    if (!dtype || H5Sget_simple_extent_type(space) == H5S_NULL) return send_fault("not an array of numbers");
    const Extents extents(space);
    if (extents.list.size() > Shape::max_rank)
      fail("an array must have at most 8 axes", path, extents.list.size(), " axes");
    for (const hsize_t extent : extents.list)
      if (extent >> 62) fail("an array must be as large as its data can be", path, "an axis of ", extent);
    const bool plain =
        expect_stored(dataset, extents, saturated_product(extents.count, H5Tget_size(type)), path);
    out_.tag(Tag::Dataset);
    // Uncompressed values are read from the file by the parent and need not pass through the pipe.
    const haddr_t offset = plain ? H5Dget_offset(dataset) : HADDR_UNDEF;
    if (offset != HADDR_UNDEF && *dtype != DType::Bool && H5Tequal(type, stored_type(*dtype)) > 0)
      return out_.array_at(*dtype, extents.shape(), offset);
    const Tensor value = Tensor::empty(extents.shape(), *dtype);
    const Handle memory = brain ? Handle(H5Tcopy(type), H5Tclose) : memory_type(*dtype);
    if (extents.count > 0)
      expect(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.raw()) >= 0, path);
    send_values(value);
  }

  void send_values(const Tensor& value) {
    if (value.dtype() == DType::Bool) {  // any number other than 0 is true
      auto* bits = static_cast<unsigned char*>(value.raw());
      for (std::int64_t i = 0; i < value.size(); ++i) bits[i] = bits[i] != 0;
    }
    out_.array(value.dtype(), value.shape(), value.raw());
  }

  void send_fault(const char* reason) {
    out_.tag(Tag::Fault);
    out_.text(reason);
  }

  /// Checks that the bytes of an array are in the file, and that the stored bytes can inflate to the array.
  /// Returns whether the bytes are contiguous.
  bool expect_stored(hid_t dataset, const Extents& extents, std::uint64_t bytes, const std::string& path) {
    const Handle list(H5Dget_create_plist(dataset), H5Pclose);
    expect(list.valid(), path);
    if (H5Pget_external_count(list) != 0)
      fail("data must be in the file itself", path, "they are in another file");
    const H5D_layout_t layout = H5Pget_layout(list);
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
      fail("data must be in the file itself", path, "a virtual dataset");
    const bool inflated = expect_filters(list, path);
    const std::uint64_t stored = H5Dget_storage_size(dataset);
    take(stored, path);
    const std::uint64_t most = inflated ? data::most_deflated(stored) : stored;
    if (bytes > most)
      fail("an array must be as large as its data can be", path, extents.shape(), " of ", stored, " bytes");
    if (inflated) take_inflated(bytes, path);
    if (layout == H5D_CHUNKED && bytes > 0)
      expect_chunks(list, extents, bytes, inflated ? std::min(most, most_inflated_) : most, path);
    return layout == H5D_CONTIGUOUS && bytes > 0;
  }

  /// Returns whether the data are compressed.
  bool expect_filters(hid_t list, const std::string& path) const {
    bool inflated = false;
    const int count = H5Pget_nfilters(list);
    expect(count >= 0, path);
    for (int i = 0; i < count; ++i) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &config);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
        fail("data must be plain, or compressed by gzip", path, "it has the filter ",
             static_cast<int>(filter));
      inflated = inflated || filter == H5Z_FILTER_DEFLATE;
    }
    return inflated;
  }

  /// Checks the size of chunks, because libhdf5 loads whole chunks into memory.
  void expect_chunks(hid_t list, const Extents& extents, std::uint64_t bytes, std::uint64_t most,
                     const std::string& path) const {
    std::vector<hsize_t> chunk(extents.list.size());
    expect(H5Pget_chunk(list, static_cast<int>(chunk.size()), chunk.data()) == static_cast<int>(chunk.size()),
           path);
    std::uint64_t size = bytes / extents.count;
    for (const hsize_t extent : chunk) size = saturated_product(size, extent);
    if (size > most) fail("an array must be as large as its data can be", path, "chunks of ", size, " bytes");
  }

  const Source& source_;
  const char* op_;
  const std::string& name_;
  const std::uint64_t size_;
  std::uint64_t room_;
  const std::uint64_t most_inflated_;
  std::uint64_t inflated_room_;
  std::set<haddr_t> seen_;
  Sender& out_;
  std::optional<std::uint64_t> largest_heap_;
  bool brain_ = false;  ///< whether an attribute marks the object as bfloat16
};

}  // namespace

void send_root(const Source& source, hid_t file, Sender& out) {
  const Handle group(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (!group.valid())
    fail<IOError>("[", source.op, "] the file must be intact: received ", source.name, " (/: ", last_error(),
                  ')');
  TreeReader(source, out).send(group, "", 0);
}

}  // namespace ktape::nn::saving::hdf5
