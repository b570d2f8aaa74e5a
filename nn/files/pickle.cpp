#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/files/pickle.hpp>

#include <bit>

namespace ktape::data {
namespace {

constexpr std::size_t most_values = 1'000'000;

/// The opcodes of the subset; all others are refused.
enum Opcode : unsigned char {
  Mark = '(',
  Stop = '.',
  Pop = '0',
  PopMark = '1',
  BinInt = 'J',
  BinInt1 = 'K',
  BinInt2 = 'M',
  NoneValue = 'N',
  BinPersistent = 'Q',
  Reduce = 'R',
  BinString = 'T',
  ShortBinString = 'U',
  BinUnicode = 'X',
  Append = 'a',
  Build = 'b',
  GlobalName = 'c',
  Appends = 'e',
  BinGet = 'h',
  LongBinGet = 'j',
  EmptyList = ']',
  EmptyDict = '}',
  EmptyTuple = ')',
  BinPut = 'q',
  LongBinPut = 'r',
  SetItem = 's',
  TupleOfMark = 't',
  SetItems = 'u',
  BinFloat = 'G',
  Proto = 0x80,
  NewObject = 0x81,
  Tuple1 = 0x85,
  Tuple2 = 0x86,
  Tuple3 = 0x87,
  NewTrue = 0x88,
  NewFalse = 0x89,
  Long1 = 0x8a,
  Long4 = 0x8b,
  ShortBinUnicode = 0x8c,
  StackGlobal = 0x93,
  Memoize = 0x94,
  Frame = 0x95
};

}  // namespace

void Unpickler::fail(const std::string& reason) const {
  ktape::fail<IOError>("[", op_, "] the file must hold tensors that torch.save wrote: received ", file_, " (",
                       reason, ')');
}

std::string_view Unpickler::take(std::uint64_t n) {
  if (n > bytes_.size()) fail("the pickle is cut off");
  const std::string_view part = bytes_.substr(0, static_cast<std::size_t>(n));
  bytes_.remove_prefix(part.size());
  return part;
}

template <class T>
T Unpickler::number() {
  return little_endian<T>(take(sizeof(T)).data());
}

std::string_view Unpickler::line() {
  const std::size_t end = bytes_.find('\n');
  if (end == std::string_view::npos) fail("the pickle is cut off");
  const std::string_view text = take(end);
  take(1);
  return text;
}

PickleValue& Unpickler::push(PickleValue::Kind kind) {
  if (values_.size() == most_values) fail("the pickle has more than a million values");
  PickleValue& value = values_.emplace_back();
  value.kind = kind;
  stack_.push_back(&value);
  return value;
}

void Unpickler::push_integer(std::int64_t value) { push(PickleValue::Int).integer = value; }
void Unpickler::push_text(std::string_view text) { push(PickleValue::Text).text = text; }

void Unpickler::push_global(const std::string& name) {
  if (!world_.knows(name)) fail("the pickle asks for '" + nn::printable(name) + "', which is never run");
  push(PickleValue::Global).text = name;
}

PickleValue& Unpickler::top() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size()))
    fail("the stack of the pickle is empty");
  return *stack_.back();
}

PickleValue* Unpickler::pop() {
  PickleValue* const value = &top();
  stack_.pop_back();
  return value;
}

std::vector<PickleValue*> Unpickler::pop_to_mark() {
  if (marks_.empty()) fail("the pickle has no mark");
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

PickleValue& Unpickler::container(PickleValue::Kind kind) {
  PickleValue& value = top();
  if (value.kind != kind) fail("the pickle adds items to a value that is no container");
  return value;
}

void Unpickler::make_tuple(std::size_t count) {
  std::vector<PickleValue*> items(count);
  for (std::size_t i = count; i-- > 0;) items[i] = pop();
  push(PickleValue::Tuple).items = std::move(items);
}

void Unpickler::call() {
  const PickleValue& arguments = *pop();
  const PickleValue& function = *pop();
  if (function.kind != PickleValue::Global || arguments.kind != PickleValue::Tuple)
    fail("the pickle calls a value that is no function");
  PickleValue& result = push(PickleValue::None);
  if (!world_.make(function.text, arguments, result))
    fail("the arguments of '" + function.text + "' do not fit");
}

void Unpickler::memoize(std::uint64_t at) {
  if (at >= most_values) fail("the memo of the pickle has more than a million values");
  if (memo_.size() <= at) memo_.resize(static_cast<std::size_t>(at) + 1);
  memo_[static_cast<std::size_t>(at)] = &top();
}

void Unpickler::recall(std::uint64_t at) {
  if (at >= memo_.size() || !memo_[static_cast<std::size_t>(at)])
    fail("the memo of the pickle has no such value");
  stack_.push_back(memo_[static_cast<std::size_t>(at)]);
  if (stack_.size() > most_values) fail("the stack of the pickle has more than a million values");
}

bool Unpickler::run_number(unsigned char opcode) {
  switch (opcode) {
    case NoneValue:
      push(PickleValue::None);
      return true;
    case NewTrue:
    case NewFalse:
      push(PickleValue::Bool).integer = opcode == NewTrue;
      return true;
    case BinInt:
      push_integer(static_cast<std::int32_t>(number<std::uint32_t>()));
      return true;
    case BinInt1:
      push_integer(number<std::uint8_t>());
      return true;
    case BinInt2:
      push_integer(number<std::uint16_t>());
      return true;
    case BinFloat:
      push(PickleValue::Real).real = std::bit_cast<double>(big_endian<std::uint64_t>(take(8).data()));
      return true;
    case Long1:
    case Long4: {
      const std::uint64_t size = opcode == Long1 ? number<std::uint8_t>() : number<std::uint32_t>();
      if (size > 8) fail("an integer has more than 64 bits");
      const std::string_view bytes = take(size);
      std::uint64_t value = !bytes.empty() && (bytes.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
      push_integer(static_cast<std::int64_t>(value));
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::run_text(unsigned char opcode) {
  switch (opcode) {
    case BinUnicode:
    case BinString:
      push_text(take(number<std::uint32_t>()));
      return true;
    case ShortBinUnicode:
    case ShortBinString:
      push_text(take(number<std::uint8_t>()));
      return true;
    case GlobalName: {
      const std::string module(line());
      push_global(module + '.' + std::string(line()));
      return true;
    }
    case StackGlobal: {
      const PickleValue &name = *pop(), &module = *pop();
      if (name.kind != PickleValue::Text || module.kind != PickleValue::Text) fail("a name is no text");
      push_global(module.text + '.' + name.text);
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::run_container(unsigned char opcode) {
  switch (opcode) {
    case EmptyTuple:
    case Tuple1:
    case Tuple2:
    case Tuple3:
      make_tuple(opcode == EmptyTuple ? 0 : static_cast<std::size_t>(opcode - Tuple1 + 1));
      return true;
    case TupleOfMark: {
      std::vector<PickleValue*> items = pop_to_mark();
      push(PickleValue::Tuple).items = std::move(items);
      return true;
    }
    case EmptyList:
      push(PickleValue::List);
      return true;
    case EmptyDict:
      push(PickleValue::Dict);
      return true;
    case Append: {
      PickleValue* const item = pop();
      container(PickleValue::List).items.push_back(item);
      return true;
    }
    case SetItem: {
      PickleValue *const value = pop(), *const key = pop();
      std::vector<PickleValue*>& items = container(PickleValue::Dict).items;
      items.push_back(key), items.push_back(value);
      return true;
    }
    case Appends:
    case SetItems: {
      const std::vector<PickleValue*> more = pop_to_mark();
      if (opcode == SetItems && more.size() % 2 != 0) fail("a key has no value");
      std::vector<PickleValue*>& items =
          container(opcode == Appends ? PickleValue::List : PickleValue::Dict).items;
      items.insert(items.end(), more.begin(), more.end());
      return true;
    }
    default:
      return false;
  }
}

bool Unpickler::run_memo(unsigned char opcode) {
  switch (opcode) {
    case BinPut:
      memoize(number<std::uint8_t>());
      return true;
    case LongBinPut:
      memoize(number<std::uint32_t>());
      return true;
    case Memoize:
      memoize(memo_.size());
      return true;
    case BinGet:
      recall(number<std::uint8_t>());
      return true;
    case LongBinGet:
      recall(number<std::uint32_t>());
      return true;
    default:
      return false;
  }
}

bool Unpickler::run(unsigned char opcode) {
  if (run_number(opcode) || run_text(opcode) || run_container(opcode) || run_memo(opcode)) return true;
  switch (opcode) {
    case Proto:
      if (const int protocol = number<std::uint8_t>(); protocol < 2 || protocol > 5)
        fail("the protocol of the pickle is " + std::to_string(protocol));
      return true;
    case Frame:
      take(8);
      return true;
    case Mark:
      marks_.push_back(stack_.size());
      if (marks_.size() > most_values) fail("the pickle has more than a million marks");
      return true;
    case Pop:
      pop();
      return true;
    case PopMark:
      pop_to_mark();
      return true;
    case Reduce:
    case NewObject:
      call();
      return true;
    case Build:
      pop();  // attributes of an object, such as the versions of modules in a state_dict
      top();
      return true;
    case BinPersistent: {
      const PickleValue& id = *pop();
      PickleValue& result = push(PickleValue::None);
      if (!world_.persistent(id, result)) fail("the pickle refers to data that are no storage of tensors");
      return true;
    }
    default:
      return false;
  }
}

const PickleValue& Unpickler::read() {
  while (true) {
    const auto opcode = number<std::uint8_t>();
    if (opcode == Stop) break;
    if (!run(opcode)) fail("the pickle has the opcode " + std::to_string(opcode));
  }
  return top();
}

}  // namespace ktape::data
