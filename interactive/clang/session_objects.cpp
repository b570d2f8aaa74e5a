#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <ktape/interactive/clang/session_objects.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ktape::interactive {
namespace {

struct Object {
  void (*destructor)(void*);
  void* address;
};

std::vector<Object>& objects() {
  static std::vector<Object>& objects = *new std::vector<Object>;
  return objects;
}

/// Returns whether a template of the standard library keeps copies of its arguments' values.
bool owns_values(llvm::StringRef name) {
  static constexpr const char* names[] = {
      "allocator",     "array",         "basic_string", "char_traits", "complex",    "deque",
      "equal_to",      "hash",          "less",         "list",        "map",        "optional",
      "pair",          "set",           "shared_ptr",   "tuple",       "unique_ptr", "default_delete",
      "unordered_map", "unordered_set", "variant",      "vector"};
  return llvm::is_contained(names, name);
}

bool record_may_refer(const clang::CXXRecordDecl& record, int depth);

bool may_refer(clang::QualType given, int depth) {
  const clang::QualType type = given.getCanonicalType();
  if (type->isArithmeticType() || type->isEnumeralType()) return false;
  if (const auto* array = type->getAsArrayTypeUnsafe()) return may_refer(array->getElementType(), depth);
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return !record || !record->hasDefinition() || depth == 0 ||
         record_may_refer(*record->getDefinition(), depth);
}

bool record_may_refer(const clang::CXXRecordDecl& record, int depth) {
  const std::string name = record.getQualifiedNameAsString();
  if (name.starts_with("ktape::") || name.starts_with("xt::")) return false;
  const auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (record.isInStdNamespace()) {
    if (!instance || !owns_values(record.getName())) return true;
    for (const clang::TemplateArgument& argument : instance->getTemplateArgs().asArray()) {
      if (argument.getKind() == clang::TemplateArgument::Type && may_refer(argument.getAsType(), depth - 1))
        return true;
      if (argument.getKind() == clang::TemplateArgument::Pack)
        for (const clang::TemplateArgument& one : argument.pack_elements())
          if (one.getKind() == clang::TemplateArgument::Type && may_refer(one.getAsType(), depth - 1))
            return true;
    }
    return false;
  }
  for (const clang::CXXBaseSpecifier& base : record.bases())
    if (may_refer(base.getType(), depth - 1)) return true;
  return std::any_of(record.field_begin(), record.field_end(),
                     [&](const clang::FieldDecl* field) { return may_refer(field->getType(), depth - 1); });
}

bool record_can_be_copied(const clang::CXXRecordDecl& record, int depth);

bool type_can_be_copied(clang::QualType given, int depth) {
  const clang::QualType type = given.getCanonicalType();
  if (type->isArithmeticType() || type->isEnumeralType() || type->isPointerType()) return true;
  if (type->isReferenceType()) return true;  // a member
  if (const auto* array = type->getAsArrayTypeUnsafe())
    return type_can_be_copied(array->getElementType(), depth);
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && record->hasDefinition() && depth > 0 &&
         record_can_be_copied(*record->getDefinition(), depth - 1);
}

bool record_can_be_copied(const clang::CXXRecordDecl& record, int depth) {
  const std::string name = record.getQualifiedNameAsString();
  if (record.isAbstract()) return false;
  if (name.starts_with("ktape::") || name.starts_with("xt::"))
    return !record.defaultedCopyConstructorIsDeleted();
  const auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (record.isInStdNamespace()) {
    if (record.getName() == "shared_ptr" || record.getName() == "weak_ptr") return true;
    if (!instance || !owns_values(record.getName()) || record.getName() == "unique_ptr") return false;
    const auto copies = [&](const clang::TemplateArgument& argument) {
      return argument.getKind() != clang::TemplateArgument::Type ||
             type_can_be_copied(argument.getAsType(), depth);
    };
    return llvm::all_of(instance->getTemplateArgs().asArray(), [&](const clang::TemplateArgument& argument) {
      return argument.getKind() == clang::TemplateArgument::Pack
                 ? llvm::all_of(argument.pack_elements(), copies)
                 : copies(argument);
    });
  }
  if (record.defaultedCopyConstructorIsDeleted()) return false;
  for (const clang::CXXConstructorDecl* constructor : record.ctors())
    if (constructor->isCopyConstructor() &&
        (constructor->isDeleted() || constructor->getAccess() != clang::AS_public))
      return false;
  for (const clang::CXXBaseSpecifier& base : record.bases())
    if (!type_can_be_copied(base.getType(), depth)) return false;
  return std::all_of(record.field_begin(), record.field_end(), [&](const clang::FieldDecl* field) {
    return type_can_be_copied(field->getType(), depth);
  });
}

/// Finds the session's variables that a declaration names: those in the bodies of functions, which may run at
/// any later time, and the others.
class Visitor : public clang::RecursiveASTVisitor<Visitor> {
 public:
  using Variables = std::set<const clang::VarDecl*>;
  explicit Visitor(Variables& in_functions) : in_functions_(in_functions) {}
  const Variables& named() const { return named_; }

  bool TraverseDecl(clang::Decl* declaration) {
    const bool function = llvm::isa_and_nonnull<clang::FunctionDecl>(declaration);
    if (const auto* variable = llvm::dyn_cast_or_null<clang::VarDecl>(declaration)) note(variable);
    functions_ += function ? 1 : 0;
    const bool go_on = RecursiveASTVisitor::TraverseDecl(declaration);
    functions_ -= function ? 1 : 0;
    return go_on;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    ++functions_;
    const bool go_on = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    --functions_;
    return go_on;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    const clang::ValueDecl* declaration = name->getDecl();
    if (const auto* part = llvm::dyn_cast<clang::BindingDecl>(declaration))
      declaration = part->getDecomposedDecl();
    note(llvm::dyn_cast_or_null<clang::VarDecl>(declaration));
    return true;
  }

 private:
  void note(const clang::VarDecl* variable) {
    if (!variable || !variable->hasGlobalStorage() || variable->isFromASTFile()) return;
    (functions_ > 0 ? in_functions_ : named_).insert(variable->getCanonicalDecl());
  }

  Variables& in_functions_;
  Variables named_;
  int functions_ = 0;
};

}  // namespace

extern "C" __attribute__((visibility("default"), used)) int ktape_session_object(void (*destructor)(void*),
                                                                                 void* address, void*) {
  objects().push_back({destructor, address});
  return 0;
}

bool can_be_copied(clang::QualType type) {
  return !type->isArrayType() && !type->isFunctionType() && type_can_be_copied(type, 8);
}

void destroy_object(const void* address) {
  const auto found = std::find_if(objects().rbegin(), objects().rend(),
                                  [&](const Object& object) { return object.address == address; });
  if (found == objects().rend()) return;
  const Object object = *found;
  objects().erase(std::next(found).base());
  object.destructor(object.address);
}

void destroy_objects() {
  while (!objects().empty()) {
    const Object last = objects().back();
    objects().pop_back();
    last.destructor(last.address);
  }
}

void References::add(const std::vector<clang::Decl*>& cell) {
  for (clang::Decl* declaration : cell) {
    Visitor visitor(reachable_);
    visitor.TraverseDecl(declaration);
    const auto refers = [](const clang::VarDecl* variable) { return may_refer(variable->getType(), 8); };
    if (llvm::any_of(visitor.named(), refers))
      reachable_.insert(visitor.named().begin(), visitor.named().end());
  }
}

bool References::may_reach(const clang::VarDecl* variable) const {
  return reachable_.contains(variable->getCanonicalDecl());
}

}  // namespace ktape::interactive
