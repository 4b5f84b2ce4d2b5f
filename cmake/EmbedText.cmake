# cmake -DINPUT=file -DOUTPUT=source -DHEADER=header -DNAMESPACE=ns -DNAME=kName -P EmbedText.cmake
# Writes a source file that defines the text of INPUT as the constant that HEADER declares, so that the program needs no
# data files beside it.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nconst std::string_view ${NAME} = R\"TEXT(${text})TEXT\";\n\n}  // namespace ${NAMESPACE}\n")
