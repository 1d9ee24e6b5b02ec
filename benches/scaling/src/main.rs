//! Counts the operations of the scheduler: `docs/scaling.md`.
#![forbid(unsafe_code)]

#[cfg(not(raddle_count))]
fn main() {
    eprintln!("scaling: this build does not count; run cargo xtask bench scaling");
    std::process::exit(1);
}

#[cfg(raddle_count)]
fn main() -> std::io::Result<()> {
    counted::main()
}

#[cfg(raddle_count)]
mod counted {
    use std::path::PathBuf;

    use clap::Parser;
    use raddle_scaling::{Counts, Figure, Load, Phase, Run};

    #[derive(Parser)]
    #[command(about = "Counts the operations of the scheduler with 2 to 256 workers")]
    struct Args {
        /// The numbers of workers, separated by commas
        #[arg(long, value_name = "N", value_delimiter = ',')]
        #[arg(default_value = "2,4,8,16,32,64,128,256")]
        #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
        workers: Vec<u16>,

        /// Run only this load
        #[arg(long, value_name = "NAME")]
        only: Option<String>,

        /// The seed of the first round
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,

        /// The number of rounds; each has its own seed
        #[arg(long, value_name = "N", default_value_t = 1)]
        rounds: u64,

        /// Also print each word
        #[arg(long)]
        words: bool,

        /// Also write the counts to this file
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
    }

    pub(super) fn main() -> std::io::Result<()> {
        let args = Args::parse();
        let mut counts = Counts::default();
        for (place, figure) in (1..).zip(Figure::ALL) {
            println!("({place}) {}, {}", figure.name(), figure.unit());
        }
        let columns = (1..=Figure::ALL.len()).map(|place| format!("{:>9}", format!("({place})")));
        let columns: String = columns.collect();
        println!(
            "\n{:<20}{:>5}{:>5}{:>9}{columns}",
            "load", "N", "seed", "tasks"
        );
        for load in Load::ALL {
            if args.only.as_ref().is_some_and(|only| load.name() != only) {
                continue;
            }
            for &workers in &args.workers {
                for seed in args.seed..args.seed + args.rounds {
                    let run = raddle_scaling::run(load, workers.into(), seed);
                    print(&run);
                    if args.words {
                        print_words(&run);
                    }
                    counts.runs.push(run);
                }
            }
        }
        match &args.json {
            Some(file) => counts.write(file),
            None => Ok(()),
        }
    }

    fn print(run: &Run) {
        let figures = Figure::ALL.map(|figure| match run.figure(figure) {
            Some(figure) => format!("{figure:>9.3}"),
            None => format!("{:>9}", "-"),
        });
        println!(
            "{:<20}{:>5}{:>5}{:>9}{}",
            run.load,
            run.workers,
            run.seed,
            run.polls,
            figures.concat()
        );
    }

    /// Prints a row for each word, with its operations per task.
    fn print_words(run: &Run) {
        let polls = run.polls as f64;
        for word in &run.words {
            let sum = word.of(&Phase::ALL);
            println!(
                "    {:<44} {:>6?} made {:>6} actors {:>3} loads {:>8.3} writes {:>8.3} locks {:>8.3} \
                 fetched {:>8.3}",
                word.name,
                word.scope,
                word.made,
                word.actors,
                sum.loads as f64 / polls,
                sum.writes as f64 / polls,
                sum.locks as f64 / polls,
                sum.transfers as f64 / polls
            );
        }
    }
}
