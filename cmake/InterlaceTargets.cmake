# interlace_add_library(NAME [INJECTED] SOURCES file... [HEADERS file...] [DEPENDS target...] [PRIVATE_DEPENDS target...])
#
# A static library `interlace_NAME` of the folder it is called in (an interface one where it is all headers). Its headers
# are held to the test `header_self_containment`; DEPENDS are part of its interface, PRIVATE_DEPENDS are not. INJECTED: it
# is part of the shared library that goes into recorded programs, too. All presets compile it alike, so that a compiler's
# cache serves them all.
function(interlace_add_library name)
  cmake_parse_arguments(arg "INJECTED" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(target interlace_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES} ${arg_HEADERS})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE interlace_warnings ${arg_PRIVATE_DEPENDS})
    if(arg_INJECTED)
      # Nobody puts other functions in the place of ours: they may be inlined as in a program.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  endif()
  list(TRANSFORM arg_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY INTERLACE_HEADERS ${arg_HEADERS})
  set_property(GLOBAL APPEND PROPERTY INTERLACE_LIBRARIES ${target})
endfunction()

# interlace_add_program(NAME SOURCES file... [HEADERS file...] [DEPENDS target...])
#
# An executable. Its headers are held to the same test as a library's.
function(interlace_add_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES} ${arg_HEADERS})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE interlace_warnings ${arg_DEPENDS})
  list(TRANSFORM arg_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY INTERLACE_HEADERS ${arg_HEADERS})
endfunction()
