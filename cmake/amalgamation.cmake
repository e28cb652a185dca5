# SPDX-License-Identifier: MIT
# The target amalgamation: the library as two files in <build>/single, tinyblas_single.h and tinyblas_single.cu, for programs that
# copy files. They are for this build's back end.
find_program(TINYBLAS_PYTHON python3)
mark_as_advanced(TINYBLAS_PYTHON)
if(TINYBLAS_PYTHON)
    get_target_property(amalgamated tinyblas_objects SOURCES)
    if(TARGET tinyblas_objects_90a)
        get_target_property(amalgamated_90a tinyblas_objects_90a SOURCES)
        list(APPEND amalgamated ${amalgamated_90a})
    endif()
    list(FILTER amalgamated EXCLUDE REGEX "^/")  # files that include others of ours
    get_property(together GLOBAL PROPERTY tinyblas_compiled_together)
    list(APPEND amalgamated ${together})
    list(TRANSFORM amalgamated PREPEND ${PROJECT_SOURCE_DIR}/src/)
    add_custom_target(amalgamation
        COMMAND ${TINYBLAS_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/amalgamate.py
                ${TINYBLAS_BACKEND} ${PROJECT_BINARY_DIR}/single ${amalgamated}
        COMMENT "Writing single/tinyblas_single.h and single/tinyblas_single.cu" VERBATIM)
endif()
