# interlace_add_library(NAME SOURCES file... [HEADERS file...] [DEPENDS target...] [PRIVATE_DEPENDS target...])
#
# A static library `interlace_NAME` of the folder it is called in. Its headers are compiled alone by the test
# `header_self_containment`; DEPENDS are part of its interface, PRIVATE_DEPENDS are not.
function(interlace_add_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  set(target interlace_${name})
  add_library(${target} STATIC ${arg_SOURCES} ${arg_HEADERS})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE interlace_warnings ${arg_PRIVATE_DEPENDS})
  list(TRANSFORM arg_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set_property(GLOBAL APPEND PROPERTY INTERLACE_HEADERS ${arg_HEADERS})
  set_property(GLOBAL APPEND PROPERTY INTERLACE_LIBRARIES ${target})
endfunction()
