//! Every crash, power cut and fault of the protocols, on the simulated disk.

extern crate cleveragents_filetx as filetx;

mod folder;
mod model;
mod mutants;
mod people;
mod replaced;
mod sequences;
mod states;
mod tree;
