#pragma once
#include "call.hpp"

/// Each adds the ops of one family to the table, see the source file of that name.
namespace golden {

void add_elementwise(Table& table);
void add_misc(Table& table);

}  // namespace golden
