//! What measurements share: shapes of graphs, repeated samples, quartiles, and the machine they are made on.

pub mod machine;
pub mod sampling;
pub mod shape;
pub mod timing;
