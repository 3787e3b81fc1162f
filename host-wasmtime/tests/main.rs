//! The program and its library from outside.

mod api_server;
mod running;

mod action;
mod choice;
mod cli;
mod codes;
mod control;
mod controller;
mod explaining;
mod fleets;
mod from_cluster;
mod hanging;
mod interrupted;
mod leading;
mod mcp;
mod names;
mod realworld;
mod refused;
mod runner;
mod traces;
