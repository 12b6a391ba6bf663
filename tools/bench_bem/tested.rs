//! Bodies with known answers, shared with the tests.

#[path = "../../tests/bem/answers.rs"]
pub mod answers;
#[path = "../../tests/bem/bent.rs"]
pub mod bent;
#[path = "../../tests/bem/bodies.rs"]
pub mod bodies;
#[path = "../../tests/bem/manufactured.rs"]
pub mod manufactured;
#[path = "../../tests/bem/solved.rs"]
pub mod solved;
