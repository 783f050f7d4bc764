//! The requests of `tests/bench/run`, which every measured program answers, in each language.
//!
//! A request has `callers`: a list of commands for each caller. Each caller executes its list again and again
//! in its own thread for `seconds`, once for 0, and measures each call. The answer has the median of each
//! command in nanoseconds, over all callers; the number of calls; and the duration of all in seconds.
//!
//! The commands must succeed, or with `fails` fail.
//!
//! A request with `first` executes only the first N commands of each list, once, in one thread, and measures
//! nothing: the first command of every list, then the second of every list. All lists are decoded as a
//! whole, so requests that differ in N differ only by the execution of commands.

use std::io::{self, BufRead};
use std::time::{Duration, Instant};

use memdir::command::{Command, Decoded};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Subject;

type Call<'c> = dyn Fn(&Command<'_>) + Sync + 'c;

#[derive(Deserialize)]
struct Request {
    callers: Vec<Vec<Value>>,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    fails: bool,
    first: Option<usize>,
}

/// Answers requests until the input ends, and ends the program.
pub(crate) fn serve(subject: &dyn Subject) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let request: Request = serde_json::from_str(&line?)?;
        let decode = |list: &Vec<Value>| list.iter().map(decoded).collect();
        let callers: Vec<Vec<Command<'static>>> = request.callers.iter().map(decode).collect();
        let answer = match request.first {
            Some(first) => {
                for number in 0..first {
                    callers.iter().for_each(|commands| assert!(subject.call(&commands[number])));
                }
                json!({})
            }
            None => {
                let call = |command: &Command<'_>| assert!(subject.call(command) != request.fails);
                measured(&call, &callers, Duration::from_secs_f64(request.seconds))
            }
        };
        println!("{answer}");
    }
    // Dropping the memory is not part of any command.
    std::process::exit(0)
}

fn decoded(input: &Value) -> Command<'static> {
    Decoded::of_json(input).command.unwrap().into_owned()
}

fn measured(call: &Call<'_>, callers: &[Vec<Command<'_>>], limit: Duration) -> Value {
    let begun = Instant::now();
    let times: Vec<Vec<Vec<u64>>> = std::thread::scope(|scope| {
        let spawn = |commands| scope.spawn(move || repeated(call, commands, limit));
        let threads: Vec<_> = callers.iter().map(|commands| spawn(commands)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let seconds = begun.elapsed().as_secs_f64();
    let commands = callers.iter().map(Vec::len).max().unwrap_or_default();
    let medians: Vec<u64> = (0..commands)
        .map(|command| median(times.iter().filter_map(|times| times.get(command)).flatten()))
        .collect();
    let calls: usize = times.iter().flatten().map(Vec::len).sum();
    json!({ "calls": calls, "seconds": seconds, "medians": medians })
}

/// The durations of each command.
fn repeated(call: &Call<'_>, commands: &[Command<'_>], limit: Duration) -> Vec<Vec<u64>> {
    let mut times = vec![Vec::new(); commands.len()];
    let begun = Instant::now();
    loop {
        for (command, times) in commands.iter().zip(&mut times) {
            let begun = Instant::now();
            call(command);
            times.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        if begun.elapsed() >= limit {
            return times;
        }
    }
}

fn median<'a>(times: impl Iterator<Item = &'a u64>) -> u64 {
    let mut times: Vec<u64> = times.copied().collect();
    times.sort_unstable();
    times[times.len() / 2]
}
