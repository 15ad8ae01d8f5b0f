# norm-fusion-docs: writes docs/reference from the TableGen files.
set(reference ${PROJECT_SOURCE_DIR}/docs/reference)
set(tblgen ${MLIR_TABLEGEN_EXE} -I ${PROJECT_SOURCE_DIR}/include -I ${MLIR_INCLUDE_DIRS})
set(dialect ${PROJECT_SOURCE_DIR}/include/norm_fusion/Dialect/NormFusion)
add_custom_target(norm-fusion-docs
  COMMAND ${tblgen} -gen-dialect-doc -dialect=norm_fusion ${dialect}/IR/NormFusionOps.td -o ${reference}/dialect.md
  COMMAND ${tblgen} -gen-pass-doc ${dialect}/Transforms/Passes.td -o ${reference}/transforms.md
  COMMAND ${tblgen} -gen-pass-doc ${PROJECT_SOURCE_DIR}/include/norm_fusion/Conversion/Passes.td -o ${reference}/conversions.md
  VERBATIM)
