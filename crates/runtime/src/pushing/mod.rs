//! Models with `@push`: after a model's turn its changes are fed into the queue, and delivered (chapter 04).

mod checks;
mod feeding;
mod forecast;
mod images;
mod maintenance;
mod pushes;

pub(crate) use checks::{PushPlan, PushPlans, check_pushes};
pub(crate) use feeding::{changes, known};
pub(crate) use forecast::Forecasts;
pub(crate) use images::{LakeImages, masked};
pub(crate) use maintenance::{Deliveries, before_maintenance};
pub(crate) use pushes::{Pushes, claim_chunk, sink};
