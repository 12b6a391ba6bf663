//! Every table of the frame store. This is the one column list: structs, Parquet schema and `COLUMNS.md` are
//! made from it.

use super::kinds::{
    BondLaw, BreakMode, LoadKind, Method, Shape, SleepEvent, SleepReason, StressPoint,
};
use super::table::table;

table! {
    /// `packing/elements.parquet`: the elements at rest, in the order of a space-filling curve.
    Elements {
        id: u32, "1", "stable id, the row number in the packing";
        body: u32, "1", "index of the body in the pipeline";
        material: u32, "1", "index of the material in the pipeline", optional;
        kind: Shape, "1", "shape of the element", optional;
        x: f64, "m", "rest position";
        y: f64, "m", "rest position";
        z: f64, "m", "rest position";
        r: f64, "m", "radius";
        mass: f64, "kg", "mass";
        inertia: f64, "kg m^2", "moment of inertia about any axis through the centre", optional;
        volume: f64, "m^3", "volume of the body that the element stands for", optional;
        vx: f64, "m/s", "initial velocity", optional;
        vy: f64, "m/s", "initial velocity", optional;
        vz: f64, "m/s", "initial velocity", optional;
        wx: f64, "rad/s", "initial angular velocity, world frame", optional;
        wy: f64, "rad/s", "initial angular velocity, world frame", optional;
        wz: f64, "rad/s", "initial angular velocity, world frame", optional;
    }
}

table! {
    /// `packing/bonds.parquet`: the bonds at rest, `i < j`, ordered by (i, j).
    Bonds {
        id: u32, "1", "stable id, the row number in the packing";
        i: u32, "1", "element id of one end, the smaller";
        j: u32, "1", "element id of the other end";
        l0: f64, "m", "rest length, the distance at bonding";
        dx: f64, "1", "rest direction from i to j";
        dy: f64, "1", "rest direction from i to j";
        dz: f64, "1", "rest direction from i to j";
        radius: f64, "m", "radius of the bond's section: the mean of both ends, of the cosserat rod the smaller", optional;
        young: f64, "Pa", "Young's modulus of the bond", optional;
        shear: f64, "Pa", "shear modulus of the bond", optional;
        sigma_c: f64, "Pa", "tensile strength of this bond; infinite when it cannot break; 0, with that in shear, when it is broken from the start", optional;
        tau_c: f64, "Pa", "shear strength of this bond; infinite when it cannot break; 0, with the tensile one, when it is broken from the start", optional;
        law: BondLaw, "1", "bond law of the pipeline that was packed; runs follow simulate.law", optional;
    }
}

table! {
    /// `packing/cells.parquet`: the elements that are cells at rest, by id; absent where none is.
    Cells {
        id: u32, "1", "element id";
        free: f64, "m^3", "volume of the pyramids from the centre over the free faces";
        i1: f64, "kg m^2", "principal moment of inertia about the first axis";
        i2: f64, "kg m^2", "principal moment of inertia about the second axis";
        i3: f64, "kg m^2", "principal moment of inertia about the third axis";
        qx: f64, "1", "quaternion that turns x, y, z into the principal axes at rest";
        qy: f64, "1", "quaternion that turns x, y, z into the principal axes at rest";
        qz: f64, "1", "quaternion that turns x, y, z into the principal axes at rest";
        qw: f64, "1", "quaternion that turns x, y, z into the principal axes at rest";
    }
}

table! {
    /// `packing/faces.parquet`: the faces of cells at rest, each once: first those between two cells, one a
    /// bond and in the order of the bonds of cells, then the free ones by cell; absent where no element is a
    /// cell.
    Faces {
        id: u32, "1", "row number";
        i: u32, "1", "element id of the cell; of two the smaller";
        j: u32, "1", "element id of the other cell; 4294967295 where the face is free";
        bond: u32, "1", "bond id; 4294967295 where the face is free";
        area: f64, "m^2", "area S";
        x: f64, "m", "centre of area";
        y: f64, "m", "centre of area";
        z: f64, "m", "centre of area";
        nx: f64, "1", "unit normal, out of i";
        ny: f64, "1", "unit normal, out of i";
        nz: f64, "1", "unit normal, out of i";
        sx: f64, "1", "first principal axis of the section; the second is n x s";
        sy: f64, "1", "first principal axis of the section";
        sz: f64, "1", "first principal axis of the section";
        second_s: f64, "m^4", "second moment along the first axis, integral of (x.s)^2 about the centre";
        second_t: f64, "m^4", "second moment along the second axis";
    }
}

table! {
    /// `frames/NNNNNN.parquet`: one row an element, in the order of the packing.
    Frames {
        frame: u32, "1", "frame number";
        time: f64, "s", "simulated time";
        id: u32, "1", "element id";
        x: f32, "m", "position";
        y: f32, "m", "position";
        z: f32, "m", "position";
        qx: f32, "1", "rotation since packing, quaternion";
        qy: f32, "1", "rotation since packing, quaternion";
        qz: f32, "1", "rotation since packing, quaternion";
        qw: f32, "1", "rotation since packing, quaternion";
        vx: f32, "m/s", "velocity", optional;
        vy: f32, "m/s", "velocity", optional;
        vz: f32, "m/s", "velocity", optional;
        wx: f32, "rad/s", "angular velocity, world frame", optional;
        wy: f32, "rad/s", "angular velocity, world frame", optional;
        wz: f32, "rad/s", "angular velocity, world frame", optional;
        fragment: u32, "1", "fragment label; of the parts of a fragment that splits, the largest keeps it";
        sigma: f32, "Pa", "largest normal stress of the element's whole bonds", optional;
        tau: f32, "Pa", "largest shear stress of the element's whole bonds", optional;
        broken: u32, "1", "broken bonds of the element", optional;
    }
}

table! {
    /// `breaks/NNNNNN.parquet`: the bonds that broke after the frame before and up to this one, in order of
    /// (step, bond).
    Breaks {
        frame: u32, "1", "first frame that shows the bond broken";
        time: f64, "s", "time of breaking";
        step: u64, "1", "time step in which the bond broke", optional;
        bond: u32, "1", "bond id";
        i: u32, "1", "element id of one end";
        j: u32, "1", "element id of the other end";
        mode: BreakMode, "1", "strength that was passed", optional;
        sigma: f32, "Pa", "normal stress when it broke", optional;
        tau: f32, "Pa", "shear stress when it broke", optional;
        energy: f32, "J", "energy that the bond released when it broke and took as it softened; of cells only with \
            `output.work`", optional;
        x: f32, "m", "middle between both ends when it broke";
        y: f32, "m", "middle between both ends when it broke";
        z: f32, "m", "middle between both ends when it broke";
        nix: f32, "1", "rest direction seen from i, R(q_i) d0: outward normal of the crack face on i", optional;
        niy: f32, "1", "rest direction seen from i", optional;
        niz: f32, "1", "rest direction seen from i", optional;
        njx: f32, "1", "rest direction seen from j, -R(q_j) d0: outward normal of the crack face on j", optional;
        njy: f32, "1", "rest direction seen from j", optional;
        njz: f32, "1", "rest direction seen from j", optional;
    }
}

table! {
    /// `history/NNNNNN.parquet`: one row a frame.
    History {
        frame: u32, "1", "frame number";
        time: f64, "s", "simulated time";
        step: u64, "1", "time steps done";
        dt: f64, "s", "time step";
        kinetic: f64, "J", "kinetic energy of translation";
        rotational: f64, "J", "kinetic energy of rotation";
        gravity: f64, "J", "potential energy in the field of gravity, zero at the origin";
        bond: f64, "J", "elastic energy of the whole bonds; to first order where the law, bdem, has none of its own";
        contact: f64, "J", "elastic energy of the contacts";
        damping: f64, "J", "energy taken by the damping of bonds and contacts since the start", optional;
        friction: f64, "J", "energy taken by sliding and rolling since the start", optional;
        breaking: f64, "J", "elastic energy that bonds held when they broke, since the start", optional;
        rigidified: f64, "J", "energy of motion lost since the start when fragments fell asleep, came to \
            rest or were removed", optional;
        held: f64, "J", "kinetic energy of the vibration that sleeping fragments hold until they wake", optional;
        solves: u64, "1", "implicit steps solved since the start, those done again in halves among them", optional;
        newton: u64, "1", "Newton iterations since the start", optional;
        gradients: u64, "1", "iterations of conjugate gradients since the start", optional;
        px: f64, "kg m/s", "momentum";
        py: f64, "kg m/s", "momentum";
        pz: f64, "kg m/s", "momentum";
        lx: f64, "kg m^2/s", "angular momentum about the origin";
        ly: f64, "kg m^2/s", "angular momentum about the origin";
        lz: f64, "kg m^2/s", "angular momentum about the origin";
        broken: u32, "1", "broken bonds since the start";
        fragments: u32, "1", "fragments";
        awake: u32, "1", "elements whose bonds are stepped, or that move on their own", optional;
        contacts: u32, "1", "touching pairs, colliders included";
        outside: u32, "1", "elements outside the bounds of the world";
        seconds: f64, "s", "wall time of simulate since the frame before";
    }
}

table! {
    /// `fragments/NNNNNN.parquet`: one row a fragment, ordered by label.
    Fragments {
        frame: u32, "1", "frame number";
        time: f64, "s", "simulated time";
        fragment: u32, "1", "label";
        body: u32, "1", "index of the body";
        elements: u32, "1", "elements";
        mass: f64, "kg", "mass";
        volume: f64, "m^3", "volume that its elements stand for";
        area: f64, "m^2", "crack area: sections of the broken bonds on its elements";
        x: f64, "m", "centre of mass";
        y: f64, "m", "centre of mass";
        z: f64, "m", "centre of mass";
        vx: f64, "m/s", "velocity of the centre of mass";
        vy: f64, "m/s", "velocity of the centre of mass";
        vz: f64, "m/s", "velocity of the centre of mass";
        min_x: f64, "m", "bounds of its elements, radii included";
        min_y: f64, "m", "bounds of its elements, radii included";
        min_z: f64, "m", "bounds of its elements, radii included";
        max_x: f64, "m", "bounds of its elements, radii included";
        max_y: f64, "m", "bounds of its elements, radii included";
        max_z: f64, "m", "bounds of its elements, radii included";
    }
}

table! {
    /// `loads/NNNNNN.parquet`: one row a collider, then one an attachment, in the order of the pipeline;
    /// absent where there is neither. Forces and torques are those that elements exert, means over the time
    /// since the frame before, 0 in the first frame; in a clamp they include the weight of what it holds; of
    /// a pressure they are those at the frame.
    Loads {
        frame: u32, "1", "frame number";
        time: f64, "s", "simulated time";
        kind: LoadKind, "1", "what bears it";
        index: u32, "1", "index among the colliders of the pipeline, or among its attachments";
        name: String, "1", "name in the pipeline";
        fx: f64, "N", "force of the elements on it, mean since the frame before";
        fy: f64, "N", "force of the elements on it, mean since the frame before";
        fz: f64, "N", "force of the elements on it, mean since the frame before";
        tx: f64, "N m", "torque of the elements on it about its position, mean since the frame before";
        ty: f64, "N m", "torque of the elements on it about its position, mean since the frame before";
        tz: f64, "N m", "torque of the elements on it about its position, mean since the frame before";
        x: f64, "m", "position of the collider; mean position of the elements of the attachment";
        y: f64, "m", "position of the collider; mean position of the elements of the attachment";
        z: f64, "m", "position of the collider; mean position of the elements of the attachment";
        dx: f64, "m", "how far it has moved since the start";
        dy: f64, "m", "how far it has moved since the start";
        dz: f64, "m", "how far it has moved since the start";
        angle: f64, "rad", "how far the collider or clamp is turned against the start, 0 to pi; 0 of a force";
        contacts: u32, "1", "elements that touch the collider at the frame; elements of the attachment";
    }
}

table! {
    /// `convergence/NNNNNN.parquet`: one row an iteration of a method, in order of both; of the frame after
    /// the step that `output.convergence` names.
    Convergence {
        frame: u32, "1", "first frame after the step";
        time: f64, "s", "simulated time of the frame";
        step: u64, "1", "time step that each method solves from the same start and guess, without fracture";
        method: Method, "1", "method";
        iteration: u32, "1", "iterations done; 0 is the guess";
        seconds: f64, "s", "wall time since the guess";
        residual: f64, "1", "forces out of balance over those at work, rotations as unit quaternions";
        violation: f64, "1", "largest difference of a quaternion's length from 1";
        gradients: u64, "1", "iterations of the linear solver so far";
    }
}

table! {
    /// `bars.parquet` of `cullet calibrate`: one row a time of a test, in order of rounds, tests, axes and time. It is
    /// no part of a store.
    Bars {
        round: u32, "1", "round of tests, from 1";
        test: String, "1", "tension, compression";
        axis: String, "1", "axis along which the specimen is long: x, y, z";
        along: f64, "1", "strain along the specimen, far from its ends";
        across: f64, "1", "mean strain across it";
        stress: f64, "Pa", "force over section; negative under compression";
    }
}

table! {
    /// `sleep/NNNNNN.parquet`: what happened to fragments that are stepped as rigid bodies while they are calm, one
    /// row an event after the frame before and up to this one, in order of the step; absent where there is none.
    Sleep {
        frame: u32, "1", "first frame after the event";
        time: f64, "s", "time of the event";
        step: u64, "1", "time step of the event";
        fragment: u32, "1", "label as in frames";
        elements: u32, "1", "elements of the fragment";
        what: SleepEvent, "1", "asleep: stepped as one rigid body from now on; awake: its bonds are stepped from now \
            on; judged: a load on an asleep fragment was compared with its strength and it stays asleep; still: at \
            rest, not stepped; moving: stepped as a rigid body again after it was still; removed: not stepped \
            any more, and touched by nothing";
        reason: SleepReason, "1", "start: at rest and unloaded at the start of the run; calm: no bond broke and \
            stresses and vibration stayed small; impact: closing speed of a touch; force: bound on the stress under \
            contact forces; stress: stress of the bonds in balance with contact forces; touched: another body touched \
            it; outside: it left the bounds of the world";
        use_of_strength: f64, "1", "largest stress over strength found; 0 if not applicable";
        energy: f64, "J", "kinetic energy that left the motion, or less than 0: that came back into it";
    }
}

table! {
    /// `stress/NNNNNN.parquet`: one row a triangle of each body's surface, then one an element, of the bodies
    /// in order; places, directions and displacements as in the packing.
    Stress {
        frame: u32, "1", "frame number; 0 of loads that follow from the pipeline alone";
        time: f64, "s", "time of the loads";
        body: u32, "1", "index of the body in the pipeline";
        kind: StressPoint, "1", "whether the row is of a triangle or of an element";
        id: u32, "1", "number of the triangle in stress/shapes/N.ply, or element id";
        x: f64, "m", "centroid of the triangle, or centre of the element";
        y: f64, "m", "centroid of the triangle, or centre of the element";
        z: f64, "m", "centroid of the triangle, or centre of the element";
        area: f64, "m^2", "area of the triangle; 0 of an element";
        ux: f64, "m", "displacement; of a body that nothing clamps without mean displacement and rotation";
        uy: f64, "m", "displacement";
        uz: f64, "m", "displacement";
        xx: f64, "Pa", "stress, tension positive";
        yy: f64, "Pa", "stress";
        zz: f64, "Pa", "stress";
        yz: f64, "Pa", "stress";
        zx: f64, "Pa", "stress";
        xy: f64, "Pa", "stress";
        s1: f64, "Pa", "largest principal stress";
        s2: f64, "Pa", "middle principal stress";
        s3: f64, "Pa", "smallest principal stress";
        d1x: f64, "1", "direction of the largest principal stress";
        d1y: f64, "1", "direction of the largest principal stress";
        d1z: f64, "1", "direction of the largest principal stress";
        d3x: f64, "1", "direction of the smallest principal stress; the second is d3 x d1";
        d3y: f64, "1", "direction of the smallest principal stress";
        d3z: f64, "1", "direction of the smallest principal stress";
        energy: f64, "J/m^3", "density of the elastic energy";
        utilization: f64, "1", "largest principal stress over tensile strength, at least 0; 0 where the material has no strength";
    }
}
