// says: ok
//| n = 64
//| form = "square"
//| wg = "8x8"
//| multiple = 8
//| items = "n, n"
//| args = ["inout d[n*n] below 1000", "k", "n"]
//| loop = "k in 0..n"
//| check = """numpy: d = d.reshape(n, n).copy()
//| for k in range(n): d = np.minimum(d, d[:, k:k+1] + d[k:k+1, :])"""
__kernel void relax(__global int *d, int k, int n) {
  int j = get_global_id(0), i = get_global_id(1);
  if (i == k || j == k) return;
  int via = d[i * n + k] + d[k * n + j];
  if (via < d[i * n + j]) d[i * n + j] = via;
}
