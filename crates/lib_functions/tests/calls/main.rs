//! Lib functions as a run calls them: real lib files, real requests to a scripted server on the loopback address.
#![allow(clippy::unwrap_used)]

mod auth_tuple;
mod authorization;
mod bodies;
mod bounds;
mod calls;
mod environment;
mod errors;
mod files;
mod jobs;
mod lookups;
mod managed_tokens;
mod pages;
mod push_answers;
mod push_throttling;
mod pushing;
mod receivers;
mod redirects;
mod requests;
mod responses;
mod retries;
mod scene;
mod stopping;
mod throttling;
mod tls;
