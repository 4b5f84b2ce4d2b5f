# interlace_add_header_check(): every header that interlace_add_library was given includes what it uses. One with a source
# of its name is seen to by that, which includes it before all else (the architecture rule `forbidden` holds it to that);
# the others are compiled alone, by the ctest entry `header_self_containment`. The ordinary build does not.
function(interlace_add_header_check)
  get_property(headers GLOBAL PROPERTY INTERLACE_HEADERS)
  get_property(libraries GLOBAL PROPERTY INTERLACE_LIBRARIES)
  set(sources)
  foreach(header IN LISTS headers)
    cmake_path(REPLACE_EXTENSION header LAST_ONLY cpp OUTPUT_VARIABLE own_source)
    if(EXISTS "${own_source}")
      continue()
    endif()
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE path)
    set(source "${PROJECT_BINARY_DIR}/header_check/${path}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@path@\"\n" @ONLY)
    list(APPEND sources "${source}")
  endforeach()

  add_library(interlace_header_check OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(interlace_header_check PROPERTIES UNITY_BUILD OFF)
  target_include_directories(interlace_header_check PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(interlace_header_check PRIVATE interlace_warnings ${libraries})
  target_compile_options(interlace_header_check PRIVATE -O0)  # nothing of it ever runs

  add_test(NAME header_self_containment
           COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target interlace_header_check)
  set_tests_properties(header_self_containment PROPERTIES LABELS architecture TIMEOUT 600 COST 1000)
endfunction()
