use crate::support::*;
#[test]
fn diff() {
    let name = std::env::var("F").unwrap();
    let log = std::fs::read(&name).unwrap();
    let a = rewritten(&log);
    let b = rewritten(&a);
    let la: Vec<String> = logpose_wpilog::Reader::new(&a).unwrap().map(|r| r.unwrap().to_string()).collect();
    let lb: Vec<String> = logpose_wpilog::Reader::new(&b).unwrap().map(|r| r.unwrap().to_string()).collect();
    println!("{} {}", la.len(), lb.len());
    let i = la.iter().zip(&lb).position(|(a, b)| a != b).unwrap_or(la.len().min(lb.len()));
    for l in &la[i.saturating_sub(3)..(i + 5).min(la.len())] { println!("A {l}"); }
    for l in &lb[i.saturating_sub(3)..(i + 5).min(lb.len())] { println!("B {l}"); }
}
