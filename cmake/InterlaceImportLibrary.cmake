include(FindPackageHandleStandardArgs)

# interlace_import_library(PACKAGE TARGET) ends a find module that has sought PACKAGE_INCLUDE_DIR and PACKAGE_LIBRARY:
# says whether both are there, and makes the imported target of them.
macro(interlace_import_library package target)
  mark_as_advanced(${package}_INCLUDE_DIR ${package}_LIBRARY)
  find_package_handle_standard_args(${package} REQUIRED_VARS ${package}_LIBRARY ${package}_INCLUDE_DIR)
  if(${package}_FOUND AND NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED)
    set_target_properties(${target} PROPERTIES
      IMPORTED_LOCATION "${${package}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${package}_INCLUDE_DIR}")
  endif()
endmacro()
