#pragma once
/// What is there when the prompt opens. It is precompiled, so that the prompt opens at once.

#include <ktape/interactive/display.hpp>
#include <ktape/interactive/names.hpp>

using ktape::interactive::display;
