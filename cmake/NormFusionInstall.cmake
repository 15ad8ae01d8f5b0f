# Installs headers, libraries, tools and a package, so that another project says
#   find_package(NormFusion REQUIRED)
#   target_link_libraries(its-tool PRIVATE NormFusion::NormFusion MLIR LLVM)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(norm_fusion_libraries GLOBAL PROPERTY NORM_FUSION_LIBRARIES)
add_library(NormFusion INTERFACE)
target_link_libraries(NormFusion INTERFACE ${norm_fusion_libraries})
target_include_directories(NormFusion INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS NormFusion ${norm_fusion_libraries} EXPORT NormFusionTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT NormFusionTargets NAMESPACE NormFusion::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/NormFusion)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/norm_fusion
                  ${PROJECT_BINARY_DIR}/include/norm_fusion
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
  PATTERN Runner EXCLUDE)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/NormFusionConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/NormFusionConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/NormFusion)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/NormFusionConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/NormFusionConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/NormFusionConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/NormFusion)
