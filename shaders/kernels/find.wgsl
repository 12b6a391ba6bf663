// Contact lists: every pair that has no slot and is within the skin, sorted by partner, with the springs from
// the previous lists. Each workgroup takes its part of the columns by one addition: where an element's list
// lies differs from run to run, what is in it does not.

// Whether a position lies farther away than a reach, from its high words alone. The last digit of a position is
// allowed for.
fn is_beyond(a: Motion, p: vec3<f32>, reach: f32) -> bool {
    let x = p - a.p;
    let bound = 1.001 * reach + 4.0e-7 * length(a.p);
    return dot(x, x) > bound * bound;
}

fn distance_squared(a: Motion, j: u32) -> f32 {
    let b = motion(j);
    let low = vec3<f32>(b.w, motion(2u * launch.stride + j).w, motion(3u * launch.stride + j).w);
    let x = motion_separation(a.p, a.low, b.xyz, low);
    return dot(x, x);
}

// Bonded and broken pairs are handled by their slots.
fn has_slot(i: u32, j: u32) -> bool {
    // Without a branch, so that the slots are read all at once.
    var found = false;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        found = select(found, true, neighbour(slot * launch.stride + i) == j);
    }
    return found;
}

fn listed(i: u32, a: Motion, held: bool, j: u32) -> bool {
    let reach = a.r + motion(4u * launch.stride + j).w + launch.skin;
    if j == i || distance_squared(a, j) > reach * reach {
        return false;
    }
    // Two held elements cannot answer a force.
    return !(held && own(j).x == 0.0) && !has_slot(i, j);
}

// Partners of one element, ascending, before it is known where its list lies.
const ROOM: u32 = 64u;
var<private> nearby: array<u32, ROOM>;

// `first` of lists that are in `nearby`.
const NEARBY: u32 = 0xffffffffu;

fn partner_of(first: u32, k: u32) -> u32 {
    if first == NEARBY {
        return nearby[k];
    }
    return list_partner(first + k);
}

fn partner_of_set(first: u32, k: u32, j: u32) {
    if first == NEARBY {
        nearby[k] = j;
    } else {
        list_partner_set(first + k, j);
    }
}

// Inserts a partner in ascending order after `found` others; counts only if there is no room.
fn insert(first: u32, found: u32, j: u32) {
    if first == NEARBY && found >= ROOM {
        return;
    }
    var k = found;
    while k > 0u {
        let before = partner_of(first, k - 1u);
        if before < j {
            break;
        }
        partner_of_set(first, k, before);
        k -= 1u;
    }
    partner_of_set(first, k, j);
}

// Number of candidates that are gathered at a time.
const CANDIDATES: u32 = 32u;
var<private> candidates: array<u32, CANDIDATES>;

// The cells around one, itself among them.
const AROUND: u32 = 27u;
// First links of their chains.
var<private> heads: array<u32, AROUND>;

fn around(home: vec3<i32>, k: u32) -> vec3<i32> {
    let n = i32(k);
    return home + vec3<i32>(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
}

// Lists the partners of an element from `first` on. Returns their number.
fn partners(i: u32, first: u32) -> u32 {
    let a = read_motion(i);
    let held = own(i).x == 0.0;
    var found = 0u;
    if is_exposed(masks_load(whole_at(i))) {
        let home = cell_of(a.p);
        for (var k = 0u; k < AROUND; k += 1u) {
            heads[k] = cells(bucket_of(around(home, k)));
        }
        var next = 0u;
        var cell = 0u;
        loop {
            // Candidates are gathered first and tested afterwards, and one loop walks all chains: the elements of a
            // workgroup meet candidates and ends of chains at different links, and each would hold up the others.
            var count = 0u;
            while count < CANDIDATES {
                while next == 0u && cell < AROUND {
                    next = heads[cell];
                    cell += 1u;
                }
                if next == 0u {
                    break;
                }
                let j = next - 1u;
                let link = anchor(j);
                next = link_next(link);
                // Cells may share a bucket; an element counts only in its own cell.
                if !is_beyond(a, link.xyz, launch.cell) && all(cell_of(link.xyz) == around(home, cell - 1u)) {
                    candidates[count] = j;
                    count += 1u;
                }
            }
            for (var k = 0u; k < count; k += 1u) {
                if listed(i, a, held, candidates[k]) {
                    insert(first, found, candidates[k]);
                    found += 1u;
                }
            }
            if count < CANDIDATES {
                break;
            }
        }
    }
    if !held {
        for (var k = 0u; k < launch.colliders; k += 1u) {
            if collider_at(k, a.p, a.low).nearest.distance < a.r + launch.skin {
                insert(first, found, COLLIDER + k);
                found += 1u;
            }
        }
    }
    return found;
}

var<workgroup> on: u32;
var<workgroup> sums: array<u32, WORKGROUP>;
var<workgroup> taken: u32;

// First of `own` entries for each invocation of the workgroup.
fn take(local: u32, own: u32) -> u32 {
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
    if local == 0u {
        taken = status_add(LIST_NEED, sums[WORKGROUP - 1u]);
    }
    let first = workgroupUniformLoad(&taken) + sums[local] - own;
    workgroupBarrier();
    return first;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    if local == 0u {
        on = select(0u, status_load(REBUILD), allowed(LISTS));
    }
    if workgroupUniformLoad(&on) == 0u {
        return;
    }
    for (var start = group.x * WORKGROUP; start < launch.count; start += groups.x * WORKGROUP) {
        let i = start + local;
        var found = 0u;
        if i < launch.count {
            found = partners(i, NEARBY);
        }
        let first = take(local, found);
        if i < launch.count {
            list(i, first, found);
        }
    }
}

// Writes the list of an element that has been found, unless the columns are too short.
fn list(i: u32, first: u32, found: u32) {
    let end = first + found;
    next_bounds_set(i, first);
    next_bounds_set(launch.stride + i, end);
    if end <= launch.list_capacity {
        if found > ROOM {
            partners(i, first);
        } else {
            for (var k = 0u; k < found; k += 1u) {
                list_partner_set(first + k, nearby[k]);
            }
        }
        keep_springs(i, first, end);
    }
    watch_broken(i);
}

// Springs of the partners that the old list has too; both lists ascend.
fn keep_springs(i: u32, first: u32, end: u32) {
    let r = motion(4u * launch.stride + i).w;
    let kept_end = list_bounds(launch.stride + i);
    var kept = list_bounds(i);
    for (var at = first; at < end; at += 1u) {
        let j = list_partner(at);
        while kept < kept_end && kept_partner(kept) < j {
            kept += 1u;
        }
        var spring = vec3<f32>(0.0);
        if kept < kept_end && kept_partner(kept) == j {
            spring = kept_spring(kept).xyz;
        }
        var touch = 0.0;
        if j < COLLIDER {
            touch = r + motion(4u * launch.stride + j).w;
        }
        list_spring_set(at, vec4<f32>(spring, touch));
    }
}

// Broken pairs that are far apart are skipped until they may meet again.
fn watch_broken(i: u32) {
    let a = read_motion(i);
    let held = own(i).x == 0.0;
    let whole = masks_load(whole_at(i));
    var near = 0u;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let j = neighbour(slot * launch.stride + i);
        if j == i || (whole >> slot & 1u) != 0u || (held && own(j).x == 0.0) {
            continue;
        }
        let reach = bond_rest(slot * launch.stride + i).w + launch.skin;
        if !is_beyond(a, anchor(j).xyz, reach) && distance_squared(a, j) <= reach * reach {
            near |= 1u << slot;
        }
    }
    masks_store(near_at(i), near);
}
