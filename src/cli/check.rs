//! `cullet check`: estimates the size and duration of a run without running it.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::bem::solver::{MAX_DENSE_NODES, MAX_QUADRATIC_TRIANGLES};
use crate::math::has_fused_multiply_add;
use crate::simulate::choose::choose;
use crate::simulate::{PassCost, PreparedScene, warn};
use crate::spec::{Backend, Pipeline};
use crate::{pack, spec, stress};

/// Bytes on disk per element and frame: of the tables, and of the surfaces and the USD file of bunnies of 2000 to 8000
/// elements that shatter. Surfaces of whole bodies and of more elements are smaller.
const DISK_PER_ELEMENT_FRAME: [f64; 3] = [60.0, 900.0, 80.0];
/// Peak memory, bytes: of the program, per element and per bond, while a frame or a state waits to be written.
/// Contacts of grains need more: about 300 bytes per element where grains lie close.
const MEMORY_BYTES: [f64; 3] = [16e6, 370.0, 31.0];

/// Core time of boundary elements per pair of a triangle and a node, s: to build the matrix, and for each
/// right-hand side.
const SECONDS_PER_PAIR: [f64; 2] = [9e-7, 7e-7];
/// Core time of the fast multipole method per triangle, s, with quadratic displacements: to prepare, and for each
/// right-hand side.
const SECONDS_PER_QUADRATIC_TRIANGLE: [f64; 2] = [2.5e-4, 8e-4];
/// As `SECONDS_PER_QUADRATIC_TRIANGLE`, with linear displacements.
const SECONDS_PER_LINEAR_TRIANGLE: [f64; 2] = [7e-5, 1.8e-4];
/// Core time per point inside a body, s.
const SECONDS_PER_POINT: f64 = 4e-4;

/// Packs the bodies of a pipeline, measures a few steps and prints the plan of the run.
pub fn check(path: &Path, set: &[String], as_json: bool) -> anyhow::Result<()> {
    let resolved = spec::read(path, set)?;
    let pipeline = &resolved.pipeline;
    let packed = pack::pack(pipeline, &resolved.folder)?;
    if pipeline.is_static() {
        return check_static(pipeline, &packed, as_json);
    }
    let (settled, choice) = choose(&packed.packing, pipeline)?;
    let pipeline = &settled;
    let prepared = PreparedScene::new(&packed.packing, pipeline)?;
    prepared.validate(pipeline, pipeline.simulate.backend)?;
    let plan = prepared.schedule(pipeline);
    let elements = packed.packing.elements.id.len();
    let bonds = packed.packing.bonds.id.len();
    let steps = plan.steps_per_frame * u64::from(plan.frames);

    let mut bodies = super::bodies::bodies(
        &packed.packing,
        |body| pipeline.bodies[body].name.clone(),
        |body| packed.shapes.get(body).cloned(),
    );
    super::bodies::add_strengths(&mut bodies, pipeline);
    let sizes = super::notices::size_warnings(pipeline, &packed).into_iter();
    let sizes = sizes.map(|text| warn::Warning {
        kind: "size",
        body: None,
        severity: 0.0,
        text,
    });
    let warnings: Vec<_> = sizes
        .chain(warn::warnings(&packed.packing, pipeline, &plan))
        .collect();
    let statics = match pipeline.stress {
        Some(_) => Some(StaticPlan::new(pipeline, &packed)?),
        None => None,
    };

    // What will wake is unknown, so the cost of steps in which everything is awake is measured.
    let mut awake = pipeline.clone();
    awake.simulate.sleep = false;
    let backend = match pipeline.simulate.sleep {
        true => Backend::Cpu,
        false => pipeline.simulate.backend,
    };
    let mut run = prepared.start(&awake, backend, plan.dt)?;
    // Enough steps for about a tenth of a second, after some to warm up. An implicit step takes as long as a
    // hundred explicit ones or so.
    let sample = match pipeline.simulate.integrator.is_implicit() {
        true => (20_000 / elements.max(1) as u64).clamp(1, 100),
        false => (2_000_000 / elements.max(1) as u64).clamp(10, 1000),
    };
    let sample = sample.min(steps);
    run.advance(sample / 10 + 1)?;
    run.snapshot(0)?;
    let clock = Instant::now();
    run.snapshot(0)?;
    let per_frame = clock.elapsed().as_secs_f64();
    // Steps may run asynchronously on a device; taking a frame waits for them.
    let clock = Instant::now();
    run.advance(sample)?;
    run.snapshot(0)?;
    let stepped = clock.elapsed().as_secs_f64() - per_frame;
    // The difference of two timings can vanish; the rate must stay finite.
    let per_step = stepped.max(1e-9) / sample as f64;
    let seconds = per_step * steps as f64 + per_frame * f64::from(plan.frames + 1);

    let platform = run.platform();
    let mut notices = super::notices::notices(&packed);
    if platform.device_bytes.is_none() {
        notices.extend(super::notices::machine(has_fused_multiply_add()));
    }
    let disk =
        DISK_PER_ELEMENT_FRAME.map(|bytes| bytes * elements as f64 * f64::from(plan.frames + 1));

    let out = json!({
        "backend": platform.name,
        "device_memory_bytes": platform.device_bytes,
        "elements": elements,
        "bonds": bonds,
        "mass": packed.packing.elements.mass.iter().sum::<f64>(),
        "bodies": bodies,
        "bare": bare(&packed),
        "critical_step": plan.critical,
        "dt": plan.dt,
        "steps_per_frame": plan.steps_per_frame,
        "frames": plan.frames + 1,
        "steps": steps,
        "memory_bytes": MEMORY_BYTES[0] + elements as f64 * MEMORY_BYTES[1] + bonds as f64 * MEMORY_BYTES[2],
        "disk_bytes": { "tables": disk[0], "surfaces": disk[1], "usd": disk[2] },
        "simulate_seconds": seconds,
        "element_steps_per_second": elements as f64 / per_step,
        "integrator": pipeline.simulate.integrator,
        "explicit_cost": choice.map(|c| c.explicit),
        "implicit_cost": choice.map(|c| c.implicit),
        "notices": notices,
        "stress": statics.as_ref().map(|statics| statics.bodies.clone()),
        "warnings": warnings.iter().map(|w| json!({ "kind": w.kind, "body": w.body, "text": w.text })).collect::<Vec<_>>(),
    });
    if as_json {
        return super::print::print(&out.to_string());
    }
    let mut lines = vec![
        format!("elements            {elements}"),
        format!("bonds               {bonds}"),
        format!("critical time step  {:.4e} s", plan.critical),
        format!("time step           {:.4e} s", plan.dt),
        format!(
            "frames              {}, {} steps each",
            plan.frames + 1,
            plan.steps_per_frame
        ),
        format!("steps               {steps}"),
        format!(
            "memory              about {:.0} MB",
            out["memory_bytes"].as_f64().unwrap_or(0.0) / 1e6
        ),
        match platform.device_bytes {
            Some(bytes) => format!(
                "device memory       {:.0} MB of {}, at least",
                bytes as f64 / 1e6,
                platform.name
            ),
            None => format!("backend             {}", platform.name),
        },
        format!(
            "disk                tables about {:.0} MB; surfaces up to {:.0} MB and USD {:.0} MB, if everything shatters",
            disk[0] / 1e6,
            disk[1] / 1e6,
            disk[2] / 1e6
        ),
        match pipeline.simulate.sleep {
            true => format!(
                "simulate            about {:.1} s a millisecond at {:.1} M element-steps/s while all is awake; what will sleep is unknown",
                1e-3 / plan.dt * per_step,
                elements as f64 / per_step / 1e6
            ),
            false => format!(
                "simulate            about {:.0} s at {:.1} M element-steps/s before anything breaks",
                seconds,
                elements as f64 / per_step / 1e6
            ),
        },
    ];
    if pipeline.simulate.integrator.is_implicit() {
        lines.push(format!(
            "shares              {}",
            PassCost::shares(&run.costs())
        ));
    }
    if let Some(choice) = choice {
        let chosen = match pipeline.simulate.integrator.is_implicit() {
            true => "implicit",
            false => "explicit",
        };
        lines.push(format!(
            "integrator          {chosen}: a frame takes about {:.0} explicit steps, or implicit ones that cost as much as {:.0}",
            choice.explicit, choice.implicit
        ));
    }
    for (name, line) in super::bodies::list(&out["bodies"]) {
        lines.push(format!("{name:<19} {line}"));
    }
    if let Some(statics) = statics {
        lines.push("stress              after the simulation:".to_owned());
        lines.extend(statics.lines);
    }
    for notice in notices {
        lines.push(format!("note                {notice}"));
    }
    lines.extend(warn::worst(&warnings).iter().map(warning_line));
    super::print::print(&lines.join("\n"))
}

/// A line about a warning, and about those like it.
fn warning_line(one: &warn::Worst) -> String {
    let text = &one.warning.text;
    match one.others {
        0 => format!("warning             {text}"),
        others => format!(
            "warning             {text} (the worst of {} bodies of {:?} with this warning; `--json` lists all)",
            others + 1,
            one.entry
        ),
    }
}

/// The parts of surfaces that no element lies under, as JSON.
fn bare(packed: &pack::Packed) -> Value {
    let all = packed.bodies.iter().filter_map(|body| {
        let bare = body.bare.as_ref()?;
        Some(json!({
            "name": body.name,
            "part": bare.part,
            "largest_part": bare.largest,
            "near": bare.near.to_array(),
            "thickness": bare.thickness,
            "fitting_radius": bare.radius,
            "fitting_elements": body.elements_of(bare.radius).round(),
        }))
    });
    Value::Array(all.collect())
}

/// Prints the plan of a pipeline in which nothing moves.
fn check_static(pipeline: &Pipeline, packed: &pack::Packed, as_json: bool) -> anyhow::Result<()> {
    let clock = Instant::now();
    let mut statics = StaticPlan::new(pipeline, packed)?;
    let mut notices = super::notices::size_warnings(pipeline, packed);
    notices.extend(super::notices::notices(packed));
    let out = json!({
        "surface_seconds": clock.elapsed().as_secs_f64(),
        "bodies": statics.bodies,
        "notices": notices,
    });
    if as_json {
        return super::print::print(&out.to_string());
    }
    let notices = notices.into_iter();
    statics
        .lines
        .extend(notices.map(|notice| format!("note                {notice}")));
    super::print::print(&statics.lines.join("\n"))
}

/// What boundary elements would solve, as JSON and as lines of text.
struct StaticPlan {
    bodies: Value,
    lines: Vec<String>,
}

impl StaticPlan {
    fn new(pipeline: &Pipeline, packed: &pack::Packed) -> anyhow::Result<Self> {
        let plans = stress::plan(pipeline, &packed.packing.elements, &packed.shapes)?;
        let bodies = plans.iter().map(|plan| {
            json!({
                "name": plan.body,
                "triangles": plan.triangles,
                "points": plan.points,
                "solves": plan.solves,
                "stress_seconds": seconds(plan),
                "notes": plan.notes,
            })
        });
        // How far cracks will grow is unknown.
        let cracks = pipeline.is_static() && pipeline.has_frames();
        let mut lines = Vec::new();
        for plan in &plans {
            lines.push(format!(
                "{:<19} {} triangles, {} points inside, {} right-hand sides: about {:.0} s{}",
                plan.body,
                plan.triangles,
                plan.points,
                plan.solves,
                seconds(plan).ceil(),
                if cracks { " without cracks" } else { "" }
            ));
            lines.extend(plan.notes.iter().map(|note| format!("{:<19} {note}", "")));
        }
        Ok(StaticPlan {
            bodies: Value::Array(bodies.collect()),
            lines,
        })
    }
}

/// Estimated time of boundary elements for a body, s.
fn seconds(plan: &stress::StressPlan) -> f64 {
    let triangles = plan.triangles as f64;
    // A closed surface has about half as many vertices as triangles, and one and a half times as many edges.
    let (each, [store, solve]) = match plan.triangles {
        few if 2 * few <= MAX_DENSE_NODES => (2.0 * triangles, SECONDS_PER_PAIR),
        some if some <= MAX_QUADRATIC_TRIANGLES => (1.0, SECONDS_PER_QUADRATIC_TRIANGLE),
        _ => (1.0, SECONDS_PER_LINEAR_TRIANGLE),
    };
    let work = triangles * each * (store + plan.solves as f64 * solve);
    let inside = plan.points as f64 * SECONDS_PER_POINT;
    (work + inside) / rayon::current_num_threads() as f64
}
