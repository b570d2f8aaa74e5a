#pragma once
/// The declarations with which the prompt opens, precompiled so that the prompt opens at once.

#include <ktape/interactive/display/display.hpp>
#include <ktape/interactive/session/names.hpp>
#include <ktape/interactive/session/open_if.hpp>
#include <ktape/interactive/session/timing.hpp>

using ktape::interactive::display;
