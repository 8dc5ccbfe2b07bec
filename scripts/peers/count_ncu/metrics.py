"""The counters of Nsight Compute, and what gpulab counts of the same thing.

A request is a warp's instruction that reaches memory; a sector is a segment of 32 bytes; a wavefront is a pass of local
(shared) memory. Requests of local memory are the instructions whose warp has an item that takes part: those are what
smsp__sass_inst_executed_op_shared_* counts; smsp__inst_executed_op_shared_* also counts those that the predicate of each
item switches off, as in `@!P0 LDS`.
"""

# Of each quantity that must be equal: the column of `gpulab count`, and the counter.
JUDGED = {
    "global load requests": ("global_read_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    "global load sectors": ("global_read_segments", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    "global store requests": ("global_write_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
    "global store sectors": ("global_write_segments", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    "local load requests": ("local_read_requests", "smsp__sass_inst_executed_op_shared_ld.sum"),
    "local load passes": ("local_read_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    "local load conflicts": ("local_read_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
    "local store requests": ("local_write_requests", "smsp__sass_inst_executed_op_shared_st.sum"),
    "local store passes": ("local_write_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
    "local store conflicts": ("local_write_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
}

# Segments that the caches lack. Launches are so small that each group has a compute unit, and so an L1, of its own: it lacks
# what the group loads for the first time. L2, emptied before, lacks what the launch loads for the first time.
CACHES = {
    "L1 load hits": (lambda counts: int(counts["global_read_segments"]) - int(counts["global_read_group_segments"]),
                     "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"),
    "L1 load misses": (lambda counts: int(counts["global_read_group_segments"]),
                       "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum"),
    "L2 load misses": (lambda counts: int(counts["global_read_launch_segments"]),
                       "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum"),
}
NEAR = 0.1

WARP_INSTRUCTIONS = "smsp__inst_executed.sum"
ITEM_INSTRUCTIONS = "smsp__thread_inst_executed_pred_on.sum"

# Instructions by their operation, among them barriers (BAR). `ncu --query-metrics` does not list it.
BY_OPERATION = "sass__inst_executed_per_opcode"

# Measured, too, to explain what differs.
BESIDE = [
    "smsp__thread_inst_executed.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "dram__sectors_read.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "smsp__inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_global_ld.sum",
    "smsp__sass_inst_executed_op_global_st.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_global_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "sm__inst_executed_pipe_adu.sum",
    "smsp__inst_executed_pipe_adu.sum",
]

BESIDE_UNLISTED = ["sass__inst_executed_per_opcode_with_modifier_all"]

LISTED = [counter for _, counter in [*JUDGED.values(), *CACHES.values()]] + [WARP_INSTRUCTIONS, ITEM_INSTRUCTIONS] + BESIDE
UNLISTED = [BY_OPERATION, *BESIDE_UNLISTED]
