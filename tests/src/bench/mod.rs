//! How fast the engine answers: workloads, measured on the native core, through the component and on the reference.

pub mod forks;
pub mod go;
pub mod growth;
pub mod life;
pub mod reference;
pub mod report;
pub mod scale;
pub mod shapes;
pub mod side;
pub mod targets;
pub mod timing;
pub mod workload;
