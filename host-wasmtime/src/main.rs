//! The command line.

fn main() -> anyhow::Result<()> {
    let start = std::time::Instant::now();
    let (engine, component) = apportion::load()?;
    for (name, _) in component.component_type().exports(&engine) {
        println!("{name}");
    }
    eprintln!("{:?}", start.elapsed());
    Ok(())
}
