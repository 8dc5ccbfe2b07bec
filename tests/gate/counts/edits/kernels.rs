//! Kernels that are edited.

/// The words behind `gpulab count`, and a file that it reads.
pub type Kernel = (&'static str, &'static str);

pub const SEQUENTIAL: Kernel = ("reduce:3", "cl/reduce/sequential.cl");
pub const RAKING: Kernel = ("reduce:7", "cl/reduce/raking.cl");
pub const COALESCED: Kernel = ("dot:coalesced", "cl/dot/coalesced.cl");
pub const LOCAL: Kernel = ("dot:local", "cl/dot/local.cl");
pub const VECTORISED: Kernel = ("dot:vectorised", "cl/dot/vectorised.cl");
pub const PADDED: Kernel = ("transpose:conflict_free", "cl/transpose/conflict_free.cl");
pub const MINPLUS: Kernel = ("minplus:coalesced", "cl/minplus/coalesced.cl");
pub const BLOCKS: Kernel = ("minplus:registers", "cl/minplus/registers.cl");
pub const TREE: Kernel = (
    "tests/own/right/reduce_tree.cl --as reduce",
    "tests/own/right/reduce_tree.cl",
);
pub const VECTORS: Kernel = (
    "tests/own/right/reduce_vectorised.cl --as reduce -n 65536",
    "tests/own/right/reduce_vectorised.cl",
);
pub const TILES: Kernel = (
    "tests/own/right/minplus_tiled.cl:tiles --as minplus -n 32",
    "tests/own/right/minplus_tiled.cl",
);
pub const TURNED: Kernel = (
    "data/examples/transposition/family.toml:padded",
    "data/examples/transposition/tile.cl",
);
pub const PRODUCT: Kernel = (
    "data/examples/product/family.toml:tiled -n 32",
    "data/examples/product/tiled.cl",
);
pub const HISTOGRAM: Kernel = (
    "data/examples/histogram/family.toml:local",
    "data/examples/histogram/local.cl",
);
pub const STENCIL: Kernel = (
    "data/examples/stencil/family.toml:local -n 32",
    "data/examples/stencil/local.cl",
);
pub const SAXPY: Kernel = (
    "data/examples/saxpy/family.toml:vectors",
    "data/examples/saxpy/vectors.cl",
);
pub const SOFTMAX: Kernel = (
    "data/examples/softmax/family.toml:group -n 64",
    "data/examples/softmax/group.cl",
);
pub const NBODY: Kernel = (
    "data/examples/nbody/family.toml:tile -n 256",
    "data/examples/nbody/tile.cl",
);
pub const FIRST_ADD: Kernel = ("reduce:first_add", "cl/reduce/first_add.cl");
pub const STRIDED: Kernel = ("reduce:strided", "cl/reduce/strided.cl");
pub const ACCUMULATORS: Kernel = ("dot:accumulators", "cl/dot/accumulators.cl");
pub const TRANSPOSE_VECTORISED: Kernel = ("transpose:vectorised", "cl/transpose/vectorised.cl");
pub const TRANSPOSE_REGISTERS: Kernel = ("transpose:registers", "cl/transpose/registers.cl");
pub const MINPLUS_NAIVE: Kernel = ("minplus:naive -n 32", "cl/minplus/naive.cl");
pub const MINPLUS_LOCAL: Kernel = ("minplus:local", "cl/minplus/local.cl");
pub const OWN_RAKING: Kernel = (
    "tests/own/right/reduce_raking.cl --as reduce",
    "tests/own/right/reduce_raking.cl",
);
pub const BACKWARDS: Kernel = (
    "tests/own/right/dot_backwards.cl --as dot",
    "tests/own/right/dot_backwards.cl",
);
pub const WITH_TREE: Kernel = (
    "tests/own/right/dot_included_tree.cl --as dot",
    "tests/own/right/dot_included_tree.cl",
);
pub const DOT_SOME: Kernel = (
    "tests/own/right/dot_items_with_a_share.cl --as dot",
    "tests/own/right/dot_items_with_a_share.cl",
);
pub const CONVOLUTION: Kernel = (
    "data/examples/convolution/family.toml:naive -n 32 --m 32",
    "data/examples/convolution/naive.cl",
);
pub const CONVOLUTION_CONSTANT: Kernel = (
    "data/examples/convolution/family.toml:constant -n 32 --m 32",
    "data/examples/convolution/naive.cl",
);
pub const CONVOLUTION_TILE: Kernel = (
    "data/examples/convolution/family.toml:tile -n 64 --m 16",
    "data/examples/convolution/tile.cl",
);
pub const DOT_GROUPS: Kernel = (
    "data/examples/dot_product/family.toml:groups -n 8192",
    "data/examples/dot_product/groups.cl",
);
pub const FLOYD: Kernel = (
    "data/examples/floyd_warshall/family.toml:naive -n 32",
    "data/examples/floyd_warshall/naive.cl",
);
pub const FLOYD_BLOCKED: Kernel = (
    "data/examples/floyd_warshall/family.toml:blocked -n 32",
    "data/examples/floyd_warshall/blocked.cl",
);
pub const HISTOGRAM_ITEMS: Kernel = (
    "data/examples/histogram/family.toml:items",
    "data/examples/histogram/items.cl",
);
pub const INSIDE: Kernel = (
    "data/examples/mandelbrot/family.toml:inside -n 32 --m 32",
    "data/examples/mandelbrot/inside.cl",
);
pub const NBODY_NAIVE: Kernel = (
    "data/examples/nbody/family.toml:naive -n 256",
    "data/examples/nbody/naive.cl",
);
pub const PULL: Kernel = (
    "data/examples/nbody/family.toml:naive -n 256",
    "data/examples/nbody/pull.cl",
);
pub const BODIES: Kernel = (
    "data/examples/nbody/family.toml:bodies -n 256",
    "data/examples/nbody/bodies.cl",
);
pub const PRODUCT_REGISTERS: Kernel = (
    "data/examples/product/family.toml:registers -n 32",
    "data/examples/product/registers.cl",
);
pub const HALF: Kernel = (
    "data/examples/product_half/family.toml:tile -n 32",
    "data/examples/product_half/tile.cl",
);
pub const HALF_VECTORS: Kernel = (
    "data/examples/product_half/family.toml:vectors -n 32",
    "data/examples/product_half/vectors.cl",
);
pub const SAXPY_NAIVE: Kernel = (
    "data/examples/saxpy/family.toml:naive",
    "data/examples/saxpy/naive.cl",
);
pub const SAXPY_STRIDES: Kernel = (
    "data/examples/saxpy/family.toml:strides",
    "data/examples/saxpy/strides.cl",
);
pub const SCAN_ONCE: Kernel = (
    "data/examples/scan/family.toml:once",
    "data/examples/scan/once.cl",
);
pub const SMOOTH: Kernel = (
    "data/examples/smooth/family.toml:naive -n 32 --m 32",
    "data/examples/smooth/naive.cl",
);
pub const SOFTMAX_NAIVE: Kernel = (
    "data/examples/softmax/family.toml:naive -n 64",
    "data/examples/softmax/naive.cl",
);
pub const ONLINE: Kernel = (
    "data/examples/softmax/family.toml:online -n 512 --m 2",
    "data/examples/softmax/online.cl",
);
pub const SORT: Kernel = (
    "data/examples/sort/family.toml:naive -n 1024",
    "data/examples/sort/step.cl",
);
pub const SORT_PAIRS: Kernel = (
    "data/examples/sort/family.toml:naive -n 1024",
    "data/examples/sort/naive.cl",
);
pub const SORT_LOCAL: Kernel = (
    "data/examples/sort/family.toml:local -n 1024",
    "data/examples/sort/local.cl",
);
pub const STREAM: Kernel = (
    "data/examples/spmv/family.toml:stream -n 1024",
    "data/examples/spmv/stream.cl",
);
pub const TEMPLATE: Kernel = (
    "data/examples/template/family.toml:tiled",
    "data/examples/template/tiled.cl",
);

/// A step of the tree of `sequential`.
pub const FOLD: &str = "scratch[id] = REDUCE(scratch[id], scratch[id + offset]);";
