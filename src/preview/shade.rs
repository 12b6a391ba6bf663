//! Shades samples, and averages them to pixels.

use crate::parallel::prelude::*;
use glam::Vec3;

use super::buffer::SampleBuffer;
use super::camera::{SUPERSAMPLING, ShotSetup};
use super::light::KeyLight;
use super::occlusion::Occlusion;
use super::raster;
use super::scene::{PreviewScene, SceneMaterial};
use crate::picture::{Picture, scale};

/// Colours of the key light, the sky and the ground; linear RGB.
const KEY_LIGHT: Vec3 = Vec3::new(1.02, 0.97, 0.90);
const SKY: Vec3 = Vec3::new(0.31, 0.34, 0.39);
const GROUND: Vec3 = Vec3::new(0.19, 0.175, 0.155);

/// Colours of the background at the upper and the lower edge; linear RGB.
const BACKGROUND_TOP: Vec3 = Vec3::new(0.54, 0.58, 0.62);
const BACKGROUND_BOTTOM: Vec3 = Vec3::new(0.72, 0.73, 0.73);

/// Distance from the focus at which the floor has faded into the background, radii.
const FLOOR_EXTENT: f32 = 7.0;

/// Colours of the bodies' skins in turn: plaster, sage, slate, sand; then of further materials of a body: brick,
/// charcoal, mustard, teal.
const SKINS: [Vec3; 8] = [
    Vec3::new(0.66, 0.63, 0.58),
    Vec3::new(0.50, 0.58, 0.50),
    Vec3::new(0.46, 0.53, 0.62),
    Vec3::new(0.68, 0.58, 0.44),
    Vec3::new(0.50, 0.20, 0.14),
    Vec3::new(0.11, 0.11, 0.12),
    Vec3::new(0.60, 0.42, 0.10),
    Vec3::new(0.12, 0.34, 0.36),
];

/// Colour of a crack face relative to the skin: darker and warmer, like a fresh face of the same material.
const CRACK_TINT: Vec3 = Vec3::new(0.82, 0.58, 0.42);
/// Colour of an element all of whose bonds are broken, relative to an intact one.
const BROKEN_TINT: Vec3 = Vec3::new(0.85, 0.22, 0.12);

/// Draws a frame.
pub fn draw(scene: &PreviewScene, setup: &ShotSetup) -> Picture {
    let buffer = raster::draw(scene, &setup.camera);
    let light = KeyLight::new(scene, setup);
    let occlusion = Occlusion::new(&buffer, setup);
    let (width, height) = (setup.width, setup.height);
    let pixels = (0..width * height)
        .into_par_iter()
        .map(|at| {
            let (x, y) = (at % width * SUPERSAMPLING, at / width * SUPERSAMPLING);
            let mut sum = Vec3::ZERO;
            for row in y..y + SUPERSAMPLING {
                for column in x..x + SUPERSAMPLING {
                    sum += sample(&buffer, setup, &light, &occlusion, column, row);
                }
            }
            encode(sum / (SUPERSAMPLING * SUPERSAMPLING) as f32)
        })
        .collect();
    Picture {
        width,
        height,
        pixels,
    }
}

/// Colour of a sample, linear RGB.
fn sample(
    buffer: &SampleBuffer,
    setup: &ShotSetup,
    light: &KeyLight,
    occlusion: &Occlusion,
    column: usize,
    row: usize,
) -> Vec3 {
    let at = row * buffer.width + column;
    let background = BACKGROUND_TOP.lerp(BACKGROUND_BOTTOM, row as f32 / buffer.height as f32);
    let material = buffer.materials[at];
    if material == SceneMaterial::Background {
        return background;
    }
    let camera = &setup.camera;
    let near = buffer.near[at];
    let ray = camera.ray(column as f32 + 0.5, row as f32 + 0.5);
    let point = camera.eye + ray / near;
    if material == SceneMaterial::Floor
        && (point - setup.focus).length() > FLOOR_EXTENT * setup.radius
    {
        return background;
    }
    let view = -ray.normalize();
    // Interpolated normals can point away from the viewer at silhouettes.
    let mut normal = buffer.normals[at];
    let away = normal.dot(view);
    if away < 0.0 {
        normal = (normal - view * away).normalize_or(view);
    }
    let facing = normal.dot(light.direction).max(0.0);
    let unshadowed = if facing > 0.0 {
        light.unshadowed(point, normal, noise(column, row))
    } else {
        0.0
    };
    let open = occlusion.at(column, row, near);
    let albedo = albedo(material);
    let ambient = GROUND.lerp(SKY, 0.5 + 0.5 * normal.y);
    // Light that bounces inside pale crevices comes back coloured (Jimenez et al. 2016, fit of multiple
    // bounces).
    let bounce = |a: f32| {
        let (x, y, z) = (
            2.0404 * a - 0.3324,
            -4.7951 * a + 0.6417,
            2.7552 * a + 0.6903,
        );
        ((open * x + y) * open + z) * open
    };
    let sky =
        Vec3::new(bounce(albedo.x), bounce(albedo.y), bounce(albedo.z)).max(Vec3::splat(open));
    let halfway = (view + light.direction).normalize_or(normal);
    let gloss = 0.05 * normal.dot(halfway).max(0.0).powi(18);
    let lit = albedo * (ambient * sky + KEY_LIGHT * (facing * unshadowed))
        + KEY_LIGHT * (gloss * facing * unshadowed);
    if material != SceneMaterial::Floor {
        return lit;
    }
    floor(lit, background, setup, point, normal)
}

/// Colour of the floor: a faint grid near the focus that fades into the background.
fn floor(lit: Vec3, background: Vec3, setup: &ShotSetup, point: Vec3, normal: Vec3) -> Vec3 {
    let away = (point - setup.focus).length() / setup.radius;
    let shown = 1.0 - smooth((away - 2.0) / (FLOOR_EXTENT - 2.0));
    let spacing = spacing(setup.radius);
    let (side, other) = floor_axes(normal);
    let line = |along: f32| {
        let off = (along / spacing - (along / spacing).round()).abs() * spacing;
        // About the width of a pixel at the focus.
        let width = setup.radius * 0.006;
        1.0 - smooth(off / width)
    };
    let grid = line(point.dot(side)).max(line(point.dot(other)));
    let drawn = lit * (1.0 - 0.10 * grid * (1.0 - smooth(away / 4.0)));
    background.lerp(drawn, shown)
}

/// Two axes along a floor; the world axes if it is level.
fn floor_axes(normal: Vec3) -> (Vec3, Vec3) {
    let side = normal.cross(Vec3::Z).try_normalize().unwrap_or(Vec3::X);
    (side, side.cross(normal))
}

/// Grid spacing: half of the largest number 1, 2 or 5 times a power of ten that does not exceed the radius.
fn spacing(radius: f32) -> f32 {
    let decade = 10f32.powf(radius.log10().floor());
    let lead = radius / decade;
    decade
        * if lead >= 5.0 {
            5.0
        } else if lead >= 2.0 {
            2.0
        } else {
            1.0
        }
        / 2.0
}

fn albedo(material: SceneMaterial) -> Vec3 {
    match material {
        SceneMaterial::Background => Vec3::ZERO,
        SceneMaterial::Floor => Vec3::new(0.53, 0.53, 0.525),
        SceneMaterial::Collider => Vec3::splat(0.34),
        SceneMaterial::Skin(colour) => SKINS[usize::from(colour) % SKINS.len()],
        SceneMaterial::Painted(colour) => colour.map(scale::linear).into(),
        SceneMaterial::Crack(body) => SKINS[usize::from(body) % SKINS.len()] * CRACK_TINT,
        SceneMaterial::Damaged(body, share) => {
            let skin = SKINS[usize::from(body) % SKINS.len()];
            skin.lerp(skin * BROKEN_TINT, f32::from(share) / 255.0)
        }
        SceneMaterial::ColourScale(part) => scale::colour(f64::from(part) / 255.0)
            .map(scale::linear)
            .into(),
    }
}

/// Pseudo-random number between 0 and 1 that varies strongly between neighbours (interleaved gradient noise,
/// Jimenez 2014).
fn noise(x: usize, y: usize) -> f32 {
    (52.982_918 * (0.067_110_56 * x as f32 + 0.005_837_15 * y as f32).fract()).fract()
}

fn smooth(part: f32) -> f32 {
    let t = part.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Converts linear RGB to 8-bit sRGB, with the highlights compressed.
fn encode(linear: Vec3) -> [u8; 3] {
    linear.to_array().map(|value| {
        // Linear up to 0.7, then smoothly towards 1.
        let value = if value > 0.7 {
            1.0 - 0.3 * (-(value - 0.7) / 0.3).exp()
        } else {
            value.max(0.0)
        };
        let coded = if value <= 0.003_130_8 {
            12.92 * value
        } else {
            1.055 * value.powf(1.0 / 2.4) - 0.055
        };
        (coded * 255.0 + 0.5) as u8
    })
}
