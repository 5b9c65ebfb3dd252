//! Every layer of the product. Adding a layer adds a module and one line here.
use crate::layer::Layer;

pub mod null;
pub mod rados;

/// All layers, in the order of the stack.
pub static LAYERS: &[&dyn Layer] = &[&null::Null, &rados::Rados];

/// Finds a layer by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Layer> {
    LAYERS.iter().copied().find(|l| l.name() == name)
}
