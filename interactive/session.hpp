#pragma once
/// The declarations with which the prompt opens, precompiled so that it opens at once.

#include <ktape/interactive/display.hpp>
#include <ktape/interactive/names.hpp>

using ktape::interactive::display;
