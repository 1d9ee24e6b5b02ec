//! Counts the operations of the scheduler: `docs/scaling.md`.
#![forbid(unsafe_code)]

#[cfg(not(raddle_count))]
fn main() {
    eprintln!("this build does not count; run cargo xtask bench scaling");
    std::process::exit(1);
}

#[cfg(raddle_count)]
fn main() -> std::io::Result<()> {
    counted::main()
}

#[cfg(raddle_count)]
mod counted {
    use std::collections::BTreeMap;
    use std::fmt::Display;
    use std::fs;
    use std::io::{ErrorKind, Result};
    use std::path::PathBuf;

    use clap::Parser;
    use raddle_scaling::{Figure, LOADS, Phase, Run, operations};

    #[derive(Parser)]
    #[command(about = "Counts the operations of the scheduler with 2 to 256 workers")]
    struct Args {
        /// The numbers of workers, separated by commas
        #[arg(long, value_name = "N", value_delimiter = ',')]
        #[arg(default_value = "2,16,64,256")]
        #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
        workers: Vec<u16>,

        /// The number of rounds; each has its own seed
        #[arg(long, value_name = "N", default_value_t = 1)]
        rounds: u64,

        /// Also print each word
        #[arg(long)]
        words: bool,

        /// Also update the tables of this page
        #[arg(long, value_name = "FILE")]
        docs: Option<PathBuf>,
    }

    /// The figures that have a table, and its title.
    const TABLES: [(Figure, &str); 5] = [
        (Figure::CommonLoads, "Loads of common words, per task"),
        (Figure::CommonWrites, "Writes of common words, per task"),
        (Figure::Transfers, "Cache lines fetched, per task"),
        (Figure::Attempts, "Steal attempts, per successful steal"),
        (Figure::OfAPark, "Operations, per park"),
    ];

    /// Words with fewer operations per task than this are omitted.
    const SELDOM: f64 = 0.1;

    pub(super) fn main() -> Result<()> {
        let args = Args::parse();
        let names = LOADS.map(|(name, _)| name);
        // For each load and each number of workers, a run for each seed.
        let mut runs: Vec<Vec<Vec<Run>>> = Vec::new();
        for load in LOADS {
            let of = |workers: &u16| {
                let seeds = 1..=args.rounds;
                let run = |seed| raddle_scaling::run(load, (*workers).into(), seed);
                seeds.map(run).collect()
            };
            runs.push(args.workers.iter().map(of).collect());
        }
        let mut text = String::new();
        for (figure, title) in TABLES {
            text += &table(title, &args.workers, &names, |load, place| {
                let runs = runs[load][place].iter();
                let mut figures: Vec<_> = runs.filter_map(|run| run.figure(figure)).collect();
                figures.sort_by(f64::total_cmp);
                match figures.len() {
                    0 => "-".to_owned(),
                    count => plain((figures[(count - 1) / 2] + figures[count / 2]) / 2.0),
                }
            });
        }
        let most = args.workers.last().copied().unwrap_or(0);
        let columns: Vec<_> = runs
            .iter()
            .map(|load| words(&load[load.len() - 1][0]))
            .collect();
        let mut seldom = columns.iter().flatten().collect::<Vec<_>>();
        seldom.retain(|(_, count)| **count >= SELDOM);
        let mut rows: Vec<_> = seldom.iter().map(|(name, _)| name.as_str()).collect();
        rows.sort_unstable();
        rows.dedup();
        let title = format!("Common words, operations per task, {most} workers");
        text += &table(&title, &names, &rows, |row, column| {
            plain(columns[column].get(rows[row]).copied().unwrap_or(0.0))
        });
        print!("{text}");
        for run in runs.iter().flatten().flatten().filter(|_| args.words) {
            print_words(run);
        }
        let Some(page) = args.docs else {
            return Ok(());
        };
        let old = fs::read_to_string(&page)?;
        let (before, rest) = old.split_once("<!-- counts -->").unwrap_or_default();
        let (_, after) = rest
            .split_once("<!-- end of counts -->")
            .ok_or(ErrorKind::InvalidData)?;
        let marked = format!("<!-- counts -->\n{text}\n<!-- end of counts -->");
        fs::write(page, format!("{before}{marked}{after}"))
    }

    /// Returns the operations per task on each common word.
    fn words(run: &Run) -> BTreeMap<String, f64> {
        let words = run.words.iter().filter(|word| run.is_common(word));
        let counted = words.map(|word| {
            let sum = operations(word, &Phase::ALL);
            let count = sum.loads + sum.stores + sum.read_modify_writes;
            (word.name.clone(), count as f64 / run.polls.max(1) as f64)
        });
        counted.collect()
    }

    /// Returns a table under a title. `cell` gets the places of a row and of a column.
    fn table(
        title: &str,
        columns: &[impl Display],
        rows: &[&str],
        cell: impl Fn(usize, usize) -> String,
    ) -> String {
        let head: String = columns
            .iter()
            .map(|column| format!(" {column} |"))
            .collect();
        let line = "---:|".repeat(columns.len());
        let mut text = format!("\n### {title}\n\n| |{head}\n|---|{line}\n");
        for (row, name) in rows.iter().enumerate() {
            let cells = (0..columns.len()).map(|column| format!(" {} |", cell(row, column)));
            text += &format!("| {name} |{}\n", cells.collect::<String>());
        }
        text
    }

    /// Formats a number with as many decimals as are significant.
    fn plain(value: f64) -> String {
        let decimals = match value {
            0.0 | 100.0.. => 0,
            10.0.. => 1,
            0.1.. => 2,
            _ => 3,
        };
        format!("{value:.decimals$}")
    }

    /// Prints a row for each word, with its operations per task.
    fn print_words(run: &Run) {
        let names: Vec<_> = run.words.iter().map(|word| word.name.as_str()).collect();
        let columns = ["loads", "writes", "locks", "fetched", "words", "actors"];
        let title = format!("{} workers", run.workers);
        let table = table(&title, &columns, &names, |row, column| {
            let word = &run.words[row];
            let sum = operations(word, &Phase::ALL);
            let counts = [sum.loads, sum.writes(), sum.locks, sum.transfers];
            match counts.get(column) {
                Some(count) => plain(*count as f64 / run.polls as f64),
                None => [word.made, word.actors as u64][column - counts.len()].to_string(),
            }
        });
        print!("{table}");
    }
}
