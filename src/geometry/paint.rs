//! Colours and materials of a mesh's triangles.

/// Colours of a triangle's corners: red, green and blue, as in the file, where 1 is full.
pub type CornerColours = [[f32; 3]; 3];

/// Colour of meshes without colours, which renderers multiply others by.
pub const WHITE: CornerColours = [[1.0; 3]; 3];

/// Material of triangles without one.
pub const NO_MATERIAL: u32 = u32::MAX;

/// Colours and materials of a mesh's triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paint {
    /// Colours of each triangle's corners; empty if the mesh has none.
    pub colours: Vec<CornerColours>,
    /// Index of each triangle's material in `names`, or [`NO_MATERIAL`]; empty if the mesh has none.
    pub materials: Vec<u32>,
    /// Names of the materials, all different.
    pub names: Vec<String>,
}

impl Paint {
    /// Whether the mesh has neither colours nor materials.
    pub fn is_empty(&self) -> bool {
        self.colours.is_empty() && self.materials.is_empty()
    }

    /// Number of the material of this name, which is added if it is new. Names become one line that is not empty, as
    /// files have a line for each.
    pub fn number(&mut self, name: &str) -> u32 {
        let name = match name.trim() {
            "" => "material".to_owned(),
            name => name.replace(char::is_control, " "),
        };
        let known = self.names.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        number as u32
    }

    /// Adds a triangle after `before` others; those without colours or material get the defaults.
    pub fn push(&mut self, before: usize, colours: Option<CornerColours>, material: u32) {
        if colours.is_some() || !self.colours.is_empty() {
            self.colours.resize(before, WHITE);
            self.colours.push(colours.unwrap_or(WHITE));
        }
        if material != NO_MATERIAL || !self.materials.is_empty() {
            self.materials.resize(before, NO_MATERIAL);
            self.materials.push(material);
        }
    }

    /// Completes the lists with defaults, or cuts them, for this number of triangles.
    pub fn resize(&mut self, triangles: usize) {
        if !self.colours.is_empty() {
            self.colours.resize(triangles, WHITE);
        }
        if !self.materials.is_empty() {
            self.materials.resize(triangles, NO_MATERIAL);
        }
    }

    /// Colours and materials of these triangles, in this order.
    pub fn of(&self, triangles: &[usize]) -> Paint {
        Paint {
            colours: pick(&self.colours, triangles),
            materials: pick(&self.materials, triangles),
            names: self.names.clone(),
        }
    }

    /// Adds those of `added` triangles to those of `own`.
    pub fn append(&mut self, own: usize, other: Paint, added: usize) {
        if !(self.colours.is_empty() && other.colours.is_empty()) {
            self.colours.resize(own, WHITE);
            self.colours.extend(other.colours);
        }
        if !(self.materials.is_empty() && other.materials.is_empty()) {
            let numbers: Vec<u32> = other.names.iter().map(|name| self.number(name)).collect();
            self.materials.resize(own, NO_MATERIAL);
            let materials = other.materials.iter();
            let number = |m: &u32| numbers.get(*m as usize).copied().unwrap_or(NO_MATERIAL);
            self.materials.extend(materials.map(number));
        }
        self.resize(own + added);
    }

    /// Swaps the second and third corner of a triangle.
    pub fn flip(&mut self, t: usize) {
        if let Some(colours) = self.colours.get_mut(t) {
            colours.swap(1, 2);
        }
    }
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    match values {
        [] => Vec::new(),
        values => rows.iter().map(|row| values[*row]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: CornerColours = [[1.0, 0.0, 0.0]; 3];

    #[test]
    fn meshes_without_paint_get_white_and_no_material() {
        let mut wood = Paint::default();
        wood.push(0, None, NO_MATERIAL);
        assert!(wood.is_empty());
        let number = wood.number("wood");
        wood.push(1, None, number);
        assert_eq!(wood.materials, [NO_MATERIAL, 0]);
        let mut red = Paint::default();
        red.push(1, Some(RED), NO_MATERIAL);
        assert_eq!(red.colours, [WHITE, RED]);
        let stone = red.number("stone");
        red.push(2, None, stone);
        wood.append(2, red, 3);
        assert_eq!(wood.colours, [WHITE, WHITE, WHITE, RED, WHITE]);
        assert_eq!(
            wood.materials,
            [NO_MATERIAL, 0, NO_MATERIAL, NO_MATERIAL, 1]
        );
        assert_eq!(wood.names, ["wood", "stone"]);
        wood.append(5, Paint::default(), 1);
        assert_eq!([wood.colours.len(), wood.materials.len()], [6, 6]);
        assert_eq!(wood.of(&[4, 3]).materials, [1, NO_MATERIAL]);
        assert_eq!(
            [" stone ", "a\nb", ""].map(|name| wood.number(name)),
            [1, 2, 3]
        );
        assert_eq!(wood.names[2..], ["a b", "material"]);
    }
}
