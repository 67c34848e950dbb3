extern "C" __global__ void pattern(const int* index, uint4* words) {
  __shared__ __align__(1024) $kind s[$bytes / sizeof($kind)];
  int lane = threadIdx.x;
  int at = index[lane];
  uint4 w = words[lane];
  unsigned v[4] = {w.x, w.y, w.z, w.w};
  if (at < 0) return;
  $body
  words[lane] = make_uint4(v[0], v[1], v[2], v[3]);
}
