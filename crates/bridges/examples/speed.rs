use logpose_bridges::*;
use logpose_core::*;
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let kind = std::env::args().nth(2).unwrap_or("parquet".into());
    let log = std::fs::read(path).unwrap();
    let d = logpose_wpilog::Wpilog;
    let t = Instant::now();
    let index = d.index(&log, &Read::default(), &mut Problems::default()).unwrap();
    println!("index {:?}", t.elapsed());
    let channels: Vec<Channel> = index.channels.iter().map(|c| c.channel.clone()).collect();
    let header = Header { origin: "wpilog".into(), channels, ..Header::default() };
    for _ in 0..3 {
        let mut out: Vec<u8> = Vec::with_capacity(64 << 20);
        match &*kind {
            "parquet" => run(ParquetWriter::new(&mut out, header.clone()).unwrap(), &d, &log, &index),
            _ => run(ArrowWriter::new(&mut out, header.clone()).unwrap(), &d, &log, &index),
        }
        println!("  {} bytes", out.len());
        let t = Instant::now();
        let mut store: Vec<u8> = Vec::new();
        let bridge = BRIDGES.iter().find(|b| b.info().name == kind).unwrap();
        bridge.unpack(&out, &Read::default(), &mut store, &mut Problems::default()).unwrap();
        println!("  unpack {:?} {} bytes", t.elapsed(), store.len());
        let t = Instant::now();
        let i = bridge.index(&store, &Read::default(), &mut Problems::default()).unwrap();
        println!("  index {:?} {}", t.elapsed(), i.samples());
        std::fs::write(format!("/tmp/target-columns/match.{kind}"), &out).unwrap();
    }
}
struct Many<P> {
    pieces: Vec<P>,
    make: Box<dyn Fn() -> P>,
}
impl<P: Piece> Sink for Many<P> {
    fn channel(&mut self, id: ChannelId, c: &Channel) -> Result<(), SinkError> {
        self.pieces.last_mut().unwrap().channel(id, c)
    }
    fn samples(&mut self, s: &[Sample<'_>]) -> Result<(), SinkError> {
        if self.pieces.last().unwrap().rows() > 1_000_000 {
            let p = (self.make)();
            self.pieces.push(p);
        }
        self.pieces.last_mut().unwrap().samples(s)
    }
}
fn run<W: Writer>(mut w: W, d: &dyn Dialect, log: &[u8], index: &Index) {
    let t = Instant::now();
    let mut many = Many { pieces: vec![w.piece()], make: Box::new(|| unreachable!()) };
    // three pieces, made beforehand
    let spare = std::cell::RefCell::new(vec![w.piece(), w.piece(), w.piece()]);
    struct Wrap<'a, P> {
        many: &'a mut Vec<P>,
        spare: &'a std::cell::RefCell<Vec<P>>,
    }
    impl<P: Piece> Sink for Wrap<'_, P> {
        fn channel(&mut self, id: ChannelId, c: &Channel) -> Result<(), SinkError> {
            self.many.last_mut().unwrap().channel(id, c)
        }
        fn samples(&mut self, s: &[Sample<'_>]) -> Result<(), SinkError> {
            if self.many.last().unwrap().rows() > 1_000_000 {
                let p = self.spare.borrow_mut().pop().unwrap();
                self.many.push(p);
            }
            self.many.last_mut().unwrap().samples(s)
        }
    }
    d.replay(log, index, &Lookup::default(), &mut Wrap { many: &mut many.pieces, spare: &spare }).unwrap();
    print!("fill {:?}", t.elapsed());
    let t = Instant::now();
    for p in &mut many.pieces {
        p.seal().unwrap();
    }
    print!(" seal {:?}", t.elapsed());
    let t = Instant::now();
    for p in many.pieces {
        w.append(p).unwrap();
    }
    w.finish().unwrap();
    println!(" append {:?}", t.elapsed());
}
