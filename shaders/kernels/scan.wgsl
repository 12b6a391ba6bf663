// Exclusive prefix sum in place: within blocks, then of the blocks' totals, then the offsets added to the
// blocks.

override length: u32;

var<workgroup> sums: array<u32, WORKGROUP>;
var<workgroup> on: u32;

fn working(local: u32) -> u32 {
    if local == 0u {
        on = select(0u, status_load(REBUILD), allowed(LISTS));
    }
    return workgroupUniformLoad(&on);
}

// Exclusive sum over the workgroup. `sums` may be reused after the next barrier. Returns the sum before
// `local` and the total.
fn scan_workgroup(local: u32, own: u32) -> vec2<u32> {
    sums[local] = own;
    workgroupBarrier();
    for (var reach = 1u; reach < WORKGROUP; reach *= 2u) {
        var left = 0u;
        if local >= reach {
            left = sums[local - reach];
        }
        workgroupBarrier();
        sums[local] += left;
        workgroupBarrier();
    }
    let total = sums[WORKGROUP - 1u];
    let inclusive = sums[local];
    workgroupBarrier();
    return vec2<u32>(inclusive - own, total);
}

@compute @workgroup_size(WORKGROUP)
fn blocks(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    if working(local) == 0u {
        return;
    }
    let count = (length + SCAN_BLOCK - 1u) / SCAN_BLOCK;
    for (var block = group.x; block < count; block += groups.x) {
        let first = block * SCAN_BLOCK + local * SCAN_EACH;
        let last = min(first + SCAN_EACH, length);
        var own = 0u;
        for (var i = first; i < last; i += 1u) {
            own += scanned(i);
        }
        let sum = scan_workgroup(local, own);
        var running = sum.x;
        for (var i = first; i < last; i += 1u) {
            let value = scanned(i);
            scanned_set(i, running);
            running += value;
        }
        if local == 0u {
            block_sums_set(block, sum.y);
        }
    }
}

// One workgroup sums the totals of all blocks.
@compute @workgroup_size(WORKGROUP)
fn totals(@builtin(local_invocation_index) local: u32) {
    if working(local) == 0u {
        return;
    }
    let count = (length + SCAN_BLOCK - 1u) / SCAN_BLOCK;
    var before = 0u;
    for (var start = 0u; start < count; start += WORKGROUP) {
        let i = start + local;
        var own = 0u;
        if i < count {
            own = block_sums(i);
        }
        let sum = scan_workgroup(local, own);
        if i < count {
            block_sums_set(i, before + sum.x);
        }
        before += sum.y;
    }
}

@compute @workgroup_size(WORKGROUP)
fn offsets(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(LISTS) || status_load(REBUILD) == 0u {
        return;
    }
    for (var i = id.x; i < length; i += groups.x * WORKGROUP) {
        scanned_set(i, scanned(i) + block_sums(i / SCAN_BLOCK));
    }
}
