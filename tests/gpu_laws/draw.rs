//! Random arguments of laws, over the magnitudes that occur in scenes from grains to buildings.

use glam::{DQuat, DVec3};

/// A stream of random numbers that is the same on all machines (SplitMix64).
pub struct RandomStream(pub u64);

impl RandomStream {
    /// Uniform between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Uniform between the bounds.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    /// Between positive bounds, uniform in the logarithm.
    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }
    /// The same with a random sign.
    pub fn signed(&mut self, low: f64, high: f64) -> f64 {
        let size = self.log_uniform(low, high);
        if self.chance(0.5) { size } else { -size }
    }
    pub fn chance(&mut self, part: f64) -> bool {
        self.unit() < part
    }
    /// A unit vector.
    pub fn direction(&mut self) -> DVec3 {
        let (z, turn) = (
            self.within(-1.0, 1.0),
            self.within(0.0, std::f64::consts::TAU),
        );
        let ring = (1.0 - z * z).sqrt();
        DVec3::new(ring * turn.cos(), ring * turn.sin(), z)
    }
    /// A vector with a random length within positive bounds.
    pub fn vector(&mut self, low: f64, high: f64) -> DVec3 {
        self.direction() * self.log_uniform(low, high)
    }
    fn rotation(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), self.within(-3.0, 3.0))
    }
    /// Two rotations up to almost half a turn apart, each with a random sign.
    fn rotation_pair(&mut self) -> (DQuat, DQuat) {
        let q_i = self.rotation();
        let angle = if self.chance(0.2) {
            std::f64::consts::PI - self.log_uniform(1e-3, 1.0)
        } else {
            self.log_uniform(1e-7, 3.0)
        };
        let q_j = DQuat::from_axis_angle(self.direction(), angle) * q_i;
        (q_i, if self.chance(0.5) { q_j } else { -q_j })
    }

    /// x, q_i, q_j, unapplied, d0, l0, k, section.
    pub fn bond(&mut self) -> Vec<f64> {
        let l0 = self.log_uniform(1e-4, 10.0);
        let n = self.direction();
        let stretch = 1.0 + self.signed(1e-8, 0.3);
        let (q_i, q_j) = self.rotation_pair();
        // From i to j against n, sheared by anything from an undetectable angle to a radian.
        let shear = self.vector(1e-9, 1.0);
        let d0 = q_i.inverse() * (shear - n).normalize();
        let mut all = row(&[n * (l0 * stretch)]);
        all.extend(q_i.to_array());
        all.extend(q_j.to_array());
        all.extend(self.vector(1e-11, 1e-7).to_array());
        all.extend(d0.to_array());
        all.push(l0);
        let (area, r0) = (0.8 * l0 * l0, 0.5 * l0);
        let second = area * r0 * r0 / 4.0;
        let (e, g) = (self.log_uniform(1e4, 1e11), self.log_uniform(1e4, 1e11));
        all.extend([
            e * area / l0,
            g * area,
            2.0 * g * second / l0,
            e * second / l0,
        ]);
        all.extend([1.0 / area, r0 / second, r0 / (2.0 * second), 1.0]);
        all.push(self.within(1.0, 1.5) / area);
        all
    }
    /// Axial force, shear force, twist, bend.
    fn load_components(&mut self) -> Vec<f64> {
        let mut all = vec![self.signed(1e-6, 1e8)];
        all.extend(row(&[
            self.vector(1e-6, 1e8),
            self.vector(1e-6, 1e8),
            self.vector(1e-6, 1e8),
        ]));
        all
    }
    pub fn strained(&mut self) -> Vec<f64> {
        let mut all = self.stress();
        all.extend((0..2).map(|_| self.log_uniform(1e-2, 1e14)));
        all
    }
    pub fn stress(&mut self) -> Vec<f64> {
        let mut all = self.load_components();
        all.extend((0..3).map(|_| self.log_uniform(1e-2, 1e8)));
        all.push(if self.chance(0.5) { 1.0 } else { 0.0 });
        all.push(self.log_uniform(1e-2, 1e8));
        all
    }
    /// x, rest length, k_n, stiffness that is left.
    pub fn softened(&mut self) -> Vec<f64> {
        let rest = self.log_uniform(1e-4, 10.0);
        let stretch = 1.0 + self.signed(1e-6, 0.3);
        let mut all = row(&[self.direction() * (rest * stretch)]);
        all.extend([rest, self.log_uniform(1e-3, 1e10), self.within(0.01, 1.0)]);
        all
    }
    /// Left of stiffness and strength, energy that the crack takes, use of strength, energy released.
    pub fn damage(&mut self) -> Vec<f64> {
        let strength = self.within(0.05, 1.0);
        let stiffness = strength / self.within(1.0, 20.0);
        let (used, released) = (self.within(1.0, 2.0), self.log_uniform(1e-9, 1e3));
        // Farther than the bond is damaged.
        let end = strength * used / stiffness * self.within(1.1, 30.0);
        vec![
            stiffness,
            strength,
            end * released / (used * used),
            used,
            released,
        ]
    }
    pub fn linear_energy(&mut self) -> Vec<f64> {
        let mut all = self.load_components();
        all.push(self.log_uniform(1e-4, 10.0));
        all.extend((0..4).map(|_| self.log_uniform(1e-3, 1e10)));
        all
    }
    pub fn stiffness(&mut self) -> Vec<f64> {
        let mut all: Vec<f64> = (0..4).map(|_| self.log_uniform(1e-6, 1e10)).collect();
        all.push(self.log_uniform(1e-4, 10.0));
        all
    }
    pub fn damping(&mut self) -> Vec<f64> {
        let mut all = row(&[
            self.vector(1e-4, 10.0),
            self.vector(1e-6, 1e3),
            self.vector(1e-6, 1e4),
            self.vector(1e-6, 1e4),
        ]);
        all.extend([self.log_uniform(1e-8, 1e6), self.log_uniform(1e-8, 1e6)]);
        all
    }
    /// Inverse mass, zero for a fixed element.
    fn inverse_mass(&mut self) -> f64 {
        let size = self.log_uniform(1e-4, 1e9);
        if self.chance(0.2) { 0.0 } else { size }
    }
    pub fn coefficient(&mut self) -> Vec<f64> {
        vec![
            self.within(0.0, 1.0),
            self.log_uniform(1e-2, 1e10),
            self.inverse_mass(),
            self.inverse_mass(),
        ]
    }
    /// x, v, ω_i, ω_j, arms, touch, ξ, Δt, k.
    pub fn contact(&mut self) -> Vec<f64> {
        let r_i = self.log_uniform(1e-4, 1.0);
        let r_j = r_i * self.within(0.2, 5.0);
        let touch = r_i + r_j;
        let length = touch * (1.0 - self.signed(1e-6, 0.5));
        let mut all = row(&[
            self.direction() * length,
            self.vector(1e-6, 1e2),
            self.vector(1e-6, 1e3),
            self.vector(1e-6, 1e3),
        ]);
        all.extend([r_i, r_j, touch]);
        let spring = self.vector(1e-9, 1e-2) * r_i;
        let untouched = self.chance(0.2);
        all.extend(if untouched { DVec3::ZERO } else { spring }.to_array());
        all.push(self.log_uniform(1e-8, 1e-4));
        let normal = self.log_uniform(1e2, 1e9);
        all.extend([
            normal,
            normal * self.unit(),
            self.within(0.0, 1.2),
            self.log_uniform(1e-6, 1e3),
        ]);
        all
    }
    pub fn parameters(&mut self) -> Vec<f64> {
        let mut all = vec![
            self.log_uniform(1e3, 1e12),
            self.unit(),
            self.unit(),
            self.unit(),
        ];
        let r_i = self.log_uniform(1e-5, 10.0);
        all.extend([r_i, r_i * self.within(0.2, 5.0)]);
        all.extend([self.inverse_mass(), self.inverse_mass()]);
        all
    }
    pub fn arms(&mut self) -> Vec<f64> {
        let mut all = row(&[self.vector(1e-4, 10.0)]);
        all.extend([self.log_uniform(1e-4, 10.0), self.log_uniform(1e-4, 10.0)]);
        all
    }
    pub fn wall(&mut self) -> Vec<f64> {
        let r = self.log_uniform(1e-4, 10.0);
        let mut all = vec![r * self.within(-1.5, 1.1)];
        all.extend(self.direction().to_array());
        all.push(r);
        all
    }
    pub fn contact_energy(&mut self) -> Vec<f64> {
        let mut all = vec![self.log_uniform(1e-8, 1e-1)];
        all.extend(self.vector(1e-9, 1e-1).to_array());
        all.extend([
            self.log_uniform(1e-2, 1e10),
            self.log_uniform(1e-2, 1e10),
            0.5,
            0.0,
        ]);
        all
    }
    pub fn kick(&mut self) -> Vec<f64> {
        let mut all = row(&[self.vector(1e-6, 1e3), self.vector(1e-6, 1e8)]);
        all.push(self.inverse_mass());
        all.extend(self.vector(1e-2, 1e2).to_array());
        all.extend([self.unit(), self.log_uniform(1e-9, 1e-3)]);
        all
    }
    /// Two words and an increment, from undetectably small to larger than the words.
    pub fn pair(&mut self) -> Vec<f64> {
        let high = self.signed(1e-4, 1e4);
        let rounded = f64::from(high as f32);
        vec![high, high - rounded, self.signed(1e-12, 10.0) * high.abs()]
    }
    /// Rotation, remainder of the last step, rotation vector of this step.
    pub fn turn(&mut self) -> Vec<f64> {
        let mut all = self.rotation().to_array().to_vec();
        all.extend(self.vector(1e-12, 1e-7).to_array());
        all.extend(self.vector(1e-10, 3.0).to_array());
        all
    }
    pub fn separation(&mut self) -> Vec<f64> {
        let p_i = self.vector(1e-3, 1e3);
        let p_j = p_i + self.vector(1e-5, 1.0);
        let low = |p: DVec3| p - p.as_vec3().as_dvec3();
        row(&[p_i, low(p_i), p_j, low(p_j)])
    }
    pub fn rotate(&mut self) -> Vec<f64> {
        let mut all = self.rotation().to_array().to_vec();
        all.extend(self.vector(1e-6, 1e6).to_array());
        all
    }
    pub fn rotations(&mut self) -> Vec<f64> {
        let (q_i, q_j) = self.rotation_pair();
        [q_i.to_array(), q_j.to_array()].concat()
    }
    pub fn rotation_vector(&mut self) -> Vec<f64> {
        row(&[self.vector(1e-12, std::f64::consts::PI)])
    }
    pub fn half_space(&mut self) -> Vec<f64> {
        row(&[self.vector(1e-5, 1e2), self.direction()])
    }
    /// A point near an object of size `size`, sometimes with zero coordinates.
    fn point(&mut self, size: f64) -> DVec3 {
        let mut p = self.vector(1e-3, 10.0) * size;
        for k in 0..3 {
            if self.chance(0.1) {
                p[k] = 0.0;
            }
        }
        p
    }
    pub fn sphere(&mut self) -> Vec<f64> {
        let radius = self.log_uniform(1e-3, 10.0);
        let mut all = row(&[self.point(radius)]);
        all.push(radius);
        all
    }
    pub fn cuboid(&mut self) -> Vec<f64> {
        let size = self.log_uniform(1e-3, 10.0);
        let half = DVec3::from_array([(); 3].map(|()| size * self.within(0.2, 2.0)));
        row(&[self.point(size), half])
    }
    pub fn cylinder(&mut self) -> Vec<f64> {
        let size = self.log_uniform(1e-3, 10.0);
        let mut all = row(&[self.point(size)]);
        all.extend([size, size * self.within(0.2, 2.0)]);
        all
    }
    pub fn surface_velocity(&mut self) -> Vec<f64> {
        let mut all = row(&[self.vector(1e-3, 10.0)]);
        all.push(self.signed(1e-5, 1.0));
        all.extend(self.direction().to_array());
        all.extend(row(&[self.vector(1e-3, 1e2), self.vector(1e-3, 1e2)]));
        all
    }
}

fn row(vectors: &[DVec3]) -> Vec<f64> {
    vectors.iter().flat_map(|v| v.to_array()).collect()
}

/// A unit vector and rotations exactly half a turn apart about it, before rounding.
pub fn half_turn(draw: &mut RandomStream) -> (DVec3, DQuat, DQuat) {
    let axis = draw.direction();
    let q_i = draw.rotation();
    (
        axis,
        q_i,
        DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0) * q_i,
    )
}
