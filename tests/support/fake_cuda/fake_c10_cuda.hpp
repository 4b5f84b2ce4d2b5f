#pragma once

extern "C" {

/// Whether the program's end has destroyed the allocator.
int fake_allocator_is_destroyed();
}
