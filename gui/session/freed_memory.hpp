#pragma once

namespace interlace::gui {

/// Gives what reading has left behind back to the system: the allocator keeps as much as the recording itself takes,
/// for a program that runs on for hours. Does nothing where the C library has no such call.
void give_back_freed_memory();

}  // namespace interlace::gui
