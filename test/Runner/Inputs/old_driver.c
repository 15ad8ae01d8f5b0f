/* A libcuda.so.1 that says a version and lacks the rest. */
int cuDriverGetVersion(int *version) {
  *version = VERSION;
  return 0;
}
