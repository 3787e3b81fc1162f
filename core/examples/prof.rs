//! Throwaway.
use apportion_core::allocate::Limits;
use apportion_core::engine::Engine;
use apportion_core::profile::Profile;
use std::time::Instant;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let start = Instant::now();
    let mut engine = Engine::new(Profile::default(), Limits::default());
    engine.submit(lines.iter().copied());
    eprintln!("submit {:?}", start.elapsed());
    for question in std::env::args().skip(2) {
        let start = Instant::now();
        if question == "run" {
            let report = engine.run();
            eprintln!("run {:?}", start.elapsed());
            let start = Instant::now();
            let json = serde_json::to_string(&report).unwrap();
            eprintln!("json {:?} {}", start.elapsed(), json.len());
        } else {
            let answer = engine.inquire(serde_json::from_str(&question).unwrap());
            eprintln!("{question} {:?} {}", start.elapsed(), answer.map(|a| a.to_string().len()).unwrap_or(0));
        }
    }
}
